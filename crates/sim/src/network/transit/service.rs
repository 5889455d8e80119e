//! Packets move over hops.

use leobench_base::{Descriptor, DirectionId, SimDuration, SimTime};
use leobench_link::{Cause, Drop, Link, Mark, PacketService, Started};
use typed_index_collections::TiSlice;

use super::flights::Flight;
use super::flying::Relay;
use super::hop::Transmitter;
use super::ride::Visit;
use super::{
    HopId, HopKey, HopRate, Passenger, Ride, RouteId, Transit, TransitRoute, direction_of,
};
use crate::network::observe::NetworkEvent;
use crate::network::schedule::Entity;
use crate::network::{Network, NetworkError, Way};
use crate::record::Location;
use crate::topology::{LeftPackets, Leg, NextHop};

/// How the packets of a hop are served.
fn service<'a>(
    (key, rate): (HopKey, HopRate),
    passengers: &'a TiSlice<DirectionId, Option<Passenger>>,
    links: &'a TiSlice<DirectionId, Link>,
) -> impl Fn(&Descriptor) -> PacketService + 'a {
    move |packet| {
        let direction = direction_of(packet.tag);
        let passenger = passengers[direction].as_ref();
        let passenger = passenger.expect("the link leads through the network in orbit");
        let at_terminal = match key {
            HopKey::Up(_) => passenger.route.from_terminal,
            HopKey::Down { .. } => !passenger.route.from_terminal,
            HopKey::Laser(_) | HopKey::Backhaul { .. } => false,
        };
        let rate = rate.of(passenger.rate, at_terminal);
        PacketService { rate, wire_size: links[direction].wire_size(packet.meta.size) }
    }
}

impl Transit {
    /// A packet enters the queue of a hop; whether it has passed already, as the hop has none.
    fn enqueue(
        &mut self,
        now: SimTime,
        id: HopId,
        mut packet: Descriptor,
        links: &TiSlice<DirectionId, Link>,
    ) -> Option<Descriptor> {
        let Self { hops, links: passengers, output, .. } = self;
        let hop = &mut hops[id];
        let Transmitter::Shared(transmitter, rate) = &mut hop.transmitter else {
            return Some(packet);
        };
        packet.meta.enter(now);
        let service = service((hop.key, *rate), passengers, links);
        transmitter.enqueue(now, packet, service, output);
        None
    }

    /// Does what is due at the transmitter of a hop.
    fn advance(&mut self, now: SimTime, id: HopId, links: &TiSlice<DirectionId, Link>) {
        let Self { hops, links: passengers, output, .. } = self;
        let hop = &mut hops[id];
        if let Transmitter::Shared(transmitter, rate) = &mut hop.transmitter {
            transmitter.advance(now, service((hop.key, *rate), passengers, links), output);
        }
    }

    /// Begins the next transmission, if none is under way.
    pub(super) fn resume(&mut self, now: SimTime, id: HopId, links: &TiSlice<DirectionId, Link>) {
        let Self { hops, links: passengers, output, .. } = self;
        let hop = &mut hops[id];
        if let Transmitter::Shared(transmitter, rate) = &mut hop.transmitter {
            transmitter.resume(now, service((hop.key, *rate), passengers, links), output);
        }
    }

    /// Sets the wake-up of a hop.
    fn set_wake(&mut self, id: HopId) {
        self.wakes.set(id.index(), self.hops[id].next_wake());
    }

    /// When something is due next, and at which hop.
    #[inline]
    fn first(&self) -> (SimTime, usize) {
        self.wakes.first().min(self.flights.first())
    }

    /// The next hop of a packet at a satellite on the route that it carries along, if it can be used.
    fn along(
        &self,
        route: RouteId,
        packet: &Descriptor,
        (satellite, destination): (u32, usize),
    ) -> NextHop {
        let is_exit = |leg: &Leg| leg.satellite == satellite;
        match self.routes.laser(route, self.trail(packet).lasers_passed()) {
            Some(laser) if self.lasers[laser as usize / 2].is_on => NextHop::Over(laser),
            None if self.exits[destination].iter().any(is_exit) => NextHop::Down,
            Some(_) | None => NextHop::Nowhere,
        }
    }

    /// How a packet goes on that leaves a hop's transmitter.
    fn way_on(&mut self, id: HopId, packet: &Descriptor) -> Onward {
        let direction = direction_of(packet.tag);
        match self.hops[id].key {
            HopKey::Laser(_) => Onward::Flies(self.ride(packet).delay_ahead),
            HopKey::Up(_) => match self.passenger(direction).entry {
                None => Onward::Stranded,
                Some(Leg { satellite, delay, .. }) => {
                    let ride = self.ride_mut(packet);
                    (ride.delay_ahead, ride.node_ahead) = (delay, satellite);
                    self.set_out(direction, packet);
                    Onward::Flies(delay)
                }
            },
            HopKey::Down { .. } => {
                let Ride { delay_ahead: delay, node_ahead: station, .. } = *self.ride(packet);
                let continues = self.passenger(direction).route.from_terminal
                    && self.plan.backhauls[station as usize].is_some();
                if continues { Onward::Flies(delay) } else { Onward::Ends(delay) }
            }
            HopKey::Backhaul { station, way } => {
                let delay = self.plan.backhauls[station as usize].unwrap_or_default();
                if way == Way::There { Onward::Ends(delay) } else { Onward::Flies(delay) }
            }
        }
    }
}

/// How a packet goes on behind a hop's transmitter.
enum Onward {
    /// To the end of the hop, for so long.
    Flies(SimDuration),
    /// To the far end of its link, for so long.
    Ends(SimDuration),
    /// It has no way.
    Stranded,
}

impl Network {
    /// Works off the next thing due in the network in orbit.
    pub(in crate::network) fn serve_transit(&mut self) -> Result<(), NetworkError> {
        let Some(transit) = &mut self.transit else { return Ok(()) };
        let (due, number) = transit.first();
        if due > self.now {
            transit.told = due;
            self.wakes.set(Entity::Transit, (due < SimTime::MAX).then_some(due));
            return Ok(());
        }
        transit.prefetch(&self.directions);
        let id = HopId::from(number);
        if transit.wakes.first() == (due, number) {
            transit.advance(self.now, id, &self.directions);
            self.pass_on_hop(id)?;
            if let Some(transit) = &mut self.transit {
                transit.set_wake(id);
            }
        }
        while let Some(flight) =
            self.transit.as_mut().and_then(|transit| transit.flights.land(self.now, id))
        {
            self.reach(flight)?;
        }
        self.note_transit();
        Ok(())
    }

    /// Sets the wake-up of a hop, and that of the network in orbit.
    pub(super) fn note_hop(&mut self, id: HopId) {
        if let Some(transit) = &mut self.transit {
            transit.set_wake(id);
        }
        self.note_transit();
    }

    /// Sets the wake-up of the network in orbit.
    fn note_transit(&mut self) {
        let Some(transit) = &mut self.transit else { return };
        let (first, _) = transit.first();
        if std::mem::replace(&mut transit.told, first) != first {
            self.wakes.set(Entity::Transit, (first < SimTime::MAX).then_some(first));
        }
    }

    /// A packet enters a hop.
    pub(super) fn put_on(&mut self, id: HopId, packet: Descriptor) -> Result<(), NetworkError> {
        let Some(transit) = &mut self.transit else { return Ok(()) };
        match transit.enqueue(self.now, id, packet, &self.directions) {
            None => self.pass_on_hop(id)?,
            Some(packet) => {
                self.depart(&packet);
                self.leave_hop(id, packet)?;
            }
        }
        self.note_hop(id);
        Ok(())
    }

    /// The first transmission of a packet begins, or it goes on without any.
    pub(super) fn depart(&mut self, packet: &Descriptor) {
        if let Some(transit) = &mut self.transit {
            let ride = transit.ride_mut(packet);
            if !std::mem::replace(&mut ride.departed, true) {
                self.directions[direction_of(packet.tag)].on_departed(packet.meta.size);
            }
        }
    }

    /// Passes on what the transmitter of a hop has put out.
    pub(super) fn pass_on_hop(&mut self, id: HopId) -> Result<(), NetworkError> {
        let Some(transit) = &mut self.transit else { return Ok(()) };
        if transit.output.is_empty() {
            return Ok(());
        }
        let mut output = std::mem::take(&mut transit.output);
        for Started { at, packet, tag, slot } in output.started.drain(..) {
            let ride = &mut transit.rides[slot.0 as usize];
            ride.queued += at - packet.arrival;
            if !std::mem::replace(&mut ride.departed, true) {
                self.directions[direction_of(tag)].on_departed(packet.size);
            }
        }
        for mark in output.fates.marks.drain(..) {
            self.mark_on_hop(&mark)?;
        }
        for Drop { packet, cause } in output.fates.drops.drain(..) {
            self.drop_on_hop(packet, cause)?;
        }
        for (_, packet) in output.sent.drain(..) {
            self.leave_hop(id, packet)?;
        }
        if let Some(transit) = &mut self.transit
            && transit.output.is_empty()
        {
            transit.output = output;
        }
        Ok(())
    }

    /// A packet leaves a hop's transmitter: it propagates, to a satellite or to the far end of its link.
    fn leave_hop(&mut self, id: HopId, packet: Descriptor) -> Result<(), NetworkError> {
        let Some(transit) = &mut self.transit else { return Ok(()) };
        match transit.way_on(id, &packet) {
            Onward::Ends(delay) => self.alight(delay, packet),
            Onward::Flies(delay) => {
                transit.fly(self.now, id, delay, packet);
                Ok(())
            }
            Onward::Stranded => self.strand(packet),
        }
    }

    /// A packet reaches the end of a hop.
    #[inline]
    fn reach(&mut self, flight: Flight) -> Result<(), NetworkError> {
        let Some(transit) = &mut self.transit else { return Ok(()) };
        if flight.to_ground {
            let packet = transit.unload(&flight);
            return self.at_gateway(flight.node, packet);
        }
        match transit.relay(self.now, &flight) {
            Relay::Sent => Ok(()),
            Relay::Refused => self.refuse(&flight),
            Relay::Other => {
                let packet = transit.unload(&flight);
                self.visit(flight.node, packet)
            }
        }
    }

    /// A packet is at a satellite, which sends it on as its tables say.
    pub(super) fn visit(&mut self, satellite: u32, packet: Descriptor) -> Result<(), NetworkError> {
        let Some(transit) = &mut self.transit else { return Ok(()) };
        let epoch = transit.epoch;
        let visit = transit.trail_mut(&packet).visit(satellite, epoch);
        let direction = direction_of(packet.tag);
        transit.totals.visits += 1;
        match visit {
            Visit::First => {}
            Visit::Again => transit.totals.looped += 1,
            Visit::TooOften => return self.drop_on_hop(packet, Cause::LOOP),
        }
        self.send_on(satellite, direction, packet)
    }

    /// A satellite sends a packet on.
    pub(super) fn send_on(
        &mut self,
        satellite: u32,
        direction: DirectionId,
        packet: Descriptor,
    ) -> Result<(), NetworkError> {
        let Some(transit) = &mut self.transit else { return Ok(()) };
        let destination = transit.passenger(direction).route.destination as usize;
        let next = match transit.ride(&packet).route {
            None => transit.next_hops[destination][satellite as usize].get(),
            Some(route) => transit.along(route, &packet, (satellite, destination)),
        };
        match next {
            NextHop::Nowhere if transit.ride(&packet).route.is_some() => {
                self.leave_route(satellite, direction, packet)
            }
            NextHop::Nowhere => self.strand(packet),
            NextHop::Over(laser) => self.go_over(laser, packet),
            NextHop::Down => self.go_down(satellite, direction, packet),
        }
    }

    /// The route of a packet is interrupted ahead: it goes on by the tables of satellites if packets left behind do not get lost.
    #[cold]
    fn leave_route(
        &mut self,
        satellite: u32,
        direction: DirectionId,
        packet: Descriptor,
    ) -> Result<(), NetworkError> {
        let Some(transit) = &mut self.transit else { return Ok(()) };
        transit.forget_route(&packet);
        match transit.plan.left {
            LeftPackets::Deliver | LeftPackets::Drop => self.drop_on_hop(packet, Cause::HANDOVER),
            LeftPackets::Drain | LeftPackets::Forward => {
                if let Some(totals) = &mut transit.totals.routes {
                    totals.rerouted += 1;
                }
                self.send_on(satellite, direction, packet)
            }
        }
    }

    /// A packet goes over a laser.
    fn go_over(&mut self, laser: u32, packet: Descriptor) -> Result<(), NetworkError> {
        let Some(transit) = &mut self.transit else { return Ok(()) };
        let id = transit.laser_hop(laser);
        if !matches!(transit.hops[id].transmitter, Transmitter::DropTail(_)) {
            let delay = transit.lasers[laser as usize / 2].delay;
            transit.ride_mut(&packet).delay_ahead = delay;
            return self.put_on(id, packet);
        }
        let flight = transit.load(id, packet);
        match transit.cross(self.now, laser, id, flight) {
            Relay::Refused => self.refuse(&flight),
            Relay::Sent | Relay::Other => {
                self.note_transit();
                Ok(())
            }
        }
    }

    /// The queue of a laser is full.
    #[cold]
    fn refuse(&mut self, flight: &Flight) -> Result<(), NetworkError> {
        let Some(transit) = &mut self.transit else { return Ok(()) };
        let mut packet = transit.unload(flight);
        packet.meta.enter(self.now);
        self.drop_on_hop(packet, Cause::QUEUE)
    }

    /// A packet goes down from its last satellite, unless the link to its terminal is interrupted: it waits there, then.
    fn go_down(
        &mut self,
        satellite: u32,
        direction: DirectionId,
        packet: Descriptor,
    ) -> Result<(), NetworkError> {
        let Some(transit) = &mut self.transit else { return Ok(()) };
        let TransitRoute { destination, from_terminal, .. } = transit.passenger(direction).route;
        let exits = &transit.exits[destination as usize];
        let Some(leg) = exits.iter().find(|leg| leg.satellite == satellite) else {
            return self.strand(packet);
        };
        let (delay, station) = (leg.delay, leg.station);
        if !from_terminal && self.directions[direction].offered_rate().is_none() {
            return self.wait_for_terminal(direction, packet);
        }
        let ride = transit.ride_mut(&packet);
        (ride.delay_ahead, ride.node_ahead) = (delay, station);
        let id = transit.down_hop(direction, satellite);
        self.put_on(id, packet)
    }

    /// Nobody knows a way on.
    pub(super) fn strand(&mut self, packet: Descriptor) -> Result<(), NetworkError> {
        if let Some(transit) = &mut self.transit {
            transit.totals.black_holes += 1;
        }
        self.drop_on_hop(packet, Cause::NO_ROUTE)
    }

    #[cold]
    fn mark_on_hop(&mut self, Mark { meta, tag, cause }: &Mark) -> Result<(), NetworkError> {
        let (direction, cause) = (direction_of(*tag), *cause);
        self.directions[direction].on_marked(meta.size, cause);
        Ok(self.observer.emit(self.now, NetworkEvent::Marked { direction, meta, cause })?)
    }

    /// A packet goes no further.
    #[cold]
    pub(super) fn drop_on_hop(
        &mut self,
        mut packet: Descriptor,
        cause: Cause,
    ) -> Result<(), NetworkError> {
        let Some(transit) = &mut self.transit else { return Ok(()) };
        transit.forget_route(&packet);
        let Ride { departed, entered, queued, .. } = *transit.ride(&packet);
        let direction = direction_of(packet.tag);
        let link = &mut self.directions[direction];
        if departed {
            link.on_lost(packet.meta.size, cause);
            let here = if packet.meta.is_sent {
                SimDuration::ZERO
            } else {
                self.now.saturating_since(packet.meta.arrival)
            };
            (packet.meta.arrival, packet.meta.is_sent) = (entered + queued + here, true);
        } else {
            link.on_dropped(packet.meta.size, cause);
        }
        self.drop_packet(Location::Link(direction), packet, cause)
    }
}
