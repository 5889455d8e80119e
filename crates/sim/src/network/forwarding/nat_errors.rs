//! ICMP errors at a node that translates addresses. The packet that one quotes is translated as the packet itself was, so that
//! its sender knows it (RFC 5508 section 4).

use std::net::SocketAddr;

use leobench_base::wire::{self, Quoted, QuotedEnd};
use leobench_base::{Body, Descriptor, DirectionId, NodeId, Packet, Protocol};

use super::Forwarding;
use crate::network::Network;

impl Network {
    /// Returns the packet that an ICMP error quotes; `None` for other packets.
    fn quoted_by(&self, packet: &Descriptor) -> Option<Quoted> {
        match self.store.get(packet) {
            Packet { meta, body: Body::Raw(raw) } if meta.protocol == Protocol::ICMP => {
                wire::quoted(raw)
            }
            _ => None,
        }
    }

    /// Translates an ICMP error from outside, which came over `direction`, about a packet that left there translated; where it goes to.
    #[cold]
    pub(in crate::network) fn error_enters(
        &mut self,
        node: NodeId,
        direction: DirectionId,
        packet: &mut Descriptor,
    ) -> Option<SocketAddr> {
        let quoted = self.quoted_by(packet)?;
        let nat = self.nats[node].as_ref()?;
        let inside = nat.enter(direction, quoted.protocol, quoted.source.port())?;
        self.requote(packet, &quoted, QuotedEnd::Source, inside);
        // An error is for a host, not for a port.
        Some(SocketAddr::new(inside.ip(), 0))
    }

    /// Translates an ICMP error from inside, which leaves by `direction`, about a packet that came in there; whether it is one.
    #[cold]
    pub(in crate::network) fn error_leaves(
        &mut self,
        node: NodeId,
        direction: DirectionId,
        packet: &mut Descriptor,
    ) -> bool {
        let Some(quoted) = self.quoted_by(packet) else { return false };
        let nat = self.nats[node].as_ref();
        let port = nat.and_then(|nat| nat.mapped(direction, quoted.protocol, quoted.destination));
        // One of the node's own quotes the packet as it came.
        if let Some(port) = port {
            let outside = SocketAddr::new(Forwarding::interface_address(direction), port);
            self.requote(packet, &quoted, QuotedEnd::Destination, outside);
        }
        true
    }

    fn requote(
        &mut self,
        packet: &mut Descriptor,
        quoted: &Quoted,
        end: QuotedEnd,
        new: SocketAddr,
    ) {
        self.store.change(packet, |Packet { body, .. }| {
            if let Body::Raw(raw) = body {
                let mut bytes = raw.to_vec();
                wire::requote(&mut bytes, quoted, end, new);
                *raw = bytes.into();
            }
        });
    }
}
