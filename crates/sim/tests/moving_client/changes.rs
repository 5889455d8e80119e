//! Changes of the address at every stage of a connection, and what they cost.

use super::Step::{Down, Finish, Rebind, Up, Write};
use super::*;

/// All ways to set up a flow that connects anew.
fn setups(resume: bool) -> impl Iterator<Item = Setup> {
    (0..8).map(move |bits| Setup {
        upload: bits & 1 == 0,
        tls: bits & 2 == 0,
        no_connection: if bits & 4 == 0 { NoConnection::Reset } else { NoConnection::Silence },
        reconnect: Some((1_000, resume)),
        seed: 1,
    })
}

#[test]
fn a_new_address_at_every_stage() {
    // The handshake takes 40 ms, TLS 40 ms more, slow start fills the queue after 200 ms, and recovery goes on from there;
    // everything has arrived after 3 s.
    for resume in [true, false] {
        for setup in setups(resume) {
            for at in [0, 10, 30, 41, 50, 70, 90, 130, 170, 250, 330, 500, 1_500, 2_500, 3_500] {
                for gap in [0, 700, 5_000] {
                    let steps = [
                        (0, Write(2_000_000)),
                        (at, Down(1)),
                        (at + gap, Up(2)),
                        (at + gap + 4_000, Write(1_000)),
                        (at + gap + 4_000, Finish),
                    ];
                    let mut world = World::new(setup, &steps);
                    world.complete();
                    let reconnected = world.told(CLIENT, "reconnecting").len();
                    assert!(reconnected <= 1, "{setup:?} {at} {gap}: {:#?}", world.log().events);
                    // Before its first packet, the client simply connects from where it is.
                    assert_eq!(reconnected == 0, at == 0, "{setup:?} {at} {gap}");
                }
            }
        }
    }
}

#[test]
fn make_before_break_costs_no_more_than_the_patience() {
    for setup in setups(true) {
        let steps = [(0, Write(10_000)), (100, Finish), (300, Write(1))];
        let steps =
            [&steps[..1], &[(1_000, Up(2)), (1_100, Down(1)), (3_000, Write(5_000))]].concat();
        let mut world = World::new(setup, &steps);
        world.complete();
        assert_eq!(
            world.told(CLIENT, "lost"),
            [(2_100, "no progress for 1 s: its address is gone".into())]
        );
        assert_eq!(world.told(CLIENT, "reconnecting"), [(2_100, "connection 2".into())]);
        assert_eq!(world.told(CLIENT, "established").len(), 2);
        assert_eq!(world.told(SERVER, "established").len(), 2);
        let lost = world.told(SERVER, "lost");
        assert_eq!(lost.len(), 1, "{setup:?}: {lost:?}");
    }
}

#[test]
fn what_comes_back_in_time_is_kept() {
    for setup in setups(true) {
        let steps = [(0, Write(1_500_000)), (500, Down(1)), (1_000, Up(1))];
        let mut world = World::new(setup, &steps);
        world.complete();
        let reconnected = world.told(CLIENT, "reconnecting");
        assert!(reconnected.is_empty(), "{setup:?}: {reconnected:?}");
    }
}

#[test]
fn a_change_while_the_connection_closes() {
    // Everything has been sent after 250 ms, with TLS; the FIN and its acknowledgement follow.
    for setup in setups(true) {
        for at in (0..60).map(|step| 10 * step + 1) {
            let steps = [(0, Write(60_000)), (0, Finish), (at, Down(1)), (at + 100, Up(2))];
            World::new(setup, &steps).complete();
        }
    }
}

#[test]
fn the_server_may_not_know_that_there_was_a_connection() {
    // The client has seen the handshake complete, the server has not. On the new connection the client asks to resume, and
    // the server starts with the first byte.
    for resume in [true, false] {
        for setup in setups(resume) {
            let steps = [(0, Write(100_000)), (0, Finish), (200, Down(1)), (300, Up(2))];
            let mut world = World::new(setup, &steps);
            world.log().drops = |seen| {
                let late = seen.at > ms(200) || seen.segment.flags.contains(Flags::SYN);
                seen.end == CLIENT && !late
            };
            world.complete();
            assert_eq!(world.told(CLIENT, "reconnecting").len(), 1);
            assert_eq!(world.told(SERVER, "established").len(), 1, "{setup:?}");
        }
    }
}

#[test]
fn a_finished_transfer_needs_no_connection() {
    for setup in setups(true) {
        let steps = [(0, Write(20_000)), (0, Finish), (2_000, Down(1)), (4_000, Up(2))];
        let mut world = World::new(setup, &steps);
        world.complete();
        assert!(world.told(CLIENT, "lost").is_empty(), "{setup:?}: {:#?}", world.log().events);
    }
}

#[test]
fn a_rebinding_nat_resets_the_upload_at_once() {
    let setup = Setup { reconnect: Some((5_000, true)), ..UPLOAD };
    let mut world = World::new(setup, &[(0, Rebind), (0, Write(2_000_000)), (500, Rebind)]);
    world.complete();
    // No acknowledgement gets through. The next segment is a probe, two round trips of 70 to 90 ms after the last one, and
    // meets a reset after another.
    let lost = world.told(CLIENT, "lost");
    assert!(
        matches!(&lost[..], [(600..900, reason)] if reason == "reset by the other end"),
        "{lost:?}"
    );
    assert_eq!(world.told(CLIENT, "reconnecting")[0].0, lost[0].0);
    assert_eq!(world.told(SERVER, "lost")[0].1, "replaced by a new connection");
}

#[test]
fn without_resets_a_rebinding_nat_is_noticed_by_want_of_progress() {
    let setup = Setup { no_connection: NoConnection::Silence, ..UPLOAD };
    let mut world = World::new(setup, &[(0, Rebind), (0, Write(2_000_000)), (500, Rebind)]);
    world.complete();
    let lost = world.told(CLIENT, "lost");
    let reason = "no progress for 1 s: data is unacknowledged";
    assert!(
        lost.len() == 1 && lost[0].1 == reason && (1_450..1_550).contains(&lost[0].0),
        "{lost:?}"
    );
}

#[test]
fn a_download_behind_a_rebinding_nat_stands_still() {
    // The client hears nothing, and does not know that there is anything to hear.
    let mut world = World::new(DOWNLOAD, &[(0, Rebind), (0, Write(2_000_000)), (500, Rebind)]);
    world.run(ms(100_000));
    assert!(world.told(CLIENT, "lost").is_empty());
    let log = world.log();
    assert!(log.delivered < log.written);
}

#[test]
fn resuming_costs_a_hundred_bytes_each_way_and_repeats_little() {
    let outcome = |resume: bool| {
        let setup = Setup { reconnect: Some((1_000, resume)), ..UPLOAD };
        let steps = [(0, Write(1_000_000)), (0, Finish), (500, Down(1)), (500, Up(2))];
        let mut world = World::new(setup, &steps);
        world.run(ms(500));
        let (before, sent) = world.progress();
        world.complete();
        (before, sent, world)
    };
    let payload = |world: &World, end: usize| {
        let after =
            |seen: &&Sighted| ![seen.source.ip(), seen.destination.ip()].contains(&place(1));
        let log = world.log();
        let of = log.passed.iter().filter(|seen| seen.end == end).filter(after);
        of.map(|seen| u64::from(seen.segment.payload)).sum::<u64>()
    };
    let (before, sent, world) = outcome(true);
    let totals = world.totals(CLIENT);
    assert_eq!(payload(&world, SERVER), 100);
    let again = totals.retransmitted_bytes.get();
    assert!(again >= sent - before && before > 200_000, "{again} of {before} to {sent}");
    let new = payload(&world, CLIENT);
    let rest = 1_000_000 - before;
    // Whatever arrived after 500 ms was in flight when the address went, and was lost with it.
    assert!((100 + rest..200_000 + rest).contains(&new), "{new} for {rest}");
    let (before, sent, world) = outcome(false);
    assert_eq!(payload(&world, SERVER), 0);
    assert!(payload(&world, CLIENT) >= 1_000_000);
    assert!(world.totals(CLIENT).retransmitted_bytes.get() >= sent, "{before}");
}

#[test]
fn totals_and_round_trip_times_cover_all_connections() {
    let steps = [(0, Write(1_000_000)), (0, Finish), (500, Down(1)), (500, Up(2))];
    let mut world = World::new(UPLOAD, &steps);
    world.run(ms(1_400));
    let (before, rtts) = (world.totals(CLIENT), world.rtts(CLIENT).count());
    let received = world.totals(SERVER).received_packets;
    world.complete();
    let (after, server) = (world.totals(CLIENT), world.totals(SERVER));
    assert!(after.acked_bytes.get() >= 900_000, "{after:?}");
    assert!(after.sent_packets > before.sent_packets + 200, "{before:?} {after:?}");
    assert!(world.rtts(CLIENT).count() > rtts && server.received_packets > received);
    let samples = world.samples(CLIENT);
    assert_eq!(samples[0].totals, after);
    let of = |end: usize| world.log().passed.iter().filter(|seen| seen.end == end).count() as u64;
    assert_eq!(server.sent_packets, of(SERVER));
}
