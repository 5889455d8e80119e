//! The hops of a scenario: who shares a transmitter, and the queue and rate of each.

use std::sync::Arc;

use leobench_base::{BitRate, DirectionId, LinkId, RngTree, SimDuration};
use leobench_link::{Capacity, Causes, QueueDiscipline, QueueSpec, Turn, Turns};

use super::error::unsound;
use super::{BuildError, FromScenario};
use crate::network::{
    HopFactory, HopKey, HopParts, HopRate, HopTransmitter, Radio, Sharing, TransitPlan,
    TransitRoute,
};
use crate::satellite_links::{EarthStations, SatelliteLinks, TransitLayout};
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
    beam: Option<(Turn, Queue)>,
    /// By cell, its name, or that of its only terminal.
    cells: Vec<String>,
    /// By direction of a link, its terminal.
    members: Arc<[u32]>,
}

/// By terminal, the number of its cell; one without a name has a cell of its own.
fn cells(stations: &EarthStations) -> Vec<u32> {
    let mut known: Vec<Option<&str>> = Vec::new();
    let mut numbers = Vec::new();
    for station in &stations.terminals {
        let cell = station.cell.as_deref();
        let place = known.iter().position(|other| cell.is_some() && *other == cell);
        numbers.push(place.unwrap_or(known.len()) as u32);
        if place.is_none() {
            known.push(cell);
        }
    }
    numbers
}

/// By cell, its name, or that of its only terminal.
fn cell_names(stations: &EarthStations) -> Vec<String> {
    let mut names = Vec::new();
    for (cell, station) in cells(stations).into_iter().zip(&stations.terminals) {
        if cell as usize == names.len() {
            names.push(station.cell.clone().unwrap_or_else(|| station.name.clone()));
        }
    }
    names
}

impl FromScenario<'_> {
    /// The network in orbit, if packets take hops there.
    pub(super) fn transit(
        &self,
        spec: &ConstellationSpec,
        satellites: &SatelliteLinks,
    ) -> Result<Option<TransitPlan>, BuildError> {
        let Some(layout) = satellites.transit() else { return Ok(None) };
        let TransitLayout { lasers, destinations, source_routed } = layout;
        let hops = self.hops(spec, satellites, &lasers)?;
        let stations = satellites.stations();
        let terminals = stations.terminals.len();
        let cells = cells(stations);
        let terminal_of = |link: LinkId| {
            (0..satellites.len())
                .find(|path| satellites.link_id(*path) == link)
                .map(|path| satellites.terminal(path) as u32)
        };
        let routes = destinations.into_iter().map(|(direction, destination)| {
            let from_terminal = !direction.is_backward();
            let terminal = terminal_of(direction.link()).unwrap_or_default();
            let sharing = match (&spec.beam, &spec.ground) {
                (Some(_), _) => Sharing::Cell(cells[terminal as usize]),
                (None, Some(_)) => Sharing::Station,
                (None, None) => Sharing::Link,
            };
            (direction, TransitRoute { destination, sharing, from_terminal })
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
            source_routed,
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
        let name = |number: u32| satellites.name((number as usize).into());
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
        let beam = match &spec.beam {
            Some(beam) => {
                let queue = self.hop_queue(&beam.queue, None, "constellation.beam.queue")?;
                Some((beam.scheduler, queue))
            }
            None => None,
        };
        let mut members = vec![0; 2 * self.spec.links.len()];
        for path in 0..satellites.len() {
            for direction in satellites.link_id(path).directions() {
                members[direction.index()] = satellites.terminal(path) as u32;
            }
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
            beam,
            cells: cell_names(stations),
            members: members.into(),
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
        let beams = self.beam.iter().map(|(_, queue)| queue);
        let mut all = Causes::default();
        for queue in links.chain(lasers).chain(ground).chain(backhauls).chain(beams) {
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
            let is_beam = matches!(
                key,
                HopKey::Up(Radio::Beam { .. }) | HopKey::Down { radio: Radio::Beam { .. }, .. }
            );
            let transmitter = match (&self.beam, self.queue(key, terminals)) {
                (Some((turn, queue)), _) if is_beam => {
                    let turns = self.turns(*turn, queue.clone(), rng);
                    HopTransmitter::Queue(turns, HopRate::OfLinks(AT_ONCE))
                }
                (_, None) => HopTransmitter::None,
                (_, Some((Queue { spec: QueueSpec::Fifo(_), capacity }, HopRate::Fixed(rate))))
                    if matches!(key, HopKey::Laser(_)) =>
                {
                    HopTransmitter::DropTail(rate, *capacity)
                }
                (_, Some((queue, rate))) => HopTransmitter::Queue(queue.build(&rng), rate),
            };
            HopParts { name, transmitter }
        })
    }

    /// The queues of a beam, one for each terminal.
    fn turns(&self, turn: Turn, queue: Queue, rng: RngTree) -> Box<dyn QueueDiscipline> {
        let build = move |terminal: u32| queue.build(&rng.child(&terminal.to_string()));
        Box::new(Turns::new(turn, Arc::clone(&self.members), Box::new(build)))
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
            Radio::Beam { satellite, cell } => {
                let name = self.cells.get(cell as usize).cloned().unwrap_or_default();
                match key {
                    HopKey::Up(_) => format!("{name}->{}", self.satellites[satellite as usize]),
                    _ => name,
                }
            }
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
