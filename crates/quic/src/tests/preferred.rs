//! A server's preferred address (RFC 9000 section 9.6), read from the packets.

use std::net::SocketAddr;

use leobench_transport::endpoint::{Input, InterfaceChange};

use super::migration::{client_of, frames, is_challenge, outside, transfer};
use super::*;
use crate::wire::ConnectionId;

const BYTES: u64 = 3_000_000;

fn preferred() -> SocketAddr {
    outside(7, 4_433)
}

fn inside(end: usize) -> SocketAddr {
    ([10, 0, 0, 1 + end as u8], 4_433).into()
}

/// A transfer whose server prefers another address.
fn prefers(sender: Role, protection: Protected) -> (Pipe<QuicEndpoint>, usize) {
    let mut pipe = transfer(&spec(|spec| spec.protection = protection), sender);
    let client = client_of(sender);
    pipe.ends[1 - client].prefer_address(preferred());
    (pipe, client)
}

fn only_probes(passed: &Passed) -> bool {
    frames(passed).all(Frame::is_probing)
}

fn id(passed: &Passed) -> ConnectionId {
    passed.packets[0].header.destination()
}

fn answers(passed: &Passed) -> bool {
    frames(passed).any(|frame| matches!(frame, Frame::PathResponse(_)))
}

/// Sections 9.6.1 and 9.6.2: challenges and responses over the way to the preferred address, in datagrams of 1,200 bytes and with
/// fresh connection IDs; the server sends no more than probes from there until its client sends more; then both stay there, the
/// addresses of before are silent, and nothing is lost.
#[test]
fn both_ends_move_to_the_preferred_address() {
    for sender in [Role::Client, Role::Server] {
        let (mut pipe, client) = prefers(sender, Protected::Null);
        let server = 1 - client;
        pipe.deliver(BYTES);
        let confirmed = frames_of(&pipe, server, |frame| matches!(frame, Frame::HandshakeDone));

        let to = |passed: &&Passed| passed.destination == preferred();
        let first = pipe.passed[client].iter().find(to).unwrap();
        assert!(first.at >= confirmed + SimDuration::from_millis(20), "{first:?}");
        assert!(only_probes(first) && frames(first).any(is_challenge) && first.size >= 1_200);
        let before = pipe.passed[client].iter().filter(|passed| passed.destination != preferred());
        assert!(before.clone().all(|passed| id(passed) != id(first)), "an ID over two ways");

        let more = |passed: &&Passed| to(passed) && !only_probes(passed);
        let moved = pipe.passed[client].iter().find(more).unwrap().at;
        let arrived = moved + SimDuration::from_millis(20);
        let from = pipe.passed[server].iter().filter(|passed| passed.source == preferred());
        let (early, late): (Vec<_>, Vec<_>) = from.partition(|passed| passed.at < arrived);
        assert!(!early.is_empty() && early.iter().all(|passed| only_probes(passed)), "{early:?}");
        assert!(early.iter().any(|passed| answers(passed) && passed.size >= 1_200), "{early:?}");
        assert!(early.iter().any(|passed| frames(passed).any(is_challenge)), "{early:?}");
        assert!(late.iter().any(|passed| !only_probes(passed)));
        let old = pipe.passed[server].iter().filter(|passed| passed.source == inside(server));
        assert!(early.iter().all(|passed| old.clone().all(|other| id(other) != id(passed))));
        assert!(old.clone().all(|passed| passed.at <= arrived), "{}", old.count());
        assert!(before.clone().all(|passed| passed.at <= moved), "{}", before.count());

        let totals = pipe.ends[SENDER].totals();
        assert_eq!(totals.retransmitted_bytes.get(), 0, "{totals:?}");
    }
}

/// When a frame first left an end.
fn frames_of(pipe: &Pipe<QuicEndpoint>, end: usize, is: impl Fn(&Frame) -> bool) -> SimTime {
    let mut passed = pipe.passed[end].iter();
    passed.find(|passed| frames(passed).any(&is)).unwrap().at
}

#[test]
fn it_travels_in_the_parameters_of_tls_too() {
    for sender in [Role::Client, Role::Server] {
        let (mut pipe, client) = prefers(sender, Protected::Tls);
        pipe.deliver(BYTES);
        let last = |end: usize| pipe.passed[end].last().unwrap();
        assert_eq!(last(client).destination, preferred());
        assert_eq!(last(1 - client).source, preferred());
    }
}

/// Section 9.6.1: if validation fails, the client goes on with the original address; it asks for three probe timeouts.
#[test]
fn without_an_answer_from_there_everything_stays() {
    for sender in [Role::Client, Role::Server] {
        let (mut pipe, client) = prefers(sender, Protected::Null);
        pipe.translate = Box::new(move |_, _, packet| {
            ![packet.meta.source, packet.meta.destination].contains(&preferred())
        });
        pipe.deliver(BYTES);
        pipe.run(ms(60_000), |_| false);
        let mut there =
            pipe.passed[client].iter().filter(|passed| passed.destination == preferred());
        assert!(there.clone().count() >= 2 && there.clone().all(only_probes));
        assert!(there.next_back().unwrap().at < ms(5_000));
        assert!(pipe.passed[1 - client].iter().all(|passed| passed.source == inside(1 - client)));
        assert!(pipe.ends.iter().all(|end| end.lost().is_none()));
    }
}

/// Sections 8.1 and 9.6.3: the client's packets to the preferred address have another source, because a NAT maps them otherwise.
/// Until the server has validated that address, it sends three times what came from there.
#[test]
fn a_client_with_another_address_there_is_validated_first() {
    for sender in [Role::Client, Role::Server] {
        let (mut pipe, client) = prefers(sender, Protected::Null);
        let mapped = outside(9, 999);
        pipe.translate = Box::new(move |end, _, packet| {
            if end == client {
                if packet.meta.destination == preferred() {
                    packet.meta.source = mapped;
                }
                return true;
            }
            // The NAT knows each of its mappings by the server's address.
            let there = packet.meta.source == preferred();
            let known = there == (packet.meta.destination == mapped);
            packet.meta.destination = inside(client);
            known
        });
        pipe.deliver(BYTES);
        let server = 1 - client;
        let last = pipe.passed[server].last().unwrap();
        assert_eq!((last.source, last.destination), (preferred(), mapped));
        let validated = pipe.passed[client].iter().find(|passed| answers(passed)).unwrap().at;
        let validated = validated + SimDuration::from_millis(20);
        let received = pipe.passed[client].iter().filter(|passed| {
            passed.destination == preferred()
                && passed.at + SimDuration::from_millis(20) <= validated
        });
        let received: u64 = received.map(|passed| passed.size).sum();
        let sent = pipe.passed[server].iter().filter(|passed| passed.destination == mapped);
        let sent: u64 = sent.filter(|passed| passed.at < validated).map(|passed| passed.size).sum();
        assert!((1_200..=3 * received).contains(&sent), "{sent} {received}");
    }
}

/// Section 9.6.2: somebody sends a copy of a packet of the client to the preferred address, and the client does not answer from
/// there. The server stays.
#[test]
fn a_packet_sent_on_to_the_preferred_address_moves_nobody() {
    let (mut pipe, client) = prefers(Role::Client, Protected::Null);
    let mut copies = 0;
    pipe.translate = Box::new(move |end, now, packet| {
        if end == client && packet.meta.destination != preferred() && now >= ms(500) && copies < 3 {
            copies += 1;
            packet.meta.destination = preferred();
            return true;
        }
        ![packet.meta.source, packet.meta.destination].contains(&preferred())
    });
    pipe.deliver(BYTES);
    pipe.run(ms(10_000), |_| false);
    let server = 1 - client;
    let from = pipe.passed[server].iter().filter(|passed| passed.source == preferred());
    assert!(from.clone().count() > 0 && from.clone().all(only_probes), "{}", from.count());
    assert_eq!(pipe.passed[server].last().unwrap().source, inside(server));
}

/// Section 9.6.3: the client's own address changes before, while and after it moves to the preferred one.
#[test]
fn a_client_may_move_at_the_same_time() {
    for sender in [Role::Client, Role::Server] {
        for at in (70..=260).step_by(5) {
            let (mut pipe, client) = prefers(sender, Protected::Null);
            let new = outside(9, 4_433);
            pipe.translate = Box::new(move |end, now, packet| {
                let address =
                    if end == client { packet.meta.source } else { packet.meta.destination };
                address == if now < ms(at) { inside(client) } else { new }
            });
            pipe.run(ms(at), |_| false);
            for (address, up) in [(inside(client).ip(), false), (new.ip(), true)] {
                pipe.input_at(client, Input::Interface(InterfaceChange { address, up }));
            }
            pipe.deliver(BYTES);
            pipe.run(ms(20_000), |_| false);
            // The server asks at its client's former address for a while.
            let mut sent = pipe.passed[1 - client].iter().rev();
            let last = sent.find(|passed| !only_probes(passed)).unwrap();
            assert_eq!((last.source, last.destination), (preferred(), new), "{sender:?} {at}");
            assert!(pipe.ends.iter().all(|end| end.lost().is_none()), "{sender:?} {at}");
            // Challenges are answered where they came from (section 8.2.2); nothing else goes to the first address.
            let there = pipe.passed[client]
                .iter()
                .skip_while(|passed| passed.destination != preferred() || only_probes(passed));
            let old = there.clone().filter(|passed| passed.destination != preferred());
            assert!(there.count() > 0, "{sender:?} {at}");
            assert!(
                old.clone().all(|passed| only_probes(passed) && !frames(passed).any(is_challenge)),
                "{sender:?} {at}: {}",
                old.count()
            );
        }
    }
}

/// Every byte arrives whatever is lost on the way, in either direction.
#[test]
fn nothing_is_lost_over_a_lossy_way() {
    let mut moved = 0;
    for seed in 0..60 {
        let sender = if seed % 2 == 0 { Role::Client } else { Role::Server };
        let (mut pipe, client) = prefers(sender, Protected::Null);
        pipe.fate = Box::new(move |end, number, _| {
            let luck = leobench_base::mix(seed << 32 | (2 * number + end) as u64);
            (luck % 100 >= 10).then(|| SimDuration::from_millis(luck / 100 % 20))
        });
        pipe.deliver(BYTES);
        pipe.run(ms(120_000), |_| false);
        assert!(pipe.ends.iter().all(|end| end.lost().is_none()), "seed {seed}");
        // Both ends use the same address of the server: the preferred one, unless all challenges were lost.
        let meets = pipe.passed[client].last().unwrap().destination;
        assert_eq!(pipe.passed[1 - client].last().unwrap().source, meets, "seed {seed}");
        moved += usize::from(meets == preferred());
    }
    assert!(moved >= 55, "{moved} of 60");
}
