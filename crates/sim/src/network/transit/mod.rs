//! The network in orbit: packets of links through a constellation go from hop to hop, each with a transmitter and a queue that other
//! links share.
//!
//! A packet takes the next hop that the tables of a satellite name when it gets there, as in a network of routers. [`Transit`] has the
//! tables, the hops, and the routes of links that have their own, which their packets carry along; `boarding` takes packets off
//! their links and on again, `service` moves them over hops, `flying` between hops and from laser to laser, `moves` follows the tables,
//! lasers and terminals. [`Ride`] and [`Trail`] are the state of one packet on its way, [`Flights`] has all that propagate.

mod boarding;
mod entry;
mod flights;
mod flying;
mod hop;
mod moves;
mod plan;
mod ride;
mod routes;
mod service;
#[cfg(test)]
mod tests;

use leobench_base::{BitRate, Descriptor, DirectionId, SimDuration, SimTime, Tag};
use leobench_link::{Link, SharedCounters, SharedOutput};
use rustc_hash::FxHashMap;
use typed_index_collections::{TiSlice, TiVec};

use super::schedule::WakeHeap;
use crate::record::HopRow;
use crate::topology::{LaserLoad, Leg};
use entry::TableEntry;
use flights::Flights;
use hop::{Hop, HopId, Laser};
pub use plan::{
    HopFactory, HopKey, HopParts, HopRate, HopTransmitter, Radio, Sharing, TransitPlan,
    TransitRoute,
};
use ride::{Ride, Trail};
use routes::{RouteId, Routes};

/// Totals of a hop that has sent anything.
#[derive(Clone, Debug)]
pub(crate) struct HopTotals {
    pub(crate) name: String,
    pub(crate) counters: SharedCounters,
}

/// How packets fared at satellites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TransitTotals {
    /// Packets that met a satellite again after a change of the tables.
    pub(crate) looped: u64,
    /// Packets whose satellite knew no way on.
    pub(crate) black_holes: u64,
    /// Packets that came to satellites.
    pub(crate) visits: u64,
    /// Routes that packets carry along, if any do.
    pub(crate) routes: Option<RouteTotals>,
}

impl TransitTotals {
    fn new(plan: &TransitPlan) -> Self {
        Self { routes: plan.source_routed.then(RouteTotals::default), ..Self::default() }
    }
}

/// How links fared with routes of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RouteTotals {
    /// Searches in which a link found none, although the pair of its ends has another one.
    pub(crate) missing: u64,
    /// Packets that went on by the tables of satellites, as their route was interrupted ahead.
    pub(crate) rerouted: u64,
}

/// The network in orbit.
pub(in crate::network) struct Transit {
    plan: TransitPlan,
    /// None for links that do not lead through it.
    links: TiVec<DirectionId, Option<Passenger>>,
    lasers: Vec<Laser>,
    /// By destination and satellite.
    next_hops: Vec<Vec<TableEntry>>,
    exits: Vec<Vec<Leg>>,
    /// The shortest way so far from a transmitter to the end of a link.
    last_delay: Option<SimDuration>,
    routes: Routes,
    /// How often the tables have changed.
    epoch: u32,
    hops: TiVec<HopId, Hop>,
    known: FxHashMap<HopKey, HopId>,
    /// By laser and direction, its hop, once it has one.
    laser_hops: Vec<Option<HopId>>,
    wakes: WakeHeap,
    /// The first wake-up that the network knows of.
    told: SimTime,
    /// Packets that propagate behind hops.
    flights: Flights,
    /// By slot of the packet.
    rides: Vec<Ride>,
    trails: Vec<Trail>,
    /// The descriptors of those that propagate, by slot of the packet.
    aboard: Vec<Option<Descriptor>>,
    /// By direction of a link.
    lanes: Vec<Lane>,
    output: SharedOutput,
    totals: TransitTotals,
    /// By laser and direction, its totals when loads were last asked for.
    told_loads: Vec<LaserLoad>,
}

/// The direction of the link of a packet on its way.
fn direction_of(tag: Tag) -> DirectionId {
    DirectionId::from(tag.0 as usize)
}

/// The parts of a direction of a link that every satellite on the way of a packet needs.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    /// Number of the destination.
    destination: u32,
    /// Bytes that its framing adds to a packet.
    overhead: i64,
}

/// A direction of a link that leads through it.
struct Passenger {
    route: TransitRoute,
    /// The way up of its packets now.
    entry: Option<Leg>,
    /// The route of its own that packets which go up now carry along.
    own_route: Option<RouteId>,
    /// Its latest rate above zero.
    rate: BitRate,
    /// The hops up and down that it used last, and their keys.
    up: Option<(HopKey, HopId)>,
    down: Option<(HopKey, HopId)>,
}

impl Passenger {
    /// Reads the state that the next packet meets, to prefetch it. The number means nothing.
    fn touch(&self) -> u64 {
        self.rate.bps() ^ u64::from(self.entry.is_some()) ^ u64::from(self.down.is_some())
    }
}

impl Transit {
    /// Nothing is on its way, and no way known.
    pub(in crate::network) fn new(
        plan: TransitPlan,
        directions: &mut TiSlice<DirectionId, Link>,
    ) -> Self {
        assert!(u16::try_from(plan.satellites).is_ok(), "too many satellites for their numbers");
        let mut links: TiVec<_, Option<Passenger>> = directions.iter().map(|_| None).collect();
        let mut lanes = vec![Lane::default(); directions.len()];
        for (direction, route) in &plan.routes {
            let link = &mut directions[*direction];
            link.share_transmitter();
            plan.causes.drops.iter().for_each(|cause| link.expect_cause(*cause));
            plan.causes.marks.iter().for_each(|cause| link.expect_mark(*cause));
            let rate = link.offered_rate().unwrap_or(BitRate::ZERO);
            lanes[direction.index()] =
                Lane { destination: route.destination, overhead: link.overhead() };
            links[*direction] = Some(Passenger {
                route: *route,
                entry: None,
                own_route: None,
                rate,
                up: None,
                down: None,
            });
        }
        let next_hops = vec![vec![TableEntry::NOWHERE; plan.satellites]; plan.destinations];
        let exits = vec![Vec::new(); plan.destinations];
        let lasers = plan.lasers.iter().map(|ends| Laser::new(*ends)).collect();
        let laser_hops = vec![None; 2 * plan.lasers.len()];
        let totals = TransitTotals::new(&plan);
        let last_delay = plan.backhauls.iter().copied().flatten().min();
        Self {
            plan,
            links,
            lasers,
            next_hops,
            exits,
            last_delay,
            routes: Routes::default(),
            epoch: 0,
            hops: TiVec::new(),
            known: FxHashMap::default(),
            laser_hops,
            wakes: WakeHeap::new(0),
            told: SimTime::MAX,
            flights: Flights::default(),
            rides: Vec::new(),
            trails: Vec::new(),
            aboard: Vec::new(),
            lanes,
            output: SharedOutput::default(),
            totals,
            told_loads: Vec::new(),
        }
    }

    /// No packet takes less time from its last transmitter to the end of its link, where that adds none. Those that wait for it may
    /// have a way down of an earlier state of the network, as short as any so far.
    pub(in crate::network) fn last_delay(&self) -> SimDuration {
        self.last_delay.unwrap_or_default()
    }

    /// Whether a link leads through it.
    pub(in crate::network) fn serves(&self, direction: DirectionId) -> bool {
        self.links[direction].is_some()
    }

    /// Samples the hops at whose queues anything has happened since the last time.
    pub(in crate::network) fn sample<E>(
        &mut self,
        now: SimTime,
        mut take: impl FnMut(&HopRow<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        for hop in &mut self.hops {
            if let Some(row) = hop.sample(now) {
                take(&row)?;
            }
        }
        Ok(())
    }

    /// The traffic of each laser, by direction, since the last call.
    pub(in crate::network) fn take_loads(&mut self, now: SimTime) -> Vec<LaserLoad> {
        self.told_loads.resize(self.laser_hops.len(), LaserLoad::default());
        let hops = self.laser_hops.iter().zip(&mut self.told_loads);
        let load = |(hop, told): (&Option<HopId>, &mut LaserLoad)| {
            let Some(load) = hop.and_then(|hop| self.hops[hop].load(now)) else {
                return LaserLoad::default();
            };
            let before = std::mem::replace(told, load);
            LaserLoad {
                busy: load.busy.saturating_sub(before.busy),
                waited: load.waited.saturating_sub(before.waited),
                packets: load.packets.saturating_sub(before.packets),
            }
        };
        hops.map(load).collect()
    }

    /// Counts anew from `now` on, as at the end of a warm-up.
    pub(in crate::network) fn restart(&mut self, now: SimTime) {
        self.told_loads.clear();
        self.totals = TransitTotals::new(&self.plan);
        for hop in &mut self.hops {
            hop.restart(now, &self.plan.causes);
        }
    }

    /// Totals of the hops that sent since the start, or the last [restart](Self::restart), in the order of their names, and of all.
    pub(in crate::network) fn totals(&mut self, now: SimTime) -> (Vec<HopTotals>, TransitTotals) {
        let totals = self.hops.iter_mut().filter_map(|hop| hop.totals(now));
        let mut totals: Vec<_> = totals.collect();
        totals.sort_by(|one, other| one.name.cmp(&other.name));
        (totals, self.totals)
    }

    fn passenger(&self, direction: DirectionId) -> &Passenger {
        self.links[direction].as_ref().expect("the link leads through the network in orbit")
    }

    fn passenger_mut(&mut self, direction: DirectionId) -> &mut Passenger {
        self.links[direction].as_mut().expect("the link leads through the network in orbit")
    }

    /// The state of a packet on its way.
    fn ride(&self, packet: &Descriptor) -> &Ride {
        &self.rides[packet.slot.0 as usize]
    }

    fn ride_mut(&mut self, packet: &Descriptor) -> &mut Ride {
        &mut self.rides[packet.slot.0 as usize]
    }

    fn trail(&self, packet: &Descriptor) -> &Trail {
        &self.trails[packet.slot.0 as usize]
    }

    fn trail_mut(&mut self, packet: &Descriptor) -> &mut Trail {
        &mut self.trails[packet.slot.0 as usize]
    }

    /// A packet begins its way: its tag is the direction of its link from now on.
    fn begin(&mut self, now: SimTime, direction: DirectionId, packet: &mut Descriptor) {
        let slot = packet.slot.0 as usize;
        let (ride, trail) = (Ride::new(now), Trail::new(self.epoch));
        packet.tag = Tag(direction.index() as u32);
        if slot >= self.rides.len() {
            self.rides.resize(slot + 1, ride);
            self.trails.resize(slot + 1, trail);
            self.aboard.resize_with(slot + 1, || None);
        }
        (self.rides[slot], self.trails[slot]) = (ride, trail);
    }

    /// The hop of a key, made when it is first asked for.
    fn hop(&mut self, key: HopKey) -> HopId {
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        self.wakes.grow();
        let parts = (self.plan.factory)(key);
        let id = self.hops.push_and_get_key(Hop::new(key, parts, &self.plan.causes));
        self.known.insert(key, id);
        id
    }

    fn laser_hop(&mut self, laser: u32) -> HopId {
        if let Some(id) = self.laser_hops[laser as usize] {
            return id;
        }
        let id = self.hop(HopKey::Laser(laser));
        self.laser_hops[laser as usize] = Some(id);
        id
    }

    /// The hop from the ground for packets of a link that go up at a station now.
    fn up_hop(&mut self, direction: DirectionId, station: u32) -> HopId {
        let Passenger { route, up, entry, .. } = self.passenger(direction);
        let radio = match route.sharing {
            Sharing::Link if route.from_terminal => Radio::Link(direction),
            Sharing::Cell(cell) if route.from_terminal => {
                let satellite = entry.map_or(0, |leg| leg.satellite);
                Radio::Beam { satellite, cell }
            }
            Sharing::Link | Sharing::Cell(_) | Sharing::Station => Radio::Station(station),
        };
        let key = HopKey::Up(radio);
        if let Some((_, id)) = up.filter(|(last, _)| *last == key) {
            return id;
        }
        let id = self.hop(key);
        self.passenger_mut(direction).up = Some((key, id));
        id
    }

    /// The hop from a satellite to the ground for packets of a link.
    fn down_hop(&mut self, direction: DirectionId, satellite: u32) -> HopId {
        let Passenger { route, down, .. } = self.passenger(direction);
        let radio = match route.sharing {
            Sharing::Link if !route.from_terminal => Radio::Link(direction),
            Sharing::Cell(cell) if !route.from_terminal => Radio::Beam { satellite, cell },
            Sharing::Link | Sharing::Cell(_) | Sharing::Station => Radio::Satellite,
        };
        let key = HopKey::Down { satellite, radio };
        if let Some((_, id)) = down.filter(|(last, _)| *last == key) {
            return id;
        }
        let id = self.hop(key);
        self.passenger_mut(direction).down = Some((key, id));
        id
    }
}
