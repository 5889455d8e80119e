//! Packets propagate behind hops, and satellites relay them from laser to laser.

use std::hint::black_box;

use leobench_base::{Descriptor, DirectionId, SimDuration, SimTime};
use leobench_link::{Link, wire_size};
use typed_index_collections::TiSlice;

use super::flights::Flight;
use super::hop::Transmitter;
use super::ride::Visit;
use super::{HopId, HopKey, Passenger, Transit, direction_of};
use crate::topology::NextHop;

/// How a packet goes on that has come to a satellite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relay {
    /// Over the next laser.
    Sent,
    /// The queue of the next laser is full.
    Refused,
    /// Not at once, or not over a laser: nothing has happened yet.
    Other,
}

impl Transit {
    /// Keeps the descriptor of a packet that is to propagate behind a hop.
    pub(super) fn load(&mut self, id: HopId, packet: Descriptor) -> Flight {
        let ride = self.ride(&packet);
        let (node, to_ground) = match self.hops[id].key {
            HopKey::Laser(laser) => (self.end_of(laser), false),
            HopKey::Up(_) => (ride.node_ahead, false),
            HopKey::Down { .. } => (ride.node_ahead, true),
            HopKey::Backhaul { station, .. } => (station, true),
        };
        let is_routed = ride.route.is_some();
        let mut flight = Flight::new(id, direction_of(packet.tag), &packet, node);
        (flight.to_ground, flight.is_routed) = (to_ground, is_routed);
        let slot = packet.slot.0 as usize;
        self.aboard[slot] = Some(packet);
        flight
    }

    /// A packet propagates behind a hop.
    pub(super) fn fly(&mut self, now: SimTime, id: HopId, delay: SimDuration, packet: Descriptor) {
        let mut flight = self.load(id, packet);
        flight.arrival = self.hops[id].arrival(now + delay);
        self.flights.push(now, flight);
    }

    /// The descriptor of a packet that has arrived, or is taken out of the air.
    pub(super) fn unload(&mut self, flight: &Flight) -> Descriptor {
        let packet = self.aboard[flight.slot.0 as usize].take();
        let mut packet = packet.expect("a packet that propagates is aboard");
        packet.meta.arrival = flight.arrival;
        packet.meta.is_sent |= flight.is_ahead;
        packet
    }

    /// Whether something holds for the descriptor of a packet that propagates.
    fn is_aboard(&self, flight: &Flight, holds: &dyn Fn(&Descriptor) -> bool) -> bool {
        self.aboard[flight.slot.0 as usize].as_ref().is_some_and(holds)
    }

    /// The satellite at the far end of a laser.
    fn end_of(&self, laser: u32) -> u32 {
        self.lasers[laser as usize / 2].ends[1 - laser as usize % 2]
    }

    /// Reads the state that the next few packets meet where they arrive. In a crowd it is in no cache, and one by one, each packet would
    /// wait for its own; no read here depends on another packet's, so the processor fetches all of them at the same time.
    #[inline]
    pub(super) fn prefetch(&mut self, directions: &TiSlice<DirectionId, Link>) {
        let Self { flights, links, lanes, next_hops, laser_hops, lasers, hops, .. } = self;
        let next = flights.upcoming();
        let mut read = 0;
        // Trails are the coldest: in a loop of their own, more of them are under way at once.
        for flight in next.clone() {
            read ^= self.trails[flight.slot.0 as usize].lasers_passed() as u64;
        }
        for flight in next {
            let destination = lanes[flight.direction.index()].destination as usize;
            let by_table = !flight.to_ground && !flight.is_routed;
            let entry = by_table.then(|| next_hops[destination][flight.node as usize].get());
            if let Some(NextHop::Over(laser)) = entry {
                read ^= lasers[laser as usize / 2].delay.as_nanos();
                read ^= laser_hops[laser as usize].map_or(0, |id| hops[id].touch());
            } else {
                let slot = flight.slot.0 as usize;
                read ^= self.rides[slot].queued.as_nanos();
                read ^= u64::from(self.aboard[slot].is_some());
                read ^= directions[flight.direction].touch();
                read ^= links[flight.direction].as_ref().map_or(0, Passenger::touch);
            }
        }
        black_box(read);
    }

    /// A packet comes to a satellite, whose tables send it over a laser without a queue or with one that is computed ahead. Anything
    /// else is left to [`visit`](crate::network::Network::visit).
    #[inline]
    pub(super) fn relay(&mut self, now: SimTime, flight: &Flight) -> Relay {
        let destination = self.lanes[flight.direction.index()].destination as usize;
        let NextHop::Over(laser) = self.next_hops[destination][flight.node as usize].get() else {
            return Relay::Other;
        };
        let Some(id) = self.laser_hops[laser as usize].filter(|_| !flight.is_routed) else {
            return Relay::Other;
        };
        if matches!(self.hops[id].transmitter, Transmitter::Shared(..)) {
            return Relay::Other;
        }
        let trail = &mut self.trails[flight.slot.0 as usize];
        let before = *trail;
        if trail.visit(flight.node, self.epoch) != Visit::First {
            *trail = before;
            return Relay::Other;
        }
        self.totals.visits += 1;
        self.cross(now, laser, id, *flight)
    }

    /// A packet goes over a laser without a queue or with one that is computed ahead.
    #[inline]
    pub(super) fn cross(
        &mut self,
        now: SimTime,
        laser: u32,
        id: HopId,
        mut flight: Flight,
    ) -> Relay {
        let hop = &mut self.hops[id];
        let mut leaves = now;
        if let Transmitter::DropTail(transmitter) = &mut hop.transmitter {
            let size = flight.size();
            let overhead = self.lanes[flight.direction.index()].overhead;
            let Some(sent) = transmitter.enqueue(now, size, wire_size(size, overhead)) else {
                return Relay::Refused;
            };
            if sent.start > now {
                self.rides[flight.slot.0 as usize].queued += sent.start - now;
            }
            (leaves, flight.is_ahead) = (sent.end, true);
        }
        flight.arrival = hop.arrival(leaves + self.lasers[laser as usize / 2].delay);
        (flight.hop, flight.node) = (id, self.end_of(laser));
        self.flights.push(now, flight);
        Relay::Sent
    }

    /// Takes packets that wait out of the queue of a hop at `now`, in order of arrival.
    pub(super) fn withdraw(
        &mut self,
        now: SimTime,
        id: HopId,
        leaves: &dyn Fn(&Descriptor) -> bool,
    ) -> Vec<Descriptor> {
        let mut packets = Vec::new();
        match &mut self.hops[id].transmitter {
            Transmitter::None => {}
            Transmitter::Shared(transmitter, _) => transmitter.withdraw(now, leaves, &mut packets),
            Transmitter::DropTail(transmitter) => {
                // Packets of a laser leave all together.
                let waiting = transmitter.withdraw(now);
                if waiting > 0 {
                    let mut flying = self.flights.take(id);
                    let left = flying.split_off(flying.len() - waiting);
                    packets.extend(left.iter().map(|flight| self.unload(flight)));
                    self.put_back(now, id, &flying);
                }
            }
        }
        packets
    }

    /// Takes packets off the wire of a hop, and those that propagate behind it.
    pub(super) fn cut(
        &mut self,
        now: SimTime,
        id: HopId,
        leaves: &dyn Fn(&Descriptor) -> bool,
    ) -> Vec<Descriptor> {
        let hop = &mut self.hops[id];
        let on_wire = match &mut hop.transmitter {
            Transmitter::Shared(one, _) => one.cut(now, leaves),
            Transmitter::DropTail(one) => {
                one.cut(now);
                None
            }
            Transmitter::None => None,
        };
        let mut packets: Vec<_> = on_wire.into_iter().collect();
        if hop.flies_until() >= now {
            let flying = self.flights.take(id);
            let (left, others): (Vec<_>, Vec<_>) =
                flying.into_iter().partition(|flight| self.is_aboard(flight, leaves));
            packets.extend(left.iter().map(|flight| self.unload(flight)));
            self.put_back(now, id, &others);
        }
        packets
    }

    /// Only these packets propagate behind a hop.
    fn put_back(&mut self, now: SimTime, id: HopId, flying: &[Flight]) {
        self.hops[id].forget_arrivals();
        for flight in flying {
            self.hops[id].arrival(flight.arrival);
            self.flights.push(now, *flight);
        }
    }
}
