//! Random operations: no packet is lost or doubled, and how often the link is woken makes no difference.

use std::sync::Arc;

use leobench_base::spec::{Limit, Probability};
use proptest::prelude::*;

use super::*;
use crate::channel::Service;
use crate::channel::trace::Opportunities;
use crate::loss::LossModel;
use crate::loss::bernoulli::BernoulliSpec;

#[derive(Clone, Debug)]
enum Operation {
    Send(u64),
    Change { service: usize, delay_us: u64, loss: f64, up: bool },
    Nothing,
}

fn any_operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => (1u64..3_000).prop_map(Operation::Send),
        2 => (0usize..5, 0u64..20_000, prop_oneof![Just(0.0), Just(0.3)], prop::bool::weighted(0.8))
            .prop_map(|(service, delay_us, loss, up)| Operation::Change { service, delay_us, loss, up }),
        1 => Just(Operation::Nothing),
    ]
}

fn any_limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        Just(Limit::Unlimited),
        (1u64..10).prop_map(Limit::Packets),
        (1u64..20_000).prop_map(|bytes| Limit::Bytes(Bytes::new(bytes))),
    ]
}

/// Three rates, zero among them, and two traces.
fn services() -> [Service; 5] {
    let rate = |bps| Service::Rate(BitRate::from_bps(bps));
    let trace = |millis: &[u64]| {
        Service::Opportunities(Arc::new(Opportunities::new(millis, Bytes::new(1500), 0)))
    };
    [rate(0), rate(3_000_000), rate(70_000_001), trace(&[0, 1, 1, 4]), trace(&[3, 3, 10])]
}

#[derive(Clone, Debug)]
struct Case {
    operations: Vec<(u64, Operation)>,
    limit: Limit,
    overtaking: bool,
    overhead: i64,
}

fn any_case() -> impl Strategy<Value = Case> {
    let operations = prop::collection::vec((0u64..4_000_000, any_operation()), 1..120);
    (operations, any_limit(), any::<bool>(), -100i64..100).prop_map(
        |(operations, limit, overtaking, overhead)| Case {
            operations,
            limit,
            overtaking,
            overhead,
        },
    )
}

fn bench(case: &Case) -> Bench {
    let loss = BernoulliSpec { probability: Probability::new(0.1).unwrap() };
    let config = LinkConfig {
        loss: Some(loss.build(&RngTree::new(2))),
        overtaking: case.overtaking,
        overhead: case.overhead,
        mtu: Bytes::new(2_500),
        ..with_queue(&case.limit)
    };
    Bench::new(config, &mbps(5))
}

/// Runs the operations, waking the link whenever it asks (`eager`) or only as they come.
fn run(case: &Case, eager: bool) -> Bench {
    let services = services();
    let mut bench = bench(case);
    let (mut now, mut sent) = (1, 0);
    for (gap, operation) in &case.operations {
        now += gap;
        if eager {
            bench.run(now - 1);
        }
        match operation {
            Operation::Send(size) => {
                bench.link.enqueue(at(now), packet(sent, *size), &mut bench.out);
                sent += 1;
            }
            Operation::Change { service, delay_us, loss, up } => {
                let state = ChannelState {
                    service: services[*service].clone(),
                    delay: SimDuration::from_micros(*delay_us),
                    loss: *loss,
                    up: *up,
                    has_way: true,
                    label: "test".into(),
                };
                bench.link.set_channel(at(now), &state, &mut bench.out);
            }
            Operation::Nothing => bench.link.advance(at(now), &mut bench.out),
        }
        bench.collect(at(now));
        assert_conserved(&bench, at(now), sent);
    }
    assert_within_capacity(&bench, at(now), &case.operations);
    // Whatever still waits gets through once the link is up for good.
    now += 1;
    bench.link.set_channel(at(now), &mbps(1_000), &mut bench.out);
    bench.collect(at(now));
    bench.run(now + 3_600_000 * MS);
    assert_eq!((bench.link.next_wake(), bench.link.in_flight()), (None, 0));
    let mut ids: Vec<u64> = bench.arrivals.iter().map(|(id, _)| *id).collect();
    assert!(case.overtaking || ids.is_sorted(), "a packet overtook another");
    ids.extend(bench.drops.iter().map(|(id, _)| *id));
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..sent), "a packet was lost or doubled");
    bench
}

/// Checks that the channel offered all that was sent, except the packets on the wire when it changed, which finish.
fn assert_within_capacity(bench: &Bench, now: SimTime, operations: &[(u64, Operation)]) {
    let is_change = |operation: &&(u64, Operation)| matches!(operation.1, Operation::Change { .. });
    let changes = operations.iter().filter(is_change).count() as u128;
    let counters = bench.link.counters(now);
    let largest = 8 * (2_500 + 100);
    let sent = u128::from(counters.wire_bytes.bits());
    assert!(sent <= counters.capacity_bits + (changes + 1) * largest, "sent more than was offered");
}

fn assert_conserved(bench: &Bench, now: SimTime, sent: u64) {
    let counters = bench.link.counters(now);
    let dropped = counters.dropped_packets();
    let kept = bench.link.backlog().packets + bench.link.in_flight();
    assert_eq!(counters.enqueued.packets, sent);
    assert_eq!(counters.enqueued.packets, counters.delivered.packets + dropped + kept);
    assert_eq!(counters.delivered.packets, bench.arrivals.len() as u64);
    assert_eq!(dropped, bench.drops.len() as u64);
}

proptest! {
    #[test]
    fn packets_are_delivered_dropped_waiting_or_in_flight(case in any_case()) {
        let eager = run(&case, true);
        let lazy = run(&case, false);
        let ids = |bench: &Bench| bench.arrivals.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        prop_assert_eq!(ids(&eager), ids(&lazy));
        prop_assert_eq!(&eager.drops, &lazy.drops);
        prop_assert_eq!(eager.link.queue_delay(), lazy.link.queue_delay());
    }
}
