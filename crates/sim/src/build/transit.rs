//! The hops of a scenario: who shares a transmitter, and the queue and rate of each.

use leobench_base::{BitRate, DirectionId, LinkId, RngTree, SimDuration};
use leobench_link::{Capacity, Causes, QueueDiscipline, QueueSpec};

use super::error::unsound;
use super::{BuildError, FromScenario};
use crate::network::{HopFactory, HopKey, HopParts, HopRate, Radio, TransitPlan, TransitRoute};
use crate::satellite_links::{EarthStations, SatelliteLinks};
use crate::scenario::{
    BackhaulSpec, ConstellationSpec, Direction, LinkSpec, ScenarioSpec, capacity, hop_capacity,
};

/// The rate of those who have none: packets take no time.
const AT_ONCE: BitRate = BitRate::from_bps(u64::MAX);

/// A queue that can be built again and again.
#[derive(Clone)]
struct Queue {
    spec: QueueSpec,
    capacity: Capacity,
}

impl Queue {
    fn build(&self, rng: &RngTree) -> Box<dyn QueueDiscipline> {
        self.spec.model().build(self.capacity, rng)
    }
}

/// The queues and rates of hops, and the names of what they lie between.
struct Hops {
    rng: RngTree,
    lasers: Vec<[String; 2]>,
    satellites: Vec<String>,
    stations: Vec<String>,
    /// By direction of a link, its name and its own queue.
    links: Vec<Option<(String, Queue)>>,
    laser: Option<(BitRate, Queue)>,
    ground: Option<(Option<BitRate>, Queue)>,
    backhauls: Vec<Option<(BitRate, Queue)>>,
}

impl FromScenario<'_> {
    /// The network in orbit, if packets take hops there.
    pub(super) fn transit(
        &self,
        spec: &ConstellationSpec,
        satellites: &SatelliteLinks,
    ) -> Result<Option<TransitPlan>, BuildError> {
        let Some((lasers, destinations)) = satellites.transit() else { return Ok(None) };
        let hops = self.hops(spec, satellites, &lasers)?;
        let shared = hops.ground.is_some();
        let stations = satellites.stations();
        let terminals = stations.terminals.len();
        let terminal_of = |link: LinkId| {
            (0..satellites.len())
                .find(|path| satellites.link_id(*path) == link)
                .map(|path| satellites.terminal(path) as u32)
        };
        let routes = destinations.into_iter().map(|(direction, destination)| {
            let from_terminal = !direction.is_backward();
            let terminal = terminal_of(direction.link()).unwrap_or_default();
            let up = match (shared, from_terminal) {
                (true, true) => Some(Radio::Station(terminal)),
                (false, true) => Some(Radio::Link(direction)),
                (_, false) => None,
            };
            let down = match (shared, from_terminal) {
                (false, false) => Radio::Link(direction),
                _ => Radio::Satellite,
            };
            (direction, TransitRoute { destination, up, down, from_terminal })
        });
        let routes: Vec<_> = routes.collect();
        let count = routes.iter().map(|(_, route)| route.destination as usize + 1).max();
        let backhauls = (0..terminals).map(|_| None);
        let backhauls = backhauls.chain(
            stations
                .gateways
                .iter()
                .zip(&hops.backhauls)
                .map(|(gateway, backhaul)| backhaul.as_ref().map(|_| gateway.onwards)),
        );
        Ok(Some(TransitPlan {
            satellites: satellites.names().len(),
            lasers,
            destinations: count.unwrap_or_default(),
            backhauls: backhauls.collect::<Vec<Option<SimDuration>>>(),
            routes,
            left: spec.old_packets,
            causes: hops.causes(),
            factory: hops.factory(terminals),
        }))
    }

    fn hops(
        &self,
        spec: &ConstellationSpec,
        satellites: &SatelliteLinks,
        lasers: &[[u32; 2]],
    ) -> Result<Hops, BuildError> {
        let name = |number: u32| satellites.name(number as usize);
        let stations: &EarthStations = satellites.stations();
        let all = stations.terminals.iter().chain(&stations.gateways);
        let laser = match spec.isl.as_ref().and_then(|isl| Some((isl.rate?, &isl.queue))) {
            Some((rate, queue)) => {
                Some((rate, self.hop_queue(queue, Some(rate), "constellation.isl.queue")?))
            }
            None => None,
        };
        let ground = match &spec.ground {
            Some(ground) => {
                let field = "constellation.ground.queue";
                Some((ground.rate, self.hop_queue(&ground.queue, ground.rate, field)?))
            }
            None => None,
        };
        let backhaul = |gateway: &String| {
            let given = spec.gateways.iter().find(|(name, _)| name == gateway);
            given.and_then(|(_, given)| given.backhaul.as_ref())
        };
        let mut backhauls = Vec::new();
        for gateway in &stations.gateways {
            backhauls.push(match backhaul(&gateway.name) {
                Some(BackhaulSpec { rate, queue }) => {
                    let field = format!("constellation.gateways.{}.backhaul.queue", gateway.name);
                    Some((*rate, self.hop_queue(queue, Some(*rate), &field)?))
                }
                None => None,
            });
        }
        let mut links = Vec::new();
        for (link, spec) in &self.spec.links {
            for direction in Direction::BOTH {
                links.push(self.link_queue(link, spec, direction)?);
            }
        }
        Ok(Hops {
            rng: self.rng.child("constellation").child("hops"),
            lasers: lasers.iter().map(|ends| ends.map(name)).collect(),
            satellites: satellites.names().to_vec(),
            stations: all.map(|station| station.name.clone()).collect(),
            links,
            laser,
            ground,
            backhauls,
        })
    }

    fn hop_queue(
        &self,
        queue: &QueueSpec,
        rate: Option<BitRate>,
        field: &str,
    ) -> Result<Queue, BuildError> {
        let spec: &ScenarioSpec = self.spec;
        let capacity = hop_capacity(spec, self.folder, queue, rate);
        let capacity = capacity.map_err(|fault| unsound(format!("{field}.{fault:?}")))?;
        Ok(Queue { spec: queue.clone(), capacity })
    }

    /// The queue of a link through the constellation, at the end where packets wait for its rate.
    fn link_queue(
        &self,
        name: &str,
        link: &LinkSpec,
        direction: Direction,
    ) -> Result<Option<(String, Queue)>, BuildError> {
        if link.constellation.is_none() {
            return Ok(None);
        }
        let capacity = capacity(self.spec, self.folder, (name, link), direction);
        let capacity =
            capacity.map_err(|fault| BuildError::Queue { link: name.to_owned(), fault })?;
        Ok(Some((name.to_owned(), Queue { spec: link.queue(direction).clone(), capacity })))
    }
}

impl Hops {
    /// The causes of all queues.
    fn causes(&self) -> Causes {
        let links = self.links.iter().flatten().map(|(_, queue)| queue);
        let lasers = self.laser.iter().map(|(_, queue)| queue);
        let ground = self.ground.iter().map(|(_, queue)| queue);
        let backhauls = self.backhauls.iter().flatten().map(|(_, queue)| queue);
        let mut all = Causes::default();
        for queue in links.chain(lasers).chain(ground).chain(backhauls) {
            let causes = queue.build(&self.rng).causes();
            let new = |known: &Vec<_>, cause: &_| !known.contains(cause);
            for cause in causes.drops {
                if new(&all.drops, &cause) {
                    all.drops.push(cause);
                }
            }
            for cause in causes.marks {
                if new(&all.marks, &cause) {
                    all.marks.push(cause);
                }
            }
        }
        all
    }

    fn factory(self, terminals: usize) -> HopFactory {
        Box::new(move |key| {
            let name = self.name(key);
            let rng = self.rng.child(&name);
            let transmitter = self.queue(key, terminals);
            let transmitter = transmitter.map(|(queue, rate)| (queue.build(&rng), rate));
            HopParts { name, transmitter }
        })
    }

    /// The queue and rate of a hop; none if packets only propagate.
    fn queue(&self, key: HopKey, terminals: usize) -> Option<(&Queue, HopRate)> {
        match key {
            HopKey::Laser(_) => {
                self.laser.as_ref().map(|(rate, queue)| (queue, HopRate::Fixed(*rate)))
            }
            HopKey::Backhaul { station, .. } => {
                let backhaul = self.backhauls[station as usize - terminals].as_ref();
                backhaul.map(|(rate, queue)| (queue, HopRate::Fixed(*rate)))
            }
            HopKey::Up(Radio::Link(direction))
            | HopKey::Down { radio: Radio::Link(direction), .. } => {
                let link = self.links[direction.index()].as_ref();
                link.map(|(_, queue)| (queue, HopRate::OfLinks(AT_ONCE)))
            }
            HopKey::Up(_) | HopKey::Down { .. } => {
                let ground = self.ground.as_ref();
                ground.map(|(rate, queue)| (queue, HopRate::OfLinks(rate.unwrap_or(AT_ONCE))))
            }
        }
    }

    fn name(&self, key: HopKey) -> String {
        let link = |direction: DirectionId| {
            let link = self.links[direction.index()].as_ref();
            link.map_or_else(String::new, |(name, _)| name.clone())
        };
        let radio = |radio: Radio| match radio {
            Radio::Link(direction) => link(direction),
            Radio::Station(station) => self.stations[station as usize].clone(),
            Radio::Satellite => "ground".to_owned(),
        };
        match key {
            HopKey::Laser(laser) => {
                let [from, to] = &self.lasers[laser as usize / 2];
                let (from, to) = if laser % 2 == 0 { (from, to) } else { (to, from) };
                format!("laser/{from}->{to}")
            }
            HopKey::Up(sender) => format!("up/{}", radio(sender)),
            HopKey::Down { satellite, radio: receivers } => {
                format!("down/{}->{}", self.satellites[satellite as usize], radio(receivers))
            }
            HopKey::Backhaul { station, way } => {
                format!("backhaul/{}/{}", self.stations[station as usize], way.name())
            }
        }
    }
}
