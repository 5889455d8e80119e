//! A constant rate that comes and goes.

use leobench_base::spec::Fault;
use leobench_base::{BitRate, Bytes, RngTree, SimDuration, SimRng};

use super::cbr::Beat;
use super::{NANOSECOND, SourceModel, TrafficSource, check_rate, check_size, messages};

leobench_base::spec! {
    /// Messages at a constant rate in on-times and none in off-times; both are exponential.
    ///
    /// It starts in its stationary state. An off-time suspends the message clock, so the rate over all on-times is
    /// exact.
    pub struct OnOffSpec
        example = r#"{"rate": "10 Mbps", "size": "1252 B", "on": "200 ms", "off": "300 ms"}"#
        check = SourceModel::check
    {
        /// Rate of message bytes while on.
        pub rate: BitRate,
        /// Bytes per message.
        pub size: Bytes,
        /// Mean on-time.
        pub on: SimDuration,
        /// Mean off-time.
        pub off: SimDuration,
    }
}

/// Most mean on-times between two messages, each of which is drawn.
const MAX_ON_TIMES: f64 = 1e6;

impl OnOffSpec {
    fn duty_cycle(&self) -> f64 {
        self.on.as_secs_f64() / (self.on.as_secs_f64() + self.off.as_secs_f64())
    }
}

impl SourceModel for OnOffSpec {
    fn build(&self, rng: &RngTree) -> Box<dyn TrafficSource> {
        Box::new(OnOff::new(self, rng.rng()))
    }

    /// The long-run mean.
    fn offered_bps(&self) -> Option<f64> {
        Some(self.rate.bps() as f64 * self.duty_cycle())
    }

    fn messages_in(&self, span: SimDuration) -> f64 {
        1.0 + messages(self.rate, self.size, span) * self.duty_cycle()
    }

    fn messages_at_once(&self) -> f64 {
        messages(self.rate, self.size, NANOSECOND).max(1.0)
    }

    fn check(&self) -> Result<(), Fault> {
        check_rate(self.rate)?;
        check_size(self.size)?;
        for (field, mean) in [("on", self.on), ("off", self.off)] {
            if mean.is_zero() {
                return Err(Fault::new(field, "is zero", "a time above zero"));
            }
        }
        let on_times = self.size.bits() as f64 / (self.rate.bps() as f64 * self.on.as_secs_f64());
        if on_times > MAX_ON_TIMES {
            let problem = format!("takes {on_times:.1e} mean on-times per message");
            return Err(Fault::new("rate", problem, "at most a million mean on-times per message"));
        }
        Ok(())
    }

    fn is_random(&self) -> bool {
        true
    }
}

struct OnOff {
    on: SimDuration,
    off: SimDuration,
    rng: SimRng,
    /// Message times on a clock that runs in on-times only.
    beat: Beat,
    /// That clock at the end of the present on-time.
    on_until: SimDuration,
    /// The sum of the off-times before it.
    off_so_far: SimDuration,
}

impl OnOff {
    fn new(spec: &OnOffSpec, mut rng: SimRng) -> Self {
        let starts_on = rng.bernoulli(spec.duty_cycle());
        let off_so_far = if starts_on { SimDuration::ZERO } else { rng.exponential(spec.off) };
        let on_until = rng.exponential(spec.on);
        let beat = Beat::new(spec.rate, spec.size);
        let mut source = Self { on: spec.on, off: spec.off, rng, beat, on_until, off_so_far };
        source.skip_off_times();
        source
    }

    fn skip_off_times(&mut self) {
        while self.beat.at() >= self.on_until {
            self.off_so_far += self.rng.exponential(self.off);
            self.on_until += self.rng.exponential(self.on);
        }
    }
}

impl TrafficSource for OnOff {
    fn next(&self) -> Option<SimDuration> {
        Some(self.off_so_far + self.beat.at()).filter(|due| *due < SimDuration::MAX)
    }

    fn produce(&mut self) -> Option<Bytes> {
        self.next()?;
        self.beat.advance();
        self.skip_off_times();
        Some(self.beat.size())
    }
}
