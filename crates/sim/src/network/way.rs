//! The way into the network: where the packets of an endpoint go.

use std::net::SocketAddr;

use leobench_base::{Descriptor, DirectionId, EndpointId, Label, Meta, NodeId, Packet};
use leobench_link::Cause;

use super::forwarding::Hop;
use super::{End, EndpointSlot, Network, NetworkError};
use crate::capture::Passage;

/// Label and interface of the packets that an endpoint sends with these addresses.
#[derive(Clone, Copy)]
pub(super) struct Way {
    source: SocketAddr,
    destination: SocketAddr,
    label: Label,
    /// The interface they leave by, if that is up to their source.
    bound_to: Option<DirectionId>,
}

impl Network {
    /// A packet of an endpoint enters the network.
    pub(super) fn send(
        &mut self,
        endpoint: EndpointId,
        packet: Packet,
    ) -> Result<(), NetworkError> {
        let EndpointSlot { node, end, .. } = self.endpoints[endpoint];
        let way = self.way(endpoint, &packet.meta);
        let id = self.packets;
        let (packet, descriptor) = self.store.put_with(packet, |meta| {
            meta.id = id;
            meta.label = way.label;
            meta.back = end == End::Receiver;
        });
        self.packets += 1;
        if let Some(captures) = &mut self.captures {
            captures.record(self.now, endpoint, Passage::Outbound, packet)?;
        }
        self.enter(node, way.bound_to, descriptor)
    }

    /// A packet enters the network at a node, from one of its interfaces if it is bound to that.
    pub(super) fn enter(
        &mut self,
        node: NodeId,
        bound_to: Option<DirectionId>,
        packet: Descriptor,
    ) -> Result<(), NetworkError> {
        match bound_to.map(|direction| self.forwarding.over(direction)) {
            Some(Hop::Over(direction)) => self.leave_by(node, direction, packet),
            Some(_) => self.drop_at_node(node, packet, Cause::NO_ROUTE),
            None => self.forward(node, packet),
        }
    }

    /// Returns the way of an endpoint's packet: the last one if the addresses are the same, or else a new one.
    fn way(&mut self, endpoint: EndpointId, meta: &Meta) -> Way {
        let slot = &mut self.endpoints[endpoint];
        let same = |way: &Way| way.source == meta.source && way.destination == meta.destination;
        if let Some(way) = slot.way.filter(same) {
            return way;
        }
        let to = self.forwarding.destination(meta.destination.ip());
        self.forwarding.expect(to);
        let mut meta = meta.clone();
        meta.label(Some(slot.flow), to);
        let bound_to = self.forwarding.bound_to(slot.node, meta.source.ip());
        let Meta { source, destination, label, .. } = meta;
        let way = Way { source, destination, label, bound_to };
        slot.way = Some(way);
        way
    }
}
