use leobench_base::BitRate;
use leobench_transport::buffer::Message;
use leobench_transport::endpoint::Report;

use super::*;
use crate::ledger::FlowLedger;

const WARM_UP: SimTime = SimTime::from_nanos(1_000_000_000);
const END: SimTime = SimTime::from_nanos(11_000_000_000);
/// A megabit.
const SIZE: Bytes = Bytes::new(125_000);

fn millis(millis: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_millis(millis)
}

/// A ledger with one transfer of a megabit, created at a time, of which so much is delivered at another.
fn ledger(start: u64, delivered: Option<(u64, u64)>) -> FlowLedger {
    let mut ledger = FlowLedger::new(1, WARM_UP);
    ledger.created(0.into(), Message { size: SIZE, created: millis(start) });
    if let Some((at, offset)) = delivered {
        ledger.report(millis(at), Report::Delivered { stream: 0.into(), offset }, &mut Vec::new());
    }
    ledger
}

fn transfer(ledger: &FlowLedger, pair: usize, transport: usize) -> TransferInput<'_> {
    TransferInput {
        pair,
        transport,
        hops: Some(pair),
        size: Some(SIZE),
        statistics: ledger.statistics(),
        offer: Some(FirstOffer {
            base_rtt: SimDuration::from_millis(100),
            bottleneck: Some(BitRate::from_bps(10_000_000)),
        }),
        slowest_hop: None,
    }
}

fn summary(transfers: Vec<TransferInput<'_>>) -> TrafficSummary {
    let transport = |name| TransportInput { name, transport: "tcp", congestion: Some("cubic") };
    TrafficSummary::new(&TrafficInput {
        pairs: vec![["a", "b"], ["b", "a"]],
        transports: vec![transport("one"), transport("two")],
        transfers,
        warm_up: WARM_UP,
        end: END,
    })
}

/// A megabit over a laser of 2.5 Mbit/s takes 400 ms, and the round trip 100 ms: half of the 1,000 ms that it took.
#[test]
fn the_ideal_knows_the_rates_of_lasers() {
    let ledger = ledger(2_000, Some((3_000, SIZE.get())));
    let slowest_hop = Some(BitRate::from_bps(2_500_000));
    let of_pair = summary(vec![TransferInput { slowest_hop, ..transfer(&ledger, 0, 0) }]);
    assert_eq!(of_pair.all.slowdown.p50, Some(2.0));
}

/// A megabit at 10 Mbit/s takes 100 ms, and the round trip as much, so that 400 ms are twice as long as the ideal.
#[test]
fn transfers_are_added_up_by_pair_transport_and_hops() {
    let [first, second, slow] = [(2_000, 2_400), (3_000, 3_800), (4_000, 4_200)]
        .map(|(start, end)| ledger(start, Some((end, SIZE.get()))));
    let traffic =
        summary(vec![transfer(&first, 0, 0), transfer(&second, 0, 1), transfer(&slow, 1, 1)]);
    assert_eq!((traffic.all.started, traffic.all.completed), (3, 3));
    assert_eq!(traffic.all.delivered_bytes, 3 * SIZE.get());
    assert_eq!(traffic.all.goodput_bps, Some(300_000.0), "three megabits in ten seconds");
    let of_pair = &traffic.pairs[0].transfers;
    assert_eq!((traffic.pairs[0].sender.as_str(), traffic.pairs[0].receiver.as_str()), ("a", "b"));
    assert_eq!((of_pair.completion_ms.p50, of_pair.completion_ms.max), (Some(400.0), Some(800.0)));
    assert_eq!((of_pair.slowdown.p50, of_pair.slowdown.mean), (Some(2.0), Some(3.0)));
    assert_eq!(traffic.pairs[1].transfers.slowdown.p99, Some(1.0));
    let by_transport: Vec<_> = traffic.transports.iter().map(|it| it.transfers.started).collect();
    assert_eq!(by_transport, [1, 2]);
    let by_hops: Vec<_> = traffic.hops.iter().map(|it| (it.hops, it.transfers.started)).collect();
    assert_eq!(by_hops, [(0, 2), (1, 1)]);
    // Goodputs of 2.5, 1.25 and 5 Mbit/s: (2 + 1 + 4)^2 / (3 * 21).
    assert!((traffic.all.fairness_jain.unwrap() - 49.0 / 63.0).abs() < 1e-12);
    // Two megabits and one: 9 / (2 * 5).
    assert!((traffic.pairs_fairness_jain.unwrap() - 0.9).abs() < 1e-12);
}

#[test]
fn transfers_that_do_not_end_have_bytes_only() {
    let part = ledger(6_000, Some((8_000, 50_000)));
    let nothing = ledger(6_000, None);
    let traffic = summary(vec![transfer(&part, 0, 0), transfer(&nothing, 1, 1)]);
    assert_eq!((traffic.all.started, traffic.all.completed), (2, 0));
    assert_eq!((traffic.all.delivered_bytes, traffic.all.completion_ms.p50), (50_000, None));
    assert_eq!(traffic.all.slowdown, SlowdownSummary::default());
    assert_eq!(traffic.all.fairness_jain, Some(0.5), "one has everything");
    assert_eq!(traffic.pairs_fairness_jain, Some(0.5));
}

#[test]
fn transfers_of_the_warm_up_are_left_out() {
    let early = ledger(500, Some((700, SIZE.get())));
    let traffic = summary(vec![transfer(&early, 0, 0)]);
    assert_eq!(
        (traffic.all.started, traffic.all.completed, traffic.all.delivered_bytes),
        (0, 0, 0)
    );
    assert_eq!(traffic.all.completion_ms, DelaySummary::default());
}

#[test]
fn without_a_rate_or_a_way_there_is_no_ideal() {
    let done = ledger(2_000, Some((2_400, SIZE.get())));
    let traced = FirstOffer { base_rtt: SimDuration::ZERO, bottleneck: None };
    for offer in
        [None, Some(traced), Some(FirstOffer { bottleneck: Some(BitRate::ZERO), ..traced })]
    {
        let traffic = summary(vec![TransferInput { offer, ..transfer(&done, 0, 0) }]);
        assert_eq!(traffic.all.completion_ms.p50, Some(400.0));
        assert_eq!(traffic.all.slowdown.p50, None, "{offer:?}");
    }
}
