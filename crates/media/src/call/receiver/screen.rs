//! The screen: frames put together, decoded in order, and rendered when they are due.
//!
//! A frame is complete when all its packets have arrived, or parities restore those that have not. A frame other than a key
//! frame can be decoded if the frame before it was. A frame is due when it has waited for as long as the jitter buffer has
//! it; one that is complete later is rendered at once, and is late. A frame that is incomplete for longer than the sender's
//! patience after it was due, and after its first packet or one of a later frame came, is given up: the picture freezes, and
//! nothing is rendered until a key frame is complete and due.

use std::collections::BTreeMap;

use leobench_base::{LogHistogram, SimDuration, SimTime};

use crate::call::feedback::Message;
use crate::call::freezes::Freezes;
use crate::call::jitter_buffer::JitterBuffer;
use crate::call::packet::{FrameHeader, Parts};
use crate::call::retransmission::Requester;
use crate::call::spec::CameraSpec;

/// Time between two requests for a key frame (libwebrtc, `kMinKeyFrameInterval`).
const KEY_REQUESTS: SimDuration = SimDuration::from_millis(300);

/// A frame at the receiving end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameTimes {
    /// The frame.
    pub header: FrameHeader,
    /// When it was complete, if it was.
    pub completed: Option<SimTime>,
    /// When it was rendered, if it was.
    pub rendered: Option<SimTime>,
    /// Whether it was rendered, but was not complete when it was due.
    pub is_late: bool,
}

/// A picture as it was seen.
#[derive(Clone, Debug)]
pub struct Seen {
    /// When the first frame was rendered, if any was.
    pub first: Option<SimTime>,
    /// Frames rendered.
    pub rendered: u64,
    /// Frames of them that were not complete when they were due.
    pub late: u64,
    /// Frames that were passed over: given up, or of no use without the frames before.
    pub dropped: u64,
    /// Requests for a key frame.
    pub key_requests: u64,
    /// Times from the capture of a frame to its rendering in nanoseconds.
    pub delays: LogHistogram,
    /// Freezes, the time since the last frame included.
    pub freezes: Freezes,
}

#[derive(Debug)]
struct Frame {
    header: FrameHeader,
    parts: Parts,
    /// When the first of its packets arrived.
    begun: SimTime,
    completed: Option<SimTime>,
}

/// The next step for the first frame that is neither rendered nor dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Render,
    Drop,
    GiveUp,
    SkipTo(u64),
    /// Nothing until this time, if it is known.
    Wait(Option<SimTime>),
}

#[derive(Debug)]
pub(super) struct Screen {
    patience: SimDuration,
    buffer: Box<dyn JitterBuffer>,
    requester: Requester,
    frames: BTreeMap<u64, Frame>,
    next: u64,
    /// Whether the frame before `next` was not decoded.
    needs_key: bool,
    asked_for_key: Option<SimTime>,
    times: Vec<FrameTimes>,
    rendered: u64,
    late: u64,
    dropped: u64,
    key_requests: u64,
    delays: LogHistogram,
    freezes: Freezes,
}

impl Screen {
    /// A screen that asks for missing packets as long as `asks`.
    pub fn new(spec: &CameraSpec, buffer: Box<dyn JitterBuffer>, asks: SimDuration) -> Self {
        Self {
            patience: spec.patience,
            buffer,
            requester: Requester::new(asks),
            frames: BTreeMap::new(),
            next: 0,
            needs_key: true,
            asked_for_key: None,
            times: Vec::new(),
            rendered: 0,
            late: 0,
            dropped: 0,
            key_requests: 0,
            delays: LogHistogram::new(),
            freezes: Freezes::new(spec.frame_interval()),
        }
    }

    pub fn on_part(&mut self, now: SimTime, header: &FrameHeader, index: u32) {
        self.requester.on_packet(now, header.first + u64::from(index));
        let parities = header.first + u64::from(header.packets);
        let end = header.first + u64::from(header.parts());
        self.requester.forget(parities..end);
        if header.number < self.next {
            self.requester.forget(header.first..end);
            return;
        }
        let parts = || Parts::new(header);
        let new = || Frame { header: *header, parts: parts(), begun: now, completed: None };
        let frame = self.frames.entry(header.number).or_insert_with(new);
        if frame.parts.add(index) {
            frame.completed = Some(now);
            self.buffer.on_arrival(now, now.saturating_since(header.captured));
        }
        if frame.parts.is_complete() {
            self.requester.forget(header.first..end);
        }
    }

    pub fn next_wake(&self) -> Option<SimTime> {
        let step = if let Step::Wait(until) = self.step(None) { until } else { None };
        let again = self.needs_key.then_some(self.asked_for_key).flatten();
        let again = again.map(|asked| asked + KEY_REQUESTS);
        [step, again, self.requester.due()].into_iter().flatten().min()
    }

    pub fn advance(&mut self, now: SimTime, messages: &mut Vec<Message>) {
        loop {
            match self.step(Some(now)) {
                Step::Render => self.render(now),
                Step::Drop => self.drop_next(),
                Step::GiveUp => {
                    self.needs_key = true;
                    self.drop_next();
                    self.asked_for_key.get_or_insert(now);
                    self.ask_for_key(messages);
                }
                Step::SkipTo(number) => {
                    while self.next < number {
                        self.drop_next();
                    }
                }
                Step::Wait(_) => break,
            }
        }
        if self.needs_key
            && let Some(asked) = self.asked_for_key.as_mut()
            && *asked + KEY_REQUESTS <= now
        {
            *asked = now;
            self.ask_for_key(messages);
        }
        let missing = self.requester.take(now);
        if !missing.is_empty() {
            messages.push(Message::Missing(missing));
        }
    }

    fn ask_for_key(&mut self, messages: &mut Vec<Message>) {
        messages.push(Message::KeyFrame);
        self.key_requests += 1;
    }

    fn due(&self, header: &FrameHeader) -> Option<SimTime> {
        Some(header.captured + self.buffer.delay()?)
    }

    fn is_due(&self, frame: &Frame, now: Option<SimTime>) -> bool {
        let due = self.due(&frame.header);
        now.is_some_and(|now| due.is_some_and(|due| due <= now))
    }

    /// The next step at `now`; without a time, the wait for it.
    fn step(&self, now: Option<SimTime>) -> Step {
        let head = self.frames.get(&self.next);
        let complete = head.filter(|frame| frame.completed.is_some());
        if let Some(frame) = complete {
            let can_be_decoded = frame.header.is_key || !self.needs_key;
            let step = if can_be_decoded { Step::Render } else { Step::Drop };
            return if self.is_due(frame, now) {
                step
            } else {
                Step::Wait(self.due(&frame.header))
            };
        }
        let mut later = self.frames.range(self.next..);
        let key = later.clone().find(|(_, frame)| frame.header.is_key && frame.completed.is_some());
        if let Some((number, _)) = key.filter(|(_, frame)| self.is_due(frame, now)) {
            return Step::SkipTo(*number);
        }
        // A frame of which nothing has arrived was captured before the next that is known.
        let known = later.next().map(|(_, frame)| frame);
        let given_up =
            known.and_then(|frame| Some(self.due(&frame.header)?.max(frame.begun) + self.patience));
        if now.is_some_and(|now| given_up.is_some_and(|time| time <= now)) {
            return if self.needs_key && self.asked_for_key.is_some() {
                Step::Drop
            } else {
                Step::GiveUp
            };
        }
        let key = key.and_then(|(_, frame)| self.due(&frame.header));
        Step::Wait([key, given_up].into_iter().flatten().min())
    }

    fn render(&mut self, now: SimTime) {
        let Some(frame) = self.take_next(Some(now)) else { return };
        (self.needs_key, self.asked_for_key) = (false, None);
        self.rendered += 1;
        self.late += u64::from(frame.is_late);
        self.delays.record(now.saturating_since(frame.header.captured).as_nanos());
        self.freezes.on_frame(now);
    }

    fn drop_next(&mut self) {
        self.dropped += 1;
        self.take_next(None);
    }

    /// Takes the first frame out, and moves on to the next.
    fn take_next(&mut self, rendered: Option<SimTime>) -> Option<FrameTimes> {
        let frame = self.frames.remove(&self.next);
        self.next += 1;
        let Frame { header, completed, .. } = frame?;
        self.requester.forget(0..header.first + u64::from(header.parts()));
        let missed =
            completed.zip(self.due(&header)).is_some_and(|(completed, due)| completed > due);
        let is_late = missed && rendered.is_some();
        let times = FrameTimes { header, completed, rendered, is_late };
        self.times.push(times);
        Some(times)
    }

    pub fn seen(&self, end: SimTime) -> Seen {
        let mut freezes = self.freezes.clone();
        freezes.on_frame(end);
        Seen {
            first: self.times.iter().find_map(|frame| frame.rendered),
            rendered: self.rendered,
            late: self.late,
            dropped: self.dropped,
            key_requests: self.key_requests,
            delays: self.delays.clone(),
            freezes,
        }
    }

    /// Frames of which anything has arrived, in order, but for those that are yet to be rendered or dropped.
    pub fn times(&self) -> &[FrameTimes] {
        &self.times
    }
}
