//! Storage of packets while links carry their descriptors.

use leobench_base::{Body, Descriptor, Ecn, Header, Meta, Packet, SimDuration, SimTime, Slot, Tag};

/// The packets in a network. Slots are used again, the last one left first, so that memory follows the packets in the
/// network, and a packet is written where one was just read.
#[derive(Debug, Default)]
pub(in crate::network) struct PacketStore {
    packets: Vec<Packet>,
    free: Vec<Slot>,
    /// By slot, when the packet entered the link that it is on, if that is kept.
    entered: Vec<SimTime>,
}

/// The end of a packet's way: its place, and the part of its header that the way has changed.
pub(in crate::network) struct Parting {
    pub(in crate::network) slot: Slot,
    id: u64,
    ecn: Ecn,
    arrival: SimTime,
}

impl Parting {
    /// The end of the way of a packet that has this descriptor by then.
    #[inline]
    pub(in crate::network) const fn of(descriptor: &Descriptor) -> Self {
        let Descriptor { meta: Header { id, ecn, arrival, .. }, slot, .. } = *descriptor;
        Self { slot, id, ecn, arrival }
    }
}

impl PacketStore {
    /// Keeps a packet that is numbered and labelled.
    pub(in crate::network) fn put(&mut self, packet: Packet) -> Descriptor {
        self.put_with(packet, |_| ()).1
    }

    /// Keeps a packet that `label` numbers and labels; the packet where it is from now on, and its descriptor.
    #[inline]
    pub(in crate::network) fn put_with(
        &mut self,
        packet: Packet,
        label: impl FnOnce(&mut Meta),
    ) -> (&Packet, Descriptor) {
        let slot = if let Some(slot) = self.free.pop() {
            self.packets[slot.0 as usize] = packet;
            slot
        } else {
            let slot = u32::try_from(self.packets.len()).expect("fewer than 2^32 packets");
            self.packets.push(packet);
            Slot(slot)
        };
        let packet = &mut self.packets[slot.0 as usize];
        label(&mut packet.meta);
        (packet, Descriptor { meta: Header::of(&packet.meta), slot, tag: Tag::default() })
    }

    /// The packet as it was when it was put in, but for what [`change`](Self::change) changed.
    pub(in crate::network) fn get(&self, descriptor: &Descriptor) -> &Packet {
        &self.packets[descriptor.slot.0 as usize]
    }

    /// The packet at a place, as [`get`](Self::get).
    pub(in crate::network) fn at(&self, slot: Slot) -> &Packet {
        &self.packets[slot.0 as usize]
    }

    /// Changes the addresses of a packet, and labels its descriptor anew.
    pub(in crate::network) fn change(
        &mut self,
        descriptor: &mut Descriptor,
        change: impl FnOnce(&mut Packet),
    ) {
        let packet = &mut self.packets[descriptor.slot.0 as usize];
        change(packet);
        descriptor.meta.label = packet.meta.label;
    }

    /// Keeps when a packet enters a link, for [`queued`](Self::queued).
    pub(in crate::network) fn keep_entry(&mut self, now: SimTime, descriptor: &Descriptor) {
        self.entered.resize(self.packets.len(), SimTime::ZERO);
        self.entered[descriptor.slot.0 as usize] = now;
    }

    /// For how long the queue of a link has held a packet at `now`, or had until it was sent; none if its entry was not kept.
    pub(in crate::network) fn queued(
        &self,
        now: SimTime,
        descriptor: &Descriptor,
    ) -> Option<SimDuration> {
        let entered = *self.entered.get(descriptor.slot.0 as usize)?;
        let Header { arrival, is_sent, .. } = descriptor.meta;
        Some((if is_sent { arrival } else { now }).saturating_since(entered))
    }

    /// Gives a packet back, with the marks it got on its way.
    #[expect(clippy::needless_pass_by_value, reason = "the descriptor ends with the way")]
    pub(in crate::network) fn take(&mut self, descriptor: Descriptor) -> Packet {
        let Packet { meta, body } = self.end(Parting::of(&descriptor));
        Packet { meta: meta.clone(), body: std::mem::replace(body, Body::Filler) }
    }

    /// Ends a packet's way: it has the marks it got, and stays where it is until the next packet takes its slot.
    #[expect(clippy::needless_pass_by_value, reason = "the packet ends with the way")]
    pub(in crate::network) fn end(&mut self, parting: Parting) -> &mut Packet {
        let Parting { slot, id, ecn, arrival } = parting;
        self.free.push(slot);
        let packet = &mut self.packets[slot.0 as usize];
        (packet.meta.id, packet.meta.ecn, packet.meta.arrival) = (id, ecn, arrival);
        packet
    }

    /// How many packets are in it.
    pub(in crate::network) fn len(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use leobench_base::{Bytes, Destination, NodeId, Protocol};

    use super::*;

    fn packet(port: u16) -> Packet {
        let ends = [([10, 0, 0, 1], port), ([10, 0, 0, 2], 2)].map(Into::into);
        let size = Bytes::new(100);
        let mut meta = Meta::new(SimTime::ZERO, Protocol::Udp, ends[0], ends[1], size);
        meta.id = port.into();
        meta.label(None, Destination::Node(NodeId::from(3)));
        let bytes = port.to_be_bytes().as_slice().into();
        Packet { meta, body: Body::UdpBytes(bytes) }
    }

    fn port(packet: &Packet) -> (u16, u64, Vec<u8>) {
        let Body::UdpBytes(data) = &packet.body else { panic!("another body") };
        (packet.meta.source.port(), packet.meta.id, data.to_vec())
    }

    #[test]
    fn packets_come_out_as_they_went_in_and_leave_room_for_others() {
        let mut store = PacketStore::default();
        let [first, second] = [1, 2].map(|port| store.put(packet(port)));
        assert_eq!(port(&store.take(first)), (1, 1, vec![0, 1]));
        let third = store.put(packet(3));
        assert_eq!(store.len(), 2);
        assert_eq!(store.packets.len(), 2, "the slot of the first is used again");
        assert_eq!(port(store.get(&second)), (2, 2, vec![0, 2]));
        assert_eq!(port(&store.take(third)), (3, 3, vec![0, 3]));
        assert_eq!(port(&store.take(second)), (2, 2, vec![0, 2]));
        assert_eq!(store.len(), 0);
    }

    #[test]
    fn marks_and_new_addresses_are_kept() {
        let mut store = PacketStore::default();
        let mut descriptor = store.put(packet(1));
        let before = descriptor.meta.flow_hash();
        descriptor.meta.ecn = Ecn::Ce;
        descriptor.meta.arrival = SimTime::from_nanos(7);
        store.change(&mut descriptor, |packet| {
            packet.meta.source.set_port(9);
            packet.meta.label(None, Destination::Unknown);
        });
        assert_ne!(descriptor.meta.flow_hash(), before);
        assert_eq!(descriptor.meta.label.to, Destination::Unknown);
        let Packet { meta, .. } = store.take(descriptor);
        assert_eq!((meta.ecn, meta.arrival.as_nanos(), meta.source.port()), (Ecn::Ce, 7, 9));
    }
}
