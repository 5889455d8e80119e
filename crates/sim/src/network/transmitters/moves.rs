//! Links that go from one satellite to another, or have no rate for a while, and the fate of their packets.

use leobench_base::{BitRate, Descriptor, DirectionId, SatelliteId, SimTime, Tag};
use leobench_link::Cause;

use super::{Berth, SharedTransmitters, Stay, Way};
use crate::network::schedule::Entity;
use crate::network::{Network, NetworkError};
use crate::topology::LeftPackets;

impl SharedTransmitters {
    /// Takes the packets of a stay out of the queue, and the one on the wire if it is to be cut off.
    fn withdraw(
        &mut self,
        now: SimTime,
        tag: Tag,
        cut: bool,
    ) -> (Vec<Descriptor>, Option<Descriptor>) {
        let mut waiting = Vec::new();
        let transmitter = self.transmitter_of(tag);
        transmitter.withdraw(now, &|packet| packet.tag == tag, &mut waiting);
        let on_wire = if cut { transmitter.cut(now, |packet| packet.tag == tag) } else { None };
        let packets = waiting.len() as u64 + u64::from(on_wire.is_some());
        self.stays[tag.0 as usize].packets -= packets;
        (waiting, on_wire)
    }
}

impl Network {
    /// Another satellite serves a link in one direction from now on, or none does. Packets at the one before are `left`, or go on
    /// there until the end of an overlap.
    pub(in crate::network) fn assign_satellite(
        &mut self,
        direction: DirectionId,
        satellite: Option<SatelliteId>,
        left: LeftPackets,
        overlaps: bool,
    ) -> Result<(), NetworkError> {
        let Some(shared) = &mut self.transmitters else { return Ok(()) };
        let Some(berth) = &mut shared.berths[direction] else { return Ok(()) };
        berth.satellite = satellite;
        let stay = berth.stay.take();
        if overlaps {
            berth.former = stay;
        }
        shared.unsettled.push(direction);
        match stay {
            Some(tag) if overlaps => {
                let link = &self.directions[direction];
                let rate = link.offered_rate().unwrap_or(BitRate::ZERO);
                shared.depart(self.now, tag, (rate, link.delay()));
                Ok(())
            }
            stay => {
                self.leave_room(direction, left)?;
                self.leave_satellite(direction, stay, left)
            }
        }
    }

    /// The satellite before is left for good.
    pub(in crate::network) fn end_shared_overlap(
        &mut self,
        direction: DirectionId,
        left: LeftPackets,
    ) -> Result<(), NetworkError> {
        let Some(shared) = &mut self.transmitters else { return Ok(()) };
        let former = shared.berths[direction].as_mut().and_then(|berth| berth.former.take());
        self.leave_satellite(direction, former, left)?;
        // What has come back goes to the queue of the present satellite.
        if left == LeftPackets::Forward { self.settle(direction) } else { Ok(()) }
    }

    /// Drops the packets that wait at a link for a satellite, if they are not to go on.
    fn leave_room(
        &mut self,
        direction: DirectionId,
        left: LeftPackets,
    ) -> Result<(), NetworkError> {
        if matches!(left, LeftPackets::Deliver | LeftPackets::Drop) {
            let link = &mut self.directions[direction];
            link.drop_waiting(self.now, Cause::HANDOVER, &mut self.link_output);
        }
        self.deliver(direction)
    }

    /// A link leaves the packets of a stay behind.
    fn leave_satellite(
        &mut self,
        direction: DirectionId,
        stay: Option<Tag>,
        left: LeftPackets,
    ) -> Result<(), NetworkError> {
        if let Some(tag) = stay {
            self.take_away(tag, left, true)?;
        }
        if left == LeftPackets::Drop
            && let Some(shared) = &self.transmitters
        {
            let present = shared.stay(direction);
            let stays = |packet: &Descriptor| Some(packet.tag) == present;
            let link = &mut self.directions[direction];
            link.drop_flight(self.now, stays, Cause::HANDOVER, &mut self.link_output);
        }
        self.wakes.set(Entity::Direction(direction), self.directions[direction].next_wake());
        self.deliver(direction)
    }

    /// The packets of a stay go where they are to go when their link leaves it; `ends` says whether the link leaves the satellite.
    fn take_away(&mut self, tag: Tag, left: LeftPackets, ends: bool) -> Result<(), NetworkError> {
        self.catch_up(tag)?;
        let Some(shared) = &mut self.transmitters else { return Ok(()) };
        let Stay { direction, transmitter: id, left: gone, packets } = shared.stays[tag.0 as usize];
        if packets == 0 && gone.is_some() {
            return Ok(());
        }
        let (link, out) = (&mut self.directions[direction], &mut self.link_output);
        if left != LeftPackets::Drain {
            let (waiting, on_wire) = shared.withdraw(self.now, tag, left == LeftPackets::Drop);
            if left == LeftPackets::Forward {
                link.return_to_room(self.now, waiting.into_iter(), out);
            } else {
                link.drop_away(waiting.into_iter(), on_wire, Cause::HANDOVER, out);
            }
        }
        if gone.is_some() {
            shared.release(tag, 0);
        } else if ends {
            let rate = link.offered_rate().unwrap_or(BitRate::ZERO);
            shared.depart(self.now, tag, (rate, link.delay()));
        }
        shared.resume(self.now, id, &self.directions);
        self.deliver(direction)?;
        self.pass_on(id)
    }

    /// A node leaves a link that shares transmitters: its packets there are dropped, or go back to the link.
    pub(in crate::network) fn leave_shared_link(
        &mut self,
        direction: DirectionId,
        left: LeftPackets,
    ) -> Result<(), NetworkError> {
        let Some(shared) = &self.transmitters else { return Ok(()) };
        let stays = shared.stays.iter().zip(0..);
        let here = stays.filter(|(stay, _)| stay.direction == direction && stay.packets > 0);
        let here: Vec<_> = here.map(|(_, tag)| Tag(tag)).collect();
        for tag in here {
            self.take_away(tag, left, false)?;
        }
        Ok(())
    }

    /// Settles the links that have been assigned to satellites, once their states are those over the new ones.
    pub(in crate::network) fn settle_all(&mut self) -> Result<(), NetworkError> {
        while let Some(direction) =
            self.transmitters.as_mut().and_then(|shared| shared.unsettled.pop())
        {
            self.settle(direction)?;
        }
        Ok(())
    }

    /// A link has another state, or another satellite: while it has a rate, its packets wait for the satellite's transmitter, and
    /// otherwise at the link, so that they hold up no others.
    pub(in crate::network) fn settle(
        &mut self,
        direction: DirectionId,
    ) -> Result<(), NetworkError> {
        let Some(shared) = &mut self.transmitters else { return Ok(()) };
        let Some(Berth { satellite, stay, .. }) = shared.berths[direction] else { return Ok(()) };
        let used = self.observer.sampled().binary_search(&direction).is_ok();
        let tag = match (stay, satellite.filter(|_| used)) {
            (Some(tag), _) => tag,
            (None, None) => return Ok(()),
            (None, Some(satellite)) => {
                let way = Way::of(direction);
                let names = self.observer.names();
                let name = || format!("{}/{}", names.satellite(satellite), way.name());
                let id = shared.transmitter(satellite, way, name);
                let tag = shared.arrive(self.now, direction, id);
                if let Some(berth) = &mut shared.berths[direction] {
                    berth.stay = Some(tag);
                }
                tag
            }
        };
        let link = &mut self.directions[direction];
        let id = if link.offered_rate().is_some() {
            let mut packets = Vec::new();
            link.leave_room(self.now, &mut packets);
            shared.enqueue(self.now, tag, packets.into_iter(), &self.directions)
        } else {
            let (waiting, _) = shared.withdraw(self.now, tag, false);
            link.return_to_room(self.now, waiting.into_iter(), &mut self.link_output);
            shared.stays[tag.0 as usize].transmitter
        };
        self.deliver(direction)?;
        self.pass_on(id)
    }
}
