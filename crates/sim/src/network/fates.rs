//! Accounting for packets that links mark or drop, and for those that nodes cannot forward.

use leobench_base::packet::Body;
use leobench_base::{Descriptor, DirectionId, NodeId, Packet};
use leobench_link::{Cause, Drop, Mark};

use super::{Network, NetworkError, Place};

impl Network {
    #[cold]
    pub(super) fn account_fates(&mut self, direction: DirectionId) -> Result<(), NetworkError> {
        let mut fates = std::mem::take(&mut self.link_output.fates);
        for Mark { meta, cause } in fates.marks.drain(..) {
            self.observer.marked(self.now, direction, &meta, cause)?;
        }
        for Drop { packet, cause } in fates.drops.drain(..) {
            self.lose(Place::Link(direction), packet, cause)?;
        }
        self.link_output.fates = fates;
        Ok(())
    }

    /// A packet goes no further, at a node.
    #[cold]
    pub(super) fn strand(
        &mut self,
        node: NodeId,
        packet: Descriptor,
        cause: Cause,
    ) -> Result<(), NetworkError> {
        self.lose(Place::Node(node), packet, cause)
    }

    /// A packet is dropped, and the message of a datagram with it.
    #[cold]
    pub(super) fn lose(
        &mut self,
        place: Place,
        packet: Descriptor,
        cause: Cause,
    ) -> Result<(), NetworkError> {
        let Packet { meta, body } = self.store.take(packet);
        self.observer.dropped(self.now, place, &meta, cause)?;
        let datagram = match &body {
            Body::Datagram(datagram) => Some(*datagram),
            Body::Raw(raw) => self.outside_datagram(&meta, raw),
            Body::Udp(_) | Body::UdpBytes(_) | Body::Tcp(_) | Body::Filler => None,
        };
        if let (Some(flow), Some(datagram)) = (meta.label.flow, datagram) {
            self.observer.lost(self.now, flow, datagram.stream, datagram.message)?;
        } else if let (Place::Link(direction), Body::Raw(raw)) = (place, body)
            && cause == Cause::MTU
        {
            self.refuse_too_big(direction, &raw)?;
        }
        Ok(())
    }
}
