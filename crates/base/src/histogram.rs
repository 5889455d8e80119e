//! A histogram of integers: exact quantiles of small samples, and relative precision over any number of samples in flat memory.

/// Buckets per octave: values below this are exact, larger ones fall into buckets of relative width 1 / 512.
const SUB_BUCKETS: u64 = 512;
const SUB_BITS: u32 = SUB_BUCKETS.trailing_zeros();

/// Values up to which a histogram keeps each one, and has no buckets. The 99th percentile of so many has ten values above it. They
/// take 8 kB, as much as two octaves of buckets.
pub const EXACT: u64 = 1_000;

/// Statistics of values whose histogram is not kept: their mean and largest, and quantiles exact up to [`EXACT`] values, otherwise within 0.1 %.
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

/// A log-linear histogram of `u64` values: mean and extremes exact, and quantiles exact up to [`EXACT`] values, otherwise within
/// 0.1 %.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct LogHistogram {
    /// All values in the order of their arrival, as long as there are at most [`EXACT`]; empty beyond that.
    values: Vec<u64>,
    count: u64,
    sum: u128,
    max: u64,
    /// The buckets of more values.
    buckets: Buckets,
}

/// Counts of values by bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C)]
struct Buckets {
    /// The first bucket that is counted, at the start of an octave: memory follows the spread of the values, not their size.
    first: usize,
    /// From there on.
    counts: Vec<u64>,
}

impl PartialEq for LogHistogram {
    /// Whether both have the same values, in whatever order they came.
    fn eq(&self, other: &Self) -> bool {
        let sums = |each: &Self| (each.count, each.sum, each.max);
        sums(self) == sums(other)
            && self.buckets == other.buckets
            && self.sorted() == other.sorted()
    }
}

impl Eq for LogHistogram {}

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
    #[inline]
    pub fn record_times(&mut self, value: u64, times: u64) {
        if times == 0 {
            return;
        }
        let was_exact = self.is_exact();
        self.count += times;
        self.sum += u128::from(value) * u128::from(times);
        self.max = self.max.max(value);
        if was_exact && self.count <= EXACT {
            self.values.extend(std::iter::repeat_n(value, times as usize));
            return;
        }
        self.give_up_values();
        self.buckets.count(value, times);
    }

    /// Counts the values by bucket from now on.
    #[inline]
    fn give_up_values(&mut self) {
        if !self.values.is_empty() {
            self.buckets = self.counted();
            self.values = Vec::new();
        }
    }

    /// All values by bucket.
    fn counted(&self) -> Buckets {
        let mut buckets = self.buckets.clone();
        for value in &self.values {
            buckets.count(*value, 1);
        }
        buckets
    }

    /// The values counted since `earlier`, a copy of this histogram taken at that time; its largest value is as exact
    /// as its quantiles.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let (count, sum) = (self.count - earlier.count, self.sum - earlier.sum);
        let mut values = Vec::new();
        let mut buckets = Buckets::default();
        if self.is_exact() {
            values.extend(&self.values[earlier.values.len()..]);
        } else {
            buckets = self.buckets.without(&earlier.counted());
        }
        let largest = values.iter().max().copied().or_else(|| buckets.largest()).unwrap_or(0);
        let max = if self.max > earlier.max { self.max } else { largest };
        Self { values, count, sum, max, buckets }
    }

    /// Counts all values of another histogram too.
    pub fn add(&mut self, other: &Self) {
        let stays_exact = self.is_exact() && other.is_exact();
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
        if stays_exact && self.count <= EXACT {
            self.values.extend(&other.values);
        } else {
            self.give_up_values();
            self.buckets.add(&other.counted());
        }
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
    /// distribution, nearest rank), as the middle of its bucket where not every value is kept; `None` if empty.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        let rank = ((quantile * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        if self.is_exact() {
            return self.sorted().get(rank as usize - 1).copied();
        }
        let mut seen = 0;
        for (bucket, count) in (self.buckets.first..).zip(&self.buckets.counts) {
            seen += count;
            if seen >= rank {
                return Some(middle_of(bucket).min(self.max));
            }
        }
        None
    }
}

impl Buckets {
    #[inline]
    fn count(&mut self, value: u64, times: u64) {
        let bucket = bucket_of(value);
        if !(self.first..self.first + self.counts.len()).contains(&bucket) {
            self.reach(bucket, bucket);
        }
        self.counts[bucket - self.first] += times;
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

    fn add(&mut self, other: &Self) {
        if other.counts.is_empty() {
            return;
        }
        self.reach(other.first, other.first + other.counts.len() - 1);
        let counts = &mut self.counts[other.first - self.first..];
        for (count, more) in counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
    }

    /// These counts less those of an earlier time.
    fn without(&self, earlier: &Self) -> Self {
        let before = |bucket: usize| {
            let place = bucket.checked_sub(earlier.first);
            place.and_then(|place| earlier.counts.get(place)).copied().unwrap_or(0)
        };
        let counts = (self.first..).zip(&self.counts).map(|(bucket, count)| count - before(bucket));
        Self { first: self.first, counts: counts.collect() }
    }

    /// The largest value, as the middle of its bucket.
    fn largest(&self) -> Option<u64> {
        let last = self.counts.iter().rposition(|count| *count > 0)?;
        Some(middle_of(self.first + last))
    }
}

impl LogHistogram {
    /// Whether every value is kept.
    #[inline]
    fn is_exact(&self) -> bool {
        self.values.len() as u64 == self.count
    }

    /// The values that are kept.
    fn sorted(&self) -> Vec<u64> {
        let mut values = self.values.clone();
        values.sort_unstable();
        values
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
    fn quantiles_of_small_samples_are_those_of_the_values() {
        // Far above the width of a bucket, and in no order; the ranks by hand: 0.95 of 1,000 is the 950th.
        let values = |count: u64| (0..count).map(move |index| 1_000_003 * (1 + index * 17 % count));
        for count in [1, 10, 999, EXACT] {
            let histogram = of(values(count));
            for quantile in [0.01, 0.5, 0.95, 0.99, 1.0] {
                let rank = ((quantile * count as f64).ceil() as u64).max(1);
                assert_eq!(
                    histogram.quantile(quantile),
                    Some(1_000_003 * rank),
                    "{quantile} of {count}"
                );
            }
        }
        let more = of(values(EXACT + 1));
        assert!(more.values.is_empty(), "a large sample takes no more memory");
        let (found, exact) = (more.quantile(0.5).unwrap(), 1_000_003 * 501);
        assert_ne!(found, exact);
        assert!(found.abs_diff(exact) < exact / 1_000, "{found}");
    }

    #[test]
    fn small_samples_stay_exact_when_they_are_added_or_taken_apart() {
        let (first, second) = (of([50_001, 70_001]), of([60_001, 90_001, 80_001]));
        let mut both = first.clone();
        both.add(&second);
        assert_eq!(both.quantile(0.5), Some(70_001));
        assert_eq!(both.since(&first), second);
        assert_eq!(both.since(&first).max(), Some(90_001));
        assert_eq!(of([90_001, 60_001, 80_001]).since(&of([90_001])).max(), Some(80_001));
        both.record_times(40_001, EXACT);
        assert_eq!(both.since(&second).count(), EXACT + 2);
        let mut large = both.clone();
        large.add(&first);
        assert!(large.values.is_empty());
        let mut grown = first.clone();
        grown.add(&both);
        assert_eq!((grown.values.len(), grown.count()), (0, EXACT + 7));
    }

    #[test]
    fn memory_follows_the_spread_of_the_values() {
        let octaves = |values: &[u64]| {
            let repeated = values.iter().flat_map(|value| [*value; EXACT as usize + 1]);
            of(repeated).buckets.counts.len() as u64 / SUB_BUCKETS
        };
        assert_eq!(octaves(&[40_000_000]), 0, "less than one");
        assert_eq!(octaves(&[100_000_000, 40_000_000, 60_000_000]), 1);
        let orders = [[40_000_000, 3, 60_000_000_000], [60_000_000_000, 40_000_000, 3]];
        let [one, other] = orders.map(of);
        assert_eq!(one, other);
        assert_eq!([0.3, 0.6].map(|share| other.quantile(share)), [Some(3), Some(40_000_000)]);
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
        assert_eq!(since.max(), Some(30_000));
        histogram.record_times(1, EXACT);
        let max = histogram.since(&earlier).max().unwrap() as f64;
        assert!((max / 30_000.0 - 1.0).abs() < 1e-3, "{max}");
    }
}
