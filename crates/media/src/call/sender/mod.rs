//! The sending end: encoders, the queue before the network, and packets that are sent again.

use std::collections::{BTreeMap, VecDeque};

use leobench_base::{Bytes, RngTree, SimDuration, SimRng, SimTime};

use super::feedback::{Arrival, Message};
use super::key_frame_debt::KeyFrameDebt;
use super::packet::{Content, FrameHeader, Packet, RTP_HEADER, cut, part_bytes};
use super::spec::{CallSpec, CameraSpec, VoiceSpec};
use crate::rate_control::{Fate, Feedback, RateControl};

/// A packet is sent after this time even if the window is closed, so that feedback can open it again. RFC 8298, section 9,
/// asks for such a minimum; the interval is that of its rate control.
const LEAST_OFTEN: SimDuration = SimDuration::from_millis(200);
/// Time over which the share of packets sent again is measured, and the most of the rate that is set aside for them (libwebrtc,
/// `FecControllerDefault`, `kProtectionOverheadRateThreshold`).
const REPAIR_WINDOW: SimDuration = SimDuration::from_secs(1);
const MOST_REPAIR: f64 = 0.5;
/// Sent packets are remembered for this long: later feedback about them means nothing any more.
const MEMORY: SimDuration = SimDuration::from_secs(60);

/// The sending end of a call.
#[derive(Debug)]
pub struct Sender {
    control: Box<dyn RateControl>,
    camera: Option<Camera>,
    microphone: Option<Microphone>,
    queue: Queue,
    sent: SentPackets,
    repairs: Repairs,
    /// When the pacer lets the next packet go, when the next padding goes, and when the last packet went.
    next_send: SimTime,
    next_padding: SimTime,
    last_sent: Option<SimTime>,
}

#[derive(Debug)]
struct Camera {
    spec: CameraSpec,
    rng: SimRng,
    /// When the next frame is captured.
    next: Option<SimTime>,
    start: SimTime,
    end: SimTime,
    frames: u64,
    skipped: u64,
    /// Frames that were due while the rate control wanted some dropped.
    restricted: u64,
    sequence: u64,
    /// When the next regular key frame is due, the first frame among them, and whether one was asked for.
    next_key: Option<SimTime>,
    key_asked: bool,
    debt: KeyFrameDebt,
    /// Frames that can be sent again, by the sequence number of their first packet.
    kept: BTreeMap<u64, FrameHeader>,
}

#[derive(Debug)]
struct Microphone {
    spec: VoiceSpec,
    /// When the next packet is full.
    next: Option<SimTime>,
    end: SimTime,
    number: u64,
}

/// Packets of frames that wait; those sent again come first.
#[derive(Debug, Default)]
struct Queue {
    again: VecDeque<(FrameHeader, u32)>,
    fresh: VecDeque<(FrameHeader, u32)>,
    bytes: u64,
}

impl Queue {
    fn push(&mut self, header: FrameHeader, index: u32, is_again: bool) {
        self.bytes += part_bytes(&header, index).get();
        let queue = if is_again { &mut self.again } else { &mut self.fresh };
        queue.push_back((header, index));
    }

    fn first(&self) -> Option<&(FrameHeader, u32)> {
        self.again.front().or(self.fresh.front())
    }

    /// The first packet, and whether it is sent again.
    fn pop(&mut self) -> Option<(FrameHeader, u32, bool)> {
        let is_again = !self.again.is_empty();
        let (header, index) = self.again.pop_front().or_else(|| self.fresh.pop_front())?;
        self.bytes -= part_bytes(&header, index).get();
        Some((header, index, is_again))
    }
}

/// Packets of frames sent of late, and those of them that were sent again.
#[derive(Debug, Default)]
struct Repairs {
    packets: VecDeque<(SimTime, u64, bool)>,
    bytes: u64,
    again: u64,
}

impl Repairs {
    fn on_sent(&mut self, now: SimTime, bytes: Bytes, is_again: bool) {
        self.packets.push_back((now, bytes.get(), is_again));
        self.bytes += bytes.get();
        self.again += if is_again { bytes.get() } else { 0 };
    }

    /// The share of bytes that were sent again, as far as the rate makes room for them.
    fn share(&mut self, now: SimTime) -> f64 {
        let is_old =
            |(sent, ..): &mut (SimTime, _, _)| now.saturating_since(*sent) >= REPAIR_WINDOW;
        while let Some((_, bytes, is_again)) = self.packets.pop_front_if(is_old) {
            self.bytes -= bytes;
            self.again -= if is_again { bytes } else { 0 };
        }
        if self.bytes == 0 { 0.0 } else { (self.again as f64 / self.bytes as f64).min(MOST_REPAIR) }
    }
}

/// Packets sent, by number.
#[derive(Debug, Default)]
struct SentPackets {
    /// The number of the first.
    first: u64,
    packets: VecDeque<(SimTime, Bytes)>,
    bytes: u64,
}

impl SentPackets {
    fn push(&mut self, now: SimTime, bytes: Bytes) -> u64 {
        let is_old = |(sent, _): &mut (SimTime, _)| now.saturating_since(*sent) > MEMORY;
        while self.packets.pop_front_if(is_old).is_some() {
            self.first += 1;
        }
        self.packets.push_back((now, bytes));
        self.bytes += bytes.get();
        self.first + self.packets.len() as u64 - 1
    }

    fn fate(&self, number: u64, arrival: Option<Arrival>) -> Option<Fate> {
        let place = number.checked_sub(self.first)? as usize;
        let (sent, bytes) = *self.packets.get(place)?;
        let is_marked = arrival.is_some_and(|arrival| arrival.is_marked);
        Some(Fate { number, sent, bytes, arrival: arrival.map(|arrival| arrival.time), is_marked })
    }
}

impl Sender {
    /// The sending end of a call that begins at `start`; sizes of frames vary by `rng`.
    pub fn new(spec: &CallSpec, start: SimTime, rng: &RngTree) -> Self {
        let end = start + spec.length;
        let camera = spec.video.as_ref().map(|video| Camera {
            spec: video.clone(),
            rng: rng.child("frames").rng(),
            next: Some(start),
            start,
            end,
            frames: 0,
            skipped: 0,
            restricted: 0,
            sequence: 0,
            next_key: Some(start),
            key_asked: false,
            debt: KeyFrameDebt::default(),
            kept: BTreeMap::new(),
        });
        let microphone = spec.audio.as_ref().map(|audio| Microphone {
            spec: audio.clone(),
            next: Some(start + audio.packet + audio.look_ahead).filter(|first| *first <= end),
            end,
            number: 0,
        });
        Self {
            control: spec.rate_control.model().build(spec.bounds()),
            camera,
            microphone,
            queue: Queue::default(),
            sent: SentPackets::default(),
            repairs: Repairs::default(),
            next_send: start,
            next_padding: start,
            last_sent: None,
        }
    }

    /// When it next has something to do; none if it waits for messages alone, or is done.
    pub fn next_wake(&self) -> Option<SimTime> {
        let camera = self.camera.as_ref().and_then(|camera| camera.next);
        let microphone = self.microphone.as_ref().and_then(|microphone| microphone.next);
        let padding = self.control.padding().filter(|_| self.camera.is_some());
        let padding = padding.map(|_| self.next_padding);
        [camera, microphone, self.next_departure(), padding].into_iter().flatten().min()
    }

    /// When the next packet that waits can leave.
    fn next_departure(&self) -> Option<SimTime> {
        let (header, index) = self.queue.first()?;
        let bytes = part_bytes(header, *index);
        if self.control.window().is_none_or(|window| window >= bytes) {
            return Some(self.next_send - self.control.burst());
        }
        let last = self.last_sent.unwrap_or(self.next_send);
        Some(self.next_send.max(last + LEAST_OFTEN))
    }

    /// Does what is due at `now`: adds the packets that leave.
    pub fn advance(&mut self, now: SimTime, packets: &mut Vec<Packet>) {
        self.speak(now, packets);
        self.film(now);
        while self.next_departure().is_some_and(|time| time <= now)
            && let Some((header, index, is_again)) = self.queue.pop()
        {
            let bytes = part_bytes(&header, index);
            self.repairs.on_sent(now, bytes, is_again);
            packets.push(self.send(now, bytes, Content::Frame { header, index }));
            let seconds = bytes.bits() as f64 / self.control.pacing();
            self.next_send = self.next_send.max(now) + SimDuration::from_secs_f64(seconds);
        }
        self.pad(now, packets);
    }

    /// Sends the padding that is due, of packets as long as those of frames.
    fn pad(&mut self, now: SimTime, packets: &mut Vec<Packet>) {
        let Some(camera) = &self.camera else { return };
        let bytes = camera.spec.packet + RTP_HEADER;
        while let Some(rate) = self.control.padding()
            && self.next_padding <= now
        {
            let spaced = SimDuration::from_secs_f64(bytes.bits() as f64 / rate);
            self.next_padding = self.next_padding.max(now) + spaced;
            packets.push(self.send(now, bytes, Content::Padding));
        }
    }

    fn send(&mut self, now: SimTime, bytes: Bytes, content: Content) -> Packet {
        let number = self.sent.push(now, bytes);
        self.control.on_sent(now, number, bytes);
        self.last_sent = Some(now);
        Packet { number, sent: now, bytes, content }
    }

    /// Sends the voice packets that are full.
    fn speak(&mut self, now: SimTime, packets: &mut Vec<Packet>) {
        while let Some(microphone) = &mut self.microphone
            && let Some(full) = microphone.next.take_if(|next| *next <= now)
        {
            let VoiceSpec { packet, look_ahead, .. } = microphone.spec;
            microphone.next = Some(full + packet).filter(|next| *next <= microphone.end);
            let number = microphone.number;
            microphone.number += 1;
            let captured = full - packet - look_ahead;
            let bytes = microphone.spec.bytes() + RTP_HEADER;
            self.control.on_produced(now, bytes);
            packets.push(self.send(now, bytes, Content::Voice { number, captured }));
        }
    }

    /// Makes the frames that are due.
    fn film(&mut self, now: SimTime) {
        let target = self.control.target();
        let voice = self.microphone.as_ref().map_or(0.0, |known| known.spec.bitrate.bps() as f64);
        while let Some(camera) = &mut self.camera
            && let Some(captured) = camera.next.take_if(|next| *next <= now)
        {
            let waits = (self.queue.bytes * 8) as f64 / self.control.pacing();
            let drops = self.control.drop_interval();
            if waits > camera.spec.longest_queue.as_secs_f64() || camera.drops(drops) {
                camera.skipped += 1;
                camera.plan();
                continue;
            }
            // As libwebrtc has it, dropping frames makes the others smaller, too.
            let kept = drops.map_or(1.0, |interval| 1.0 - 1.0 / interval as f64);
            let rate = (target - voice).max(0.0) * (1.0 - self.repairs.share(now)) * kept;
            let header = camera.frame(captured, rate);
            camera.plan();
            for index in 0..header.parts() {
                self.control.on_produced(now, part_bytes(&header, index));
                self.queue.push(header, index, false);
            }
        }
    }

    /// Learns of a message from the receiving end.
    pub fn on_message(&mut self, now: SimTime, message: &Message) {
        match message {
            Message::Feedback { reports, made, .. } => {
                let fate =
                    |(number, arrival): &(u64, Option<Arrival>)| self.sent.fate(*number, *arrival);
                let fates: Vec<_> = reports.iter().filter_map(fate).collect();
                let newest = fates.iter().rev().find_map(|fate| fate.arrival);
                let held = newest.map_or(SimDuration::ZERO, |time| made.saturating_since(time));
                let queued = Bytes::new(self.queue.bytes);
                self.control.on_feedback(now, &Feedback { fates: &fates, held, queued });
            }
            Message::Missing(sequences) => {
                for sequence in sequences {
                    self.send_again(*sequence);
                }
            }
            Message::KeyFrame => {
                if let Some(camera) = &mut self.camera {
                    camera.key_asked = true;
                }
            }
        }
    }

    /// Queues a packet once more; parities are not sent again.
    fn send_again(&mut self, sequence: u64) {
        let Some(camera) = &self.camera else { return };
        let Some((first, header)) = camera.kept.range(..=sequence).next_back() else { return };
        let (header, index) = (*header, (sequence - first) as u32);
        let waits = self.queue.again.contains(&(header, index));
        if index < header.packets && !waits {
            self.queue.push(header, index, true);
        }
    }

    /// Whether nothing will be sent any more but what is asked for again.
    pub fn is_done(&self) -> bool {
        self.next_wake().is_none()
    }

    /// The target of the rate control in bit/s.
    pub fn target(&self) -> f64 {
        self.control.target()
    }

    /// Bytes sent, with RTP headers.
    pub fn sent(&self) -> Bytes {
        Bytes::new(self.sent.bytes)
    }

    /// Frames made, and frames skipped as too many packets waited or were on the way.
    pub fn frames(&self) -> (u64, u64) {
        self.camera.as_ref().map_or((0, 0), |camera| (camera.frames, camera.skipped))
    }

    /// Voice packets sent.
    pub fn voice_packets(&self) -> u64 {
        self.microphone.as_ref().map_or(0, |microphone| microphone.number)
    }
}

impl Camera {
    /// Plans the next capture, without an error that adds up from frame to frame.
    fn plan(&mut self) {
        let number = self.frames + self.skipped;
        let rate = u64::from(self.spec.frame_rate.get());
        let since = SimDuration::from_nanos(number * 1_000_000_000 / rate);
        self.next = Some(self.start + since).filter(|next| *next < self.end);
    }

    /// Whether the next frame is dropped, one of so many.
    fn drops(&mut self, interval: Option<u64>) -> bool {
        let Some(interval) = interval else { return false };
        self.restricted += 1;
        self.restricted % interval == 1
    }

    /// Makes a frame at a rate in bit/s that includes parities.
    fn frame(&mut self, captured: SimTime, rate: f64) -> FrameHeader {
        let is_due = self.next_key.is_some_and(|due| due <= captured);
        let is_key = std::mem::take(&mut self.key_asked) || is_due;
        let rate = rate / (1.0 + self.spec.fec);
        if is_key {
            self.debt.add(self.unpaid(captured, rate));
            self.next_key = self.spec.key_every.map(|every| captured + every);
        }
        let bytes = self.frame_bytes(rate, is_key);
        let (packets, parities) = cut(bytes, self.spec.packet, self.spec.fec);
        let (number, first) = (self.frames, self.sequence);
        let header = FrameHeader { number, captured, is_key, first, packets, parities, bytes };
        self.frames += 1;
        self.sequence += u64::from(header.parts());
        self.keep(header);
        header
    }

    fn keep(&mut self, header: FrameHeader) {
        let kept_for = self.spec.retransmission + MEMORY;
        self.kept.insert(header.first, header);
        while let Some(oldest) = self.kept.first_entry()
            && header.captured.saturating_since(oldest.get().captured) > kept_for
        {
            oldest.remove();
        }
    }

    /// The share of the mean that a frame between regular key frames has, which leaves room for those.
    fn regular_share(&self) -> f64 {
        self.spec.key_every.map_or(1.0, |every| {
            // A key frame that is due between two frames is the later of them.
            let rate = u64::from(self.spec.frame_rate.get());
            let frames = every.as_nanos().saturating_mul(rate).div_ceil(1_000_000_000) as f64;
            frames / (frames - 1.0 + self.spec.key_size)
        })
    }

    /// The bits of a key frame that no regular share pays for: its own, or with regular key frames those of the last one, whose
    /// time it cuts short.
    fn unpaid(&self, captured: SimTime, rate: f64) -> f64 {
        let beyond = self.spec.key_size * self.regular_share() - 1.0;
        let share = self.spec.key_every.map_or(1.0, |every| {
            let cut = self.next_key.map_or(SimDuration::ZERO, |due| due.saturating_since(captured));
            cut.as_secs_f64() / every.as_secs_f64()
        });
        share * beyond * rate * self.spec.frame_interval().as_secs_f64()
    }

    /// The size of a frame at a rate in bit/s, which is the mean over regular key frames and after others.
    fn frame_bytes(&mut self, rate: f64, is_key: bool) -> Bytes {
        let CameraSpec { key_size, variation, .. } = self.spec;
        let regular = rate * self.spec.frame_interval().as_secs_f64() * self.regular_share();
        let size =
            if is_key { key_size * regular } else { regular - self.debt.repay(regular, rate) };
        let factor = libm::exp(variation * self.rng.normal() - variation * variation / 2.0);
        let most = super::packet::MOST_PACKETS as u64 * self.spec.packet.get();
        Bytes::new(((size * factor / 8.0).round() as u64).clamp(1, most))
    }
}

#[cfg(test)]
mod tests;
