//! The rule by which a player abandons a download (`AbandonRequestsRule` of dash.js 5.2).

use leobench_base::{Bytes, SimDuration, SimTime};

use crate::adaptation::below;

/// How often a player looks at a download: as often as browsers tell of its progress (`XMLHttpRequest`, section 3.5.6).
const EVERY: SimDuration = SimDuration::from_millis(50);
/// Looks before a throughput is known (`minThroughputSamplesThreshold`).
const LOOKS: u32 = 6;
/// Time since the first bytes, likewise (`minSegmentDownloadTimeThresholdInMs`).
const LEAST: SimDuration = SimDuration::from_millis(500);
/// Time that a whole download may take, in lengths of the segment (`abandonDurationMultiplier`).
const MOST_LENGTHS: f64 = 1.8;

/// The progress of the present download, and what was abandoned before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Abandonment {
    /// When the first bytes had arrived, and how many; the throughput leaves them out, as they wait for the request.
    first: Option<(SimTime, Bytes)>,
    looks: u32,
    /// The time of the last look.
    looked: SimTime,
    /// The last that was abandoned: when, and the number of the segment.
    last: Option<(SimTime, u64)>,
}

impl Abandonment {
    /// Another download begins.
    pub(super) fn begin(&mut self) {
        *self = Self { last: self.last, ..Self::default() };
    }

    /// When the last download was abandoned, if one was.
    pub(super) fn last(&self) -> Option<SimTime> {
        self.last.map(|(at, _)| at)
    }

    /// Whether the last one that was abandoned was of the segment of this number: none is abandoned twice.
    pub(super) fn is_done(&self, number: u64) -> bool {
        self.last.is_some_and(|(_, abandoned)| abandoned == number)
    }

    /// The download of a segment is abandoned.
    pub(super) fn abandon(&mut self, now: SimTime, number: u64) {
        self.last = Some((now, number));
    }

    /// So many bytes have arrived; the throughput of the download in bit/s, once it is known at a look.
    pub(super) fn on_progress(&mut self, now: SimTime, arrived: Bytes) -> Option<f64> {
        let Some((first, bytes)) = self.first else {
            (self.first, self.looks, self.looked) = (Some((now, arrived)), 1, now);
            return None;
        };
        if now < self.looked + EVERY {
            return None;
        }
        (self.looks, self.looked) = (self.looks + 1, now);
        let time = now.saturating_since(first);
        let is_known = self.looks >= LOOKS && time > LEAST;
        is_known.then(|| arrived.saturating_sub(bytes).bits() as f64 / time.as_secs_f64())
    }
}

/// The bitrate to abandon a download for, if it pays: at this throughput all of it takes too long, and what is left of it is more than
/// the whole segment in the highest bitrate that the throughput carries.
pub(super) fn lower_bitrate(
    ladder: &[f64],
    (rung, bytes, arrived): (usize, Bytes, Bytes),
    throughput: f64,
    length: SimDuration,
) -> Option<usize> {
    if (bytes.bits() as f64) < throughput * MOST_LENGTHS * length.as_secs_f64() {
        return None;
    }
    let lower = below(ladder, throughput);
    let whole = bytes.get() as f64 * ladder[lower] / ladder[rung];
    (bytes.saturating_sub(arrived).get() as f64 > whole).then_some(lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LADDER: [f64; 3] = [1e6, 2e6, 4e6];

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + SimDuration::from_millis(ms)
    }

    /// Bytes arrive at 1.5 Mbit/s from 100 ms on, 50,000 of them at once.
    fn known(until_ms: u64, every_ms: u64) -> Option<u64> {
        let mut download = Abandonment::default();
        let mut known = None;
        for ms in (100..=until_ms).step_by(every_ms as usize) {
            let arrived = Bytes::new(50_000 + 1_500_000 / 8 * (ms - 100) / 1_000);
            known = download.on_progress(at(ms), arrived);
        }
        known.map(|bps: f64| bps.round() as u64)
    }

    #[test]
    fn the_throughput_is_known_half_a_second_after_the_first_bytes() {
        assert_eq!(known(600, 50), None);
        assert_eq!(known(650, 50), Some(1_500_000), "without the first bytes");
        assert_eq!(known(660, 140), None, "after five looks");
        assert_eq!(known(800, 140), Some(1_500_000), "after six");
    }

    #[test]
    fn bytes_in_between_are_not_looked_at() {
        assert_eq!(known(700, 20), Some(1_500_000), "60 ms after a look");
        assert_eq!(known(680, 20), None, "40 ms after it");
    }

    /// Of 4 s in 4 Mbit/s, 16 Mbit take 7.2 s or less from 2.22 Mbit/s on. At 2.1 Mbit/s, 8 Mbit are the most that the carried bitrate
    /// takes.
    #[test]
    fn a_download_is_abandoned_if_it_takes_long_and_a_lower_one_is_shorter() {
        let bytes = Bytes::new(2_000_000);
        let lower = |throughput, arrived| {
            let download = (2, bytes, Bytes::new(arrived));
            lower_bitrate(&LADDER, download, throughput, SimDuration::from_secs(4))
        };
        assert_eq!(lower(2.3e6, 200_000), None, "it takes 7.0 s");
        assert_eq!(lower(2.1e6, 200_000), Some(1));
        assert_eq!(lower(2.1e6, 999_999), Some(1), "1,000,001 bytes are left, of 1,000,000");
        assert_eq!(lower(2.1e6, 1_000_000), None, "1,000,000 bytes are left");
        assert_eq!(lower(0.5e6, 1_000_000), Some(0), "1,000,000 bytes are left, of 500,000");
    }
}
