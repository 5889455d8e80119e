//! CAKE: its hash, its fairness among hosts and flows, BLUE, and its shaper.

use super::super::ways::{Lookup, Ways};
use super::*;

#[test]
fn eight_keys_of_a_set_have_slots_of_their_own() {
    let mut ways = Ways::new(1_024);
    let mut taken = BTreeSet::new();
    // The upper bits of a key choose its home, eight homes a set: all of these are of the first one.
    let keys = (0..9).map(|key| (key % 8) << 54 | key);
    for (number, key) in keys.clone().enumerate() {
        let slot = ways.find(key, |slot| taken.contains(&slot));
        match slot {
            Lookup::Free(slot) if number < 8 => assert!(slot < 8 && taken.insert(slot)),
            Lookup::Shared(slot) if number == 8 => assert_eq!(slot, 0),
            other => panic!("{other:?} for key {number}"),
        }
    }
    let mut known = keys.take(8).map(|key| ways.find(key, |slot| taken.contains(&slot)));
    assert!(known.all(|slot| matches!(slot, Lookup::Known(_))));
}

/// Bytes sent by one flow of host 1 and by each of four flows of host 2, all of which always have packets.
fn shares(isolation: &str) -> [f64; 2] {
    let mut probe = Probe::new(&format!(r#"{{"kind": "cake", "isolation": "{isolation}"}}"#));
    let flows = [(1, 1), (2, 1), (2, 2), (2, 3), (2, 4)];
    let mut waiting = [0; 5];
    let mut sent = [0.0; 2];
    // All waits are short, so that COBALT leaves the flows alone.
    for number in 0..20_000u64 {
        for (id, (host, port)) in flows.iter().enumerate() {
            while waiting[id] < 3 {
                let size = if id == 3 { 500 } else { 1500 };
                // Towards a host of its own, so that only the sending side has several flows.
                let ends = [([10, 0, 0, *host], *port), ([10, 1, *host, *port as u8], 9)];
                probe.offer_packet(number, packet_between(id as u64, size, ends.map(Into::into)));
                waiting[id] += 1;
            }
        }
        let packet = probe.take_packet(number).unwrap();
        waiting[packet.meta.id as usize] -= 1;
        if number > 100 {
            sent[usize::from(packet.meta.id > 0)] += packet.meta.size.get() as f64;
        }
    }
    assert_eq!(probe.dropped(), [0; 0]);
    let all = sent[0] + sent[1];
    sent.map(|bytes| bytes / all)
}

#[test]
fn hosts_share_the_link_and_then_their_flows() {
    for (isolation, share) in
        [("triple-isolate", 0.5), ("dual-srchost", 0.5), ("dual-dsthost", 0.2), ("flows", 0.2)]
    {
        let [first, _] = shares(isolation);
        assert!((first - share).abs() < 0.005, "{isolation}: {first}");
    }
}

#[test]
fn a_flow_that_does_not_respond_meets_blue() {
    let mut probe = Probe::new(r#"{"kind": "cake", "limit": "50 kB"}"#);
    for tick in 0..20_000 {
        for _ in 0..2 {
            let mut packet = packet(tick, 1000);
            packet.meta.ecn = Ecn::Ect0;
            probe.offer_packet(1_000 * tick, packet);
        }
        probe.take(1_000 * tick);
    }
    let count =
        |name: &str| probe.fates.drops.iter().filter(|drop| drop.cause.name() == name).count();
    // Twice what the link takes: the queue overflows until BLUE drops most of what is too much.
    assert!(count("blue") > count("queue"), "{} {}", count("blue"), count("queue"));
    assert!(count("queue") > 100 && !probe.fates.marks.is_empty());
    assert_eq!(count("codel"), 0, "it marks");
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let refused = |keys: &str, place: &str, problem: &str| {
        assert_refused::<QueueSpec>(&format!(r#"{{"kind": "cake", {keys}}}"#), place, problem);
    };
    refused(r#""bandwidth": "0 bps""#, "bandwidth", "is zero");
    refused(r#""rtt": "0 s""#, "rtt", "out of range");
    refused(r#""rtt": "1 ns""#, "rtt", "out of range");
    refused(r#""isolation": "triple""#, "isolation", "unknown word");
    refused(r#""limit": "0 B""#, "limit", "is zero");
}
