//! A jitter buffer as long as a quantile of the transit times.

use std::collections::VecDeque;

use leobench_base::spec::Fault;
use leobench_base::{SimDuration, SimTime};

use super::{JitterBuffer, JitterBufferModel};

/// Longest window, and longest delays.
const LONGEST: SimDuration = SimDuration::from_secs(60);

leobench_base::spec! {
    /// A delay that a share of the last transit times stays below.
    ///
    /// libwebrtc's buffer for voice takes the quantile 0.95 of a histogram that forgets. Here, the histogram is that of a sliding
    /// window, and playback follows the delay at once, as if time could be stretched at will.
    pub struct AdaptiveSpec: Default check = AdaptiveSpec::check {
        /// The share of arrivals that come in time.
        pub quantile: f64 = 0.95,
        /// Length of the sliding window.
        pub window: SimDuration = SimDuration::from_secs(10),
        /// Delay above the quantile.
        pub margin: SimDuration = SimDuration::from_millis(10),
        /// Longest delay above the shortest transit time of the window.
        pub most: SimDuration = SimDuration::from_millis(500),
    }
}

impl AdaptiveSpec {
    fn check(&self) -> Result<(), Fault> {
        if !(self.quantile > 0.0 && self.quantile <= 1.0) {
            return Err(Fault::new("quantile", "is out of range", "a number above 0, up to 1"));
        }
        if self.window.is_zero() || self.window > LONGEST {
            let allowed = format!("above 0 s, up to {LONGEST}");
            return Err(Fault::new("window", "is out of range", allowed));
        }
        for (key, time) in [("margin", self.margin), ("most", self.most)] {
            if time > LONGEST {
                return Err(Fault::new(key, "is too long", format!("up to {LONGEST}")));
            }
        }
        Ok(())
    }
}

impl JitterBufferModel for AdaptiveSpec {
    fn build(&self) -> Box<dyn JitterBuffer> {
        let (arrivals, sorted) = (VecDeque::new(), Vec::new());
        Box::new(Adaptive { spec: self.clone(), arrivals, sorted })
    }
}

#[derive(Debug)]
struct Adaptive {
    spec: AdaptiveSpec,
    arrivals: VecDeque<(SimTime, SimDuration)>,
    /// Their transit times, ascending.
    sorted: Vec<SimDuration>,
}

impl JitterBuffer for Adaptive {
    fn on_arrival(&mut self, now: SimTime, transit: SimDuration) {
        let window = self.spec.window;
        let is_old = |(time, _): &mut (SimTime, _)| now.saturating_since(*time) >= window;
        while let Some((_, old)) = self.arrivals.pop_front_if(is_old) {
            let place = self.sorted.partition_point(|known| *known < old);
            self.sorted.remove(place);
        }
        self.arrivals.push_back((now, transit));
        let place = self.sorted.partition_point(|known| *known < transit);
        self.sorted.insert(place, transit);
    }

    fn delay(&self) -> Option<SimDuration> {
        let rank = (self.spec.quantile * self.sorted.len() as f64).ceil() as usize;
        let quantile = *self.sorted.get(rank.saturating_sub(1))?;
        Some((quantile + self.spec.margin).min(self.sorted[0] + self.spec.most))
    }
}
