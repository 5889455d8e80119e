//! A flow within the network: the sources that feed it, its two ends, and where its packets go.

use leobench_base::SimTime;
use leobench_transport::{Message, TrafficSource};

/// What the applications of one flow write, and when.
pub(super) struct Application {
    feeds: Vec<Feed>,
    start: SimTime,
    /// Messages due at or after it are not written any more.
    stop: SimTime,
    finished: bool,
    due: Vec<Message>,
}

/// One source and the streams its messages are dealt over in turn.
pub(super) struct Feed {
    pub(super) source: Box<dyn TrafficSource>,
    pub(super) first_stream: usize,
    pub(super) streams: usize,
    pub(super) dealt: usize,
}

impl Application {
    pub(super) fn new(feeds: Vec<Feed>, start: SimTime, stop: SimTime) -> Self {
        Self { feeds, start, stop, finished: false, due: Vec::new() }
    }

    /// When it next has something to say: a message, or that there will be none any more.
    pub(super) fn next_wake(&self) -> Option<SimTime> {
        if self.finished {
            return None;
        }
        Some(self.next_message().unwrap_or(self.stop).min(self.stop).max(self.start))
    }

    fn next_message(&self) -> Option<SimTime> {
        self.feeds.iter().filter_map(|feed| self.absolute(feed.source.next()?)).min()
    }

    fn absolute(&self, since_start: SimTime) -> Option<SimTime> {
        self.start.as_nanos().checked_add(since_start.as_nanos()).map(SimTime::from_nanos)
    }

    /// Writes what is due at `now`, stream by stream.
    pub(super) fn advance(&mut self, now: SimTime, mut write: impl FnMut(usize, Message)) {
        let (start, stop) = (self.start, self.stop);
        let due = |feed: &Feed| {
            let next = feed.source.next()?;
            let at = start.as_nanos().checked_add(next.as_nanos())?;
            (at <= now.as_nanos() && at < stop.as_nanos()).then_some(())
        };
        for feed in &mut self.feeds {
            while due(feed).is_some() {
                feed.source.produce(&mut self.due);
                for message in self.due.drain(..) {
                    let stream = feed.first_stream + feed.dealt;
                    feed.dealt = (feed.dealt + 1) % feed.streams;
                    let created = start + message.created.saturating_since(SimTime::ZERO);
                    write(stream, Message { created, ..message });
                }
            }
        }
    }

    /// Whether, at `now`, it has just written its last message; true once.
    pub(super) fn finishes(&mut self, now: SimTime) -> bool {
        let more = self.next_message().is_some_and(|next| next < self.stop);
        let finishes = !self.finished && !more && now >= self.start;
        self.finished |= finishes;
        finishes
    }

    /// Whether it will write nothing any more.
    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }
}
