//! The links of a layout over a whole run, found ahead, so that every link has a number from the start.

use std::collections::BTreeMap;

use leobench_base::{SimDuration, SimTime};

use super::Layout;
use crate::isl::links::Isl;
use crate::motion::{Ephemeris, OrbitError};

/// Which links are set up when.
#[derive(Clone, Debug, Default)]
pub struct Arrangements {
    links: Vec<Isl>,
    every: SimDuration,
    /// By period, the numbers of the links that are set up; the last one stays.
    periods: Vec<Vec<u32>>,
}

impl Arrangements {
    /// Those of a layout at the start and at each of its periods up to a time; the ephemeris is where it was afterwards.
    ///
    /// # Errors
    /// If a satellite has no orbit then.
    pub fn ahead(
        mut layout: Box<dyn Layout>,
        ephemeris: &mut Ephemeris,
        until: SimTime,
    ) -> Result<Self, OrbitError> {
        let (before, every) = (ephemeris.now(), layout.period());
        let last = every.map_or(0, |every| until.as_nanos() / every.as_nanos());
        let mut all = Self { every: every.unwrap_or_default(), ..Self::default() };
        let (mut numbers, mut links) = (BTreeMap::new(), Vec::new());
        for period in 0..=last {
            ephemeris.advance(SimTime::ZERO + all.every * period)?;
            layout.arrange(ephemeris, &mut links);
            let number = |link: &Isl| {
                *numbers.entry(link.ends()).or_insert_with(|| {
                    all.links.push(*link);
                    all.links.len() as u32 - 1
                })
            };
            all.periods.push(links.iter().map(number).collect());
        }
        ephemeris.advance(before)?;
        Ok(all)
    }

    /// Links that are set up for good.
    pub fn fixed(links: Vec<Isl>) -> Self {
        let periods = vec![(0..links.len() as u32).collect()];
        Self { links, every: SimDuration::ZERO, periods }
    }

    /// All links that are ever set up.
    pub fn links(&self) -> &[Isl] {
        &self.links
    }

    /// The number of the period that a time is in, as far as anything changes.
    pub(in crate::isl) fn period(&self, now: SimTime) -> usize {
        let last = self.periods.len().saturating_sub(1);
        let period = now.as_nanos().checked_div(self.every.as_nanos()).unwrap_or(0);
        usize::try_from(period).unwrap_or(last).min(last)
    }

    /// The numbers of the links that are set up in a period.
    pub(in crate::isl) fn set_up(&self, period: usize) -> &[u32] {
        &self.periods[period]
    }
}
