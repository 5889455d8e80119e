//! Fair queueing that redistributes unused shares, by filling streams to a common level.
//!
//! The level of a stream is the bytes it has been served per unit of weight. A packet of C bytes raises the streams
//! that share it to the level L with `sum(min(backlog[i], w[i] * L - served[i])) = C`. Streams that always have bytes
//! waiting have the same level, within a byte, before every packet, so each gets `w[i] * C / sum(w)`, and unused shares
//! are redistributed in the same way: the split of the paper. All arithmetic is in integers. Whole bytes are given; a
//! remaining fraction of a byte lowers the stream's level for the next packet.

use std::cmp::Reverse;

use leobench_base::{SimTime, StreamIndex};
use typed_index_collections::{TiSlice, TiVec};

use super::waiting::{Rank, Waiting};
use super::{MOST_STREAMS, Part, most_streams, payload, round};
use crate::buffer::SendBuffer;
use crate::scheduler::packet::frame_header;
use crate::scheduler::{PacketShares, StreamScheduler};

/// A stream that is due fewer bytes than this, and has more waiting, is passed over until it is due more: the header of
/// its frame, up to 19 bytes (RFC 9000 section 19.8), would be more than half as long.
const LEAST_SHARE: u64 = 32;

/// Shares packets among the streams with the lowest levels, at most ten per packet unless these leave room.
pub(super) struct Redistribute {
    accounts: TiVec<StreamIndex, Account>,
    /// The streams with bytes waiting.
    waiting: Waiting,
    /// The number of busy periods: how often a stream became busy while all were idle.
    busy_period: u64,
    parts: Vec<Part>,
    even: [Even; MOST_STREAMS],
}

/// A stream's share of a packet in the usual case.
#[derive(Clone, Copy, Debug)]
struct Even {
    stream: StreamIndex,
    weight: u64,
    served: u64,
    /// Bytes of its frame's header, without the length.
    header: u64,
    bytes: u64,
    /// The remainder of its due, in units of 1 / (sum of the weights) bytes; negative if `bytes` was rounded up.
    rest: i64,
}

impl Even {
    /// No share, of no stream in particular.
    const NONE: Self =
        Self { stream: StreamIndex::FIRST, weight: 0, served: 0, header: 0, bytes: 0, rest: 0 };

    /// The position of its frame in the packet.
    fn order(&self) -> (u64, StreamIndex) {
        (self.bytes, self.stream)
    }
}

/// Sums over the streams that share a packet evenly.
#[derive(Clone, Copy, Debug, Default)]
struct Evens {
    weights: u64,
    /// Bytes served.
    served: u64,
    /// Bytes to be shared.
    payload: u64,
}

impl Evens {
    /// Raises all to the same level, by whole bytes; returns whether none is above it.
    #[inline]
    fn share_out(&self, even: &mut [Even]) -> bool {
        let (weights, sum, mut given) = (self.weights, self.served + self.payload, 0);
        for even in &mut *even {
            let due = (even.weight * sum).checked_sub(even.served * weights);
            let Some(due) = due else { return false };
            (even.bytes, even.rest) = (due / weights, (due % weights) as i64);
            given += even.bytes;
        }
        for _ in given..self.payload {
            // The first stream among equals.
            let most = even.iter_mut().max_by_key(|even| (even.rest, Reverse(even.stream)));
            let Some(even) = most else { return false };
            (even.bytes, even.rest) = (even.bytes + 1, even.rest - weights as i64);
        }
        true
    }
}

struct Account {
    weight: u64,
    /// Bytes served in the busy period, or credited when it joined later.
    served: u64,
    /// Bytes taken from its buffer since the start, at the last look.
    taken: u64,
    /// The busy period of `served`.
    busy_period: u64,
}

impl Account {
    fn rank(&self, stream: StreamIndex) -> Rank {
        Rank::new(stream, self.weight, self.served)
    }
}

impl Redistribute {
    pub(super) fn new(weights: &[u64]) -> Self {
        let account = |&weight| Account { weight, served: 0, taken: 0, busy_period: 0 };
        Self {
            accounts: weights.iter().map(account).collect(),
            waiting: Waiting::new(weights.len()),
            busy_period: 0,
            parts: Vec::new(),
            even: [Even::NONE; MOST_STREAMS],
        }
    }

    /// A stream has bytes waiting again. It starts at the lowest level of the streams that were busy all along, or
    /// above: idle time earns no credit. If all were idle, a new busy period starts.
    #[inline(never)]
    fn join(&mut self, stream: StreamIndex) {
        self.settle();
        let lowest = self.waiting.after(0).next().map(|stream| &self.accounts[stream]);
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
        self.waiting.insert(self.accounts[stream].rank(stream));
    }

    /// Orders the waiting streams by level.
    #[inline(never)]
    fn settle(&mut self) {
        self.waiting.settle(|stream| self.accounts[stream].rank(stream));
    }

    /// Makes the lowest streams, without the first `passed`, the `parts` of a packet with `room` left.
    fn choose(&mut self, passed: usize, room: u64, streams: &SendBuffer) {
        self.parts.clear();
        self.settle();
        for stream in self.waiting.after(passed).take(most_streams(room)) {
            self.parts.push(Part::new(stream, self.accounts[stream].weight, streams));
        }
        if !self.parts.is_sorted_by_key(|part| part.stream) {
            self.parts.sort_unstable_by_key(|part| part.stream);
        }
    }

    /// Fills the packet with the lowest streams, and with the next ones if those leave room.
    #[inline(never)]
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

    /// Makes the first `count` streams share a packet evenly; `None` if numbers are large, or one has not more waiting than `room`.
    #[inline]
    fn choose_even(&mut self, count: usize, room: u64, streams: &SendBuffer) -> Option<Evens> {
        let (mut sums, mut frames, mut is_usual) = (Evens::default(), 0, true);
        for (even, stream) in self.even[..count].iter_mut().zip(self.waiting.after(0)) {
            let Account { weight, served, .. } = self.accounts[stream];
            let buffer = &streams.streams()[stream];
            let header = frame_header(stream, buffer.taken());
            (even.stream, even.header) = (stream, header);
            (even.weight, even.served) = (weight, served);
            frames += header + 2;
            (sums.weights, sums.served) = (sums.weights + weight, sums.served + served);
            is_usual &= buffer.backlog() > room && served <= LARGEST_SERVED;
        }
        // The last frame has no length.
        sums.payload = (room + 2).checked_sub(frames)?;
        (is_usual && sums.weights <= LARGEST_WEIGHTS).then_some(sums)
    }

    /// Fills the packet in the usual case, just as the general one would: every stream has more waiting than the packet takes,
    /// is due a share that is neither too small nor has a length field of other than two bytes, and numbers are small enough for
    /// 64 bits. Returns whether this is the case; if not, the packet is as before.
    fn fill_evenly(&mut self, streams: &SendBuffer, packet: &mut PacketShares) -> bool {
        let room = packet.room();
        let count = self.waiting.len().min(most_streams(room));
        if count < 2 {
            return false;
        }
        if count < self.waiting.len() {
            self.settle();
        }
        let Some(sums) = self.choose_even(count, room, streams) else { return false };
        let even = &mut self.even[..count];
        if !sums.share_out(even) {
            return false;
        }
        sort(even);
        if even[0].bytes < TWO_BYTE_LENGTHS.start || even[count - 1].bytes >= TWO_BYTE_LENGTHS.end {
            return false;
        }
        packet.fill(even.iter().map(|even| (even.stream, even.header, even.bytes)));
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

/// Sorts a few shares, the smallest first, as their frames are: two or three are mostly in order.
fn sort(shares: &mut [Even]) {
    for next in 1..shares.len() {
        let mut place = next;
        while place > 0 && shares[place].order() < shares[place - 1].order() {
            shares.swap(place, place - 1);
            place -= 1;
        }
    }
}

/// Splits `payload` bytes as [`split`] does, in the usual case that every stream is due a share of them and has more waiting
/// than all of them; whether that is so, and numbers are small enough for 64 bits. Shares may have changed otherwise.
fn split_evenly(
    parts: &mut [Part],
    accounts: &TiSlice<StreamIndex, Account>,
    payload: u64,
) -> bool {
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
fn split(parts: &mut [Part], accounts: &TiSlice<StreamIndex, Account>, payload: u64) {
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
    fn on_change(&mut self, stream: StreamIndex, streams: &SendBuffer) {
        let taken = streams.streams()[stream].taken();
        let account = &mut self.accounts[stream];
        account.served += taken - account.taken;
        account.taken = taken;
        match (self.waiting.contains(stream), streams.is_occupied(stream)) {
            (true, true) => self.waiting.on_served(stream),
            (true, false) => self.waiting.remove(stream),
            (false, true) => self.join(stream),
            (false, false) => {}
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
