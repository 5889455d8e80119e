use leobench_base::SimDuration;
use proptest::prelude::*;

use super::*;

const DELAY: SimDuration = SimDuration::from_millis(25);

fn at(millis: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_millis(millis)
}

fn frequency(threshold: u64, reordering: u64) -> AckFrequency {
    AckFrequency { threshold, max_ack_delay: DELAY, reordering, is_requested: true }
}

impl Received {
    /// Takes in an ack-eliciting packet; whether an ACK frame is due at once, which is then sent.
    fn take(&mut self, number: u64, ecn: Ecn, frequency: &AckFrequency) -> bool {
        assert!(!self.is_duplicate(number));
        self.on_packet(at(0), number, true, ecn, frequency);
        let due = self.is_due(at(0));
        if due {
            self.on_ack_sent();
        }
        due
    }

    /// Which of these packets cause an ACK frame.
    fn due_after(&mut self, numbers: &[u64], frequency: &AckFrequency) -> Vec<u64> {
        let due = |number: &&u64| self.take(**number, Ecn::NotEct, frequency);
        numbers.iter().filter(due).copied().collect()
    }

    fn reported(&self) -> Vec<(u64, u64)> {
        let ack = self.ack_frame(at(0), 10_000, 3);
        let ranges = ack.into_iter().flat_map(|ack| ack.ranges);
        ranges.map(|range| (range.smallest, range.largest)).collect()
    }
}

/// RFC 9000 section 13.2.2.
#[test]
fn every_second_packet_is_acknowledged() {
    let usual = AckFrequency::new(DELAY);
    let mut received = Received::new(Space::Data);
    assert_eq!(received.due_after(&[0, 1, 2, 3, 4, 5, 6], &usual), [1, 3, 5]);
    assert!(received.is_pending());
    // And the last one in time.
    assert_eq!(received.timer(), Some(at(25)));
    assert!(!received.is_due(at(24)) && received.is_due(at(25)));
    received.on_ack_sent();
    assert_eq!((received.timer(), received.is_pending()), (None, false));
}

/// RFC 9000 section 13.2.1: the delay counts from the first packet not acknowledged.
#[test]
fn the_delay_counts_from_the_first_packet() {
    let mut received = Received::new(Space::Data);
    for number in 0..3 {
        received.on_packet(at(number), number, true, Ecn::NotEct, &frequency(10, 1));
    }
    assert_eq!(received.timer(), Some(at(25)));
}

/// RFC 9000 section 13.2.1: "An endpoint MUST acknowledge all ack-eliciting Initial and Handshake packets immediately".
#[test]
fn packets_of_the_handshake_are_acknowledged_at_once() {
    for space in [Space::Initial, Space::Handshake] {
        let mut received = Received::new(space);
        assert_eq!(received.due_after(&[0, 1, 2], &AckFrequency::new(DELAY)), [0, 1, 2]);
    }
}

/// RFC 9000 section 13.2.1: packets that ask for none cause no acknowledgement, but go along with the next one.
#[test]
fn packets_that_ask_for_none_cause_no_acknowledgement() {
    let usual = AckFrequency::new(DELAY);
    let mut received = Received::new(Space::Data);
    for number in 0..11 {
        assert!(!received.is_pending());
        // Not even out of order, or marked.
        received.on_packet(at(0), 2 * number, false, Ecn::Ce, &usual);
    }
    assert!(received.is_pending() && !received.is_due(at(1_000)));
    assert_eq!(received.timer(), None);
}

/// RFC 9000 section 13.2.1: a packet after a gap, and one that comes late.
#[test]
fn reordered_packets_are_acknowledged_at_once() {
    let every = frequency(100, 1);
    let mut received = Received::new(Space::Data);
    assert_eq!(received.due_after(&[0, 1, 3, 4, 2, 5, 7, 8, 6, 9], &every), [3, 2, 7, 6]);
    let mut received = Received::new(Space::Data);
    assert_eq!(received.due_after(&[1, 0, 2], &every), [1, 0], "the first may be missing");
    // What asks for no acknowledgement leaves no gap.
    received.on_packet(at(0), 3, false, Ecn::NotEct, &every);
    assert_eq!(received.due_after(&[4], &every), [0; 0]);
}

/// The example of draft-ietf-quic-ack-frequency section 6.2.1, with a threshold of 3: packets 0, 1, 3, 4, 5, 8, 9, 10 are
/// acknowledged at once at 5 (2 is missing), at 9 (6), and at 10 (7).
#[test]
fn a_reordering_threshold_reports_what_the_peer_can_declare_lost() {
    let mut received = Received::new(Space::Data);
    let three = frequency(100, 3);
    assert_eq!(received.due_after(&[0, 1, 3, 4, 5, 8, 9, 10], &three), [5, 9, 10]);
    let mut received = Received::new(Space::Data);
    let never = frequency(100, 0);
    assert_eq!(received.due_after(&[0, 5, 3, 20, 7], &never), [0; 0]);
}

/// RFC 9000 section 13.2.1; draft-ietf-quic-ack-frequency section 6.4: of a row of marks only the first.
#[test]
fn marks_are_reported_at_once() {
    let marks = [Ecn::Ect0, Ecn::Ce, Ecn::Ce, Ecn::Ect0, Ecn::Ce];
    for (is_requested, expected) in
        [(false, [false, true, true, false, true]), (true, [false, true, false, false, true])]
    {
        let mut received = Received::new(Space::Data);
        let frequency = AckFrequency { is_requested, ..frequency(100, 1) };
        let due: Vec<bool> =
            (0..).zip(marks).map(|(number, ecn)| received.take(number, ecn, &frequency)).collect();
        assert_eq!(due, expected);
        let ecn = received.ack_frame(at(0), 100, 3).unwrap().ecn;
        assert_eq!(ecn.as_deref(), Some(&EcnCounts { ect0: 2, ect1: 0, ce: 3 }));
    }
}

#[test]
fn an_immediate_ack_is_due_at_once() {
    let mut received = Received::new(Space::Data);
    received.on_packet(at(0), 0, true, Ecn::NotEct, &frequency(10, 1));
    received.on_immediate_ack();
    assert!(received.is_due(at(0)));
}

/// RFC 9000 section 19.3: microseconds, shifted by the exponent.
#[test]
fn the_frame_tells_how_long_the_largest_packet_waited() {
    let mut received = Received::new(Space::Data);
    assert_eq!(received.ack_frame(at(0), 100, 3), None);
    received.on_packet(at(10), 5, true, Ecn::NotEct, &frequency(10, 0));
    received.on_packet(at(12), 3, true, Ecn::NotEct, &frequency(10, 0));
    let ack = received.ack_frame(at(18), 100, 3).unwrap();
    assert_eq!((ack.delay, ack.largest(), ack.ecn), (1_000, 5, None));
    assert_eq!(received.reported(), [(5, 5), (3, 3)]);
}

#[test]
fn as_many_ranges_are_reported_as_fit() {
    let mut received = Received::new(Space::Data);
    let numbers: Vec<u64> = (0..10).map(|index| 100 * index).collect();
    received.due_after(&numbers, &frequency(100, 0));
    // Type, largest (2), delay, count, first range; two bytes for a gap of 98 and one for a range.
    for (room, ranges) in [(5, None), (6, Some(1)), (8, Some(1)), (9, Some(2)), (1_000, Some(10))] {
        let ack = received.ack_frame(at(0), room, 3);
        assert_eq!(ack.map(|ack| ack.ranges.len()), ranges, "{room} bytes");
    }
}

/// RFC 9000 sections 13.2.3 and 13.2.4.
#[test]
fn ranges_are_dropped_once_their_report_has_arrived() {
    let mut received = Received::new(Space::Data);
    let lazy = frequency(100, 0);
    received.due_after(&[0, 1, 2, 5, 6, 9], &lazy);
    received.on_ack_acked(5);
    assert_eq!(received.reported(), [(9, 9), (6, 6)]);
    received.on_ack_acked(9);
    assert_eq!(received.reported(), [(9, 9)], "the largest stays");
    // What comes late is new, and is reported.
    assert!(received.is_duplicate(1) && received.is_duplicate(5) && !received.is_duplicate(3));
    received.due_after(&[3], &lazy);
    assert_eq!(received.reported(), [(9, 9), (3, 3)]);
    assert_eq!(received.largest(), Some(9));
}

#[test]
fn no_more_than_64_ranges_are_reported() {
    let mut received = Received::new(Space::Data);
    let numbers: Vec<u64> = (0..100).map(|index| 2 * index).collect();
    received.due_after(&numbers[..16], &frequency(1_000, 0));
    assert!(received.has_many_ranges());
    received.due_after(&numbers[16..], &frequency(1_000, 0));
    assert_eq!((received.reported().len(), received.reported()[63]), (64, (72, 72)));
    assert!(received.is_duplicate(0) && !received.is_duplicate(1));
}

/// RFC 9000 section 13.2.3: what is too old to tell counts as a duplicate.
#[test]
fn old_packets_count_as_duplicates() {
    let mut received = Received::new(Space::Data);
    let numbers: Vec<u64> = (0..2_000).map(|index| 2 * index).collect();
    received.due_after(&numbers, &frequency(10_000, 0));
    // 1,024 ranges are left, of which the first begins with 2 * (2,000 - 1,024).
    assert!(received.is_duplicate(1_949) && !received.is_duplicate(1_953));
}

proptest! {
    /// No packet is taken in twice, and every one is reported until its report is known to have arrived.
    #[test]
    fn whatever_arrives_is_reported(
        steps in prop::collection::vec((0_u64..60, 0_u64..30), 1..200),
    ) {
        let mut received = Received::new(Space::Data);
        let (mut seen, mut floor) = (std::collections::BTreeSet::new(), 0);
        let mut late = std::collections::BTreeSet::new();
        for (number, arrived) in steps {
            prop_assert_eq!(received.is_duplicate(number), seen.contains(&number));
            if seen.insert(number) {
                received.on_packet(at(0), number, true, Ecn::NotEct, &AckFrequency::new(DELAY));
                late.insert(number);
            }
            if arrived == 0 {
                floor = received.largest().unwrap_or(0);
                received.on_ack_acked(floor);
                late.retain(|number| *number >= floor);
            }
            let reported = received.reported();
            let covers = |number: u64| {
                reported.iter().any(|(from, to)| (*from..=*to).contains(&number))
            };
            prop_assert!((0..60).all(|number| covers(number) == late.contains(&number)));
            prop_assert!(reported.windows(2).all(|pair| pair[1].1 + 1 < pair[0].0));
        }
        prop_assert!(floor <= 60);
    }
}
