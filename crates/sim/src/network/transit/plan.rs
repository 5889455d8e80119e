//! The part of a network in orbit that stays the same: its links, hops and their queues.

use leobench_base::{BitRate, DirectionId, SimDuration};
use leobench_link::{Capacity, Causes, QueueDiscipline};

use crate::network::Way;
use crate::topology::LeftPackets;

/// A hop: a transmitter with its queue, and where its packets propagate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HopKey {
    /// A laser in one direction: twice its number, and one more against its direction.
    Laser(u32),
    /// From the ground to satellites.
    Up(Radio),
    /// From a satellite to the ground.
    Down {
        /// Number of the satellite.
        satellite: u32,
        /// For whom.
        radio: Radio,
    },
    /// Between a gateway and the second node of its links.
    Backhaul {
        /// Number of the station.
        station: u32,
        /// Whether from the gateway (`There`) or to it.
        way: Way,
    },
}

/// Those who share a transmitter between the ground and a satellite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Radio {
    /// One direction of a link.
    Link(DirectionId),
    /// All links of a station.
    Station(u32),
    /// All stations below a satellite.
    Satellite,
    /// The terminals of a cell that a satellite serves.
    Beam {
        /// Number of the satellite.
        satellite: u32,
        /// Number of the cell.
        cell: u32,
    },
}

/// Those who share the transmitters between a terminal and satellites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Nobody: each link has its own.
    Link,
    /// All links of the terminal up, and all stations below the satellite down.
    Station,
    /// The terminals of a cell that the same satellite serves, by the number of the cell.
    Cell(u32),
}

/// Parts of a hop that is to be built.
pub struct HopParts {
    /// Its name in results.
    pub name: String,
    /// Its queue and rate.
    pub transmitter: HopTransmitter,
}

/// The transmitter of a hop.
pub enum HopTransmitter {
    /// Packets only propagate.
    None,
    /// A queue discipline.
    Queue(Box<dyn QueueDiscipline>, HopRate),
    /// A drop-tail queue of this capacity, at the same rate for all; for lasers.
    DropTail(BitRate, Capacity),
}

/// The rate at which a hop sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HopRate {
    /// That of all packets.
    Fixed(BitRate),
    /// That of each packet's link between satellites and terminals, and this one between satellites and gateways.
    OfLinks(BitRate),
}

/// Builds a hop when the first packet comes.
pub type HopFactory = Box<dyn Fn(HopKey) -> HopParts + Send>;

/// The way of packets of one direction of a link, as far as it stays the same.
#[derive(Clone, Copy, Debug)]
pub struct TransitRoute {
    /// Number of the destination.
    pub destination: u32,
    /// Those who share the transmitters at the terminal's end.
    pub sharing: Sharing,
    /// Whether the packets come from a terminal.
    pub from_terminal: bool,
}

/// A network in orbit.
pub struct TransitPlan {
    /// Number of satellites.
    pub satellites: usize,
    /// Lasers: numbers of both satellites.
    pub lasers: Vec<[u32; 2]>,
    /// Number of destinations.
    pub destinations: usize,
    /// By station, the delay of its backhaul, if it has one with a queue.
    pub backhauls: Vec<Option<SimDuration>>,
    /// The links.
    pub routes: Vec<(DirectionId, TransitRoute)>,
    /// Whether packets carry routes along.
    pub source_routed: bool,
    /// Fate of the packets at a laser that goes off, and at a satellite that a terminal leaves.
    pub left: LeftPackets,
    /// The causes for which queues drop and mark.
    pub causes: Causes,
    /// Builds hops.
    pub factory: HopFactory,
}
