//! Connections whose client gets another address, with its knowledge or without (RFC 9000 sections 8.2 and 9).

use std::net::SocketAddr;

use leobench_base::BitRate;
use leobench_transport::endpoint::{Event, Input, InterfaceChange};

use super::*;
use crate::spec::AfterMigration;
use crate::wire::Header;

const BYTES: u64 = 3_000_000;
const MOVE: u64 = 500;

/// An address outside of a NAT.
pub(super) fn outside(host: u8, port: u16) -> SocketAddr {
    ([192, 0, 2, host], port).into()
}

/// The client is behind a NAT that gives it the address `before`, and `after` from `at` on. What goes to an address that is not in
/// use gets lost.
fn rebind_at(
    pipe: &mut Pipe<QuicEndpoint>,
    client: usize,
    at: SimTime,
    [before, after]: [SocketAddr; 2],
) {
    let inside = SocketAddr::from(([10, 0, 0, 1 + client as u8], 4_433));
    pipe.translate = Box::new(move |end, now, packet| {
        let present = if now < at { before } else { after };
        if end == client {
            packet.meta.source = present;
            return true;
        }
        let known = packet.meta.destination == present;
        packet.meta.destination = inside;
        known
    });
}

/// The same from the client's own address at `MOVE` ms.
fn rebind(pipe: &mut Pipe<QuicEndpoint>, client: usize, after: SocketAddr) {
    let inside = SocketAddr::from(([10, 0, 0, 1 + client as u8], 4_433));
    rebind_at(pipe, client, ms(MOVE), [inside, after]);
}

pub(super) fn transfer(spec: &QuicSpec, sender: Role) -> Pipe<QuicEndpoint> {
    let mut pipe = connect(spec, 1, sender);
    pipe.rate = BitRate::from_bps(20_000_000);
    pipe.write(0, BYTES);
    pipe.finish();
    pipe
}

pub(super) fn client_of(sender: Role) -> usize {
    if sender == Role::Client { SENDER } else { RECEIVER }
}

pub(super) fn frames(passed: &Passed) -> impl Iterator<Item = &Frame> {
    passed.packets.iter().flat_map(|packet| &packet.frames)
}

pub(super) fn is_challenge(frame: &Frame) -> bool {
    matches!(frame, Frame::PathChallenge(_))
}

/// Bytes in flight and window of the sender before and after a time.
fn windows(mut pipe: Pipe<QuicEndpoint>) -> (u64, u64, Pipe<QuicEndpoint>) {
    pipe.run(ms(MOVE), |_| false);
    let before = pipe.path().cwnd.get();
    // A round trip until the server knows.
    pipe.run(ms(MOVE + 45), |_| false);
    let after = pipe.path().cwnd.get();
    (before, after, pipe)
}

#[test]
fn a_server_follows_its_client_and_validates_the_new_address() {
    for sender in [Role::Client, Role::Server] {
        let mut pipe = transfer(&spec(|_| ()), sender);
        let (client, after) = (client_of(sender), outside(9, 4_433));
        let server = 1 - client;
        rebind(&mut pipe, client, after);
        pipe.deliver(BYTES);
        pipe.run(ms(60_000), |_| false);
        let paths = pipe.events[server].iter().filter(|(_, event)| event.kind == "path");
        let told: Vec<_> = paths.map(|(_, event)| event.detail.clone()).collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].starts_with("moved:") && told[0].contains("192.0.2.9:4433"), "{told:?}");
        assert_eq!(pipe.count(client, "path"), 0, "the client knows nothing of it");

        let mut to_new = pipe.passed[server].iter().filter(|passed| passed.destination == after);
        let first = to_new.next().unwrap();
        assert!(frames(first).any(is_challenge), "{first:?}");
        let answers = pipe.passed[client].iter().filter(|passed| passed.at > ms(MOVE));
        let answers = answers
            .filter(|passed| frames(passed).any(|frame| matches!(frame, Frame::PathResponse(_))));
        assert!(answers.clone().count() >= 1 && answers.clone().all(|passed| passed.size >= 1_200));
        // Nobody is at the old address: one challenge goes there, repeated, and nothing else.
        let old = pipe.passed[server].iter().filter(|passed| passed.destination != after);
        let late: Vec<_> = old.filter(|passed| passed.at > first.at).collect();
        assert!((1..=3).contains(&late.len()), "{late:?}");
        assert!(late.iter().all(|passed| frames(passed).any(is_challenge)), "{late:?}");
    }
}

/// Section 8.1: at most three times what came from an address that is not validated.
#[test]
fn little_is_sent_to_an_address_before_it_is_validated() {
    let mut pipe = transfer(&spec(|_| ()), Role::Server);
    let after = outside(9, 4_433);
    rebind(&mut pipe, RECEIVER, after);
    pipe.deliver(BYTES);
    let validated = pipe.events[SENDER].iter().filter(|(_, event)| event.kind == "path");
    let validated = validated.map(|(at, _)| *at).nth(1).unwrap();
    let arrived = |passed: &&Passed| passed.at + SimDuration::from_millis(20) < validated;
    let received = pipe.passed[RECEIVER].iter().filter(|passed| passed.at >= ms(MOVE));
    let received: u64 = received.filter(arrived).map(|passed| passed.size).sum();
    let sent = pipe.passed[SENDER].iter().filter(|passed| passed.destination == after);
    let sent: u64 = sent.filter(|passed| passed.at < validated).map(|passed| passed.size).sum();
    assert!(sent > 0 && sent <= 3 * received, "{sent} for {received}");
}

/// Section 9.4: window and round-trip time start anew, unless the scenario keeps them, or only the port has changed.
#[test]
fn another_address_resets_the_window_and_another_port_does_not() {
    let initial = 10 * 1_252;
    let reset = |after, keep| {
        let mut pipe = transfer(&spec(|spec| spec.after_migration = keep), Role::Server);
        rebind(&mut pipe, RECEIVER, after);
        let (before, after, mut pipe) = windows(pipe);
        pipe.deliver(BYTES);
        assert!(before > 4 * initial, "{before}");
        after <= initial
    };
    let port = SocketAddr::from(([10, 0, 0, 2], 9_999));
    assert!(reset(outside(9, 4_433), AfterMigration::Reset));
    assert!(!reset(outside(9, 4_433), AfterMigration::Keep));
    assert!(!reset(port, AfterMigration::Reset));
}

/// Sections 9.2 and 9.5: the client moves to its other address with a fresh connection ID of the server's, and the server
/// answers with a fresh one of the client's.
#[test]
fn a_client_that_knows_moves_with_fresh_connection_ids() {
    for sender in [Role::Client, Role::Server] {
        let mut pipe = transfer(&spec(|_| ()), sender);
        let client = client_of(sender);
        let old = SocketAddr::from(([10, 0, 0, 1 + client as u8], 4_433));
        let new = outside(9, 4_433);
        pipe.translate = Box::new(move |end, now, packet| {
            let address = if end == client { packet.meta.source } else { packet.meta.destination };
            address == if now < ms(MOVE) { old } else { new }
        });
        pipe.run(ms(MOVE), |_| false);
        let last = pipe.passed.each_ref().map(|passed| passed.last().unwrap().clone());
        for (address, up) in [(old.ip(), false), (new.ip(), true)] {
            pipe.input_at(client, Input::Interface(InterfaceChange { address, up }));
        }
        pipe.deliver(BYTES);
        pipe.run(ms(60_000), |_| false);
        let id = |passed: &Passed| passed.packets[0].header.destination();
        for end in [client, 1 - client] {
            let address = |passed: &&Passed| {
                let ours = if end == client { passed.source } else { passed.destination };
                ours == new
            };
            let first = pipe.passed[end].iter().find(address).unwrap();
            assert_ne!(id(first), id(&last[end]), "{end} goes on with its old connection ID");
            assert!(frames(first).any(is_challenge), "{first:?}");
            assert!(first.size >= 1_200 || end != client, "{first:?}");
        }
        let silent = pipe.passed[client].iter().filter(|passed| passed.at > ms(MOVE));
        assert!(silent.clone().all(|passed| passed.source == new));
        assert_eq!(pipe.count(client, "path"), 2, "{:?}", pipe.events[client]);
        assert!(pipe.path().cwnd.get() > 0);
    }
}

/// Section 9.3.3: somebody sends a copy of a packet from an address that is not the client's. The client is still at the old
/// one, and its next packet takes the server back.
#[test]
fn a_copied_packet_from_elsewhere_does_no_harm() {
    let mut pipe = transfer(&spec(|_| ()), Role::Client);
    let mut copies = 0;
    pipe.translate = Box::new(move |end, now, packet| {
        if end == SENDER && now >= ms(MOVE) && copies < 1 {
            copies += 1;
            packet.meta.source = outside(66, 6_666);
        }
        end == SENDER || packet.meta.destination != outside(66, 6_666)
    });
    pipe.deliver(BYTES);
    let totals = pipe.ends[SENDER].totals();
    assert!(totals.retransmitted_bytes.get() < 60_000, "{totals:?}");
    assert!(pipe.ends[RECEIVER].lost().is_none() && pipe.count(RECEIVER, "path") >= 2);
}

/// The mapping changes while the handshake goes on, in either direction of it.
#[test]
fn a_new_mapping_in_the_handshake_is_followed() {
    for sender in [Role::Client, Role::Server] {
        for at in 0..=60 {
            let mut pipe = transfer(&spec(|_| ()), sender);
            let client = client_of(sender);
            rebind_at(&mut pipe, client, ms(at), [outside(8, 4_433), outside(9, 4_433)]);
            pipe.deliver(BYTES);
        }
    }
}

fn hand_over(pipe: &mut Pipe<QuicEndpoint>, client: usize) {
    let old = SocketAddr::from(([10, 0, 0, 1 + client as u8], 4_433));
    for (address, up) in [(old.ip(), false), (outside(9, 4_433).ip(), true)] {
        pipe.input_at(client, Input::Interface(InterfaceChange { address, up }));
    }
}

/// Section 18.2: no migration if the peer forbids it.
#[test]
fn a_client_that_may_not_move_is_lost_without_a_word_from_its_new_address() {
    let mut pipe = transfer(&spec(|_| ()), Role::Client);
    pipe.ends[RECEIVER].prepare(|parts| parts.settings.params.disable_active_migration = true);
    pipe.run(ms(MOVE), |_| false);
    hand_over(&mut pipe, SENDER);
    pipe.run(ms(60_000), |_| false);
    let reason = &pipe.ends[SENDER].lost().unwrap().reason;
    assert!(reason.ends_with("the peer forbids another"), "{reason}");
    let new = outside(9, 4_433).ip();
    assert!(pipe.passed[SENDER].iter().all(|passed| passed.source.ip() != new));
}

/// Section 9: no migration before the handshake is confirmed. The client opens another connection from its new address, with other
/// connection IDs, and nothing is lost or comes twice, whenever that happens, in either direction and with either protection.
#[test]
fn a_client_that_may_not_move_yet_begins_anew() {
    for (sender, protection) in [
        (Role::Client, Protected::Null),
        (Role::Server, Protected::Null),
        (Role::Client, Protected::Tls),
        (Role::Server, Protected::Tls),
    ] {
        let mut restarts = 0;
        for at in (0..=90).step_by(if protection == Protected::Tls { 10 } else { 3 }) {
            let mut pipe = transfer(&spec(|spec| spec.protection = protection), sender);
            let client = client_of(sender);
            let old = SocketAddr::from(([10, 0, 0, 1 + client as u8], 4_433));
            let new = outside(9, 4_433);
            // What is on its way to the old address arrives half of the time.
            let is_lost = at % 2 == 0;
            pipe.translate = Box::new(move |end, now, packet| {
                let address =
                    if end == client { packet.meta.source } else { packet.meta.destination };
                !is_lost || address == if now < ms(at) { old } else { new }
            });
            pipe.run(ms(at), |_| false);
            hand_over(&mut pipe, client);
            pipe.deliver(BYTES);
            pipe.run(ms(60_000), |_| false);
            let what = format!("{sender:?} {protection:?} at {at} ms");
            assert!(pipe.ends.iter().all(|end| end.lost().is_none()), "{what}");
            let anew =
                pipe.events[client].iter().any(|(_, event)| event.detail.starts_with("restarts"));
            restarts += usize::from(anew);
            if !anew || protection == Protected::Tls {
                continue;
            }
            let of = |address| {
                let all = pipe.passed[client].iter().filter(move |passed| passed.source == address);
                all.filter_map(|passed| passed.packets.first())
            };
            let id = |packet: &QuicPacket| packet.header.destination();
            assert!(matches!(of(new).next().unwrap().header, Header::Initial { .. }), "{what}");
            assert!(of(new).all(|packet| of(old).all(|other| id(packet) != id(other))), "{what}");
        }
        // The handshake is confirmed after two round trips of 40 ms.
        assert!(restarts >= 4, "{sender:?} {protection:?}: {restarts}");
    }
}

/// The first packet of the connection that was given up comes last, when the other one is complete, or not yet.
#[test]
fn a_late_packet_of_the_former_handshake_does_no_harm() {
    for late in [10, 50, 75, 100, 400] {
        for sender in [Role::Client, Role::Server] {
            let mut pipe = transfer(&spec(|_| ()), sender);
            let client = client_of(sender);
            pipe.fate = Box::new(move |end, number, _| {
                let first = end == client && number == 0;
                Some(SimDuration::from_millis(if first { late } else { 0 }))
            });
            pipe.run(ms(5), |_| false);
            hand_over(&mut pipe, client);
            pipe.deliver(BYTES);
            pipe.run(ms(20_000), |_| false);
            assert!(pipe.ends.iter().all(|end| end.lost().is_none()), "{sender:?} {late}");
        }
    }
}

/// Section 8.2.2: an answer counts wherever it comes from.
#[test]
fn an_answer_over_the_old_route_validates_the_new_one() {
    let mut pipe = transfer(&spec(|_| ()), Role::Client);
    let (old, new) = (SocketAddr::from(([10, 0, 0, 1], 4_433)), outside(9, 4_433));
    pipe.translate = Box::new(move |end, now, packet| {
        if end == RECEIVER {
            packet.meta.destination = old;
        } else if now >= ms(MOVE) {
            let Some(Datagram::Packets(packets)) = unencoded(&packet.body) else {
                panic!("{packet:?}")
            };
            let mut frames = packets.iter().flat_map(|packet| &packet.frames);
            let answers = frames.any(|frame| matches!(frame, Frame::PathResponse(_)));
            packet.meta.source = if answers { old } else { new };
        }
        true
    });
    pipe.deliver(BYTES);
    pipe.run(ms(5_000), |_| false);
    let validated = |event: &Event| event.kind == "path" && event.detail.starts_with("validated");
    let events = &pipe.events[RECEIVER];
    assert!(events.iter().any(|(_, event)| validated(event)), "{events:?}");
}

/// Section 9.3.2: a server that many addresses lead astray goes back to the one that is validated.
#[test]
fn a_server_that_is_led_astray_goes_back_to_a_validated_address() {
    let mut pipe = transfer(&spec(|_| ()), Role::Client);
    let mut host = 20;
    pipe.translate = Box::new(move |end, now, packet| {
        if end == SENDER && now >= ms(MOVE) && host < 30 {
            host += 1;
            packet.meta.source = outside(host, 4_433);
            return true;
        }
        now < ms(MOVE)
    });
    pipe.run(ms(100_000), |_| false);
    assert!(pipe.ends[RECEIVER].lost().is_none());
    let home = SocketAddr::from(([10, 0, 0, 1], 4_433));
    assert_eq!(pipe.passed[RECEIVER].last().unwrap().destination, home);
    let moved = pipe.events[RECEIVER].iter().rfind(|(_, event)| event.kind == "path");
    let detail = &moved.unwrap().1.detail;
    assert!(detail.starts_with("moved") && detail.ends_with(&home.to_string()), "{detail}");
}

/// Section 10.2.1: three times what arrived limits the close of a connection, too.
#[test]
fn a_close_to_an_unvalidated_address_is_limited() {
    let mut pipe = transfer(&spec(|_| ()), Role::Client);
    // The server hears of the first datagram only, and nobody of its answers.
    pipe.fate =
        Box::new(|end, number, _| (end == SENDER && number == 0).then_some(SimDuration::ZERO));
    pipe.run(ms(20_000), |_| false);
    let now = pipe.now;
    pipe.ends[RECEIVER].close(now, 7);
    pipe.wakes[RECEIVER] = Some(now);
    pipe.run(ms(40_000), |_| false);
    let sent: u64 = pipe.passed[RECEIVER].iter().map(|passed| passed.size).sum();
    assert!((2_000..=3 * pipe.passed[SENDER][0].size).contains(&sent), "{sent}");
}

/// Many changes at random times, one after the other, in both directions: every byte arrives.
#[test]
fn nothing_is_lost_over_random_changes() {
    for seed in 0..40 {
        let mut rng = RngTree::new(seed).rng();
        let sender = if rng.below(2) == 0 { Role::Client } else { Role::Server };
        let keep = if rng.below(2) == 0 { AfterMigration::Reset } else { AfterMigration::Keep };
        let mut pipe = transfer(&spec(|spec| spec.after_migration = keep), sender);
        let (client, knows) = (client_of(sender), rng.below(2) == 0);
        let inside = SocketAddr::from(([10, 0, 0, 1 + client as u8], 4_433));
        let mut changes = vec![];
        let mut at = 200;
        for host in 2..12_u8 {
            at += rng.below(400);
            let outage = rng.below(3) * rng.below(2_000);
            changes.push((at, at + outage, outside(host, 4_433)));
            at += outage;
        }
        let script = changes.clone();
        pipe.translate = Box::new(move |end, now, packet| {
            let past = script.iter().rev().find(|(from, _, _)| now >= ms(*from));
            let (up, present) = past.map_or((0, inside), |(_, up, address)| (*up, *address));
            let at =
                if end == client { &mut packet.meta.source } else { &mut packet.meta.destination };
            let reaches = if knows {
                *at == present
            } else if end == client {
                *at = present;
                true
            } else {
                std::mem::replace(at, inside) == present
            };
            reaches && now >= ms(up)
        });
        if knows {
            let mut old = inside;
            for (from, up, new) in changes {
                pipe.run(ms(from), |_| false);
                let gone = InterfaceChange { address: old.ip(), up: false };
                pipe.input_at(client, Input::Interface(gone));
                pipe.run(ms(up), |_| false);
                let come = InterfaceChange { address: new.ip(), up: true };
                pipe.input_at(client, Input::Interface(come));
                old = new;
            }
        }
        // Behind a NAT that forgot it, a client that has nothing to say is not found; a probe of its own wakes it.
        let patience = pipe.now + SimDuration::from_secs(600);
        pipe.run(patience, |pipe| pipe.delivered[0] >= BYTES);
        assert!(knows || sender == Role::Client || pipe.ends[client].lost().is_none());
        let reachable = knows || sender == Role::Client;
        assert!(!reachable || pipe.delivered == [BYTES], "seed {seed}: {:?}", pipe.delivered);
    }
}
