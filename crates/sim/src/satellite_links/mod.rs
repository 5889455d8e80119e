//! The links of a scenario through its constellation, as a state machine that is handed the time: rate, delay and serving
//! satellite of each. `topology` turns them into changes of the network, and `orbit_report` into tables without a network.

mod build;
mod chain;
mod fitted;
mod forwarded;
mod orbits;
mod rate;
mod stations;
mod topology;
mod transit;

use leobench_base::spec::Fault;
use leobench_base::{
    BitRate, DirectionId, LinkId, NodeId, RngTree, SatelliteId, SimDuration, SimTime,
};
use leobench_orbit::{Angle, Ephemeris, Epoch, SatelliteGrid, Vector};

use chain::ChainLinks;
pub use fitted::FitState;
use fitted::Fitted;
use forwarded::ForwardedLinks;
use orbits::OrbitLinks;
use rate::{Rate, Rates};
pub use stations::{EarthStation, EarthStations};
pub use topology::ConstellationTopology;
use transit::TransitLinks;

use crate::record::chain_name;
use crate::scenario::{RouteChoice, Scenario};
use crate::topology::{AccessLink, AccessState, LaserLoad, TransitUpdate, TransitWay};

/// The links of a scenario through its constellation, over its terminals and gateways.
pub struct SatelliteLinks {
    kind: Kind,
    paths: Vec<SatelliteLink>,
    states: Vec<LinkState>,
    serving_changes: Vec<ServingChange>,
    step: SimDuration,
    start: Epoch,
    now: SimTime,
    names: Vec<String>,
    stations: EarthStations,
    warnings: Vec<String>,
    /// Whether each satellite has a queue for all links that it serves.
    queues: bool,
}

enum Kind {
    Orbits(Box<OrbitLinks>),
    Chain(Box<ChainLinks>),
    Forwarded(Box<ForwardedLinks>),
    Transit(Box<TransitLinks>),
}

/// A link through the constellation.
struct SatelliteLink {
    link: LinkId,
    name: String,
    /// The node at its terminal.
    node: NodeId,
    terminal: usize,
    rates: Rates,
    fit: Option<Fitted>,
}

/// State of a link through the constellation at an instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkState {
    /// The way, if there is one.
    pub way: Option<WayState>,
    /// Rates there (uplink) and back (downlink); zero without a way.
    pub rates: [BitRate; 2],
    /// Carrier over noise there and back in dB, where there is a budget.
    pub carrier_to_noise: [Option<f64>; 2],
    /// Additions of a fit, if the link has one.
    pub fit: Option<FitState>,
}

impl LinkState {
    /// Delays there and back, without the link's own; none without a way.
    pub fn delays(&self) -> Option<[SimDuration; 2]> {
        let way = self.way.as_ref()?;
        let added = self.fit.as_ref().map_or([SimDuration::ZERO; 2], |fit| fit.delay);
        Some([way.delay + added[0], way.delay_back + added[1]])
    }

    /// Whether packets get through: a satellite serves, and no outage of a fit goes on.
    pub fn is_up(&self) -> bool {
        self.way.is_some() && self.fit.as_ref().is_none_or(|fit| fit.up)
    }
}

/// A way through the constellation.
#[derive(Clone, Debug, PartialEq)]
pub struct WayState {
    /// Number of the serving satellite.
    pub satellite: SatelliteId,
    /// Azimuth of the satellite over the terminal, in degrees from north over east.
    pub azimuth_deg: f64,
    /// Its elevation in degrees.
    pub elevation_deg: f64,
    /// Its distance in m.
    pub range_m: f64,
    /// Angle between the terminal and the nadir at the satellite, in degrees.
    pub nadir_deg: f64,
    /// Number of the gateway; none on a chain.
    pub gateway: Option<usize>,
    /// Links between satellites on the way.
    pub hops: usize,
    /// Delay from end to end, from the terminal.
    pub delay: SimDuration,
    /// Delay to the terminal: the same, unless a forwarding state has another way back.
    pub delay_back: SimDuration,
    /// Links that share the satellite and divide its rate; 1 if it has a queue for all of them.
    pub sharers: u64,
}

/// The part of a network in orbit that stays the same.
#[derive(Clone, Debug)]
pub struct TransitLayout {
    /// The lasers: numbers of both satellites.
    pub lasers: Vec<[u32; 2]>,
    /// By direction of a link, the number of its destination.
    pub destinations: Vec<(DirectionId, u32)>,
    /// Whether packets carry routes along.
    pub source_routed: bool,
}

/// A change of the satellite that serves a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServingChange {
    /// Number of the link among those through the constellation.
    pub path: usize,
    /// The satellite before.
    pub from: Option<SatelliteId>,
    /// The satellite from now on.
    pub to: Option<SatelliteId>,
    /// Time in which packets wait.
    pub outage: SimDuration,
    /// Time in which the satellite before goes on for what was sent over it.
    pub overlap: SimDuration,
}

/// The angle at a satellite between a place on the ground and the nadir.
fn nadir(satellite: Vector, ground: Vector) -> Angle {
    let sight = ground - satellite;
    Angle::acos(-sight.dot(satellite) / (sight.norm() * satellite.norm()))
}

impl SatelliteLinks {
    /// The links of a scenario at the start of a run; `None` if it has no constellation.
    ///
    /// # Errors
    /// The fault, with its place in the scenario.
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Option<Self>, Fault> {
        let Some(spec) = &scenario.spec.constellation else { return Ok(None) };
        let rng = RngTree::new(seed);
        let mut satellites = build::build(scenario, spec, &rng.child("constellation"))?;
        for path in &mut satellites.paths {
            let (link, start) = (path.link.index(), satellites.start);
            path.fit = Fitted::new(scenario, link, &path.rates, start, &rng)?;
        }
        satellites.advance(SimTime::ZERO);
        Ok(Some(satellites))
    }

    /// Number of links through the constellation.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether no link leads through the constellation.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Name of a link.
    pub fn link(&self, path: usize) -> &str {
        &self.paths[path].name
    }

    /// The number of a link in the network.
    pub fn link_id(&self, path: usize) -> LinkId {
        self.paths[path].link
    }

    /// The node at the terminal of a link.
    pub fn node(&self, path: usize) -> NodeId {
        self.paths[path].node
    }

    /// The terminal of a link.
    pub fn terminal(&self, path: usize) -> usize {
        self.paths[path].terminal
    }

    /// Names of all satellites.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Name of a satellite; satellites of a chain come without end.
    pub fn name(&self, satellite: SatelliteId) -> String {
        self.names.get(satellite.index()).cloned().unwrap_or_else(|| chain_name(satellite))
    }

    /// Returns the terminals and gateways.
    pub fn stations(&self) -> &EarthStations {
        &self.stations
    }

    /// The instant at which the run starts.
    pub fn start(&self) -> Epoch {
        self.start
    }

    /// Returns the warnings for the user.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The positions of all satellites; a chain has none.
    pub fn ephemeris(&self) -> Option<&Ephemeris> {
        match &self.kind {
            Kind::Orbits(satellites) => Some(satellites.ephemeris()),
            Kind::Forwarded(satellites) => Some(satellites.ephemeris()),
            Kind::Transit(satellites) => Some(satellites.ephemeris()),
            Kind::Chain(_) => None,
        }
    }

    /// The satellites by place, for other observers; a chain has none, nor a forwarding state.
    pub fn grid(&self) -> Option<&SatelliteGrid> {
        match &self.kind {
            Kind::Orbits(satellites) => Some(satellites.grid()),
            Kind::Transit(satellites) if !satellites.follow_state() => Some(satellites.grid()),
            Kind::Transit(_) | Kind::Chain(_) | Kind::Forwarded(_) => None,
        }
    }

    /// The time last advanced to.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Whether the ways are those of a forwarding state.
    pub fn is_forwarded(&self) -> bool {
        match &self.kind {
            Kind::Forwarded(_) => true,
            Kind::Transit(satellites) => satellites.follow_state(),
            Kind::Orbits(_) | Kind::Chain(_) => false,
        }
    }

    /// Whether the satellites are those of a chain, which needs no gateway.
    pub fn is_chain(&self) -> bool {
        matches!(self.kind, Kind::Chain(_))
    }

    /// Whether each satellite has one transmitter and one queue per direction, for all links that it serves.
    pub fn have_queues(&self) -> bool {
        self.queues
    }

    /// The network in orbit as it is now, if packets take hops there; what has changed since the last call is in it once.
    pub fn take_transit(&mut self) -> Option<TransitUpdate> {
        match &mut self.kind {
            Kind::Transit(satellites) => Some(satellites.take_update()),
            Kind::Orbits(_) | Kind::Chain(_) | Kind::Forwarded(_) => None,
        }
    }

    /// Forgets what has changed, where nobody takes it.
    pub fn forget_transit(&mut self) {
        if let Kind::Transit(satellites) = &mut self.kind {
            satellites.forget_update();
        }
    }

    /// Whether routes depend on what lasers carry.
    pub fn wants_loads(&self) -> bool {
        matches!(&self.kind, Kind::Transit(satellites) if satellites.wants_loads())
    }

    /// Tells what each laser, by direction, has carried since the last time.
    pub fn observe(&mut self, now: SimTime, loads: &[LaserLoad]) {
        if let Kind::Transit(satellites) = &mut self.kind {
            satellites.observe(now, loads);
        }
    }

    /// The part of the network in orbit that stays the same, if packets take hops there.
    pub fn transit(&self) -> Option<TransitLayout> {
        match &self.kind {
            Kind::Transit(satellites) => {
                let destinations = satellites.destinations().collect();
                let (lasers, source_routed) = (satellites.lasers(), satellites.are_source_routed());
                Some(TransitLayout { lasers, destinations, source_routed })
            }
            Kind::Orbits(_) | Kind::Chain(_) | Kind::Forwarded(_) => None,
        }
    }

    /// Which route of a pair a link takes, if it has one of its own.
    pub fn route_choice(&self, path: usize) -> Option<RouteChoice> {
        match &self.kind {
            Kind::Transit(satellites) => satellites.route_choice(path),
            Kind::Orbits(_) | Kind::Chain(_) | Kind::Forwarded(_) => None,
        }
    }

    /// Whether the terminal of a link sees any satellite now.
    pub fn sees_any(&self, path: usize) -> bool {
        match &self.kind {
            Kind::Orbits(satellites) => satellites.sees_any(path),
            Kind::Transit(satellites) => satellites.sees_any(path),
            Kind::Chain(_) | Kind::Forwarded(_) => true,
        }
    }

    /// Returns the present state of a link.
    pub fn state(&self, path: usize) -> &LinkState {
        &self.states[path]
    }

    /// The ways of packets of a link from its terminal and to it; none of a chain, whose satellites have no places.
    pub fn ways(&self, path: usize) -> [Option<TransitWay>; 2] {
        let satellites = match &self.kind {
            Kind::Transit(satellites) => return satellites.ways(path).clone(),
            Kind::Orbits(satellites) => satellites.satellites(path),
            Kind::Forwarded(satellites) => satellites.satellites(path),
            Kind::Chain(_) => None,
        };
        let (Some([there, back]), Some(delays)) = (satellites, self.states[path].delays()) else {
            return [None, None];
        };
        let gateway =
            self.states[path].way.as_ref().and_then(|way| way.gateway).unwrap_or_default();
        let gateway = self.stations.terminals.len() + gateway;
        let [terminal, gateway] = [self.paths[path].terminal, gateway].map(|number| number as u32);
        let there =
            TransitWay { stations: [terminal, gateway], satellites: there, delay: delays[0] };
        let back = TransitWay { stations: [gateway, terminal], satellites: back, delay: delays[1] };
        [Some(there), Some(back)]
    }

    /// Returns the state of a link as its link layer knows it; none without a way, or in an outage of its fit.
    pub fn access(&self, path: usize) -> Option<AccessState> {
        let state = Some(&self.states[path]).filter(|state| state.is_up())?;
        let WayState { satellite, range_m, .. } = *state.way.as_ref()?;
        Some(AccessState { satellite, range_m, offers: self.paths[path].rates.offers })
    }

    /// A link with its budgets, as reports on it need them.
    fn access_link(&self, path: usize) -> AccessLink {
        let SatelliteLink { link, rates, .. } = &self.paths[path];
        let budgets = rates.directions.each_ref().map(Rate::budget);
        AccessLink { link: *link, budgets, start: self.access(path) }
    }

    /// The changes of serving satellites at the last instant advanced to.
    pub fn serving_changes(&self) -> &[ServingChange] {
        &self.serving_changes
    }

    /// When something changes next.
    pub fn next(&self) -> SimTime {
        let fits = self.paths.iter().filter_map(|path| path.fit.as_ref());
        fits.map(Fitted::next_change).fold(self.next_move(), SimTime::min)
    }

    /// When satellites, budgets or routes change next, whatever fits do.
    pub fn next_move(&self) -> SimTime {
        let step = self.step.as_nanos();
        let regular = SimTime::from_nanos((self.now.as_nanos() / step + 1) * step);
        let due = match &self.kind {
            Kind::Orbits(satellites) => satellites.next_due(self.now),
            Kind::Chain(satellites) => satellites.next_due(),
            Kind::Forwarded(satellites) => satellites.next_due(),
            Kind::Transit(satellites) => satellites.next_due(self.now),
        };
        due.map_or(regular, |due| due.min(regular))
    }

    /// Moves on to a time.
    ///
    /// # Panics
    /// If an element set that had an orbit at the start and the end of the run has none between.
    pub fn advance(&mut self, now: SimTime) {
        self.now = now;
        self.serving_changes.clear();
        match &mut self.kind {
            Kind::Orbits(satellites) => {
                satellites.advance(now, &mut self.serving_changes, &mut self.states);
            }
            Kind::Chain(satellites) => {
                satellites.advance(now, &mut self.serving_changes, &mut self.states);
            }
            Kind::Forwarded(satellites) => {
                satellites.advance(now, &mut self.serving_changes, &mut self.states);
            }
            Kind::Transit(satellites) => {
                satellites.advance(now, &mut self.serving_changes, &mut self.states);
            }
        }
        for (parts, state) in self.paths.iter_mut().zip(&mut self.states) {
            let (latitude, altitude_km) = self.stations.terminals[parts.terminal].air();
            parts.rates.fill(now, latitude, altitude_km, state);
        }
        self.move_fits(now);
    }

    /// Moves fits on to a time before the [next move](Self::next_move); all else stays as it is.
    pub fn advance_fits(&mut self, now: SimTime) {
        self.now = now;
        self.serving_changes.clear();
        self.move_fits(now);
    }

    fn move_fits(&mut self, now: SimTime) {
        for (parts, state) in self.paths.iter_mut().zip(&mut self.states) {
            if let Some(fit) = &mut parts.fit {
                fit.advance(now);
                fit.combine(&mut parts.rates, state);
            }
        }
    }
}
