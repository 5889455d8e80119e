//! The way of packets from a link into the queue of a shared transmitter, and back to the link.

use leobench_base::{Descriptor, DirectionId, Header, SimTime, Tag};
use leobench_link::{Drop, Link, Mark, PacketService, SharedTransmitter, Started};
use typed_index_collections::TiSlice;

use super::{SharedTransmitters, Stay, TransmitterId};
use crate::network::observe::NetworkEvent;
use crate::network::schedule::Entity;
use crate::network::{Network, NetworkError};
use crate::record::Location;

/// How the packets at transmitters are served: at the rate of their link, or at that which it had when it left.
pub(super) fn service<'a>(
    stays: &'a [Stay],
    links: &'a TiSlice<DirectionId, Link>,
) -> impl Fn(&Descriptor) -> PacketService + 'a {
    |packet| {
        let stay = &stays[packet.tag.0 as usize];
        let link = &links[stay.direction];
        let rate = stay.left.map(|(rate, _)| rate).or_else(|| link.offered_rate());
        let rate = rate.expect("packets of a link without a rate have left the queue");
        PacketService { rate, wire_size: link.wire_size(packet.meta.size) }
    }
}

impl SharedTransmitters {
    /// The stay of a link, if it is at a transmitter.
    pub(super) fn stay(&self, direction: DirectionId) -> Option<Tag> {
        self.berths[direction].as_ref().and_then(|berth| berth.stay)
    }

    /// The transmitter of a stay, which has a queue.
    pub(super) fn transmitter_of(&mut self, tag: Tag) -> &mut SharedTransmitter {
        let transmitter = self.stays[tag.0 as usize].transmitter;
        let transmitter = self.stations[transmitter].transmitter.as_mut();
        transmitter.expect("a transmitter that serves a link has a queue")
    }

    /// Packets of a link enter the queue of its transmitter.
    pub(super) fn enqueue(
        &mut self,
        now: SimTime,
        tag: Tag,
        packets: impl Iterator<Item = Descriptor>,
        links: &TiSlice<DirectionId, Link>,
    ) -> TransmitterId {
        let id = self.stays[tag.0 as usize].transmitter;
        for mut packet in packets {
            packet.tag = tag;
            self.stays[tag.0 as usize].packets += 1;
            let Self { stations, stays, output, .. } = self;
            let transmitter = stations[id].transmitter.as_mut();
            let transmitter = transmitter.expect("a transmitter that serves a link has a queue");
            transmitter.enqueue(now, packet, service(stays, links), output);
        }
        id
    }

    /// Begins the next transmission, if none is under way.
    pub(super) fn resume(
        &mut self,
        now: SimTime,
        id: TransmitterId,
        links: &TiSlice<DirectionId, Link>,
    ) {
        let Self { stations, stays, output, .. } = self;
        if let Some(transmitter) = &mut stations[id].transmitter {
            transmitter.resume(now, service(stays, links), output);
        }
    }

    /// Does what is due next at `now`; at which transmitter.
    fn advance(
        &mut self,
        now: SimTime,
        links: &TiSlice<DirectionId, Link>,
    ) -> Option<TransmitterId> {
        let (due, number) = self.wakes.first();
        if due > now {
            return None;
        }
        let id = TransmitterId::from(number);
        self.advance_at(now, id, links);
        Some(id)
    }

    fn advance_at(&mut self, now: SimTime, id: TransmitterId, links: &TiSlice<DirectionId, Link>) {
        let Self { stations, stays, output, .. } = self;
        if let Some(transmitter) = &mut stations[id].transmitter {
            transmitter.advance(now, service(stays, links), output);
        }
    }

    /// Sets the wake-up of a transmitter; returns the first one of all.
    fn set_wake(&mut self, id: TransmitterId) -> Option<SimTime> {
        let transmitter = self.stations[id].transmitter.as_ref();
        let wake = transmitter.and_then(|transmitter| transmitter.next_wake());
        self.wakes.set(id.index(), wake.unwrap_or(SimTime::MAX));
        self.next_wake()
    }

    fn next_wake(&self) -> Option<SimTime> {
        Some(self.wakes.first().0).filter(|first| *first < SimTime::MAX)
    }
}

impl Network {
    /// A packet enters a link that shares transmitters: it waits for that of its satellite, or at the link for a satellite.
    pub(in crate::network) fn enter_shared(
        &mut self,
        direction: DirectionId,
        packet: Descriptor,
    ) -> Result<(), NetworkError> {
        let Some(shared) = &mut self.transmitters else { return Ok(()) };
        let link = &mut self.directions[direction];
        let stay = shared.stay(direction).filter(|_| link.offered_rate().is_some());
        let goes_on = link.enter(self.now, packet, stay.is_some(), &mut self.link_output);
        let id = match (stay, goes_on) {
            (Some(tag), Some(packet)) => {
                let packets = std::iter::once(packet);
                Some(shared.enqueue(self.now, tag, packets, &self.directions))
            }
            _ => None,
        };
        self.wakes.set(Entity::Direction(direction), self.directions[direction].next_wake());
        self.deliver(direction)?;
        id.map_or(Ok(()), |id| self.pass_on(id))
    }

    /// A shared transmitter ends a transmission, or asks its queue again.
    pub(in crate::network) fn serve_shared(&mut self) -> Result<(), NetworkError> {
        let Some(shared) = &mut self.transmitters else { return Ok(()) };
        if let Some(id) = shared.advance(self.now, &self.directions) {
            return self.pass_on(id);
        }
        self.wakes.set(Entity::Transmitters, shared.next_wake());
        Ok(())
    }

    /// Ends the transmission at the transmitter of a stay that is due by now.
    pub(super) fn catch_up(&mut self, tag: Tag) -> Result<(), NetworkError> {
        let Some(shared) = &mut self.transmitters else { return Ok(()) };
        let id = shared.stays[tag.0 as usize].transmitter;
        shared.advance_at(self.now, id, &self.directions);
        self.pass_on(id)
    }

    /// Passes what a transmitter has put out on to the links, and sets its wake-up.
    pub(super) fn pass_on(&mut self, id: TransmitterId) -> Result<(), NetworkError> {
        let Some(shared) = &mut self.transmitters else { return Ok(()) };
        self.wakes.set(Entity::Transmitters, shared.set_wake(id));
        if shared.output.is_empty() {
            return Ok(());
        }
        let mut output = std::mem::take(&mut shared.output);
        for Started { at, packet, tag, .. } in output.started.drain(..) {
            let direction = shared.stays[tag.0 as usize].direction;
            self.directions[direction].on_started(at, &packet);
        }
        for mark in output.fates.marks.drain(..) {
            self.mark_shared(&mark)?;
        }
        for drop in output.fates.drops.drain(..) {
            self.drop_shared(drop)?;
        }
        for (at, packet) in output.sent.drain(..) {
            self.propagate_shared(at, packet)?;
        }
        if let Some(shared) = &mut self.transmitters
            && shared.output.is_empty()
        {
            shared.output = output;
        }
        Ok(())
    }

    #[cold]
    fn mark_shared(&mut self, Mark { meta, tag, cause }: &Mark) -> Result<(), NetworkError> {
        let Some(shared) = &self.transmitters else { return Ok(()) };
        let (direction, cause): (_, _) = (shared.stays[tag.0 as usize].direction, *cause);
        let meta: &Header = meta;
        self.directions[direction].on_marked(meta.size, cause);
        Ok(self.observer.emit(self.now, NetworkEvent::Marked { direction, meta, cause })?)
    }

    #[cold]
    fn drop_shared(&mut self, Drop { packet, cause }: Drop) -> Result<(), NetworkError> {
        let Some(shared) = &mut self.transmitters else { return Ok(()) };
        let direction = shared.stays[packet.tag.0 as usize].direction;
        shared.release(packet.tag, 1);
        self.directions[direction].on_dropped(packet.meta.size, cause);
        self.drop_packet(Location::Link(direction), packet, cause)
    }

    /// The transmission of a packet has ended: it propagates over its link.
    fn propagate_shared(&mut self, at: SimTime, packet: Descriptor) -> Result<(), NetworkError> {
        let Some(shared) = &mut self.transmitters else { return Ok(()) };
        let Stay { direction, left, .. } = shared.stays[packet.tag.0 as usize];
        shared.release(packet.tag, 1);
        let link = &mut self.directions[direction];
        let delay = left.map_or(link.delay(), |(_, delay)| delay);
        link.on_sent(at, packet, delay, &mut self.link_output);
        self.wakes.set(Entity::Direction(direction), self.directions[direction].next_wake());
        self.deliver(direction)
    }
}
