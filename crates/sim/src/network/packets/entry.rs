//! The entry of packets: numbers and labels those of an endpoint, and sends them on their way.

use std::net::SocketAddr;

use leobench_base::{Descriptor, DirectionId, EndpointId, Label, Meta, NodeId, Packet};
use leobench_link::Cause;

use crate::capture::Passage;
use crate::network::forwarding::Hop;
use crate::network::{End, EndpointSlot, Network, NetworkError};

/// Label and interface of the packets that an endpoint sends with these addresses.
#[derive(Clone, Copy)]
pub(in crate::network) struct SendRoute {
    source: SocketAddr,
    destination: SocketAddr,
    label: Label,
    /// The interface they leave by, if that is up to their source.
    bound_to: Option<DirectionId>,
}

/// A packet of an endpoint at a node, and the interface that it leaves by, if it is bound to one.
pub(in crate::network) struct Departure {
    node: NodeId,
    bound_to: Option<DirectionId>,
    packet: Descriptor,
}

impl Network {
    /// A packet of an endpoint enters the network.
    pub(in crate::network) fn send(
        &mut self,
        endpoint: EndpointId,
        packet: Packet,
    ) -> Result<(), NetworkError> {
        let EndpointSlot { node, end, .. } = self.endpoints[endpoint];
        let route = self.send_route(endpoint, &packet.meta);
        let id = self.packets;
        let (stored, packet) = self.store.put_with(packet, |meta| {
            meta.id = id;
            meta.label = route.label;
            meta.back = end == End::Receiver;
        });
        if let Some(captures) = &mut self.captures {
            captures.record(self.now, endpoint, Passage::Outbound, stored)?;
        }
        if self.windows.keeps_departures() {
            let departure = Departure { node, bound_to: route.bound_to, packet };
            self.windows.keep_departure(self.now, departure);
            return Ok(());
        }
        self.packets += 1;
        self.enter(node, route.bound_to, packet)
    }

    /// A packet that was kept leaves its endpoint. It is numbered by now.
    pub(in crate::network) fn set_off(&mut self, departure: Departure) -> Result<(), NetworkError> {
        let Departure { node, bound_to, mut packet } = departure;
        packet.meta.id = self.packets;
        self.packets += 1;
        self.enter(node, bound_to, packet)
    }

    /// A packet enters the network at a node, from one of its interfaces if it is bound to that.
    #[inline]
    pub(in crate::network) fn enter(
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

    /// Returns the route of an endpoint's packet: the last one if the addresses are the same, or else a new one.
    fn send_route(&mut self, endpoint: EndpointId, meta: &Meta) -> SendRoute {
        let slot = &mut self.endpoints[endpoint];
        let same = |route: &SendRoute| {
            route.source == meta.source && route.destination == meta.destination
        };
        if let Some(route) = slot.last_route.filter(same) {
            return route;
        }
        let to = self.forwarding.destination(meta.destination.ip());
        self.forwarding.expect(to);
        let mut meta = meta.clone();
        meta.label(Some(slot.flow), to);
        let bound_to = self.forwarding.bound_to(slot.node, meta.source.ip());
        let Meta { source, destination, label, .. } = meta;
        let route = SendRoute { source, destination, label, bound_to };
        slot.last_route = Some(route);
        route
    }
}
