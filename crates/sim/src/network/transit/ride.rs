//! A packet on its way through the network in orbit.

use leobench_base::{SimDuration, SimTime};

use super::routes::RouteId;

/// The most satellites that are remembered: loops that begin when tables change are shorter.
const MOST_REMEMBERED: usize = 12;

/// State of a packet between both ends of its link that satellites leave alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ride {
    /// When it entered its link.
    pub(super) entered: SimTime,
    /// Time in queues so far.
    pub(super) queued: SimDuration,
    /// Delay of the way that it takes, as it was when it came there.
    pub(super) delay_ahead: SimDuration,
    /// Number of the satellite behind a way up, of the station behind one down.
    pub(super) node_ahead: u32,
    /// The route that it carries along, if it does not follow tables.
    pub(super) route: Option<RouteId>,
    /// Whether its first transmission has begun.
    pub(super) departed: bool,
}

/// The satellites on a packet's way so far.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Trail {
    /// The state of the tables when the packet entered its link.
    epoch: u32,
    /// Satellites so far.
    hops: u16,
    /// The latest satellites on its way, by their number among all so far.
    visited: [u16; MOST_REMEMBERED],
}

const _: () = assert!(size_of::<Trail>() == 32, "two trails fill a cache line");

/// How a packet came to a satellite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visit {
    /// For the first time.
    First,
    /// Again, after the tables have changed on its way.
    Again,
    /// Too often: it will not get out of a circle.
    TooOften,
}

/// After so many satellites, a packet goes in a circle.
const MOST_HOPS: u16 = 255;

impl Ride {
    /// A packet enters its link.
    pub(super) const fn new(now: SimTime) -> Self {
        Self {
            entered: now,
            queued: SimDuration::ZERO,
            delay_ahead: SimDuration::ZERO,
            node_ahead: 0,
            route: None,
            departed: false,
        }
    }
}

impl Trail {
    /// A packet enters its link.
    pub(super) const fn new(epoch: u32) -> Self {
        Self { epoch, hops: 0, visited: [0; MOST_REMEMBERED] }
    }

    /// The packet is at a satellite, whose tables have this state. Within one state of the tables no packet meets a satellite twice,
    /// so nobody looks before it changes.
    #[inline]
    pub(super) fn visit(&mut self, satellite: u32, epoch: u32) -> Visit {
        let known = usize::from(self.hops).min(MOST_REMEMBERED);
        let satellite = satellite as u16;
        let again = self.epoch != epoch && self.visited[..known].contains(&satellite);
        self.visited[usize::from(self.hops) % MOST_REMEMBERED] = satellite;
        self.hops += 1;
        if self.hops >= MOST_HOPS {
            Visit::TooOften
        } else if again {
            Visit::Again
        } else {
            Visit::First
        }
    }

    /// Lasers on its way so far, as it is at a satellite.
    pub(super) fn lasers_passed(&self) -> usize {
        usize::from(self.hops).saturating_sub(1)
    }

    /// From the satellite where it is, the packet follows tables, which may lead it back.
    pub(super) const fn leave_route(&mut self) {
        self.epoch = self.epoch.wrapping_sub(1);
    }

    /// Whether the packet has been at a satellite.
    pub(super) const fn is_up(&self) -> bool {
        self.hops > 0
    }
}
