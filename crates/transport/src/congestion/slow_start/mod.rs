//! Slow start: how the window grows below the slow-start threshold, and when it leaves slow start early.

mod hystart;
mod hystart_plus_plus;

use leobench_base::{Bytes, SimDuration};

use self::hystart::HyStart;
use self::hystart_plus_plus::HyStartPlusPlus;
use super::{AckEnd, Acked, Sent};

leobench_base::words! {
    /// How a window grows below the slow-start threshold.
    pub enum SlowStartSpec {
        /// By the bytes acknowledged, so that it doubles every round trip, until packets are lost (RFC 9002 section 7.3.1).
        Standard = "standard",
        /// Until round trips lengthen or acknowledgements come in trains as long as the path (Ha and Rhee 2011, as in Linux).
        HyStart = "hystart",
        /// Until round trips lengthen, then more slowly for a trial of a few rounds (RFC 9406).
        HyStartPlusPlus = "hystart++",
    }
}

/// Slow start in motion on one path.
#[derive(Clone, Debug)]
pub(super) enum SlowStart {
    Standard,
    HyStart(HyStart),
    HyStartPlusPlus(HyStartPlusPlus),
}

impl SlowStart {
    /// Slow start with packets of `datagram` bytes, of a sender that paces them or not.
    pub fn new(spec: SlowStartSpec, datagram: Bytes, paced: bool) -> Self {
        match spec {
            SlowStartSpec::Standard => Self::Standard,
            SlowStartSpec::HyStart => Self::HyStart(HyStart::new(datagram, paced)),
            SlowStartSpec::HyStartPlusPlus => {
                Self::HyStartPlusPlus(HyStartPlusPlus::new(datagram, paced))
            }
        }
    }

    /// A packet was sent, in whatever phase.
    pub fn on_sent(&mut self, sent: &Sent) {
        match self {
            Self::Standard => {}
            Self::HyStart(hystart) => hystart.on_sent(sent),
            Self::HyStartPlusPlus(hystart) => hystart.on_sent(sent),
        }
    }

    /// Bytes the window grows by on an acknowledgement.
    pub fn growth(&mut self, acked: &Acked) -> f64 {
        match self {
            Self::Standard => acked.size.get() as f64,
            Self::HyStart(hystart) => hystart.growth(acked),
            Self::HyStartPlusPlus(hystart) => hystart.growth(acked),
        }
    }

    /// Whether slow start is over with an acknowledgement, the window being `window` bytes.
    pub fn ends(&mut self, end: &AckEnd, window: u64) -> bool {
        match self {
            Self::Standard => false,
            Self::HyStart(hystart) => hystart.ends(end, window),
            Self::HyStartPlusPlus(hystart) => hystart.ends(),
        }
    }

    /// Slow start is over, for whatever reason. HyStart++ is for the first one only (RFC 9406 section 4.3).
    pub fn leave(&mut self) {
        match self {
            Self::Standard => {}
            Self::HyStart(hystart) => hystart.leave(),
            Self::HyStartPlusPlus(_) => *self = Self::Standard,
        }
    }

    /// Name of the phase.
    pub fn phase(&self) -> &'static str {
        match self {
            Self::HyStartPlusPlus(hystart) if hystart.is_conservative() => {
                "conservative-slow-start"
            }
            _ => "slow-start",
        }
    }
}

/// How far the round-trip time must rise above `rtt`: an eighth of it, at least 4 ms, at most 16 ms
/// (RFC 9406 section 4.3; `HYSTART_DELAY_THRESH` of Linux).
fn threshold(rtt: SimDuration) -> SimDuration {
    (rtt / 8).clamp(SimDuration::from_millis(4), SimDuration::from_millis(16))
}

/// Samples needed before a round is evaluated (`N_RTT_SAMPLE` of RFC 9406 section 4.3, `HYSTART_MIN_SAMPLES` of Linux).
const SAMPLES: u32 = 8;

#[cfg(test)]
mod tests;
