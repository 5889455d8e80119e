//! Connections of a client whose address changes: by a move of its host, or behind a NAT.

mod changes;
mod resets;
mod sequences;

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use super::*;
use crate::endpoint::InterfaceChange;
use crate::tcp::{NoConnection, Ports, ReconnectSpec, ReconnectingTcp};

const CLIENT: usize = 0;
const SERVER: usize = 1;

/// One of the addresses that the client's host may have.
fn place(number: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, number))
}

/// What happens at a time.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The sending application writes, or has no more.
    Write(u64),
    Finish,
    /// The client's host gets an address, or loses it.
    Up(u8),
    Down(u8),
    /// A NAT forgets its mappings and makes new ones, from another address.
    Rebind,
}

/// How the flow is set up.
#[derive(Clone, Copy, Debug)]
struct Setup {
    /// Whether the client sends, or else the server.
    upload: bool,
    tls: bool,
    no_connection: NoConnection,
    /// The client's patience in milliseconds and whether transfers are resumed, if it connects anew.
    reconnect: Option<(u64, bool)>,
    seed: u64,
}

const UPLOAD: Setup = Setup {
    upload: true,
    tls: false,
    no_connection: NoConnection::Reset,
    reconnect: Some((1_000, true)),
    seed: 1,
};

const DOWNLOAD: Setup = Setup { upload: false, ..UPLOAD };

impl Setup {
    fn end(self, end: usize) -> Box<dyn Endpoint> {
        let spec = spec(|spec| (spec.tls, spec.no_connection) = (self.tls, self.no_connection));
        let client = SocketAddr::new(place(1), 40_000);
        let server = SocketAddr::from(([10, 9, 9, 9], 4_433));
        let tree = RngTree::new(self.seed);
        let config = TcpConfig {
            spec: &spec,
            role: if end == CLIENT { Role::Client } else { Role::Server },
            sends: (self.upload == (end == CLIENT)).then(Attributes::default),
            local: if end == CLIENT { client } else { server },
            remote: if end == CLIENT { server } else { client },
            start: SimTime::ZERO,
            rng: &tree.child(if end == CLIENT { "client" } else { "server" }),
            plugins: crate::Plugins::NONE,
        };
        let Some((after, resume)) = self.reconnect else {
            return Box::new(TcpEndpoint::new(config));
        };
        let reconnect = ReconnectSpec { after: SimDuration::from_millis(after), resume };
        let ports = Ports { first: 40_000, last: 49_999, step: 7 };
        Box::new(ReconnectingTcp::new(config, reconnect, ports))
    }

    fn sender(self) -> usize {
        if self.upload { CLIENT } else { SERVER }
    }
}

/// A segment on its way from an end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sighted {
    at: SimTime,
    end: usize,
    source: SocketAddr,
    destination: SocketAddr,
    segment: Segment,
}

/// A client and a server, 20 ms apart at 8 Mbit/s each way with a queue of 50 kB. Packets from and to addresses that the
/// client's host does not have are dropped.
struct World {
    setup: Setup,
    now: SimTime,
    ends: [Box<dyn Endpoint>; 2],
    wakes: [Option<SimTime>; 2],
    up: BTreeSet<IpAddr>,
    /// The client's own addresses that were announced.
    known: BTreeSet<SocketAddr>,
    /// The number of the NAT's address, 0 without a NAT, and the hosts behind its ports.
    nat: u8,
    mappings: BTreeMap<u16, IpAddr>,
    free: [SimTime; 2],
    flying: BTreeMap<(SimTime, usize), (usize, Packet)>,
    passed: Vec<Sighted>,
    steps: BTreeMap<(SimTime, usize), Step>,
    /// One packet in so many is lost, if any, and those of which this is true.
    loss: Option<u64>,
    drops: fn(&Sighted) -> bool,
    numbers: leobench_base::SimRng,
    written: u64,
    sent: u64,
    delivered: u64,
    room: u64,
    events: Vec<(SimTime, usize, Event)>,
}

impl World {
    fn new(setup: Setup, steps: &[(u64, Step)]) -> Self {
        let steps = steps.iter().enumerate();
        Self {
            setup,
            now: SimTime::ZERO,
            ends: [setup.end(CLIENT), setup.end(SERVER)],
            wakes: [Some(SimTime::ZERO); 2],
            up: BTreeSet::from([place(1)]),
            known: BTreeSet::from([SocketAddr::new(place(1), 40_000)]),
            nat: 0,
            mappings: BTreeMap::new(),
            free: [SimTime::ZERO; 2],
            flying: BTreeMap::new(),
            passed: Vec::new(),
            steps: steps.map(|(number, (at, step))| ((ms(*at), number), *step)).collect(),
            loss: None,
            drops: |_| false,
            numbers: RngTree::new(setup.seed).child("loss").rng(),
            written: 0,
            sent: 0,
            delivered: 0,
            room: 0,
            events: Vec::new(),
        }
    }

    /// Runs up to a time.
    fn run(&mut self, end: SimTime) {
        loop {
            let arrival = self.flying.first_key_value().map(|((at, _), _)| *at);
            let step = self.steps.first_key_value().map(|((at, _), _)| *at);
            let next = self.wakes.into_iter().flatten().chain(arrival).chain(step).min();
            let Some(next) = next.filter(|next| *next <= end) else { break };
            assert!(next >= self.now, "time runs backwards");
            self.now = next;
            while let Some(entry) = self.steps.first_entry().filter(|entry| entry.key().0 == next) {
                let step = entry.remove();
                self.step(step);
            }
            while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 == next)
            {
                let (end, packet) = entry.remove();
                self.arrive(end, packet);
            }
            for end in [CLIENT, SERVER] {
                if self.wakes[end] == Some(next) {
                    self.poll(end);
                }
            }
        }
        self.now = end;
    }

    /// Runs until a minute after the last step; everything must have been delivered.
    fn complete(&mut self) {
        let last = self.steps.last_key_value().map_or(self.now, |((at, _), _)| *at);
        self.run(last + SimDuration::from_secs(60));
        assert_eq!(self.delivered, self.written, "{:?}\n{:#?}", self.setup, self.events);
    }

    fn input(&mut self, end: usize, input: Input) {
        self.ends[end].input(self.now, input).unwrap();
        self.wakes[end] = Some(self.now);
    }

    fn step(&mut self, step: Step) {
        let sender = self.setup.sender();
        match step {
            Step::Write(size) => {
                self.written += size;
                let message = Message { size: Bytes::new(size), created: self.now };
                self.input(sender, Input::Message { stream: 0, message });
            }
            Step::Finish => self.input(sender, Input::Finish),
            Step::Up(number) => {
                self.up.insert(place(number));
                let change = InterfaceChange { address: place(number), up: true };
                self.input(CLIENT, Input::Interface(change));
            }
            Step::Down(number) => {
                self.up.remove(&place(number));
                let change = InterfaceChange { address: place(number), up: false };
                self.input(CLIENT, Input::Interface(change));
            }
            Step::Rebind => {
                self.nat += 1;
                self.mappings.clear();
            }
        }
    }

    fn arrive(&mut self, end: usize, mut packet: Packet) {
        if end == CLIENT {
            if self.nat > 0 {
                let to = packet.meta.destination;
                let host =
                    self.mappings.get(&to.port()).filter(|_| to.ip() == nat_address(self.nat));
                let Some(host) = host else { return };
                packet.meta.destination.set_ip(*host);
            }
            let destination = packet.meta.destination;
            if !self.up.contains(&destination.ip()) || !self.known.contains(&destination) {
                return;
            }
        }
        self.input(end, Input::Packet(packet));
    }

    fn poll(&mut self, end: usize) {
        let mut outbox = Outbox::default();
        self.wakes[end] = self.ends[end].poll(self.now, &mut outbox).unwrap();
        assert!(self.wakes[end].is_none_or(|wake| wake > self.now), "a wake-up in the past");
        for report in outbox.reports {
            let (known, offset, reporter) = match report {
                Report::Sent { offset, stream: 0 } => (&mut self.sent, offset, true),
                Report::Room { offset, stream: 0 } => (&mut self.room, offset, true),
                Report::Delivered { offset, stream: 0 } => (&mut self.delivered, offset, false),
                other => panic!("{other:?}"),
            };
            assert_eq!(reporter, end == self.setup.sender(), "{report:?} of the wrong end");
            assert!(offset > *known, "{report:?} after {known}");
            *known = offset;
            assert!(self.delivered <= self.sent, "{report:?} before it was sent");
            assert!(self.sent <= self.written, "{report:?} before it was written");
        }
        let now = self.now;
        self.events.extend(outbox.events.into_iter().map(|event| (now, end, event)));
        self.known.extend(outbox.addresses);
        for packet in outbox.packets {
            self.pass(end, packet);
        }
    }

    fn pass(&mut self, end: usize, mut packet: Packet) {
        if end == CLIENT {
            if !self.up.contains(&packet.meta.source.ip()) {
                return;
            }
            assert!(self.known.contains(&packet.meta.source), "{:?}", packet.meta.source);
            if self.nat > 0 {
                let source = packet.meta.source;
                self.mappings.insert(source.port(), source.ip());
                packet.meta.source.set_ip(nat_address(self.nat));
            }
        }
        let Body::Tcp(segment) = packet.body else { panic!("no TCP segment") };
        let (source, destination) = (packet.meta.source, packet.meta.destination);
        let sighted = Sighted { at: self.now, end, source, destination, segment };
        let drops = (self.drops)(&sighted);
        self.passed.push(sighted);
        let (span, _) = BitRate::from_bps(8_000_000).serialise(packet.meta.size, 0).unwrap();
        let leaves = self.free[end].max(self.now) + span;
        let full = leaves.saturating_since(self.now) > SimDuration::from_millis(50);
        if full || drops || self.loss.is_some_and(|one_in| self.numbers.below(one_in) == 0) {
            return;
        }
        self.free[end] = leaves;
        let order = self.passed.len();
        self.flying.insert((leaves + SimDuration::from_millis(20), order), (1 - end, packet));
    }

    /// The times in milliseconds and reasons of one kind of events of an end.
    fn told(&self, end: usize, kind: &str) -> Vec<(u64, &str)> {
        let events = self.events.iter().filter(|(_, of, event)| *of == end && event.kind == kind);
        let millis = |at: SimTime| at.as_nanos() / 1_000_000;
        events.map(|(at, _, event)| (millis(*at), event.detail.as_str())).collect()
    }
}

fn nat_address(number: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, number))
}
