//! Transmitters that links share: the satellites of a constellation with a queue for each direction.
//!
//! [`SharedTransmitters`] knows which transmitter has the packets of which link; `service` moves packets between both, and
//! `moves` follows links from one satellite to another. A *stay* is the time that a link spends at a transmitter, and the tag of its
//! packets there. It lasts until the last of them is sent, even if the link has gone on to another satellite.

mod moves;
mod service;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use leobench_base::{BitRate, DirectionId, LinkId, SatelliteId, SimDuration, SimTime, Tag};
use leobench_link::{
    Backlog, Causes, Link, QueueDiscipline, SharedCounters, SharedOutput, SharedTransmitter,
};
use typed_index_collections::{TiSlice, TiVec};

use super::schedule::WakeHeap;

leobench_base::indices! {
    /// A transmitter that links share.
    TransmitterId
}

/// The direction in which a satellite sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// Towards gateways: the first direction of links.
    There,
    /// Towards terminals.
    Back,
}

impl Way {
    /// Both, `There` first.
    pub const BOTH: [Self; 2] = [Self::There, Self::Back];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::There => "there",
            Self::Back => "back",
        }
    }

    fn of(direction: DirectionId) -> Self {
        if direction == direction.link().directions()[0] { Self::There } else { Self::Back }
    }
}

/// A queue that is to be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueRequest {
    /// Number of the satellite.
    pub satellite: SatelliteId,
    /// The direction in which it sends.
    pub way: Way,
    /// How often it has had a queue before; a satellite that serves nobody loses its queue.
    pub visit: u64,
}

/// Builds the queue of a satellite, in front of its transmitter of a direction.
pub type QueueFactory = Box<dyn Fn(QueueRequest) -> Box<dyn QueueDiscipline> + Send>;

/// Totals of a shared transmitter that has served at all.
#[derive(Clone, Debug)]
pub(crate) struct TransmitterTotals {
    /// Name of the satellite and of the direction.
    pub(crate) name: String,
    pub(crate) counters: SharedCounters,
    /// How long it served at least one link.
    pub(crate) served: SimDuration,
}

/// All shared transmitters, and the links that they serve.
pub(in crate::network) struct SharedTransmitters {
    factory: QueueFactory,
    causes: Causes,
    stations: TiVec<TransmitterId, Station>,
    known: BTreeMap<(SatelliteId, Way), TransmitterId>,
    wakes: WakeHeap,
    /// None of links that have their own transmitter.
    berths: TiVec<DirectionId, Option<Berth>>,
    /// By tag.
    stays: Vec<Stay>,
    free: Vec<Tag>,
    /// Links that have been assigned to a satellite, and whose states are still those from before.
    unsettled: Vec<DirectionId>,
    output: SharedOutput,
}

/// A satellite in one direction.
struct Station {
    satellite: SatelliteId,
    way: Way,
    name: String,
    /// None while it serves nobody.
    transmitter: Option<Box<SharedTransmitter>>,
    visits: u64,
    /// Totals of earlier visits.
    before: SharedCounters,
    /// Links that it serves now, and since when.
    links: u32,
    since: SimTime,
    served: SimDuration,
}

/// The place of a link among the transmitters.
#[derive(Clone, Copy, Default)]
struct Berth {
    /// The satellite that serves it.
    satellite: Option<SatelliteId>,
    /// Its stay there.
    stay: Option<Tag>,
    /// The stay before, during an overlap.
    former: Option<Tag>,
}

/// A link at a transmitter.
struct Stay {
    direction: DirectionId,
    transmitter: TransmitterId,
    /// Packets that wait, or are on the wire.
    packets: u64,
    /// The link's rate and delay when it left; none while it stays.
    left: Option<(BitRate, SimDuration)>,
}

impl SharedTransmitters {
    /// Transmitters for these links, of which nobody has one yet; `causes` are those of the queues.
    pub(in crate::network) fn new(
        factory: QueueFactory,
        causes: Causes,
        links: &[LinkId],
        directions: &mut TiSlice<DirectionId, Link>,
    ) -> Self {
        let mut berths: TiVec<_, Option<Berth>> = directions.iter().map(|_| None).collect();
        for direction in links.iter().flat_map(|link| link.directions()) {
            berths[direction] = Some(Berth::default());
            let link = &mut directions[direction];
            link.share_transmitter();
            causes.drops.iter().for_each(|cause| link.expect_cause(*cause));
            causes.marks.iter().for_each(|cause| link.expect_mark(*cause));
        }
        Self {
            factory,
            causes,
            stations: TiVec::new(),
            known: BTreeMap::new(),
            wakes: WakeHeap::new(0),
            berths,
            stays: Vec::new(),
            free: Vec::new(),
            unsettled: Vec::new(),
            output: SharedOutput::default(),
        }
    }

    /// Whether a link shares transmitters in a direction.
    pub(in crate::network) fn serve(&self, direction: DirectionId) -> bool {
        self.berths[direction].is_some()
    }

    /// Names and backlogs of the transmitters that have a queue.
    pub(in crate::network) fn backlogs(&self) -> impl Iterator<Item = (&str, Backlog)> {
        self.stations.iter().filter_map(|station| {
            let transmitter = station.transmitter.as_ref()?;
            Some((station.name.as_str(), transmitter.backlog()))
        })
    }

    /// Counts anew from `now` on, as at the end of a warm-up.
    pub(in crate::network) fn restart(&mut self, now: SimTime) {
        for station in &mut self.stations {
            station.before = SharedCounters::default();
            (station.served, station.since) = (SimDuration::ZERO, now);
            if let Some(transmitter) = &mut station.transmitter {
                transmitter.restart(&self.causes);
            }
        }
    }

    /// Totals of the transmitters that served since the start, or the last [restart](Self::restart), by satellite.
    pub(in crate::network) fn totals(&self, now: SimTime) -> Vec<TransmitterTotals> {
        let stations = self.known.values().map(|id| &self.stations[*id]);
        let totals = stations.map(|station| {
            let mut counters = station.before.clone();
            if let Some(transmitter) = &station.transmitter {
                counters.add(transmitter.counters());
            }
            let name = station.name.clone();
            TransmitterTotals { name, counters, served: station.served(now) }
        });
        totals
            .filter(|totals| !totals.served.is_zero() || totals.counters.sent.packets > 0)
            .collect()
    }

    /// The transmitter of a satellite, with a queue from now on.
    fn transmitter(
        &mut self,
        satellite: SatelliteId,
        way: Way,
        name: impl FnOnce() -> String,
    ) -> TransmitterId {
        let Self { stations, known, wakes, factory, causes, .. } = self;
        let id = *known.entry((satellite, way)).or_insert_with(|| {
            wakes.grow();
            stations.push_and_get_key(Station {
                satellite,
                way,
                name: name(),
                transmitter: None,
                visits: 0,
                before: SharedCounters::default(),
                links: 0,
                since: SimTime::ZERO,
                served: SimDuration::ZERO,
            })
        });
        let Station { satellite, way, visits, transmitter, .. } = &mut stations[id];
        transmitter.get_or_insert_with(|| {
            let request = QueueRequest { satellite: *satellite, way: *way, visit: *visits };
            *visits += 1;
            Box::new(SharedTransmitter::new(factory(request), causes))
        });
        id
    }

    /// A link begins to stay at a transmitter.
    fn arrive(&mut self, now: SimTime, direction: DirectionId, transmitter: TransmitterId) -> Tag {
        let station = &mut self.stations[transmitter];
        if station.links == 0 {
            station.since = now;
        }
        station.links += 1;
        let stay = Stay { direction, transmitter, packets: 0, left: None };
        if let Some(tag) = self.free.pop() {
            self.stays[tag.0 as usize] = stay;
            return tag;
        }
        self.stays.push(stay);
        Tag(u32::try_from(self.stays.len() - 1).expect("fewer than 2^32 links at satellites"))
    }

    /// A link leaves, at the rate and delay that its packets here keep.
    fn depart(&mut self, now: SimTime, tag: Tag, offered: (BitRate, SimDuration)) {
        let stay = &mut self.stays[tag.0 as usize];
        stay.left = Some(offered);
        let station = &mut self.stations[stay.transmitter];
        station.served = station.served(now);
        station.since = now;
        station.links -= 1;
        self.release(tag, 0);
    }

    /// A stay has so many packets less. It ends with the last one, once its link has left.
    fn release(&mut self, tag: Tag, packets: u64) {
        let stay = &mut self.stays[tag.0 as usize];
        stay.packets -= packets;
        if stay.packets > 0 || stay.left.is_none() {
            return;
        }
        let (transmitter, direction) = (stay.transmitter, stay.direction);
        self.free.push(tag);
        if let Some(berth) = &mut self.berths[direction] {
            berth.former = berth.former.filter(|former| *former != tag);
        }
        self.retire(transmitter);
    }

    /// Takes the queue of a transmitter down that serves nobody and has nothing to send.
    fn retire(&mut self, id: TransmitterId) {
        let station = &mut self.stations[id];
        if station.links == 0
            && let Some(transmitter) =
                station.transmitter.take_if(|transmitter| transmitter.is_idle())
        {
            station.before.add(transmitter.counters());
            self.wakes.set(id.index(), SimTime::MAX);
        }
    }
}

impl Station {
    fn served(&self, now: SimTime) -> SimDuration {
        let present = if self.links > 0 { now - self.since } else { SimDuration::ZERO };
        self.served + present
    }
}
