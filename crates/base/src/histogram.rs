//! A histogram of integers with relative precision, for quantiles over any number of samples in flat memory.

/// Buckets per octave: values below this are exact, larger ones fall into buckets of relative width 1 / 512.
const SUB_BUCKETS: u64 = 512;
const SUB_BITS: u32 = SUB_BUCKETS.trailing_zeros();

/// A log-linear histogram of `u64` values: quantiles within 0.1 %, mean and extremes exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogHistogram {
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
        let bucket = bucket_of(value);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.count += 1;
        self.sum += u128::from(value);
        self.max = self.max.max(value);
    }

    /// How many values were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The exact mean; `None` if empty.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
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
        for (bucket, count) in self.counts.iter().enumerate() {
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
