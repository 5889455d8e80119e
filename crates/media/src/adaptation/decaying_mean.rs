//! A mean that forgets.

/// An exponentially weighted mean, whose values count half as much once values of the weight `half_life` have followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct DecayingMean {
    half_life: f64,
    /// The sum of the values by what their weights have decayed to.
    sum: f64,
    weight: f64,
}

impl DecayingMean {
    /// A mean of no values.
    pub(super) const fn new(half_life: f64) -> Self {
        Self { half_life, sum: 0.0, weight: 0.0 }
    }

    /// Takes a value.
    pub(super) fn push(&mut self, value: f64, weight: f64) {
        let share = self.share(weight);
        self.sum += share * (value - self.sum);
        self.weight += weight;
    }

    /// The mean; none before a value of some weight. The decayed weights of the values add up to one, also at the start.
    pub(super) fn value(&self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.share(self.weight))
    }

    /// The share of the mean that values of this weight have.
    fn share(&self, weight: f64) -> f64 {
        -libm::expm1(-std::f64::consts::LN_2 * weight / self.half_life)
    }
}

#[cfg(test)]
mod tests {
    use super::DecayingMean;

    /// Of 8 and then 2, both of the weight of a half-life, the second has 1/2 and the first 1/4: (1 + 2) over 3/4 is 4.
    #[test]
    fn a_half_life_halves_the_share_of_earlier_values() {
        let mut mean = DecayingMean::new(3.0);
        assert_eq!(mean.value(), None);
        for (value, weight, expected) in [(8.0, 3.0, 8.0), (2.0, 3.0, 4.0), (4.0, 6.0, 4.0)] {
            mean.push(value, weight);
            let known = mean.value().unwrap();
            assert!((known - expected).abs() < 1e-12, "{known}, not {expected}");
        }
    }

    #[test]
    fn a_value_of_hardly_any_weight_is_the_mean_of_itself() {
        let mut mean = DecayingMean::new(8.0);
        mean.push(5e6, 1e-12);
        assert!((mean.value().unwrap() - 5e6).abs() < 1.0);
    }
}
