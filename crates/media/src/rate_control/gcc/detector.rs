//! The overuse detector and its adaptive threshold (section 5.4 of the draft).

use leobench_base::SimTime;

/// The threshold at the start in milliseconds (`del_var_th(0)`).
const FIRST_THRESHOLD_MS: f64 = 12.5;
/// Limits of the threshold in milliseconds (section 5.4).
const LEAST_MS: f64 = 6.0;
const MOST_MS: f64 = 600.0;
/// An estimate further than this above the threshold does not move it, in milliseconds (section 5.4).
const OUTLIER_MS: f64 = 15.0;
/// Gains of the threshold per millisecond, up and down. The draft has 0.01 and 0.00018 for its Kalman filter; these are
/// libwebrtc's for the trendline (`kUp`, `kDown`).
const UP: f64 = 0.0087;
const DOWN: f64 = 0.039;
/// Longest time between two changes of the threshold that counts, in milliseconds (libwebrtc, `kMaxTimeDeltaMs`).
const LONGEST_STEP_MS: f64 = 100.0;
/// Overuse must last for more than this, in milliseconds (`overuse_time_th`).
const OVERUSE_MS: f64 = 10.0;

/// How the path is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Usage {
    /// A queue drains.
    Under,
    #[default]
    Normal,
    /// A queue builds up.
    Over,
}

#[derive(Debug)]
pub(super) struct Detector {
    threshold_ms: f64,
    changed: Option<SimTime>,
    usage: Usage,
    /// How long the estimate has been above the threshold in milliseconds, and over how many groups.
    above: Option<(f64, u32)>,
    previous: f64,
}

impl Default for Detector {
    fn default() -> Self {
        Self {
            threshold_ms: FIRST_THRESHOLD_MS,
            changed: None,
            usage: Usage::Normal,
            above: None,
            previous: 0.0,
        }
    }
}

impl Detector {
    /// The last verdict.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Compares an estimate with the threshold, and adapts the threshold. `sent_ms` is the time between the groups.
    pub fn update(&mut self, estimate_ms: f64, sent_ms: f64, now: SimTime) -> Usage {
        if estimate_ms > self.threshold_ms {
            // Half of the time before the first group above counts, as libwebrtc has it.
            let (time, count) = match self.above {
                None => (sent_ms / 2.0, 1),
                Some((time, count)) => (time + sent_ms, count + 1),
            };
            self.above = Some((time, count));
            if time > OVERUSE_MS && count > 1 && estimate_ms >= self.previous {
                self.above = Some((0.0, 0));
                self.usage = Usage::Over;
            }
        } else {
            self.above = None;
            let is_under = estimate_ms < -self.threshold_ms;
            self.usage = if is_under { Usage::Under } else { Usage::Normal };
        }
        self.previous = estimate_ms;
        self.adapt(estimate_ms.abs(), now);
        self.usage
    }

    fn adapt(&mut self, size_ms: f64, now: SimTime) {
        let changed = self.changed.replace(now).unwrap_or(now);
        if size_ms > self.threshold_ms + OUTLIER_MS {
            return;
        }
        let gain = if size_ms < self.threshold_ms { DOWN } else { UP };
        let step = now.saturating_since(changed).as_millis_f64().min(LONGEST_STEP_MS);
        let moved = self.threshold_ms + gain * (size_ms - self.threshold_ms) * step;
        self.threshold_ms = moved.clamp(LEAST_MS, MOST_MS);
    }

    #[cfg(test)]
    pub fn threshold_ms(&self) -> f64 {
        self.threshold_ms
    }
}
