//! Bytes that a flow delivers per step of time.

use leobench_base::{Bytes, SimDuration, SimTime};

/// Bytes delivered to the application, by steps of time from the start of the run: 16 bytes of memory for every step in
/// which something was, and none for the others, however long they last.
#[derive(Clone, Debug)]
pub(crate) struct Deliveries {
    step: SimDuration,
    /// When the last step ends, and what was delivered in it.
    end: SimTime,
    last: Bytes,
    /// Numbers of steps, in order, and what was delivered in each; nothing yet in the last.
    steps: Vec<(u64, Bytes)>,
}

impl Deliveries {
    pub(crate) fn new(step: SimDuration) -> Self {
        assert!(!step.is_zero(), "a step takes time");
        Self { step, end: SimTime::ZERO, last: Bytes::ZERO, steps: Vec::new() }
    }

    /// Bytes arrived at `now`, no earlier than those before.
    pub(crate) fn add(&mut self, now: SimTime, bytes: Bytes) {
        if bytes.is_zero() {
            return;
        }
        if now >= self.end {
            if let Some((_, last)) = self.steps.last_mut() {
                *last = std::mem::take(&mut self.last);
            }
            let step = now.as_nanos() / self.step.as_nanos();
            self.steps.push((step, Bytes::ZERO));
            self.end = SimTime::from_nanos((step + 1).saturating_mul(self.step.as_nanos()));
        }
        self.last += bytes;
    }

    /// Length of a step.
    pub(crate) fn step(&self) -> SimDuration {
        self.step
    }

    /// Bytes that arrived from one step until before another.
    pub(crate) fn bytes(&self, from: usize, to: usize) -> Bytes {
        let before = |step: usize| self.steps.partition_point(|(number, _)| *number < step as u64);
        let first = before(from);
        let steps = self.steps[first..].iter().take_while(|(number, _)| *number < to as u64);
        let last = self.steps.last().filter(|(last, _)| (from..to).contains(&(*last as usize)));
        steps.map(|(_, bytes)| *bytes).sum::<Bytes>() + last.map_or(Bytes::ZERO, |_| self.last)
    }

    /// Memory it takes.
    pub(crate) fn memory(&self) -> Bytes {
        Bytes::new((self.steps.capacity() * size_of::<(u64, Bytes)>()) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> SimTime {
        SimTime::from_nanos(nanos)
    }

    #[test]
    fn bytes_are_counted_in_the_step_they_arrive_in() {
        let mut deliveries = Deliveries::new(SimDuration::from_nanos(10));
        for (nanos, bytes) in [(0, 1), (9, 2), (10, 4), (34, 8), (35, 16), (60, 0)] {
            deliveries.add(at(nanos), Bytes::new(bytes));
        }
        let seen: Vec<_> = (0..6).map(|step| deliveries.bytes(step, step + 1).get()).collect();
        assert_eq!(seen, [3, 4, 0, 24, 0, 0]);
        let spans = [(0, 6), (1, 3), (2, 2), (1, 4), (4, 9)];
        assert_eq!(spans.map(|(from, to)| deliveries.bytes(from, to).get()), [31, 4, 0, 28, 0]);
    }

    #[test]
    fn a_long_silence_takes_no_memory() {
        let mut deliveries = Deliveries::new(SimDuration::from_nanos(10));
        for nanos in [5, u64::MAX - 1, u64::MAX] {
            deliveries.add(at(nanos), Bytes::new(1));
        }
        assert!(deliveries.memory() <= Bytes::new(64), "{}", deliveries.memory());
        assert_eq!(deliveries.bytes(0, usize::MAX).get(), 3);
    }
}
