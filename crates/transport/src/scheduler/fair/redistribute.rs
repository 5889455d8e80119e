//! Fair queueing that redistributes unused shares, by filling streams to a common level.
//!
//! The level of a stream is the bytes it has been served per unit of weight. A packet of C bytes raises the streams
//! that share it to the level L with `sum(min(backlog[i], w[i] * L - served[i])) = C`. Streams that always have bytes
//! waiting have the same level, within a byte, before every packet, so each gets `w[i] * C / sum(w)`, and unused shares
//! are redistributed in the same way: the split of the paper. All arithmetic is in integers. Whole bytes are given; a
//! remaining fraction of a byte lowers the stream's level for the next packet.

use std::collections::{BTreeSet, VecDeque};

use leobench_base::SimTime;

use super::{Part, most_streams, payload, round};
use crate::buffer::SendBuffer;
use crate::scheduler::packet::frame_header;
use crate::scheduler::{PacketShares, StreamScheduler};

/// A stream that is due fewer bytes than this, and has more waiting, is passed over until it is due more: the header of
/// its frame, up to 19 bytes (RFC 9000 section 19.8), would be more than half as long.
const LEAST_SHARE: u64 = 32;

/// Shares packets among the streams with the lowest levels, at most ten per packet unless these leave room.
pub(super) struct Redistribute {
    accounts: Vec<Account>,
    /// The ranks of the streams with bytes waiting.
    waiting: Waiting,
    /// The number of busy periods: how often a stream became busy while all were idle.
    busy_period: u64,
    parts: Vec<Part>,
    even: Vec<Even>,
}

/// A stream's share of a packet in the usual case.
struct Even {
    stream: usize,
    weight: u64,
    served: u64,
    /// Bytes of its frame's header, without the length.
    header: u64,
    bytes: u64,
    /// What it is due beyond them; negative if they are rounded up.
    rest: i64,
}

struct Account {
    weight: u64,
    /// Bytes served in the busy period, or credited when it joined later.
    served: u64,
    /// Bytes taken from its buffer since the start, at the last look.
    taken: u64,
    /// The busy period of `served`.
    busy_period: u64,
    /// Its rank, if it has bytes waiting.
    rank: Option<Rank>,
}

impl Account {
    fn rank(&self, stream: usize) -> Rank {
        let level = match self.weight {
            weight if weight.is_power_of_two() => {
                u128::from(self.served) << (40 - weight.trailing_zeros())
            }
            // Digit by digit in base 2^20, as 128 bits are slow to divide. Remainders have up to 30 bits, like weights.
            weight => {
                let (whole, rest) = (self.served / weight, self.served % weight);
                let (first, rest) = ((rest << 20) / weight, (rest << 20) % weight);
                (u128::from(whole) << 40) | u128::from((first << 20) | ((rest << 20) / weight))
            }
        };
        Rank((level << 32) | stream as u128)
    }
}

/// The ranks of streams, the lowest first.
#[derive(Default)]
struct Waiting {
    /// Up to [`FEW`] of them: those that were served move from the front to the back, which costs next to nothing here.
    few: VecDeque<Rank>,
    /// All of them if there are, or were, more.
    many: BTreeSet<Rank>,
}

/// As many ranks as are moved about faster than a tree is searched.
const FEW: usize = 1_024;

/// Ranks at either end that are looked at before the others: those of the streams that share a packet are close together.
const NEAR: usize = 16;

impl Waiting {
    fn insert(&mut self, rank: Rank) {
        if self.many.is_empty() && self.few.len() < FEW {
            match self.few.back() {
                Some(last) if *last > rank => {
                    let near = self.few.iter().rev().take(NEAR).position(|other| *other < rank);
                    let place = match near {
                        Some(behind) => self.few.len() - behind,
                        None => self.few.partition_point(|other| *other < rank),
                    };
                    self.few.insert(place, rank);
                }
                _ => self.few.push_back(rank),
            }
        } else {
            self.many.extend(self.few.drain(..));
            self.many.insert(rank);
        }
    }

    fn remove(&mut self, rank: Rank) {
        if self.few.front() == Some(&rank) {
            self.few.pop_front();
        } else if self.few.is_empty() {
            self.many.remove(&rank);
        } else {
            let near = self.few.iter().take(NEAR).position(|other| *other == rank);
            if let Some(place) = near.or_else(|| self.few.binary_search(&rank).ok()) {
                self.few.remove(place);
            }
        }
    }

    fn first(&self) -> Option<Rank> {
        self.few.front().or_else(|| self.many.first()).copied()
    }

    /// Those after the first `passed`.
    fn after(&self, passed: usize) -> impl Iterator<Item = Rank> {
        let few = self.few.range(passed.min(self.few.len())..);
        few.chain(self.many.iter().skip(passed)).copied()
    }
}

/// The rank of a waiting stream, lowest first: its level, in units of 2^-40 bytes for a weight of one (weights have up
/// to 30 bits), and in the last 32 bits its number, so that ranks are unique.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank(u128);

impl Rank {
    fn stream(self) -> usize {
        self.0 as u32 as usize
    }
}

impl Redistribute {
    pub(super) fn new(weights: &[u64]) -> Self {
        let account = |&weight| Account { weight, served: 0, taken: 0, busy_period: 0, rank: None };
        Self {
            accounts: weights.iter().map(account).collect(),
            waiting: Waiting::default(),
            busy_period: 0,
            parts: Vec::new(),
            even: Vec::new(),
        }
    }

    /// A stream has bytes waiting again. It starts at the lowest level of the streams that were busy all along, or
    /// above: idle time earns no credit. If all were idle, a new busy period starts.
    fn join(&mut self, stream: usize) {
        let lowest = self.waiting.first().map(|rank| &self.accounts[rank.stream()]);
        let lowest = lowest.map(|other| (u128::from(other.served), u128::from(other.weight)));
        self.busy_period += u64::from(lowest.is_none());
        let account = &mut self.accounts[stream];
        if account.busy_period != self.busy_period {
            (account.busy_period, account.served) = (self.busy_period, 0);
        }
        if let Some((served, weight)) = lowest {
            let level = (served * u128::from(account.weight)).div_ceil(weight);
            account.served = account.served.max(level as u64);
        }
    }

    /// Makes the lowest streams, without the first `passed`, the `parts` of a packet with `room` left.
    fn choose(&mut self, passed: usize, room: u64, streams: &SendBuffer) {
        self.parts.clear();
        for rank in self.waiting.after(passed).take(most_streams(room)) {
            let stream = rank.stream();
            self.parts.push(Part::new(stream, self.accounts[stream].weight, streams));
        }
        if !self.parts.is_sorted_by_key(|part| part.stream) {
            self.parts.sort_unstable_by_key(|part| part.stream);
        }
    }

    /// Fills the packet with the lowest streams, and with the next ones if those leave room.
    fn fill_in_rounds(&mut self, streams: &SendBuffer, packet: &mut PacketShares) {
        let mut passed = 0;
        loop {
            self.choose(passed, packet.room(), streams);
            let chosen = self.parts.len();
            if chosen == 0 || !self.fill(streams, packet) {
                return;
            }
            passed += chosen;
        }
    }

    /// Fills the packet in the usual case, just as the general one would: every stream has more waiting than the packet takes,
    /// is due a share that is neither too small nor has a length field of other than two bytes, and numbers are small enough for
    /// 64 bits. Returns whether this is the case; if not, the packet is as before.
    fn fill_evenly(&mut self, streams: &SendBuffer, packet: &mut PacketShares) -> bool {
        let room = packet.room();
        let count = most_streams(room).min(self.waiting.few.len());
        if count < 2 {
            return false;
        }
        self.even.clear();
        let (mut weights, mut sum, mut frames) = (0, 0, 0);
        for rank in self.waiting.few.iter().take(count) {
            let stream = rank.stream();
            let Account { weight, served, .. } = self.accounts[stream];
            let buffer = &streams.streams()[stream];
            if buffer.backlog() <= room || served > LARGEST_SERVED {
                return false;
            }
            let header = frame_header(stream, buffer.taken());
            (weights, sum, frames) = (weights + weight, sum + served, frames + header + 2);
            self.even.push(Even { stream, weight, served, header, bytes: 0, rest: 0 });
        }
        // The last frame has no length.
        let Some(payload) = (room + 2).checked_sub(frames) else { return false };
        if weights > LARGEST_WEIGHTS {
            return false;
        }
        if !self.even.is_sorted_by_key(|even| even.stream) {
            self.even.sort_unstable_by_key(|even| even.stream);
        }
        let (mut given, sum) = (0, sum + payload);
        for even in &mut self.even {
            let due = (even.weight * sum).checked_sub(even.served * weights);
            let Some(due) = due else { return false };
            (even.bytes, even.rest) = (due / weights, (due % weights) as i64);
            given += even.bytes;
        }
        for _ in given..payload {
            let Some(most) = self.even.iter().map(|even| even.rest).max() else { return false };
            let Some(even) = self.even.iter_mut().find(|even| even.rest == most) else {
                return false;
            };
            (even.bytes, even.rest) = (even.bytes + 1, even.rest - weights as i64);
        }
        if !self.even.iter().all(|even| TWO_BYTE_LENGTHS.contains(&even.bytes)) {
            return false;
        }
        let order = |even: &Even| (even.bytes, even.stream);
        if !self.even.is_sorted_by_key(order) {
            self.even.sort_unstable_by_key(order);
        }
        let last = self.even.len() - 1;
        for (index, even) in self.even.iter().enumerate() {
            let want = if index == last { room } else { even.bytes };
            packet.give_first(even.stream, even.header, want);
        }
        true
    }

    /// Fills the packet from `parts`; returns whether they are empty and the packet has room for others.
    fn fill(&mut self, streams: &SendBuffer, packet: &mut PacketShares) -> bool {
        if let [only] = &self.parts[..] {
            return packet.give(streams, only.stream, u64::MAX) > 0 && packet.has_room();
        }
        let mut shared = None;
        // The second pass knows the sizes of the length fields, which usually match the estimate.
        for _ in 0..2 {
            let payload = payload(packet.room(), &self.parts);
            if shared.replace(payload) != Some(payload)
                && !split_evenly(&mut self.parts, &self.accounts, payload)
            {
                split(&mut self.parts, &self.accounts, payload);
            }
        }
        let too_small = |part: &Part| part.open && (1..LEAST_SHARE).contains(&part.bytes);
        if let Some(index) = self.parts.iter().position(too_small) {
            let passed_over = self.parts.remove(index);
            let goes_on = self.fill(streams, packet);
            // It still gets the leftover bytes.
            packet.give(streams, passed_over.stream, u64::MAX);
            return goes_on && packet.has_room();
        }
        let order = |part: &Part| (part.open, part.bytes, part.stream);
        if !self.parts.is_sorted_by_key(order) {
            self.parts.sort_unstable_by_key(order);
        }
        let last = self.parts.len() - 1;
        for (index, part) in self.parts.iter().enumerate() {
            // The last open part absorbs the error of the estimated lengths.
            let want = if index == last && part.open { u64::MAX } else { part.bytes };
            packet.give(streams, part.stream, want);
        }
        self.parts.iter().all(|part| !part.open) && packet.has_room()
    }
}

/// Splits `payload` bytes as [`split`] does, in the usual case that every stream is due a share of them and has more waiting
/// than all of them; whether that is so, and numbers are small enough for 64 bits. Shares may have changed otherwise.
fn split_evenly(parts: &mut [Part], accounts: &[Account], payload: u64) -> bool {
    let (mut weights, mut sum) = (0, payload);
    for part in &*parts {
        let account = &accounts[part.stream];
        if part.backlog <= payload || account.served > LARGEST_SERVED {
            return false;
        }
        weights += account.weight;
        sum += account.served;
    }
    if weights > LARGEST_WEIGHTS {
        return false;
    }
    let mut given = 0;
    for part in &mut *parts {
        let account = &accounts[part.stream];
        let Some(due) = (account.weight * sum).checked_sub(account.served * weights) else {
            return false;
        };
        part.open = true;
        part.bytes = due / weights;
        part.rest = (due % weights) as i64;
        given += part.bytes;
    }
    // As `round` does.
    for _ in given..payload {
        let mut largest = 0;
        for index in 1..parts.len() {
            if parts[index].rest > parts[largest].rest {
                largest = index;
            }
        }
        parts[largest].bytes += 1;
        parts[largest].rest -= weights as i64;
    }
    true
}

/// Shares whose length field takes two bytes (RFC 9000 section 16).
const TWO_BYTE_LENGTHS: std::ops::Range<u64> = 64..1 << 14;

/// With bytes served and sums of weights up to these, products have up to 64 bits: 2^39 bytes of ten streams, and 2^20.
const LARGEST_SERVED: u64 = 1 << 39;
const LARGEST_WEIGHTS: u64 = 1 << 20;

/// Splits `payload` bytes so that all streams with bytes reach the same level, except those with too little waiting,
/// which are closed.
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

/// Finds the level `L = (left + sum(served)) / sum(w)` over the open parts below it, and the amount due to each,
/// `w[i] * L - served[i]`, in units of `1 / sum(w)` bytes; returns `sum(w)`.
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
        if account.taken == taken && account.rank.is_some() == waiting {
            return;
        }
        account.served += taken - account.taken;
        account.taken = taken;
        let before = account.rank.take();
        if let Some(rank) = &before {
            self.waiting.remove(*rank);
        }
        if waiting {
            if before.is_none() {
                self.join(stream);
            }
            let account = &mut self.accounts[stream];
            let rank = account.rank(stream);
            account.rank = Some(rank);
            self.waiting.insert(rank);
        }
    }

    fn schedule(
        &mut self,
        _now: SimTime,
        streams: &SendBuffer,
        packet: &mut PacketShares,
    ) -> Result<(), String> {
        if !self.fill_evenly(streams, packet) {
            self.fill_in_rounds(streams, packet);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
