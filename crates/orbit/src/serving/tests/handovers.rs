use leobench_base::{RngTree, SimDuration, SimTime};

use crate::elements::presets::preset;
use crate::frame::{Angle, Epoch, Geodetic};
use crate::motion::{Constellation, Ephemeris, SPACING, Track};
use crate::serving::starlink::{Starlink, StarlinkSpec};
use crate::serving::{Assignment, Handover, HandoverCost, Handovers, Terminal};
use crate::visibility::{Observer, View};

fn start() -> Epoch {
    Epoch::parse("2024-07-15T10:00:00").unwrap()
}

fn at(seconds: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_secs(seconds)
}

/// With a step that misses the grid, handovers are at seconds 12, 27, 42 and 57 all the same, and repeat with the seed.
#[test]
fn handovers_of_starlink_are_on_its_grid() {
    let shells = (preset("starlink").unwrap().shells)();
    let constellation = Constellation::of_shells(&shells, start(), true);
    let ephemeris = Ephemeris::new(constellation, start(), SPACING).unwrap();
    let place = Track::fixed(&Geodetic::from_degrees(50.67, 4.61, 100.0)).unwrap();
    let observer = Observer::new(place, View::above(Angle::from_degrees(25.0)));
    let run = |seed: u64| -> Vec<Handover> {
        let tree = RngTree::new(seed);
        let policy = Starlink::new(StarlinkSpec::default(), start(), tree.child("choice").rng());
        let terminal = Terminal {
            observer: observer.clone(),
            gateways: Vec::new(),
            policy: Box::new(policy),
            apart: None,
            cost: HandoverCost::default(),
            rng: tree.child("gap").rng(),
        };
        let mut assignment = Assignment::new(ephemeris.clone(), vec![terminal]);
        let step = SimDuration::from_secs(10);
        Handovers::new(&mut assignment, step, at(0), at(1_200)).map(Result::unwrap).collect()
    };
    let handovers = run(1);
    assert!(handovers.len() > 40, "{}", handovers.len());
    for handover in &handovers[1..] {
        assert_eq!(handover.at.as_nanos() % 15_000_000_000, 12_000_000_000);
    }
    assert_eq!(run(1), handovers);
    assert_ne!(run(2), handovers);
}
