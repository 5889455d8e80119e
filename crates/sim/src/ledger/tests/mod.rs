mod cancellations;

use leobench_base::packet::Datagram;
use leobench_base::{Bytes, RngTree, SimDuration, SimTime};
use leobench_transport::buffer::Message;
use leobench_transport::endpoint::Report;
use proptest::prelude::*;

use super::stream::StreamLedger;
use super::{Cancellations, FlowLedger, Statistics};
use crate::record::MessageRow;

const NONE: [u64; 0] = [];

fn ms(millis: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_millis(millis)
}

fn message(size: u64, created: SimTime) -> Message {
    Message { size: Bytes::new(size), created }
}

fn delivered(stream: usize, offset: u64) -> Report {
    Report::Delivered { stream: stream.into(), offset }
}

fn part(message: u64, payload: u64) -> Datagram {
    Datagram { message, id: 0, stream: 0.into(), payload: payload as u32 }
}

fn datagram(message: u64, payload: u64) -> Report {
    Report::Datagram { datagram: part(message, payload), is_marked: false }
}

/// The numbers of the messages a report completes.
fn completes(ledger: &mut FlowLedger, now: SimTime, report: Report) -> Vec<u64> {
    let mut finished = Vec::new();
    ledger.report(now, report, &mut finished);
    assert!(finished.iter().all(|row| row.delivered == Some(now)));
    finished.iter().map(|row| row.number).collect()
}

fn lose(ledger: &mut FlowLedger, message: u64) -> Vec<MessageRow> {
    let mut finished = Vec::new();
    ledger.lost(ms(1), 0.into(), message, &mut finished);
    finished
}

#[test]
fn messages_end_where_their_sizes_add_up_to() {
    let mut ledger = FlowLedger::new(1, SimTime::ZERO);
    for (number, size) in [100, 50, 25].into_iter().enumerate() {
        assert_eq!(ledger.created(0.into(), message(size, ms(1))), number as u64);
    }
    assert_eq!(completes(&mut ledger, ms(2), delivered(0, 99)), NONE);
    assert_eq!(completes(&mut ledger, ms(3), delivered(0, 160)), [0, 1]);
    assert!(!ledger.is_drained());
    assert_eq!(completes(&mut ledger, ms(4), delivered(0, 175)), [2]);
    assert!(ledger.is_drained());
    assert_eq!(ledger.created(0.into(), message(7, ms(5))), 3);
}

#[test]
fn messages_take_memory_until_all_before_them_are_done_with() {
    let mut ledger = FlowLedger::new(2, SimTime::ZERO);
    for stream in [0, 0, 0, 1] {
        ledger.created(stream.into(), message(100, ms(1)));
    }
    assert_eq!(ledger.kept(), 4);
    lose(&mut ledger, 1);
    assert_eq!(completes(&mut ledger, ms(2), datagram(2, 100)), [2]);
    assert_eq!((ledger.kept(), ledger.is_drained()), (4, false), "message 0 is under way");
    assert_eq!(completes(&mut ledger, ms(3), datagram(0, 100)), [0]);
    assert_eq!(ledger.kept(), 1);
    completes(&mut ledger, ms(4), delivered(1, 100));
    assert_eq!((ledger.kept(), ledger.is_drained()), (0, true));
}

#[test]
fn a_row_tells_when_the_first_byte_was_sent() {
    let mut ledger = FlowLedger::new(1, SimTime::ZERO);
    let mut finished = Vec::new();
    for _ in 0..3 {
        ledger.created(0.into(), message(100, ms(1)));
    }
    // Byte 100, the first of the second message, leaves with the second report.
    for (at, offset) in [(2, 100), (3, 101), (4, 150)] {
        ledger.report(ms(at), Report::Sent { stream: 0.into(), offset }, &mut finished);
    }
    ledger.report(ms(9), delivered(0, 150), &mut finished);
    finished.extend(ledger.take_open(SimTime::MAX));
    let times: Vec<_> = finished.iter().map(|row| (row.first_sent, row.delivered)).collect();
    assert_eq!(
        times,
        [(Some(ms(2)), Some(ms(9))), (Some(ms(3)), None), (None, None)],
        "delivered, partly delivered, never sent"
    );
    assert_eq!(finished[1].size, Bytes::new(100));
}

/// Delays of 10, 14, 11 and 11 ms in order of delivery change by 4, 3 and 0.
#[test]
fn jitter_is_the_mean_change_of_delay_in_order_of_delivery() {
    let mut ledger = FlowLedger::new(2, SimTime::ZERO);
    for (stream, created) in [(0, 0), (1, 2), (0, 7), (1, 8)] {
        ledger.created(stream.into(), message(10, ms(created)));
    }
    for (at, stream, offset) in [(10, 0, 10), (16, 1, 10), (18, 0, 20), (19, 1, 20)] {
        completes(&mut ledger, ms(at), delivered(stream, offset));
    }
    assert_eq!(ledger.statistics().jitter_ns(), Some(7e6 / 3.0));
    let streams: Vec<_> = ledger.streams().map(Statistics::jitter_ns).collect();
    assert_eq!(streams, [Some(1e6), Some(3e6)], "10 to 11 ms, and 14 to 11 ms");
    assert_eq!(ledger.statistics().delay().mean(), Some(11.5e6));
    assert_eq!(ledger.statistics().delay().max(), Some(14_000_000));
}

#[test]
fn one_message_has_no_jitter() {
    let mut ledger = FlowLedger::new(1, SimTime::ZERO);
    assert_eq!(ledger.statistics().jitter_ns(), None);
    ledger.created(0.into(), message(10, ms(0)));
    completes(&mut ledger, ms(1), delivered(0, 10));
    assert_eq!(ledger.statistics().jitter_ns(), None);
}

/// A terabyte of which 125 MB arrive between 1 s and 11 s: 100 Mbit/s.
#[test]
fn a_transfer_cut_short_has_a_goodput_and_no_delay() {
    let mut ledger = FlowLedger::new(1, SimTime::ZERO);
    assert_eq!(ledger.statistics().goodput_bps(ms(1_000)), None);
    ledger.created(0.into(), message(1_000_000_000_000, ms(1_000)));
    assert_eq!(ledger.statistics().goodput_bps(ms(1_000)), Some(0.0));
    for tenth in 1..=100 {
        let offset = tenth * 1_250_000;
        assert_eq!(completes(&mut ledger, ms(1_000 + tenth * 100), delivered(0, offset)), NONE);
    }
    let statistics = ledger.statistics();
    assert_eq!(statistics.goodput_bps(ms(11_000)), Some(100e6));
    assert_eq!(statistics.goodput_bps(ms(21_000)), Some(50e6), "dead for as long again");
    assert_eq!((statistics.messages(), statistics.undelivered()), (1, 1));
    assert_eq!((statistics.delay().count(), statistics.completion()), (0, None));
}

#[test]
fn a_transfer_completes_with_its_last_byte() {
    let mut ledger = FlowLedger::new(1, SimTime::ZERO);
    ledger.created(0.into(), message(1_000, ms(0)));
    completes(&mut ledger, ms(30), delivered(0, 999));
    assert_eq!(ledger.statistics().completion(), None);
    completes(&mut ledger, ms(40), delivered(0, 1_000));
    completes(&mut ledger, ms(50), delivered(0, 1_000));
    assert_eq!(ledger.statistics().completion(), Some(ms(40)));
}

/// Warm-up to 100 ms. Delays count messages created from then on: the last two, with 20 and 30 ms. Goodput counts
/// what arrives from then on: 300 bytes in the 150 - 100 ms up to the last delivery.
#[test]
fn the_warm_up_is_left_out() {
    let mut ledger = FlowLedger::new(1, ms(100));
    for created in [0, 90, 100, 120] {
        ledger.created(0.into(), message(100, ms(created)));
    }
    for (at, offset) in [(60, 100), (115, 200), (120, 300), (150, 400)] {
        completes(&mut ledger, ms(at), delivered(0, offset));
    }
    let statistics = ledger.statistics();
    assert_eq!((statistics.messages(), statistics.undelivered()), (2, 0));
    assert_eq!(statistics.delay().mean(), Some(25e6));
    assert_eq!(statistics.jitter_ns(), Some(10e6));
    assert_eq!(statistics.goodput_bps(ms(999)), Some(2_400.0 / 0.05));
    assert_eq!(statistics.completion(), Some(ms(150)));
}

/// A deadline of 10 ms on the first of two streams, a warm-up of 100 ms, and an end at 200 ms.
#[test]
fn messages_that_miss_their_deadline_are_late() {
    let deadlines = [Some(SimDuration::from_millis(10)), None];
    let mut ledger = FlowLedger::new(2, ms(100)).with_deadlines(deadlines);
    for created in [50, 100, 110, 130, 189, 190, 191] {
        ledger.created(0.into(), message(10, ms(created)));
    }
    ledger.created(1.into(), message(10, ms(100)));
    let late = |ledger: &FlowLedger| ledger.streams().map(Statistics::late).collect::<Vec<_>>();
    for (at, offset, expected) in [(99, 10, 0), (110, 20, 0), (121, 30, 1), (139, 40, 1)] {
        completes(&mut ledger, ms(at), delivered(0, offset));
        assert_eq!(late(&ledger), [Some(expected), None], "at {at} ms");
    }
    completes(&mut ledger, ms(199), delivered(1, 10));
    // Of the three that have not arrived, two should have by now; of the third nobody can know.
    assert_eq!(ledger.take_open(ms(200)).count(), 3);
    assert_eq!(late(&ledger), [Some(3), None]);
    assert_eq!(ledger.statistics().late(), None, "a flow has no deadline of its own");
}

#[test]
fn what_is_lost_is_late() {
    let deadlines = [Some(SimDuration::from_millis(10))];
    let mut ledger = FlowLedger::new(1, ms(5)).with_deadlines(deadlines);
    for created in [0, 5] {
        ledger.created(0.into(), message(10, ms(created)));
    }
    for number in [0, 1] {
        lose(&mut ledger, number);
        lose(&mut ledger, number);
    }
    assert_eq!(ledger.streams().next().unwrap().late(), Some(1), "the other is of the warm-up");
    assert_eq!(ledger.take_open(ms(999)).count(), 0);
    assert_eq!(ledger.streams().next().unwrap().late(), Some(1));
}

#[test]
fn an_unreliable_message_is_delivered_when_all_its_datagrams_are() {
    let mut ledger = FlowLedger::new(1, SimTime::ZERO);
    for _ in 0..2 {
        ledger.created(0.into(), message(150, ms(0)));
    }
    assert_eq!(completes(&mut ledger, ms(1), datagram(0, 100)), NONE);
    // The second message overtakes the rest of the first.
    assert_eq!(completes(&mut ledger, ms(2), datagram(1, 50)), NONE);
    assert_eq!(completes(&mut ledger, ms(3), datagram(1, 100)), [1]);
    assert_eq!(completes(&mut ledger, ms(4), datagram(0, 50)), [0]);
    assert!(ledger.is_drained());
    assert_eq!(ledger.statistics().undelivered(), 0);
    assert_eq!(ledger.statistics().completion(), Some(ms(4)));
}

#[test]
fn a_dropped_datagram_loses_its_message_once() {
    let mut ledger = FlowLedger::new(1, SimTime::ZERO);
    for _ in 0..2 {
        ledger.created(0.into(), message(150, ms(0)));
    }
    let mut finished = Vec::new();
    ledger.report(ms(1), Report::Sent { stream: 0.into(), offset: 300 }, &mut finished);
    let lost = lose(&mut ledger, 0);
    assert_eq!(lost.len(), 1);
    assert_eq!((lost[0].number, lost[0].first_sent, lost[0].delivered), (0, Some(ms(1)), None));
    assert_eq!(lose(&mut ledger, 0), [], "its other datagram was dropped as well");
    assert_eq!(completes(&mut ledger, ms(2), datagram(1, 150)), [1]);
    assert_eq!(completes(&mut ledger, ms(8), datagram(0, 50)), NONE, "arrives in vain");
    assert!(ledger.is_drained());
    let statistics = ledger.statistics();
    assert_eq!((statistics.messages(), statistics.undelivered()), (2, 1));
    assert_eq!(statistics.completion(), None);
    // All 200 payload bytes that arrived count, the useless ones included.
    assert_eq!(statistics.goodput_bps(ms(999)), Some(1_600.0 / 0.008));
}

/// 600 s of 10,000 messages a second, 1 % lost, 50 always on their way: no more than those take memory.
/// The sender takes a message for lost, for good or not.
fn doubt(ledger: &mut FlowLedger, now: SimTime, message: u64, dropped: bool) -> Vec<u64> {
    let mut finished = Vec::new();
    let report = Report::Lost { datagram: part(message, 1), dropped };
    assert_eq!(ledger.report(now, report, &mut finished), 0);
    assert!(finished.iter().all(|row| row.delivered.is_none()));
    finished.iter().map(|row| row.number).collect()
}

fn sent(ledger: &mut FlowLedger, now: SimTime, offset: u64) {
    completes(ledger, now, Report::Sent { stream: 0.into(), offset });
}

#[test]
fn a_message_taken_for_lost_may_arrive_after_all() {
    let mut ledger =
        FlowLedger::new(1, SimTime::ZERO).with_deadlines([Some(SimDuration::from_secs(5))]);
    (0..3).for_each(|_| {
        ledger.created(0.into(), message(200, ms(1)));
    });
    sent(&mut ledger, ms(2), 600);
    assert_eq!(completes(&mut ledger, ms(3), datagram(0, 100)), NONE);
    assert_eq!(doubt(&mut ledger, ms(10), 0, false), NONE);
    assert_eq!(doubt(&mut ledger, ms(11), 0, false), NONE, "once");
    assert_eq!(doubt(&mut ledger, ms(12), 1, false), NONE);
    assert!(!ledger.is_drained());
    assert_eq!(completes(&mut ledger, ms(20), datagram(2, 200)), [2]);
    assert!(ledger.is_drained(), "nobody waits for the other two");
    assert_eq!((ledger.statistics().late(), ledger.kept()), (Some(2), 3));
    assert_eq!(completes(&mut ledger, ms(30), datagram(0, 100)), [0]);
    assert!(ledger.is_drained());
    let statistics = ledger.statistics();
    assert_eq!((statistics.late(), statistics.undelivered()), (Some(1), 1));
    let open: Vec<_> = ledger.take_open(ms(9_000)).map(|row| (row.number, row.delivered)).collect();
    assert_eq!((open, ledger.statistics().late()), (vec![(1, None)], Some(1)));
}

#[test]
fn lost_messages_are_forgotten_ten_seconds_after_they_were_sent() {
    let mut ledger = FlowLedger::new(1, SimTime::ZERO);
    for number in 0..10_000 {
        let now = ms(10 * number);
        ledger.created(0.into(), message(100, now));
        sent(&mut ledger, now, 100 * (number + 1));
        doubt(&mut ledger, now, number, false);
        assert!(ledger.kept() <= 1_002, "{}", ledger.kept());
    }
    // One that is not remembered any more arrives in vain.
    assert_eq!(completes(&mut ledger, ms(100_000), datagram(8_000, 100)), NONE);
    assert_eq!(completes(&mut ledger, ms(100_000), datagram(9_500, 100)), [9_500]);
    assert_eq!((ledger.statistics().undelivered(), ledger.is_drained()), (9_999, true));
}

#[test]
fn a_message_that_its_sender_dropped_is_lost_for_good() {
    let mut ledger = FlowLedger::new(2, SimTime::ZERO);
    (0..3).for_each(|_| {
        ledger.created(0.into(), message(200, ms(1)));
    });
    assert_eq!(doubt(&mut ledger, ms(10), 0, true), [0]);
    sent(&mut ledger, ms(20), 500);
    assert_eq!(doubt(&mut ledger, ms(30), 2, false), NONE);
    assert_eq!(doubt(&mut ledger, ms(31), 2, true), [2], "a part on its way, and the rest dropped");
    assert_eq!(completes(&mut ledger, ms(40), datagram(2, 100)), NONE);
    assert_eq!(completes(&mut ledger, ms(41), datagram(1, 200)), [1]);
    assert_eq!((ledger.kept(), ledger.is_drained()), (0, true));
    assert_eq!(ledger.statistics().settled(), Some(ms(41)));
}

#[test]
fn losses_do_not_accumulate() {
    let mut ledger = FlowLedger::new(1, SimTime::ZERO);
    let mut rng = RngTree::new(1).child("losses").rng();
    let mut finished = Vec::new();
    let mut losses = 0;
    for number in 0..600_000 {
        ledger.created(0.into(), message(1_000, SimTime::from_nanos(number * 100_000)));
        if let Some(old) = number.checked_sub(50) {
            finished.clear();
            if rng.bernoulli(0.01) {
                let now = SimTime::from_nanos(number * 100_000);
                ledger.lost(now, 0.into(), old, &mut finished);
                losses += 1;
            } else {
                let now = SimTime::from_nanos(number * 100_000);
                ledger.report(now, datagram(old, 1_000), &mut finished);
            }
            assert_eq!(finished.len(), 1);
        }
    }
    let open: &StreamLedger = &ledger.streams[0];
    assert!(open.open.len() <= 50 && open.open.capacity() <= 128, "{}", open.open.capacity());
    assert_eq!(ledger.statistics().undelivered(), losses + 50);
}

#[test]
#[should_panic(expected = "byte 101 delivered outside of 0..=100")]
fn delivering_what_was_never_created_is_a_bug() {
    let mut ledger = FlowLedger::new(1, SimTime::ZERO);
    ledger.created(0.into(), message(100, ms(0)));
    completes(&mut ledger, ms(1), delivered(0, 101));
}

#[test]
#[should_panic(expected = "byte 49 delivered outside of 50..=100")]
fn delivering_twice_is_a_bug() {
    let mut ledger = FlowLedger::new(1, SimTime::ZERO);
    ledger.created(0.into(), message(100, ms(0)));
    completes(&mut ledger, ms(1), delivered(0, 50));
    completes(&mut ledger, ms(2), delivered(0, 49));
}

#[test]
#[should_panic(expected = "more of message 0 arrived than was sent")]
fn a_duplicated_datagram_is_a_bug() {
    let mut ledger = FlowLedger::new(1, SimTime::ZERO);
    ledger.created(0.into(), message(100, ms(0)));
    for _ in 0..2 {
        completes(&mut ledger, ms(1), datagram(0, 60));
    }
}

proptest! {
    /// Random sizes on two streams, sent and delivered up to random offsets at random moments: every message comes
    /// out once, in order, at the first moment its last byte has arrived.
    #[test]
    fn every_message_is_delivered_once_and_in_order(
        sizes in prop::collection::vec((0..2_usize, 1..5_000_u64), 1..200),
        steps in prop::collection::vec((0..2_usize, 0.0..1.0_f64, 0.0..1.0_f64), 0..200),
    ) {
        let mut ledger = FlowLedger::new(2, SimTime::ZERO);
        let mut ends: [Vec<u64>; 2] = Default::default();
        for (stream, size) in &sizes {
            let end = ends[*stream].last().unwrap_or(&0) + size;
            prop_assert_eq!(ledger.created((*stream).into(), message(*size, ms(0))), ends[*stream].len() as u64);
            ends[*stream].push(end);
        }
        let totals = ends.clone().map(|ends| ends.last().copied().unwrap_or(0));
        let mut sent = [0; 2];
        let mut arrived = [0; 2];
        let mut rows: [Vec<MessageRow>; 2] = Default::default();
        let mut finished = Vec::new();
        let everything = [(0, 1.0, 1.0), (1, 1.0, 1.0)];
        for (step, (stream, send, deliver)) in steps.into_iter().chain(everything).enumerate() {
            let now = ms(step as u64 + 1);
            let advance = |from: u64, to: u64, share: f64| from + ((to - from) as f64 * share) as u64;
            sent[stream] = advance(sent[stream], totals[stream], send);
            arrived[stream] = advance(arrived[stream], sent[stream], deliver);
            ledger.report(now, Report::Sent { stream: stream.into(), offset: sent[stream] }, &mut finished);
            ledger.report(now, delivered(stream, arrived[stream]), &mut finished);
            for row in finished.drain(..) {
                prop_assert_eq!(row.stream.index(), stream);
                prop_assert_eq!(row.delivered, Some(now));
                prop_assert!(row.first_sent.is_some());
                rows[stream].push(row);
            }
            let complete = ends[stream].iter().filter(|end| **end <= arrived[stream]).count();
            prop_assert_eq!(rows[stream].len(), complete);
        }
        prop_assert!(ledger.is_drained());
        for stream in 0..2 {
            let mut offset = 0;
            for (number, row) in rows[stream].iter().enumerate() {
                offset += row.size.get();
                prop_assert_eq!(row.number, number as u64);
                prop_assert_eq!(offset, ends[stream][number]);
            }
        }
        prop_assert_eq!(ledger.statistics().delay().count(), sizes.len() as u64);
        prop_assert_eq!(ledger.take_open(SimTime::MAX).count(), 0);
    }

    /// Unreliable messages of one to five datagrams, arriving or dropped in any order: each comes out once, delivered
    /// exactly if nothing of it was dropped.
    #[test]
    fn every_unreliable_message_has_one_fate(
        messages in prop::collection::vec(prop::collection::vec(prop::bool::weighted(0.9), 1..5), 1..60),
        seed: u64,
    ) {
        let mut ledger = FlowLedger::new(1, SimTime::ZERO);
        let mut pieces = Vec::new();
        for (number, arrives) in messages.iter().enumerate() {
            ledger.created(0.into(), message(arrives.len() as u64 * 10, ms(0)));
            pieces.extend(arrives.iter().map(|arrives| (number as u64, *arrives)));
        }
        let mut rng = RngTree::new(seed).rng();
        let mut finished = Vec::new();
        while !pieces.is_empty() {
            let (number, arrives) = pieces.swap_remove(rng.below(pieces.len() as u64) as usize);
            if arrives {
                ledger.report(ms(1), datagram(number, 10), &mut finished);
            } else {
                ledger.lost(ms(1), 0.into(), number, &mut finished);
            }
        }
        prop_assert!(ledger.is_drained());
        finished.sort_by_key(|row| row.number);
        prop_assert_eq!(finished.len(), messages.len());
        for (number, (row, arrives)) in finished.iter().zip(&messages).enumerate() {
            prop_assert_eq!(row.number, number as u64);
            prop_assert_eq!(row.delivered.is_some(), arrives.iter().all(|arrives| *arrives));
        }
    }
}
