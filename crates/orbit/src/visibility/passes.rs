//! Passes of satellites over a place as an iterator.

use std::collections::{BTreeMap, VecDeque};

use leobench_base::{SimDuration, SimTime};

use super::grid::SatelliteGrid;
use super::observer::{Observer, Sighting};
use super::remaining::change;
use crate::frame::Angle;
use crate::motion::{Ephemeris, OrbitError, SatelliteId};

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
    grid: SatelliteGrid,
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
            grid: SatelliteGrid::default(),
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
