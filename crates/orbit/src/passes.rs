//! Passes of satellites over a place, and handovers of a fleet, as iterators.

use std::collections::{BTreeMap, VecDeque};

use leobench_base::{SimDuration, SimTime};

use crate::angle::Angle;
use crate::constellation::SatelliteId;
use crate::ephemeris::Ephemeris;
use crate::fleet::{Fleet, Handover, change};
use crate::orbit::OrbitError;
use crate::sky::{Observer, Sighting, SkyGrid};

/// Between two looks at the sky; passes that are shorter may be missed.
const STEP: SimDuration = SimDuration::from_secs(10);

/// A satellite's way through the usable sky.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// Which one.
    pub satellite: SatelliteId,
    /// When it comes into use; the start of the search if it is in use then.
    pub rise: SimTime,
    /// When it goes out of use; the end of the search if it is in use then.
    pub set: SimTime,
    /// The highest elevation that a look found, within 10 s of the true one.
    pub highest: Angle,
    /// The shortest distance that a look found, in metres.
    pub closest_m: f64,
}

/// The passes over a place, by the time of their set.
pub struct Passes<'a> {
    ephemeris: &'a mut Ephemeris,
    observer: Observer,
    grid: SkyGrid,
    last: Option<SimTime>,
    next: SimTime,
    end: SimTime,
    done: bool,
    open: BTreeMap<SatelliteId, Pass>,
    ready: VecDeque<Pass>,
    seen: Vec<Sighting>,
}

impl<'a> Passes<'a> {
    /// The passes over an observer between two times.
    pub fn new(
        ephemeris: &'a mut Ephemeris,
        observer: Observer,
        from: SimTime,
        to: SimTime,
    ) -> Self {
        Self {
            ephemeris,
            observer,
            grid: SkyGrid::default(),
            last: None,
            next: from,
            end: to,
            done: false,
            open: BTreeMap::new(),
            ready: VecDeque::new(),
            seen: Vec::new(),
        }
    }

    fn step(&mut self) -> Result<(), OrbitError> {
        let now = self.next;
        let last = self.last.replace(now).unwrap_or(now);
        self.ephemeris.advance(now)?;
        self.grid.refresh(self.ephemeris);
        self.observer.follow(self.ephemeris, &self.grid);
        self.observer.look(self.ephemeris, &mut self.seen);
        let mut gone = std::mem::take(&mut self.open);
        for Sighting { satellite, look } in &self.seen {
            let pass = gone.remove(satellite).unwrap_or_else(|| Pass {
                satellite: *satellite,
                rise: self.boundary(*satellite, last, now),
                set: self.end,
                highest: look.elevation,
                closest_m: look.range_m,
            });
            let highest = if look.elevation > pass.highest { look.elevation } else { pass.highest };
            let closest_m = pass.closest_m.min(look.range_m);
            self.open.insert(*satellite, Pass { highest, closest_m, ..pass });
        }
        let mut closed: Vec<_> = gone
            .into_values()
            .map(|pass| Pass { set: self.boundary(pass.satellite, last, now), ..pass })
            .collect();
        self.done = now >= self.end;
        if self.done {
            closed.extend(std::mem::take(&mut self.open).into_values());
        }
        closed.sort_by_key(|pass| (pass.set, pass.satellite));
        self.ready.extend(closed);
        self.next = (now + STEP).min(self.end);
        Ok(())
    }

    /// When a satellite has come or gone since the last look; now, at the first one.
    fn boundary(&self, satellite: SatelliteId, last: SimTime, now: SimTime) -> SimTime {
        let used = |at| self.observer.sight_at(self.ephemeris, satellite, at).is_some();
        if used(last) == used(now) {
            return now;
        }
        change(used, last, now)
    }
}

impl Iterator for Passes<'_> {
    type Item = Result<Pass, OrbitError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(pass) = self.ready.pop_front() {
                return Some(Ok(pass));
            }
            if self.done {
                return None;
            }
            if let Err(error) = self.step() {
                self.done = true;
                return Some(Err(error));
            }
        }
    }
}

/// The handovers of a fleet, by time, then by terminal.
pub struct Handovers<'a> {
    fleet: &'a mut Fleet,
    step: SimDuration,
    next: Option<SimTime>,
    end: SimTime,
    ready: VecDeque<Handover>,
}

impl<'a> Handovers<'a> {
    /// The handovers between two times, looked for at steps and whenever a policy wants to choose.
    pub fn new(fleet: &'a mut Fleet, step: SimDuration, from: SimTime, to: SimTime) -> Self {
        Self { fleet, step, next: Some(from), end: to, ready: VecDeque::new() }
    }

    /// The fleet, at the time of the last handover returned, or of the end.
    pub fn fleet(&self) -> &Fleet {
        self.fleet
    }
}

impl Iterator for Handovers<'_> {
    type Item = Result<Handover, OrbitError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(handover) = self.ready.pop_front() {
                return Some(Ok(handover));
            }
            let now = self.next.take().filter(|now| *now <= self.end)?;
            match self.fleet.advance(now) {
                Ok(handovers) => self.ready.extend(handovers),
                Err(error) => return Some(Err(error)),
            }
            let step = self.step.as_nanos();
            let regular = SimTime::from_nanos((now.as_nanos() / step + 1) * step);
            let due = self.fleet.next_due(now);
            self.next = Some(due.map_or(regular, |due| due.min(regular)));
        }
    }
}

#[cfg(test)]
mod tests;
