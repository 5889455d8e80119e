//! Losses by number and by time (RFC 9002 section 6.1).

use super::*;
use crate::sent_frame::SentFrame;

/// Section 6.1.1: `kPacketThreshold` is 3.
#[test]
fn a_packet_is_lost_when_one_three_later_is_acknowledged() {
    let mut bench = Bench::confirmed();
    (0..10).for_each(|_| _ = bench.send(at(0)));
    assert!(bench.ack(at(50), &[(2, 2)]).1.is_empty());
    assert_eq!(bench.ack(at(50), &[(2, 3)]).1, [0]);
    assert_eq!(bench.ack(at(50), &[(2, 3), (8, 8)]).1, [1, 4, 5]);
    assert_eq!(bench.recovery.in_flight(), 3 * SIZE, "6, 7 and 9");
}

/// Section 6.1.2: 9/8 of 80 ms after it was sent, once a later one is acknowledged.
#[test]
fn a_packet_is_lost_when_it_is_older_than_a_round_trip_and_an_eighth() {
    let mut bench = Bench::confirmed();
    bench.send(at(0));
    bench.send(at(11));
    bench.send(at(20));
    assert_eq!(bench.ack(at(100), &[(2, 2)]).1, [0], "100 ms are more than 90");
    assert_eq!(bench.recovery.timer(), Some(at(101)), "11 + 90");
    assert_eq!(bench.expire_at(SimTime::from_nanos(100_999_999)), (None, vec![]));
    assert_eq!(bench.expire(), (at(101), None, vec![1]));
    assert_eq!(bench.recovery.timer(), None);
    assert_eq!(bench.recovery.in_flight(), 0);
}

/// Of the latest and the smoothed round-trip time the longer counts.
#[test]
fn the_longer_round_trip_time_decides() {
    let mut bench = Bench::confirmed();
    bench.send(at(0));
    bench.ack(at(80), &[(0, 0)]);
    bench.send(at(100));
    bench.send(at(101));
    // Latest 41 ms, smoothed 75.125 ms: 84.515 ms after 100.
    bench.ack(at(142), &[(0, 0), (2, 2)]);
    assert_eq!(bench.expire().0.as_nanos(), 184_515_625);
    bench.send(at(200));
    bench.send(at(201));
    // Latest 160 ms: 180 ms after 200.
    bench.ack(at(361), &[(4, 4)]);
    assert_eq!(bench.expire(), (at(380), None, vec![3]));
}

/// A round trip that has become longer since puts a loss off.
#[test]
fn losses_are_due_in_each_space_and_the_earliest_first() {
    let mut bench = Bench::new(Role::Client);
    bench.send_in(at(0), Space::Handshake);
    bench.send_in(at(1), Space::Handshake);
    bench.send_in(at(2), Space::Initial);
    bench.send_in(at(3), Space::Initial);
    bench.ack_in(at(43), Space::Initial, &[(1, 1)]);
    bench.ack_in(at(43), Space::Handshake, &[(1, 1)]);
    // 40 ms, and then 42 ms: 45 ms after 2 ms, but 47.25 ms once that has passed.
    assert_eq!(bench.expire(), (at(47), None, vec![]));
    assert!(bench.recovery.is_ack_eliciting_in_flight(Space::Handshake));
    assert_eq!(bench.expire().0.as_nanos(), 47_250_000);
    assert!(!bench.recovery.is_ack_eliciting_in_flight(Space::Handshake));
    assert!(bench.recovery.is_ack_eliciting_in_flight(Space::Initial));
    assert_eq!(bench.expire().0.as_nanos(), 49_250_000);
    assert!(!bench.recovery.is_ack_eliciting_in_flight(Space::Initial));
}

/// The packet number of an acknowledgement is found lost with the others, and no congestion.
#[test]
fn packets_that_do_not_count_are_lost_without_congestion() {
    let mut bench = Bench::confirmed();
    let carried = SentFrame::Ack { largest: 7 };
    bench.send_as(at(0), Space::Data, |sent| {
        (sent.ack_eliciting, sent.in_flight) = (false, false);
        sent.carried.push(carried);
    });
    (0..3).for_each(|_| _ = bench.send(at(0)));
    assert_eq!(bench.ack(at(50), &[(1, 3)]).1, [0]);
    assert_eq!(bench.out.lost[0].carried.as_slice(), [carried]);
    assert_eq!(bench.control.totals(PATH).lost_packets, 0);
    assert!(!bench.calls().iter().any(|call| matches!(call, Call::Loss { .. })));
}

/// A window of any size costs the same per packet: what is settled leaves the ring at once.
#[test]
fn the_ring_holds_no_more_than_what_is_outstanding() {
    let mut bench = Bench::confirmed();
    for _ in 0..10_000 {
        bench.send(at(0));
    }
    for number in 0..10_000 {
        // Every tenth packet is lost.
        if number % 10 != 3 {
            bench.send(at(1));
            bench.ack(at(50), &[(number, number)]);
            let kept = bench.recovery.spaces[Space::Data as usize].sent.len();
            assert!(kept as u64 <= bench.recovery.in_flight() / SIZE + 3, "{kept}");
        }
    }
    assert_eq!(bench.control.totals(PATH).lost_packets, 1_000);
}
