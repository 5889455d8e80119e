//! Packets go from their links into the network in orbit, and out of it.

use leobench_base::{Descriptor, DirectionId, SimDuration};

use super::{HopKey, Passenger, Transit, direction_of};
use crate::network::schedule::Entity;
use crate::network::{Network, NetworkError, Way};

impl Transit {
    /// A packet goes up with the route that its link has now, if it has one of its own.
    pub(super) fn set_out(&mut self, direction: DirectionId, packet: &Descriptor) {
        if let Some(route) = self.passenger(direction).own_route {
            self.routes.keep(route);
            self.ride_mut(packet).route = Some(route);
        }
    }

    /// A packet follows its route no more.
    #[inline]
    pub(super) fn forget_route(&mut self, packet: &Descriptor) {
        if self.ride(packet).route.is_some()
            && let Some(route) = self.ride_mut(packet).route.take()
        {
            self.trail_mut(packet).leave_route();
            self.routes.release(route);
        }
    }

    /// Whether packets of a link have a way up.
    fn is_open(&self, direction: DirectionId) -> bool {
        self.passenger(direction).entry.is_some()
    }
}

impl Network {
    /// A packet enters a link that leads through the network in orbit: its first hop, or the room in which packets wait while the
    /// link is interrupted.
    pub(in crate::network) fn enter_transit(
        &mut self,
        direction: DirectionId,
        mut packet: Descriptor,
    ) -> Result<(), NetworkError> {
        let Some(transit) = &mut self.transit else { return Ok(()) };
        transit.begin(self.now, direction, &mut packet);
        let link = &mut self.directions[direction];
        let open = transit.is_open(direction) && link.offered_rate().is_some();
        let goes_on = link.enter(self.now, packet, open, &mut self.link_output);
        self.wakes.set(Entity::Direction(direction), self.directions[direction].next_wake());
        self.deliver(direction)?;
        goes_on.map_or(Ok(()), |packet| self.board(direction, packet))
    }

    /// A packet takes the first hop of its way.
    pub(super) fn board(
        &mut self,
        direction: DirectionId,
        packet: Descriptor,
    ) -> Result<(), NetworkError> {
        self.wait_ends(&packet);
        let Some(transit) = &mut self.transit else { return Ok(()) };
        let Passenger { route, entry, .. } = transit.passenger(direction);
        let (from_terminal, entry) = (route.from_terminal, *entry);
        let station = entry.expect("a link that is open has a way up").station;
        let id = if !from_terminal && transit.plan.backhauls[station as usize].is_some() {
            transit.hop(HopKey::Backhaul { station, way: Way::Back })
        } else {
            transit.up_hop(direction, station)
        };
        self.put_on(id, packet)
    }

    /// A packet is at a gateway: it goes on over land, or up.
    pub(super) fn at_gateway(
        &mut self,
        station: u32,
        packet: Descriptor,
    ) -> Result<(), NetworkError> {
        let Some(transit) = &mut self.transit else { return Ok(()) };
        let direction = direction_of(packet.tag);
        let id = if transit.passenger(direction).route.from_terminal {
            transit.hop(HopKey::Backhaul { station, way: Way::There })
        } else {
            transit.up_hop(direction, station)
        };
        self.put_on(id, packet)
    }

    /// A packet has left its last hop: its link takes it to the far end.
    pub(super) fn alight(
        &mut self,
        delay: SimDuration,
        mut packet: Descriptor,
    ) -> Result<(), NetworkError> {
        let Some(transit) = &mut self.transit else { return Ok(()) };
        transit.forget_route(&packet);
        let ride = transit.ride(&packet);
        let (direction, queued) = (direction_of(packet.tag), ride.queued);
        (packet.meta.arrival, packet.meta.is_sent) = (ride.entered + queued, true);
        let link = &mut self.directions[direction];
        link.on_waited(queued);
        let delay = delay + link.own_delay();
        link.on_sent(self.now, packet, delay, &mut self.link_output);
        self.wakes.set(Entity::Direction(direction), self.directions[direction].next_wake());
        self.deliver(direction)
    }

    /// A packet waits at its last satellite while the link to its terminal is interrupted.
    pub(super) fn wait_for_terminal(
        &mut self,
        direction: DirectionId,
        mut packet: Descriptor,
    ) -> Result<(), NetworkError> {
        if let Some(transit) = &mut self.transit {
            transit.forget_route(&packet);
        }
        packet.meta.enter(self.now);
        self.directions[direction].on_returned(self.now, packet, &mut self.link_output);
        self.deliver(direction)
    }

    /// A link has another state: while it has a way and a rate, its packets are on their way, and otherwise in its room.
    pub(in crate::network) fn settle_transit(
        &mut self,
        direction: DirectionId,
    ) -> Result<(), NetworkError> {
        let Some(transit) = &mut self.transit else { return Ok(()) };
        if !transit.serves(direction) {
            return Ok(());
        }
        let link = &mut self.directions[direction];
        let Some(rate) = link.offered_rate() else { return Ok(()) };
        transit.passenger_mut(direction).rate = rate;
        if !transit.is_open(direction) {
            return Ok(());
        }
        let mut packets = Vec::new();
        link.leave_room(self.now, &mut packets);
        for packet in packets {
            self.leave_the_room(direction, packet)?;
        }
        Ok(())
    }

    /// A packet goes on: from where it entered its link, or from the satellite over its terminal if it had got to one.
    fn leave_the_room(
        &mut self,
        direction: DirectionId,
        packet: Descriptor,
    ) -> Result<(), NetworkError> {
        let Some(transit) = &mut self.transit else { return Ok(()) };
        let ride = transit.ride_mut(&packet);
        ride.departed = false;
        if !transit.trail(&packet).is_up() {
            return self.board(direction, packet);
        }
        let destination = transit.passenger(direction).route.destination as usize;
        let over = transit.exits[destination].first().map(|leg| leg.satellite);
        self.wait_ends(&packet);
        self.depart(&packet);
        match over {
            Some(satellite) => self.send_on(satellite, direction, packet),
            None => self.strand(packet),
        }
    }
}
