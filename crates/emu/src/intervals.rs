//! Spans of a run's time.

use leobench_base::SimTime;

/// Spans of time without overlaps, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intervals(Vec<(SimTime, SimTime)>);

impl Intervals {
    /// Adds a span, joined with those that it touches.
    pub fn add(&mut self, mut from: SimTime, mut to: SimTime) {
        let first = self.0.partition_point(|(_, end)| *end < from);
        let behind = self.0.partition_point(|(begin, _)| *begin <= to);
        if let Some((begin, _)) = self.0.get(first).filter(|_| first < behind) {
            from = from.min(*begin);
            to = to.max(self.0[behind - 1].1);
        }
        self.0.splice(first..behind.max(first), [(from, to)]);
    }

    /// Adds the spans of another.
    pub fn extend(&mut self, other: &Self) {
        for (from, to) in &other.0 {
            self.add(*from, *to);
        }
    }

    /// The spans, each with its begin and its end.
    pub fn iter(&self) -> impl Iterator<Item = (SimTime, SimTime)> {
        self.0.iter().copied()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The spans in seconds.
    pub fn seconds(&self) -> Vec<[f64; 2]> {
        // Finer digits than the windows that they come from would say nothing.
        let rounded = |time: SimTime| (time.as_secs_f64() * 1e3).round() / 1e3;
        self.iter().map(|(from, to)| [rounded(from), rounded(to)]).collect()
    }

    /// A text such as `1.2 s (at 0.5-1.5 s, 2.0-2.2 s, and 3 more)`.
    pub fn describe(&self) -> String {
        const SHOWN: usize = 3;
        let total: f64 =
            self.iter().map(|(from, to)| to.saturating_since(from).as_secs_f64()).sum();
        let mut shown: Vec<_> = self
            .iter()
            .take(SHOWN)
            .map(|(from, to)| format!("{:.1}-{:.1} s", from.as_secs_f64(), to.as_secs_f64()))
            .collect();
        if self.0.len() > SHOWN {
            shown.push(format!("and {} more", self.0.len() - SHOWN));
        }
        format!("{total:.1} s (at {})", shown.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(given: &[(u64, u64)]) -> Vec<[f64; 2]> {
        let mut intervals = Intervals::default();
        let at = |millis: u64| SimTime::from_nanos(millis * 1_000_000);
        for (from, to) in given {
            intervals.add(at(*from), at(*to));
        }
        intervals.seconds()
    }

    #[test]
    fn spans_that_touch_are_one() {
        assert_eq!(spans(&[(0, 100), (100, 200), (300, 400)]), [[0.0, 0.2], [0.3, 0.4]]);
        // One that reaches back over others.
        assert_eq!(
            spans(&[(0, 100), (200, 300), (400, 500), (150, 600)]),
            [[0.0, 0.1], [0.15, 0.6]]
        );
        assert_eq!(spans(&[(200, 300), (0, 100)]), [[0.0, 0.1], [0.2, 0.3]]);
        assert_eq!(spans(&[(0, 500), (100, 200)]), [[0.0, 0.5]]);
    }

    #[test]
    fn a_text_has_the_sum_and_the_first_spans() {
        let mut intervals = Intervals::default();
        for second in 1..6_u64 {
            let at = |millis| SimTime::from_nanos((second * 1_000 + millis) * 1_000_000);
            intervals.add(at(0), at(200));
        }
        let told = intervals.describe();
        assert_eq!(told, "1.0 s (at 1.0-1.2 s, 2.0-2.2 s, 3.0-3.2 s, and 2 more)");
    }
}
