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

/// State of the network in orbit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransitUpdate {
    /// By laser, its delay; none while it is off.
    pub lasers: Vec<Option<SimDuration>>,
    /// Changed next hops: destination, satellite, and where to from now on.
    pub next_hops: Vec<(u32, u32, NextHop)>,
    /// By destination, the satellites from which it can be reached.
    pub exits: Vec<Vec<Leg>>,
    /// By direction of a link, where its packets go up; none without a way.
    pub entries: Vec<(DirectionId, Option<Leg>)>,
}
