//! The interface to what follows packets of the world outside from port to port.

use leobench_base::{DirectionId, Packet, PortId, SimTime};

use super::Observer;
use crate::record::{Names, PacketRow};

/// Follows every packet that no endpoint of the network has sent. Its calls come in the order of time, and it must neither wait nor
/// fail: it runs where the network does.
pub trait PacketTrace: Send {
    /// The network begins, with these names.
    fn begin(&mut self, names: &Names);

    /// A packet has come in: by a port, or from a node that answers another packet.
    fn entered(&mut self, at: SimTime, port: Option<PortId>, packet: &Packet);

    /// A packet leaves by a port.
    fn left(&mut self, at: SimTime, port: PortId, packet: &Packet);

    /// Something happened to a packet at a link or a node.
    fn event(&mut self, at: SimTime, row: &PacketRow);

    /// The channel of a link is in the state of this name from now on.
    fn channel(&mut self, at: SimTime, direction: DirectionId, label: &str);
}

impl Observer {
    /// A packet has come in.
    #[inline]
    pub(in crate::network) fn entered(
        &mut self,
        now: SimTime,
        port: Option<PortId>,
        packet: &Packet,
    ) {
        if let Some(trace) = &mut self.trace {
            trace.entered(now, port, packet);
        }
    }

    /// A packet leaves by a port.
    #[inline]
    pub(in crate::network) fn left(&mut self, now: SimTime, port: PortId, packet: &Packet) {
        if let Some(trace) = &mut self.trace {
            trace.left(now, port, packet);
        }
    }
}
