//! Groups of satellites between which no link leads, and the places that such a gap separates.

use super::graph::{Graph, NONE};
use crate::motion::SatelliteId;

/// The connected components of the links that are on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    /// By satellite, the lowest number of a satellite in the same component.
    of: Vec<usize>,
}

impl Components {
    pub(super) fn new(graph: &Graph) -> Self {
        let mut components = Self { of: (0..graph.satellites()).collect() };
        for (link, delay) in graph.links().iter().zip(graph.delays()) {
            if *delay != NONE {
                let [one, other] = link.ends().map(|end| components.root(end.index()));
                components.of[one.max(other)] = one.min(other);
            }
        }
        for satellite in 0..components.of.len() {
            components.of[satellite] = components.root(satellite);
        }
        components
    }

    fn root(&mut self, satellite: usize) -> usize {
        let mut at = satellite;
        while self.of[at] != at {
            self.of[at] = self.of[self.of[at]];
            at = self.of[at];
        }
        at
    }

    /// Number of components.
    pub fn count(&self) -> usize {
        self.of.iter().enumerate().filter(|(satellite, of)| satellite == *of).count()
    }

    /// Whether links lead from one satellite to another.
    pub fn joined(&self, one: SatelliteId, other: SatelliteId) -> bool {
        self.of[one.index()] == self.of[other.index()]
    }

    /// The pairs of places, by number, between which no way leads, from the satellites that each of them can use. A place that
    /// can use none is in no pair: it has no way to anywhere, whatever the links.
    pub fn separated(&self, places: &[Vec<SatelliteId>]) -> Vec<[usize; 2]> {
        let mut pairs = Vec::new();
        for (one, from) in places.iter().enumerate() {
            for (other, to) in places.iter().enumerate().skip(one + 1) {
                let mut both = from.iter().flat_map(|from| to.iter().map(move |to| (*from, *to)));
                let seen = !from.is_empty() && !to.is_empty();
                if seen && !both.any(|(from, to)| self.joined(from, to)) {
                    pairs.push([one, other]);
                }
            }
        }
        pairs
    }
}
