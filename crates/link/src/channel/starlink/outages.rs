//! Outages: times at which nothing gets through.

use leobench_base::spec::{Fault, Range};
use leobench_base::{RngTree, SimDuration, SimRng, SimTime};

/// Time before the start of a run in which outages may have begun that go on at the start, in seconds.
const BEFORE: f64 = 3_600.0;

leobench_base::spec! {
    /// The length of outages: log-normal.
    pub struct LengthSpec {
        /// Median, in seconds.
        pub median_s: f64 [Range::above(0.0).to(3_600.0)],
        /// Standard deviation of the logarithm.
        pub sigma: f64 [Range::from(0.0).to(5.0)] = 0.0,
    }
}

leobench_base::spec! {
    /// Outages that begin at any time, and outages that begin soon after slots.
    pub struct OutageSpec check = check {
        /// Outages per second that begin at any time, independently of each other.
        pub rate_per_s: f64 [Range::from(0.0).to(10.0)] = 0.0,
        /// Probability that one begins soon after the beginning of a slot.
        pub at_boundary: f64 [Range::from(0.0).to(1.0)] = 0.0,
        /// Time of the slot before which it never begins, in seconds.
        pub after_s: f64 [Range::from(0.0)] = 0.0,
        /// How soon after that it begins at the latest, in seconds; any time until then is equally likely.
        pub within_s: f64 [Range::from(0.0)] = 0.0,
        /// How long they are.
        pub length: LengthSpec,
        /// The shortest outage that the measurement shows, in seconds. None is shorter.
        pub shortest_s: f64 [Range::from(0.0)] = 0.0,
    }
}

fn check(spec: &OutageSpec) -> Result<(), Fault> {
    if spec.shortest_s > spec.length.median_s {
        let problem = "is longer than the median";
        let allowed = format!("at most {}, or no outages", spec.length.median_s);
        return Err(Fault::new("shortest_s", problem, allowed));
    }
    Ok(())
}

impl OutageSpec {
    /// The share of time that they take, if none overlap.
    pub fn share(&self, slot: SimDuration) -> f64 {
        let per_second = self.rate_per_s + self.at_boundary / slot.as_secs_f64();
        (self.mean_length() * per_second).min(1.0)
    }

    /// Time of the slot after which none begins that belongs to the slot, in seconds.
    pub fn latest_s(&self) -> f64 {
        self.after_s + self.within_s
    }

    /// Whether there ever is one.
    pub fn occur(&self) -> bool {
        self.rate_per_s > 0.0 || self.at_boundary > 0.0
    }

    /// The mean length in seconds: that of a log-normal number that is at least `shortest_s`.
    pub fn mean_length(&self) -> f64 {
        let LengthSpec { median_s, sigma } = self.length;
        if sigma == 0.0 {
            return median_s;
        }
        // As normal numbers: the share above x is erfc(x / sqrt 2) / 2.
        let above = |x: f64| libm::erfc(x * std::f64::consts::FRAC_1_SQRT_2);
        let least = libm::log(self.shortest_s / median_s) / sigma;
        median_s * libm::exp(sigma * sigma / 2.0) * above(least - sigma) / above(least)
    }

    fn draw_length(&self, rng: &mut SimRng) -> SimDuration {
        loop {
            // At least every second draw is long enough, as the shortest is not above the median.
            let seconds = self.length.median_s * libm::exp(self.length.sigma * rng.normal());
            if seconds >= self.shortest_s {
                return SimDuration::from_secs_f64(seconds).max(SimDuration::from_nanos(1));
            }
        }
    }

    fn draw_gap(&self, rng: &mut SimRng) -> f64 {
        -libm::log1p(-rng.unit()) / self.rate_per_s
    }
}

/// Outages of one kind in motion.
#[derive(Debug)]
pub(super) struct Outages {
    spec: OutageSpec,
    /// The next that begins at any time.
    any_time: SimTime,
    any_time_rng: SimRng,
    /// The next that belongs to a slot; at most one is ahead, as it begins within the slot.
    at_boundary: SimTime,
    at_boundary_rng: SimRng,
    /// The end of those that have begun.
    end: SimTime,
}

impl Outages {
    /// Outages that have gone on for ever, in a slot that began `age` before the start of the run and ends at `slot_end`.
    pub fn new(spec: OutageSpec, age: SimDuration, slot_end: SimTime, rng: &RngTree) -> Self {
        let mut outages = Self {
            spec,
            any_time: SimTime::MAX,
            any_time_rng: rng.child("any-time").rng(),
            at_boundary: SimTime::MAX,
            at_boundary_rng: rng.child("boundary").rng(),
            end: SimTime::ZERO,
        };
        outages.go_to_start();
        outages.enter_first_slot(age, slot_end);
        outages.advance(SimTime::ZERO);
        outages
    }

    /// Goes through the outages that began before the start of the run.
    fn go_to_start(&mut self) {
        if self.spec.rate_per_s == 0.0 {
            return;
        }
        let mut begin = self.spec.draw_gap(&mut self.any_time_rng) - BEFORE;
        while begin < 0.0 {
            let length = self.spec.draw_length(&mut self.any_time_rng);
            let rest = length.saturating_sub(SimDuration::from_secs_f64(-begin));
            self.end = self.end.max(SimTime::ZERO + rest);
            begin += self.spec.draw_gap(&mut self.any_time_rng);
        }
        self.any_time = SimTime::ZERO + SimDuration::from_secs_f64(begin);
    }

    fn enter_first_slot(&mut self, age: SimDuration, slot_end: SimTime) {
        let slot = age + (slot_end - SimTime::ZERO);
        let Some(begin) = self.draw_begin(slot) else { return };
        if begin >= age {
            self.at_boundary = SimTime::ZERO + begin.saturating_sub(age);
        } else {
            let length = self.spec.draw_length(&mut self.at_boundary_rng);
            let rest = length.saturating_sub(age.saturating_sub(begin));
            self.end = self.end.max(SimTime::ZERO + rest);
        }
    }

    /// Time from the beginning of a slot of this length to its outage, if it has one.
    fn draw_begin(&mut self, slot: SimDuration) -> Option<SimDuration> {
        let rng = &mut self.at_boundary_rng;
        let occurs = self.spec.at_boundary > 0.0 && rng.bernoulli(self.spec.at_boundary);
        // It begins before the next slot does.
        let last = slot.saturating_sub(SimDuration::from_nanos(1));
        let [earliest, latest] = [self.spec.after_s, self.spec.latest_s()]
            .map(|seconds| SimDuration::from_secs_f64(seconds).min(last));
        occurs.then(|| earliest + (latest - earliest) * rng.unit())
    }

    /// A slot begins at `now`.
    pub fn begin_slot(&mut self, now: SimTime, slot_end: SimTime) {
        self.at_boundary = self.draw_begin(slot_end - now).map_or(SimTime::MAX, |span| now + span);
    }

    /// Begins those that are due up to and including `now`.
    pub fn advance(&mut self, now: SimTime) {
        while self.any_time <= now {
            let length = self.spec.draw_length(&mut self.any_time_rng);
            self.end = self.end.max(self.any_time + length);
            let gap = SimDuration::from_secs_f64(self.spec.draw_gap(&mut self.any_time_rng));
            self.any_time += gap.max(SimDuration::from_nanos(1));
        }
        if self.at_boundary <= now {
            let length = self.spec.draw_length(&mut self.at_boundary_rng);
            self.end = self.end.max(self.at_boundary + length);
            self.at_boundary = SimTime::MAX;
        }
    }

    /// Whether one goes on at `now`.
    pub fn go_on(&self, now: SimTime) -> bool {
        now < self.end
    }

    /// When one begins or ends after `now`.
    pub fn next_change(&self, now: SimTime) -> SimTime {
        let begin = self.any_time.min(self.at_boundary);
        if self.go_on(now) { begin.min(self.end) } else { begin }
    }
}
