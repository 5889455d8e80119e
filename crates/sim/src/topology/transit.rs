//! The network in orbit over time: lasers, forwarding tables, and where packets go up and down.

use leobench_base::{DirectionId, SimDuration};

/// The part of a way between a station on the ground and a satellite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// Number of the satellite.
    pub satellite: u32,
    /// Number of the station among all: terminals first, then gateways.
    pub station: u32,
    /// Delay between both.
    pub delay: SimDuration,
}

/// The next hop of packets at a satellite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NextHop {
    /// Nobody knows a way.
    #[default]
    Nowhere,
    /// Over a laser: twice its number, and one more against its direction.
    Over(u32),
    /// Down to the destination.
    Down,
}

/// The traffic of a laser in one direction since the last time that it was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaserLoad {
    /// Time in transmissions that ended.
    pub busy: SimDuration,
    /// Waits of the packets whose transmissions began, all together.
    pub waited: SimDuration,
    /// Number of these packets.
    pub packets: u64,
}

/// The way of packets of a link in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransitWay {
    /// Numbers of the stations where packets go up and come down.
    pub stations: [u32; 2],
    /// Numbers of the satellites, in order of travel.
    pub satellites: Vec<u32>,
    /// Propagation delay from end to end, without the link's own.
    pub delay: SimDuration,
}

impl TransitWay {
    /// Whether packets pass the same stations and satellites on both, or have neither.
    pub fn are_same(one: Option<&Self>, other: Option<&Self>) -> bool {
        one.map(Self::places) == other.map(Self::places)
    }

    fn places(&self) -> ([u32; 2], &[u32]) {
        (self.stations, &self.satellites)
    }
}

/// State of the network in orbit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransitUpdate {
    /// By laser, its delay; none while it is off.
    pub lasers: Vec<Option<SimDuration>>,
    /// Changed next hops: destination, satellite, and where to from now on.
    pub next_hops: Vec<(u32, u32, NextHop)>,
    /// Changed routes of links that have their own: by direction, the lasers in order.
    pub routes: Vec<(DirectionId, Vec<u32>)>,
    /// Searches since the last update in which a link whose route is the second of a pair found none, although there is a first.
    pub missing_routes: u64,
    /// By destination, the satellites from which it can be reached.
    pub exits: Vec<Vec<Leg>>,
    /// By direction of a link, where its packets go up; none without a way.
    pub entries: Vec<(DirectionId, Option<Leg>)>,
    /// Directions of links whose packets take another way, or none, from now on; all of them at the start.
    pub ways: Vec<(DirectionId, Option<TransitWay>)>,
}
