//! Rules that every algorithm keeps.

use leobench_base::{Bytes, SimDuration, SimTime};

use super::{Bounds, Fate, Feedback, RateControl, RateControlSpec};

const BOUNDS: Bounds = Bounds { least: 1e5, start: 3e5, most: 2e6 };

/// Feedback for ten packets of every 50 ms, all of a fate, for a minute.
fn drive(control: &mut dyn RateControl, transit: impl Fn(u64) -> Option<SimDuration>) {
    for round in 0..1_200 {
        let now = SimTime::from_nanos(50_000_000 * round);
        let mut fates = Vec::new();
        for number in 10 * round..10 * round + 10 {
            control.on_produced(now, Bytes::new(1_000));
            control.on_sent(now, number, Bytes::new(1_000));
            let arrival = transit(round).map(|transit| now + transit);
            let (sent, bytes) = (now, Bytes::new(1_000));
            fates.push(Fate { number, sent, bytes, arrival, is_marked: false });
        }
        let feedback = Feedback { fates: &fates, held: SimDuration::ZERO, queued: Bytes::ZERO };
        control.on_feedback(now + SimDuration::from_millis(40), &feedback);
        let target = control.target();
        assert!((BOUNDS.least..=BOUNDS.most).contains(&target), "{target}");
        assert!(control.pacing() > 0.0);
    }
}

/// Every target stays within its limits, whatever arrives or does not.
#[test]
fn targets_stay_within_their_limits() {
    for spec in RateControlSpec::examples() {
        let build = || spec.model().build(BOUNDS);
        assert!((build().target() - BOUNDS.start).abs() < 1e-6, "{}", spec.kind());
        drive(&mut *build(), |_| Some(SimDuration::from_millis(20)));
        drive(&mut *build(), |round| Some(SimDuration::from_millis(20 + round)));
        drive(&mut *build(), |round| (round % 2 == 0).then(|| SimDuration::from_millis(20)));
        drive(&mut *build(), |_| None);
    }
}
