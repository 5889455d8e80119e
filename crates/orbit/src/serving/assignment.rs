//! Terminals with the satellites that serve them.

use leobench_base::{DurationDistribution, SimDuration, SimRng, SimTime};

use super::{Choice, Outlook, ServingPolicy};
use crate::frame::Angle;
use crate::motion::{Ephemeris, OrbitError, SatelliteId, TerminalId};
use crate::visibility::{Observer, SatelliteGrid, Sighting, remaining_while};

/// The cost of a handover: no packets for an outage, or both satellites at once for an overlap.
#[derive(Clone, Debug)]
pub struct HandoverCost {
    /// How long nothing can be sent, from the handover on.
    pub outage: DurationDistribution,
    /// How long the old satellite can be used after the handover.
    pub overlap: DurationDistribution,
}

impl Default for HandoverCost {
    fn default() -> Self {
        let none = DurationDistribution::fixed(SimDuration::ZERO);
        Self { outage: none.clone(), overlap: none }
    }
}

/// A terminal: where it is and what it sees, who chooses its satellite, and what a change costs.
pub struct Terminal {
    /// Its place, or track, and its part of the sky.
    pub observer: Observer,
    /// Gateways of which a satellite must see one to be of use, as on a bent pipe; without any, every satellite is.
    pub gateways: Vec<Observer>,
    /// Its policy.
    pub policy: Box<dyn ServingPolicy>,
    /// A group of terminals, at one place, that choose different satellites where they can; none for one that chooses by itself.
    pub apart: Option<usize>,
    /// The cost of its handovers.
    pub cost: HandoverCost,
    /// The random stream from which that cost is drawn.
    pub rng: SimRng,
}

/// A change of the satellite that serves a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handover {
    /// When.
    pub at: SimTime,
    /// Whose.
    pub terminal: TerminalId,
    /// The satellite before; `None` if there was none.
    pub from: Option<SatelliteId>,
    /// The satellite from now on; `None` if there is none.
    pub to: Option<SatelliteId>,
    /// How long nothing can be sent from now on; zero without a satellite before.
    pub outage: SimDuration,
    /// How long the satellite before can still be used; zero if it has been lost.
    pub overlap: SimDuration,
}

impl Terminal {
    /// A satellite in its sky now, if it can be used.
    fn sight(&self, ephemeris: &Ephemeris, satellite: SatelliteId) -> Option<Sighting> {
        let sighting = self.observer.sight(ephemeris, satellite)?;
        self.reaches(ephemeris, satellite).then_some(sighting)
    }

    /// Fills in the satellites that can be used now, by number.
    fn look(&self, ephemeris: &Ephemeris, out: &mut Vec<Sighting>) {
        self.observer.look(ephemeris, out);
        if !self.gateways.is_empty() {
            out.retain(|sighting| self.reaches(ephemeris, sighting.satellite));
        }
    }

    fn reaches(&self, ephemeris: &Ephemeris, satellite: SatelliteId) -> bool {
        let sees = |gateway: &Observer| gateway.sight(ephemeris, satellite).is_some();
        self.gateways.is_empty() || self.gateways.iter().any(sees)
    }
}

pub(super) struct Member {
    pub(super) terminal: Terminal,
    serving: Option<Sighting>,
}

/// Terminals with the satellites that serve them, over time.
///
/// Call [`advance`](Self::advance) at every step of a grid that is fine enough for what is read, and at
/// [`next_due`](Self::next_due).
pub struct Assignment {
    ephemeris: Ephemeris,
    grid: SatelliteGrid,
    pub(super) members: Vec<Member>,
    loads: Vec<u32>,
    seen: Vec<Sighting>,
    /// Those of them that no other terminal of the group uses.
    free: Vec<Sighting>,
    /// Satellites that others of the group use.
    taken: Vec<SatelliteId>,
    handovers: Vec<Handover>,
}

impl Assignment {
    /// Terminals under the satellites of an ephemeris; nothing serves before the first step.
    pub fn new(ephemeris: Ephemeris, terminals: Vec<Terminal>) -> Self {
        let loads = vec![0; ephemeris.len()];
        let member = |terminal| Member { terminal, serving: None };
        let members = terminals.into_iter().map(member).collect();
        Self {
            ephemeris,
            grid: SatelliteGrid::default(),
            members,
            loads,
            seen: Vec::new(),
            free: Vec::new(),
            taken: Vec::new(),
            handovers: Vec::new(),
        }
    }

    /// The satellites.
    pub fn ephemeris(&self) -> &Ephemeris {
        &self.ephemeris
    }

    /// The satellites by place, for other observers.
    pub fn grid(&self) -> &SatelliteGrid {
        &self.grid
    }

    /// Number of terminals.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are no terminals.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The satellite that serves a terminal, and where it is.
    pub fn serving(&self, terminal: TerminalId) -> Option<&Sighting> {
        self.members[terminal.index()].serving.as_ref()
    }

    /// A terminal's place and sky.
    pub fn observer(&self, terminal: TerminalId) -> &Observer {
        &self.members[terminal.index()].terminal.observer
    }

    /// Number of terminals that a satellite serves.
    pub fn load(&self, satellite: SatelliteId) -> u32 {
        self.loads[satellite.index()]
    }

    /// When a policy next wants to choose by its own clock.
    pub fn next_due(&self, after: SimTime) -> Option<SimTime> {
        self.members.iter().filter_map(|member| member.terminal.policy.next_due(after)).min()
    }

    /// Moves to a time; returns the handovers, by terminal.
    ///
    /// # Errors
    /// If a satellite has no orbit then.
    pub fn advance(&mut self, now: SimTime) -> Result<&[Handover], OrbitError> {
        self.ephemeris.advance(now)?;
        self.grid.refresh(&self.ephemeris);
        self.handovers.clear();
        for index in 0..self.members.len() {
            self.step(index, now);
        }
        Ok(&self.handovers)
    }

    /// Collects the satellites that others of a terminal's group use.
    fn take_note(&mut self, index: usize) {
        self.taken.clear();
        let group = self.members[index].terminal.apart;
        if group.is_none() {
            return;
        }
        let others = self
            .members
            .iter()
            .enumerate()
            .filter(|(other, member)| *other != index && member.terminal.apart == group);
        let serving = others.filter_map(|(_, member)| member.serving.as_ref());
        self.taken.extend(serving.map(|sighting| sighting.satellite));
    }

    fn step(&mut self, index: usize, now: SimTime) {
        self.take_note(index);
        let Member { terminal, serving } = &mut self.members[index];
        terminal.observer.follow(&self.ephemeris, &self.grid);
        let before = serving.map(|sighting| sighting.satellite);
        *serving = before.and_then(|satellite| terminal.sight(&self.ephemeris, satellite));
        let usable = serving.map(|sighting| sighting.satellite);
        let due = usable.is_none() || terminal.policy.is_due(now);
        let shares = usable.is_some_and(|satellite| self.taken.contains(&satellite));
        if !due && !shares {
            return;
        }
        terminal.look(&self.ephemeris, &mut self.seen);
        let free = if self.taken.is_empty() {
            &self.seen
        } else {
            self.free.clear();
            let is_free = |sighting: &&Sighting| !self.taken.contains(&sighting.satellite);
            self.free.extend(self.seen.iter().filter(is_free));
            &self.free
        };
        let Terminal { observer, gateways, policy, .. } = terminal;
        let (ephemeris, loads) = (&self.ephemeris, &self.loads);
        let outlook = Ahead { ephemeris, observer, gateways, loads, own: before };
        let mut choose = |candidates: &[Sighting], serving: Option<SatelliteId>| {
            if candidates.is_empty() {
                return None;
            }
            let chosen = policy.choose(&Choice { now, serving, candidates, outlook: &outlook })?;
            candidates.iter().find(|sighting| sighting.satellite == chosen).copied()
        };
        let mut chosen = choose(free, usable.filter(|_| !shares));
        if chosen.is_none() && free.len() < self.seen.len() {
            chosen = if due { choose(&self.seen, usable) } else { *serving };
        }
        *serving = chosen;
        let after = serving.map(|sighting| sighting.satellite);
        if before == after {
            return;
        }
        if let Some(before) = before {
            self.loads[before.index()] -= 1;
        }
        if let Some(after) = after {
            self.loads[after.index()] += 1;
        }
        let Terminal { cost, rng, .. } = terminal;
        let changed = before.is_some() && after.is_some();
        let outage = if changed { cost.outage.draw(rng) } else { SimDuration::ZERO };
        let overlap = if changed { cost.overlap.draw(rng) } else { SimDuration::ZERO };
        self.handovers.push(Handover {
            at: now,
            terminal: TerminalId::from(index),
            from: before,
            to: after,
            outage,
            overlap: if usable.is_some() { overlap } else { SimDuration::ZERO },
        });
    }
}

/// A policy's knowledge of its candidates. As orbits are known ahead, it includes the future.
struct Ahead<'a> {
    ephemeris: &'a Ephemeris,
    observer: &'a Observer,
    gateways: &'a [Observer],
    loads: &'a [u32],
    own: Option<SatelliteId>,
}

impl Outlook for Ahead<'_> {
    fn remaining(&self, satellite: SatelliteId) -> SimDuration {
        remaining_while(self.ephemeris.now(), |at| self.usable(satellite, at))
    }

    fn usable(&self, satellite: SatelliteId, at: SimTime) -> bool {
        let sees = |observer: &Observer| observer.sight_at(self.ephemeris, satellite, at).is_some();
        sees(self.observer) && (self.gateways.is_empty() || self.gateways.iter().any(sees))
    }

    fn load(&self, satellite: SatelliteId) -> u32 {
        self.loads[satellite.index()] - u32::from(self.own == Some(satellite))
    }

    fn arc_separation(&self, candidate: &Sighting) -> Angle {
        self.observer.arc_separation(&candidate.look)
    }
}
