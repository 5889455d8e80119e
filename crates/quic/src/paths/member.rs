//! A path as one of several: what path schedulers see of it, and the data of other paths that it repeats.

use std::collections::VecDeque;

use leobench_base::{BitRate, SimDuration, SimTime};
use leobench_transport::endpoint::Forecast;

use crate::wire::StreamId;

/// A path as one of several.
#[derive(Debug, Default)]
pub(crate) struct Member {
    /// The place of its link in the specification, if this end knows it.
    pub(crate) link: Option<usize>,
    /// The latest forecast.
    pub(crate) forecast: Option<Forecast>,
    pub(crate) delivery: DeliveryMeter,
    /// Data that other paths have sent, in the order in which this one is to send it too.
    pub(crate) copies: VecDeque<StreamRange>,
    /// Bytes of streams that it has sent as copies.
    pub(crate) reinjected: u64,
}

/// Bytes of a stream, and perhaps its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamRange {
    pub(crate) id: StreamId,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) fin: bool,
}

/// Measures the rate at which data of a path is acknowledged, once a round trip.
#[derive(Debug, Default)]
pub(crate) struct DeliveryMeter {
    /// When the present round trip began, and how many bytes had been acknowledged by then.
    since: Option<(SimTime, u64)>,
    rate: Option<BitRate>,
}

impl DeliveryMeter {
    /// By `now`, `acked` bytes have been acknowledged since the start; a round trip takes `rtt`.
    #[inline]
    pub(crate) fn update(&mut self, now: SimTime, acked: u64, rtt: SimDuration) {
        let (since, before) = *self.since.get_or_insert((now, acked));
        let passed = now.saturating_since(since);
        if passed < rtt || passed.is_zero() {
            return;
        }
        let bits = u128::from(acked - before) * 8 * 1_000_000_000;
        let rate = bits / u128::from(passed.as_nanos());
        self.rate = Some(BitRate::from_bps(u64::try_from(rate).unwrap_or(u64::MAX)));
        self.since = Some((now, acked));
    }

    /// The rate over the last round trip that is over.
    #[inline]
    pub(crate) fn rate(&self) -> Option<BitRate> {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_whole_round_trip() {
        let mut meter = DeliveryMeter::default();
        let (rtt, ms) =
            (SimDuration::from_millis(40), |millis: u64| SimTime::from_nanos(millis * 1_000_000));
        meter.update(ms(0), 1_000, rtt);
        meter.update(ms(39), 900_000, rtt);
        assert_eq!(meter.rate(), None, "no round trip has passed");
        meter.update(ms(40), 51_000, rtt);
        assert_eq!(meter.rate(), Some(BitRate::from_bps(10_000_000)));
        meter.update(ms(79), 500_000, rtt);
        assert_eq!(meter.rate(), Some(BitRate::from_bps(10_000_000)));
        meter.update(ms(90), 51_000, rtt);
        assert_eq!(meter.rate(), Some(BitRate::from_bps(0)));
    }
}
