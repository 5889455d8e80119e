//! How LeoCC learns of reconfigurations: from the handovers of a forecast, or from a clock.

use leobench_base::{SimDuration, SimTime};

use super::super::upcoming::Upcoming;
use super::LeoccSpec;
use crate::endpoint::Forecast;

/// The source of reconfigurations on a path.
pub(super) struct Reconfigurations {
    /// When the lead of the next reconfiguration of the grid begins.
    next: SimTime,
    every: SimDuration,
    /// The handovers of the path, in the place of the grid from the first forecast on.
    handovers: Option<Upcoming>,
    lead: SimDuration,
}

impl Reconfigurations {
    /// Those of a path that opens at `now`.
    pub fn new(spec: &LeoccSpec, now: SimTime) -> Self {
        let (every, lead) = (spec.every, spec.lead);
        // `offset` and `lead` are less than `every`.
        let phase = (spec.offset + every - lead).as_nanos() % every.as_nanos();
        let mut grid = Self { next: SimTime::from_nanos(phase), every, handovers: None, lead };
        if grid.next < now {
            grid.pass(now - SimDuration::from_nanos(1));
        }
        grid
    }

    /// Moves on to the first instant of the grid after `now`.
    fn pass(&mut self, now: SimTime) {
        let periods = now.saturating_since(self.next).as_nanos() / self.every.as_nanos() + 1;
        self.next += self.every * periods;
    }

    /// Takes in a forecast.
    pub fn on_forecast(&mut self, forecast: &Forecast) {
        self.handovers.get_or_insert_with(|| Upcoming::new(self.lead)).plan(forecast);
    }

    /// Whether the lead of a reconfiguration has begun since the last call.
    #[inline]
    pub fn begins(&mut self, now: SimTime) -> bool {
        if let Some(handovers) = &mut self.handovers {
            return handovers.take_due(now).is_some();
        }
        let begins = now >= self.next;
        if begins {
            self.pass(now);
        }
        begins
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{at, handover_forecast};
    use super::*;

    fn opened(now: u64) -> Reconfigurations {
        Reconfigurations::new(&LeoccSpec::default(), at(now))
    }

    #[test]
    fn the_grid_is_starlinks() {
        let mut grid = opened(0);
        let begins: Vec<_> = (0..60_000).filter(|now| grid.begins(at(*now))).collect();
        assert_eq!(begins, [11_900, 26_900, 41_900, 56_900]);
        for (opens, first) in [(11_900, 11_900), (11_901, 26_900), (100_000, 101_900)] {
            let mut grid = opened(opens);
            assert_eq!((opens..200_000).find(|now| grid.begins(at(*now))), Some(first));
        }
    }

    #[test]
    fn missed_reconfigurations_count_once() {
        let mut grid = opened(0);
        assert!(grid.begins(at(50_000)));
        assert!(!grid.begins(at(56_899)));
        assert!(grid.begins(at(56_900)));
    }

    #[test]
    fn an_offset_below_the_lead_begins_a_period_later() {
        let spec = LeoccSpec { offset: SimDuration::ZERO, ..LeoccSpec::default() };
        let mut grid = Reconfigurations::new(&spec, SimTime::ZERO);
        assert_eq!((0..200_000).find(|now| grid.begins(at(*now))), Some(14_900));
    }

    #[test]
    fn forecasts_replace_the_grid() {
        let mut grid = opened(0);
        grid.on_forecast(&handover_forecast(Some(20_000)));
        assert_eq!((0..30_000).find(|now| grid.begins(at(*now))), Some(19_900));
        grid.on_forecast(&handover_forecast(None));
        assert!(!(30_000..90_000).any(|now| grid.begins(at(now))));
    }
}
