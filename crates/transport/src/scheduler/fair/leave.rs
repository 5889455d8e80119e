//! Fair queueing that leaves unused shares empty.

use leobench_base::{SimTime, StreamIndex};
use typed_index_collections::TiVec;

use super::{Part, most_streams, round};
use crate::buffer::SendBuffer;
use crate::scheduler::{PacketShares, StreamScheduler};

/// Shares packets among the next streams in order, including idle ones: all streams, or ten if there are more.
pub(super) struct Leave {
    accounts: TiVec<StreamIndex, Account>,
    /// The first of the next streams in order.
    next: usize,
    parts: Vec<Part>,
}

struct Account {
    weight: u64,
    /// The amount that the last packet still owes the stream (negative if it gave too much), in units of 1 / `unit`
    /// bytes.
    owed: i128,
    unit: i128,
}

impl Leave {
    pub(super) fn new(weights: &[u64]) -> Self {
        let account = |&weight| Account { weight, owed: 0, unit: 1 };
        Self { accounts: weights.iter().map(account).collect(), next: 0, parts: Vec::new() }
    }

    /// Chooses the streams that share the packet; those with waiting bytes become `parts`. Returns the sum of all their
    /// weights.
    fn choose(&mut self, room: u64, streams: &SendBuffer) -> i128 {
        self.parts.clear();
        let all = self.accounts.len();
        let sharing = most_streams(room).min(all);
        let Some(first) = streams.next_occupied(self.next.into()) else { return 0 };
        // Groups of streams without waiting bytes are skipped.
        let ahead = (first.index() + all - self.next) % all;
        let start = self.next + ahead / sharing * sharing;
        self.next = (start + sharing) % all;
        let mut weights = 0;
        for stream in (start..start + sharing).map(|number| StreamIndex::from(number % all)) {
            let account = &mut self.accounts[stream];
            weights += i128::from(account.weight);
            if streams.is_occupied(stream) {
                self.parts.push(Part::new(stream, account.weight, streams));
            } else {
                account.owed = 0;
            }
        }
        weights
    }

    /// Records what the packet, with an estimate of `payload` bytes, owes the streams that still have bytes waiting.
    fn settle(&mut self, unit: i128, payload: i128) {
        let needy = |part: &&Part| part.bytes < part.backlog;
        let weights: i128 = self.parts.iter().filter(needy).map(|part| part.weight).sum();
        let held: i128 = self.parts.iter().map(|part| i128::from(part.bytes)).sum();
        // If every stream uses its whole share, the actual size replaces the estimate.
        let missing = if weights == unit { payload - held } else { 0 };
        for part in &self.parts {
            let due = part.due - part.weight * missing;
            let owed = if needy(&part) { due - i128::from(part.bytes) * unit } else { 0 };
            let account = &mut self.accounts[part.stream];
            (account.owed, account.unit) = (owed, unit);
        }
    }
}

impl StreamScheduler for Leave {
    fn fills_packets(&self) -> bool {
        false
    }

    fn schedule(
        &mut self,
        _now: SimTime,
        streams: &SendBuffer,
        packet: &mut PacketShares,
    ) -> Result<(), String> {
        let unit = self.choose(packet.room(), streams);
        let mut payload = 0;
        // The second pass knows the sizes of the length fields.
        for _ in 0..2 {
            payload = i128::from(super::payload(packet.room(), &self.parts));
            let mut total = 0;
            for part in &mut self.parts {
                let account = &self.accounts[part.stream];
                // An amount owed in another unit, from a packet with other weights, is a fraction of a byte: drop it.
                let owed = if account.unit == unit { account.owed } else { 0 };
                part.due = part.weight * payload + owed;
                total += part.due;
            }
            // A packet carries at least one byte, even if all streams with waiting bytes are due less.
            round(&mut self.parts, unit, (total / unit).max(1) as u64);
        }
        self.parts.sort_unstable_by_key(|part| (part.bytes, part.stream));
        for part in &mut self.parts {
            part.bytes = packet.give(streams, part.stream, part.bytes);
        }
        self.settle(unit, payload);
        Ok(())
    }
}
