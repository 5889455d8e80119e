//! Losses of known cause, and whether controllers take them for congestion.

use super::{MacoSpec, tell, unserved};
use crate::congestion::tests::flow::{Cause, Flow, Link, PATH};
use crate::congestion::{CongestionModel, CubicSpec, OliaSpec};

const CAUSES: [Cause; 3] = [Cause::Queue, Cause::Random, Cause::Outage];

/// Losses that begin a recovery, or would, by cause: how many were taken for congestion, and how many there were. A path of
/// 20 Mbit/s and 50 ms loses packets at a full queue of half a product, some at random, and all of 100 ms every 15 s.
fn table(model: &dyn CongestionModel, loss: f64, seconds: u32) -> [[usize; 2]; 3] {
    let link = Link { loss, ..Link::new(20_000_000, 50, 52) };
    let mut flow = Flow::new(model, link, true, 11);
    for tenth in 1..=seconds * 10 {
        flow.outage = tenth % 150 == 0;
        if flow.outage {
            flow.controller.on_access(PATH, &unserved(PATH, 0, flow.now));
        } else {
            tell(&mut flow, 20.0 * 1_228.0 / 1_200.0);
        }
        flow.run_until(f64::from(tenth) / 10.0);
    }
    let mut counts = [[0; 2]; 3];
    let mut recovery = None;
    for told in &flow.told {
        if recovery.is_some_and(|start| told.sent <= start) {
            continue;
        }
        let at = CAUSES.iter().position(|cause| *cause == told.cause).unwrap();
        counts[at][0] += usize::from(told.reduced);
        counts[at][1] += 1;
        // Losses of what was in flight belong to the same event, whether it was answered or not.
        recovery = Some(told.now);
    }
    counts
}

fn print(name: &str, loss: f64, counts: [[usize; 2]; 3]) {
    let [queue, random, outage] = counts.map(|[taken, all]| format!("{taken}/{all}"));
    println!("{name:<8} {loss:<8} full queue {queue:>9}  random {random:>9}  handover {outage:>7}");
}

fn confuse(seconds: u32) {
    for loss in [1e-5, 1e-4, 1e-3] {
        let maco = table(&MacoSpec::default(), loss, seconds);
        print("maco", loss, maco);
        for (name, model) in [
            ("olia", &OliaSpec::default() as &dyn CongestionModel),
            ("cubic", &CubicSpec::default()),
        ] {
            let counts = table(model, loss, seconds);
            print(name, loss, counts);
            for [taken, all] in counts {
                assert_eq!(taken, all, "{name}: every loss counts");
            }
        }
        let [[queue, full], [random, lost], [outage, _]] = maco;
        assert!(queue == full || queue as f64 > 0.9 * full as f64, "{queue} of {full}");
        assert_eq!(outage, 0, "reports say that no satellite serves");
        assert!(random < lost || lost == 0, "{random} of {lost}");
    }
}

#[test]
fn losses_at_a_full_queue_are_congestion_and_others_often_not() {
    confuse(120);
}

#[test]
#[ignore = "the long form of the last"]
fn losses_of_known_cause_in_long_runs() {
    confuse(3_000);
}
