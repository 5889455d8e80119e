//! The time at which a controller prepares for a handover that is forecast.

use leobench_base::{SimDuration, SimTime};

use crate::endpoint::Forecast;

/// The next forecast handover, less the time that a controller acts ahead of it.
#[derive(Clone, Debug)]
pub(super) struct Upcoming {
    lead: SimDuration,
    /// The beginning of the handover that the latest forecast names.
    from: Option<SimTime>,
    /// The beginning of the last handover that was taken.
    taken: Option<SimTime>,
}

impl Upcoming {
    /// No forecast so far; the controller acts `lead` ahead of a handover.
    pub fn new(lead: SimDuration) -> Self {
        Self { lead, from: None, taken: None }
    }

    /// Takes in a forecast, in place of the one before.
    pub fn plan(&mut self, forecast: &Forecast) {
        let from = forecast.handover.map(|handover| handover.from);
        self.from = from.filter(|_| from != self.taken);
    }

    /// Returns when the lead began if it has, once for each handover.
    #[inline]
    pub fn take_due(&mut self, now: SimTime) -> Option<SimTime> {
        let from = self.from?;
        let begin = SimTime::from_nanos(from.as_nanos().saturating_sub(self.lead.as_nanos()));
        if now < begin {
            return None;
        }
        self.taken = self.from.take();
        Some(begin)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{at, handover_forecast};
    use super::*;

    #[test]
    fn a_handover_is_due_once_when_its_lead_begins() {
        let mut upcoming = Upcoming::new(SimDuration::from_millis(500));
        assert_eq!(upcoming.take_due(at(10_000)), None, "nothing is forecast");
        upcoming.plan(&handover_forecast(Some(10_000)));
        assert_eq!(upcoming.take_due(at(9_499)), None);
        assert_eq!(upcoming.take_due(at(9_700)), Some(at(9_500)));
        assert_eq!(upcoming.take_due(at(9_701)), None);
        upcoming.plan(&handover_forecast(Some(10_000)));
        assert_eq!(upcoming.take_due(at(10_000)), None, "the same handover");
        upcoming.plan(&handover_forecast(Some(25_000)));
        assert_eq!(upcoming.take_due(at(24_500)), Some(at(24_500)));
    }

    #[test]
    fn the_latest_forecast_counts() {
        let mut upcoming = Upcoming::new(SimDuration::from_secs(20));
        upcoming.plan(&handover_forecast(Some(30_000)));
        upcoming.plan(&handover_forecast(None));
        assert_eq!(upcoming.take_due(at(30_000)), None);
        upcoming.plan(&handover_forecast(Some(15_000)));
        assert_eq!(upcoming.take_due(SimTime::ZERO), Some(SimTime::ZERO), "no time before zero");
    }
}
