//! Bytes exchanged with `noq-proto` while the client's address changes: our client migrates, or a NAT maps the client of either stack
//! anew, through a link that loses and reorders packets.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use leobench_base::SimRng;
use leobench_transport::endpoint::{Input, InterfaceChange};
use leobench_transport::testing::Way;

use super::interop::{End, Meeting};
use super::*;

/// 8 s at the link's rate.
const BYTES: u64 = 1_000_000;
const RATE: u64 = 1_000_000;
/// By then the handshake is confirmed, without which noq-proto follows nobody.
const FIRST: u64 = 4_000;

/// The changes of the client's address, with their times in milliseconds.
struct Changes {
    knows: bool,
    list: Vec<(u64, SocketAddr)>,
}

fn draw(rng: &mut SimRng, knows: bool, inside: SocketAddr) -> Changes {
    let (mut at, mut present, mut list) = (FIRST, inside, Vec::new());
    for host in 2..3 + rng.below(5) as u8 {
        at += rng.below(1_500);
        // A client moves to another host address, or back; a NAT may change the port alone.
        match (knows, rng.below(3)) {
            (_, 0) if present.ip() != inside.ip() => present.set_ip(inside.ip()),
            (false, 1) => present.set_port(4_433 + u16::from(host)),
            _ => present.set_ip([192, 0, 2, host].into()),
        }
        list.push((at, present));
    }
    Changes { knows, list }
}

/// Lets packets pass between the client's present address and the server.
fn translate(pipe: &mut Pipe<End>, client: usize, inside: SocketAddr, changes: &Changes) {
    let (list, knows) = (changes.list.clone(), changes.knows);
    pipe.translate = Box::new(move |end, now, packet| {
        let past = list.iter().rev().find(|(at, _)| now >= ms(*at));
        let present = past.map_or(inside, |(_, address)| *address);
        let address =
            if end == client { &mut packet.meta.source } else { &mut packet.meta.destination };
        match (knows, end == client) {
            (true, _) => *address == present,
            (false, true) => {
                *address = present;
                true
            }
            (false, false) => std::mem::replace(address, inside) == present,
        }
    });
}

/// Holds a meeting, and returns how often the end that is ours saw an address validated.
fn hold(seed: u64) -> usize {
    let mut rng = RngTree::new(seed).child("moving").rng();
    let own_is_client = rng.below(2) == 0;
    // A client that a NAT has mapped anew is found when it sends.
    let knows = own_is_client && rng.below(2) == 0;
    let client_sends = !knows || rng.below(2) == 0;
    let meeting = Meeting {
        own_sends: own_is_client == client_sends,
        client_sends,
        streams: 1,
        bytes: BYTES,
        window: None,
        ack_eliciting_threshold: 1,
        lost: rng.below(60),
        late: rng.below(200),
        by: rng.below(40),
        salt: rng.bits(),
    };
    let mut pipe = meeting.pipe();
    let client = if client_sends { SENDER } else { RECEIVER };
    let own = if own_is_client { client } else { 1 - client };
    let inside = SocketAddr::from(([10, 0, 0, 1 + client as u8], 4_433));
    let changes = draw(&mut rng, knows, inside);
    translate(&mut pipe, client, inside, &changes);
    let addresses = changes.list.iter().map(|(_, address)| address.ip()).chain([inside.ip()]);
    for address in addresses.collect::<BTreeSet<_>>() {
        pipe.ways.push(Way::new(address, 20, RATE));
    }
    pipe.write(0, BYTES);
    pipe.finish();
    let mut present = inside;
    for (at, address) in changes.list.iter().filter(|_| knows) {
        pipe.run(ms(*at), |_| false);
        for (address, up) in [(present.ip(), false), (address.ip(), true)] {
            pipe.input_at(client, Input::Interface(InterfaceChange { address, up }));
        }
        present = *address;
    }
    pipe.run(ms(600_000), |pipe| pipe.delivered[0] >= BYTES);
    let lost = [SENDER, RECEIVER].map(|end| pipe.ends[end].lost().cloned());
    let what = format!("seed {seed}: {meeting:?}, {knows}, {:?}", changes.list);
    assert_eq!((lost, pipe.delivered[0]), ([None, None], BYTES), "{what}");
    let is_validated = |detail: &str| detail.starts_with("validated");
    pipe.events[own].iter().filter(|(_, event)| is_validated(&event.detail)).count()
}

fn hold_all(seeds: std::ops::Range<u64>) {
    let count = seeds.end - seeds.start;
    let validated: usize = seeds.map(hold).sum();
    assert!(validated as u64 > count, "{validated} in {count} meetings");
}

#[test]
fn both_stacks_follow_each_other_to_other_addresses() {
    hold_all(0..30);
}

#[test]
#[ignore = "the long form of the test above"]
fn both_stacks_follow_each_other_in_300_meetings() {
    hold_all(1_000..1_300);
}
