//! The fate of packets on a link that is left: the drops of a handover.

use leobench_base::{Descriptor, DirectionId, NodeId};
use leobench_link::{AfterOverlap, Cause};

use crate::network::schedule::Entity;
use crate::network::{Network, NetworkError};
use crate::topology::LeftPackets;

/// A packet that waits at a node for a way to go on.
pub(in crate::network) struct Held {
    pub(super) node: NodeId,
    pub(super) packet: Descriptor,
}

impl Network {
    /// A link is left in one direction: its packets are dropped, or go on, as the scenario says.
    pub(super) fn drop_left_packets(
        &mut self,
        direction: DirectionId,
        left: LeftPackets,
    ) -> Result<(), NetworkError> {
        if self.transmitters.as_ref().is_some_and(|shared| shared.serve(direction)) {
            self.leave_shared_link(direction, left)?;
        }
        if self.transit.as_ref().is_some_and(|transit| transit.serves(direction)) {
            self.leave_transit(direction, left)?;
            if left == LeftPackets::Forward {
                return Ok(());
            }
        }
        let out = &mut self.link_output;
        match left {
            LeftPackets::Drain => return Ok(()),
            LeftPackets::Deliver => {
                self.directions[direction].drop_waiting(self.now, Cause::HANDOVER, out);
            }
            LeftPackets::Drop => {
                self.directions[direction].drop_all(self.now, Cause::HANDOVER, out);
            }
            LeftPackets::Forward => {
                let node = self.forwarding.edge(direction).from;
                let mut packets = Vec::new();
                self.directions[direction].flush(self.now, &mut packets, out);
                self.held.extend(packets.into_iter().map(|packet| Held { node, packet }));
            }
        }
        self.wakes.set(Entity::Direction(direction), self.directions[direction].next_wake());
        self.deliver(direction)
    }

    /// Lets the packets on a link go on over its former way.
    pub(super) fn begin_overlap(&mut self, direction: DirectionId) -> Result<(), NetworkError> {
        self.directions[direction].begin_overlap(self.now, &mut self.link_output);
        self.wakes.set(Entity::Direction(direction), self.directions[direction].next_wake());
        self.deliver(direction)
    }

    /// The former way of a link is left.
    pub(super) fn end_overlap(
        &mut self,
        direction: DirectionId,
        left: LeftPackets,
    ) -> Result<(), NetworkError> {
        if self.transmitters.as_ref().is_some_and(|shared| shared.serve(direction)) {
            return self.end_shared_overlap(direction, left);
        }
        let after = match left {
            LeftPackets::Drain | LeftPackets::Forward => AfterOverlap::Drain,
            LeftPackets::Deliver => AfterOverlap::DropWaiting(Cause::HANDOVER),
            LeftPackets::Drop => AfterOverlap::DropAll(Cause::HANDOVER),
        };
        self.directions[direction].end_overlap(self.now, after, &mut self.link_output);
        self.wakes.set(Entity::Direction(direction), self.directions[direction].next_wake());
        self.deliver(direction)
    }
}
