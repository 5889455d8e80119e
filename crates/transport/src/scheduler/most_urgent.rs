//! Serves the streams with the largest key first, each until it is empty: the common core of back-pressure and the
//! delay schedulers (Khan et al. 2023, delay paper, section III, below equation 7).

use leobench_base::{RngTree, SimTime, StreamIndex};

use super::tournament::{Key, Tournament};
use super::{PacketShares, StreamScheduler};
use crate::buffer::{SendBuffer, StreamBuffer};

/// Empties streams in the order of a key, the largest first, until the packet is full. Breaks ties at random.
pub(super) struct MostUrgent<K> {
    key: K,
    tournament: Tournament,
    /// Streams already in the packet under construction; they cannot win again.
    served: Vec<StreamIndex>,
}

impl<K: FnMut(StreamIndex, &StreamBuffer) -> Key + Send> MostUrgent<K> {
    /// A scheduler with the given key function, which it calls after every change of a stream.
    pub(super) fn new(streams: usize, rng: &RngTree, key: K) -> Self {
        Self { key, tournament: Tournament::new(streams, rng), served: Vec::new() }
    }
}

impl<K: FnMut(StreamIndex, &StreamBuffer) -> Key + Send> StreamScheduler for MostUrgent<K> {
    fn on_change(&mut self, stream: StreamIndex, streams: &SendBuffer) {
        let key = (self.key)(stream, &streams.streams()[stream]);
        self.tournament.set(stream, streams.is_occupied(stream).then_some(key));
    }

    fn schedule(
        &mut self,
        now: SimTime,
        streams: &SendBuffer,
        packet: &mut PacketShares,
    ) -> Result<(), String> {
        while packet.has_room()
            && let Some(stream) = self.tournament.winner(now)
        {
            self.served.push(stream);
            self.tournament.rest(stream, true);
            // A packet too short for one stream's frame is as good as full.
            if packet.give(streams, stream, u64::MAX) == 0 {
                break;
            }
        }
        for stream in self.served.drain(..) {
            self.tournament.rest(stream, false);
        }
        Ok(())
    }
}
