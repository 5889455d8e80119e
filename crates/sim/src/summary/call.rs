//! A call in numbers: what was seen and heard.

use leobench_base::SimTime;
use leobench_media::call::{Heard, Seen};

use super::{DelaySummary, ratio};
use crate::network::Called;

summary! {
    /// A call in numbers: what was seen and heard.
    pub struct CallSummary {
        /// Bits of packets sent a second, with RTP headers, those sent again and parities; `null` before the call.
        pub sent_bps: Option<f64>,
        /// The same of packets that arrived.
        pub received_bps: Option<f64>,
        /// Its picture, if there is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub picture: Option<PictureSummary>,
        /// Its voice, if there is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub voice: Option<VoiceSummary>,
    }
}

summary! {
    /// The picture of a call.
    pub struct PictureSummary {
        /// Frames made.
        pub frames: u64 ["frames"],
        /// Frames that were not made as too many packets waited or were on the way.
        pub skipped_frames: u64 ["frames"],
        /// Frames rendered.
        pub rendered_frames: u64 ["frames"],
        /// Frames of them that were not complete when they were due.
        pub late_frames: u64 ["frames"],
        /// Frames passed over: given up, or of no use without the frames before.
        pub dropped_frames: u64 ["frames"],
        /// Key frames that the receiving end asked for.
        pub key_requests: u64 ["count"],
        /// Time from the start of the call to the first picture; `null` if there was none.
        pub startup_s: Option<f64>,
        /// Freezes: intervals between rendered frames, and from the last to the end of the call, of at least max(3 d, d + 150 ms),
        /// d the mean of the last 30 (`freezeCount` of webrtc-stats), in which the camera's interval stands for missing ones.
        pub freezes: u64 ["count"],
        /// How long they took in all, in seconds (`totalFreezesDuration`); `null` if there was no picture.
        pub frozen_s: Option<f64>,
        /// How long the longest took.
        pub longest_freeze_s: f64,
        /// Times from the capture of a frame to its rendering.
        pub delay_ms: DelaySummary,
    }
}

summary! {
    /// The voice of a call.
    pub struct VoiceSummary {
        /// Packets sent.
        pub packets: u64,
        /// Packets that were due at the receiving end, whether they were there or not.
        pub due_packets: u64,
        /// Packets of them that were not there.
        pub missed_packets: u64,
        /// Packets of those that arrived later.
        pub late_packets: u64,
        /// Mouth-to-ear delays of the packets that were there.
        pub mouth_to_ear_ms: DelaySummary,
        /// Mean length of a run of missed packets over that of independent losses, at least 1.
        pub burst_ratio: f64 ["ratio"],
        /// Rating R of the E-model (ITU-T G.107), up to 93; `null` if nothing was heard.
        pub rating: Option<f64> ["points"],
        /// Mean opinion score of that rating, from 1 to 4.5.
        pub opinion_score: Option<f64> ["points"],
    }
}

impl CallSummary {
    pub(super) fn new(called: &Called) -> Self {
        let (sent, received) = called.bytes;
        let (frames, skipped) = called.frames;
        Self {
            sent_bps: ratio(sent.bits() as f64, called.seconds),
            received_bps: ratio(received.bits() as f64, called.seconds),
            picture: called
                .seen
                .as_ref()
                .map(|seen| PictureSummary::new(seen, (frames, skipped), called.start)),
            voice: called
                .heard
                .as_ref()
                .map(|heard| VoiceSummary::new(heard, called.voice_packets)),
        }
    }
}

impl PictureSummary {
    fn new(seen: &Seen, (frames, skipped_frames): (u64, u64), start: SimTime) -> Self {
        let first = seen.first;
        Self {
            frames,
            skipped_frames,
            rendered_frames: seen.rendered,
            late_frames: seen.late,
            dropped_frames: seen.dropped,
            key_requests: seen.key_requests,
            startup_s: first.map(|first| first.saturating_since(start).as_secs_f64()),
            freezes: seen.freezes.count(),
            frozen_s: first.map(|_| seen.freezes.total().as_secs_f64()),
            longest_freeze_s: seen.freezes.longest().as_secs_f64(),
            delay_ms: DelaySummary::new(&seen.delays),
        }
    }
}

impl VoiceSummary {
    fn new(heard: &Heard, packets: u64) -> Self {
        // The receiving end does not know of a voice of which nothing has arrived.
        let (due_packets, missed_packets) =
            if heard.due == 0 { (packets, packets) } else { (heard.due, heard.lost) };
        Self {
            packets,
            due_packets,
            missed_packets,
            late_packets: heard.late,
            mouth_to_ear_ms: DelaySummary::new(&heard.delays),
            burst_ratio: heard.burst_ratio,
            rating: heard.rating,
            opinion_score: heard.mos,
        }
    }
}
