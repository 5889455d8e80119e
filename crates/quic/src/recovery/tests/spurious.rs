//! Losses that prove spurious.

use super::*;
use crate::sent_frame::SentFrame;

impl Bench {
    /// Loses packets 0 and 1 of the next five, sent at `now`; the first number.
    fn lose_two(&mut self, now: SimTime) -> u64 {
        let first = self.recovery.next_number(Space::Data).value;
        (0..5).for_each(|_| _ = self.send(now));
        let lost = self.ack(now + ms(50), &[(first + 2, first + 4)]).1;
        assert_eq!(lost, [first, first + 1]);
        first
    }

    fn undos(&self) -> (u64, u64) {
        let totals = self.control.totals(PATH);
        (totals.spurious_losses, totals.undos)
    }
}

#[test]
fn a_reduction_is_undone_when_all_its_losses_are_acknowledged() {
    let mut bench = Bench::confirmed();
    bench.lose_two(at(0));
    bench.calls();
    bench.ack(at(51), &[(0, 0), (2, 4)]);
    assert_eq!((numbers(&bench.out.late), bench.undos()), (vec![0], (1, 0)));
    assert_eq!(bench.calls(), [], "neither an acknowledgement nor a loss");
    bench.ack(at(52), &[(0, 4)]);
    assert_eq!((numbers(&bench.out.late), bench.undos()), (vec![1], (2, 1)));
    assert_eq!(bench.calls(), [Call::Spurious]);
    assert_eq!(bench.events().last().unwrap().0, "undo");
    bench.ack(at(53), &[(0, 4)]);
    assert_eq!((numbers(&bench.out.late), bench.undos()), (vec![], (2, 1)));
    assert_eq!(bench.control.totals(PATH).acked_bytes.get(), 5 * SIZE);
}

/// The content of the lost packets has arrived.
#[test]
fn late_packets_are_handed_over_with_their_contents() {
    let mut bench = Bench::confirmed();
    let carried = SentFrame::MaxData;
    bench.send_as(at(0), Space::Data, |sent| sent.carried.push(carried));
    (0..3).for_each(|_| _ = bench.send(at(0)));
    bench.ack(at(50), &[(1, 3)]);
    assert_eq!(bench.out.lost[0].carried.as_slice(), [carried]);
    bench.ack(at(51), &[(0, 3)]);
    assert_eq!(bench.out.late[0].carried.as_slice(), [carried]);
}

/// Losses found later in the same recovery period belong to the same reduction.
#[test]
fn all_losses_of_a_recovery_period_count() {
    let mut bench = Bench::confirmed();
    (0..12).for_each(|_| _ = bench.send(at(0)));
    assert_eq!(bench.ack(at(50), &[(3, 4)]).1, [0, 1]);
    assert_eq!(bench.ack(at(50), &[(3, 4), (8, 8)]).1, [2, 5]);
    bench.ack(at(51), &[(0, 4), (8, 8)]);
    assert_eq!(bench.undos(), (3, 0));
    bench.ack(at(51), &[(0, 5), (8, 8)]);
    assert_eq!(bench.undos(), (4, 1));
}

#[test]
fn old_losses_do_not_count_for_a_new_reduction() {
    let mut bench = Bench::confirmed();
    bench.lose_two(at(0));
    assert_eq!(bench.lose_two(at(60)), 5);
    // Late ones of the first reduction undo nothing any more, and do not stand in the way of the second one's undo.
    bench.ack(at(111), &[(0, 0), (7, 9)]);
    assert_eq!(bench.undos(), (1, 0));
    bench.ack(at(111), &[(5, 9)]);
    assert_eq!(bench.undos(), (3, 1));
}

/// Only the losses undo: not a mark, of the same recovery period or of one of its own.
#[test]
fn marks_justify_a_reduction() {
    let mut bench = Bench::confirmed();
    (0..5).for_each(|_| _ = bench.send_as(at(0), Space::Data, |sent| sent.ect = true));
    bench.ecn = Some(EcnCounts { ect0: 2, ect1: 0, ce: 1 });
    bench.ack(at(50), &[(2, 4)]);
    bench.ecn = Some(EcnCounts { ect0: 4, ect1: 0, ce: 1 });
    bench.ack(at(51), &[(0, 4)]);
    assert_eq!(bench.undos(), (2, 0));

    let mut bench = Bench::confirmed();
    bench.lose_two(at(0));
    bench.send_as(at(60), Space::Data, |sent| sent.ect = true);
    bench.ecn = Some(EcnCounts { ect0: 0, ect1: 0, ce: 1 });
    bench.ack(at(100), &[(2, 5)]);
    bench.ack(at(101), &[(0, 5)]);
    assert_eq!(bench.undos(), (2, 0), "the last reduction is the mark's");
}

/// A loss that is forgotten was one.
#[test]
fn losses_are_remembered_for_three_timeouts() {
    // 50 + 4 * 25 + 25 ms after the first loss; the variation is smaller by the second.
    for (later, expected) in [(400, (1, 0)), (700, (0, 0))] {
        let mut bench = Bench::confirmed();
        bench.lose_two(at(0));
        // Sent before the recovery began, lost later: the same reduction.
        bench.recovery.set_max_ack_delay(ms(25));
        let first = bench.lose_two(at(later));
        bench.ack(at(later + 51), &[(0, 0), (first + 2, first + 4)]);
        assert_eq!(bench.undos(), expected, "{later}");
    }
}

/// Spaces that are discarded take their losses with them.
#[test]
fn a_discarded_loss_is_not_spurious() {
    let mut bench = Bench::new(Role::Client);
    (0..4).for_each(|_| _ = bench.send_in(at(0), Space::Handshake));
    assert_eq!(bench.ack_in(at(50), Space::Handshake, &[(3, 3)]).1, [0]);
    (0..4).for_each(|_| _ = bench.send(at(1)));
    assert_eq!(bench.ack(at(51), &[(3, 3)]).1, [0]);
    bench.recovery.discard(at(52), Space::Handshake);
    bench.ack(at(53), &[(0, 3)]);
    assert_eq!(bench.undos(), (1, 0), "one recovery period, of which a loss is forgotten");
}

/// Acknowledgements repeat their ranges. What lies between them, or comes to be lost later, is still found.
#[test]
fn repeated_ranges_hide_no_late_packet() {
    let mut bench = Bench::confirmed();
    (0..20).for_each(|_| _ = bench.send(at(0)));
    assert_eq!(bench.ack(at(50), &[(3, 4), (8, 9)]).1, [0, 1, 2, 5, 6]);
    bench.ack(at(51), &[(1, 1), (3, 4), (8, 9)]);
    assert_eq!(numbers(&bench.out.late), [1]);
    bench.ack(at(52), &[(1, 1), (3, 4), (6, 6), (8, 9)]);
    assert_eq!(numbers(&bench.out.late), [6]);
    assert_eq!(bench.ack(at(53), &[(1, 1), (3, 4), (6, 6), (8, 9), (15, 15)]).1, [7, 10, 11, 12]);
    bench.ack(at(54), &[(1, 1), (3, 4), (6, 9), (11, 11), (15, 15)]);
    assert_eq!(numbers(&bench.out.late), [7, 11]);
    bench.ack(at(55), &[(0, 15)]);
    assert_eq!(numbers(&bench.out.late), [0, 2, 5, 10, 12]);
}
