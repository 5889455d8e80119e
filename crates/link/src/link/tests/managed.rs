//! Links with the disciplines that isolate flows or shape, seen from outside.

use super::*;
use crate::queue::QueueSpec;
use crate::testing::{packet_of, read};

fn managed(json: &str) -> LinkConfig {
    let spec: QueueSpec = read(json).unwrap();
    let (model, rng) = (spec.model(), RngTree::new(1));
    LinkConfig { queue: model.build(Capacity::of(model.limit()).unwrap(), &rng), ..plain() }
}

/// The largest delay in nanoseconds of the packets of 200 bytes that a sparse flow sends every 17 ms, beside a flow that
/// sends 1,500 bytes every 0.5 ms over a link of 20 Mbit/s, which take 0.6 ms.
fn worst_delay(json: &str, bulk: bool) -> u64 {
    let mut bench = Bench::new(managed(json), &mbps(20));
    let mut sent = Vec::new();
    for tick in 1..4_000u64 {
        let now = tick * MS / 2;
        if bulk {
            bench.send_packet(now, packet_of(1_000_000 + tick, 1500, 1));
        }
        if tick % 34 == 0 {
            bench.send_packet(now + 1, packet_of(sent.len() as u64, 200, 2));
            sent.push(now + 1);
        }
    }
    bench.run(u64::MAX - 1);
    let sparse = bench.arrivals.iter().filter(|(id, _)| *id < 1_000_000);
    let delays: Vec<u64> = sparse.map(|(id, arrival)| arrival - sent[*id as usize]).collect();
    assert_eq!(delays.len(), sent.len(), "{json}: none is dropped");
    delays.into_iter().max().unwrap()
}

#[test]
fn a_sparse_flow_waits_for_two_packets_of_a_bulk_flow_at_most() {
    const PACKET: u64 = 600_000;
    for json in [r#""fq_codel""#, r#""cake""#, r#"{"kind": "cake", "bandwidth": "19.9 Mbps"}"#] {
        let (alone, beside) = (worst_delay(json, false), worst_delay(json, true));
        assert!(beside <= alone + 2 * PACKET, "{json}: {beside} ns, {alone} ns alone");
    }
    // Without isolation, it waits behind everything.
    assert!(worst_delay(r#"{"kind": "fifo", "limit": "1 MB"}"#, true) > 20 * PACKET);
}

#[test]
fn a_shaper_holds_its_rate_on_any_faster_link_and_never_stalls() {
    for link in [21, 100, 10_000] {
        let mut bench =
            Bench::new(managed(r#"{"kind": "cake", "bandwidth": "20 Mbps"}"#), &mbps(link));
        // 25 Mbit/s in packets of three sizes, then nothing.
        let sizes = [1500, 700, 100];
        let (mut now, mut bits, mut id) = (1, 0, 0);
        while now < 20_000 * MS {
            let size = sizes[id as usize % 3];
            bench.send(now, id, size);
            now += size * 8 * 1_000 / 25;
            id += 1;
        }
        bench.run(now);
        let from = 1_000 * MS;
        for (id, arrival) in &bench.arrivals {
            if *arrival > from && *arrival <= 19_000 * MS {
                bits += sizes[*id as usize % 3] * 8;
            }
        }
        let rate = bits as f64 / 18.0;
        assert!((rate / 20e6 - 1.0).abs() < 0.001, "{rate} bit/s on a link of {link} Mbit/s");
        bench.run(u64::MAX - 1);
        assert_eq!(bench.link.backlog().packets, 0);
        assert_eq!((bench.arrivals.len() + bench.drops.len()) as u64, id);
    }
}
