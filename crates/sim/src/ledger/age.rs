//! Age of information: how old the freshest data is that the receiving end has.
//!
//! At a time t it is t less the creation of the freshest message that has arrived (Kaul, Yates and Gruteser 2012). A message
//! that an older one overtakes, or that comes after a fresher one, makes nothing fresher.

use leobench_base::{SimDuration, SimTime};

/// The age at a receiving end, from the first message that arrived to the last fresher one.
#[derive(Clone, Debug, Default)]
pub struct Age {
    /// When it last fell, and the creation of the message that then was the freshest.
    last: Option<(SimTime, SimTime)>,
    /// Twice its integral over time, in square nanoseconds, and that time.
    doubled: u128,
    span: SimDuration,
    /// The sum of its peaks, just before it fell, their number, and the highest.
    peaks: (u128, u64),
    highest: SimDuration,
}

impl Age {
    /// A message created at `created` has arrived.
    pub(super) fn delivered(&mut self, now: SimTime, created: SimTime) {
        let Some((since, freshest)) = self.last else {
            self.last = Some((now, created));
            return;
        };
        if created <= freshest {
            return;
        }
        let square = |age: SimDuration| u128::from(age.as_nanos()).pow(2);
        let peak = now - freshest;
        self.doubled += square(peak) - square(since - freshest);
        self.span += now - since;
        self.peaks.0 += u128::from(peak.as_nanos());
        self.peaks.1 += 1;
        self.highest = self.highest.max(peak);
        self.last = Some((now, created));
    }

    /// Its mean over time in nanoseconds; `None` before it fell twice.
    pub fn mean_ns(&self) -> Option<f64> {
        (!self.span.is_zero()).then(|| self.doubled as f64 / 2.0 / self.span.as_nanos() as f64)
    }

    /// The mean of its peaks in nanoseconds (Costa, Codreanu and Ephremides 2014).
    pub fn mean_peak_ns(&self) -> Option<f64> {
        let (sum, count) = self.peaks;
        (count > 0).then(|| sum as f64 / count as f64)
    }

    /// Its highest peak.
    pub fn highest(&self) -> Option<SimDuration> {
        (self.peaks.1 > 0).then_some(self.highest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + SimDuration::from_millis(ms)
    }

    /// Messages every 100 ms that take 30 ms: the age goes from 30 to 130 ms, so its mean is 80 ms.
    #[test]
    fn a_constant_delay_makes_a_saw() {
        let mut age = Age::default();
        for tick in 0..11 {
            age.delivered(at(100 * tick + 30), at(100 * tick));
        }
        assert_eq!((age.mean_ns(), age.mean_peak_ns()), (Some(80e6), Some(130e6)));
        assert_eq!(age.highest(), Some(SimDuration::from_millis(130)));
    }

    /// The message of 100 ms is late, after that of 200 ms: the age goes from 30 to 230 ms, to 130 from 30, and so on.
    #[test]
    fn what_comes_after_fresher_data_does_not_count() {
        let mut age = Age::default();
        age.delivered(at(30), at(0));
        age.delivered(at(230), at(200));
        age.delivered(at(240), at(100));
        age.delivered(at(330), at(300));
        let area = f64::midpoint(30.0, 230.0) * 200.0 + f64::midpoint(30.0, 130.0) * 100.0;
        assert_eq!(age.mean_ns(), Some(area / 300.0 * 1e6));
        assert_eq!(age.mean_peak_ns(), Some(180e6));
        assert_eq!(age.highest(), Some(SimDuration::from_millis(230)));
    }

    #[test]
    fn one_message_has_no_age_yet() {
        let mut age = Age::default();
        age.delivered(at(30), at(0));
        assert_eq!((age.mean_ns(), age.mean_peak_ns(), age.highest()), (None, None, None));
    }
}
