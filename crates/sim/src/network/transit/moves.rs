//! Lasers go on and off, tables change, terminals are served by other satellites: what becomes of packets on their way.

use leobench_base::{Descriptor, DirectionId, SimDuration};
use leobench_link::Cause;

use super::{HopId, HopKey, TableEntry, Transit, direction_of};
use crate::network::observe::NetworkEvent;
use crate::network::{Network, NetworkError};
use crate::topology::{LeftPackets, TransitUpdate};

impl Transit {
    /// Takes over the state of a topology; returns the lasers that have gone off.
    fn follow(&mut self, update: TransitUpdate) -> Vec<u32> {
        let TransitUpdate { lasers, next_hops, routes, missing_routes, exits, entries, ways: _ } =
            update;
        let mut off = Vec::new();
        for ((number, laser), delay) in (0..).zip(&mut self.lasers).zip(lasers) {
            if laser.is_on && delay.is_none() {
                off.push(number);
            }
            laser.is_on = delay.is_some();
            laser.delay = delay.unwrap_or(laser.delay);
        }
        if !next_hops.is_empty() {
            self.epoch += 1;
        }
        for (destination, satellite, hop) in next_hops {
            self.next_hops[destination as usize][satellite as usize] = TableEntry::new(hop);
        }
        for (direction, lasers) in routes {
            let new = self.routes.add(lasers);
            if let Some(old) = self.passenger_mut(direction).own_route.replace(new) {
                self.routes.release(old);
            }
        }
        if let Some(totals) = &mut self.totals.routes {
            totals.missing += missing_routes;
        }
        let ways_down = exits.iter().flatten().map(|leg| leg.delay);
        self.last_delay = ways_down.chain(self.last_delay).min();
        self.exits = exits;
        for (direction, entry) in entries {
            self.passenger_mut(direction).entry = entry;
        }
        off
    }
}

impl Network {
    /// The network in orbit is another one from now on.
    pub(in crate::network) fn follow_transit(
        &mut self,
        update: TransitUpdate,
    ) -> Result<(), NetworkError> {
        for (direction, way) in &update.ways {
            let event = NetworkEvent::Way { direction: *direction, way: way.as_ref() };
            self.observer.emit(self.now, event)?;
        }
        let Some(transit) = &mut self.transit else { return Ok(()) };
        let (left, off) = (transit.plan.left, transit.follow(update));
        for laser in off {
            for direction in [2 * laser, 2 * laser + 1] {
                let Some(transit) = &self.transit else { return Ok(()) };
                let satellite = transit.lasers[laser as usize].ends[direction as usize % 2];
                if let Some(id) = transit.laser_hops[direction as usize] {
                    self.leave_behind(id, left, satellite, &|_| true)?;
                }
            }
        }
        Ok(())
    }

    /// A link's terminal is served by another satellite: its packets at the one before, and in its own transmitter, meet their fate.
    pub(in crate::network) fn leave_transit(
        &mut self,
        direction: DirectionId,
        left: LeftPackets,
    ) -> Result<(), NetworkError> {
        let Some(transit) = &self.transit else { return Ok(()) };
        if !transit.serves(direction) {
            return Ok(());
        }
        let passenger = transit.passenger(direction);
        let (up, down) = (passenger.up, passenger.down);
        let of_link = |packet: &Descriptor| direction_of(packet.tag) == direction;
        if passenger.route.from_terminal {
            // In the terminal's own queue, packets wait for whichever satellite comes.
            if let Some((_, id)) = up.filter(|_| left != LeftPackets::Forward) {
                self.leave_behind(id, left, 0, &of_link)?;
            }
        } else if let Some((HopKey::Down { satellite, .. }, id)) = down {
            self.leave_behind(id, left, satellite, &of_link)?;
        }
        Ok(())
    }

    /// Packets of a hop of a satellite meet the fate of what is left.
    fn leave_behind(
        &mut self,
        id: HopId,
        left: LeftPackets,
        satellite: u32,
        leaves: &dyn Fn(&Descriptor) -> bool,
    ) -> Result<(), NetworkError> {
        if left == LeftPackets::Drain {
            return Ok(());
        }
        let Some(transit) = &mut self.transit else { return Ok(()) };
        let waiting = transit.withdraw(self.now, id, leaves);
        let cut =
            if left == LeftPackets::Drop { transit.cut(self.now, id, leaves) } else { Vec::new() };
        transit.resume(self.now, id, &self.directions);
        self.pass_on_hop(id)?;
        self.note_hop(id);
        for packet in waiting.into_iter().chain(cut) {
            if left == LeftPackets::Forward {
                let direction = direction_of(packet.tag);
                self.wait_ends(&packet);
                self.send_on(satellite, direction, packet)?;
            } else {
                self.drop_on_hop(packet, Cause::HANDOVER)?;
            }
        }
        Ok(())
    }

    /// The time that a packet has waited in a queue which it leaves counts as time in queues.
    pub(super) fn wait_ends(&mut self, packet: &Descriptor) {
        let waited: SimDuration = self.now.saturating_since(packet.meta.arrival);
        if let Some(transit) = &mut self.transit {
            transit.ride_mut(packet).queued += waited;
        }
    }
}
