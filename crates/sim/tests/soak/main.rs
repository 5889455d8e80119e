//! Soak: a thousand handovers of every kind, and other counts that only grow. Whatever is kept per event must end with it.
//!
//! Every run keeps these invariants:
//! - Time passes: the network bounds the events of one instant, and a run beyond that bound fails.
//! - Memory is bounded: from the third quarter of a run to the last, what it keeps grows by no more than [`PER_EVENT`] for each
//!   event of the kind that is soaked (its line in the summary), and [`SLACK`] for buffers that grow by doubling.
//! - Every message arrives, once.
//! - No connection is lost while a path is up.
//!
//! `make test` takes a tenth of the events of `make test-slow`. `LEOBENCH_SOAK_SEED` sets another seed.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

#[path = "../common/mod.rs"]
mod common;
mod counts;
mod heap;
mod motion;

use common::scenario;
use leobench_sim::record::Nowhere;
use leobench_sim::summary::{FlowSummary, Summary};
use leobench_sim::{Run, RunOptions};

/// Bytes that a run may keep for every event: a handover's line in the summary, a path's totals, and what arrived every 10 ms.
const PER_EVENT: i64 = 6_000;
/// The same where connections are given up with packets under way, which nobody ever judges: up to a limit, each is kept.
const PER_LOST_CONNECTION: i64 = 24_000;
/// Bytes by which buffers may have grown besides.
const SLACK: i64 = 250_000;

/// Events of the short form and of the long one.
const SHORT: u64 = 100;
const LONG: u64 = 1_000;

/// The seed of all runs.
fn seed() -> u64 {
    std::env::var("LEOBENCH_SOAK_SEED").map_or(1, |seed| seed.parse().expect("a whole number"))
}

/// Runs a scenario to its end. Those of its `events` that come in the last quarter may not keep more memory than their lines take.
fn soak(name: &str, text: &str, events: u64) -> Summary {
    let scenario = scenario(text);
    let mut run = Run::new(&scenario, seed(), RunOptions::default(), Box::new(Nowhere))
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut kept = Vec::new();
    loop {
        let progress = run.advance(200).unwrap_or_else(|error| panic!("{name}: {error}"));
        kept.push((progress.now.as_nanos(), heap::live()));
        if progress.done {
            break;
        }
    }
    let end = kept.last().unwrap().0;
    // The least of a quarter is what stays when no data is under way.
    let least = |quarter: u64| {
        let within = kept.iter().filter(|(at, _)| at * 4 / (end + 1) == quarter);
        within.map(|(_, live)| *live).min().unwrap_or_else(|| panic!("{name}: an idle quarter"))
    };
    let grown = least(3) - least(2);
    let per_event = if text.contains("reconnect") { PER_LOST_CONNECTION } else { PER_EVENT };
    let allowed = per_event * events as i64 / 4 + SLACK;
    assert!(grown <= allowed, "{name}: {grown} bytes more at the end, {allowed} allowed");
    run.finish().unwrap_or_else(|error| panic!("{name}: {error}")).summary
}

/// Checks that a flow delivered everything once over one connection.
fn assert_whole(name: &str, flow: &FlowSummary) {
    assert!(flow.lost.is_none(), "{name}: {:?}", flow.lost);
    assert!(flow.messages > 0, "{name}: no messages");
    assert_eq!(flow.undelivered_messages, 0, "{name}: of {}", flow.messages);
}
