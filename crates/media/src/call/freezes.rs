//! Freezes of a picture (W3C, Identifiers for WebRTC's Statistics API, `freezeCount` and `totalFreezesDuration`).

use std::collections::VecDeque;

use leobench_base::{SimDuration, SimTime};

/// Frames over whose durations the average is taken ("the last 30 rendered frames").
const AVERAGE_OF: usize = 30;
/// An interval is a freeze if it is at least this many average durations, and at least the average and this time.
const FACTOR: f64 = 3.0;
const EXCESS: SimDuration = SimDuration::from_millis(150);

/// Intervals between rendered frames, and which of them are freezes.
///
/// An interval is a freeze if it is at least max(3 δ, δ + 150 ms), where δ is the average duration of the last 30 frames. The
/// whole interval counts as frozen. Until 30 frames are rendered, the camera's frame interval stands for the missing ones, so that
/// the few frames of a call over a terrible path do not make its freezes the average.
#[derive(Clone, Debug)]
pub struct Freezes {
    last: Option<SimTime>,
    durations: VecDeque<SimDuration>,
    count: u64,
    total: SimDuration,
    longest: SimDuration,
}

impl Freezes {
    /// No freezes yet, of a camera with this time between two frames.
    pub fn new(frame_interval: SimDuration) -> Self {
        Self {
            last: None,
            durations: VecDeque::from([frame_interval; AVERAGE_OF]),
            count: 0,
            total: SimDuration::ZERO,
            longest: SimDuration::ZERO,
        }
    }

    /// A frame is rendered at `now`, or the call ends.
    pub fn on_frame(&mut self, now: SimTime) {
        let Some(last) = self.last.replace(now) else { return };
        let interval = now.saturating_since(last);
        let average = self.durations.iter().copied().sum::<SimDuration>() / AVERAGE_OF as u64;
        if interval >= (average * FACTOR).max(average + EXCESS) {
            self.count += 1;
            self.total += interval;
            self.longest = self.longest.max(interval);
        }
        self.durations.pop_front();
        self.durations.push_back(interval);
    }

    /// The number of freezes.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their length in all.
    pub fn total(&self) -> SimDuration {
        self.total
    }

    /// The longest.
    pub fn longest(&self) -> SimDuration {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> SimTime {
        SimTime::from_nanos(ms * 1_000_000)
    }

    /// Frames of 40 ms: 3 x 40 = 120 ms is less than 40 + 150 = 190 ms, so an interval of 189 ms is none, and one of 190 ms is.
    /// The first one enters the average: (29 x 40 + 189) / 30 = 44.967 ms, and then 194.967 ms is the limit.
    #[test]
    fn short_frames_freeze_by_150_ms_more() {
        let mut freezes = Freezes::new(SimDuration::from_millis(40));
        for frame in 0..=30 {
            freezes.on_frame(at(40 * frame));
        }
        let mut one_more = freezes.clone();
        freezes.on_frame(at(1_200 + 189));
        assert_eq!(freezes.count(), 0);
        freezes.on_frame(at(1_389 + 194));
        assert_eq!(freezes.count(), 0);
        one_more.on_frame(at(1_200 + 190));
        assert_eq!((one_more.count(), one_more.total()), (1, SimDuration::from_millis(190)));
    }

    /// Frames of 100 ms: 3 x 100 ms is more than 250 ms.
    #[test]
    fn long_frames_freeze_by_their_triple() {
        for (interval, count) in [(299, 0), (300, 1)] {
            let mut freezes = Freezes::new(SimDuration::from_millis(100));
            for frame in 0..=5 {
                freezes.on_frame(at(100 * frame));
            }
            freezes.on_frame(at(500 + interval));
            assert_eq!(freezes.count(), count, "{interval} ms");
        }
    }

    /// Before the first frame, nothing has frozen. After it, 40 ms stand for the 30 frames that are missing: an interval of 10 s is a
    /// freeze, (29 x 40 ms + 10 s) / 30 = 372 ms is the average then, and a second of 1,117 ms is one as well.
    #[test]
    fn rare_frames_freeze() {
        let mut freezes = Freezes::new(SimDuration::from_millis(40));
        freezes.on_frame(at(5_000));
        assert_eq!(freezes.count(), 0);
        freezes.on_frame(at(15_000));
        assert_eq!((freezes.count(), freezes.total()), (1, SimDuration::from_secs(10)));
        let mut shorter = freezes.clone();
        freezes.on_frame(at(15_000 + 1_117));
        assert_eq!((freezes.count(), freezes.longest()), (2, SimDuration::from_secs(10)));
        shorter.on_frame(at(15_000 + 1_115));
        assert_eq!(shorter.count(), 1);
    }
}
