//! Topologies: what moves in a network, and when. Each is a state machine that is handed the time, like everything else,
//! and says what changes; the network applies it.

mod access;
mod forecast;
mod foreseen;
mod handover;
mod transit;

use leobench_base::{DirectionId, LinkId, NodeId, SatelliteId, SimTime};
use leobench_link::ChannelState;

pub use access::{AccessConfig, AccessLink, AccessState, Division, Offer};
pub use forecast::ForecastConfig;
pub use foreseen::Foreseen;
pub use handover::{Handover, HandoverConfig, Transition, Trigger};
pub use transit::{LaserLoad, Leg, NextHop, TransitUpdate, TransitWay};

/// Something that changes the network's links in the course of a run: a timetable of handovers, a random process, a
/// constellation.
pub trait Topology: Send {
    /// When something changes next; `None` if nothing ever will unless a channel does.
    fn next_change(&self) -> Option<SimTime>;

    /// Appends what changes next, if that is at or before `now`. Several changes of one instant may take several calls, so that
    /// the caller can bound them.
    fn advance(&mut self, now: SimTime, changes: &mut Vec<Change>);

    /// Whether its changes depend on what lasers carry.
    fn wants_loads(&self) -> bool {
        false
    }

    /// Tells what each laser, by direction, has carried since the last time. Comes before [`advance`](Self::advance).
    fn observe(&mut self, now: SimTime, loads: &[LaserLoad]) {
        let _ = (now, loads);
    }

    /// A link was interrupted by its channel, or restored, perhaps by the state that it begins with; whether the next change may be
    /// another one now.
    fn on_channel(&mut self, now: SimTime, link: LinkId, up: bool) -> bool {
        let _ = (now, link, up);
        false
    }

    /// Shows what changes after the present and up to and including `until`, in order, if that can be known. The network gets the
    /// same changes when it gets there.
    fn foresee(&mut self, until: SimTime, see: &mut dyn FnMut(SimTime, &Change)) {
        let _ = (until, see);
    }
}

/// How a link takes part in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// Routes may lead over it.
    Active,
    /// It carries packets from and to the addresses of its interfaces, and no others.
    Standby,
    /// It carries nothing.
    Detached,
}

/// A change of the network.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A link takes part in another way from now on. If it is detached, `left` says what becomes of what is on it.
    Attach {
        /// The link.
        link: LinkId,
        /// How it takes part.
        attachment: Attachment,
        /// Fate of the packets on it.
        left: LeftPackets,
    },
    /// A link through a constellation offers something else in one direction.
    Channel {
        /// The direction of the link.
        direction: DirectionId,
        /// Its state from now on.
        state: ChannelState,
    },
    /// The link layer of a link through a constellation knows something else.
    Access {
        /// The link.
        link: LinkId,
        /// Its state from now on; none without a serving satellite, or during an outage.
        state: Option<AccessState>,
    },
    /// A satellite serves a link through a constellation again, or none does: its interfaces have a carrier, or lose it.
    Carrier {
        /// The link.
        link: LinkId,
        /// Whether they have one from now on.
        up: bool,
    },
    /// Another satellite serves a link, whose packets wait for the transmitters that it shares with other links, or none does.
    Serve {
        /// The link.
        link: LinkId,
        /// The satellite from now on.
        satellite: Option<SatelliteId>,
        /// Fate of the packets at the satellite before.
        left: LeftPackets,
        /// Whether that goes on with them until the overlap ends.
        overlaps: bool,
    },
    /// The way of a link through a constellation is another one from now on.
    Leave {
        /// The link.
        link: LinkId,
        /// Fate of the packets on it.
        left: LeftPackets,
    },
    /// A link through a constellation has another way from now on, while the old one goes on for what is on it.
    BeginOverlap {
        /// The link.
        link: LinkId,
    },
    /// The old way is left.
    EndOverlap {
        /// The link.
        link: LinkId,
        /// Fate of the packets that are still on it.
        left: LeftPackets,
    },
    /// The network between the two ends of links through a constellation is another one from now on.
    Transit(Box<TransitUpdate>),
    /// A stage of a handover is reached, for the record.
    Handover(HandoverStage),
}

leobench_base::words! {
    /// Fate of the packets on a link that is left, in both directions.
    pub enum LeftPackets {
        /// Those on the wire arrive; those in the queues are lost.
        Deliver = "deliver",
        /// Those in the queues are still sent, and all arrive.
        Drain = "drain",
        /// All are lost.
        Drop = "drop",
        /// Those on the wire arrive; those in the queues go back to the node where they wait, and take the new route
        /// from there.
        Forward = "forward",
    }
}

/// A stage of a handover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandoverStage {
    /// Number of the handover within its process, from 0.
    pub number: u64,
    /// The node that moves.
    pub node: NodeId,
    /// The link or satellite that it leaves.
    pub from: Access,
    /// The link or satellite that it moves to.
    pub to: Access,
    /// Whether packets go over the new one from the beginning, with the old one still there.
    pub overlaps: bool,
    /// Which stage.
    pub stage: Stage,
}

/// Access of a node to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A link.
    Link(LinkId),
    /// A satellite, by its number among the names of the network, over a link through a constellation; none while none
    /// serves.
    Satellite(LinkId, Option<SatelliteId>),
}

impl Access {
    /// The link.
    pub const fn link(self) -> LinkId {
        match self {
            Self::Link(link) | Self::Satellite(link, _) => link,
        }
    }
}

/// The stages of a handover. They fall together where there is neither outage nor overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It begins: the new link is in use (make before break), or the old one is left (break before make).
    Begin,
    /// It is over: the old link is left, and the new one in use.
    End,
    /// The next one begins before it is over: the node never had the new link.
    Cut,
}

impl Stage {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::End => "end",
            Self::Cut => "cut",
        }
    }
}
