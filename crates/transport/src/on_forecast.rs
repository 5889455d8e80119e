//! Actions of endpoints on forecasts of their paths.

use leobench_base::spec::{Fault, Range, UpTo};
use leobench_base::{SimDuration, SimTime};

use crate::endpoint::Forecast;

/// A window that is shorter than this share of what a path holds would leave it empty most of the time.
const SMALLEST_SHARE: f64 = 0.1;

leobench_base::spec! {
    /// Actions of a sender on the forecasts of its flow. Without a key, it takes none.
    #[derive(Copy)]
    pub struct OnForecastSpec: Default check = check {
        /// Time before a forecast handover from which the sender sends no data on the path, until the handover is over,
        /// as in Freeze-TCP (Goff et al. 2000): with the one-way delay, the last packet arrives before the old route is
        /// left.
        pub hold: Option<SimDuration> [UpTo::DELAY],
        /// The congestion window is at most this many times the forecast rate times the forecast round-trip time.
        pub window: Option<f64> [Range::from(0.0).to(1_000.0)],
    }
}

fn check(spec: &OnForecastSpec) -> Result<(), Fault> {
    if spec.hold.is_none() && spec.window.is_none() {
        return Err(Fault::new("", "says nothing", "`hold`, `window`, or both"));
    }
    if spec.window.is_some_and(|share| !share.is_finite() || share < SMALLEST_SHARE) {
        let allowed = format!("a number of {SMALLEST_SHARE} or more");
        return Err(Fault::new("window", "is too small", allowed));
    }
    Ok(())
}

/// When a path is held because of the latest forecast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hold {
    planned: Option<(SimTime, SimTime)>,
    until: SimTime,
}

impl Hold {
    /// Takes in a forecast, in place of the one before: the hold begins `before` the handover.
    pub fn plan(&mut self, now: SimTime, before: SimDuration, forecast: &Forecast) {
        self.planned = forecast.handover.map(|handover| {
            let from = handover.from.as_nanos().saturating_sub(before.as_nanos());
            (SimTime::from_nanos(from), handover.until)
        });
        self.until = SimTime::ZERO;
        self.begin(now);
    }

    /// Begins the hold, if that is due.
    pub fn begin(&mut self, now: SimTime) {
        if let Some((_, until)) = self.planned.filter(|(from, _)| *from <= now) {
            self.until = until;
            self.planned = None;
        }
    }

    /// When the path may be used again; in the past if it may.
    #[inline]
    pub fn until(&self) -> SimTime {
        self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::{HandoverForecast, PathId};

    fn at(millis: u64) -> SimTime {
        SimTime::from_nanos(millis * 1_000_000)
    }

    fn forecast(handover: Option<(u64, u64)>) -> Forecast {
        let handover =
            handover.map(|(from, until)| HandoverForecast { from: at(from), until: at(until) });
        Forecast { path: PathId(0), at: at(9_000), base_rtt: None, bottleneck: None, handover }
    }

    #[test]
    fn a_hold_begins_before_the_handover_and_ends_with_it() {
        let (mut hold, before) = (Hold::default(), SimDuration::from_millis(20));
        hold.plan(at(0), before, &forecast(Some((100, 140))));
        hold.begin(at(79));
        assert!(hold.until() <= at(79));
        hold.begin(at(80));
        assert_eq!(hold.until(), at(140));
    }

    #[test]
    fn the_latest_forecast_counts() {
        let (mut hold, before) = (Hold::default(), SimDuration::from_millis(20));
        hold.plan(at(0), before, &forecast(Some((100, 140))));
        hold.plan(at(50), before, &forecast(Some((60, 70))));
        assert_eq!(hold.until(), at(70), "it is due at once");
        hold.plan(at(65), before, &forecast(Some((200, 240))));
        assert!(hold.until() <= at(65), "that handover is over, or never was");
        hold.plan(at(66), before, &forecast(None));
        hold.begin(at(190));
        assert!(hold.until() <= at(66));
    }
}
