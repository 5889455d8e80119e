//! Sources whose messages wait in a buffer of the application until the transport takes them (Khan et al. 2023,
//! Computer Networks, section 5.1): they produce by the clock, whatever the network does.

use leobench_base::{SimDuration, SimTime};
use leobench_transport::Message;

use super::{Action, Application, ApplicationError, End, Feed, MOST_AT_ONCE};

/// Sources that never wait.
pub(super) struct Buffered {
    feeds: Vec<Feed>,
    start: SimTime,
    /// Messages due at or after it are not written any more.
    stop: SimTime,
    finished: bool,
}

impl Buffered {
    pub(super) fn new(feeds: Vec<Feed>, start: SimTime, stop: SimTime) -> Self {
        Self { feeds, start, stop, finished: false }
    }

    fn next_message(&self) -> Option<SimTime> {
        self.feeds.iter().filter_map(|feed| absolute(self.start, feed.source.next()?)).min()
    }
}

/// The time that lies `since_start` behind `start`, if there is one.
fn absolute(start: SimTime, since_start: SimDuration) -> Option<SimTime> {
    start.as_nanos().checked_add(since_start.as_nanos()).map(SimTime::from_nanos)
}

impl Application for Buffered {
    /// When it next has a message, or knows that there will be none any more.
    fn next_wake(&self) -> Option<SimTime> {
        if self.finished {
            return None;
        }
        Some(self.next_message().unwrap_or(self.stop).min(self.stop).max(self.start))
    }

    fn advance(&mut self, now: SimTime, actions: &mut Vec<Action>) -> Result<(), ApplicationError> {
        let (start, stop) = (self.start, self.stop);
        let due = |feed: &Feed| {
            let next = feed.source.next().and_then(|next| absolute(start, next));
            next.filter(|at| *at <= now && *at < stop)
        };
        let mut budget = MOST_AT_ONCE;
        for feed in &mut self.feeds {
            while budget > 0
                && let Some(created) = due(feed)
                && let Some(size) = feed.source.produce()
            {
                budget -= 1;
                let (stream, message) = (feed.deal(), Message { size, created });
                actions.push(Action::Create { stream, message });
                actions.push(Action::Write { end: End::Sender, stream, message });
            }
        }
        let more = self.next_message().is_some_and(|next| next < self.stop);
        if !self.finished && !more && now >= self.start {
            self.finished = true;
            actions.push(Action::Finish { end: End::Sender });
        }
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}
