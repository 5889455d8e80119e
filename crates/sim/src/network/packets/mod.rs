//! The way of a packet through the network: over links, through nodes, to an endpoint, out of a port, or to its drop.

mod drop_accounting;
mod entry;
mod ports;
mod store;

use std::net::SocketAddr;

use leobench_base::{
    Descriptor, Destination, DirectionId, EndpointId, Meta, NodeId, Packet, Protocol,
};
use leobench_link::Cause;
use leobench_transport::Input;

pub(super) use entry::{Departure, SendRoute};
pub use ports::Egress;
pub(super) use store::{PacketStore, Parting};

use super::forwarding::{Forwarding, Hop};
use super::observe::NetworkEvent;
use super::schedule::Entity;
use super::{EndpointSlot, Network, NetworkError};
use crate::capture::Passage;
use crate::record::PacketEvent;

impl Network {
    /// A direction of a link ends a transmission, or packets reach its far end.
    pub(super) fn transmit(&mut self, direction: DirectionId) -> Result<(), NetworkError> {
        self.directions[direction].advance(self.now, &mut self.link_output);
        self.wakes.set(Entity::Direction(direction), self.directions[direction].next_wake());
        self.deliver(direction)
    }

    /// Passes on what a link has put out.
    #[inline]
    pub(super) fn deliver(&mut self, direction: DirectionId) -> Result<(), NetworkError> {
        if !self.link_output.fates.is_empty() {
            self.account_drops_and_marks(direction)?;
        }
        if self.link_output.arrivals.is_empty() { Ok(()) } else { self.hand_over(direction) }
    }

    /// Passes on the packets that have reached the far end of a link.
    fn hand_over(&mut self, direction: DirectionId) -> Result<(), NetworkError> {
        let node = self.forwarding.edge(direction).to;
        let mut arrivals = std::mem::take(&mut self.link_output.arrivals);
        for packet in arrivals.drain(..) {
            if self.observer.packets {
                let queued = self.store.queued(self.now, &packet);
                let (meta, event) = (&packet.meta, PacketEvent::Deliver);
                let event = NetworkEvent::Packet { direction, meta, event, queued };
                self.observer.emit(self.now, event)?;
            }
            self.forward(node, packet)?;
        }
        self.link_output.arrivals = arrivals;
        Ok(())
    }

    /// A packet is at a node: it has arrived, or goes on over the next link.
    #[expect(clippy::inline_always, reason = "every packet passes here")]
    #[inline(always)]
    pub(super) fn forward(&mut self, node: NodeId, packet: Descriptor) -> Result<(), NetworkError> {
        match self.forwarding.hop(node, packet.meta.label.to) {
            Hop::Here => self.arrive(node, packet),
            Hop::Over(direction) => self.leave_by(node, direction, packet),
            Hop::Nowhere => self.drop_at_node(node, packet, Cause::NO_ROUTE),
        }
    }

    /// A packet leaves a node by a link, translated where the node does that.
    pub(super) fn leave_by(
        &mut self,
        node: NodeId,
        direction: DirectionId,
        mut packet: Descriptor,
    ) -> Result<(), NetworkError> {
        if self.is_outside(node, direction)
            // What waited for another link when that was left has been translated already.
            && let Meta { source, protocol, .. } = self.store.get(&packet).meta
            && self.forwarding.bound_to(node, source.ip()).is_none()
        {
            let port =
                if protocol == Protocol::ICMP && self.error_leaves(node, direction, &mut packet) {
                    Some(0)
                } else {
                    self.nats[node].as_mut().and_then(|nat| nat.leave(direction, protocol, source))
                };
            let Some(port) = port else {
                return self.drop_at_node(node, packet, Cause::NO_PORT);
            };
            let outside = Forwarding::interface_address(direction);
            self.store.change(&mut packet, |Packet { meta, .. }| {
                meta.source = SocketAddr::new(outside, port);
                meta.label(meta.label.flow, meta.label.to);
            });
        }
        if self.observer.packets {
            self.store.keep_entry(self.now, &packet);
            let (meta, event) = (&packet.meta, PacketEvent::Enqueue);
            let event = NetworkEvent::Packet { direction, meta, event, queued: None };
            self.observer.emit(self.now, event)?;
        }
        if self.transmitters.as_ref().is_some_and(|shared| shared.serve(direction)) {
            return self.enter_shared(direction, packet);
        }
        if self.transit.as_ref().is_some_and(|transit| transit.serves(direction)) {
            return self.enter_transit(direction, packet);
        }
        self.directions[direction].enqueue(self.now, packet, &mut self.link_output);
        self.wakes.set(Entity::Direction(direction), self.directions[direction].next_wake());
        // At the very instant this packet comes in, another one may reach the far end.
        self.deliver(direction)
    }

    /// A packet has reached the node that it is addressed to.
    fn arrive(&mut self, node: NodeId, mut packet: Descriptor) -> Result<(), NetworkError> {
        if let Some(inside) = self.translated(node, &mut packet) {
            let to = self.forwarding.destination(inside.ip());
            self.forwarding.expect(to);
            self.store.change(&mut packet, |Packet { meta, .. }| {
                meta.destination = inside;
                meta.label(meta.label.flow, to);
            });
            return self.forward(node, packet);
        }
        // The outside addresses of a translating node stand for nobody on it.
        if matches!(packet.meta.label.to, Destination::Interface(direction) if self.is_outside(node, direction))
        {
            return self.drop_at_node(node, packet, Cause::NO_PORT);
        }
        if self.windows.have_handed_over() {
            let is_refused = self.windows.have_refused(&packet);
            return if is_refused { self.leave_network(node, packet) } else { Ok(()) };
        }
        let Meta { protocol, destination, .. } = self.store.get(&packet).meta;
        let listener = self.listeners.get(&(node, protocol, destination.port()));
        match listener.filter(|_| !self.ends_outside) {
            Some(&endpoint) => self.take_in(endpoint, Parting::of(&packet)),
            None => self.leave_network(node, packet),
        }
    }

    /// An endpoint takes in a packet that has reached it.
    #[expect(clippy::inline_always, reason = "every packet ends here")]
    #[inline(always)]
    pub(super) fn take_in(
        &mut self,
        endpoint: EndpointId,
        packet: Parting,
    ) -> Result<(), NetworkError> {
        let Meta { arrival: sent, .. } = self.store.at(packet.slot).meta;
        let packet = self.store.end(packet);
        if let Some(captures) = &mut self.captures {
            captures.record(self.now, endpoint, Passage::Inbound, packet)?;
        }
        self.wakes.set(Entity::Endpoint(endpoint), Some(self.now));
        let EndpointSlot { endpoint, flow, .. } = &mut self.endpoints[endpoint];
        let flow = *flow;
        self.observer.emit(self.now, NetworkEvent::Arrived { flow, meta: &packet.meta, sent })?;
        let done = endpoint.input(self.now, Input::Packet(packet));
        done.map_err(|error| self.flow_error(flow, error))
    }
}
