//! Coupled controllers on a single path, against `newreno`.

use super::flow::{Flow, Link, PATH};
use super::*;

/// The controllers that equal NewReno on a single path: `lia`, `olia`, and `balia` with and without rounding.
pub fn linked() -> Vec<CongestionSpec> {
    let balia = |linux_rounding| {
        CongestionSpec::Balia(BaliaSpec { linux_rounding, ..BaliaSpec::default() })
    };
    vec![
        CongestionSpec::Lia(LiaSpec::default()),
        CongestionSpec::Olia(OliaSpec::default()),
        balia(false),
        balia(true),
    ]
}

/// Under random losses, marks, undos, collapses and idle times.
#[test]
fn on_one_path_the_windows_are_those_of_newreno_step_by_step() {
    let newreno = CongestionSpec::NewReno(newreno());
    for spec in linked() {
        for seed in 0..10 {
            let (ours, reno) = (
                conformance::random_windows(&spec, seed),
                conformance::random_windows(&newreno, seed),
            );
            assert!(ours.windows(2).any(|pair| pair[1] < pair[0]), "windows that never shrink");
            assert_eq!(ours, reno, "{}, seed {seed}", spec.kind());
        }
    }
}

/// Behind a bottleneck, whose queue changes the round-trip time, with pacing.
#[test]
fn behind_a_bottleneck_the_windows_are_those_of_newreno_step_by_step() {
    let link = Link { loss: 1e-3, ..Link::new(20_000_000, 30, 50) };
    for spec in linked() {
        let mut ours = Flow::new(spec.model(), link, true, 5);
        let mut reno = Flow::new(&newreno(), link, true, 5);
        for _ in 0..100_000 {
            ours.step();
            reno.step();
            assert_eq!((ours.now, ours.window()), (reno.now, reno.window()), "{}", spec.kind());
            assert_eq!(ours.controller.phase(PATH), reno.controller.phase(PATH));
        }
        assert!(ours.lost > 20, "{} lost", ours.lost);
    }
}
