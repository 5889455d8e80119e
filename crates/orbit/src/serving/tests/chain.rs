use leobench_base::{SimDuration, SimTime};

use crate::serving::chain::Access::{Disjoint, Shared, Single};
use crate::serving::chain::*;

fn chain(spacing: f64) -> Chain {
    Chain { spacing_m: spacing * 1e3, ..Chain::default() }
}

/// 200 Mbit/s x 100 ms / 8,000 bit = 2,500 packets, log2 = 11.288.
#[test]
fn slow_start_takes_1229_milliseconds() {
    assert!((slow_start_s(200e6, 0.1, 8e3, 1.0) - 1.228_77).abs() < 1e-5);
}

#[test]
fn printed_times_are_those_of_the_digest() {
    let paper = chain(150.0);
    assert!((paper.overlap_m() - 155e3).abs() < 1e-6 && (paper.clear_m() - 150e3).abs() < 1e-6);
    assert!((paper.disjoint().as_secs_f64() - 22.143).abs() < 1e-3);
    assert!((paper.shared().as_secs_f64() - 21.429).abs() < 1e-3);
    assert!((chain(105.0).shared().as_secs_f64() - 15.0).abs() < 1e-9);
    let stages: Vec<_> = paper.stages(Reading::Printed).take(5).collect();
    let accesses: Vec<_> = stages.iter().map(|stage| stage.access).collect();
    assert_eq!(accesses, [Single, Disjoint, Shared, Disjoint, Shared]);
    assert_eq!(stages[2].satellites, [1, 1]);
    assert_eq!(stages[3].satellites, [1, 2]);
    let cycle = (stages[3].at - stages[1].at).as_secs_f64();
    assert!((cycle - (22.143 + 21.429)).abs() < 1e-3);
}

/// Counted by hand from the footprints: 460/150 = 3.07, 460/105 = 4.38, 460/231 = 1.99.
#[test]
fn three_to_five_satellites_are_in_view() {
    assert_eq!(chain(150.0).in_view(), (3, 4));
    assert_eq!(chain(105.0).in_view(), (4, 5));
    assert_eq!(chain(231.0).in_view(), (1, 2));
    for spacing in [105.0, 150.0, 231.0, 300.0] {
        let chain = chain(spacing);
        let (fewest, most) = chain.in_view();
        for millis in (200_000..400_000).step_by(37) {
            let now = SimTime::ZERO + SimDuration::from_millis(millis);
            let seen = (0..60).filter(|&s| chain.along_m(s, now).abs() <= chain.footprint_m).count()
                as u64;
            assert!((fewest..=most).contains(&seen), "{spacing}: {seen}");
        }
    }
}

/// Whatever is said to serve is in view, and s3 occurs exactly when one satellite alone is in view.
#[test]
fn the_geometric_reading_follows_what_is_in_view() {
    for (spacing, shares) in [
        (80.0, false),
        (105.0, false),
        (150.0, false),
        (229.0, false),
        (231.0, true),
        (400.0, true),
    ] {
        let chain = chain(spacing);
        chain.check().unwrap();
        let stages: Vec<_> = chain.stages(Reading::Geometric).take(60).collect();
        assert_eq!(stages[0].access, Access::Single);
        assert_eq!(stages.iter().any(|stage| stage.access == Access::Shared), shares, "{spacing}");
        for pair in stages.windows(2) {
            assert!(pair[0].at < pair[1].at, "{spacing}");
            let middle = pair[0].at + (pair[1].at - pair[0].at) / 2;
            for satellite in pair[0].satellites {
                assert!(
                    chain.along_m(satellite, middle).abs() <= chain.footprint_m,
                    "{spacing} {pair:?}"
                );
            }
            if pair[0].access == Access::Shared {
                let seen =
                    (0..200).filter(|&s| chain.along_m(s, middle).abs() <= chain.footprint_m);
                assert_eq!(seen.count(), 1, "{spacing}");
            }
        }
    }
}

/// At the edge of the footprint, 596 km: hypot(550, 230).
#[test]
fn ranges_are_those_of_the_flat_triangle() {
    let chain = Chain::default();
    assert!((chain.range_m(0, SimTime::ZERO) - 596_154.3).abs() < 1.0);
    let over = SimTime::ZERO + SimDuration::from_secs_f64(230e3 / 7e3);
    assert!((chain.range_m(0, over) - 550e3).abs() < 1.0);
}

#[test]
fn what_is_no_chain_is_refused() {
    assert!(chain(460.0).check().unwrap_err().contains("leave gaps"));
    assert!(chain(-1.0).check().unwrap_err().contains("above 0"));
    assert_eq!(chain(150.0).check(), Ok(()));
}
