use crate::frame::{Angle, Epoch, Vector};
use crate::isl::{Limits, plus_grid, read_pairs};
use crate::motion::{Constellation, SatelliteId, Shell};

fn links(shell: Shell) -> Vec<(usize, usize)> {
    let all = Constellation::of_shells(&[shell], Epoch::J2000, false);
    let mut links: Vec<_> = plus_grid(&all)
        .iter()
        .map(|link| {
            (link.from.index().min(link.to.index()), link.from.index().max(link.to.index()))
        })
        .collect();
    links.sort_unstable();
    let count = links.len();
    links.dedup();
    assert_eq!(links.len(), count, "no link twice");
    links
}

fn degrees(links: &[(usize, usize)], satellites: usize) -> Vec<usize> {
    let mut degrees = vec![0; satellites];
    for (from, to) in links {
        degrees[*from] += 1;
        degrees[*to] += 1;
    }
    degrees
}

#[test]
fn every_satellite_of_a_delta_has_four_links() {
    for phasing in [0, 1, 17, 65, 71] {
        let found = links(Shell::delta("d", 550.0, 53.0, 72, 22).phased(phasing));
        assert_eq!(found.len(), 2 * 1_584);
        assert!(degrees(&found, 1_584).iter().all(|degree| *degree == 4));
    }
}

#[test]
fn a_star_has_no_links_across_its_seam() {
    let found = links(Shell::star("s", 780.0, 86.4, 6, 11).phased(3));
    assert_eq!(found.len(), 66 + 55);
    let degrees = degrees(&found, 66);
    assert!(degrees[..11].iter().chain(&degrees[55..]).all(|degree| *degree == 3));
    assert!(degrees[11..55].iter().all(|degree| *degree == 4));
    assert!(!found.iter().any(|(from, to)| *from < 11 && *to >= 55));
}

#[test]
fn small_shells_have_the_links_that_there_are() {
    assert!(links(Shell::delta("d", 550.0, 53.0, 1, 1)).is_empty());
    assert_eq!(links(Shell::delta("d", 550.0, 53.0, 1, 2)), [(0, 1)]);
    assert_eq!(links(Shell::delta("d", 550.0, 53.0, 2, 1)), [(0, 1)]);
    assert_eq!(links(Shell::delta("d", 550.0, 53.0, 3, 1)), [(0, 1), (0, 2), (1, 2)]);
}

/// Of the satellites in the next plane, none is nearer in phase, also around the closing plane.
#[test]
fn neighbours_are_nearest_by_phase() {
    for phasing in [0, 3, 8, 13, 19] {
        let shell = Shell::delta("d", 550.0, 53.0, 20, 9).phased(phasing);
        let all = Constellation::of_shells(std::slice::from_ref(&shell), Epoch::J2000, false);
        let phase = |id: SatelliteId| {
            let (plane, slot) = (id.index() / 9, id.index() % 9);
            shell.elements(plane, slot).argument.degrees()
        };
        for link in plus_grid(&all).iter().filter(|link| link.across) {
            let apart = (phase(link.to) - phase(link.from) + 540.0).rem_euclid(360.0) - 180.0;
            assert!(apart.abs() <= 20.0 + 1e-9, "{phasing}: {apart}");
        }
    }
}

#[test]
fn links_end_at_range_earth_and_latitude() {
    let limits = Limits {
        longest_m: 5e6,
        clearance_m: 80e3,
        highest_latitude: Some(Angle::from_degrees(70.0)),
    };
    let at = |radius: f64, degrees: f64| {
        let angle = Angle::from_degrees(degrees);
        Vector::new(angle.cos(), 0.0, angle.sin()) * radius
    };
    assert!(limits.admit(true, at(7e6, 0.0), at(7e6, 30.0)));
    assert!(!limits.admit(true, at(7e6, 0.0), at(7e6, 43.0)), "5.1 Mm");
    assert!(!limits.admit(true, at(7e6, 50.0), at(7e6, 71.0)));
    assert!(limits.admit(false, at(7e6, 50.0), at(7e6, 71.0)));
    // The chord's middle is at 7000 cos(angle/2) km: 6458 km at 45.4 degrees.
    let free = Limits::default();
    assert!(
        free.admit(false, at(7e6, 0.0), at(7e6, 45.2))
            && !free.admit(false, at(7e6, 0.0), at(7e6, 45.6))
    );
}

#[test]
fn wrong_pairs_are_refused() {
    assert_eq!(read_pairs("isls.txt", "0 1\n\n1 2\n", 3).unwrap().len(), 2);
    for (text, problem) in [
        ("0 1\n1 3\n", "isls.txt, line 2: satellite 3 is not below 3"),
        ("0\n", "line 1: a link is two satellite numbers"),
        ("0 1 2\n", "two satellite numbers"),
        ("1 1\n", "linked to itself"),
    ] {
        let message = read_pairs("isls.txt", text, 3).unwrap_err().to_string();
        assert!(message.contains(problem), "{message}");
    }
}
