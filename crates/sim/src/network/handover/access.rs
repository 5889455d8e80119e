//! The cross-layer store: what link layers know of the links through a constellation, and the reports on it for the senders of
//! those flows that have a `cross_layer`. Nobody else is told anything.
//!
//! A topology may run ahead of the network, so the store has only what the network has got to ([`Change::Access`]). Coming handovers
//! are read off the changes ahead, as for forecasts.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;

use leobench_base::{DirectionId, FlowId, LinkId, SatelliteId, SimDuration, SimTime};
use leobench_budget::Budget;
use leobench_transport::Input;
use leobench_transport::endpoint::{AccessReport, AccessService, Event, PathId};

use super::coming::{Coming, ToldHandover, time_error};
use super::forecasts::write_handover;
use crate::network::observe::{AccessPath, NetworkEvent};
use crate::network::{End, Network, NetworkError};
use crate::topology::{Access, AccessConfig, AccessLink, AccessState, Change, HandoverStage};

/// Knowledge of link layers, and who is told of it.
#[derive(Default)]
pub(in crate::network) struct AccessStore {
    links: Vec<StoredLink>,
    reporters: Vec<Reporter>,
    /// How long past states are needed.
    keeps: SimDuration,
}

/// A link through a constellation.
struct StoredLink {
    link: LinkId,
    /// There and back.
    budgets: [Option<Arc<Budget>>; 2],
    /// Its states, each with the time from which on it holds; the first one holds at the earliest time that is needed.
    states: VecDeque<(SimTime, Option<AccessState>)>,
}

/// Reports for the sender of one flow.
struct Reporter {
    flow: FlowId,
    config: AccessConfig,
    next: SimTime,
    coming: Coming,
    /// Latest reports on its paths.
    told: Vec<ToldAccess>,
}

/// The part of a report on a path whose changes are worth a row.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ToldAccess {
    path: PathId,
    link: LinkId,
    satellite: Option<SatelliteId>,
    /// Beginning of the handover, and its end if that is known.
    handover: Option<(SimTime, Option<SimTime>)>,
}

impl AccessStore {
    pub(in crate::network) fn new(
        links: Vec<AccessLink>,
        flows: Vec<(FlowId, AccessConfig)>,
    ) -> Self {
        let keeps = flows.iter().map(|(_, config)| config.delay).max().unwrap_or_default();
        let links = links.into_iter().map(|AccessLink { link, budgets, start }| StoredLink {
            link,
            budgets,
            states: VecDeque::from([(SimTime::ZERO, start)]),
        });
        let reporters = flows.into_iter().map(|(flow, config)| Reporter {
            flow,
            next: config.first,
            config,
            coming: Coming::default(),
            told: Vec::new(),
        });
        Self { links: links.collect(), reporters: reporters.collect(), keeps }
    }

    /// When a sender is told next.
    pub(in crate::network) fn next(&self) -> Option<SimTime> {
        self.reporters.iter().map(|reporter| reporter.next).min()
    }

    /// Takes in the state of a link from now on.
    pub(super) fn learn(&mut self, now: SimTime, link: LinkId, state: Option<AccessState>) {
        let oldest = earlier(now, self.keeps);
        if let Some(known) = self.links.iter_mut().find(|known| known.link == link) {
            known.states.push_back((now, state));
            while known.states.get(1).is_some_and(|(since, _)| *since <= oldest) {
                known.states.pop_front();
            }
        }
    }

    /// Takes in a stage of a handover that is reached now: it may be the first that is heard of it.
    pub(super) fn reach(&mut self, now: SimTime, topology: usize, stage: &HandoverStage) {
        for reporter in &mut self.reporters {
            reporter.learn(topology, now, stage);
        }
    }
}

impl StoredLink {
    /// The state at a time, that at the start for earlier ones.
    fn at(&self, time: SimTime) -> Option<AccessState> {
        let after = self.states.partition_point(|(since, _)| *since <= time);
        self.states[after.saturating_sub(1)].1
    }
}

impl Reporter {
    fn learn(&mut self, topology: usize, at: SimTime, stage: &HandoverStage) {
        let Self { coming, config, .. } = self;
        let AccessConfig { directions, time_error: deviation, time_rng, .. } = config;
        let matters = |link| directions.iter().any(|direction| direction.link() == link);
        coming.learn((topology, at, *stage), matters, || time_error(*deviation, time_rng));
    }

    /// A report on a path over an access link.
    fn report(
        &mut self,
        now: SimTime,
        path: PathId,
        (stored, direction, scale): (&StoredLink, DirectionId, f64),
    ) -> (AccessReport, ToldAccess) {
        let (at, link) = (earlier(now, self.config.delay), stored.link);
        let service = stored.at(at).and_then(|state| self.service(&state, direction, stored));
        let service = service.map(|it| AccessService { rate: it.rate.scaled(scale), ..it });
        let handover =
            self.coming.next(at, at + self.config.horizon, |links| links.contains(&link));
        let report =
            AccessReport { path, link, at, service, handover: handover.map(|told| told.forecast) };
        (report, ToldAccess::new(&report, handover))
    }

    /// The service of a satellite in the direction of the data, with an error of the signal-to-noise ratio.
    fn service(
        &mut self,
        state: &AccessState,
        direction: DirectionId,
        stored: &StoredLink,
    ) -> Option<AccessService> {
        let there = usize::from(stored.link.directions()[0] != direction);
        let (offer, budget) = state.offers[there].zip(stored.budgets[there].as_deref())?;
        let error_db = self.config.snr_error_db * self.config.snr_rng.normal();
        Some(AccessService {
            satellite: state.satellite,
            snr_db: offer.reading.carrier_to_noise + error_db,
            range_m: state.range_m,
            rate: offer.rate(budget, error_db),
        })
    }
}

impl ToldAccess {
    fn new(report: &AccessReport, handover: Option<ToldHandover>) -> Self {
        let AccessReport { path, link, service, .. } = *report;
        let satellite = service.map(|service| service.satellite);
        let handover = handover
            .map(|told| (told.forecast.from, Some(told.forecast.until).filter(|_| told.ends)));
        Self { path, link, satellite, handover }
    }
}

/// A report that a path does not lead over its access link any more.
fn left(now: SimTime, path: PathId, link: LinkId) -> (AccessReport, ToldAccess) {
    let report = AccessReport { path, link, at: now, service: None, handover: None };
    (report, ToldAccess::new(&report, None))
}

/// The time so long before another one; the start of the run if that is later.
fn earlier(time: SimTime, span: SimDuration) -> SimTime {
    SimTime::ZERO + time.saturating_since(SimTime::ZERO).saturating_sub(span)
}

impl Network {
    /// Reports on access links to the senders that are to be told now.
    pub(super) fn tell_access(&mut self) -> Result<(), NetworkError> {
        self.tell_reporters(|reporter, now| {
            let due = reporter.next <= now;
            if due {
                reporter.next = now + reporter.config.every;
            }
            due.then_some(Which::All)
        })
    }

    /// Reports on the access links of paths that are new, or lead over another one, beside the regular reports: of all flows, or of
    /// one.
    pub(super) fn tell_new_access(&mut self, flow: Option<FlowId>) -> Result<(), NetworkError> {
        self.tell_reporters(|reporter, now| {
            // Those that are due now are told everything in a moment.
            let begun = reporter.next > reporter.config.first.max(now);
            let meant = flow.is_none_or(|flow| flow == reporter.flow);
            (begun && meant).then_some(Which::New)
        })
    }

    fn tell_reporters(
        &mut self,
        which: impl Fn(&mut Reporter, SimTime) -> Option<Which>,
    ) -> Result<(), NetworkError> {
        let mut store = std::mem::take(&mut self.access);
        for reporter in &mut store.reporters {
            if let Some(which) = which(reporter, self.now) {
                self.report_access(&store.links, reporter, which)?;
            }
        }
        self.access = store;
        Ok(())
    }

    fn report_access(
        &mut self,
        links: &[StoredLink],
        reporter: &mut Reporter,
        which: Which,
    ) -> Result<(), NetworkError> {
        let (now, flow) = (self.now, reporter.flow);
        self.foresee(now + reporter.config.horizon, &mut |topology, at, change| {
            if let Change::Handover(stage) = change {
                reporter.learn(topology, at, stage);
            }
        });
        let at = earlier(now, reporter.config.delay);
        reporter.coming.forget(at, at + reporter.config.horizon);
        let paths = self.observer.access_paths(flow, &reporter.config.directions);
        let mut before = std::mem::take(&mut reporter.told);
        for AccessPath { path, access } in paths {
            let known = before.iter().position(|told| told.path == path);
            let known = known.map(|index| before.swap_remove(index));
            let stored = access.and_then(|(direction, scale)| {
                let stored = links.iter().find(|stored| stored.link == direction.link())?;
                Some((stored, direction, scale))
            });
            let (report, told) = match (stored, known) {
                (Some((stored, ..)), Some(known))
                    if which == Which::New && known.link == stored.link =>
                {
                    reporter.told.push(known);
                    continue;
                }
                (Some(access), _) => reporter.report(now, path, access),
                // It has left its access link: nothing serves it there any more.
                (None, Some(ToldAccess { link, .. })) => left(now, path, link),
                (None, None) => continue,
            };
            reporter.told.extend(stored.map(|_| told));
            self.tell_sender(flow, &report, known != Some(told))?;
        }
        Ok(())
    }

    /// Hands a report to the sender of a flow, with a row if it says something else than the one before.
    fn tell_sender(
        &mut self,
        flow: FlowId,
        report: &AccessReport,
        differs: bool,
    ) -> Result<(), NetworkError> {
        if differs {
            let event = Event { kind: "access", detail: self.access_detail(report) };
            let (end, event) = (End::Sender, &event);
            self.observer.emit(self.now, NetworkEvent::Endpoint { flow, end, event })?;
        }
        self.input(self.flows[flow].ends[End::Sender as usize], Input::Access(*report))
    }

    /// A report for a reader.
    fn access_detail(&self, report: &AccessReport) -> String {
        let AccessReport { path, link, at, service, handover } = report;
        let names = self.observer.names();
        let mut text = format!("path {} over {} at {at}: ", path.0, names.links[*link]);
        // Writing to a string cannot fail.
        let _ = match service {
            Some(AccessService { satellite, snr_db, range_m, rate }) => {
                let satellite = names.access(Access::Satellite(*link, Some(*satellite)));
                let range_km = range_m / 1e3;
                write!(text, "{satellite}, {snr_db:.2} dB, {range_km:.1} km, {rate}")
            }
            None => write!(text, "no satellite"),
        };
        write_handover(&mut text, handover.as_ref());
        text
    }
}

/// The paths that a sender is told of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    /// Those that are new, or lead over another access link.
    New,
}
