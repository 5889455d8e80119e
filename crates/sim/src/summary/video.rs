//! A video in numbers: what its viewer noticed.

use leobench_base::SimDuration;

use crate::network::Watched;

summary! {
    /// A video in numbers: what its viewer noticed.
    pub struct VideoSummary {
        /// Time from the viewer's start until the first picture, in seconds; `null` if there was none.
        pub startup_s: Option<f64>,
        /// How often pictures stood still after the first one.
        pub stalls: u64 ["stalls"],
        /// How long they stood still in all, in seconds.
        pub stalled_s: f64,
        /// How long they stood still the longest time.
        pub longest_stall_s: f64,
        /// Content that was played up to the end of the run, in seconds.
        pub played_s: f64,
        /// Segments that arrived.
        pub segments: u64 ["segments"],
        /// Their mean bitrate by length.
        pub bitrate_bps: Option<f64>,
        /// How often two in a row had different bitrates.
        pub switches: u64 ["switches"],
        /// Segments that took the place of others in the buffer, if the player replaces any.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub replaced: Option<u64> ["segments"],
        /// Downloads that were given up, if the player abandons any.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub abandoned: Option<u64> ["count"],
        /// How far behind the event the viewer was while pictures moved, the mean in seconds; `null` if it was not live.
        pub latency_s: Option<f64>,
        /// The largest; `null` if it was not live.
        pub most_latency_s: Option<f64>,
        /// Quality (Yin et al. 2015, equation 5): the mean bitrate, less its mean change between segments, less the
        /// highest bitrate for each second of start-up and stalls, by segment.
        pub quality_bps: Option<f64>,
    }
}

impl VideoSummary {
    pub(super) fn new(Watched { player, end }: &Watched) -> Self {
        let (stalled, longest) = player.stalled(*end);
        let latency = player.latency();
        Self {
            startup_s: player.startup().map(SimDuration::as_secs_f64),
            stalls: player.stalls().len() as u64,
            stalled_s: stalled.as_secs_f64(),
            longest_stall_s: longest.as_secs_f64(),
            played_s: player.played().as_secs_f64(),
            segments: player.arrived(),
            bitrate_bps: player.mean_bitrate(),
            switches: player.switches(),
            replaced: player.replaced(),
            abandoned: player.abandoned(),
            latency_s: latency.map(|(mean, _)| mean),
            most_latency_s: latency.map(|(_, most)| most),
            quality_bps: player.quality(*end),
        }
    }
}
