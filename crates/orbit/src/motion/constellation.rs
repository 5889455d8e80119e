//! A constellation: all satellites, numbered, with the shells that they belong to.

use std::ops::Range;

use leobench_base::SatelliteId;

use super::orbit::OrbitError;
use super::satellite::Satellite;
use super::walker::Shell;
use crate::frame::{Epoch, State};

leobench_base::indices! {
    /// A terminal of an assignment.
    TerminalId
    /// A gateway on the ground.
    GatewayId
    /// A destination that routes lead to.
    DestinationId
}

/// Satellites that a shell has placed: `planes` times `per_plane`, plane by plane.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedShell {
    /// The shell.
    pub shell: Shell,
    /// The number of its first satellite.
    pub first: usize,
}

impl PlacedShell {
    /// The satellite in a plane and a slot, both counted from 0 and taken around.
    pub fn satellite(&self, plane: usize, slot: usize) -> SatelliteId {
        let plane = plane % self.shell.planes;
        SatelliteId::from(self.first + plane * self.shell.per_plane + slot % self.shell.per_plane)
    }

    /// The numbers of its satellites.
    pub fn range(&self) -> Range<usize> {
        self.first..self.first + self.shell.planes * self.shell.per_plane
    }
}

/// All satellites of a run.
#[derive(Clone, Debug, Default)]
pub struct Constellation {
    satellites: Vec<Satellite>,
    shells: Vec<PlacedShell>,
}

impl Constellation {
    /// The satellites of shells at an epoch, in order; `with_j2` lets the Earth's flattening move the planes.
    pub fn of_shells(shells: &[Shell], epoch: Epoch, with_j2: bool) -> Self {
        let mut all = Self::default();
        for shell in shells {
            all.shells.push(PlacedShell { shell: shell.clone(), first: all.satellites.len() });
            all.satellites.extend(shell.satellites(epoch, with_j2));
        }
        all
    }

    /// Satellites of no shell, such as those of element sets.
    pub fn of_satellites(satellites: Vec<Satellite>) -> Self {
        Self { satellites, shells: Vec::new() }
    }

    /// All satellites by number.
    pub fn satellites(&self) -> &[Satellite] {
        &self.satellites
    }

    /// The shells that have placed satellites.
    pub fn shells(&self) -> &[PlacedShell] {
        &self.shells
    }

    /// The state of a satellite in the frame of the Earth.
    ///
    /// # Errors
    /// If its elements have no orbit there.
    pub fn state(&self, satellite: SatelliteId, at: Epoch) -> Result<State, OrbitError> {
        let satellite = &self.satellites[satellite.index()];
        match satellite.orbit.state(at) {
            Ok(state) => Ok(state.to_ecef(at)),
            Err(problem) => Err(OrbitError { satellite: satellite.name.clone(), at, problem }),
        }
    }
}
