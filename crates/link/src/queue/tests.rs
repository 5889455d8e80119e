use leobench_base::Meta;
use leobench_base::spec::{At, Limit, Spec};
use proptest::prelude::*;

use super::*;
use crate::testing::{assert_refused, packet, read};

fn build(spec: &QueueSpec) -> Box<dyn QueueDiscipline> {
    spec.model().build(&RngTree::new(1))
}

#[derive(Clone, Debug)]
enum Operation {
    Enqueue(u64),
    Dequeue,
}

fn any_operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        3 => (1u64..3000).prop_map(Operation::Enqueue),
        2 => Just(Operation::Dequeue),
    ]
}

/// Every discipline: what goes in comes out once, is dropped once, or still waits.
fn conserves(spec: &QueueSpec, operations: &[(u64, Operation)]) {
    let mut queue = build(spec);
    let mut drops = Vec::new();
    let mut sent = Vec::new();
    let (mut now, mut entered, mut entered_bytes) = (SimTime::ZERO, 0, 0);
    for (gap, operation) in operations {
        now += leobench_base::SimDuration::from_nanos(*gap);
        match operation {
            Operation::Enqueue(size) => {
                let mut packet = packet(entered, *size);
                packet.meta.arrival = now;
                queue.enqueue(now, packet, &mut drops);
                entered += 1;
                entered_bytes += size;
            }
            Operation::Dequeue => {
                let waiting = queue.backlog().packets;
                let packet = queue.dequeue(now, &mut drops);
                assert!(waiting > 0 || packet.is_none(), "{}: a packet from nowhere", spec.kind());
                sent.extend(packet.map(|packet| packet.meta));
            }
        }
        let gone: Vec<&Meta> =
            sent.iter().chain(drops.iter().map(|drop| &drop.packet.meta)).collect();
        let gone_bytes: u64 = gone.iter().map(|meta| meta.size.get()).sum();
        let Backlog { packets, bytes } = queue.backlog();
        assert_eq!(gone.len() as u64 + packets, entered, "{}", spec.kind());
        assert_eq!(gone_bytes + bytes.get(), entered_bytes, "{}", spec.kind());
    }
    while let Some(packet) = queue.dequeue(now, &mut drops) {
        sent.push(packet.meta);
    }
    assert_eq!(queue.backlog(), Backlog::default(), "{}", spec.kind());
    let mut ids: Vec<u64> =
        sent.iter().chain(drops.iter().map(|drop| &drop.packet.meta)).map(|meta| meta.id).collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..entered), "{}: a packet was lost or doubled", spec.kind());
}

proptest! {
    #[test]
    fn every_discipline_conserves_packets(
        operations in prop::collection::vec((0u64..5_000_000, any_operation()), 0..200),
    ) {
        for spec in QueueSpec::examples() {
            conserves(&spec, &operations);
        }
    }
}

#[test]
fn specifications_read_back_what_they_write() {
    for spec in QueueSpec::examples() {
        assert_eq!(QueueSpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
    }
}

/// Enqueues packets of the given sizes; the sizes that went in and those that were dropped.
fn fill(limit: Limit, sizes: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let mut queue = build(&QueueSpec::Fifo(fifo::FifoSpec { limit }));
    let mut drops = Vec::new();
    for (id, size) in (0..).zip(sizes) {
        queue.enqueue(SimTime::ZERO, packet(id, *size), &mut drops);
    }
    let dropped = drops.iter().map(|drop| drop.packet.meta.size.get()).collect();
    let kept = std::iter::from_fn(|| queue.dequeue(SimTime::ZERO, &mut drops));
    (kept.map(|packet| packet.meta.size.get()).collect(), dropped)
}

#[test]
fn a_fifo_drops_what_would_exceed_its_limit() {
    let sizes = [1000, 700, 900, 300, 1];
    assert_eq!(fill(Limit::Unlimited, &sizes), (vec![1000, 700, 900, 300, 1], vec![]));
    assert_eq!(fill(Limit::Packets(2), &sizes), (vec![1000, 700], vec![900, 300, 1]));
    // The limit itself is still within it, and a smaller packet may fit where a larger one did not.
    assert_eq!(fill(Limit::Bytes(Bytes::new(2000)), &sizes), (vec![1000, 700, 300], vec![900, 1]));
}

#[test]
fn limits_read_as_packets_bytes_or_none() {
    let limit =
        |text: &str| read::<fifo::FifoSpec>(&format!(r#"{{"limit": "{text}"}}"#)).unwrap().limit;
    assert_eq!(limit("7 packets"), Limit::Packets(7));
    assert_eq!(limit("30 kB"), Limit::Bytes(Bytes::new(30_000)));
    assert_eq!(limit("unlimited"), Limit::Unlimited);
    assert_eq!(
        read::<QueueSpec>(r#""fifo""#).unwrap(),
        read(r#"{"kind": "fifo", "limit": "unlimited"}"#).unwrap()
    );
    assert_refused::<QueueSpec>(r#"{"kind": "fifo", "limit": "0 packets"}"#, "limit", "zero");
    assert_refused::<QueueSpec>(r#"{"kind": "fifo", "limit": "0 B"}"#, "limit", "zero");
    assert_refused::<QueueSpec>(r#"{"kind": "fifo", "limit": "30 KB"}"#, "limit", "unknown unit");
}
