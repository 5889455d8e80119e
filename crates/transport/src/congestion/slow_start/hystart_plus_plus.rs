//! HyStart++ (RFC 9406).

use leobench_base::{Bytes, SimDuration};

use super::super::round::RoundCounter;
use super::super::{Acked, Sent};
use super::{SAMPLES, threshold};

/// By how much slower than slow start its conservative form is (`CSS_GROWTH_DIVISOR`, RFC 9406 section 4.3).
const CONSERVATIVE_DIVISOR: f64 = 4.0;
/// Rounds of conservative slow start (`CSS_ROUNDS`, RFC 9406 section 4.3).
const CONSERVATIVE_ROUNDS: u32 = 5;
/// Packets an acknowledgement may open the window by where the sender does not pace (L, RFC 9406 section 4.3).
const BURST_LIMIT: u64 = 8;

#[derive(Clone, Debug)]
pub(in super::super) struct HyStartPlusPlus {
    /// Bytes an acknowledgement may open the window by.
    limit: u64,
    rounds: RoundCounter,
    /// The acknowledgement being reported: bytes, shortest round-trip time, whether it begins a round.
    bytes: u64,
    rtt: Option<SimDuration>,
    new_round: bool,
    /// `lastRoundMinRTT`, `currentRoundMinRTT`, `rttSampleCount`.
    last_rtt: SimDuration,
    round_rtt: SimDuration,
    samples: u32,
    conservative: Option<Conservative>,
}

/// Conservative slow start.
#[derive(Clone, Debug)]
struct Conservative {
    /// `cssBaselineMinRtt`.
    baseline: SimDuration,
    /// Rounds completed, that in which it began included.
    rounds: u32,
}

impl HyStartPlusPlus {
    pub fn new(datagram: Bytes, paced: bool) -> Self {
        Self {
            limit: if paced { u64::MAX } else { BURST_LIMIT * datagram.get() },
            rounds: RoundCounter::default(),
            bytes: 0,
            rtt: None,
            new_round: false,
            last_rtt: SimDuration::MAX,
            round_rtt: SimDuration::MAX,
            samples: 0,
            conservative: None,
        }
    }

    pub fn is_conservative(&self) -> bool {
        self.conservative.is_some()
    }

    pub fn on_sent(&mut self, sent: &Sent) {
        self.rounds.on_sent(sent.packet_number);
    }

    pub fn growth(&mut self, acked: &Acked) -> f64 {
        self.new_round |= self.rounds.begins(acked.packet_number);
        self.rtt = Some(self.rtt.map_or(acked.rtt.latest, |rtt| rtt.min(acked.rtt.latest)));
        let growth = acked.size.get().min(self.limit - self.bytes);
        self.bytes += growth;
        let divisor = if self.is_conservative() { CONSERVATIVE_DIVISOR } else { 1.0 };
        growth as f64 / divisor
    }

    /// RFC 9406 section 4.2.
    pub fn ends(&mut self) -> bool {
        self.bytes = 0;
        let Some(rtt) = self.rtt.take() else { return false };
        if std::mem::take(&mut self.new_round) {
            self.last_rtt = std::mem::replace(&mut self.round_rtt, SimDuration::MAX);
            self.samples = 0;
            if let Some(conservative) = &mut self.conservative {
                conservative.rounds += 1;
                if conservative.rounds >= CONSERVATIVE_ROUNDS {
                    return true;
                }
            }
        }
        self.round_rtt = self.round_rtt.min(rtt);
        self.samples += 1;
        if self.samples >= SAMPLES {
            self.judge();
        }
        false
    }

    fn judge(&mut self) {
        match &self.conservative {
            Some(conservative) => {
                if self.round_rtt < conservative.baseline {
                    self.conservative = None;
                }
            }
            None => {
                if self.last_rtt != SimDuration::MAX
                    && self.round_rtt >= self.last_rtt + threshold(self.last_rtt)
                {
                    self.conservative = Some(Conservative { baseline: self.round_rtt, rounds: 0 });
                }
            }
        }
    }
}
