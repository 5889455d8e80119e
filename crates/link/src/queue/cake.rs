//! CAKE with one tin: a shaper, flow isolation by a set-associative hash and deficit round robin, and COBALT.
//!
//! Høiland-Jørgensen, Täht and Morton, "Piece of CAKE: a comprehensive queue management solution for home gateways",
//! LANMAN 2018; defaults as in `tc-cake(8)`.

use std::collections::VecDeque;

use leobench_base::spec::{Fault, Limit, UpTo};
use leobench_base::{BitRate, Bytes, Descriptor, RngTree, SimDuration, SimRng, SimTime};

use super::cobalt::{BLUE, CODEL, Cobalt, Settings};
use super::hash::spread;
use super::ways::{Lookup, Ways};
use super::{
    Backlog, Capacity, Cause, Causes, Dequeued, Fates, Line, QueueDiscipline, QueueModel,
    by_arrival, check_limit,
};

/// Queues of flows, and places of hosts ("Piece of CAKE", section III-B).
const QUEUES: usize = 1_024;
/// A full packet with its Ethernet header.
const FULL_PACKET: Bytes = Bytes::new(1_514);
/// Smallest quantum, of slow shapers.
const LEAST_QUANTUM: u64 = 300;
/// The target is this part of the round trip (`tc-cake`: 5 %).
const TARGET_PARTS: u64 = 20;
/// Round trips that make sense: from a tenth of the shortest that `tc-cake` has a word for to its longest.
const LEAST_RTT: SimDuration = SimDuration::from_micros(10);
const MOST_RTT: SimDuration = SimDuration::from_secs(1_000);

leobench_base::words! {
    /// The parties among which a link is shared fairly.
    pub enum Isolation {
        /// Flows.
        Flows = "flows",
        /// Hosts that send, then their flows.
        DualSource = "dual-srchost",
        /// Hosts that receive, then their flows.
        DualDestination = "dual-dsthost",
        /// Hosts on both sides, then their flows.
        Triple = "triple-isolate",
    }
}

leobench_base::spec! {
    /// CAKE with one tin (Høiland-Jørgensen et al. 2018): shaper, flow isolation and COBALT.
    pub struct CakeSpec: Default check = check {
        /// Rate that the shaper keeps to, in bytes by IP length; none unless given.
        pub bandwidth: Option<BitRate>,
        /// Round trip of most flows, from 10 us to 1000 s: the interval of COBALT, whose target is 5 % of it (`tc-cake`).
        pub rtt: SimDuration [UpTo::DELAY] = SimDuration::from_millis(100),
        /// Parties among which the link is shared fairly (`tc-cake`).
        pub isolation: Isolation = Isolation::Triple,
        /// Whether ECN-capable packets are marked instead of dropped by `CoDel`; BLUE always drops.
        pub ecn: bool = true,
        /// Capacity of all queues together; beyond it, the flow with the most waiting bytes loses packets (4 MB, as
        /// `tc-cake` at most rates).
        pub limit: Limit = Limit::Bytes(Bytes::new(4_000_000)),
    }
}

fn check(spec: &CakeSpec) -> Result<(), Fault> {
    check_limit(&spec.limit)?;
    if !(LEAST_RTT..=MOST_RTT).contains(&spec.rtt) {
        let allowed = format!("from {LEAST_RTT} to {MOST_RTT}, such as `100 ms`");
        return Err(Fault::new("rtt", "is out of range", allowed));
    }
    if spec.bandwidth.is_some_and(BitRate::is_zero) {
        let allowed = "a rate above zero, or no `bandwidth`";
        return Err(Fault::new("bandwidth", "is zero, so nothing gets through", allowed));
    }
    Ok(())
}

impl CakeSpec {
    /// COBALT's parameters: a slow shaper needs time for a packet and a half.
    fn settings(&self) -> Settings {
        let serialised = self.bandwidth.and_then(|rate| rate.serialise(FULL_PACKET, 0));
        let packet_time = serialised.map_or(SimDuration::ZERO, |(time, _)| time);
        let least = self.rtt / TARGET_PARTS;
        let target = least.max(packet_time * 3 / 2);
        let interval = (self.rtt + target - least).max(target * 2);
        Settings { target, interval, packet_time, ecn: self.ecn }
    }
}

impl QueueModel for CakeSpec {
    fn limit(&self) -> &Limit {
        &self.limit
    }

    fn build(&self, capacity: Capacity, rng: &RngTree) -> Box<dyn QueueDiscipline> {
        let quantum = self.bandwidth.map_or(u64::MAX, |rate| (rate.bps() / 8) >> 12);
        Box::new(Cake {
            capacity,
            settings: self.settings(),
            isolation: self.isolation,
            quantum: quantum.clamp(LEAST_QUANTUM, FULL_PACKET.get()) as i64,
            perturbation: rng.child("hash").rng().bits(),
            rng: rng.child("blue").rng(),
            shaper: self.bandwidth.map(Shaper::new),
            ways: Ways::new(QUEUES),
            flows: std::iter::repeat_with(Flow::default).take(QUEUES).collect(),
            sources: Hosts::new(),
            destinations: Hosts::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            decaying: VecDeque::new(),
            backlog: Backlog::default(),
        })
    }
}

struct Cake {
    capacity: Capacity,
    settings: Settings,
    isolation: Isolation,
    quantum: i64,
    perturbation: u64,
    rng: SimRng,
    shaper: Option<Shaper>,
    ways: Ways,
    flows: Vec<Flow>,
    sources: Hosts,
    destinations: Hosts,
    /// Flows that have begun to send.
    new: VecDeque<usize>,
    /// Flows that have used up a quantum.
    old: VecDeque<usize>,
    /// Empty flows whose COBALT has not come to rest.
    decaying: VecDeque<usize>,
    backlog: Backlog,
}

/// Which list a flow is in, and what it counts as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Set {
    /// In no list.
    #[default]
    Idle,
    /// In the list of new flows, or in that of old ones though it was empty when its turn came.
    Sparse,
    /// In the list of old flows, and one of its hosts' bulk flows.
    Bulk,
    /// In the list of decaying flows.
    Decaying,
}

#[derive(Debug, Default)]
struct Flow {
    line: Line,
    cobalt: Cobalt,
    deficit: i64,
    set: Set,
    /// Places of the source and the destination.
    hosts: [usize; 2],
}

/// Hosts on one side, and how many bulk flows each has.
#[derive(Debug)]
struct Hosts {
    ways: Ways,
    flows: Vec<u32>,
    bulk: Vec<u32>,
}

impl Hosts {
    fn new() -> Self {
        Self { ways: Ways::new(QUEUES), flows: vec![0; QUEUES], bulk: vec![0; QUEUES] }
    }

    /// The slot of a host, with one more flow.
    fn enter(&mut self, key: u64) -> usize {
        let flows = &self.flows;
        let (Lookup::Known(slot) | Lookup::Free(slot) | Lookup::Shared(slot)) =
            self.ways.find(key, |slot| flows[slot] > 0);
        self.flows[slot] += 1;
        slot
    }
}

/// Spaces departures at a rate, exactly.
#[derive(Debug)]
struct Shaper {
    rate: BitRate,
    /// When the next packet may go, and the remainder of a nanosecond (see [`BitRate::serialise`]).
    next: SimTime,
    carry: u64,
}

impl Shaper {
    fn new(rate: BitRate) -> Self {
        Self { rate, next: SimTime::ZERO, carry: 0 }
    }

    /// A packet goes at `now`. One that is late by less than its own time does not delay those behind it.
    fn on_sent(&mut self, now: SimTime, size: Bytes) {
        let Some((span, carry)) = self.rate.serialise(size, self.carry) else { return };
        if self.next + span > now {
            self.carry = carry;
        } else {
            self.next = now;
            self.carry = 0;
        }
        self.next += span;
    }
}

impl Cake {
    /// The flow of a packet, whose hosts are entered if the slot was free.
    fn flow_of(&mut self, packet: &Descriptor) -> usize {
        let meta = &packet.meta;
        let key = |hash: u32, purpose: u64| spread(hash, self.perturbation.wrapping_add(purpose));
        let (flow, source) = (key(meta.flow_hash(), 0), key(meta.source_hash(), 1));
        let destination = key(meta.destination_hash(), 2);
        let flows = &self.flows;
        match self.ways.find(flow, |slot| flows[slot].set != Set::Idle) {
            Lookup::Known(slot) | Lookup::Shared(slot) => slot,
            Lookup::Free(slot) => {
                let hosts = [self.sources.enter(source), self.destinations.enter(destination)];
                self.flows[slot].hosts = hosts;
                slot
            }
        }
    }

    /// The quantum of a flow: its hosts' share, divided by their bulk flows.
    fn quantum(&self, flow: &Flow) -> i64 {
        let [source, destination] = flow.hosts;
        let source = self.sources.bulk[source];
        let destination = self.destinations.bulk[destination];
        let load = match self.isolation {
            Isolation::Flows => 1,
            Isolation::DualSource => source,
            Isolation::DualDestination => destination,
            Isolation::Triple => source.max(destination),
        };
        (self.quantum / i64::from(load.max(1))).max(1)
    }

    /// Counts a flow as another kind; one that goes idle leaves its hosts.
    fn set(&mut self, number: usize, set: Set) {
        let flow = &mut self.flows[number];
        let before = std::mem::replace(&mut flow.set, set);
        let [source, destination] = flow.hosts;
        for (hosts, slot) in [(&mut self.sources, source), (&mut self.destinations, destination)] {
            hosts.bulk[slot] += u32::from(set == Set::Bulk);
            hosts.bulk[slot] -= u32::from(before == Set::Bulk);
            hosts.flows[slot] -= u32::from(set == Set::Idle);
        }
    }

    /// Drops the first packet of the fattest flow.
    fn make_room(&mut self, now: SimTime, fates: &mut Fates) {
        let fattest = self.flows.iter_mut().rev().max_by_key(|flow| flow.line.backlog().bytes);
        let Some(flow) = fattest else { return };
        flow.cobalt.on_full(now, &self.settings);
        if let Some(packet) = flow.line.pop() {
            self.backlog.remove(packet.meta.size);
            fates.drop(packet, Cause::QUEUE);
        }
    }

    /// Takes the flow whose turn it is off its list, and tells whether that is the one of new flows ("Piece of CAKE",
    /// section III-B: DRR++).
    fn turn(&mut self) -> Option<(usize, bool)> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = list.pop_front()?;
            let flow = &self.flows[number];
            if flow.deficit > 0 {
                return Some((number, is_new));
            }
            if flow.set == Set::Sparse && !flow.line.is_empty() {
                self.set(number, Set::Bulk);
            }
            let quantum = self.quantum(&self.flows[number]);
            self.flows[number].deficit += quantum;
            self.old.push_back(number);
        }
    }

    /// Takes a flow that is empty out of the lists, or lets its state decay.
    fn retire(&mut self, now: SimTime, number: usize) {
        let flow = &mut self.flows[number];
        flow.cobalt.on_empty(now, &self.settings);
        if flow.cobalt.is_at_rest(now) {
            self.set(number, Set::Idle);
        } else {
            self.set(number, Set::Decaying);
            self.decaying.push_back(number);
        }
    }

    /// The next packet of a flow that COBALT lets go.
    fn pop(&mut self, now: SimTime, number: usize, fates: &mut Fates) -> Option<Descriptor> {
        let flow = &mut self.flows[number];
        while let Some(packet) = flow.line.pop() {
            self.backlog.remove(packet.meta.size);
            let last = flow.line.is_empty();
            let (settings, rng) = (&self.settings, &mut self.rng);
            if let Some(packet) = flow.cobalt.decide(now, settings, packet, last, rng, fates) {
                return Some(packet);
            }
        }
        None
    }
}

impl QueueDiscipline for Cake {
    fn enqueue(&mut self, now: SimTime, packet: Descriptor, fates: &mut Fates) {
        let number = self.flow_of(&packet);
        self.backlog.add(packet.meta.size);
        let flow = &mut self.flows[number];
        flow.line.push(packet);
        match flow.set {
            Set::Idle | Set::Decaying => {
                self.decaying.retain(|other| *other != number);
                self.set(number, Set::Sparse);
                self.flows[number].deficit = self.quantum(&self.flows[number]);
                self.new.push_back(number);
            }
            Set::Sparse | Set::Bulk => {}
        }
        while self.capacity.is_exceeded(self.backlog) {
            self.make_room(now, fates);
        }
    }

    fn dequeue(&mut self, now: SimTime, fates: &mut Fates) -> Dequeued {
        if self.backlog.packets == 0 {
            return Dequeued::Empty;
        }
        if let Some(shaper) = &self.shaper
            && shaper.next > now
        {
            return Dequeued::NotBefore(shaper.next);
        }
        // One of the decaying flows, all of which are empty, comes closer to rest.
        if let Some(number) = self.decaying.pop_front() {
            self.retire(now, number);
        }
        while let Some((number, is_new)) = self.turn() {
            let Some(packet) = self.pop(now, number, fates) else {
                self.retire(now, number);
                continue;
            };
            self.flows[number].deficit -= packet.meta.size.get() as i64;
            // It keeps its turn until its deficit is used up.
            let list = if is_new { &mut self.new } else { &mut self.old };
            list.push_front(number);
            if let Some(shaper) = &mut self.shaper {
                shaper.on_sent(now, packet.meta.size);
            }
            return Dequeued::Packet(packet);
        }
        Dequeued::Empty
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn flush(&mut self, _now: SimTime, out: &mut Vec<Descriptor>) {
        let first = out.len();
        let lists = [&mut self.new, &mut self.old, &mut self.decaying];
        let numbers: Vec<usize> = lists.into_iter().flat_map(|list| list.drain(..)).collect();
        for number in numbers {
            self.flows[number].line.flush(out);
            self.set(number, Set::Idle);
            self.flows[number] = Flow::default();
        }
        by_arrival(&mut out[first..]);
        self.backlog = Backlog::default();
    }

    fn withdraw(
        &mut self,
        _now: SimTime,
        leaves: &dyn Fn(&Descriptor) -> bool,
        out: &mut Vec<Descriptor>,
    ) {
        let first = out.len();
        for number in self.new.iter().chain(&self.old) {
            let gone = self.flows[*number].line.withdraw(leaves, out);
            self.backlog.packets -= gone.packets;
            self.backlog.bytes -= gone.bytes;
        }
        by_arrival(&mut out[first..]);
    }

    fn causes(&self) -> Causes {
        let marks = if self.settings.ecn { vec![CODEL] } else { Vec::new() };
        Causes { drops: vec![CODEL, BLUE], marks }
    }
}
