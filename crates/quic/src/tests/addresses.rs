//! Answers before there is a connection: Retry, Version Negotiation, and packets that get neither (RFC 9000 sections 6 and 8.1).

use bytes::BufMut as _;
use leobench_base::{Bytes, Meta, Protocol};
use leobench_transport::endpoint::{Input, Outbox};

use super::*;
use crate::wire::{ConnectionId, Header};

/// How packets travel: as structs, as bytes, or encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Structs,
    Bytes,
    Tls,
}

pub(super) const MODES: [Mode; 3] = [Mode::Structs, Mode::Bytes, Mode::Tls];

/// A pipe in a mode, the client of which sends on a stream.
pub(super) fn pipe(mode: Mode, change: impl Fn(&mut QuicSpec)) -> Pipe<QuicEndpoint> {
    let spec = spec(|spec| {
        change(spec);
        if mode == Mode::Tls {
            spec.protection = Protected::Tls;
        }
    });
    let mut pipe = connect(&spec, 1, Role::Client);
    if mode == Mode::Bytes {
        pipe.ends.iter_mut().for_each(QuicEndpoint::send_bytes);
    }
    pipe
}

/// A datagram as a struct.
pub(super) fn as_struct(datagram: Datagram) -> Body {
    Body::Udp(Box::new(datagram))
}

/// UDP payload of a body.
pub(super) fn payload(body: &Body) -> u64 {
    match body {
        Body::UdpBytes(bytes) => bytes.len() as u64,
        body => unencoded(body).expect("a datagram of QUIC").size(),
    }
}

/// A datagram to an end, as if the other one had sent it.
pub(super) fn datagram(to: usize, at: SimTime, body: Body) -> Packet {
    let address = |end| std::net::SocketAddr::from(([10, 0, 0, 1 + end as u8], 4_433));
    let size = Bytes::new(payload(&body)) + IPV4_UDP_HEADER;
    let meta = Meta::new(at, Protocol::Udp, address(1 - to), address(to), size);
    Packet { meta, body }
}

/// Hands a datagram to an end, and collects what it answers at once.
pub(super) fn hand(pipe: &mut Pipe<QuicEndpoint>, to: usize, content: Body) -> Vec<Body> {
    let now = pipe.now;
    pipe.ends[to].input(now, Input::Packet(&mut datagram(to, now, content))).unwrap();
    let mut outbox = Outbox::default();
    pipe.wakes[to] = pipe.ends[to].poll(now, &mut outbox).unwrap();
    outbox.packets.into_iter().map(|packet| packet.body).collect()
}

fn in_flight(pipe: &mut Pipe<QuicEndpoint>, to: usize) -> &mut Body {
    let flying = pipe.flying.values_mut().find(|(end, _)| *end == to);
    let (_, packet) = flying.expect("a packet in flight");
    &mut packet.body
}

/// Destination, token and number of the Initial packets of an end that travel as structs.
fn initials(pipe: &Pipe<QuicEndpoint>, end: usize) -> Vec<(ConnectionId, bytes::Bytes, u64)> {
    let packets = pipe.passed[end].iter().flat_map(|passed| &passed.packets);
    let initial = packets.filter_map(|packet| match &packet.header {
        Header::Initial(long) => Some((long.destination, long.token.clone(), long.number.value)),
        _ => None,
    });
    initial.collect()
}

#[test]
fn a_retry_costs_a_round_trip() {
    for mode in MODES {
        let delivered = |retry| {
            let mut pipe = pipe(mode, |spec| spec.retry = retry);
            pipe.write(0, 100_000);
            pipe.finish();
            pipe.deliver(100_000);
            let lost = [SENDER, RECEIVER].map(|end| pipe.ends[end].lost().cloned());
            assert_eq!(lost, [None, None], "{mode:?}");
            let totals = pipe.ends[RECEIVER].totals();
            assert_eq!(totals.sent_packets, pipe.passed[RECEIVER].len() as u64);
            pipe.now
        };
        let (without, with) = (delivered(false), delivered(true));
        let extra = with.saturating_since(without).as_millis_f64();
        assert!((39.0..=41.0).contains(&extra), "{mode:?}: {extra} ms");
    }
}

#[test]
fn the_client_goes_on_with_the_token_and_the_new_id() {
    let mut pipe = pipe(Mode::Structs, |spec| spec.retry = true);
    pipe.run(ms(30), |_| false);
    let retried = unencoded(in_flight(&mut pipe, SENDER)).cloned();
    let Some(Datagram::Retry { source, token, .. }) = retried else {
        panic!("no Retry");
    };
    assert!(pipe.ends[RECEIVER].connection().is_none(), "the server keeps nothing");
    pipe.run(ms(500), |_| false);
    let sent = initials(&pipe, SENDER);
    assert!(sent.len() >= 2 && sent[0].1.is_empty());
    assert!(sent[0].0 != source);
    // RFC 9000 section 17.2.5.3: the numbers of packets go on.
    assert!(sent.iter().map(|sent| sent.2).eq(0..sent.len() as u64), "{sent:?}");
    assert_eq!((sent[1].0, &sent[1].1), (source, &token));
    assert!(sent[2..].iter().all(|sent| sent.1 == token), "{sent:?}");
    assert_eq!(pipe.count(SENDER, "established"), 1);
}

#[test]
fn one_retry_is_answered() {
    for mode in MODES {
        let mut pipe = pipe(mode, |spec| spec.retry = true);
        // The first answer takes so long that the client asks again, and gets another one first.
        pipe.fate = Box::new(|end, number, _| {
            let late = if end == RECEIVER && number == 0 { 1_500 } else { 0 };
            Some(SimDuration::from_millis(late))
        });
        pipe.write(0, 20_000);
        pipe.deliver(20_000);
        pipe.run(ms(5_000), |_| false);
        assert!(pipe.ends[SENDER].lost().is_none(), "{mode:?}");
        if mode == Mode::Structs {
            let mut tokens: Vec<_> =
                initials(&pipe, SENDER).into_iter().map(|sent| sent.1).collect();
            tokens.retain(|token| !token.is_empty());
            tokens.dedup();
            assert_eq!(tokens.len(), 1);
        }
    }
}

#[test]
fn a_forged_retry_shows_in_the_parameters() {
    let mut pipe = pipe(Mode::Structs, |_| ());
    // The client's first packet does not arrive; somebody answers it with a Retry.
    pipe.fate =
        Box::new(|end, number, _| (end == RECEIVER || number > 0).then_some(SimDuration::ZERO));
    pipe.run(ms(10), |_| false);
    let Header::Initial(long) = &pipe.passed[SENDER][0].packets[0].header else { panic!() };
    let (original, client) = (long.destination, long.source);
    let other = ConnectionId::new(&[5; 8]).unwrap();
    let retry = |destination, source, tag| Datagram::Retry {
        destination,
        source,
        token: bytes::Bytes::from_static(b"token"),
        tag,
    };
    for ignored in [
        retry(other, other, [0; 16]),
        retry(client, original, [0; 16]),
        retry(client, other, [1; 16]),
    ] {
        assert!(hand(&mut pipe, SENDER, as_struct(ignored.clone())).is_empty(), "{ignored:?}");
    }
    assert_eq!(hand(&mut pipe, SENDER, as_struct(retry(client, other, [0; 16]))).len(), 1);
    pipe.run(ms(3_000), |_| false);
    let lost = pipe.ends[SENDER].lost().unwrap();
    assert!(lost.reason.contains("TRANSPORT_PARAMETER_ERROR"), "{lost:?}");
}

#[test]
fn a_token_that_is_not_valid_closes_the_connection() {
    for mode in MODES {
        let mut pipe = pipe(mode, |spec| spec.retry = true);
        // Behind a translator the client's port changes after the Retry.
        pipe.run(ms(50), |_| false);
        let moved = pipe.flying.values_mut().filter(|(end, _)| *end == RECEIVER);
        moved.for_each(|(_, packet)| packet.meta.source.set_port(9_999));
        pipe.run(ms(90), |_| false);
        let lost = pipe.ends[SENDER].lost().expect("it is told").clone();
        assert!(lost.reason.contains("0xb"), "{mode:?}: {lost:?}");
        assert!(pipe.ends[RECEIVER].connection().is_none());
    }
}

fn of_another_version(size: usize) -> Body {
    let mut bytes = BytesMut::new();
    bytes.put_slice(b"\xc0\0\0\0\x02\x04abcd\x03efg");
    bytes.resize(size, 0);
    Body::UdpBytes(bytes)
}

#[test]
fn a_server_names_its_versions() {
    for mode in MODES {
        let mut pipe = pipe(mode, |_| ());
        for connected in [false, true] {
            let answers = hand(&mut pipe, RECEIVER, of_another_version(1_200));
            let [Body::UdpBytes(answer)] = &answers[..] else { panic!("{answers:?}") };
            let Some(Incoming::VersionNegotiation { destination, source, versions }) =
                Incoming::decode(answer, super::super::cids::ID_SIZE)
            else {
                panic!("{answer:?}");
            };
            assert_eq!((destination.as_slice(), source.as_slice()), (&b"efg"[..], &b"abcd"[..]));
            assert!(versions.contains(&1) && versions.len() == 2, "{versions:x?}");
            assert!(hand(&mut pipe, RECEIVER, of_another_version(1_199)).is_empty());
            assert_eq!(pipe.ends[RECEIVER].connection().is_some(), connected);
            pipe.run(ms(200), |_| false);
        }
        // A client answers nothing of the kind.
        assert!(hand(&mut pipe, SENDER, of_another_version(1_200)).is_empty());
        assert_eq!(pipe.count(SENDER, "established"), 1, "{mode:?}");
    }
}

#[test]
fn a_client_gives_up_if_the_server_knows_other_versions_only() {
    for (versions, ids, gives_up) in [
        (vec![2, 3], "echoed", true),
        (vec![2, 1], "echoed", false),
        (vec![2, 3], "others", false),
        (vec![2, 3], "late", false),
    ] {
        let mut pipe = pipe(Mode::Structs, |_| ());
        pipe.run(ms(if ids == "late" { 45 } else { 10 }), |_| false);
        let Header::Initial(long) = &pipe.passed[SENDER][0].packets[0].header else { panic!() };
        let (mut source, destination) = (long.destination, long.source);
        if ids == "others" {
            source = ConnectionId::new(&[5; 8]).unwrap();
        }
        let answer = Datagram::VersionNegotiation { destination, source, versions };
        hand(&mut pipe, SENDER, as_struct(answer));
        let lost = pipe.ends[SENDER].lost().map(|lost| lost.reason.clone());
        assert_eq!(lost.is_some(), gives_up, "{ids}: {lost:?}");
        assert!(lost.is_none_or(|lost| lost.contains("version 1")));
    }
}

/// 0-RTT packets are dropped (RFC 9000 section 17.2.3), and packets behind them in a datagram are not.
#[test]
fn early_data_is_dropped() {
    for mode in [Mode::Bytes, Mode::Tls] {
        let mut pipe = pipe(mode, |_| ());
        pipe.write(0, 20_000);
        pipe.run(ms(10), |_| false);
        let Body::UdpBytes(first) = in_flight(&mut pipe, RECEIVER) else { panic!() };
        // Destination and source are those of the Initial packet.
        let mut early = BytesMut::from(&b"\xd0\0\0\0\x01"[..]);
        early.put_slice(&first[5..23]);
        early.put_slice(&[0x44, 0xb0]);
        early.put_bytes(0, 1_200);
        let only = Body::UdpBytes(early.clone());
        assert!(hand(&mut pipe, RECEIVER, only).is_empty());
        assert!(pipe.ends[RECEIVER].connection().is_none());
        // In front of what completes the handshake.
        pipe.run(ms(45), |_| false);
        let (_, packet) = pipe.flying.values_mut().find(|(end, _)| *end == RECEIVER).unwrap();
        let Body::UdpBytes(flight) = &mut packet.body else { panic!() };
        early.put_slice(flight);
        packet.meta.size = Bytes::new(early.len() as u64) + IPV4_UDP_HEADER;
        *flight = early;
        pipe.run(ms(61), |_| false);
        assert_eq!(pipe.count(RECEIVER, "established"), 1, "{mode:?}");
        pipe.deliver(20_000);
    }
}
