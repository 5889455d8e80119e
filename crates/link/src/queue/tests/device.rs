//! A ring below a queue discipline.

use super::*;

/// Keeps forty packets waiting for 500 ms, one sent every millisecond; how many `CoDel` drops.
fn drops(ring: &str) -> usize {
    let mut probe =
        Probe::new(&format!(r#"{{"kind": "device", "ring": "{ring}", "queue": "codel"}}"#));
    for tick in 0..500 {
        while probe.queue.backlog().packets < 40 {
            probe.offer(tick * 1_000, tick, 1000, 1);
        }
        assert!(probe.take(tick * 1_000).is_some());
    }
    probe.fates.drops.len()
}

#[test]
fn a_discipline_manages_what_its_ring_has_no_room_for() {
    // The delay above the ring is 33 ms, as long as forty packets wait and seven of them in the ring: `CoDel` is over
    // its target from 5 ms on, and drops from 105 ms on: 100, 170.7, 228.4, 278.4, 323.1 and 364 ms after that.
    assert_eq!(drops("7 packets"), 7);
    assert_eq!(drops("7 kB"), 7);
    // With 36 packets in the ring, four wait above it: not for 5 ms.
    assert_eq!(drops("36 packets"), 0);
    assert_eq!(drops("unlimited"), 0);
}

#[test]
fn a_ring_pushes_back_and_never_drops() {
    let json = r#"{"kind": "device", "ring": "3 packets", "queue": {"kind": "fifo", "limit": "2 packets"}}"#;
    let mut probe = Probe::new(json);
    for id in 0..7 {
        probe.offer(0, id, 1000, 1);
    }
    assert_eq!(probe.dropped(), [5, 6], "three in the ring and two above it");
    assert!((0..5).all(|id| probe.take(0) == Some(id)));
}

#[test]
fn a_ring_in_bytes_takes_packets_until_it_is_reached() {
    let json =
        r#"{"kind": "device", "ring": "2 kB", "queue": {"kind": "fifo", "limit": "1 packet"}}"#;
    let mut probe = Probe::new(json);
    for id in 0..6 {
        probe.offer(0, id, 900, 1);
    }
    assert_eq!(probe.dropped(), [4, 5]);
}

#[test]
fn devices_that_make_no_sense_are_refused() {
    let refused = |keys: &str, place: &str, problem: &str| {
        assert_refused::<QueueSpec>(&format!(r#"{{"kind": "device", {keys}}}"#), place, problem);
    };
    refused(r#""ring": "0 packets", "queue": "codel""#, "ring", "zero");
    refused(r#""ring": "1 BDP", "queue": "codel""#, "ring", "depends on a link");
    refused(
        r#""ring": "7 packets", "queue": {"kind": "pie", "target": "0 s"}"#,
        "queue.target",
        "zero",
    );
    refused(r#""ring": "7 packets", "queue": "codell""#, "queue", "unknown kind");
    let second = r#"{"kind": "device", "ring": "1 packet", "queue": "codel"}"#;
    refused(
        &format!(r#""ring": "7 packets", "queue": {second}"#),
        "queue",
        "a ring above another ring",
    );
}
