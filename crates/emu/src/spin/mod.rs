//! A passive observer of QUIC's spin bit (RFC 9000 section 17.4): round-trip times of connections whose ends set it, seen from
//! outside, without keys and packet numbers (RFC 9312 section 3.8.2).
//!
//! An end changes the bit once a round trip, so the time between two edges in one direction is a round-trip time, with what the
//! ends wait in it. Reordering across an edge looks like two more edges. The observer rejects them by the history of
//! the flow, which begins with the handshake: an edge that comes sooner than half of the least recent round trip is one only if
//! the new value stays. Nor does an edge after a long pause end a sample. Others while a sender has little to send are longer than
//! the path and kept: the observer cannot tell them from a queue.

use std::collections::VecDeque;
use std::net::SocketAddr;

use leobench_base::{SimDuration, SimTime};
use rustc_hash::{FxHashMap, FxHashSet};

/// Bits of the first byte (RFC 8999 section 5, RFC 9000 section 17.3.1).
const LONG: u8 = 0x80;
const SPIN: u8 = 0x20;
/// The versions whose short headers have a spin bit (RFC 9000, RFC 9369).
const VERSIONS: [u32; 2] = [1, 0x6b33_43cf];
/// The round trips that make the history of a flow.
const HISTORY: usize = 16;
/// Packets with the new value after which an edge that came too soon is one: the round trip has become shorter.
const STAYS: u32 = 8;
/// The same where no round trip is known yet: the packets that RFC 9002 section 6.1.1 allows to be reordered.
const STAYS_UNKNOWN: u32 = 3;
/// An end may set the bit at random for each packet (RFC 9000 section 17.4), which changes it every other packet. Where it
/// spins, one packet in so many may begin with another value, unless round trips are as long as that of the handshake.
const CHANGES: u64 = 4;

/// After a pause of so many round trips an edge tells nothing: the sender had nothing to send, or another path.
const PAUSE: u64 = 3;

/// A round-trip time seen at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpinSample {
    /// When the edge came that ends it.
    pub at: SimTime,
    /// The time since the edge before.
    pub rtt: SimDuration,
}

/// The use that the ends of a flow make of the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpinUse {
    /// It changes once a round trip.
    Spins,
    /// It never changes, which tells nothing.
    Constant,
    /// It changes more often than a round trip could be short.
    Random,
}

impl SpinUse {
    /// The word for it in the results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spins => "spins",
            Self::Constant => "constant",
            Self::Random => "random",
        }
    }
}

/// Observations of one direction of a connection over one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpinFlow {
    /// The sender.
    pub source: SocketAddr,
    /// The receiver.
    pub destination: SocketAddr,
    /// Packets with a short header.
    pub packets: u64,
    /// The use of the bit.
    pub spin: SpinUse,
    /// None unless it spins.
    pub samples: Vec<SpinSample>,
}

/// The observer. It is handed each datagram with the time at which it arrived at a host.
#[derive(Debug, Default)]
pub struct SpinObserver {
    /// In the order in which they began.
    flows: Vec<Direction>,
    places: FxHashMap<(SocketAddr, SocketAddr), usize>,
    /// Addresses of servers: the destinations of clients' first packets.
    servers: FxHashSet<SocketAddr>,
}

impl SpinObserver {
    /// Takes note of the payload of a datagram.
    pub fn observe(
        &mut self,
        now: SimTime,
        source: SocketAddr,
        destination: SocketAddr,
        payload: &[u8],
    ) {
        let Some(&first) = payload.first() else { return };
        let is_long = first & LONG != 0;
        let place = match self.places.get(&(source, destination)) {
            Some(place) => *place,
            None if is_long && has_known_version(payload) => {
                if !self.servers.contains(&source) {
                    self.servers.insert(destination);
                }
                self.add(source, destination)
            }
            // A connection that came to another address.
            None if self.servers.contains(&source) || self.servers.contains(&destination) => {
                self.add(source, destination)
            }
            None => return,
        };
        self.note_handshake(now, place, (destination, source));
        if !is_long {
            self.flows[place].packet(now, first & SPIN != 0);
        }
    }

    /// The directions of all connections seen.
    pub fn flows(&self) -> impl Iterator<Item = SpinFlow> {
        self.flows.iter().filter(|flow| flow.packets > 0).map(Direction::seen)
    }

    fn add(&mut self, source: SocketAddr, destination: SocketAddr) -> usize {
        let place = self.flows.len();
        self.flows.push(Direction::new(source, destination));
        self.places.insert((source, destination), place);
        place
    }

    /// The first round trip, of both directions: from a packet to the first one after an answer.
    fn note_handshake(&mut self, now: SimTime, place: usize, back: (SocketAddr, SocketAddr)) {
        let flow = &mut self.flows[place];
        let Some(begun) = flow.begun else {
            flow.begun = Some(now);
            return;
        };
        if flow.handshake.is_some() {
            return;
        }
        let answer = self.places.get(&back).and_then(|back| self.flows[*back].begun);
        if answer.is_some_and(|answer| begun < answer && answer < now) {
            let trip = now.saturating_since(begun);
            self.flows[place].handshake = Some(trip);
            if let Some(back) = self.places.get(&back) {
                self.flows[*back].handshake.get_or_insert(trip);
            }
        }
    }
}

fn has_known_version(payload: &[u8]) -> bool {
    let version = payload.get(1..5).and_then(|bytes| bytes.try_into().ok());
    version.is_some_and(|version| VERSIONS.contains(&u32::from_be_bytes(version)))
}

/// One direction of a connection over one path.
#[derive(Debug)]
struct Direction {
    ends: (SocketAddr, SocketAddr),
    packets: u64,
    begun: Option<SimTime>,
    /// The round trip of the handshake.
    handshake: Option<SimDuration>,
    value: Option<bool>,
    /// When the last packet came, and whether a pause was before it or others since the last edge.
    heard: Option<SimTime>,
    paused: bool,
    /// When the last edge came.
    edge: Option<SimTime>,
    /// The other value, when it came too soon: since when, and how often without another between.
    doubtful: Option<(SimTime, u32)>,
    recent: VecDeque<SimDuration>,
    last: bool,
    /// How many packets had another value than the one before.
    changes: u64,
    samples: Vec<SpinSample>,
}

impl Direction {
    fn new(source: SocketAddr, destination: SocketAddr) -> Self {
        Self {
            ends: (source, destination),
            packets: 0,
            begun: None,
            handshake: None,
            value: None,
            heard: None,
            paused: false,
            edge: None,
            doubtful: None,
            recent: VecDeque::with_capacity(HISTORY),
            last: false,
            changes: 0,
            samples: Vec::new(),
        }
    }

    fn packet(&mut self, now: SimTime, value: bool) {
        self.packets += 1;
        let least = self.recent.iter().min().copied().or(self.handshake);
        if let (Some(heard), Some(least)) = (self.heard.replace(now), least) {
            self.paused |= now.saturating_since(heard) > least * PAUSE;
        }
        let Some(known) = self.value else {
            (self.value, self.last) = (Some(value), value);
            return;
        };
        self.changes += u64::from(std::mem::replace(&mut self.last, value) != value);
        if value == known {
            self.doubtful = None;
            return;
        }
        let (since, seen) = self.doubtful.map_or((now, 1), |(since, seen)| (since, seen + 1));
        let is_edge = match (self.edge, least) {
            // Before the first edge the bit has its first value, so that late packets have it, too.
            (None, _) => true,
            (Some(edge), Some(least)) if since.saturating_since(edge) * 2 >= least => true,
            (Some(_), Some(_)) => seen >= STAYS,
            (Some(_), None) => seen >= STAYS_UNKNOWN,
        };
        if is_edge { self.turn(since, value) } else { self.doubtful = Some((since, seen)) }
    }

    /// The bit has changed at `at`.
    fn turn(&mut self, at: SimTime, value: bool) {
        let has_paused = std::mem::take(&mut self.paused);
        if let Some(edge) = self.edge.replace(at).filter(|_| !has_paused) {
            let rtt = at.saturating_since(edge);
            self.samples.push(SpinSample { at, rtt });
            self.recent.truncate(HISTORY - 1);
            self.recent.push_front(rtt);
        }
        (self.value, self.doubtful) = (Some(value), None);
    }

    fn is_random(&self) -> bool {
        let mut rtts: Vec<_> = self.samples.iter().map(|sample| sample.rtt).collect();
        rtts.sort_unstable();
        let is_short = match (rtts.get(rtts.len() / 2), self.handshake) {
            (Some(median), Some(handshake)) => *median * 2 < handshake,
            _ => true,
        };
        self.changes * CHANGES > self.packets && is_short
    }

    fn seen(&self) -> SpinFlow {
        let spin = if self.edge.is_none() {
            SpinUse::Constant
        } else if self.is_random() {
            SpinUse::Random
        } else {
            SpinUse::Spins
        };
        let samples = if spin == SpinUse::Spins { self.samples.clone() } else { Vec::new() };
        let (source, destination) = self.ends;
        SpinFlow { source, destination, packets: self.packets, spin, samples }
    }
}

#[cfg(test)]
mod tests;
