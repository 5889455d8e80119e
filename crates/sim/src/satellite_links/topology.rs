//! A constellation as a topology: what the satellites offer becomes the channel of each link through it, and a change of the serving
//! satellite a handover.

use std::borrow::Cow;

use leobench_base::{BitRate, DirectionId, LinkId, SatelliteId, SimTime};
use leobench_link::{Channel, ChannelState, Service};

use super::{EarthStations, LinkState, SatelliteLinks, ServingChange};
use crate::topology::{
    Access, AccessLink, AccessState, Change, HandoverStage, LaserLoad, LeftPackets, Stage, Topology,
};

/// Label of a link without a serving satellite.
const NONE: &str = "none";
/// Label of a link in the outage of a handover.
const HANDOVER: &str = "handover";
/// Label of a link in an outage of its fit.
const OUTAGE: &str = "outage";

/// The links through a constellation over time.
pub struct ConstellationTopology {
    satellites: SatelliteLinks,
    left: LeftPackets,
    /// Of the next handover.
    number: u64,
    paths: Vec<Path>,
    /// Whether the network knows which satellites serve at the start, and which links none does.
    starts_served: bool,
    /// The satellites that serve at the start, by link, if links share the transmitters of satellites.
    first: Option<Vec<Option<SatelliteId>>>,
}

/// A link.
struct Path {
    pending: Option<Pending>,
    /// States that the network knows, there and back.
    offered: [ChannelState; 2],
    /// Whether the network takes it that a satellite serves the link, as it does at first.
    has_carrier: bool,
    /// Whether anybody is told what its link layer knows, and the state that the network knows.
    is_reported: bool,
    access: Option<AccessState>,
}

/// A handover under way.
#[derive(Clone, Copy)]
struct Pending {
    number: u64,
    from: Option<SatelliteId>,
    to: Option<SatelliteId>,
    /// The end of its outage, or its overlap; none while no satellite serves.
    ends: Option<SimTime>,
    /// Whether both satellites are there until then.
    overlaps: bool,
}

impl ConstellationTopology {
    /// The links at the start of a run; `left` says what becomes of packets under way at a handover.
    pub fn new(satellites: SatelliteLinks, left: LeftPackets) -> Self {
        let path = |path| {
            let offered = states(&satellites, satellites.state(path), false);
            let access = satellites.access(path);
            Path { pending: None, offered, has_carrier: true, is_reported: false, access }
        };
        let paths = (0..satellites.len()).map(path).collect();
        let first = satellites.have_queues().then(|| {
            let mut serving = vec![None; satellites.len()];
            for change in satellites.serving_changes() {
                serving[change.path] = change.to;
            }
            serving
        });
        Self { satellites, left, number: 0, paths, starts_served: false, first }
    }

    /// The links through the constellation.
    pub fn links(&self) -> Vec<LinkId> {
        (0..self.satellites.len()).map(|path| self.satellites.link_id(path)).collect()
    }

    /// The names of the satellites.
    pub fn satellites(&self) -> Vec<String> {
        self.satellites.names().to_vec()
    }

    /// The names of the stations: terminals first, then gateways.
    pub fn stations(&self) -> Vec<String> {
        let EarthStations { terminals, gateways } = self.satellites.stations();
        terminals.iter().chain(gateways).map(|station| station.name.clone()).collect()
    }

    /// By direction of every link, a channel that offers what the satellites do at the start and changes with this topology only.
    pub fn channels(&self) -> impl Iterator<Item = (DirectionId, Box<dyn Channel>)> {
        self.paths.iter().enumerate().flat_map(|(path, known)| {
            let directions = self.satellites.link_id(path).directions();
            directions.into_iter().zip(&known.offered).map(|(direction, state)| {
                (direction, Box::new(Fixed(state.clone())) as Box<dyn Channel>)
            })
        })
    }

    /// Reports what the link layers of these links know, from the start on.
    pub fn report_access(&mut self, links: &[LinkId]) -> Vec<AccessLink> {
        for (path, known) in self.paths.iter_mut().enumerate() {
            known.is_reported = links.contains(&self.satellites.link_id(path));
        }
        let reported = (0..self.paths.len()).filter(|path| self.paths[*path].is_reported);
        reported.map(|path| self.satellites.access_link(path)).collect()
    }

    fn stage(&self, path: usize, pending: Pending, stage: Stage) -> Change {
        let link = self.satellites.link_id(path);
        Change::Handover(HandoverStage {
            number: pending.number,
            node: self.satellites.node(path),
            from: Access::Satellite(link, pending.from),
            to: Access::Satellite(link, pending.to),
            overlaps: pending.overlaps,
            stage,
        })
    }

    /// Ends a handover under way, as another one begins or its time is over.
    fn complete(&self, path: usize, pending: Pending, stage: Stage, changes: &mut Vec<Change>) {
        if pending.overlaps {
            let link = self.satellites.link_id(path);
            changes.push(Change::EndOverlap { link, left: self.left });
        }
        let stage = if pending.overlaps { Stage::End } else { stage };
        changes.push(self.stage(path, pending, stage));
    }

    /// Whether a link without a satellite passes for one with a carrier.
    fn lacks_carrier(&self) -> bool {
        let serves = |path| self.satellites.state(path).way.is_some();
        self.paths.iter().enumerate().any(|(path, known)| known.has_carrier && !serves(path))
    }

    /// When a handover ends, or something but fits changes.
    fn next_move(&self) -> SimTime {
        let ends = self.paths.iter().filter_map(|path| path.pending?.ends);
        ends.fold(self.satellites.next_move(), SimTime::min)
    }

    /// Whether the network is to be told something at the start.
    fn starts_with_changes(&self) -> bool {
        self.lacks_carrier() || self.first.is_some() || self.satellites.transit().is_some()
    }

    /// Tells which satellites serve at the start.
    fn serve_first(&self, changes: &mut Vec<Change>) {
        for (path, satellite) in self.first.iter().flatten().enumerate() {
            if satellite.is_some() {
                changes.push(self.serve(path, *satellite, LeftPackets::Drain, false));
            }
        }
    }

    /// Tells what the network in orbit is like from now on.
    fn tell_transit(&mut self, changes: &mut Vec<Change>) {
        let update = self.satellites.take_transit();
        changes.extend(update.map(|update| Change::Transit(Box::new(update))));
    }

    fn serve(
        &self,
        path: usize,
        satellite: Option<SatelliteId>,
        left: LeftPackets,
        overlaps: bool,
    ) -> Change {
        Change::Serve { link: self.satellites.link_id(path), satellite, left, overlaps }
    }

    /// Tells which links have lost their carrier, or have it again.
    fn tell_carriers(&mut self, changes: &mut Vec<Change>) {
        for (path, known) in self.paths.iter_mut().enumerate() {
            // An outage of a fit leaves the carrier, as that of any channel does.
            let up = self.satellites.state(path).way.is_some();
            if std::mem::replace(&mut known.has_carrier, up) != up {
                changes.push(Change::Carrier { link: self.satellites.link_id(path), up });
            }
        }
    }

    /// Ends the outages and overlaps that are over.
    fn end(&mut self, now: SimTime, changes: &mut Vec<Change>) {
        for path in 0..self.paths.len() {
            let pending = self.paths[path].pending;
            if let Some(pending) = pending.filter(|p| p.ends.is_some_and(|ends| ends <= now)) {
                self.complete(path, pending, Stage::End, changes);
                self.paths[path].pending = None;
            }
        }
    }

    /// Another satellite serves a link, or none.
    fn hand_over(&mut self, now: SimTime, step: ServingChange, changes: &mut Vec<Change>) {
        let ServingChange { path, from, to, outage, overlap } = step;
        let before = self.paths[path].pending.take();
        if from.is_none() {
            // After a gap; at first, no satellite is left.
            if let Some(gap) = before {
                debug_assert!(!gap.overlaps, "without a satellite, nothing overlaps");
                changes.push(self.stage(path, Pending { to, ..gap }, Stage::End));
            }
            if self.first.is_some() {
                changes.push(self.serve(path, to, LeftPackets::Drain, false));
            }
            return;
        }
        if let Some(before) = before {
            self.complete(path, before, Stage::Cut, changes);
        }
        let overlaps = !overlap.is_zero();
        let ends = to.map(|_| now + outage.max(overlap));
        let pending = Pending { number: self.number, from, to, ends, overlaps };
        self.number += 1;
        changes.push(self.stage(path, pending, Stage::Begin));
        if self.first.is_some() {
            changes.push(self.serve(path, to, self.left, overlaps));
        } else if overlaps {
            changes.push(Change::BeginOverlap { link: self.satellites.link_id(path) });
        } else if to.is_some() && self.left != LeftPackets::Drain {
            changes.push(Change::Leave { link: self.satellites.link_id(path), left: self.left });
        }
        if ends == Some(now) {
            changes.push(self.stage(path, pending, Stage::End));
        } else {
            self.paths[path].pending = Some(pending);
        }
    }
}

impl Topology for ConstellationTopology {
    fn next_change(&self) -> Option<SimTime> {
        if !self.starts_served && self.starts_with_changes() {
            return Some(SimTime::ZERO);
        }
        Some(self.next_move().min(self.satellites.next()))
    }

    fn wants_loads(&self) -> bool {
        self.satellites.wants_loads()
    }

    fn observe(&mut self, now: SimTime, loads: &[LaserLoad]) {
        self.satellites.observe(now, loads);
    }

    fn advance(&mut self, now: SimTime, changes: &mut Vec<Change>) {
        let begins =
            !std::mem::replace(&mut self.starts_served, true) && self.starts_with_changes();
        if begins && now == SimTime::ZERO {
            self.tell_transit(changes);
            self.serve_first(changes);
            return self.tell_carriers(changes);
        }
        if self.next_move() <= now {
            self.satellites.advance(now);
            self.tell_transit(changes);
        } else {
            self.satellites.advance_fits(now);
        }
        self.end(now, changes);
        for index in 0..self.satellites.serving_changes().len() {
            self.hand_over(now, self.satellites.serving_changes()[index], changes);
        }
        for (path, known) in self.paths.iter_mut().enumerate() {
            let in_outage = |pending: Pending| pending.ends.is_some() && !pending.overlaps;
            let silent = known.pending.is_some_and(in_outage);
            let offered = states(&self.satellites, self.satellites.state(path), silent);
            let directions = self.satellites.link_id(path).directions();
            for ((direction, state), known) in
                directions.into_iter().zip(offered).zip(&mut known.offered)
            {
                if state != *known {
                    known.clone_from(&state);
                    changes.push(Change::Channel { direction, state });
                }
            }
            if known.is_reported {
                let state = self.satellites.access(path).filter(|_| !silent);
                if state != known.access {
                    known.access = state;
                    changes.push(Change::Access { link: self.satellites.link_id(path), state });
                }
            }
        }
        self.tell_carriers(changes);
    }
}

/// Returns the states of a link there and back: down without a way or in an outage of its fit, at a rate of zero during that of a
/// handover.
fn states(satellites: &SatelliteLinks, state: &LinkState, silent: bool) -> [ChannelState; 2] {
    let (Some(way), Some(delays)) = (&state.way, state.delays()) else {
        let down = ChannelState::without_way(NONE);
        return [down.clone(), down];
    };
    let up = state.is_up();
    let label = match (up, silent) {
        (false, _) => Cow::Borrowed(OUTAGE),
        (true, true) => Cow::Borrowed(HANDOVER),
        (true, false) => Cow::Owned(satellites.name(way.satellite)),
    };
    std::array::from_fn(|index| ChannelState {
        service: Service::Rate(if silent { BitRate::ZERO } else { state.rates[index] }),
        delay: delays[index],
        loss: state.fit.as_ref().map_or(0.0, |fit| fit.loss[index]),
        up,
        has_way: true,
        label: label.clone(),
    })
}

/// A channel that never changes by itself.
struct Fixed(ChannelState);

impl Channel for Fixed {
    fn state(&self) -> &ChannelState {
        &self.0
    }

    fn next_change(&self) -> Option<SimTime> {
        None
    }

    fn advance(&mut self, _now: SimTime) -> &ChannelState {
        &self.0
    }
}
