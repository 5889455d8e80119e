//! Conformance tests that run on every path manager, and the decisions of each.

use leobench_base::{RngTree, SimDuration};

use super::*;

fn at(millis: u64) -> SimTime {
    SimTime::from_nanos(millis * 1_000_000)
}

/// Candidates over so many links to one address, with these paths.
fn candidates(paths: &[PathState]) -> Vec<Candidate> {
    let candidate = |(link, path): (usize, &PathState)| Candidate {
        link,
        peer: 0,
        is_backup: false,
        is_up: true,
        path: *path,
        handover: None,
    };
    paths.iter().enumerate().map(candidate).collect()
}

fn handover(from: u64, until: u64) -> HandoverForecast {
    HandoverForecast { from: at(from), until: at(until) }
}

fn build(kind: &str) -> Box<dyn PathManager> {
    let all = PathManagerSpec::examples();
    all.iter().find(|spec| spec.kind() == kind).unwrap().model().build()
}

fn decide(manager: &mut dyn PathManager, now: u64, candidates: &[Candidate]) -> Vec<Want> {
    let mut wants = vec![Want::Closed; candidates.len()];
    manager.decide(at(now), candidates, &mut wants);
    wants
}

use PathState::{Closed, Opening, Silent, Usable};

/// A client that does what its manager wants, with paths that open, fall silent and close at random.
#[test]
fn every_manager_keeps_a_path_wherever_one_is_up_and_settles() {
    for spec in PathManagerSpec::examples() {
        for seed in 0..50 {
            let mut rng = RngTree::new(seed).rng();
            let mut manager = spec.model().build();
            let links = 2 + rng.below(3) as usize;
            let mut known = candidates(&vec![Closed; links]);
            known[0].path = Usable;
            for step in 0..400 {
                let now = at(step * 100);
                let at_random = rng.below(links as u64) as usize;
                let candidate = &mut known[at_random];
                match rng.below(6) {
                    0 => candidate.is_up = !candidate.is_up,
                    1 if candidate.path == Opening => candidate.path = Usable,
                    2 if candidate.path == Usable => {
                        candidate.path = Silent(1 + rng.below(3) as u32);
                    }
                    3 if candidate.path != Closed => candidate.path = Usable,
                    4 if candidate.path == Opening => candidate.path = Closed,
                    5 => {
                        let from = now + SimDuration::from_millis(rng.below(3_000));
                        let until = from + SimDuration::from_millis(rng.below(500));
                        candidate.handover = Some(HandoverForecast { from, until });
                    }
                    _ => {}
                }
                let wants = settle(&mut *manager, now, &mut known, spec.kind());
                let up = known.iter().any(|candidate| candidate.is_up);
                let mut pairs = known.iter().zip(&wants);
                let kept = pairs.any(|(candidate, want)| candidate.is_up && *want != Want::Closed);
                assert!(kept || !up, "{}: {known:?} {wants:?}", spec.kind());
            }
        }
    }
}

/// Does what the manager wants until that does not change any more, and returns that.
fn settle(
    manager: &mut dyn PathManager,
    now: SimTime,
    known: &mut [Candidate],
    kind: &str,
) -> Vec<Want> {
    for _ in 0..10 {
        let mut wants = vec![Want::Closed; known.len()];
        if let Some(next) = manager.decide(now, known, &mut wants) {
            assert!(next > now, "{kind}: it would be asked for ever");
        }
        let before = known.to_vec();
        for (candidate, want) in known.iter_mut().zip(&wants) {
            match (candidate.path, want) {
                (Closed, Want::Path | Want::Backup) if candidate.is_up => candidate.path = Opening,
                (Opening | Usable | Silent(_), Want::Closed) => candidate.path = Closed,
                _ => {}
            }
        }
        if before == known {
            return wants;
        }
    }
    panic!("{kind}: never settles: {known:?}");
}

#[test]
fn per_interface_opens_everything() {
    let mut known = candidates(&[Usable, Closed, Opening]);
    known[2].is_backup = true;
    assert_eq!(
        decide(&mut *build("per_interface"), 0, &known),
        [Want::Path, Want::Path, Want::Backup]
    );
    known.push(Candidate { peer: 1, ..known[0] });
    assert_eq!(decide(&mut *build("per_interface"), 0, &known)[3], Want::Closed);
    assert_eq!(decide(&mut *build("full_mesh"), 0, &known)[3], Want::Path);
}

#[test]
fn managers_refuse_flows_that_lack_what_they_need() {
    let bare = ManagedFlow { has_peer_links: false, has_forecasts: false };
    for spec in PathManagerSpec::examples() {
        let refuses = matches!(spec.kind(), "full_mesh" | "make_before_break");
        assert_eq!(spec.model().check(bare).is_err(), refuses, "{}", spec.kind());
        let rich = ManagedFlow { has_peer_links: true, has_forecasts: true };
        assert!(spec.model().check(rich).is_ok());
    }
}

#[test]
fn standby_opens_the_next_path_when_one_fails_and_leaves_it_then() {
    let mut manager = build("standby");
    let mut now = |paths: &[PathState]| decide(&mut *manager, 0, &candidates(paths));
    assert_eq!(now(&[Usable, Closed, Closed]), [Want::Path, Want::Closed, Want::Closed]);
    assert_eq!(now(&[Silent(1), Closed, Closed])[1], Want::Closed, "a probe timeout is no failure");
    assert_eq!(now(&[Silent(2), Closed, Closed]), [Want::Path, Want::Path, Want::Closed]);
    assert_eq!(now(&[Silent(3), Opening, Closed]), [Want::Path, Want::Path, Want::Closed]);
    // The second one leads nowhere either.
    assert_eq!(now(&[Silent(4), Closed, Closed]), [Want::Path, Want::Closed, Want::Path]);
    assert_eq!(now(&[Silent(4), Closed, Opening]), [Want::Path, Want::Closed, Want::Path]);
    assert_eq!(now(&[Silent(4), Closed, Usable]), [Want::Closed, Want::Closed, Want::Path]);
    assert_eq!(now(&[Closed, Closed, Silent(2)]), [Want::Path, Want::Closed, Want::Path]);
    // It answers again before another one is there.
    assert_eq!(now(&[Opening, Closed, Usable]), [Want::Closed, Want::Closed, Want::Path]);
}

#[test]
fn make_before_break_replaces_a_path_a_lead_before_its_handover() {
    let mut manager = build("make_before_break");
    let mut known = candidates(&[Usable, Closed]);
    known[0].handover = Some(handover(5_000, 5_200));
    let mut wants = [Want::Closed; 2];
    let next = manager.decide(at(1_000), &known, &mut wants);
    assert_eq!((next, wants), (Some(at(4_000)), [Want::Path, Want::Closed]));
    assert_eq!(decide(&mut *manager, 4_000, &known), [Want::Path, Want::Path]);
    known[1].path = Opening;
    assert_eq!(decide(&mut *manager, 4_050, &known), [Want::Path, Want::Path]);
    known[1].path = Usable;
    assert_eq!(decide(&mut *manager, 4_100, &known), [Want::Backup, Want::Path]);
    // The backup is promoted at once when the other one is to be interrupted.
    known[0].handover = None;
    known[1].handover = Some(handover(9_000, 9_100));
    assert_eq!(decide(&mut *manager, 8_000, &known), [Want::Path, Want::Backup]);
}

#[test]
fn make_before_break_stays_if_the_other_path_is_interrupted_too() {
    let mut manager = build("make_before_break");
    let mut known = candidates(&[Usable, Usable]);
    known[0].handover = Some(handover(5_000, 5_200));
    known[1].handover = Some(handover(5_100, 5_300));
    assert_eq!(decide(&mut *manager, 4_500, &known), [Want::Path, Want::Backup]);
    known[0].path = Silent(2);
    assert_eq!(decide(&mut *manager, 4_600, &known), [Want::Backup, Want::Path]);
}
