//! Many changes in a row.

use super::Step::{Down, Finish, Rebind, Up, Write};
use super::*;

/// A host that changes its address ten times, with outages of up to ten seconds, while an application writes now and then.
/// An upload is behind a NAT that makes new mappings now and then, too.
fn wander(setup: Setup) -> Vec<(u64, Step)> {
    let mut numbers = RngTree::new(setup.seed).child("wander").rng();
    let mut steps = vec![(0, Write(1 + numbers.below(400_000)))];
    let (mut at, mut present) = (0, 1);
    for _ in 0..10 {
        // Half of the moves follow each other closely, as long as a handshake or an exchange lasts.
        at += if numbers.bernoulli(0.5) { numbers.below(300) } else { numbers.below(6_000) };
        let next = 1 + (present + numbers.below(4) as usize) % 5;
        let outage = if numbers.bernoulli(0.3) { 0 } else { numbers.below(10_000) };
        if next != present && numbers.bernoulli(0.3) {
            steps.extend([(at, Up(next)), (at + outage / 100, Down(present))]);
        } else {
            steps.extend([(at, Down(present)), (at + outage, Up(next))]);
            at += outage;
        }
        at += outage / 100;
        present = next;
        if setup.upload && numbers.bernoulli(0.2) {
            steps.push((at + numbers.below(1_000), Rebind));
        }
        if numbers.bernoulli(0.5) {
            steps.push((at + numbers.below(2_000), Write(1 + numbers.below(200_000))));
        }
    }
    let last = steps.iter().map(|(at, _)| *at).max().unwrap_or(0);
    steps.extend([(last, Write(1)), (last, Finish)]);
    steps.sort_by_key(|(at, _)| *at);
    steps
}

#[test]
fn every_byte_arrives_once_and_in_order() {
    for seed in 0..300 {
        // The loss probe of a last segment takes more than 200 ms: a client with less patience that starts over may do so for
        // ever.
        let patience = 200 + 400 * (seed % 8);
        let setup = Setup {
            upload: seed % 2 == 0,
            tls: seed % 3 == 0,
            no_connection: if seed % 5 < 3 { NoConnection::Reset } else { NoConnection::Silence },
            reconnect: Some((patience, seed % 7 != 6 || patience == 200)),
            seed,
        };
        let mut world = World::new(setup, &wander(setup));
        world.log().loss = (seed % 4 == 3).then_some(50);
        world.complete();
        assert!([CLIENT, SERVER].iter().all(|end| !world.is_lost(*end)), "seed {seed}");
    }
}

#[test]
fn the_same_seed_gives_the_same_packets() {
    let run = || {
        let setup = Setup { seed: 12, ..UPLOAD };
        let mut world = World::new(setup, &wander(setup));
        world.log().loss = Some(50);
        world.complete();
        world.log().passed.clone()
    };
    assert_eq!(run(), run());
}

#[test]
fn without_changes_nothing_differs_from_a_plain_connection() {
    for setup in [UPLOAD, DOWNLOAD, Setup { tls: true, ..UPLOAD }, Setup { tls: true, ..DOWNLOAD }]
    {
        let run = |reconnect| {
            let steps = [(0, Write(1_000_000)), (5_000, Write(300)), (9_000, Finish)];
            let mut world = World::new(Setup { reconnect, ..setup }, &steps);
            world.log().loss = Some(100);
            world.complete();
            let log = world.log();
            (log.passed.clone(), log.events.clone())
        };
        assert_eq!(run(None), run(setup.reconnect), "{setup:?}");
    }
}
