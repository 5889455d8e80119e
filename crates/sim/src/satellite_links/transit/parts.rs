//! The ends and routes of links over a network in orbit.

use leobench_base::{DirectionId, SimDuration, SimTime};
use leobench_orbit::frame::light_delay;
use leobench_orbit::{Ephemeris, Observer, SatelliteId, Sighting};

use super::pinned::Pinned;
use crate::scenario::RouteChoice;
use crate::topology::{Leg, TransitWay};

/// A station that uses all satellites in its sky at once.
pub(in crate::satellite_links) struct Place {
    /// Its number among all stations: terminals first, then gateways.
    pub(in crate::satellite_links) station: u32,
    pub(in crate::satellite_links) observer: Observer,
    /// Delay over land to the end of a link, unless a hop of its own has it.
    pub(in crate::satellite_links) onwards: SimDuration,
    pub(in crate::satellite_links) seen: Vec<Sighting>,
}

impl Place {
    /// The way up to a satellite, wherever in the sky that is.
    pub(super) fn leg(&self, ephemeris: &Ephemeris, satellite: u32) -> Leg {
        let there = ephemeris.position(SatelliteId::from(satellite as usize));
        let delay = light_delay((there - self.observer.site().position()).norm()) + self.onwards;
        Leg { satellite, station: self.station, delay }
    }
}

/// An end of a link.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::satellite_links) enum LinkEnd {
    /// A terminal with a policy: its number among those of the assignment, and of its station.
    Served(usize, u32),
    /// Numbers of places, of which packets take the nearest.
    Free(Vec<usize>),
    /// The number of a place, and that of its station in a forwarding state, which selects the satellites.
    Selected(usize, usize),
}

/// A link.
pub(in crate::satellite_links) struct Route {
    pub(in crate::satellite_links) directions: [DirectionId; 2],
    /// The ends, as destinations: that of the first direction last.
    pub(in crate::satellite_links) ends: [usize; 2],
    /// The ways up of packets of both directions.
    pub(in crate::satellite_links) entries: [Option<Leg>; 2],
    /// The ways of packets of both directions.
    pub(in crate::satellite_links) ways: [Option<TransitWay>; 2],
    /// Whether the network knows whether there are any.
    pub(in crate::satellite_links) is_told: bool,
    /// Which route of a pair it has of its own, if packets do not follow the tables of satellites, and that route.
    pub(in crate::satellite_links) choice: Option<RouteChoice>,
    pub(in crate::satellite_links) pinned: Option<Pinned>,
}

impl Route {
    /// A link before anything is known of its ways.
    pub(in crate::satellite_links) fn new(
        directions: [DirectionId; 2],
        ends: [usize; 2],
        choice: Option<RouteChoice>,
    ) -> Self {
        let (entries, ways) = ([None; 2], [const { None }; 2]);
        Self { directions, ends, entries, ways, is_told: false, choice, pinned: None }
    }
}

/// When routes are searched.
pub(in crate::satellite_links) enum Searches {
    /// Again and again after this time.
    Every(SimDuration),
    /// At these instants, the last one first.
    At(Vec<SimTime>),
}
