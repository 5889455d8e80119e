//! The kinds of distributions, and how each is drawn.

use crate::rng::SimRng;

/// A distribution on numbers from zero, in the base units of a quantity.
pub trait Law {
    /// Draws a value.
    fn draw(&self, rng: &mut SimRng) -> f64;

    /// The mean.
    fn mean(&self) -> f64;

    /// The least value that [`draw`](Self::draw) may return.
    fn least(&self) -> f64;

    /// The largest value that [`draw`](Self::draw) may return.
    fn most(&self) -> f64;
}

/// A normal distribution cut off at `from` and `to`, with `from <= mean <= to`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Truncated {
    pub mean: f64,
    pub deviation: f64,
    pub from: f64,
    pub to: f64,
}

impl Truncated {
    /// Draws by rejection, from the whole normal distribution, or from a uniform one if that is wider. Either accepts
    /// more than two draws in five, because the mean is in the range.
    pub fn draw(&self, rng: &mut SimRng) -> f64 {
        let width = self.to - self.from;
        loop {
            if width < 2.0 * self.deviation {
                let drawn = self.from + width * rng.unit();
                let distance = (drawn - self.mean) / self.deviation;
                if rng.bernoulli(libm::exp(-0.5 * distance * distance)) {
                    return drawn;
                }
            } else {
                let drawn = self.mean + self.deviation * rng.normal();
                if self.from <= drawn && drawn <= self.to {
                    return drawn;
                }
            }
        }
    }

    /// The mean after truncation: m + s (φ(a) - φ(b)) / (Φ(b) - Φ(a)), with a and b the ends in standard deviations
    /// (Johnson, Kotz and Balakrishnan 1994, "Continuous Univariate Distributions", volume 1, section 13.10.1).
    pub fn truncated_mean(&self) -> f64 {
        let [a, b] = [self.from, self.to].map(|end| (end - self.mean) / self.deviation);
        let density = |x: f64| libm::exp(-0.5 * x * x) / (2.0 * std::f64::consts::PI).sqrt();
        let share = |x: f64| 0.5 * libm::erf(x / std::f64::consts::SQRT_2);
        self.mean + self.deviation * (density(a) - density(b)) / (share(b) - share(a))
    }
}

/// Defines the kinds for one quantity, with the example of each.
macro_rules! define {
    ($name:ident, $quantity:ty, $fixed:literal, $uniform:literal, $normal:literal, $exponential:literal, $values:literal) => {
        use crate::distribution::Quantity;
        use crate::distribution::laws::{Law, Truncated};
        use crate::rng::SimRng;
        use crate::spec::Fault;

        crate::spec! {
            /// The same value every time.
            pub struct Fixed example = $fixed {
                /// The value.
                pub value: $quantity,
            }
        }

        crate::spec! {
            /// Every value of a range, equally likely.
            pub struct Uniform example = $uniform check = Self::check {
                /// The least value.
                pub from: $quantity,
                /// The largest value.
                pub to: $quantity,
            }
        }

        crate::spec! {
            /// A normal distribution, cut off at `from` and `to`.
            pub struct Normal example = $normal check = Self::check {
                /// The mean before the cut.
                pub mean: $quantity,
                /// The standard deviation before the cut.
                pub deviation: $quantity,
                /// The least value.
                pub from: $quantity = <$quantity>::ZERO,
                /// The largest value; without it there is none.
                pub to: Option<$quantity>,
            }
        }

        crate::spec! {
            /// An exponential distribution, shifted to start at `from`.
            pub struct Exponential example = $exponential check = Self::check {
                /// The mean, including the shift.
                pub mean: $quantity,
                /// The least value.
                pub from: $quantity = <$quantity>::ZERO,
            }
        }

        crate::spec! {
            /// The values of a list, equally likely.
            pub struct Values example = $values check = Self::check {
                /// The list; a value may stand in it several times.
                pub values: Vec<$quantity>,
            }
        }

        crate::kinds! {
            /// The kinds of distributions.
            pub enum $name as dyn Law {
                Fixed(Fixed) = "fixed",
                Uniform(Uniform) = "uniform",
                Normal(Normal) = "normal",
                Exponential(Exponential) = "exponential",
                Values(Values) = "values",
            }
        }

        impl Uniform {
            fn check(&self) -> Result<(), Fault> {
                if self.from > self.to {
                    return Err(Fault::new(
                        "from",
                        format!("is above `to`, {}", self.to),
                        "at most `to`",
                    ));
                }
                Ok(())
            }
        }

        impl Normal {
            fn check(&self) -> Result<(), Fault> {
                if self.deviation.is_zero() {
                    return Err(Fault::new(
                        "deviation",
                        "is zero",
                        "a deviation above zero, or a fixed value",
                    ));
                }
                if let Some(to) = self.to.filter(|to| self.from >= *to) {
                    return Err(Fault::new(
                        "from",
                        format!("is not below `to`, {to}"),
                        "less than `to`",
                    ));
                }
                if self.mean < self.from || self.to.is_some_and(|to| to < self.mean) {
                    return Err(Fault::new(
                        "mean",
                        "is not between `from` and `to`",
                        "a mean between them",
                    ));
                }
                Ok(())
            }

            fn truncated(&self) -> Truncated {
                Truncated {
                    mean: self.mean.units(),
                    deviation: self.deviation.units(),
                    from: self.from.units(),
                    to: self.to.map_or(f64::INFINITY, Quantity::units),
                }
            }
        }

        impl Exponential {
            fn check(&self) -> Result<(), Fault> {
                if self.mean <= self.from {
                    let problem = format!("is not above `from`, {}", self.from);
                    return Err(Fault::new("mean", problem, "more than `from`, or a fixed value"));
                }
                Ok(())
            }
        }

        impl Values {
            fn check(&self) -> Result<(), Fault> {
                if self.values.is_empty() {
                    return Err(Fault::new("values", "is empty", "at least one value"));
                }
                Ok(())
            }
        }

        impl Law for Fixed {
            fn draw(&self, _rng: &mut SimRng) -> f64 {
                self.value.units()
            }

            fn mean(&self) -> f64 {
                self.value.units()
            }

            fn least(&self) -> f64 {
                self.value.units()
            }

            fn most(&self) -> f64 {
                self.value.units()
            }
        }

        impl Law for Uniform {
            fn draw(&self, rng: &mut SimRng) -> f64 {
                self.from.units() + (self.to.units() - self.from.units()) * rng.unit()
            }

            fn mean(&self) -> f64 {
                0.5 * (self.from.units() + self.to.units())
            }

            fn least(&self) -> f64 {
                self.from.units()
            }

            fn most(&self) -> f64 {
                self.to.units()
            }
        }

        impl Law for Normal {
            fn draw(&self, rng: &mut SimRng) -> f64 {
                self.truncated().draw(rng)
            }

            fn mean(&self) -> f64 {
                self.truncated().truncated_mean()
            }

            fn least(&self) -> f64 {
                self.from.units()
            }

            fn most(&self) -> f64 {
                let largest = self.mean.units() + self.deviation.units() * SimRng::LARGEST_NORMAL;
                self.truncated().to.min(largest)
            }
        }

        impl Law for Exponential {
            fn draw(&self, rng: &mut SimRng) -> f64 {
                self.from.units()
                    + (self.mean.units() - self.from.units()) * -libm::log1p(-rng.unit())
            }

            fn mean(&self) -> f64 {
                self.mean.units()
            }

            fn least(&self) -> f64 {
                self.from.units()
            }

            fn most(&self) -> f64 {
                self.from.units()
                    + (self.mean.units() - self.from.units()) * SimRng::LARGEST_EXPONENTIAL
            }
        }

        impl Law for Values {
            fn draw(&self, rng: &mut SimRng) -> f64 {
                self.values[rng.below(self.values.len() as u64) as usize].units()
            }

            fn mean(&self) -> f64 {
                self.values.iter().map(|value| value.units()).sum::<f64>()
                    / self.values.len() as f64
            }

            fn least(&self) -> f64 {
                self.values.iter().map(|value| value.units()).fold(f64::INFINITY, f64::min)
            }

            fn most(&self) -> f64 {
                self.values.iter().map(|value| value.units()).fold(0.0, f64::max)
            }
        }
    };
}

pub(super) use define;
