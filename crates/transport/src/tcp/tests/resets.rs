//! Segments of no connection, and resets, by hand.

use std::net::{IpAddr, Ipv4Addr};

use super::*;
use crate::tcp::{NoConnection, Ports, ReconnectSpec, ReconnectingTcp};

const CLIENT: usize = 0;
const SERVER: usize = 1;

/// One of the addresses that the client's host may have.
fn place(number: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, number))
}

/// How a flow from the client to the server is set up.
#[derive(Clone, Copy, Debug)]
struct Setup {
    no_connection: NoConnection,
    /// The client's patience in milliseconds and whether transfers are resumed, if it connects anew.
    reconnect: Option<(u64, bool)>,
}

const UPLOAD: Setup = Setup { no_connection: NoConnection::Reset, reconnect: Some((1_000, true)) };

impl Setup {
    fn end(self, end: usize) -> Box<dyn Endpoint> {
        let spec = spec(|spec| spec.no_connection = self.no_connection);
        let client = SocketAddr::new(place(1), 40_000);
        let server = SocketAddr::from(([10, 9, 9, 9], 4_433));
        let tree = RngTree::new(1);
        let config = TcpConfig {
            spec: &spec,
            role: if end == CLIENT { Role::Client } else { Role::Server },
            sends: (end == CLIENT).then(Attributes::default),
            receives: end != CLIENT,
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
}

/// An end on its own: what is put in by hand, and what comes out.
struct Bench {
    end: Box<dyn Endpoint>,
    now: SimTime,
    events: Vec<Event>,
}

type Answer = (SocketAddr, SocketAddr, Segment);

fn peer(port: u16) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 7], port))
}

fn server() -> SocketAddr {
    SocketAddr::from(([10, 9, 9, 9], 4_433))
}

fn client() -> SocketAddr {
    SocketAddr::new(place(1), 40_000)
}

fn segment(flags: Flags, seq: u32, ack: u32) -> Segment {
    Segment { flags, seq, ack, window: 60_000, ..Segment::default() }
}

const SYN_ACK: Flags = Flags::SYN.with(Flags::ACK);

impl Bench {
    fn new(setup: Setup, end: usize) -> Self {
        Self { end: setup.end(end), now: SimTime::ZERO, events: Vec::new() }
    }

    fn poll(&mut self) -> Vec<Answer> {
        let mut outbox = Outbox::default();
        self.end.poll(self.now, &mut outbox).unwrap();
        self.events.extend(outbox.events);
        let packets = outbox.packets.into_iter().map(|packet| match packet.body {
            Body::Tcp(segment) => (packet.meta.source, packet.meta.destination, segment),
            _ => panic!("no TCP segment"),
        });
        packets.collect()
    }

    /// A segment arrives a millisecond later.
    fn hear(
        &mut self,
        source: SocketAddr,
        destination: SocketAddr,
        segment: Segment,
    ) -> Vec<Answer> {
        self.now += SimDuration::from_millis(1);
        let size = Bytes::new(20 + segment.len());
        let protocol = leobench_base::Protocol::Tcp;
        let meta = leobench_base::Meta::new(self.now, protocol, source, destination, size);
        let mut packet = Packet { meta, body: Body::Tcp(segment) };
        self.end.input(self.now, Input::Packet(&mut packet)).unwrap();
        self.poll()
    }

    /// A server to which the peer at a port has a connection, on which it expects byte 101 next; and its next byte.
    fn serves(setup: Setup, port: u16) -> (Self, u32) {
        let mut bench = Self::new(setup, SERVER);
        assert!(bench.poll().is_empty());
        let next = bench.opens(port, 100);
        (bench, next)
    }

    /// The peer opens a connection from a port; the server's next byte.
    fn opens(&mut self, port: u16, seq: u32) -> u32 {
        let answers = self.hear(peer(port), server(), segment(Flags::SYN, seq, 0));
        let [(source, destination, answer)] = answers[..] else { panic!("{answers:?}") };
        assert_eq!((source, destination, answer.flags), (server(), peer(port), SYN_ACK));
        assert_eq!(answer.ack, seq + 1);
        let next = answer.seq.wrapping_add(1);
        self.hear(peer(port), server(), segment(Flags::ACK, seq + 1, next));
        next
    }

    fn reasons(&self) -> Vec<&str> {
        let lost = self.events.iter().filter(|event| event.kind == "lost");
        lost.map(|event| event.detail.as_str()).collect()
    }
}

const PLAIN: Setup = Setup { reconnect: None, ..UPLOAD };
const SILENT: Setup = Setup { no_connection: NoConnection::Silence, ..PLAIN };

#[test]
fn a_server_learns_its_peer_from_the_syn() {
    let (mut bench, next) = Bench::serves(PLAIN, 1_234);
    assert!(bench.events.iter().any(|event| event.kind == "established"));
    let data = Segment { payload: 500, ..segment(Flags::ACK, 101, next) };
    let answers = bench.hear(peer(1_234), server(), data);
    assert_eq!((answers[0].1, answers[0].2.ack), (peer(1_234), 601));
}

#[test]
fn segments_of_no_connection_are_reset() {
    // RFC 9293 section 3.10.7.1: "If the ACK bit is off, sequence number zero is used, <SEQ=0><ACK=SEG.SEQ+SEG.LEN>
    // <CTL=RST,ACK>. If the ACK bit is on, <SEQ=SEG.ACK><CTL=RST>." "An incoming segment containing a RST is discarded."
    let reset = |seq, ack, flags| Some(Segment { seq, ack, flags, ..Segment::default() });
    let both = Flags::RST.with(Flags::ACK);
    let data = |flags| Segment { payload: 500, ..segment(flags, 7_000, 9) };
    for (stray, expected) in [
        (data(Flags::ACK), reset(9, 0, Flags::RST)),
        (segment(SYN_ACK, 7_000, 9), reset(9, 0, Flags::RST)),
        (segment(Flags::SYN, 7_000, 0), reset(0, 7_001, both)),
        (data(Flags::FIN), reset(0, 7_501, both)),
        (data(Flags::RST), None),
        (data(both), None),
    ] {
        for setup in [PLAIN, SILENT] {
            let (mut bench, _) = Bench::serves(setup, 1_234);
            // Another port of the peer, and another address.
            for stranger in [peer(1_235), SocketAddr::new(place(3), 1_234)] {
                let answers = bench.hear(stranger, server(), stray);
                let answer = expected.filter(|_| setup.no_connection == NoConnection::Reset);
                let answer = answer.map(|answer| (server(), stranger, answer));
                assert_eq!(answers, answer.into_iter().collect::<Vec<_>>(), "{stray:?}");
            }
            assert!(bench.end.lost().is_none());
        }
    }
}

#[test]
fn a_listening_server_resets_acknowledgements() {
    // RFC 9293 section 3.10.7.2.
    let mut bench = Bench::new(PLAIN, SERVER);
    let answers = bench.hear(peer(5), server(), segment(Flags::ACK, 1, 77));
    assert_eq!(answers[0].2, Segment { seq: 77, flags: Flags::RST, ..Segment::default() });
    let mut bench = Bench::new(SILENT, SERVER);
    assert!(bench.hear(peer(5), server(), segment(Flags::ACK, 1, 77)).is_empty());
}

#[test]
fn only_the_number_expected_next_resets() {
    // RFC 5961 section 3.2.
    let (mut bench, next) = Bench::serves(PLAIN, 1_234);
    for (seq, challenged) in [(100, false), (102, true), (30_000, true), (200_000, false)] {
        let answers = bench.hear(peer(1_234), server(), segment(Flags::RST, seq, 0));
        let found: Vec<_> = answers.iter().map(|answer| (answer.2.flags, answer.2.ack)).collect();
        assert_eq!(found, if challenged { vec![(Flags::ACK, 101)] } else { vec![] }, "{seq}");
        assert!(bench.end.lost().is_none(), "{seq}");
    }
    // A SYN does not open anything either (section 4.2).
    let answers = bench.hear(peer(1_234), server(), segment(Flags::SYN, 101, 0));
    assert_eq!(answers[0].2.flags, Flags::ACK);
    assert!(bench.hear(peer(1_234), server(), segment(Flags::RST, 101, 0)).is_empty());
    let loss = bench.end.lost().unwrap();
    assert_eq!((loss.at, loss.reason.as_str()), (bench.now, "reset by the other end"));
    assert_eq!(bench.reasons(), ["reset by the other end"]);
    let data = Segment { payload: 500, ..segment(Flags::ACK, 101, next) };
    assert!(bench.hear(peer(1_234), server(), data).is_empty(), "a lost end is silent");
}

#[test]
fn a_lost_sender_takes_what_is_written_and_sends_nothing() {
    let mut bench = Bench::new(PLAIN, CLIENT);
    let syn = bench.poll()[0].2;
    bench.hear(server(), client(), segment(SYN_ACK, 500, syn.seq.wrapping_add(1)));
    let write = |bench: &mut Bench| {
        let message = Message { size: Bytes::new(3_000), created: bench.now };
        bench.end.input(bench.now, Input::Message { stream: 0.into(), message }).unwrap();
        bench.poll()
    };
    assert!(!write(&mut bench).is_empty());
    bench.hear(server(), client(), segment(Flags::RST, 501, 0));
    assert!(bench.end.lost().is_some() && write(&mut bench).is_empty());
    assert_eq!(bench.end.send_buffer().unwrap().backlog(), 3_000);
    bench.now = ms(100_000);
    assert!(bench.poll().is_empty());
    assert_eq!(bench.reasons().len(), 1);
}

#[test]
fn a_refusal_acknowledges_the_syn() {
    // RFC 9293 section 3.10.7.3: a reset without an acceptable acknowledgement is dropped.
    let both = Flags::RST.with(Flags::ACK);
    let mut bench = Bench::new(PLAIN, CLIENT);
    let expected = bench.poll()[0].2.seq.wrapping_add(1);
    for (flags, ack) in [(Flags::RST, expected), (both, expected.wrapping_add(1)), (both, 0)] {
        assert!(bench.hear(server(), client(), segment(flags, 0, ack)).is_empty());
        assert!(bench.end.lost().is_none(), "{flags:?}");
    }
    bench.hear(server(), client(), segment(both, 0, expected));
    assert_eq!(bench.reasons(), ["refused by the other end"]);
}

#[test]
fn a_reset_or_another_syn_ends_a_handshake_only() {
    // RFC 9293 section 3.10.7.4: after a passive OPEN, "return this connection to the LISTEN state".
    let mut bench = Bench::new(PLAIN, SERVER);
    bench.hear(peer(1), server(), segment(Flags::SYN, 100, 0));
    assert!(bench.hear(peer(1), server(), segment(Flags::RST, 105, 0)).is_empty());
    let answers = bench.hear(peer(1), server(), segment(Flags::SYN, 100, 0));
    assert_eq!(answers[0].2.flags, SYN_ACK, "another number does not reset");
    bench.hear(peer(1), server(), segment(Flags::RST, 101, 0));
    assert!(bench.end.lost().is_none());
    bench.opens(2, 900);
    // The source of the SYN changes, as behind a NAT that makes a new mapping.
    let mut bench = Bench::new(PLAIN, SERVER);
    bench.hear(peer(1), server(), segment(Flags::SYN, 100, 0));
    bench.opens(2, 100);
    let answers = bench.hear(peer(1), server(), segment(Flags::ACK, 101, 55));
    assert_eq!(answers[0].2.flags, Flags::RST);
}

#[test]
fn a_refused_client_tries_its_next_port_at_once() {
    let mut bench = Bench::new(UPLOAD, CLIENT);
    let (source, _, syn) = bench.poll()[0];
    let refusal = segment(Flags::RST.with(Flags::ACK), 0, syn.seq.wrapping_add(1));
    let answers = bench.hear(server(), source, refusal);
    let next = SocketAddr::new(place(1), 40_007);
    assert_eq!((answers[0].0, answers[0].2.flags), (next, Flags::SYN));
    assert_ne!(answers[0].2.seq, syn.seq);
    // Late segments of the first connection match none.
    let late = bench.hear(server(), source, segment(SYN_ACK, 4, syn.seq.wrapping_add(1)));
    let reset = Segment { seq: syn.seq.wrapping_add(1), flags: Flags::RST, ..Segment::default() };
    assert_eq!(late, [(source, server(), reset)]);
}

#[test]
fn a_server_accepts_a_new_connection_with_its_third_segment() {
    let (mut bench, next) = Bench::serves(UPLOAD, 1);
    let alive = Segment { payload: 500, ..segment(Flags::ACK, 101, next) };
    let answers = bench.hear(peer(2), server(), segment(Flags::SYN, 900, 0));
    assert_eq!(answers[0].2.flags, SYN_ACK);
    let answer = answers[0].2;
    // The old connection goes on until then, and a client that never asked for the new one resets it.
    assert_eq!(bench.hear(peer(1), server(), alive)[0].2.ack, 601);
    assert!(bench.hear(peer(2), server(), segment(Flags::RST, 901, 0)).is_empty());
    let third = segment(Flags::ACK, 901, answer.seq.wrapping_add(1));
    assert_eq!(bench.hear(peer(2), server(), third)[0].2.flags, Flags::RST);
    assert!(bench.reasons().is_empty());
    bench.opens(3, 5_000);
    assert_eq!(bench.reasons(), ["replaced by a new connection"]);
    let answers = bench.hear(peer(1), server(), Segment { seq: 601, ..alive });
    assert_eq!(answers[0].2.flags, Flags::RST, "late segments match no connection");
    assert_eq!(bench.end.totals().received_packets, 9);
}
