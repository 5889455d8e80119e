//! Poisson arrivals: one by one, or gathered to the slots of a generator that draws counts.

use leobench_base::spec::Fault;
use leobench_base::{BitRate, Bytes, Phase, RngTree, SimDuration, SimRng};

use super::{
    NANOSECOND, SourceModel, TrafficSource, check_rate, check_size, exponential, messages,
};

leobench_base::spec! {
    /// Messages of one size at exponential intervals.
    pub struct PoissonSpec
        example = r#"{"rate": "10 Mbps", "size": "1252 B"}"#
        check = SourceModel::check
    {
        /// Mean rate of message bytes.
        pub rate: BitRate,
        /// Bytes per message.
        pub size: Bytes,
    }
}

leobench_base::words! {
    /// The clock of a generator.
    pub enum Clock {
        /// A timer: slots that begin while a call blocks are written when it returns.
        Timer = "timer",
        /// A sleep between calls: the next slot begins that much later.
        Sleep = "sleep",
    }
}

leobench_base::spec! {
    /// A Poisson-distributed number of messages at the start of every slot.
    ///
    /// The generator of Khan et al. 2023: it draws a count every 50 ms, so messages arrive in batches and wait longer
    /// than single arrivals would.
    pub struct PoissonBatchSpec
        example = r#"{"rate": "10 Mbps", "size": "1252 B"}"#
        check = SourceModel::check
    {
        /// Mean rate of message bytes.
        pub rate: BitRate,
        /// Bytes per message.
        pub size: Bytes,
        /// Length of a slot.
        pub slot: SimDuration = SimDuration::from_millis(50),
        /// Start of the first slot after the start of the flow: a time below `slot`, or `"random"`. By default the
        /// slots of all streams begin at the same nanosecond.
        pub offset: Phase = Phase::ZERO,
        /// The effect of blocking calls on the slots; buffered applications have no such calls.
        pub clock: Clock = Clock::Timer,
    }
}

impl SourceModel for PoissonSpec {
    fn build(&self, rng: &RngTree) -> Box<dyn TrafficSource> {
        let spec = (self.rate, self.size, NANOSECOND);
        Box::new(Poisson::new(spec, SimDuration::ZERO, false, rng))
    }

    fn offered_bps(&self) -> Option<f64> {
        Some(self.rate.bps() as f64)
    }

    fn messages_in(&self, span: SimDuration) -> f64 {
        messages(self.rate, self.size, span)
    }

    fn messages_at_once(&self) -> f64 {
        messages(self.rate, self.size, NANOSECOND).max(1.0)
    }

    fn check(&self) -> Result<(), Fault> {
        check_rate(self.rate)?;
        check_size(self.size)
    }

    fn is_random(&self) -> bool {
        true
    }
}

impl SourceModel for PoissonBatchSpec {
    fn build(&self, rng: &RngTree) -> Box<dyn TrafficSource> {
        let offset = self.offset.within(self.slot, &rng.child("offset"));
        let spec = (self.rate, self.size, self.slot);
        Box::new(Poisson::new(spec, offset, self.clock == Clock::Timer, rng))
    }

    fn offered_bps(&self) -> Option<f64> {
        Some(self.rate.bps() as f64)
    }

    /// Slots are produced whole, at their starts.
    fn messages_in(&self, span: SimDuration) -> f64 {
        let slots = span.as_nanos().div_ceil(self.slot.as_nanos());
        messages(self.rate, self.size, self.slot) * slots as f64
    }

    fn messages_at_once(&self) -> f64 {
        messages(self.rate, self.size, self.slot).max(1.0)
    }

    fn check(&self) -> Result<(), Fault> {
        check_rate(self.rate)?;
        check_size(self.size)?;
        if self.slot.is_zero() {
            return Err(Fault::new("slot", "is zero", "a time above zero"));
        }
        match self.offset {
            Phase::Fixed(offset) if offset >= self.slot => {
                let allowed = format!("a time below the slot, {}, or \"random\"", self.slot);
                Err(Fault::new("offset", "is not within a slot", allowed))
            }
            Phase::Fixed(_) | Phase::Random => Ok(()),
        }
    }

    fn is_random(&self) -> bool {
        true
    }
}

/// A Poisson process whose arrivals are dated back to the start of their slot. The counts per slot are then
/// independent and Poisson, which is what drawing them slot by slot would give; at slots of a nanosecond, the clock's
/// own, the process is itself.
struct Poisson {
    size: Bytes,
    slot: u64,
    /// When the first slot begins, in nanoseconds.
    offset: u64,
    keeps_time: bool,
    mean_gap: f64,
    rng: SimRng,
    /// Time of the next arrival in nanoseconds, its fraction apart: a long run must not lose it.
    at: u64,
    fraction: f64,
}

impl Poisson {
    fn new(
        (rate, size, slot): (BitRate, Bytes, SimDuration),
        offset: SimDuration,
        keeps_time: bool,
        rng: &RngTree,
    ) -> Self {
        let mut source = Self {
            size,
            slot: slot.as_nanos(),
            offset: offset.as_nanos(),
            keeps_time,
            mean_gap: size.bits() as f64 * 1e9 / rate.bps() as f64,
            rng: rng.rng(),
            at: 0,
            fraction: 0.0,
        };
        source.advance();
        source
    }

    fn advance(&mut self) {
        self.fraction += exponential(&mut self.rng, self.mean_gap);
        let whole = self.fraction as u64;
        self.at = self.at.saturating_add(whole);
        self.fraction -= whole as f64;
    }
}

impl TrafficSource for Poisson {
    fn next(&self) -> Option<SimDuration> {
        let start = self.at - self.at % self.slot;
        (self.at < u64::MAX).then_some(SimDuration::from_nanos(start.saturating_add(self.offset)))
    }

    fn keeps_time(&self) -> bool {
        self.keeps_time
    }

    fn produce(&mut self) -> Option<Bytes> {
        self.next()?;
        self.advance();
        Some(self.size)
    }
}
