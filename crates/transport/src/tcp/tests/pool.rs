//! Several connections behind one endpoint, by hand.

use super::*;
use crate::endpoint::Report;
use crate::tcp::{Ports, TcpPool};

const PORTS: Ports = Ports { first: 40_000, last: 40_999, step: 100 };

fn end(end: usize, role: Role) -> TcpPool {
    let client = SocketAddr::from(([10, 0, 0, 1], 40_003));
    let server = SocketAddr::from(([10, 0, 0, 2], 4_433));
    let (local, remote) = if role == Role::Client { (client, server) } else { (server, client) };
    let config = TcpConfig {
        spec: &TcpSpec::default(),
        role,
        sends: Some(Attributes::default()),
        receives: true,
        local,
        remote,
        start: SimTime::ZERO,
        rng: &RngTree::new(1).child(if end == SENDER { "sender" } else { "receiver" }),
        plugins: Plugins::NONE,
    };
    TcpPool::new(config, 3, PORTS)
}

/// Both ends, the server first, over a network without delay.
struct World {
    ends: [TcpPool; 2],
    now: SimTime,
}

impl World {
    fn new() -> Self {
        let ends = [end(SENDER, Role::Server), end(RECEIVER, Role::Client)];
        Self { ends, now: SimTime::ZERO }
    }

    /// Polls an end, and delivers what it sends; returns everything else.
    fn poll(&mut self, end: usize) -> Outbox {
        let mut outbox = Outbox::default();
        self.ends[end].poll(self.now, &mut outbox).unwrap();
        for packet in &mut outbox.packets {
            self.ends[1 - end].input(self.now, Input::Packet(packet)).unwrap();
        }
        outbox
    }

    /// Lets both ends act for a while; returns the reports of each, and the ports of the client that became known.
    fn settle(&mut self) -> ([Vec<Report>; 2], Vec<u16>) {
        let (mut reports, mut ports) = ([Vec::new(), Vec::new()], Vec::new());
        for _ in 0..200 {
            self.now += SimDuration::from_millis(1);
            for end in [SENDER, RECEIVER] {
                let outbox = self.poll(end);
                ports.extend(outbox.addresses.iter().map(SocketAddr::port));
                reports[end].extend(outbox.reports);
            }
        }
        (reports, ports)
    }

    fn write(&mut self, end: usize, stream: usize, bytes: u64) {
        let message = Message { size: Bytes::new(bytes), created: self.now };
        self.ends[end].input(self.now, Input::Message { stream: stream.into(), message }).unwrap();
    }
}

/// Streams that the reports tell to be open.
fn opened(reports: &[Report]) -> Vec<usize> {
    let opened = reports.iter().filter_map(|report| match report {
        Report::Room { stream, .. } => Some(stream.index()),
        _ => None,
    });
    opened.collect()
}

fn delivered(stream: usize, offset: u64) -> Report {
    Report::Delivered { stream: stream.into(), offset }
}

#[test]
fn connections_open_on_demand() {
    let mut world = World::new();
    let (reports, ports) = world.settle();
    assert_eq!((opened(&reports[RECEIVER]), ports), (vec![0], vec![]));
    world.ends[RECEIVER].input(world.now, Input::Open { stream: 2.into() }).unwrap();
    let (reports, ports) = world.settle();
    assert_eq!((opened(&reports[RECEIVER]), ports), (vec![2], vec![40_203]));
    let mut samples = Vec::new();
    world.ends[SENDER].sample_paths(world.now, &mut samples);
    assert_eq!(samples.iter().map(|sample| sample.path.0).collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn every_connection_has_a_stream() {
    let mut world = World::new();
    world.ends[RECEIVER].input(world.now, Input::Open { stream: 1.into() }).unwrap();
    world.settle();
    world.write(RECEIVER, 1, 700);
    world.write(SENDER, 0, 30);
    world.write(SENDER, 1, 5_000);
    let (reports, _) = world.settle();
    assert!(reports[SENDER].contains(&delivered(1, 700)), "{:?}", reports[SENDER]);
    assert!(reports[RECEIVER].contains(&delivered(0, 30)), "{:?}", reports[RECEIVER]);
    assert!(reports[RECEIVER].contains(&delivered(1, 5_000)), "{:?}", reports[RECEIVER]);
    let sent = Report::Sent { stream: 1.into(), offset: 5_000 };
    assert!(reports[SENDER].contains(&sent), "{:?}", reports[SENDER]);
    assert_eq!(world.ends[SENDER].totals().lost_packets, 0);
}

/// A segment from a port of none of the connections is answered with a reset (RFC 9293 section 3.10.7.1).
#[test]
fn other_ports_are_refused() {
    let mut world = World::new();
    let segment = Segment { flags: Flags::SYN, window: 60_000, ..Segment::default() };
    let addresses = [([10, 0, 0, 1], 40_004), ([10, 0, 0, 2], 4_433)].map(SocketAddr::from);
    let size = Bytes::new(20 + segment.len());
    let meta = leobench_base::Meta::new(
        world.now,
        leobench_base::Protocol::Tcp,
        addresses[0],
        addresses[1],
        size,
    );
    let mut packet = Packet { meta, body: Body::Tcp(segment) };
    world.ends[SENDER].input(world.now, Input::Packet(&mut packet)).unwrap();
    let outbox = world.poll(SENDER);
    let [Packet { meta, body: Body::Tcp(answer) }] = &outbox.packets[..] else {
        panic!("{:?}", outbox.packets)
    };
    assert!(answer.flags.contains(Flags::RST));
    assert_eq!((meta.source, meta.destination), (addresses[1], addresses[0]));
}
