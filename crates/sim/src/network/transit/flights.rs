//! Packets that propagate between the ends of hops, in the order in which they arrive.
//!
//! Each is a record of 32 bytes with all that the next satellite needs, so that a packet's own state stays where it is until it
//! leaves the network in orbit. A calendar queue (Brown, "Calendar queues", Communications of the ACM 31(10), 1988) orders the
//! records: a window collects the arrivals within a span of time as they come, and is sorted when its first one is due. Ties go to
//! the hop with the smaller number, and within a hop to the packet that left first.

use std::collections::BTreeMap;

use leobench_base::{Bytes, Descriptor, DirectionId, SimTime, Slot};

use super::HopId;

/// Binary logarithm of the nanoseconds of a window (65 us).
const WINDOW_BITS: u32 = 16;
/// Windows that are found by their number alone (33 ms); others are looked up.
const WINDOWS: u64 = 512;
/// Bits of the number of a hop, and of the place of a record in its window.
const NUMBER_BITS: u32 = 24;
const NUMBER_MASK: u64 = (1 << NUMBER_BITS) - 1;
/// Packets whose state is prefetched together.
const PREFETCHED: usize = 16;
/// The fewest packets in a window for which prefetching pays.
const CROWD: usize = 64;

/// A packet that propagates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flight {
    pub(super) arrival: SimTime,
    pub(super) hop: HopId,
    pub(super) slot: Slot,
    /// That of its link.
    pub(super) direction: DirectionId,
    /// Length of the IP packet in bytes.
    size: u32,
    /// Number of the satellite to which it flies, or of the station.
    pub(super) node: u32,
    /// Whether `node` is a station.
    pub(super) to_ground: bool,
    /// Whether it carries its route along.
    pub(super) is_routed: bool,
    /// Whether its last transmission was computed ahead, unknown to its descriptor.
    pub(super) is_ahead: bool,
}

const _: () = assert!(size_of::<Flight>() == 32, "two flights fill a cache line");

impl Flight {
    /// A packet over `hop` to a satellite, whose arrival is still to be set.
    pub(super) fn new(hop: HopId, direction: DirectionId, packet: &Descriptor, node: u32) -> Self {
        let size = u32::try_from(packet.meta.size.get()).expect("packets below 4 GiB");
        Self {
            arrival: SimTime::ZERO,
            hop,
            slot: packet.slot,
            direction,
            size,
            node,
            to_ground: false,
            is_routed: false,
            is_ahead: false,
        }
    }

    pub(super) const fn size(&self) -> Bytes {
        Bytes::new(self.size as u64)
    }

    /// The number of its window.
    const fn window(&self) -> u64 {
        self.arrival.as_nanos() >> WINDOW_BITS
    }

    /// Its order within the window, without its place in the record.
    fn key(&self) -> u64 {
        let offset = self.arrival.as_nanos() & ((1 << WINDOW_BITS) - 1);
        (offset << NUMBER_BITS | self.hop.index() as u64) << NUMBER_BITS
    }
}

/// Arrivals within a span of time, in the order in which they came.
#[derive(Debug, Default)]
struct Window {
    flights: Vec<Flight>,
    /// The smallest of their keys.
    earliest: u64,
}

impl Window {
    fn push(&mut self, flight: Flight) {
        let key = flight.key();
        if self.flights.is_empty() || key < self.earliest {
            self.earliest = key;
        }
        self.flights.push(flight);
    }

    /// Moves the flights of a hop to `taken`.
    fn take(&mut self, hop: HopId, taken: &mut Vec<Flight>) {
        taken.extend(self.flights.extract_if(.., |flight| flight.hop == hop));
        self.earliest = self.flights.iter().map(Flight::key).min().unwrap_or_default();
    }
}

/// All packets that propagate.
#[derive(Debug)]
pub(super) struct Flights {
    /// The number of the window that was opened last, its flights, and what is left of their order: keys with places.
    open: u64,
    opened: Vec<Flight>,
    order: Vec<u64>,
    next: usize,
    /// The place in the order up to which state has been prefetched; [`usize::MAX`] in a window without a crowd.
    prefetched: usize,
    /// Windows from the number `start` on, so many as [`WINDOWS`], by the remainder of their number, and a bit for each that is not
    /// empty.
    start: u64,
    near: Vec<Window>,
    occupied: [u64; WINDOWS as usize / 64],
    /// Those that were not among them when their flights came.
    far: BTreeMap<u64, Window>,
    /// Empty buffers.
    spare: Vec<Vec<Flight>>,
}

impl Default for Flights {
    fn default() -> Self {
        Self {
            open: 0,
            opened: Vec::new(),
            order: Vec::new(),
            next: 0,
            prefetched: usize::MAX,
            start: 0,
            near: (0..WINDOWS).map(|_| Window::default()).collect(),
            occupied: Default::default(),
            far: BTreeMap::new(),
            spare: Vec::new(),
        }
    }
}

impl Flights {
    /// A packet propagates from `now` on.
    pub(super) fn push(&mut self, now: SimTime, flight: Flight) {
        let number = flight.window();
        if number == self.open {
            return self.insert(flight);
        }
        if self.occupied == [0; _] {
            // Nothing has arrived for long, perhaps.
            self.start = now.as_nanos() >> WINDOW_BITS;
        }
        if !(self.start..self.start + WINDOWS).contains(&number) {
            return self.far.entry(number).or_default().push(flight);
        }
        let place = (number % WINDOWS) as usize;
        let window = &mut self.near[place];
        if window.flights.is_empty() {
            self.occupied[place / 64] |= 1 << (place % 64);
            if window.flights.capacity() == 0 {
                window.flights = self.spare.pop().unwrap_or_default();
            }
        }
        window.push(flight);
    }

    /// A packet arrives within the window that is open.
    fn insert(&mut self, flight: Flight) {
        let key = flight.key() | place(self.opened.len());
        let rest = &self.order[self.next..];
        let at = self.next + rest.partition_point(|other| *other < key);
        self.opened.push(flight);
        self.order.insert(at, key);
    }

    /// When the first one arrives, and its hop; [`SimTime::MAX`] if nothing propagates.
    #[inline]
    pub(super) fn first(&self) -> (SimTime, usize) {
        let (number, key) = if let Some(key) = self.order.get(self.next) {
            (self.open, *key)
        } else {
            match self.next_window() {
                Some(next) => next,
                None => return (SimTime::MAX, usize::MAX),
            }
        };
        let offset = key >> (2 * NUMBER_BITS);
        let hop = (key >> NUMBER_BITS) & NUMBER_MASK;
        (SimTime::from_nanos(number << WINDOW_BITS | offset), hop as usize)
    }

    /// The number of the next window that is not empty, and its smallest key.
    fn next_window(&self) -> Option<(u64, u64)> {
        let near = self.next_near().map(|place| {
            let window = &self.near[place];
            (window.flights[0].window(), window.earliest)
        });
        let far = self.far.first_key_value().map(|(number, window)| (*number, window.earliest));
        match (near, far) {
            (Some(near), Some(far)) => Some(near.min(far)),
            (near, far) => near.or(far),
        }
    }

    /// The place of the first near window that is not empty.
    fn next_near(&self) -> Option<usize> {
        // The ring begins at the place of its first number, and ends before it.
        let start = (self.start % WINDOWS) as usize;
        let (word, bit) = (start / 64, start % 64);
        let words = self.occupied.len();
        let (behind, before) = (u64::MAX << bit, !(u64::MAX << bit));
        let turn = (0..=words).map(|step| {
            let mask = match step {
                0 => behind,
                _ if step == words => before,
                _ => u64::MAX,
            };
            let at = (word + step) % words;
            (at, self.occupied[at] & mask)
        });
        let mut turn = turn.filter(|(_, bits)| *bits != 0);
        turn.next().map(|(at, bits)| at * 64 + bits.trailing_zeros() as usize)
    }

    /// The next packet over a hop, if it has arrived by `now`.
    pub(super) fn land(&mut self, now: SimTime, hop: HopId) -> Option<Flight> {
        let (arrival, first) = self.first();
        (arrival <= now && first == hop.index()).then(|| self.pop())
    }

    /// The next few to arrive, if their state is to be prefetched: usually once each, as few come into the window that is open.
    #[inline]
    pub(super) fn upcoming(&mut self) -> impl Iterator<Item = &Flight> + Clone {
        let mut end = self.next;
        if self.next >= self.prefetched {
            end = self.order.len().min(self.next + PREFETCHED);
            self.prefetched = end;
        }
        let keys = self.order[self.next..end].iter();
        keys.map(|key| &self.opened[(key & NUMBER_MASK) as usize])
    }

    /// The first one, which there is.
    pub(super) fn pop(&mut self) -> Flight {
        if self.next == self.order.len() {
            self.open_next();
        }
        let key = self.order[self.next];
        self.next += 1;
        self.opened[(key & NUMBER_MASK) as usize]
    }

    /// Sorts the next window that is not empty.
    fn open_next(&mut self) {
        let (number, _) = self.next_window().expect("something propagates");
        let at = (number % WINDOWS) as usize;
        let mut done = std::mem::take(&mut self.opened);
        done.clear();
        self.spare.push(done);
        self.opened = self.far.remove(&number).unwrap_or_default().flights;
        let near = &mut self.near[at];
        if near.flights.first().is_some_and(|flight| flight.window() == number) {
            self.occupied[at / 64] &= !(1 << (at % 64));
            let mut near = std::mem::take(&mut near.flights);
            if self.opened.is_empty() {
                self.opened = near;
            } else {
                // Those that were far came first.
                self.opened.append(&mut near);
                self.spare.push(near);
            }
        }
        (self.open, self.next) = (number, 0);
        self.start = self.start.max(number);
        self.order.clear();
        let keys = self.opened.iter().enumerate().map(|(at, flight)| flight.key() | place(at));
        self.order.extend(keys);
        self.order.sort_unstable();
        self.prefetched = if self.order.len() < CROWD { usize::MAX } else { 0 };
    }

    /// Takes all packets over a hop, in order.
    pub(super) fn take(&mut self, hop: HopId) -> Vec<Flight> {
        let mut taken = Vec::new();
        self.order.drain(..self.next);
        self.next = 0;
        if self.prefetched != usize::MAX {
            self.prefetched = 0;
        }
        let is_of_hop = |key: &mut u64| *key >> NUMBER_BITS & NUMBER_MASK == hop.index() as u64;
        let keys = self.order.extract_if(.., is_of_hop);
        taken.extend(keys.map(|key| self.opened[(key & NUMBER_MASK) as usize]));
        self.far.retain(|_, window| {
            window.take(hop, &mut taken);
            !window.flights.is_empty()
        });
        for (at, window) in self.near.iter_mut().enumerate() {
            if window.flights.is_empty() {
                continue;
            }
            window.take(hop, &mut taken);
            if window.flights.is_empty() {
                self.occupied[at / 64] &= !(1 << (at % 64));
            }
        }
        taken.sort_by_key(|flight| flight.arrival);
        taken
    }
}

/// The place of a record in its window, as part of a key.
fn place(index: usize) -> u64 {
    let index = index as u64;
    assert!(index <= NUMBER_MASK, "fewer than 2^24 packets arrive within {WINDOW_BITS} bits of ns");
    index
}

#[cfg(test)]
mod tests {
    use leobench_base::{RngTree, SimDuration};

    use super::*;

    fn flight(arrival: SimTime, hop: usize, slot: u32) -> Flight {
        Flight {
            arrival,
            hop: hop.into(),
            slot: Slot(slot),
            direction: 0.into(),
            size: 1,
            node: 0,
            to_ground: false,
            is_routed: false,
            is_ahead: false,
        }
    }

    /// A list in which a search finds the smallest: by arrival, then by hop, then by when it came.
    #[derive(Default)]
    struct Plain(Vec<Flight>);

    impl Plain {
        fn first(&self) -> Option<usize> {
            let keys = self.0.iter().map(|flight| (flight.arrival, flight.hop));
            keys.enumerate().min_by_key(|(_, key)| *key).map(|(place, _)| place)
        }
    }

    /// Times are mostly few, so that many are equal, and up to `span` ahead.
    fn compare(seed: u64, span: u64, grain: u64) {
        let mut rng = RngTree::new(seed).rng();
        let (mut flights, mut plain) = (Flights::default(), Plain::default());
        let mut now = SimTime::ZERO;
        for number in 0..20_000 {
            match rng.bits() % 16 {
                0..8 => {
                    let nanos = now.as_nanos() + rng.bits() % span;
                    let arrival = SimTime::from_nanos(nanos.next_multiple_of(grain));
                    let flight = flight(arrival, (rng.bits() % 5) as usize, number);
                    flights.push(now, flight);
                    plain.0.push(flight);
                }
                8 if number % 64 == 0 => {
                    let hop = HopId::from((rng.bits() % 5) as usize);
                    let mut taken: Vec<_> =
                        plain.0.extract_if(.., |flight| flight.hop == hop).collect();
                    taken.sort_by_key(|flight| flight.arrival);
                    assert_eq!(flights.take(hop), taken);
                    // Half of them stay.
                    for flight in taken.iter().step_by(2) {
                        flights.push(now, *flight);
                        plain.0.push(*flight);
                    }
                }
                9 if number % 8 == 0 => {
                    // All land, and nothing propagates for a while.
                    while let Some(first) = plain.first() {
                        now = plain.0[first].arrival;
                        assert_eq!(flights.pop(), plain.0.remove(first));
                    }
                    assert_eq!(flights.first().0, SimTime::MAX);
                    now += SimDuration::from_nanos(rng.bits() % (5 * span));
                }
                _ => {
                    let Some(first) = plain.first() else { continue };
                    let expected = plain.0.remove(first);
                    assert_eq!(flights.first(), (expected.arrival, expected.hop.index()));
                    assert_eq!(flights.land(now, HopId::from(5)), None);
                    now = expected.arrival;
                    assert_eq!(flights.land(now, expected.hop), Some(expected));
                }
            }
        }
        assert!(plain.0.is_empty() || flights.first().0 < SimTime::MAX);
    }

    /// Windows take turns in 512 places: with the ring begun where the last packet arrived, the later of these would come first.
    #[test]
    fn the_earlier_comes_first_after_nothing_has_propagated_for_long() {
        let window = |number: u64| SimTime::from_nanos(number << WINDOW_BITS);
        let mut flights = Flights::default();
        let (sooner, later) = (flight(window(1_000), 0, 1), flight(window(1_030), 0, 2));
        flights.push(window(990), later);
        flights.push(window(990), sooner);
        assert_eq!([flights.pop(), flights.pop()], [sooner, later]);
    }

    /// In a crowd, the state of each packet is prefetched once, before it arrives.
    #[test]
    fn each_packet_of_a_crowd_is_prefetched_once() {
        for (count, in_crowd) in [(CROWD as u32 - 1, false), (10 * CROWD as u32 + 7, true)] {
            let mut flights = Flights::default();
            for slot in 0..count {
                let arrival = SimTime::from_nanos((1 << WINDOW_BITS) + u64::from(slot * 7 % 64));
                flights.push(SimTime::ZERO, flight(arrival, 0, slot));
            }
            // The first one opens the window.
            let (first, mut prefetched) = (flights.pop(), Vec::new());
            for place in 1..count as usize {
                prefetched.extend(flights.upcoming().map(|flight| flight.slot));
                let next = flights.pop();
                assert_eq!(prefetched.get(place - 1), in_crowd.then_some(&next.slot));
            }
            assert!(!prefetched.contains(&first.slot));
        }
    }

    #[test]
    fn the_earliest_comes_first_and_ties_go_to_the_smaller_hop_and_the_first_to_come() {
        // Within a window, over many, and beyond those that are found by their number.
        for (seed, span, grain) in
            [(1, 100, 7), (2, 60_000, 1_000), (3, 10_000_000, 100_000), (4, 300_000_000, 65_536)]
        {
            compare(seed, span, grain);
        }
    }
}
