//! Accounting for packets that links mark or drop, and for those that nodes cannot forward.

use leobench_base::packet::{Body, Datagram};
use leobench_base::{Descriptor, DirectionId, NodeId, Packet};
use leobench_link::{Cause, Drop, Mark};

use crate::network::observe::NetworkEvent;
use crate::network::{Network, NetworkError};
use crate::record::Location;

impl Network {
    #[cold]
    pub(in crate::network) fn account_drops_and_marks(
        &mut self,
        direction: DirectionId,
    ) -> Result<(), NetworkError> {
        let mut fates = std::mem::take(&mut self.link_output.fates);
        for Mark { meta, cause, .. } in fates.marks.drain(..) {
            let marked = NetworkEvent::Marked { direction, meta: &meta, cause };
            self.observer.emit(self.now, marked)?;
        }
        for Drop { packet, cause } in fates.drops.drain(..) {
            self.drop_packet(Location::Link(direction), packet, cause)?;
        }
        self.link_output.fates = fates;
        Ok(())
    }

    /// A packet goes no further, at a node.
    #[cold]
    pub(in crate::network) fn drop_at_node(
        &mut self,
        node: NodeId,
        packet: Descriptor,
        cause: Cause,
    ) -> Result<(), NetworkError> {
        self.drop_packet(Location::Node(node), packet, cause)
    }

    /// A packet is dropped, and the message of a datagram with it.
    #[cold]
    pub(in crate::network) fn drop_packet(
        &mut self,
        location: Location,
        packet: Descriptor,
        cause: Cause,
    ) -> Result<(), NetworkError> {
        let queued = match location {
            Location::Link(_) => self.store.queued(self.now, &packet),
            Location::Node(_) => None,
        };
        let Packet { meta, body } = self.store.take(packet);
        let dropped = NetworkEvent::Dropped { location, meta: &meta, cause, queued };
        self.observer.emit(self.now, dropped)?;
        let datagram = match &body {
            Body::Datagram(datagram) => Some(*datagram).filter(|_| !meta.back),
            Body::Raw(raw) => self.outside_datagram(&meta, raw),
            Body::Udp(_) | Body::UdpBytes(_) | Body::Tcp(_) | Body::Filler => None,
        };
        if let (Some(flow), Some(Datagram { stream, message, .. })) = (meta.label.flow, datagram) {
            self.observer.emit(self.now, NetworkEvent::MessageLost { flow, stream, message })?;
        } else if let (Location::Link(direction), Body::Raw(raw)) = (location, body)
            && cause == Cause::MTU
        {
            self.refuse_too_big(direction, &raw)?;
        }
        Ok(())
    }
}
