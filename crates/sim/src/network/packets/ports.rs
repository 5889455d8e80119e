//! The edges of the network: where packets of the world outside come in and go out.

use std::net::IpAddr;

use leobench_base::packet::Datagram;
use leobench_base::{
    Descriptor, DirectionId, EndpointId, FlowId, Meta, NodeId, Packet, PortId, SimTime, wire,
};
use leobench_link::Cause;

use crate::capture::Passage;
use crate::network::forwarding::Forwarding;
use crate::network::schedule::Entity;
use crate::network::{End, Network, NetworkError};

/// An event for the world outside, at the port of a node. Whoever drives the network takes them all
/// ([`Network::take_egress`]), in their order.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are packets, and a box for each would be an allocation"
)]
pub enum Egress {
    /// A packet leaves that no endpoint of the network is there for.
    Packet {
        /// When it is due.
        at: SimTime,
        /// The port.
        port: PortId,
        /// The packet.
        packet: Packet,
    },
    /// An interface of the node can be used from now on, or not any more.
    Interface {
        /// The port.
        port: PortId,
        /// The interface's address.
        address: IpAddr,
        /// Whether it can be used.
        up: bool,
    },
}

impl Network {
    /// A packet from outside enters at a port, at `now`, which is not before anything was worked off.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn inject(
        &mut self,
        now: SimTime,
        port: PortId,
        mut packet: Packet,
    ) -> Result<(), NetworkError> {
        self.now = self.now.max(now);
        let node = self.ports[port];
        packet.meta.arrival = self.now;
        let from = self.outside(node, &packet.meta, packet.meta.source.port());
        if let Some(from) = from {
            packet.meta.back = self.endpoints[from].end == End::Receiver;
        }
        self.originate(node, packet, (Some(port), from))
    }

    /// Exchanges the events for the world outside since the last call for an empty buffer, which keeps its memory.
    pub fn take_egress(&mut self, buffer: &mut Vec<Egress>) {
        debug_assert!(buffer.is_empty(), "what was taken before is still there");
        std::mem::swap(&mut self.egress, buffer);
    }

    /// An endpoint outside acts at `now`, which is not before anything was worked off: its socket has something for it.
    pub fn wake(&mut self, now: SimTime, flow: FlowId, end: End) {
        self.now = self.now.max(now);
        let endpoint = self.flows[flow].ends[end as usize];
        self.wakes.set(Entity::Endpoint(endpoint), Some(self.now));
    }

    /// The endpoint outside that a packet at a node is from or for, by its port there.
    fn outside(&self, node: NodeId, meta: &Meta, port: u16) -> Option<EndpointId> {
        let found = self.ends_outside.then(|| self.listeners.get(&(node, meta.protocol, port)));
        found.flatten().copied()
    }

    /// A packet that no endpoint of the network has sent enters at a node, by a port if it comes from outside; an endpoint there may
    /// have sent it.
    fn originate(
        &mut self,
        node: NodeId,
        mut packet: Packet,
        (port, from): (Option<PortId>, Option<EndpointId>),
    ) -> Result<(), NetworkError> {
        let to = self.forwarding.destination(packet.meta.destination.ip());
        self.forwarding.expect(to);
        packet.meta.id = self.packets;
        packet.meta.label(from.map(|from| self.endpoints[from].flow), to);
        self.packets += 1;
        if let (Some(captures), Some(from)) = (&mut self.captures, from) {
            captures.record(self.now, from, Passage::Outbound, &packet)?;
        }
        self.observer.entered(self.now, port, &packet);
        let bound_to = self.forwarding.bound_to(node, packet.meta.source.ip());
        let packet = self.store.put(packet);
        self.enter(node, bound_to, packet)
    }

    /// The part of a message that a packet of an endpoint outside carries, if its flow sends nothing again.
    #[cold]
    pub(in crate::network) fn outside_datagram(
        &self,
        meta: &Meta,
        packet: &[u8],
    ) -> Option<Datagram> {
        let flow = meta.label.flow.filter(|_| self.ends_outside && !meta.back)?;
        let is_unreliable = self.observer.is_unreliable(flow);
        is_unreliable.then(|| wire::udp_payload(packet).and_then(Datagram::decode)).flatten()
    }

    /// A packet from outside is longer than the next link carries: the node before the link answers it, if it answers such
    /// packets at all (RFC 1191 section 4, RFC 4443 section 3.2).
    #[cold]
    pub(in crate::network) fn refuse_too_big(
        &mut self,
        direction: DirectionId,
        packet: &[u8],
    ) -> Result<(), NetworkError> {
        let node = self.forwarding.edge(direction).from;
        let is_v6 = packet.first().is_some_and(|byte| byte >> 4 == 6);
        let own = if is_v6 { Forwarding::own_address_v6 } else { Forwarding::own_address };
        let answer =
            wire::too_big(packet, own(node), self.directions[direction].mtu()).ok().flatten();
        match answer.and_then(|answer| wire::parse(answer.into(), 0, self.now).ok()) {
            Some(answer) => self.originate(node, answer, (None, None)),
            None => Ok(()),
        }
    }

    /// A packet for a node at which no endpoint takes it leaves by the node's port, if it has one.
    #[cold]
    pub(in crate::network) fn leave_network(
        &mut self,
        node: NodeId,
        packet: Descriptor,
    ) -> Result<(), NetworkError> {
        let Some(port) = self.egress_at[node] else {
            return self.drop_at_node(node, packet, Cause::NO_PORT);
        };
        let packet = self.store.take(packet);
        let to = self.outside(node, &packet.meta, packet.meta.destination.port());
        if let (Some(captures), Some(to)) = (&mut self.captures, to) {
            captures.record(self.now, to, Passage::Inbound, &packet)?;
        }
        self.observer.left(self.now, port, &packet);
        self.egress.push(Egress::Packet { at: self.now, port, packet });
        Ok(())
    }
}
