//! What a flow delivered in every step of time.

use leobench_base::{SimDuration, SimTime};

/// Bytes delivered to the application, by steps of time from the start of the run: eight bytes of memory per step.
#[derive(Clone, Debug)]
pub(crate) struct Deliveries {
    step: SimDuration,
    /// By step; shorter than the run if nothing came in its last steps.
    bytes: Vec<u64>,
    /// When the last of them ends.
    end: SimTime,
}

impl Deliveries {
    pub(super) fn new(step: SimDuration) -> Self {
        assert!(!step.is_zero(), "a step takes time");
        Self { step, bytes: Vec::new(), end: SimTime::ZERO }
    }

    /// Bytes arrived at `now`, no earlier than those before.
    pub(super) fn add(&mut self, now: SimTime, bytes: u64) {
        if bytes == 0 {
            return;
        }
        if now >= self.end {
            let step = now.as_nanos() / self.step.as_nanos();
            self.bytes.resize(step as usize + 1, 0);
            self.end = SimTime::from_nanos((step + 1) * self.step.as_nanos());
        }
        if let Some(last) = self.bytes.last_mut() {
            *last += bytes;
        }
    }

    /// Length of a step.
    pub(crate) fn step(&self) -> SimDuration {
        self.step
    }

    /// Bytes that arrived in a step.
    pub(crate) fn bytes(&self, step: usize) -> u64 {
        self.bytes.get(step).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_in_the_step_they_arrive_in() {
        let mut deliveries = Deliveries::new(SimDuration::from_nanos(10));
        for (nanos, bytes) in [(0, 1), (9, 2), (10, 4), (34, 8), (35, 16), (60, 0)] {
            deliveries.add(SimTime::from_nanos(nanos), bytes);
        }
        let seen: Vec<_> = (0..6).map(|step| deliveries.bytes(step)).collect();
        assert_eq!(seen, [3, 4, 0, 24, 0, 0]);
    }
}
