//! Networks that Hypatia generated.

use leobench_base::SimTime;
use leobench_base::spec::Fault;
use leobench_sim::scenario::Forwarded;
use pyo3::prelude::*;

use crate::errors::InputError;

/// The next hops that change: node, destination, and the next node from then on.
type Changes = Vec<(u32, u32, Option<u32>)>;

/// A folder that Hypatia generated. Nodes are numbered: satellites from 0, then ground stations.
#[pyclass(module = "leobench._core", frozen)]
pub(crate) struct HypatiaNetwork(Forwarded);

#[pymethods]
impl HypatiaNetwork {
    #[new]
    fn new(folder: &str) -> PyResult<Self> {
        Forwarded::read(folder).map(Self).map_err(|fault| wrong(&fault))
    }

    /// The number of satellites.
    #[getter]
    fn satellites(&self) -> usize {
        self.0.network.satellites.len()
    }

    /// The names of the ground stations.
    #[getter]
    fn stations(&self) -> Vec<&str> {
        self.0.network.stations.iter().map(|station| station.name.as_str()).collect()
    }

    /// The forwarding state: nanoseconds after the epoch, the file, and what changes then.
    fn changes(&self) -> Vec<(u64, &str, Changes)> {
        let states = self.0.states.iter();
        let told = states.map(|state| {
            let hops = state.hops.iter().map(|hop| (hop.node, hop.end, hop.next)).collect();
            (state.at.as_nanos(), state.file.as_str(), hops)
        });
        told.collect()
    }

    /// Metres that a link between two nodes may have at most.
    fn longest_m(&self, one: u32, other: u32) -> f64 {
        self.0.network.longest_m(one, other)
    }

    /// Positions of nodes in metres (ECEF), each at a time in nanoseconds after the epoch.
    fn positions(&self, wanted: Vec<(u64, usize)>) -> PyResult<Vec<[f64; 3]>> {
        let wanted = wanted.into_iter().map(|(nanos, node)| (SimTime::from_nanos(nanos), node));
        self.0.positions(&wanted.collect::<Vec<_>>()).map_err(|fault| wrong(&fault))
    }
}

fn wrong(fault: &Fault) -> PyErr {
    InputError::new_err(format!("{}; allowed: {}", fault.problem, fault.allowed))
}
