//! Policer detection: two lossy intervals of similar throughput indicate a token bucket. BBR then paces at its rate for a
//! while (`bbr_lt_bw_sampling` of Linux).

use leobench_base::{SimDuration, SimTime};

use super::super::delivery_rate::DeliveryRate;
use super::super::rate::RateSample;

/// Round trips an interval lasts at least (`bbr_lt_intvl_min_rtts`); four times as many at most.
const SHORTEST: u32 = 4;
const LONGEST: u32 = 4 * SHORTEST;
/// Bytes lost for a byte delivered that make an interval lossy (`bbr_lt_loss_thresh`: 50 in 256).
const LOSS: f64 = 50.0 / 256.0;
/// Two rates are consistent if they differ by an eighth (`bbr_lt_bw_ratio`) or 4 kbit/s (`bbr_lt_bw_diff`).
const RATIO: f64 = 0.125;
const DIFFERENCE: DeliveryRate = DeliveryRate::from_bps(4_000.0);
/// Shortest interval whose throughput is trusted (a millisecond in `bbr_lt_bw_interval_done`).
const SHORTEST_SPAN: SimDuration = SimDuration::from_millis(1);
/// Round trips for which the rate is used (`bbr_lt_bw_max_rtts`).
const ROUNDS: u32 = 48;

#[derive(Clone, Debug, Default)]
pub(super) struct Policer {
    /// Throughput of the last lossy interval.
    last_rate: Option<DeliveryRate>,
    in_use: bool,
    sampling: Option<Interval>,
    rounds: u32,
}

/// The totals at the start of an interval.
#[derive(Clone, Copy, Debug)]
struct Interval {
    start: SimTime,
    delivered: u64,
    lost: u64,
}

impl Policer {
    /// The rate of the policer, if there is one.
    pub fn rate(&self) -> Option<DeliveryRate> {
        self.last_rate.filter(|_| self.in_use)
    }

    /// Takes a sample, and the total bytes delivered and lost. Returns whether the rate has been used long enough, so that
    /// the cycle of gains restarts.
    pub fn on_sample(
        &mut self,
        sample: &RateSample,
        totals: (u64, u64),
        round_start: bool,
        probing: bool,
    ) -> bool {
        if self.in_use {
            self.rounds += u32::from(probing && round_start);
            let over = self.rounds >= ROUNDS;
            if over {
                *self = Self::default();
            }
            return over;
        }
        let now = Interval { start: sample.now, delivered: totals.0, lost: totals.1 };
        let lossy = sample.newly_lost > 0;
        let Some(interval) = self.sampling else {
            // The first loss: the bucket is empty.
            if lossy {
                self.begin(now);
            }
            return false;
        };
        self.rounds += u32::from(round_start);
        if sample.app_limited || self.rounds > LONGEST {
            *self = Self::default();
        } else if lossy && self.rounds >= SHORTEST {
            self.end(interval, now);
        }
        false
    }

    fn begin(&mut self, now: Interval) {
        self.sampling = Some(now);
        self.rounds = 0;
    }

    fn end(&mut self, interval: Interval, now: Interval) {
        let delivered = (now.delivered - interval.delivered) as f64;
        let lost = (now.lost - interval.lost) as f64;
        let span = now.start.saturating_since(interval.start);
        if delivered <= 0.0 || lost < LOSS * delivered || span < SHORTEST_SPAN {
            return;
        }
        let rate = DeliveryRate::over(delivered, span);
        if let Some(last) = self.last_rate {
            let difference = rate.abs_diff(last);
            if difference <= last * RATIO || difference <= DIFFERENCE {
                self.last_rate = Some(rate.midpoint(last));
                self.in_use = true;
                self.rounds = 0;
                return;
            }
        }
        self.last_rate = Some(rate);
        self.begin(now);
    }
}
