//! The cost of the packets of one run.

use std::path::PathBuf;

use leobench_sim::load::{Source, Syntax, load};
use leobench_sim::record::MemorySink;
use leobench_sim::{Run, RunError, RunOptions};

use crate::timed;

/// Time of a run's packets in nanoseconds, and how many there were.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) nanos: f64,
    pub(crate) packets: u64,
}

impl Cost {
    /// Runs a scenario, seed 1, without setting up and summing up in its time.
    pub(crate) fn of(text: &str) -> Self {
        let cost = || -> Result<Self, Box<dyn std::error::Error>> {
            let file = "benchmark";
            let source = Source { file, text, syntax: Syntax::Toml, folder: PathBuf::new() };
            let scenario = load(&source, &[])?;
            let sink = Box::new(MemorySink::new()?);
            let mut run = Run::new(&scenario, 1, RunOptions::default(), sink)?;
            let (wall, done) = timed(|| drive(&mut run));
            done?;
            Ok(Self { nanos: wall.as_nanos() as f64, packets: run.finish()?.summary.packets })
        };
        cost().unwrap_or_else(|error| panic!("the benchmark's own scenario failed: {error}"))
    }

    pub(crate) fn per_packet(self) -> f64 {
        self.nanos / self.packets as f64
    }
}

/// The part of a run that is measured: its packets, without what comes before and after.
#[inline(never)]
fn drive(run: &mut Run) -> Result<(), RunError> {
    run.to_end()
}
