//! Layouts against what is written down about them, and against choices from scratch.

use leobench_base::SimDuration;
use leobench_base::spec::{At, Spec, Value};
use proptest::prelude::*;

use super::{any_shell, at};
use crate::frame::{Angle, Epoch};
use crate::isl::{Arrangements, Isl, Layout, LayoutSpec, Limits, Router};
use crate::motion::{Constellation, Ephemeris, SatelliteId, Shell};

fn spec(toml: &[(&str, &str)]) -> LayoutSpec {
    let mut table = leobench_base::spec::Table::new();
    for (key, value) in toml {
        let number = value.parse().map(Value::Integer);
        table.insert(key, number.unwrap_or_else(|_| Value::String((*value).into())));
    }
    LayoutSpec::read(&Value::Table(table), &At::ROOT).unwrap()
}

fn of(shells: &[Shell]) -> Ephemeris {
    let all = Constellation::of_shells(shells, Epoch::J2000, false);
    Ephemeris::new(all, Epoch::J2000, SimDuration::from_secs(20)).unwrap()
}

fn build(spec: &LayoutSpec, ephemeris: &Ephemeris, limits: Limits) -> Box<dyn Layout> {
    spec.model().build(ephemeris.constellation(), limits).unwrap()
}

fn arranged(layout: &mut dyn Layout, ephemeris: &Ephemeris) -> Vec<Isl> {
    let mut links = Vec::new();
    layout.arrange(ephemeris, &mut links);
    links
}

fn length(ephemeris: &Ephemeris, link: &Isl) -> f64 {
    (ephemeris.position(link.from) - ephemeris.position(link.to)).norm()
}

/// A router over a layout that is arranged for 20 minutes.
fn laid_out(spec: &LayoutSpec, ephemeris: &mut Ephemeris, limits: Limits) -> Router {
    let layout = build(spec, ephemeris, limits);
    let arrangements = Arrangements::ahead(layout, ephemeris, at(1_200)).unwrap();
    Router::arranged(ephemeris.len(), arrangements, limits, 1)
}

fn degrees(links: &[Isl], satellites: usize) -> Vec<usize> {
    let mut degrees = vec![0; satellites];
    for end in links.iter().flat_map(Isl::ends) {
        degrees[end.index()] += 1;
    }
    degrees
}

/// The links of a router at each second; a set that is sorted.
fn over_time(
    router: &mut Router,
    ephemeris: &mut Ephemeris,
    seconds: u64,
) -> Vec<[SatelliteId; 2]> {
    ephemeris.advance(at(seconds)).unwrap();
    router.update(ephemeris);
    let on = router.links().iter().enumerate();
    let on = on.filter(|(number, _)| router.laser_delay((2 * number).into()).is_some());
    let mut on: Vec<_> = on.map(|(_, link)| link.ends()).collect();
    on.sort_unstable();
    on
}

#[test]
fn every_layout_reads_back_and_repeats() {
    for spec in LayoutSpec::examples() {
        assert_eq!(LayoutSpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
        let mut ephemeris = of(&[Shell::star("s", 780.0, 86.4, 6, 11).phased(3)]);
        let mut both = [(); 2].map(|()| build(&spec, &ephemeris, Limits::default()));
        for seconds in [0, 40, 700] {
            ephemeris.advance(at(seconds)).unwrap();
            let [one, other] = &mut both;
            let links = arranged(&mut **one, &ephemeris);
            assert!(!links.is_empty(), "{}", spec.kind());
            assert_eq!(links, arranged(&mut **other, &ephemeris), "{}", spec.kind());
        }
    }
}

#[test]
fn the_seam_of_a_delta_can_be_opened() {
    let ephemeris = of(&[Shell::delta("d", 550.0, 53.0, 72, 22).phased(65)]);
    let links = |spec| arranged(&mut *build(&spec, &ephemeris, Limits::default()), &ephemeris);
    let (closed, default) =
        (links(spec(&[("kind", "plus_grid"), ("seam", "closed")])), links(LayoutSpec::default()));
    assert_eq!(closed, default);
    let open = links(spec(&[("kind", "plus_grid"), ("seam", "open")]));
    assert_eq!(open.len() + 22, default.len());
    let wraps = |link: &&Isl| link.from.index() / 22 == 71 && link.to.index() < 22;
    assert_eq!(default.iter().filter(wraps).count(), 22);
    assert_eq!(open.iter().filter(wraps).count(), 0);
    assert!(open.iter().all(|link| default.contains(link)));
}

/// Iridium's shell with its seam closed. Satellites of the outer planes meet at up to 15 km/s: a link lasts some minutes, and
/// its satellites then take others. At most one link each, between the two planes only.
#[test]
fn the_seam_of_a_star_can_be_closed() {
    let shell = Shell {
        node_spacing: Some(Angle::from_degrees(31.6)),
        ..Shell::star("i", 780.0, 86.4, 6, 11).phased(3)
    };
    let mut ephemeris = of(&[shell]);
    let limits = Limits { longest_m: 5e6, ..Limits::default() };
    let closed = spec(&[("kind", "plus_grid"), ("seam", "closed"), ("every", "10 s")]);
    let mut layout = build(&closed, &ephemeris, limits);
    assert_eq!(layout.period(), Some(SimDuration::from_secs(10)));
    assert_eq!(build(&LayoutSpec::default(), &ephemeris, limits).period(), None);
    let static_links =
        arranged(&mut *build(&LayoutSpec::default(), &ephemeris, limits), &ephemeris);
    let mut pairs = std::collections::BTreeSet::new();
    let mut before: Vec<Isl> = Vec::new();
    for seconds in (0..6_000).step_by(10) {
        ephemeris.advance(at(seconds)).unwrap();
        let links = arranged(&mut *layout, &ephemeris);
        assert_eq!(links[..static_links.len()], static_links);
        let seam = &links[static_links.len()..];
        assert!(
            seam.iter().all(|link| link.across && link.from.index() < 11 && link.to.index() >= 55)
        );
        assert!(degrees(seam, 66).iter().all(|degree| *degree <= 1));
        assert!(seam.iter().all(|link| length(&ephemeris, link) <= 5e6));
        for link in before.iter().filter(|link| length(&ephemeris, link) <= 5e6) {
            assert!(seam.contains(link), "a link that can be used stays");
        }
        // No two satellites with a laser left could be linked.
        let used = degrees(seam, 66);
        for (one, other) in (0..11).flat_map(|one| (55..66).map(move |other| (one, other))) {
            if used[one] == 0 && used[other] == 0 {
                let link = Isl { from: one.into(), to: other.into(), across: true };
                assert!(length(&ephemeris, &link) > 5e6);
            }
        }
        assert!(seam.len() >= 8, "{}", seam.len());
        pairs.extend(seam.iter().map(Isl::ends));
        before = seam.to_vec();
    }
    assert!(pairs.len() > 60, "they meet one after the other: {}", pairs.len());
}

/// The choice from scratch, over all pairs of satellites: the shortest one whose ends have a laser left, again and again.
fn greedy(ephemeris: &Ephemeris, limits: Limits, lasers: usize) -> Vec<[SatelliteId; 2]> {
    let mut links = Vec::new();
    let mut left = vec![lasers; ephemeris.len()];
    loop {
        let mut best: Option<(f64, [usize; 2])> = None;
        for one in 0..ephemeris.len() {
            for other in one + 1..ephemeris.len() {
                let ends = [one, other].map(SatelliteId::from);
                let [from, to] = ends.map(|end| ephemeris.position(end));
                let length = (to - from).norm();
                if left[one] > 0
                    && left[other] > 0
                    && limits.admit(true, from, to)
                    && !links.contains(&ends)
                    && best.is_none_or(|(least, _)| length < least)
                {
                    best = Some((length, [one, other]));
                }
            }
        }
        let Some((_, ends)) = best else { break };
        links.push(ends.map(SatelliteId::from));
        left[ends[0]] -= 1;
        left[ends[1]] -= 1;
    }
    links.sort_unstable();
    links
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Over one or two shells: the first arrangement is the choice from scratch; a later one keeps what can be used, leaves no
    /// two neighbours with a laser each unlinked, and never uses more lasers than there are.
    #[test]
    fn ranges_link_nearest_neighbours(
        shells in prop::collection::vec((300.0..1_500.0f64, 30.0..100.0f64, 2usize..7, 2usize..7), 1..3),
        range_km in 1_000u32..8_000, lasers in 1u32..5, seconds in prop::collection::vec(1u64..600, 1..4),
    ) {
        let shells: Vec<_> = shells.into_iter().map(|(altitude, inclination, planes, each)| Shell::delta("s", altitude, inclination, planes, each)).collect();
        let mut ephemeris = of(&shells);
        let limits = Limits { longest_m: f64::from(range_km) * 1e3, ..Limits::default() };
        let range = spec(&[("range", &format!("{range_km} km")), ("lasers", &lasers.to_string())]);
        let mut layout = build(&range, &ephemeris, Limits::default());
        let mut links = arranged(&mut *layout, &ephemeris);
        let mut ends: Vec<_> = links.iter().map(Isl::ends).collect();
        ends.sort_unstable();
        prop_assert_eq!(ends, greedy(&ephemeris, limits, lasers as usize));
        let mut now = 0;
        for step in seconds {
            now += step;
            ephemeris.advance(at(now)).unwrap();
            let usable = |link: &Isl| limits.admit(true, ephemeris.position(link.from), ephemeris.position(link.to));
            let next = arranged(&mut *layout, &ephemeris);
            prop_assert!(links.iter().filter(|link| usable(link)).all(|link| next.contains(link)));
            prop_assert!(next.iter().all(usable));
            let used = degrees(&next, ephemeris.len());
            prop_assert!(used.iter().all(|used| *used <= lasers as usize));
            for one in 0..ephemeris.len() {
                for other in one + 1..ephemeris.len() {
                    let link = Isl { from: one.into(), to: other.into(), across: true };
                    let free = used[one] < lasers as usize && used[other] < lasers as usize;
                    prop_assert!(!free || !usable(&link) || next.iter().any(|known| known.ends() == link.ends()));
                }
            }
            links = next;
        }
    }

    /// Components are those of a search from every satellite.
    #[test]
    fn components_are_what_a_search_reaches(shell in any_shell(), longest in 1e6..6e6f64) {
        let mut ephemeris = of(&[shell]);
        let limits = Limits { longest_m: longest, ..Limits::default() };
        let mut router = laid_out(&LayoutSpec::default(), &mut ephemeris, limits);
        router.update(&ephemeris);
        let components = router.components();
        let mut found = 0;
        let mut known = vec![false; ephemeris.len()];
        for start in 0..ephemeris.len() {
            let mut reached = vec![false; ephemeris.len()];
            let mut next = vec![start];
            while let Some(at) = next.pop() {
                if std::mem::replace(&mut reached[at], true) {
                    continue;
                }
                let lasers = router.lasers().filter(|laser| laser.from.index() == at);
                next.extend(lasers.filter(|laser| router.laser_delay(laser.id).is_some()).map(|laser| laser.to.index()));
            }
            for (other, reached) in reached.iter().enumerate() {
                prop_assert_eq!(components.joined(start.into(), other.into()), *reached);
            }
            if !known[start] {
                found += 1;
                for (known, reached) in known.iter_mut().zip(&reached) {
                    *known |= reached;
                }
            }
        }
        prop_assert_eq!(components.count(), found);
    }
}

/// Two shells that are 250 km apart are linked by their distance alone; the +grid does not link them.
#[test]
fn ranges_link_shells() {
    let mut ephemeris =
        of(&[Shell::delta("a", 550.0, 53.0, 12, 8), Shell::delta("b", 800.0, 70.0, 12, 8)]);
    let limits = Limits::default();
    let mut joined = |spec: LayoutSpec| {
        let mut router = laid_out(&spec, &mut ephemeris, limits);
        router.update(&ephemeris);
        router.components().joined(0.into(), 96.into())
    };
    assert!(joined(spec(&[("range", "4000 km"), ("lasers", "6")])));
    assert!(!joined(LayoutSpec::default()));
}

/// A range of 100 km leaves all satellites alone: places that see different ones are separated, those that share one are not,
/// and one that sees none is in no pair.
#[test]
fn places_without_a_way_are_named() {
    let mut ephemeris = of(&[Shell::delta("a", 550.0, 53.0, 12, 8)]);
    let seen =
        |numbers: &[usize]| numbers.iter().map(|number| SatelliteId::from(*number)).collect();
    let places: [Vec<SatelliteId>; 4] = [seen(&[0, 1]), seen(&[1, 9]), seen(&[20]), seen(&[])];
    for (range, separated) in [("100 km", vec![[0, 2], [1, 2]]), ("6000 km", vec![])] {
        let range = spec(&[("range", range), ("lasers", "10")]);
        let limits = Limits::default();
        let mut router = laid_out(&range, &mut ephemeris, limits);
        router.update(&ephemeris);
        assert_eq!(router.components().separated(&places), separated);
    }
}

/// Between two arrangements, links go off but none is set up; a router arranges at the first update of each period.
#[test]
fn routers_arrange_once_in_a_period() {
    let mut ephemeris =
        of(&[Shell::delta("a", 550.0, 53.0, 12, 8), Shell::delta("b", 800.0, 70.0, 12, 8)]);
    let limits = Limits { longest_m: 3e6, ..Limits::default() };
    let range = spec(&[("range", "3000 km"), ("every", "300 s")]);
    let mut router = laid_out(&range, &mut ephemeris, limits);
    assert_eq!(ephemeris.now(), at(0));
    let all = router.links().to_vec();
    let first = over_time(&mut router, &mut ephemeris, 0);
    assert!(first.len() > 50, "{}", first.len());
    let late = over_time(&mut router, &mut ephemeris, 299);
    assert!(late.len() < first.len() && late.iter().all(|ends| first.contains(ends)));
    let next = over_time(&mut router, &mut ephemeris, 301);
    assert!(next.iter().any(|ends| !first.contains(ends)));
    assert!(all.len() > first.len());
    // At the instant of an arrangement it is that of the layout itself; after the last one, that one stays.
    let mut layout = build(&range, &ephemeris, limits);
    for seconds in [0, 300, 600, 900, 1_200, 1_500] {
        let found = over_time(&mut router, &mut ephemeris, seconds);
        if seconds <= 1_200 {
            let mut links = arranged(&mut *layout, &ephemeris);
            links.sort_unstable();
            assert_eq!(found, links.iter().map(Isl::ends).collect::<Vec<_>>());
        }
    }
    assert_eq!(router.links(), all, "all links have their numbers from the start");
}

#[test]
fn wrong_layouts_are_refused() {
    let read = |pairs: &[(&str, &str)]| {
        let mut table = leobench_base::spec::Table::new();
        for (key, value) in pairs {
            let number = value.parse().map(Value::Integer);
            table.insert(key, number.unwrap_or_else(|_| Value::String((*value).into())));
        }
        LayoutSpec::read(&Value::Table(table), &At::ROOT).unwrap_err().to_string()
    };
    for (pairs, problem) in [
        (&[("kind", "plus")][..], "plus_grid"),
        (&[("range", "0 km")], "is zero; allowed: a distance above zero"),
        (&[("range", "900 km"), ("lasers", "0")], "a whole number from 1 to 64"),
        (&[("range", "900 km"), ("every", "10 ms")], "is too short; allowed: 1 s"),
        (&[("kind", "range")], "range"),
        (&[("kind", "plus_grid"), ("seam", "shut")], "open"),
    ] {
        let message = read(pairs);
        assert!(message.contains(problem), "{message}");
    }
    let alone =
        Constellation::of_shells(&[Shell::delta("d", 550.0, 53.0, 1, 1)], Epoch::J2000, false);
    let fault = LayoutSpec::default().model().build(&alone, Limits::default()).unwrap_err();
    assert_eq!(fault.field, "layout");
}
