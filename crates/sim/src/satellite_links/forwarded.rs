//! Satellites whose ways another program has computed: packets follow its forwarding state.

use std::collections::BTreeMap;

use leobench_base::{SimDuration, SimRng, SimTime};
use leobench_orbit::frame::light_delay;
use leobench_orbit::hypatia::{Hop, Network};
use leobench_orbit::{Angle, Ephemeris, Geodetic, HandoverCost, SatelliteId, Site, State, Vector};

use super::{LinkState, ServingChange, WayState, nadir};
use crate::scenario::StateFile;

/// Links between two ground stations each, which lead where the forwarding state says.
pub(super) struct ForwardedLinks {
    network: Network,
    ephemeris: Ephemeris,
    /// The places of the stations.
    sites: Vec<Site>,
    /// Changes to come, by time of the run, and their file.
    states: Vec<StateFile>,
    /// Those that are past.
    past: usize,
    /// By destination, and by node: the next hop.
    hops: BTreeMap<u32, Vec<Option<Next>>>,
    paths: Vec<Ends>,
}

/// A next hop that the state has said; `None` if there is none.
type Next = Option<u32>;

/// A link and its ways.
pub(super) struct Ends {
    /// The stations at its terminal and at its gateway.
    pub(super) stations: [usize; 2],
    /// The number of its gateway among all gateways.
    pub(super) gateway: usize,
    /// Outage and overlap at a change of its satellite, and their random stream.
    pub(super) cost: HandoverCost,
    pub(super) rng: SimRng,
    /// Nodes there and back; none unless there are both.
    ways: Option<[Vec<u32>; 2]>,
}

impl Ends {
    pub(super) fn new(
        stations: [usize; 2],
        gateway: usize,
        cost: HandoverCost,
        rng: SimRng,
    ) -> Self {
        Self { stations, gateway, cost, rng, ways: None }
    }
}

impl ForwardedLinks {
    /// The links at the start of a run, which begins some time into the state.
    ///
    /// # Errors
    /// If packets go in a circle or over a link that is too long, or a next hop is missing: the file, and what.
    pub(super) fn new(
        network: Network,
        mut states: Vec<StateFile>,
        ephemeris: Ephemeris,
        into: SimDuration,
        paths: Vec<Ends>,
    ) -> Result<Self, String> {
        let ends = paths.iter().flat_map(|path| path.stations);
        let mut hops = BTreeMap::new();
        for end in ends {
            let node = (network.satellites.len() + end) as u32;
            hops.insert(node, vec![None; network.nodes()]);
        }
        for state in &mut states {
            state.hops.retain(|hop| hops.contains_key(&hop.end));
            let at = state.at.as_nanos().saturating_sub(into.as_nanos());
            state.at = SimTime::from_nanos(at);
        }
        let still = Vector::default();
        let sites = network.stations.iter().map(|station| Site::new(&station.position, still));
        let sites = sites.collect();
        let mut satellites = Self { network, ephemeris, sites, states, past: 0, hops, paths };
        satellites.check()?;
        Ok(satellites)
    }

    /// Goes through the whole state once: every way exists or ends, and its links are short enough when it begins.
    fn check(&mut self) -> Result<(), String> {
        while let Some(at) = self.next_due() {
            let file = self.states[self.past].file.clone();
            let changed = self.take(at).map_err(|problem| format!("{file}: {problem}"))?;
            for path in changed {
                for way in self.paths[path].ways.iter().flatten() {
                    self.check_lengths(at, way).map_err(|problem| format!("{file}: {problem}"))?;
                }
            }
        }
        self.past = 0;
        for nodes in self.hops.values_mut() {
            nodes.fill(None);
        }
        for path in &mut self.paths {
            path.ways = None;
        }
        Ok(())
    }

    /// The network and its forwarding state towards the ends of links, to be followed hop by hop.
    pub(super) fn into_state(self) -> (Network, Ephemeris, Vec<StateFile>) {
        (self.network, self.ephemeris, self.states)
    }

    fn check_lengths(&self, at: SimTime, way: &[u32]) -> Result<(), String> {
        for pair in way.windows(2) {
            let mut ends = [Vector::default(); 2];
            for (end, node) in ends.iter_mut().zip(pair) {
                let satellite = SatelliteId::from(*node as usize);
                *end = if self.network.is_satellite(*node) {
                    self.ephemeris.exact(satellite, at).map_err(|error| error.to_string())?.position
                } else {
                    self.sites[*node as usize - self.network.satellites.len()].position()
                };
            }
            let ([one, other], length) = ([pair[0], pair[1]], (ends[1] - ends[0]).norm());
            let longest = self.network.longest_m(one, other);
            if length > longest {
                let (length, longest) = (length / 1e3, longest / 1e3);
                return Err(format!(
                    "{one} and {other} are {length:.0} km apart, but description.txt allows at most {longest:.0} km"
                ));
            }
        }
        Ok(())
    }

    pub(super) fn ephemeris(&self) -> &Ephemeris {
        &self.ephemeris
    }

    pub(super) fn next_due(&self) -> Option<SimTime> {
        self.states.get(self.past).map(|state| state.at)
    }

    /// Takes over the changes up to a time, and returns the links that have other ways.
    fn take(&mut self, now: SimTime) -> Result<Vec<usize>, String> {
        let mut dirty = false;
        while let Some(state) = self.states.get(self.past).filter(|state| state.at <= now) {
            for Hop { node, end, next } in &state.hops {
                if let Some(nodes) = self.hops.get_mut(end) {
                    nodes[*node as usize] = Some(*next);
                    dirty = true;
                }
            }
            self.past += 1;
        }
        let mut changed = Vec::new();
        for path in 0..if dirty { self.paths.len() } else { 0 } {
            let [from, to] =
                self.paths[path].stations.map(|s| (self.network.satellites.len() + s) as u32);
            let there = self.walk(from, to)?;
            let ways = match there {
                Some(there) => self.walk(to, from)?.map(|back| [there, back]),
                None => None,
            };
            if ways != self.paths[path].ways {
                self.paths[path].ways = ways;
                changed.push(path);
            }
        }
        Ok(changed)
    }

    /// The nodes of a way, or `None` where it ends before the destination.
    fn walk(&self, from: u32, to: u32) -> Result<Option<Vec<u32>>, String> {
        let nodes = &self.hops[&to];
        let mut way = vec![from];
        let mut here = from;
        while here != to {
            let Some(next) = nodes[here as usize] else {
                return Err(format!(
                    "node {here} has no next hop to {to} yet; fstate_0.txt should have one"
                ));
            };
            let Some(next) = next else { return Ok(None) };
            if way.contains(&next) {
                return Err(format!("from {from} to {to}, packets loop at {next}"));
            }
            way.push(next);
            here = next;
        }
        Ok(Some(way))
    }

    pub(super) fn advance(
        &mut self,
        now: SimTime,
        serving_changes: &mut Vec<ServingChange>,
        states: &mut [LinkState],
    ) {
        self.ephemeris.advance(now).expect("orbits were checked over the run");
        let changed = self.take(now).expect("the state was checked to its end");
        for path in changed {
            let from = states[path].way.as_ref().map(|way| way.satellite);
            let Ends { ways, cost, rng, .. } = &mut self.paths[path];
            let to = ways.as_ref().map(|[there, _]| SatelliteId::from(there[1] as usize));
            if from == to {
                continue;
            }
            let both = from.is_some() && to.is_some();
            let outage = if both { cost.outage.draw(rng) } else { SimDuration::ZERO };
            let overlap = if both { cost.overlap.draw(rng) } else { SimDuration::ZERO };
            serving_changes.push(ServingChange { path, from, to, outage, overlap });
        }
        for (path, state) in states.iter_mut().enumerate() {
            state.way = self.paths[path].ways.as_ref().map(|ways| self.way(path, ways));
        }
    }

    /// The satellites of a link's way from its terminal and to it.
    pub(super) fn satellites(&self, path: usize) -> Option<[Vec<u32>; 2]> {
        let ways = self.paths[path].ways.as_ref()?;
        Some(ways.each_ref().map(|nodes| nodes[1..nodes.len() - 1].to_vec()))
    }

    fn way(&self, path: usize, [there, back]: &[Vec<u32>; 2]) -> WayState {
        let Ends { stations: [terminal, _], gateway, .. } = self.paths[path];
        let serving = SatelliteId::from(there[1] as usize);
        let state: State = self.ephemeris.state(serving);
        let look = self.sites[terminal].look(&state);
        WayState {
            satellite: serving,
            azimuth_deg: look.azimuth.degrees(),
            elevation_deg: look.elevation.degrees(),
            range_m: look.range_m,
            nadir_deg: nadir(state.position, self.sites[terminal].position()).degrees(),
            gateway: Some(gateway),
            hops: there.len() - 3,
            delay: self.delay(there),
            delay_back: self.delay(back),
            sharers: 1,
        }
    }

    fn delay(&self, way: &[u32]) -> SimDuration {
        let hops = way.windows(2).map(|pair| {
            let [one, other] = [pair[0], pair[1]].map(|node| self.position(node));
            light_delay((other - one).norm())
        });
        hops.sum()
    }

    fn position(&self, node: u32) -> Vector {
        let node = node as usize;
        match node.checked_sub(self.network.satellites.len()) {
            None => self.ephemeris.position(SatelliteId::from(node)),
            Some(station) => self.sites[station].position(),
        }
    }

    /// The lowest elevation, in degrees, at which a station's link to a satellite is short enough, for a look at passes.
    pub(super) fn lowest_elevation(network: &Network, place: &Geodetic, satellite: Vector) -> f64 {
        let (ground, space) = (place.to_ecef().norm(), satellite.norm());
        let range = network.longest_gsl_m;
        let sine = (space * space - ground * ground - range * range) / (2.0 * ground * range);
        Angle::asin(sine.clamp(0.0, 1.0)).degrees()
    }
}
