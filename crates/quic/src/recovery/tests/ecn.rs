//! ECN validation (RFC 9000 section 13.4.2).

use super::*;

impl Bench {
    /// Sends a packet marked if the path is to be marked; whether it was.
    fn send_ecn(&mut self, now: SimTime) -> bool {
        let ect = self.recovery.marks_ecn(now);
        self.send_as(now, Space::Data, |sent| sent.ect = ect);
        ect
    }

    /// Acknowledges ranges with counts of ECT(0) and CE.
    fn ack_ecn(&mut self, now: SimTime, ranges: &[(u64, u64)], ect0: u64, ce: u64) {
        self.ecn = Some(EcnCounts { ect0, ect1: 0, ce });
        self.ack(now, ranges);
    }

    fn marks(&self) -> u64 {
        self.control.totals(PATH).ecn_marks
    }
}

#[test]
fn ten_packets_test_a_path_that_is_marked_once_it_is_known_to_work() {
    let mut bench = Bench::confirmed();
    let marked = (0..12).filter(|_| bench.send_ecn(at(0))).count();
    assert_eq!(marked, 10);
    bench.ack_ecn(at(50), &[(0, 0)], 1, 0);
    assert!(bench.send_ecn(at(50)));
    assert!(!bench.recovery.has_ecn_failed());
}

/// Three timeouts, before a sample and with 25 ms of delay: 3 * (333 + 4 * 166.5 + 25) ms.
#[test]
fn the_test_is_over_after_three_timeouts() {
    let mut bench = Bench::confirmed();
    assert!(bench.send_ecn(at(0)));
    assert!(bench.send_ecn(at(3_071)));
    assert!(!bench.send_ecn(at(3_072)));
}

#[test]
fn a_path_that_is_not_to_be_marked_is_not() {
    let mut recovery = Recovery::new(
        PATH,
        &RecoveryConfig { role: Role::Client, initial_rtt: ms(333), ecn: false },
    );
    assert!(!recovery.marks_ecn(at(0)));
}

/// Section 13.4.2.1, one rule after another: counts for the packets 0 to 2, which were marked, of the path's 3.
#[test]
fn wrong_counts_fail() {
    let counts = |ect0, ect1, ce| Some(EcnCounts { ect0, ect1, ce });
    for (reported, valid) in [
        (counts(3, 0, 0), true),
        (counts(2, 0, 1), true),
        (counts(0, 0, 3), true),
        (None, false),
        (counts(2, 0, 0), false),
        (counts(4, 0, 0), false),
        (counts(3, 0, 1), false),
        (counts(2, 1, 0), false),
        (counts(3, 1, 0), false),
    ] {
        let mut bench = Bench::confirmed();
        (0..3).for_each(|_| assert!(bench.send_ecn(at(0))));
        bench.ecn = reported;
        bench.ack(at(50), &[(0, 2)]);
        assert_eq!(bench.recovery.has_ecn_failed(), !valid, "{reported:?}");
        assert_eq!(bench.send_ecn(at(51)), valid, "{reported:?}");
        let congested = valid && reported.is_some_and(|counts| counts.ce > 0);
        assert_eq!(bench.marks(), u64::from(congested), "{reported:?}");
    }
}

/// An acknowledgement that was lost takes its counts along: they may rise by more than is acknowledged, but not fall.
#[test]
fn counts_only_rise() {
    let mut bench = Bench::confirmed();
    (0..6).for_each(|_| assert!(bench.send_ecn(at(0))));
    bench.ack_ecn(at(50), &[(0, 1)], 2, 0);
    bench.ack_ecn(at(51), &[(0, 0), (4, 4)], 4, 1);
    assert!(!bench.recovery.has_ecn_failed());
    bench.ack_ecn(at(52), &[(4, 5)], 5, 0);
    assert!(bench.recovery.has_ecn_failed());
}

/// "An endpoint MUST NOT fail ECN validation as a result of processing an ACK frame that does not increase the largest
/// acknowledged packet number."
#[test]
fn acknowledgements_out_of_order_are_not_judged() {
    let mut bench = Bench::confirmed();
    (0..6).for_each(|_| assert!(bench.send_ecn(at(0))));
    bench.ack_ecn(at(50), &[(2, 3)], 4, 0);
    bench.ack_ecn(at(50), &[(1, 2)], 2, 0);
    bench.ecn = None;
    bench.ack(at(50), &[(0, 2)]);
    assert!(!bench.recovery.has_ecn_failed());
    bench.ack_ecn(at(50), &[(4, 5)], 6, 0);
    assert!(!bench.recovery.has_ecn_failed());
}

/// Appendix B.7: a mark is congestion as of the newest packet acknowledged.
#[test]
fn new_marks_are_congestion() {
    let mut bench = Bench::confirmed();
    (0..5).for_each(|number| assert!(bench.send_ecn(at(number))));
    bench.ack_ecn(at(50), &[(0, 0)], 1, 0);
    bench.ack_ecn(at(51), &[(0, 2)], 2, 1);
    bench.ack_ecn(at(52), &[(0, 3)], 3, 1);
    bench.ack_ecn(at(53), &[(0, 4)], 3, 2);
    let calls = bench.calls();
    let marks: Vec<&Call> = calls.iter().filter(|call| matches!(call, Call::Ecn { .. })).collect();
    assert_eq!(marks, [&Call::Ecn { sent: at(2) }, &Call::Ecn { sent: at(4) }]);
    assert_eq!(bench.marks(), 2);
    assert_eq!(bench.control.totals(PATH).congestion_events, 1, "one recovery period");
    assert_eq!(bench.events(), [("congestion", "ECN: window 100 kB -> 100 kB".to_owned())]);
}

/// Appendix A.4: a path on which all marked packets are lost is not marked again.
#[test]
fn a_path_that_drops_marked_packets_fails() {
    let mut bench = Bench::confirmed();
    (0..13).for_each(|_| _ = bench.send_ecn(at(0)));
    bench.ecn = None;
    assert_eq!(bench.ack(at(50), &[(10, 12)]).1.len(), 10);
    assert!(bench.recovery.has_ecn_failed());
    // With one of them received it is merely not known.
    let mut bench = Bench::confirmed();
    (0..13).for_each(|_| _ = bench.send_ecn(at(0)));
    bench.ack_ecn(at(50), &[(0, 0), (10, 12)], 1, 0);
    assert!(!bench.recovery.has_ecn_failed());
    assert!(bench.send_ecn(at(50)));
}

/// Counts are kept for each space (RFC 9000 section 13.4.1).
#[test]
fn spaces_count_apart() {
    let mut bench = Bench::new(Role::Client);
    for space in Space::ALL {
        bench.send_as(at(0), space, |sent| sent.ect = true);
        bench.ecn = Some(EcnCounts { ect0: 1, ect1: 0, ce: 0 });
        bench.ack_in(at(20), space, &[(0, 0)]);
        assert!(!bench.recovery.has_ecn_failed());
    }
}
