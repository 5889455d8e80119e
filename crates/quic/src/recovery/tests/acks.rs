//! Acknowledgements: samples, what is acknowledged, and what controllers are told in which order.

use super::*;
use crate::sent_frame::SentFrame;

#[test]
fn packets_are_acknowledged_once_and_in_order() {
    let mut bench = Bench::confirmed();
    (0..8).for_each(|_| _ = bench.send(at(0)));
    assert_eq!(bench.ack(at(100), &[(6, 6)]).0, [6]);
    assert_eq!(bench.ack(at(100), &[(4, 4), (6, 7)]).0, [4, 7]);
    assert_eq!(bench.ack(at(100), &[(4, 7)]).0, [5]);
    assert_eq!(bench.ack(at(100), &[(4, 7)]), (vec![], vec![]));
    assert_eq!(bench.recovery.largest_acked(Space::Data), Some(7));
    assert_eq!(bench.recovery.in_flight(), 0);
}

#[test]
fn packets_never_sent_are_not_acknowledged() {
    let mut bench = Bench::confirmed();
    assert!(bench.try_ack(at(0), Space::Data, &[(0, 0)], ms(0)).is_err());
    (0..3).for_each(|_| _ = bench.send(at(0)));
    assert!(bench.try_ack(at(1), Space::Data, &[(1, 3)], ms(0)).is_err());
    assert!(bench.try_ack(at(1), Space::Initial, &[(0, 0)], ms(0)).is_err());
    // A number left out on purpose (RFC 9000 section 21.4).
    bench.send_as(at(1), Space::Data, |packet| packet.number = 4);
    assert_eq!(bench.ack(at(2), &[(0, 2)]).0, [0, 1, 2]);
    assert!(bench.try_ack(at(2), Space::Data, &[(0, 4)], ms(0)).is_err());

    let mut bench = Bench::confirmed();
    bench.send_as(at(1), Space::Data, |packet| packet.number = 1);
    assert_eq!(bench.ack(at(2), &[(1, 1)]).0, [1]);
    assert_eq!(bench.recovery.next_number(Space::Data).value, 2);
}

/// RFC 9002 section 5.1: a sample takes a new largest number, and a packet that asks for an acknowledgement.
#[test]
fn only_the_largest_number_gives_a_sample() {
    let mut bench = Bench::confirmed();
    (0..3).for_each(|number| _ = bench.send(at(number)));
    bench.send_silent(at(3));
    bench.ack(at(50), &[(1, 1)]);
    assert_eq!(bench.recovery.rtt().latest(), Some(ms(49)));
    bench.ack(at(51), &[(0, 1)]);
    assert_eq!(bench.recovery.rtt().latest(), Some(ms(49)), "not the largest");
    bench.ack(at(60), &[(3, 3)]);
    assert_eq!(bench.recovery.rtt().latest(), Some(ms(49)), "did not ask");
    bench.send(at(61));
    bench.send_silent(at(70));
    bench.ack(at(100), &[(4, 5)]);
    assert_eq!(
        bench.recovery.rtt().latest(),
        Some(ms(30)),
        "one of them did, and 5 is the largest"
    );
    assert_eq!(bench.control.rtts().count(), 2);
}

/// RFC 9002 section 5.3: after 100 ms, a sample of 200 ms gives 7/8 * 100 + (200 - delay) / 8.
#[test]
fn the_delay_counts_as_the_space_and_the_handshake_say() {
    let smoothed = |space, confirmed, delay| {
        let mut bench = Bench::new(Role::Client);
        bench.recovery.set_max_ack_delay(ms(24));
        let state = HandshakeState { confirmed, ..HandshakeState::default() };
        bench.recovery.set_handshake(at(0), state);
        for (sent, acked, number) in [(0, 100, 0), (100, 300, 1)] {
            bench.send_in(at(sent), space);
            bench.try_ack(at(acked), space, &[(number, number)], delay).unwrap();
        }
        bench.recovery.rtt().smoothed()
    };
    assert_eq!(smoothed(Space::Initial, false, ms(40)), SimDuration::from_micros(112_500));
    assert_eq!(smoothed(Space::Handshake, false, ms(40)), SimDuration::from_micros(107_500));
    assert_eq!(smoothed(Space::Data, false, ms(40)), SimDuration::from_micros(107_500));
    assert_eq!(
        smoothed(Space::Data, true, ms(40)),
        SimDuration::from_micros(109_500),
        "24 at most"
    );
    assert_eq!(smoothed(Space::Data, true, ms(8)), SimDuration::from_micros(111_500));
}

/// Appendix A.7: marks, losses, then growth; `in_flight` without the packets lost.
#[test]
fn controllers_hear_of_marks_and_losses_before_growth() {
    let mut bench = Bench::confirmed();
    (0..6).for_each(|number| _ = bench.send_as(at(number), Space::Data, |sent| sent.ect = true));
    let sent = (0..6).map(|number| Call::Sent { number, in_flight: (number + 1) * SIZE });
    assert!(bench.calls().into_iter().eq(sent));
    bench.ecn = Some(EcnCounts { ect0: 2, ect1: 0, ce: 1 });
    assert_eq!(bench.ack(at(50), &[(2, 2), (4, 5)]), (vec![2, 4, 5], vec![0, 1]));
    let calls = [
        Call::Ecn { sent: at(5) },
        Call::PacketLost(0),
        Call::PacketLost(1),
        Call::Loss { sent: at(1), lost: 2 * SIZE, persistent: false },
        Call::Acked { number: 2, in_flight: 4 * SIZE },
        Call::Acked { number: 4, in_flight: 3 * SIZE },
        Call::Acked { number: 5, in_flight: 2 * SIZE },
        Call::AckEnd { in_flight: SIZE },
    ];
    assert_eq!(bench.calls(), calls);
    assert_eq!(bench.recovery.in_flight(), SIZE, "3 may be late");
}

/// The controller sees neither packets that do not count towards the window nor the space of a packet.
#[test]
fn controllers_see_the_packets_in_flight_numbered_through() {
    let mut bench = Bench::new(Role::Client);
    bench.send_in(at(0), Space::Initial);
    bench.send_in(at(0), Space::Handshake);
    bench.send_silent(at(1));
    bench.send(at(1));
    let sent = (0..3).map(|number| Call::Sent { number, in_flight: (number + 1) * SIZE });
    assert!(bench.calls().into_iter().eq(sent));
    bench.ack(at(30), &[(0, 1)]);
    let calls =
        [Call::Acked { number: 2, in_flight: 3 * SIZE }, Call::AckEnd { in_flight: 2 * SIZE }];
    assert_eq!(bench.calls(), calls);
    bench.ack_in(at(31), Space::Handshake, &[(0, 0)]);
    assert_eq!(bench.calls()[0], Call::Acked { number: 1, in_flight: 2 * SIZE });
}

#[test]
fn totals_and_events_tell_what_happened() {
    let mut bench = Bench::confirmed();
    (0..5).for_each(|_| _ = bench.send(at(0)));
    bench.ack(at(40), &[(3, 4)]);
    assert_eq!(bench.events(), [("congestion", "loss: window 100 kB -> 100 kB".to_owned())]);
    bench.ack(at(41), &[(2, 4)]);
    assert_eq!(bench.events(), []);
    bench.send(at(42));
    bench.expire();
    assert_eq!(bench.events(), [("timeout", String::new())]);
    let totals = bench.control.totals(PATH);
    assert_eq!((totals.acked_bytes.get(), totals.lost_bytes.get()), (3_000, 2_000));
    assert_eq!((totals.lost_packets, totals.congestion_events, totals.timeouts), (2, 1, 1));
    bench.control.totals_mut(PATH).sent_packets += 6;
    assert_eq!(bench.control.sum().sent_packets, 6);
}

/// RFC 9002 section 7.3.2: losses of what was sent before the recovery began do not begin another one.
#[test]
fn a_recovery_period_counts_once() {
    let mut bench = Bench::confirmed();
    (0..10).for_each(|number| _ = bench.send(at(number)));
    bench.ack(at(50), &[(4, 4)]);
    bench.ack(at(51), &[(4, 4), (8, 8)]);
    assert_eq!(bench.control.totals(PATH).congestion_events, 1);
    (0..5).for_each(|_| _ = bench.send(at(52)));
    bench.ack(at(100), &[(14, 14)]);
    assert_eq!(bench.control.totals(PATH).congestion_events, 2);
}

/// RFC 9000 appendix A.2: 29,519 numbers unacknowledged take 16 bits, 131,147 take 18.
#[test]
fn numbers_are_as_long_as_the_peer_needs() {
    let length = |acked: Option<u64>, next: u64| {
        let mut bench = Bench::confirmed();
        let first = acked.unwrap_or(next - 1);
        bench.send_as(at(0), Space::Data, |sent| sent.number = first);
        if acked.is_some() {
            bench.ack(at(0), &[(first, first)]);
            bench.send_as(at(0), Space::Data, |sent| sent.number = next - 1);
        }
        let number = bench.recovery.next_number(Space::Data);
        assert_eq!(number.value, next);
        number.len
    };
    assert_eq!(length(Some(100_000), 100_000 + 29_519), 2);
    assert_eq!(length(Some(100_000), 100_000 + 131_147), 3);
    assert_eq!(length(Some(100_000), 100_000 + 127), 1);
    assert_eq!(length(Some(100_000), 100_000 + 128), 2);
    assert_eq!(length(None, 126), 1);
    assert_eq!(length(None, 127), 2);
}

/// Appendix A.11, and RFC 9002 section 6.4: the packets of a space whose keys are gone leave the flight.
#[test]
fn discarded_spaces_leave_the_flight() {
    let mut bench = Bench::new(Role::Client);
    bench.send_in(at(0), Space::Initial);
    bench.expire();
    bench.send_in(at(1_000), Space::Initial);
    bench.send_in(at(1_000), Space::Handshake);
    assert_eq!((bench.recovery.in_flight(), bench.recovery.pto_count()), (3 * SIZE, 1));
    bench.calls();
    bench.recovery.discard(at(1_010), Space::Initial);
    assert_eq!((bench.recovery.in_flight(), bench.recovery.pto_count()), (SIZE, 0));
    assert!(!bench.recovery.is_ack_eliciting_in_flight(Space::Initial));
    assert_eq!(bench.recovery.timer(), Some(at(1_000) + ms(999)), "without backoff, for Handshake");
    assert_eq!(bench.calls(), []);
    bench.ack_in(at(1_100), Space::Handshake, &[(0, 0)]);
    assert_eq!(bench.recovery.in_flight(), 0);
}

/// RFC 9000 section 17.2.5.3: after a Retry numbers go on, and what was sent is sent again.
#[test]
fn what_is_given_up_is_handed_back() {
    let mut bench = Bench::new(Role::Client);
    let carried = SentFrame::Crypto { start: 0, end: 300 };
    bench.send_as(at(0), Space::Initial, |sent| sent.carried.push(carried));
    bench.expire();
    bench.calls();
    let (recovery, out) = (&mut bench.recovery, &mut bench.out);
    recovery.give_up(at(1_100), Space::Initial, out);
    assert_eq!(out.lost[0].carried.as_slice(), [carried]);
    assert_eq!((recovery.in_flight(), recovery.pto_count()), (0, 0));
    assert_eq!(recovery.next_number(Space::Initial).value, 1);
    assert_eq!(bench.calls(), []);
    assert_eq!(bench.control.totals(PATH).lost_packets, 0);
}

/// An end that only acknowledges is never acknowledged.
#[test]
fn packets_that_nobody_acknowledges_are_not_kept_for_ever() {
    let mut bench = Bench::confirmed();
    (0..100_000).for_each(|_| _ = bench.send_silent(at(0)));
    let kept = bench.recovery.spaces[Space::Data as usize].sent.len();
    assert!(kept <= 1_024, "{kept}");
    bench.send(at(1));
    assert_eq!(bench.ack(at(2), &[(0, 100_000)]).0.last(), Some(&100_000));
    assert_eq!(bench.recovery.in_flight(), 0);
}
