//! Path schedulers: they choose the path of the next packet of a connection with several paths. Each has one file, and one line
//! here registers it.

use leobench_base::spec::Fault;
use leobench_base::{RngTree, SimTime};

pub use crate::path_choice::{Backlog, Choice, PathIds, PathScheduler, PathView};
use crate::plugin::Plugins;

/// Inputs for building a path scheduler.
#[derive(Clone, Copy, Debug)]
pub struct PathSchedulerContext<'a> {
    /// The names of the connection's links (`multipath.links`).
    pub links: &'a [String],
    /// Random streams of a random scheduler.
    pub rng: &'a RngTree,
    /// The host of plug-ins.
    pub plugins: &'a Plugins,
}

/// A path scheduler specification: builds its scheduler.
pub trait PathSchedulerModel {
    /// Checks whether it can serve a connection over links of these names, given a host of plug-ins.
    ///
    /// # Errors
    /// If it cannot.
    fn check(&self, links: &[String], plugins: &Plugins) -> Result<(), Fault> {
        let _ = (links, plugins);
        Ok(())
    }

    /// Builds the scheduler.
    ///
    /// # Errors
    /// A description of the failure of a plug-in.
    fn build(&self, context: &PathSchedulerContext<'_>) -> Result<Box<dyn PathScheduler>, String>;
}

leobench_base::kinds! {
    /// A path scheduler, by name.
    pub enum PathSchedulerSpec as dyn PathSchedulerModel {
        RoundRobin(mod round_robin::RoundRobinSpec) = "round_robin",
        MinRtt(mod min_rtt::MinRttSpec) = "min_rtt",
        Blest(mod blest::BlestSpec) = "blest",
        Ecf(mod ecf::EcfSpec) = "ecf",
        EarliestArrival(mod earliest_arrival::EarliestArrivalSpec) = "earliest_arrival",
        Redundant(mod redundant::RedundantSpec) = "redundant",
        Python(pub mod python::PythonSpec) = "python",
    }
}

impl PathSchedulerSpec {
    /// The name of a path scheduler in messages.
    pub fn name(&self) -> String {
        let Self::Python(spec) = self else { return self.kind().to_owned() };
        spec.python.clone()
    }
}

impl Default for PathSchedulerSpec {
    fn default() -> Self {
        Self::MinRtt(min_rtt::MinRttSpec::default())
    }
}

/// The path with the shortest round-trip time, and among those with room the one with the shortest: mostly the same.
fn fastest(now: SimTime, paths: &[PathView]) -> Option<(&PathView, &PathView)> {
    let shortest = |path: &&PathView| (path.rtt, path.id);
    let fast = paths.iter().min_by_key(shortest)?;
    if fast.has_room(now) {
        return Some((fast, fast));
    }
    let available = paths.iter().filter(|path| path.has_room(now)).min_by_key(shortest)?;
    Some((fast, available))
}

#[cfg(test)]
mod tests;
