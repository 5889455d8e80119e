use proptest::prelude::*;

use crate::frame::{Angle, Epoch};
use crate::motion::{Constellation, Shell};

/// The pattern in closed form, written down anew: node, phase and inclination turn the unit vector (1, 0, 0).
#[test]
fn satellites_are_where_the_pattern_places_them() {
    let shell = Shell::delta("w", 550.0, 53.0, 5, 4).phased(2);
    let all = Constellation::of_shells(std::slice::from_ref(&shell), Epoch::J2000, false);
    assert_eq!(all.satellites().len(), 20);
    assert_eq!(all.satellites()[7].name, "w/1-3");
    let radius = 6_928_137.0;
    for plane in 0..5 {
        for slot in 0..4 {
            let node = (72.0 * plane as f64).to_radians();
            let phase = (90.0 * slot as f64 + 2.0 * 18.0 * plane as f64).to_radians();
            let tilt = 53.0f64.to_radians();
            let (along, aside) = (libm::cos(phase), libm::sin(phase));
            let expected = [
                along * libm::cos(node) - aside * libm::cos(tilt) * libm::sin(node),
                along * libm::sin(node) + aside * libm::cos(tilt) * libm::cos(node),
                aside * libm::sin(tilt),
            ];
            let satellite = &all.satellites()[all.shells()[0].satellite(plane, slot).index()];
            let position = satellite.orbit.state(Epoch::J2000).unwrap().position;
            let found = [position.x, position.y, position.z];
            for (found, expected) in found.into_iter().zip(expected) {
                assert!((found - radius * expected).abs() < 1e-3, "{plane}-{slot}");
            }
        }
    }
}

#[test]
fn the_planes_of_a_star_cover_half_of_the_equator() {
    let star = Shell::star("s", 780.0, 86.4, 6, 11);
    assert!((star.elements(5, 0).node.degrees() - 150.0).abs() < 1e-9);
    let delta = Shell::delta("d", 780.0, 86.4, 6, 11);
    assert!((delta.elements(5, 0).node.degrees() - 300.0).abs() < 1e-9);
}

#[test]
fn what_is_no_shell_is_refused() {
    let shell = Shell::delta("d", 550.0, 53.0, 6, 11);
    assert_eq!(shell.check(), Ok(()));
    let wrong = [
        (Shell { planes: 0, ..shell.clone() }, "no satellites"),
        (Shell { altitude_m: 10.0, ..shell.clone() }, "altitude 0.01 km is not from"),
        (Shell { inclination: Angle::from_degrees(-3.0), ..shell.clone() }, "not from 0 to 180"),
        (shell.clone().phased(66), "below 66"),
        (Shell { planes: usize::MAX, ..shell }, "a million"),
    ];
    for (shell, part) in wrong {
        let message = shell.check().unwrap_err();
        assert!(message.contains(part), "{message}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// Watched for a revolution, no two satellites come closer than the closed form, and two come that close.
    #[test]
    fn smallest_distance_is_what_a_search_finds(
        planes in 2usize..6, per_plane in 1usize..5, phasing in 0usize..6, inclination in 0.0..180.0f64,
    ) {
        let shell = Shell::delta("d", 600.0, inclination, planes, per_plane);
        let shell = shell.phased(phasing % planes);
        let all: Vec<_> = shell.satellites(Epoch::J2000, false).collect();
        let mut smallest = f64::INFINITY;
        for step in 0..400u64 {
            let at = Epoch::J2000.after(leobench_base::SimDuration::from_millis(step * 14_520));
            let positions: Vec<_> = all.iter().map(|s| s.orbit.state(at).unwrap().position).collect();
            for (index, one) in positions.iter().enumerate() {
                for other in &positions[..index] {
                    smallest = smallest.min((*one - *other).norm());
                }
            }
        }
        // Between two steps of the search, the distance changes by at most 2 r sin(0.9 degrees / 2), here 110 km.
        let closed = shell.smallest_distance_m();
        prop_assert!(smallest >= closed - 1.0 && smallest <= closed + 110e3, "{smallest} {closed}");
    }
}
