//! A histogram of integers with relative precision, for quantiles over any number of samples in flat memory.

/// Buckets per octave: values below this are exact, larger ones fall into buckets of relative width 1 / 512.
const SUB_BUCKETS: u64 = 512;
const SUB_BITS: u32 = SUB_BUCKETS.trailing_zeros();

/// Statistics of values whose histogram is not kept: their mean and largest, and quantiles within 0.1 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Digest {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: u64,
    /// The 95th percentile.
    pub p95: u64,
    /// The 99th percentile.
    pub p99: u64,
    /// The largest.
    pub max: u64,
}

/// A log-linear histogram of `u64` values: quantiles within 0.1 %, mean and extremes exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogHistogram {
    /// The first bucket that is counted, at the start of an octave: memory follows the spread of the values, not their size.
    first: usize,
    /// From there on.
    counts: Vec<u64>,
    count: u64,
    sum: u128,
    max: u64,
}

impl LogHistogram {
    /// An empty histogram.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one value.
    pub fn record(&mut self, value: u64) {
        self.record_times(value, 1);
    }

    /// Counts one value so many times.
    pub fn record_times(&mut self, value: u64, times: u64) {
        if times == 0 {
            return;
        }
        let bucket = bucket_of(value);
        if !(self.first..self.first + self.counts.len()).contains(&bucket) {
            self.reach(bucket, bucket);
        }
        self.counts[bucket - self.first] += times;
        self.count += times;
        self.sum += u128::from(value) * u128::from(times);
        self.max = self.max.max(value);
    }

    /// Makes room for the buckets from `low` to `high`.
    #[cold]
    fn reach(&mut self, low: usize, high: usize) {
        let low = low - low % SUB_BUCKETS as usize;
        if self.counts.is_empty() {
            self.first = low;
        } else if low < self.first {
            self.counts.splice(..0, std::iter::repeat_n(0, self.first - low));
            self.first = low;
        }
        self.counts.resize(self.counts.len().max(high + 1 - self.first), 0);
    }

    /// The values counted since `earlier`, a copy of this histogram taken at that time; its largest value is as exact
    /// as its quantiles.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let first = self.first;
        let before = |bucket: usize| {
            let place = bucket.checked_sub(earlier.first);
            place.and_then(|place| earlier.counts.get(place)).copied().unwrap_or(0)
        };
        let counts = (first..).zip(&self.counts).map(|(bucket, count)| count - before(bucket));
        let counts: Vec<u64> = counts.collect();
        let last = counts.iter().rposition(|count| *count > 0);
        let last = last.map_or(0, |place| middle_of(first + place));
        let max = if self.max > earlier.max { self.max } else { last };
        Self { first, counts, count: self.count - earlier.count, sum: self.sum - earlier.sum, max }
    }

    /// Counts all values of another histogram too.
    pub fn add(&mut self, other: &Self) {
        if !other.counts.is_empty() {
            self.reach(other.first, other.first + other.counts.len() - 1);
            let counts = &mut self.counts[other.first - self.first..];
            for (count, more) in counts.iter_mut().zip(&other.counts) {
                *count += more;
            }
        }
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// The number of values counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The exact mean; `None` if empty.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The digest of the values; `None` if empty.
    pub fn digest(&self) -> Option<Digest> {
        let [p50, p95, p99] = [0.50, 0.95, 0.99].map(|share| self.quantile(share));
        Some(Digest { mean: self.mean()?, p50: p50?, p95: p95?, p99: p99?, max: self.max()? })
    }

    /// The exact largest value; `None` if empty.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// The smallest value that at least a share `quantile` of the values do not exceed (inverse of the empirical
    /// distribution, nearest rank), as the middle of its bucket; `None` if empty.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        let rank = ((quantile * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        for (bucket, count) in (self.first..).zip(&self.counts) {
            seen += count;
            if seen >= rank {
                return Some(middle_of(bucket).min(self.max));
            }
        }
        None
    }
}

fn bucket_of(value: u64) -> usize {
    let octave = (u64::BITS - value.leading_zeros()).saturating_sub(SUB_BITS + 1);
    ((u64::from(octave) * SUB_BUCKETS) + (value >> octave)) as usize
}

fn middle_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let octave = (bucket / SUB_BUCKETS).saturating_sub(1);
    let low = (bucket - octave * SUB_BUCKETS) << octave;
    low + ((1u64 << octave) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> LogHistogram {
        let mut histogram = LogHistogram::new();
        for value in values {
            histogram.record(value);
        }
        histogram
    }

    #[test]
    fn quantiles_are_within_a_thousandth_and_the_mean_is_exact() {
        let histogram = of((1..=100_000).map(|value| value * 1_000));
        assert_eq!(histogram.mean(), Some(50_000_500.0));
        for (quantile, exact) in [(0.01, 1e6), (0.5, 50e6), (0.95, 95e6), (1.0, 100e6)] {
            let found = histogram.quantile(quantile).unwrap() as f64;
            assert!((found / exact - 1.0).abs() < 1e-3, "{quantile}: {found}");
        }
        assert_eq!(of([]).quantile(0.5), None);
        assert_eq!(of([7, 1_023, 3]).quantile(0.5), Some(7), "small values are exact");
    }

    #[test]
    fn memory_follows_the_spread_of_the_values() {
        let octaves = |values: &[u64]| of(values.iter().copied()).counts.len() as u64 / SUB_BUCKETS;
        assert_eq!(octaves(&[40_000_000]), 0, "less than one");
        assert_eq!(octaves(&[100_000_000, 40_000_000, 60_000_000]), 1);
        let orders = [[40_000_000, 3, 60_000_000_000], [60_000_000_000, 40_000_000, 3]];
        let [one, other] = orders.map(of);
        assert_eq!(one, other);
        assert_eq!([0.3, 0.6].map(|share| other.quantile(share)), [Some(3), Some(40_009_728)]);
    }

    #[test]
    fn sums_count_the_values_of_both() {
        let (small, large) = (of([5, 9_000]), of([6, 70_000, 1 << 40]));
        for (mut one, other) in [(small.clone(), large.clone()), (large, small)] {
            one.add(&other);
            assert_eq!(one, of([5, 9_000, 6, 70_000, 1 << 40]));
        }
    }

    #[test]
    fn a_value_may_count_several_times() {
        let mut histogram = of([5, 9_000]);
        histogram.record_times(70_000, 3);
        histogram.record_times(1, 0);
        assert_eq!(histogram, of([5, 9_000, 70_000, 70_000, 70_000]));
    }

    #[test]
    fn what_came_since_is_what_came_after() {
        let earlier = of([5, 9_000, 70_000]);
        let mut histogram = earlier.clone();
        for value in [6, 6, 30_000] {
            histogram.record(value);
        }
        let since = histogram.since(&earlier);
        assert_eq!((since.count(), since.mean()), (3, Some(30_012.0 / 3.0)));
        assert_eq!(since.quantile(0.5), Some(6));
        let max = since.max().unwrap() as f64;
        assert!((max / 30_000.0 - 1.0).abs() < 1e-3, "{max}");
    }
}
