//! Adaptation: which bitrate of the ladder the next segment is asked for in. One file per algorithm, one line here to
//! register it.

use leobench_base::RngTree;
use leobench_base::spec::Fault;
use leobench_transport::Plugins;
pub use leobench_transport::video::{Adaptation, Download, PlayerView};

use crate::film::Film;

/// The inputs of an algorithm besides its own parameters.
#[derive(Clone, Copy, Debug)]
pub struct AdaptationContext<'a> {
    /// The film whose bitrates it chooses.
    pub film: &'a Film,
    /// Its random stream.
    pub rng: &'a RngTree,
    /// The hosts of algorithms that are plug-ins.
    pub plugins: &'a Plugins,
}

/// The specification of an algorithm.
pub trait AdaptationModel {
    /// Checks whether it can be built for a film.
    ///
    /// # Errors
    /// If it cannot.
    fn check(&self, film: &Film, plugins: &Plugins) -> Result<(), Fault> {
        let _ = (film, plugins);
        Ok(())
    }

    /// Builds it.
    ///
    /// # Errors
    /// A description of the failure of a plug-in.
    fn build(&self, context: &AdaptationContext<'_>) -> Result<Box<dyn Adaptation>, String>;
}

leobench_base::kinds! {
    /// How a player chooses bitrates.
    pub enum AdaptationSpec as dyn AdaptationModel {
        Throughput(mod throughput::ThroughputSpec) = "throughput",
        Buffer(mod buffer::BufferSpec) = "buffer",
        Bola(mod bola::BolaSpec) = "bola",
        Dynamic(mod dynamic::DynamicSpec) = "dynamic",
        L2a(mod l2a::L2aSpec) = "l2a",
        Fixed(mod fixed::FixedSpec) = "fixed",
        Python(mod python::PythonSpec) = "python",
    }
}

mod decaying_mean;
mod switch_history;

impl Default for AdaptationSpec {
    fn default() -> Self {
        Self::Throughput(throughput::ThroughputSpec::default())
    }
}

impl AdaptationSpec {
    /// Its name for messages: the class of one written in Python.
    pub fn name(&self) -> &str {
        match self {
            Self::Python(spec) => &spec.python,
            _ => self.kind(),
        }
    }
}

/// The highest bitrate of the ladder that is at most `limit`, or the lowest.
pub(crate) fn below(ladder: &[f64], limit: f64) -> usize {
    ladder.iter().rposition(|rate| *rate <= limit).unwrap_or(0)
}

#[cfg(test)]
mod tests;
