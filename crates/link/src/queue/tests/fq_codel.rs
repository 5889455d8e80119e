//! `FQ-CoDel` (RFC 8290): isolation, fairness, and room made at the fattest flow.

use super::*;

const MS: u64 = 1_000;

/// Flows that have a queue of their own each, under the seed of the tests.
fn flows(queue: &str, count: usize) -> Vec<u16> {
    let spec = read::<crate::queue::fq_codel::FqCodelSpec>(queue).unwrap();
    let perturbation = RngTree::new(1).rng().bits();
    let mut seen = BTreeSet::new();
    let own = |flow: &u16| {
        let hash = packet_of(0, 1, *flow).meta.flow_hash();
        let spread = super::super::hash::spread(hash, perturbation);
        seen.insert(super::super::hash::index(spread, spec.flows.get() as usize))
    };
    (1..).filter(own).take(count).collect()
}

#[test]
fn busy_flows_share_bytes_whatever_the_size_of_their_packets() {
    let mut probe = Probe::new(r#""fq_codel""#);
    let flows = flows("{}", 3);
    let sizes = [1500, 500, 100];
    let mut sent = [0; 3];
    for number in 0..6_000 {
        for (flow, size) in flows.iter().zip(sizes) {
            probe.offer(number, u64::from(*flow), size, *flow);
        }
        let packet = probe.take_packet(number).unwrap();
        let place = flows.iter().position(|flow| u64::from(*flow) == packet.meta.id).unwrap();
        if probe.queue.backlog().packets > 100 {
            sent[place] += packet.meta.size.get();
        }
    }
    // In rounds, each gets a quantum of 1,514 bytes and carries the rest over: no more than two apart.
    let spread = sent.iter().max().unwrap() - sent.iter().min().unwrap();
    assert!(spread <= 2 * 1_514 + 1_500, "{sent:?}");
}

#[test]
fn a_sparse_flow_goes_before_a_bulk_flow() {
    let mut probe = Probe::new(r#""fq_codel""#);
    let [bulk, sparse] = flows("{}", 2)[..] else { panic!() };
    for id in 1_000..1_100 {
        probe.offer(0, id, 1500, bulk);
    }
    // The bulk flow uses up its first quantum.
    assert!(probe.take(0).is_some() && probe.take(0).is_some());
    for turn in 0..20 {
        let now = 1 + turn * 10;
        probe.offer(now, turn, 100, sparse);
        assert_eq!(probe.take(now), Some(turn), "at once, though a hundred packets wait");
        // Two turns of the other, in which the sparse flow is seen to be empty.
        for _ in 0..3 {
            assert!(probe.take(now).unwrap() >= 1_000);
        }
    }
}

#[test]
fn a_full_queue_drops_half_of_the_fattest_flow_but_a_batch_at_most() {
    let mut probe = Probe::new(r#"{"kind": "fq_codel", "limit": "60 packets"}"#);
    let [fat, thin] = flows("{}", 2)[..] else { panic!() };
    for id in 0..40 {
        probe.offer(0, id, 1000, fat);
    }
    for id in 100..120 {
        probe.offer(0, id, 900, thin);
    }
    assert_eq!(probe.dropped(), [0; 0]);
    probe.offer(0, 120, 900, thin);
    assert!(probe.dropped().into_iter().eq(0..20), "the older half of the fattest flow");
    assert!(probe.fates.drops.iter().all(|drop| drop.cause == Cause::QUEUE));

    let mut probe = Probe::new(r#"{"kind": "fq_codel", "limit": "1000 packets"}"#);
    for id in 0..1_001 {
        probe.offer(0, id, 1000, fat);
    }
    assert!(probe.dropped().into_iter().eq(0..64), "a batch");
}

#[test]
fn each_flow_is_managed_by_itself() {
    let mut probe = Probe::new(r#"{"kind": "fq_codel", "interval": "100 ms", "target": "5 ms"}"#);
    let [bulk, sparse] = flows("{}", 2)[..] else { panic!() };
    let mut sparse_sent = 0;
    for tick in 0..3_000u64 {
        let now = tick * MS / 5;
        probe.offer(now, 1, 1500, bulk);
        if tick % 2 == 0 {
            probe.offer(now, 1, 1500, bulk);
        }
        if tick % 50 == 0 {
            probe.offer(now, 0, 200, sparse);
        }
        sparse_sent += u64::from(probe.take(now) == Some(0));
    }
    let dropped = probe.dropped();
    assert!(dropped.len() > 3 && dropped.iter().all(|id| *id == 1), "{}", dropped.len());
    assert_eq!(sparse_sent, 60);
}

#[test]
fn quanta_far_from_a_packet_are_refused() {
    for quantum in ["0 B", "255 B", "2 MB"] {
        let json = format!(r#"{{"kind": "fq_codel", "quantum": "{quantum}"}}"#);
        assert_refused::<QueueSpec>(&json, "quantum", "is far from the size of a packet");
    }
    for flows in ["0", "65537"] {
        let json = format!(r#"{{"kind": "fq_codel", "flows": {flows}}}"#);
        assert_refused::<QueueSpec>(&json, "flows", "is not a valid number");
    }
}
