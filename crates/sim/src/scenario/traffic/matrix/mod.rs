//! Traffic matrices: which place sends which share of the transfers to which. One file per matrix, one line here to register it.

use std::path::Path;

use leobench_base::SimRng;
use leobench_base::spec::Fault;

pub(super) use super::places::Place;

/// The share of an ordered pair of places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Number of the place that sends.
    pub from: usize,
    /// Number of the place that receives.
    pub to: usize,
    /// Its weight among all demands.
    pub weight: f64,
}

/// Inputs of a matrix.
pub struct MatrixContext<'a> {
    /// The places, at least two.
    pub places: &'a [Place],
    /// Folder that the relative file names start from.
    pub folder: &'a Path,
}

/// A specification of a matrix.
pub trait MatrixModel {
    /// Returns the demands: no place sends to itself, no pair comes twice, and all weights are above zero. Random ones draw from
    /// `rng`.
    ///
    /// # Errors
    /// If the places do not suit the matrix, or its file is wrong.
    fn demands(&self, context: &MatrixContext<'_>, rng: &mut SimRng) -> Result<Vec<Demand>, Fault>;
}

leobench_base::kinds! {
    /// A traffic matrix, by name.
    pub enum MatrixSpec as dyn MatrixModel {
        Permutation(mod permutation::PermutationSpec) = "permutation",
        Pairing(mod pairing::PairingSpec) = "pairing",
        Uniform(mod uniform::UniformSpec) = "uniform",
        Gravity(mod gravity::GravitySpec) = "gravity",
        HotSpot(pub mod hot_spot::HotSpotSpec) = "hot_spot",
        File(mod file::FileSpec) = "file",
    }
}

/// All ordered pairs of different numbers below `count`.
fn ordered_pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count)
        .flat_map(move |from| (0..count).filter(move |to| *to != from).map(move |to| (from, to)))
}
