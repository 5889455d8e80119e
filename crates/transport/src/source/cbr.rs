//! Messages at a constant rate.

use leobench_base::spec::Fault;
use leobench_base::{BitRate, Bytes, RngTree, SimDuration};

use super::{NANOSECOND, SourceModel, TrafficSource, check_rate, check_size, messages};

leobench_base::spec! {
    /// Messages of one size at a constant bit rate, the first at the start.
    pub struct CbrSpec
        example = r#"{"rate": "7 Mbps", "size": "1252 B"}"#
        check = SourceModel::check
    {
        /// Rate of message bytes.
        pub rate: BitRate,
        /// Bytes per message.
        pub size: Bytes,
        /// Time of the first message after the start of the flow.
        pub offset: SimDuration = SimDuration::ZERO,
    }
}

impl SourceModel for CbrSpec {
    fn build(&self, _rng: &RngTree) -> Box<dyn TrafficSource> {
        Box::new(Cbr { offset: self.offset, beat: Beat::new(self.rate, self.size) })
    }

    fn offered_bps(&self) -> Option<f64> {
        Some(self.rate.bps() as f64)
    }

    fn messages_in(&self, span: SimDuration) -> f64 {
        1.0 + messages(self.rate, self.size, span.saturating_sub(self.offset))
    }

    fn messages_at_once(&self) -> f64 {
        messages(self.rate, self.size, NANOSECOND).max(1.0)
    }

    fn check(&self) -> Result<(), Fault> {
        check_rate(self.rate)?;
        check_size(self.size)
    }
}

struct Cbr {
    offset: SimDuration,
    beat: Beat,
}

impl TrafficSource for Cbr {
    fn next(&self) -> Option<SimDuration> {
        Some(self.offset + self.beat.at()).filter(|due| *due < SimDuration::MAX)
    }

    fn produce(&mut self) -> Option<Bytes> {
        self.next()?;
        self.beat.advance();
        Some(self.beat.size())
    }
}

/// The times at which messages follow each other at a rate: the k-th at floor(k · size / rate), without drift.
pub(super) struct Beat {
    rate: BitRate,
    size: Bytes,
    at: SimDuration,
    carry: u64,
}

impl Beat {
    pub fn new(rate: BitRate, size: Bytes) -> Self {
        Self { rate, size, at: SimDuration::ZERO, carry: 0 }
    }

    pub fn at(&self) -> SimDuration {
        self.at
    }

    pub fn size(&self) -> Bytes {
        self.size
    }

    pub fn advance(&mut self) {
        let (gap, carry) =
            self.rate.serialise(self.size, self.carry).unwrap_or((SimDuration::MAX, 0));
        self.at += gap;
        self.carry = carry;
    }
}
