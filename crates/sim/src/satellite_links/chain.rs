//! The chain of satellites of Yang et al. 2024 under two subflows.

use leobench_base::{SatelliteId, SimDuration, SimTime};
use leobench_orbit::Angle;
use leobench_orbit::frame::light_delay;
use leobench_orbit::serving::chain::{Access, Chain, Reading, Stage};

use super::{LinkState, ServingChange, WayState};

/// A chain over a terminal, and the subflow of each link.
pub(super) struct ChainLinks {
    chain: Chain,
    stages: Box<dyn Iterator<Item = Stage> + Send>,
    stage: Stage,
    next: Option<Stage>,
    subflows: Vec<usize>,
    serving: Vec<Option<SatelliteId>>,
    /// Outage and overlap of every handover.
    gap: [SimDuration; 2],
    reading: Reading,
    /// Satellites in use, each with the time at which it came into use.
    since: Vec<(u64, SimTime)>,
    /// Time of the chain at the start of the run.
    phase: SimDuration,
    /// Whether links over one satellite divide its rate, as they have no common queue.
    divides: bool,
}

impl ChainLinks {
    pub(super) fn new(
        (chain, reading, phase): (Chain, Reading, SimDuration),
        subflows: Vec<usize>,
        gap: [SimDuration; 2],
        divides: bool,
    ) -> Self {
        let mut stages = chain.stages(reading);
        let first = Stage { at: SimTime::ZERO, access: Access::Single, satellites: [0, 0] };
        let stage = stages.next().unwrap_or(first);
        let (next, serving) = (stages.next(), vec![None; subflows.len()]);
        let since = Vec::new();
        let mut links = Self {
            chain,
            stages,
            stage,
            next,
            subflows,
            serving,
            gap,
            reading,
            since,
            phase,
            divides,
        };
        links.begin(first);
        links
    }

    pub(super) fn next_due(&self) -> Option<SimTime> {
        self.next.map(|stage| SimTime::ZERO + (stage.at - (SimTime::ZERO + self.phase)))
    }

    /// A state begins.
    fn begin(&mut self, stage: Stage) {
        self.stage = stage;
        self.since.retain(|(satellite, _)| stage.satellites.contains(satellite));
        for satellite in stage.satellites {
            if self.since.iter().all(|(known, _)| *known != satellite) {
                self.since.push((satellite, stage.at));
            }
        }
    }

    pub(super) fn advance(
        &mut self,
        now: SimTime,
        serving_changes: &mut Vec<ServingChange>,
        states: &mut [LinkState],
    ) {
        let now = now + self.phase;
        while let Some(stage) = self.next.filter(|stage| stage.at <= now) {
            self.begin(stage);
            self.next = self.stages.next();
        }
        for (path, &subflow) in self.subflows.iter().enumerate() {
            let idle = self.stage.access == Access::Single && subflow == 1;
            let to = (!idle).then(|| SatelliteId::from(self.stage.satellites[subflow] as usize));
            let from = std::mem::replace(&mut self.serving[path], to);
            if from != to {
                let [outage, overlap] =
                    if from.is_some() { self.gap } else { [SimDuration::ZERO; 2] };
                let overlap = if to.is_some() { overlap } else { SimDuration::ZERO };
                serving_changes.push(ServingChange { path, from, to, outage, overlap });
            }
        }
        for (path, state) in states.iter_mut().enumerate() {
            state.way = self.serving[path].map(|satellite| self.way(satellite, now));
        }
    }

    /// Distance of a satellite along its orbit from the zenith of the terminal, in m. As printed, a satellite is in use for
    /// 2 d1/v + d2/v, in which it crosses the footprint, but satellites do not follow each other at spacing R1.
    fn along_m(&self, satellite: u64, now: SimTime) -> f64 {
        let since = self.since.iter().find(|(known, _)| *known == satellite);
        match (self.reading, since) {
            (Reading::Printed, Some((_, since))) => {
                self.chain.speed * (now - *since).as_secs_f64() - self.chain.footprint_m
            }
            _ => self.chain.along_m(satellite, now),
        }
    }

    /// Over flat ground, as in the paper.
    fn way(&self, satellite: SatelliteId, now: SimTime) -> WayState {
        let along = self.along_m(satellite.index() as u64, now);
        let altitude = self.chain.altitude_m;
        let range_m = (along * along + altitude * altitude).sqrt();
        let elevation_deg = Angle::asin(altitude / range_m).degrees();
        let served = self.serving.iter().filter(|serving| **serving == Some(satellite)).count();
        let sharers = if self.divides { served } else { 1 };
        WayState {
            satellite,
            azimuth_deg: if along < 0.0 { 270.0 } else { 90.0 },
            elevation_deg,
            range_m,
            nadir_deg: 90.0 - elevation_deg,
            gateway: None,
            hops: 0,
            delay: light_delay(range_m),
            delay_back: light_delay(range_m),
            sharers: sharers as u64,
        }
    }
}
