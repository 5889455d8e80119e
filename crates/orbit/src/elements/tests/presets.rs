use crate::elements::presets::{PRESETS, preset};
use crate::motion::{Pattern, Shell};

fn total(name: &str) -> usize {
    (preset(name).unwrap().shells)().iter().map(Shell::total).sum()
}

#[test]
fn the_filings_totals_are_met() {
    assert_eq!(total("starlink"), 4_408);
    assert_eq!(total("oneweb"), 716);
    assert_eq!(total("kuiper"), 3_236);
    assert_eq!(total("iridium"), 66);
    assert_eq!(total("telesat"), 298);
    assert!(preset("sputnik").is_none());
}

/// No other phasing keeps the satellites of a delta shell further apart.
#[test]
fn delta_shells_are_phased_for_the_largest_distance() {
    for preset in PRESETS {
        for shell in (preset.shells)().into_iter().filter(|shell| shell.pattern == Pattern::Delta) {
            shell.check().unwrap();
            let distance = |phasing| shell.clone().phased(phasing).smallest_distance_m();
            let largest = (0..shell.planes).map(distance).fold(0.0, f64::max);
            let own = shell.smallest_distance_m();
            let best = (0..shell.planes).max_by(|&a, &b| distance(a).total_cmp(&distance(b)));
            assert!(
                own >= largest - 1.0,
                "{}: {own:.0} m, {best:?} has {largest:.0} m",
                shell.name
            );
        }
    }
}

/// Liang et al. 2021 simulate 22 planes of 72 and 36 of 36 and find 61.83 km with F = 17 and 55.89 km with F = 11.
#[test]
fn the_smallest_distances_are_those_published() {
    let starlink = Shell::delta("s", 550.0, 53.0, 22, 72);
    assert!((starlink.phased(17).smallest_distance_m() - 61.83e3).abs() < 0.1e3);
    let kuiper = Shell::delta("k", 610.0, 42.0, 36, 36);
    assert!((kuiper.phased(11).smallest_distance_m() - 55.89e3).abs() < 0.1e3);
}
