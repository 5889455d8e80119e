//! Messages that their sender cancels: in streams of their own, and in one that they share.

use super::*;

/// Messages in streams of their own are delivered in any order, each by its stream's number. Of those that are cancelled, only one that
/// was sent in full may still arrive.
#[test]
fn cancelled_messages_are_counted_with_their_bytes() {
    let mut ledger = FlowLedger::new(1, SimTime::ZERO)
        .with_deadlines([Some(SimDuration::from_millis(50))])
        .with_cancellations([true]);
    (0..5).for_each(|_| {
        ledger.created(0.into(), message(200, ms(1)));
    });
    // The third is cancelled before it has a stream.
    for (number, message) in [(0, 0), (1, 1), (2, 3), (3, 4)] {
        let opened = Report::Opened { stream: 0.into(), message, number };
        assert_eq!(completes(&mut ledger, ms(1), opened), NONE);
    }
    let part = |number, bytes| Report::Part { number, bytes };
    assert_eq!(completes(&mut ledger, ms(2), part(0, 150)), NONE);
    assert_eq!(completes(&mut ledger, ms(3), part(2, 200)), [3]);
    sent(&mut ledger, ms(4), 1_000);
    let mut cancel = |message, sent| {
        let mut rows = Vec::new();
        ledger.report(ms(51), Report::Cancelled { stream: 0.into(), message, sent }, &mut rows);
        assert!(rows.iter().all(|row| row.delivered.is_none()));
        rows.len()
    };
    // The fourth was delivered, of which its sender does not know yet.
    assert_eq!([cancel(0, 200), cancel(1, 120), cancel(2, 0), cancel(3, 200)], [0, 1, 1, 0]);
    let counts = |messages, sent, in_time| Cancellations { messages, sent, unsent: 280, in_time };
    assert_eq!(ledger.statistics().cancellations(), Some(&counts(3, 320, 1)));
    assert!(!ledger.is_drained());
    assert_eq!(completes(&mut ledger, ms(60), part(0, 50)), [0]);
    assert_eq!(completes(&mut ledger, ms(60), part(1, 100)), NONE);
    assert_eq!(completes(&mut ledger, ms(70), part(3, 200)), [4]);
    let statistics = ledger.statistics();
    assert_eq!(statistics.cancellations(), Some(&counts(2, 120, 1)));
    assert_eq!((statistics.late(), statistics.undelivered()), (Some(4), 2));
    assert!(ledger.is_drained() && ledger.kept() == 0);
}

/// Of messages of 100, 80 and 50 bytes, the sender drops the last 60 of the second: the third ends at byte 170.
#[test]
fn the_messages_behind_one_that_was_cut_begin_earlier() {
    let mut ledger = FlowLedger::new(1, SimTime::ZERO);
    for size in [100, 80, 50] {
        ledger.created(0.into(), message(size, ms(1)));
    }
    sent(&mut ledger, ms(2), 120);
    assert_eq!(completes(&mut ledger, ms(3), delivered(0, 110)), [0]);
    let mut rows = Vec::new();
    ledger.report(ms(4), Report::Cancelled { stream: 0.into(), message: 1, sent: 20 }, &mut rows);
    assert_eq!((rows.len(), rows[0].number, rows[0].delivered), (1, 1, None));
    assert_eq!(ledger.progress(ms(5), delivered(0, 120)), Some(10), "of the second");
    sent(&mut ledger, ms(6), 170);
    assert_eq!(completes(&mut ledger, ms(7), delivered(0, 169)), NONE);
    assert_eq!(completes(&mut ledger, ms(8), delivered(0, 170)), [2]);
    let statistics = ledger.statistics();
    assert_eq!((statistics.undelivered(), statistics.cancellations()), (1, None));
    assert!(ledger.is_drained() && ledger.kept() == 0);
}
