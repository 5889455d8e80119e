//! The sending end of a video: it answers requests, and stops where the player no longer wants an answer.

use std::collections::VecDeque;

use leobench_base::{Bytes, SimDuration, SimTime};
use leobench_transport::Message;
use leobench_transport::endpoint::Report;

use super::super::progress::Progress;
use super::super::{Action, End, MOST_AT_ONCE};
use super::{STREAM, write};
use crate::scenario::{BlocksUntil, LARGEST_FRAME};

/// A message of the player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// A request of a segment of so many bytes, which may be the last.
    Segment { bytes: Bytes, is_last: bool },
    /// It does not want the rest of the segment before.
    Cancel,
}

/// The sending end.
pub(super) struct Server {
    think: SimDuration,
    /// Messages of the player that have not arrived, and their ends on its stream.
    asked: VecDeque<(u64, Asked)>,
    asked_end: u64,
    /// The next answer: when, and to what.
    answer: Option<(SimTime, Asked)>,
    /// If the player may cancel, answers are written in frames, each once the transport has taken the one before.
    frames: Option<Frames>,
}

/// An answer that is written in frames.
pub(super) struct Frames {
    until: BlocksUntil,
    progress: Progress,
    /// The number of the segment, bytes of it that are written, and the others.
    number: u64,
    written: u64,
    left: u64,
    /// When the next frame is written, if the transport has room.
    ready: Option<SimTime>,
    /// When the rest is dropped, if it is.
    cancelled: Option<SimTime>,
}

impl Server {
    /// A sending end that takes a time to answer. If the player may cancel, writes return `until` the transport has taken them.
    pub(super) fn new(think: SimDuration, until: Option<BlocksUntil>) -> Self {
        let frames = until.map(|until| Frames {
            until,
            progress: Progress::default(),
            number: 0,
            written: 0,
            left: 0,
            ready: None,
            cancelled: None,
        });
        Self { think, asked: VecDeque::new(), asked_end: 0, answer: None, frames }
    }

    /// The player has sent a message of so many bytes.
    pub(super) fn ask(&mut self, size: Bytes, asked: Asked) {
        self.asked_end += size.get();
        self.asked.push_back((self.asked_end, asked));
    }

    /// All bytes of the player below `offset` have arrived; whether the next wake-up may have changed.
    pub(super) fn on_arrival(&mut self, now: SimTime, offset: u64) -> bool {
        let mut changes = false;
        while let Some((_, asked)) = self.asked.pop_front_if(|(end, _)| *end <= offset) {
            changes = true;
            match (asked, &mut self.frames) {
                (Asked::Cancel, Some(frames)) => frames.cancelled = Some(now),
                (Asked::Cancel, None) => {}
                (Asked::Segment { .. }, _) => self.answer = Some((now + self.think, asked)),
            }
        }
        changes
    }

    /// Learns what became of frames; whether the next wake-up may have changed.
    pub(super) fn on_report(&mut self, now: SimTime, report: Report) -> bool {
        let Some(frames) = &mut self.frames else { return false };
        frames.progress.on_report(report);
        let is_ready = frames.can_write() && frames.ready.is_none();
        if is_ready {
            frames.ready = Some(now);
        }
        is_ready
    }

    pub(super) fn next_wake(&self) -> Option<SimTime> {
        let frames = self.frames.as_ref().and_then(Frames::next_wake);
        [self.answer.map(|(at, _)| at), frames].into_iter().flatten().min()
    }

    /// Drops the rest of a cancelled segment, if it is due; the number of the segment, and the bytes dropped.
    pub(super) fn drop_rest(
        &mut self,
        now: SimTime,
        actions: &mut Vec<Action>,
    ) -> Option<(u64, u64)> {
        let frames = self.frames.as_mut()?;
        frames.cancelled.take_if(|at| *at <= now)?;
        let (message, written) = (frames.number, frames.written);
        let rest = std::mem::take(&mut frames.left);
        if rest == 0 {
            return None;
        }
        frames.ready = None;
        actions.push(Action::Cancel { stream: STREAM, message, written });
        Some((message, rest))
    }

    /// Answers, and writes frames, as far as they are due.
    pub(super) fn advance(&mut self, now: SimTime, actions: &mut Vec<Action>) {
        let due = self.answer.take_if(|(at, _)| *at <= now);
        match (&mut self.frames, due) {
            (None, Some((_, Asked::Segment { bytes, is_last }))) => {
                write(End::Sender, Message { size: bytes, created: now }, is_last, actions);
            }
            (Some(frames), due) => {
                if let Some((_, Asked::Segment { bytes, .. })) = due {
                    frames.begin(now, bytes);
                }
                frames.write(now, actions);
            }
            (None, _) => {}
        }
    }
}

impl Frames {
    fn next_wake(&self) -> Option<SimTime> {
        [self.ready, self.cancelled].into_iter().flatten().min()
    }

    fn can_write(&self) -> bool {
        self.left > 0 && self.progress.returns(self.until)
    }

    /// Begins with the next segment.
    fn begin(&mut self, now: SimTime, bytes: Bytes) {
        self.number += u64::from(self.progress.written > 0);
        (self.written, self.left) = (0, bytes.get());
        self.ready = Some(now);
    }

    /// Writes frames while the transport has room.
    fn write(&mut self, now: SimTime, actions: &mut Vec<Action>) {
        if self.ready.take_if(|at| *at <= now).is_none() {
            return;
        }
        for _ in 0..MOST_AT_ONCE {
            if !self.can_write() {
                return;
            }
            let size = self.left.min(LARGEST_FRAME);
            self.left -= size;
            self.written += size;
            self.progress.written += size;
            let message = Message { size: Bytes::new(size), created: now };
            write(End::Sender, message, false, actions);
        }
        self.ready = Some(now).filter(|_| self.can_write());
    }
}
