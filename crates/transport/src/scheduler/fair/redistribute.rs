//! Fair queueing that leaves nothing unused, by filling streams to a common level.
//!
//! The level of a stream is the bytes it has been served per unit of weight. A packet of C bytes raises the streams that
//! share it to the level L at which `sum(min(backlog[i], w[i] * L - served[i])) = C`. Streams that always have bytes
//! waiting stand at the same level, within a byte, before every packet, so that each gets `w[i] * C / sum(w)`, and
//! what others do not need is shared again likewise: the split of the paper. All of it is in integers; whole bytes are
//! given, and what remains of a byte is still missing from the stream's level when the next packet is filled.

use leobench_base::{RngTree, SimTime};

use super::{Part, most_streams, payload, round};
use crate::buffer::SendBuffer;
use crate::scheduler::tournament::{Key, Tournament};
use crate::scheduler::{PacketShares, StreamScheduler};

/// Shares packets among the streams with the lowest levels, at most ten to a packet unless these leave room.
pub(super) struct Redistribute {
    accounts: Vec<Account>,
    /// Streams with bytes waiting, by their levels turned negative.
    lowest: Tournament,
    waiting: usize,
    /// Which of the times is it that streams have bytes waiting without a pause, counted from zero?
    busy_period: u64,
    /// Streams in the packet being built, which rest meanwhile.
    asked: Vec<usize>,
    parts: Vec<Part>,
}

struct Account {
    weight: u64,
    /// Bytes served in the busy period, or taken to be when it joined later.
    served: u64,
    /// Bytes taken out of its buffer since the start, as last seen.
    taken: u64,
    busy_period: u64,
    waiting: bool,
}

impl Account {
    /// Minus the level, in units of 2^-40 bytes for a weight of one: weights have up to 30 bits.
    fn key(&self) -> Key {
        Key::constant(-((i128::from(self.served) << 40) / i128::from(self.weight)))
    }
}

impl Redistribute {
    pub(super) fn new(weights: &[u64], rng: &RngTree) -> Self {
        let account =
            |&weight| Account { weight, served: 0, taken: 0, busy_period: 0, waiting: false };
        Self {
            accounts: weights.iter().map(account).collect(),
            lowest: Tournament::new(weights.len(), rng),
            waiting: 0,
            busy_period: 0,
            asked: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// A stream has bytes waiting again. It starts no lower than the lowest of those that had all along: being idle earns
    /// nothing. Where there are none, all streams start anew.
    fn join(&mut self, stream: usize) {
        if self.waiting == 0 {
            self.busy_period += 1;
        }
        self.waiting += 1;
        let lowest = self.lowest.winner(SimTime::ZERO).map(|other| &self.accounts[other]);
        let lowest = lowest.map(|other| (u128::from(other.served), u128::from(other.weight)));
        let account = &mut self.accounts[stream];
        if account.busy_period != self.busy_period {
            (account.busy_period, account.served) = (self.busy_period, 0);
        }
        if let Some((served, weight)) = lowest {
            let level = (served * u128::from(account.weight)).div_ceil(weight);
            account.served = account.served.max(level as u64);
        }
    }

    /// Chooses the streams that are to share `room` and makes them `parts`.
    fn choose(&mut self, room: u64, streams: &SendBuffer) {
        self.parts.clear();
        while self.parts.len() < most_streams(room) {
            let Some(stream) = self.lowest.winner(SimTime::ZERO) else { break };
            self.asked.push(stream);
            self.lowest.rest(stream, true);
            self.parts.push(Part::new(stream, self.accounts[stream].weight, streams));
        }
        self.parts.sort_unstable_by_key(|part| part.stream);
    }

    /// Fills the packet from `parts`; returns whether it took all they have and left room for others.
    fn fill(&mut self, streams: &SendBuffer, packet: &mut PacketShares) -> bool {
        if let [only] = &self.parts[..] {
            return packet.give(streams, only.stream, u64::MAX) > 0 && packet.has_room();
        }
        // The second time, the sizes of the length fields are known.
        for _ in 0..2 {
            let payload = payload(packet.room(), &self.parts);
            split(&mut self.parts, &self.accounts, payload);
        }
        self.parts.sort_unstable_by_key(|part| (part.open, part.bytes, part.stream));
        let last = self.parts.len() - 1;
        for (index, part) in self.parts.iter().enumerate() {
            // The last open part takes what the guess at the lengths was wrong by.
            let want = if index == last && part.open { u64::MAX } else { part.bytes };
            packet.give(streams, part.stream, want);
        }
        self.parts.iter().all(|part| !part.open) && packet.has_room()
    }
}

/// Splits `payload` bytes so that all streams that get any reach the same level, except those that have too little
/// waiting, which are no longer open.
fn split(parts: &mut [Part], accounts: &[Account], payload: u64) {
    let served = |part: &Part| i128::from(accounts[part.stream].served);
    for part in &mut *parts {
        part.open = true;
    }
    let mut left = payload;
    loop {
        let unit = level(parts, served, left);
        let before = left;
        for part in parts.iter_mut().filter(|part| part.open) {
            if part.due >= i128::from(part.backlog) * unit {
                (part.open, part.bytes) = (false, part.backlog);
                left = left.saturating_sub(part.backlog);
            }
        }
        if left == before {
            return round(parts, unit, left);
        }
    }
}

/// Finds the level `L = (left + sum(served)) / sum(w)` over the open parts that are below it, and what each is due up
/// to it, `w[i] * L - served[i]`, in units of `1 / sum(w)` bytes; returns `sum(w)`.
fn level(parts: &mut [Part], served: impl Fn(&Part) -> i128, left: u64) -> i128 {
    for part in &mut *parts {
        part.due = 0;
    }
    loop {
        let below = |part: &&mut Part| part.open && part.due >= 0;
        let (mut weights, mut sum) = (0, i128::from(left));
        for part in parts.iter_mut().filter(below) {
            weights += part.weight;
            sum += served(part);
        }
        let mut above = false;
        for part in parts.iter_mut().filter(below) {
            part.due = part.weight * sum - served(part) * weights;
            above |= part.due < 0;
        }
        if !above {
            return weights.max(1);
        }
    }
}

impl StreamScheduler for Redistribute {
    fn on_change(&mut self, stream: usize, streams: &SendBuffer) {
        let taken = streams.streams()[stream].taken();
        let waiting = streams.is_occupied(stream);
        let account = &mut self.accounts[stream];
        account.served += taken - account.taken;
        account.taken = taken;
        match (std::mem::replace(&mut account.waiting, waiting), waiting) {
            (false, true) => self.join(stream),
            (true, false) => self.waiting -= 1,
            _ => {}
        }
        let key = waiting.then(|| self.accounts[stream].key());
        self.lowest.set(stream, key);
    }

    fn schedule(
        &mut self,
        _now: SimTime,
        streams: &SendBuffer,
        packet: &mut PacketShares,
    ) -> Result<(), String> {
        loop {
            self.choose(packet.room(), streams);
            if self.parts.is_empty() || !self.fill(streams, packet) {
                break;
            }
        }
        for stream in self.asked.drain(..) {
            self.lowest.rest(stream, false);
        }
        Ok(())
    }
}
