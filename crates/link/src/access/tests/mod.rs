mod frames;

use leobench_base::spec::{At, Spec};
use leobench_base::{RngTree, SimTime};

use super::*;

/// When packets leave that are ready every 700 us.
fn times(spec: &AccessSpec, seed: u64) -> Vec<(u64, u64)> {
    let mut access = spec.model().build(&RngTree::new(seed));
    let ready = (0..10_000u64).map(|number| number * 700_000);
    ready.map(|ready| (ready, access.leaves(SimTime::from_nanos(ready)).as_nanos())).collect()
}

#[test]
fn no_packet_leaves_early_or_overtakes() {
    for spec in AccessSpec::examples() {
        let times = times(&spec, 3);
        assert!(times.iter().all(|(ready, leaves)| leaves >= ready), "{}", spec.kind());
        assert!(times.is_sorted_by_key(|(_, leaves)| *leaves), "{}", spec.kind());
        assert!(times.iter().any(|(ready, leaves)| leaves > ready), "{} never waits", spec.kind());
    }
}

#[test]
fn every_model_repeats_and_follows_its_seed_if_random() {
    for spec in AccessSpec::examples() {
        assert_eq!(AccessSpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
        assert_eq!(times(&spec, 1), times(&spec, 1), "{}", spec.kind());
        let differs = times(&spec, 1) != times(&spec, 2);
        assert_eq!(differs, spec.model().is_random(), "{}", spec.kind());
    }
}
