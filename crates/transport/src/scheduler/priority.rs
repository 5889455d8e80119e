//! Extensible priorities (RFC 9218 sections 4 and 10).

use leobench_base::{SimTime, StreamIndex};

use super::{PacketShares, SchedulerContext, SchedulerModel, StreamScheduler};
use crate::buffer::{SendBuffer, StreamSet};

leobench_base::spec! {
    /// Strict priorities (RFC 9218) by `urgency` and `incremental`: the most urgent first, until the packet is full.
    ///
    /// Among streams of equal urgency, non-incremental ones are served one after the other in the streams' order, and
    /// incremental ones take turns packet by packet. If there are both, the non-incremental streams together take turns
    /// with the others like one stream, so neither kind starves the other. Less urgent streams get only the remaining
    /// room.
    pub struct PrioritySpec: Default {}
}

impl SchedulerModel for PrioritySpec {
    fn build(&self, context: &SchedulerContext<'_>) -> Result<Box<dyn StreamScheduler>, String> {
        Ok(Box::new(Priority::new(context.streams)))
    }
}

/// Urgency is from 0, the most urgent, to 7 (RFC 9218 section 4.1).
const LEVELS: usize = 8;

/// The streams of a connection by urgency, and whose turn it is.
pub struct Priority {
    levels: Vec<Level>,
}

impl Priority {
    /// The same for `streams` streams, none of which has bytes waiting.
    pub fn new(streams: usize) -> Self {
        Self { levels: vec![Level::new(streams); LEVELS] }
    }

    /// Chooses the stream of the next frame, if a connection sends frame by frame and not in packets that several
    /// streams share. The turn of the stream is over then.
    pub fn choose(&mut self) -> Option<StreamIndex> {
        self.levels.iter_mut().find_map(Level::choose)
    }
}

/// The streams of one urgency with bytes waiting.
#[derive(Clone)]
struct Level {
    /// Useful only as a whole: served "in ascending order of the stream ID" (RFC 9218 section 10).
    sequential: StreamSet,
    /// Useful in parts: served "by sharing bandwidth among them" (RFC 9218 section 10).
    incremental: StreamSet,
    /// The next turn.
    turn: Turn,
}

/// A turn within an urgency. RFC 9218 section 10 recommends that neither kind of stream starves the other and leaves
/// the method open. Here all sequential streams together have one turn per round, and every incremental stream has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Sequential,
    /// The first waiting incremental stream from this number on.
    Incremental(StreamIndex),
}

impl Level {
    fn new(streams: usize) -> Self {
        let none = StreamSet::new(streams);
        Self { sequential: none.clone(), incremental: none, turn: Turn::Sequential }
    }

    /// The first turn from `turn` on, in a round, with a stream that can use it.
    fn next(&self, turn: Turn) -> Option<Turn> {
        let from = match turn {
            Turn::Sequential if self.sequential.first().is_some() => return Some(turn),
            Turn::Sequential => StreamIndex::FIRST,
            Turn::Incremental(from) => from,
        };
        if let Some(stream) = self.incremental.first_from(from) {
            return Some(Turn::Incremental(stream));
        }
        if self.sequential.first().is_some() {
            return Some(Turn::Sequential);
        }
        self.incremental.first().map(Turn::Incremental)
    }

    /// The stream of the next turn, which is over then.
    fn choose(&mut self) -> Option<StreamIndex> {
        let turn = self.next(self.turn)?;
        self.turn = turn.following();
        match turn {
            Turn::Incremental(stream) => Some(stream),
            Turn::Sequential => self.sequential.first(),
        }
    }

    /// Fills the packet from these streams, beginning with the next turn; returns whether there is room left.
    fn fill(&mut self, streams: &SendBuffer, packet: &mut PacketShares) -> bool {
        let Some(first) = self.next(self.turn) else { return true };
        let mut turn = first;
        let before = packet.shares().len();
        let mut has_room = true;
        loop {
            if !self.take_turn(turn, streams, packet) {
                has_room = false;
                break;
            }
            match self.next(turn.following()) {
                Some(next) if next != first => turn = next,
                _ => break,
            }
        }
        // A turn whose frame did not fit is not over.
        if packet.shares().len() > before {
            self.turn = first.following();
        }
        has_room && packet.has_room()
    }

    fn take_turn(&self, turn: Turn, streams: &SendBuffer, packet: &mut PacketShares) -> bool {
        let mut next = match turn {
            Turn::Incremental(stream) => return packet.give(streams, stream, u64::MAX) > 0,
            Turn::Sequential => self.sequential.first(),
        };
        while let Some(stream) = next {
            if packet.give(streams, stream, u64::MAX) == 0 {
                return false;
            }
            next = self.sequential.first_from(stream.next());
        }
        true
    }
}

impl Turn {
    fn following(self) -> Self {
        match self {
            Self::Sequential => Self::Incremental(StreamIndex::FIRST),
            Self::Incremental(stream) => Self::Incremental(stream.next()),
        }
    }
}

impl StreamScheduler for Priority {
    fn on_change(&mut self, stream: StreamIndex, streams: &SendBuffer) {
        let attributes = streams.streams()[stream].attributes();
        let level = &mut self.levels[usize::from(attributes.urgency).min(LEVELS - 1)];
        let set =
            if attributes.incremental { &mut level.incremental } else { &mut level.sequential };
        set.set(stream, streams.is_occupied(stream));
    }

    fn schedule(
        &mut self,
        _now: SimTime,
        streams: &SendBuffer,
        packet: &mut PacketShares,
    ) -> Result<(), String> {
        for level in &mut self.levels {
            if !level.fill(streams, packet) {
                break;
            }
        }
        Ok(())
    }
}
