//! The controller of the draft, worked out by hand.

use leobench_base::{Bytes, SimDuration, SimTime};

use super::{LossBased, Report};
use crate::rate_control::{Bounds, Fate};

const BOUNDS: Bounds = Bounds { least: 1e4, start: 1e6, most: 1e8 };

fn fates(lost: u64) -> Vec<Fate> {
    let fate = |number| Fate {
        number,
        sent: SimTime::ZERO,
        bytes: Bytes::new(1_000),
        arrival: (number >= lost).then_some(SimTime::ZERO),
        is_marked: false,
    };
    (0..100).map(fate).collect()
}

/// 20 % of losses take off a tenth, 10 % and 2 % nothing, 1 % adds 5 %.
#[test]
fn losses_move_the_rate_by_the_rules_of_10_and_2_percent() {
    let mut control = LossBased::Draft.build(BOUNDS);
    let mut report = |second: f64, fates: &[Fate], target: f64| {
        let now = SimTime::ZERO + SimDuration::from_secs_f64(second);
        control.on_report(&Report {
            now,
            fates,
            delay_based: 1e8,
            arriving: None,
            target,
            is_application_limited: false,
        });
        control.rate()
    };
    let mut target = BOUNDS.start;
    report(0.0, &[], target);
    for (second, (lost, after)) in
        [(0, 1e8), (20, 0.9e6), (10, 0.9e6), (2, 0.9e6), (1, 0.945e6), (0, 0.992_25e6)]
            .into_iter()
            .enumerate()
    {
        let rate = report((second + 1) as f64, &fates(lost), target);
        assert!((rate / after - 1.0).abs() < 1e-9, "{rate} instead of {after}");
        target = rate.min(target);
    }
    let rate = report(6.5, &fates(90), target);
    assert!((rate / 0.992_25e6 - 1.0).abs() < 1e-9, "half a second is no interval");
}
