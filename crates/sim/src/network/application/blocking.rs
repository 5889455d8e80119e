//! Sources without a buffer of their own, whose send calls block: an application which is faster than the network stalls,
//! and produces less than it was told to. A call returns once a single packet's worth of its stream is unsent (Khan et
//! al. 2023, Computer Networks, section 5.1, of quic-go 0.15.1), or once the transport's send buffer has taken the message (TCP).

use leobench_base::{SimDuration, SimTime, StreamIndex};
use leobench_transport::Message;
use leobench_transport::endpoint::Report;
use typed_index_collections::TiVec;

use super::progress::Progress;
use super::{Action, Application, ApplicationError, End, Feed, MOST_AT_ONCE};
use crate::scenario::BlocksUntil;

/// Sources that each write with blocking calls.
///
/// A call hands a message over and returns once the transport has taken it. Until then the source stands still. Its clock
/// stops too, and its next interval counts from the return of the call, unless the source keeps time: then the messages
/// that are due during the call follow at once.
pub(super) struct Blocking {
    callers: Vec<Caller>,
    streams: TiVec<StreamIndex, Progress>,
    /// By stream, who writes on it.
    caller_of: TiVec<StreamIndex, usize>,
    start: SimTime,
    /// No call is made at or after it.
    stop: SimTime,
    until: BlocksUntil,
    finished: bool,
}

/// A source and the thread that it runs in.
struct Caller {
    feed: Feed,
    /// When the message of the last call was due by the source's own clock, which starts with the flow.
    due: SimDuration,
    /// The stream of the call that has not returned, if one has not.
    call: Option<StreamIndex>,
    /// When the last call returned.
    returned: SimTime,
    /// How far the source's clock is behind: how long calls have lasted. None for a source that keeps time.
    lag: SimDuration,
}

impl Blocking {
    pub(super) fn new(feeds: Vec<Feed>, start: SimTime, stop: SimTime, until: BlocksUntil) -> Self {
        let numbers = feeds.iter().enumerate();
        let caller_of: TiVec<_, _> =
            numbers.flat_map(|(number, feed)| vec![number; feed.streams]).collect();
        Self {
            streams: TiVec::from(vec![Progress::default(); caller_of.len()]),
            caller_of,
            callers: feeds.into_iter().map(Caller::new).collect(),
            start,
            stop,
            until,
            finished: false,
        }
    }

    /// Makes the calls of one source that are due, until one blocks or the `budget` is spent.
    fn call(&mut self, number: usize, now: SimTime, budget: &mut usize, actions: &mut Vec<Action>) {
        let caller = &mut self.callers[number];
        while *budget > 0 && caller.next(self.start).is_some_and(|at| at <= now && at < self.stop) {
            *budget -= 1;
            caller.due = caller.feed.source.next().unwrap_or(caller.due);
            let Some(size) = caller.feed.source.produce() else { break };
            let (stream, message) = (caller.feed.deal(), Message { size, created: now });
            actions.push(Action::Create { stream, message });
            actions.push(Action::Write { end: End::Sender, stream, message });
            self.streams[stream].written += size.get();
            caller.call = Some(stream);
            if self.streams[stream].returns(self.until) {
                caller.on_return(now, self.start);
            }
        }
    }
}

impl Caller {
    fn new(feed: Feed) -> Self {
        Self {
            feed,
            due: SimDuration::ZERO,
            call: None,
            returned: SimTime::ZERO,
            lag: SimDuration::ZERO,
        }
    }

    /// When it makes its next call; `None` if it is held up in one, or done for good.
    fn next(&self, start: SimTime) -> Option<SimTime> {
        if self.call.is_some() {
            return None;
        }
        let next = self.feed.source.next()?;
        Some(start + self.lag + next)
            .filter(|next| *next < SimTime::MAX)
            .map(|next| next.max(self.returned))
    }

    fn on_return(&mut self, now: SimTime, start: SimTime) {
        self.call = None;
        self.returned = now;
        if !self.feed.source.keeps_time() {
            self.lag = now.saturating_since(start + self.due);
        }
    }

    /// Whether it may still make a call before `stop`, as far as can be known.
    fn may_call(&self, now: SimTime, start: SimTime, stop: SimTime) -> bool {
        let held_up = self.call.is_some() && self.feed.source.next().is_some();
        now < stop && (held_up || self.next(start).is_some_and(|next| next < stop))
    }
}

impl Application for Blocking {
    /// When it next makes a call, or knows that there will be none any more.
    fn next_wake(&self) -> Option<SimTime> {
        if self.finished {
            return None;
        }
        let calls = self.callers.iter().filter_map(|caller| caller.next(self.start));
        Some(calls.min().unwrap_or(self.stop).min(self.stop).max(self.start))
    }

    fn advance(&mut self, now: SimTime, actions: &mut Vec<Action>) -> Result<(), ApplicationError> {
        let mut budget = MOST_AT_ONCE;
        for number in 0..self.callers.len() {
            self.call(number, now, &mut budget, actions);
        }
        let (start, stop) = (self.start, self.stop);
        let more = self.callers.iter().any(|caller| caller.may_call(now, start, stop));
        if !self.finished && !more && now >= start {
            self.finished = true;
            actions.push(Action::Finish { end: End::Sender });
        }
        Ok(())
    }

    fn on_report(&mut self, now: SimTime, _end: End, report: Report) -> bool {
        let (Report::Sent { stream, .. } | Report::Room { stream, .. }) = report else {
            return false;
        };
        self.streams[stream].on_report(report);
        let caller = &mut self.callers[self.caller_of[stream]];
        let returns = caller.call == Some(stream) && self.streams[stream].returns(self.until);
        if returns {
            caller.on_return(now, self.start);
        }
        returns
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}
