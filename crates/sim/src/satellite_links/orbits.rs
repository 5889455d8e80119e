//! Satellites on orbits: which one serves each terminal, and the way from there to a gateway.

use leobench_base::{SimDuration, SimTime};
use leobench_orbit::frame::light_delay;
use leobench_orbit::{
    Assignment, DestinationId, Ephemeris, Exit, GatewayId, Gateways, Observer, Router,
    SatelliteGrid, SatelliteId, Sighting, TerminalId,
};

use super::{LinkState, ServingChange, WayState, nadir};

/// A gateway as a link uses it.
#[derive(Clone)]
pub(super) struct LinkGateway {
    /// Its number among all gateways.
    pub(super) number: usize,
    pub(super) observer: Observer,
    /// Delay over land to the end of the link.
    pub(super) onwards: SimDuration,
}

/// Terminals under satellites, one for each link.
pub(super) struct OrbitLinks {
    assignment: Assignment,
    /// By link, its gateways.
    link_gateways: Vec<Vec<LinkGateway>>,
    routing: Option<Routing>,
}

/// Ways over links between satellites.
pub(super) struct Routing {
    pub(super) router: Router,
    /// By destination, its gateways.
    pub(super) destinations: Vec<Gateways>,
    /// By link, the destination.
    pub(super) of_path: Vec<usize>,
    pub(super) every: SimDuration,
    pub(super) next: SimTime,
    /// By link, the satellites of the way, and its gateway.
    pub(super) ways: Vec<Option<(Vec<SatelliteId>, GatewayId)>>,
    pub(super) exits: Vec<Exit>,
}

impl OrbitLinks {
    pub(super) fn new(
        assignment: Assignment,
        link_gateways: Vec<Vec<LinkGateway>>,
        routing: Option<Routing>,
    ) -> Self {
        Self { assignment, link_gateways, routing }
    }

    pub(super) fn ephemeris(&self) -> &Ephemeris {
        self.assignment.ephemeris()
    }

    pub(super) fn grid(&self) -> &SatelliteGrid {
        self.assignment.grid()
    }

    pub(super) fn next_due(&self, now: SimTime) -> Option<SimTime> {
        self.assignment.next_due(now)
    }

    pub(super) fn advance(
        &mut self,
        now: SimTime,
        serving_changes: &mut Vec<ServingChange>,
        states: &mut [LinkState],
    ) {
        let handovers = self.assignment.advance(now).expect("orbits were checked over the run");
        serving_changes.extend(handovers.iter().map(|handover| ServingChange {
            path: handover.terminal.index(),
            from: handover.from,
            to: handover.to,
            outage: handover.outage,
            overlap: handover.overlap,
        }));
        if let Some(routing) = &mut self.routing {
            routing.follow(now, &self.assignment, serving_changes, &self.link_gateways);
        }
        for (path, state) in states.iter_mut().enumerate() {
            state.way = self.way(path);
        }
    }

    /// Whether the terminal of a link sees any satellite now.
    pub(super) fn sees_any(&self, path: usize) -> bool {
        let mut seen = Vec::new();
        self.assignment
            .observer(TerminalId::from(path))
            .look(self.assignment.ephemeris(), &mut seen);
        !seen.is_empty()
    }

    /// The satellites of a link's way from its terminal and to it.
    pub(super) fn satellites(&self, path: usize) -> Option<[Vec<u32>; 2]> {
        let number = |satellite: &SatelliteId| satellite.index() as u32;
        let there: Vec<_> = match &self.routing {
            Some(routing) => routing.ways[path].as_ref()?.0.iter().map(number).collect(),
            None => vec![number(&self.assignment.serving(TerminalId::from(path))?.satellite)],
        };
        let back = there.iter().rev().copied().collect();
        Some([there, back])
    }

    fn way(&self, path: usize) -> Option<WayState> {
        let serving = self.assignment.serving(TerminalId::from(path))?;
        let up = light_delay(serving.look.range_m);
        let (gateway, hops, rest) = match &self.routing {
            None => self.bent_pipe(path, serving)?,
            Some(routing) => {
                routing.rest(path, self.assignment.ephemeris(), &self.link_gateways[path])?
            }
        };
        let satellite = self.assignment.ephemeris().position(serving.satellite);
        let ground = self.assignment.observer(TerminalId::from(path)).site().position();
        Some(WayState {
            satellite: serving.satellite,
            azimuth_deg: serving.look.azimuth.degrees(),
            elevation_deg: serving.look.elevation.degrees(),
            range_m: serving.look.range_m,
            nadir_deg: nadir(satellite, ground).degrees(),
            gateway: Some(gateway),
            hops,
            delay: up + rest,
            delay_back: up + rest,
            sharers: 1,
        })
    }

    /// The gateway of the least delay that sees the serving satellite.
    fn bent_pipe(&self, path: usize, serving: &Sighting) -> Option<(usize, usize, SimDuration)> {
        let down = |link_gateway: &LinkGateway| {
            let sighting =
                link_gateway.observer.sight(self.assignment.ephemeris(), serving.satellite)?;
            let delay = light_delay(sighting.look.range_m) + link_gateway.onwards;
            Some((delay, link_gateway.number))
        };
        let (delay, gateway) = self.link_gateways[path].iter().filter_map(down).min()?;
        Some((gateway, 0, delay))
    }
}

impl Routing {
    /// Searches ways anew where that is due: all at the instants of the grid, or when a gateway has lost its satellite; that of
    /// a terminal when another satellite serves it.
    fn follow(
        &mut self,
        now: SimTime,
        assignment: &Assignment,
        serving_changes: &[ServingChange],
        link_gateways: &[Vec<LinkGateway>],
    ) {
        let ephemeris = assignment.ephemeris();
        let lost = (0..self.ways.len()).any(|path| {
            self.ways[path].is_some() && self.rest(path, ephemeris, &link_gateways[path]).is_none()
        });
        let due = now >= self.next || lost;
        if due {
            while self.next <= now {
                self.next += self.every;
            }
            self.router.update(ephemeris);
            for (number, gateways) in self.destinations.iter_mut().enumerate() {
                gateways.exits(ephemeris, assignment.grid(), &mut self.exits);
                self.router.route(DestinationId::from(number), &self.exits);
            }
        }
        for path in 0..self.ways.len() {
            if due || serving_changes.iter().any(|step| step.path == path) {
                self.ways[path] = assignment.serving(TerminalId::from(path)).and_then(|serving| {
                    let destination = DestinationId::from(self.of_path[path]);
                    let way = self.router.way(serving.satellite, destination)?;
                    Some((way.satellites, way.gateway))
                });
            }
        }
    }

    /// Gateway, links between satellites, and delay from the serving satellite to the end of a link, along its way.
    fn rest(
        &self,
        path: usize,
        ephemeris: &Ephemeris,
        link_gateways: &[LinkGateway],
    ) -> Option<(usize, usize, SimDuration)> {
        let (satellites, gateway) = self.ways[path].as_ref()?;
        let link_gateway =
            link_gateways.iter().find(|link_gateway| link_gateway.number == gateway.index())?;
        let down = link_gateway.observer.sight(ephemeris, *satellites.last()?)?;
        let between = satellites.windows(2).map(|pair| {
            let [from, to] = [pair[0], pair[1]].map(|satellite| ephemeris.position(satellite));
            light_delay((to - from).norm())
        });
        let delay: SimDuration = between.sum();
        let delay = delay + light_delay(down.look.range_m) + link_gateway.onwards;
        Some((gateway.index(), satellites.len() - 1, delay))
    }
}
