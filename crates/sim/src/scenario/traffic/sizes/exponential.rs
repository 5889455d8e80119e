//! Exponential sizes.

use leobench_base::spec::Fault;
use leobench_base::{Bytes, SimRng};

use super::{SizeModel, check_size};

leobench_base::spec! {
    /// Exponential sizes.
    pub struct ExponentialSpec example = r#"{"mean": "1 MB"}"# check = ExponentialSpec::check {
        /// Mean size.
        pub mean: Bytes,
    }
}

impl ExponentialSpec {
    fn check(&self) -> Result<(), Fault> {
        check_size("mean", self.mean)
    }
}

impl SizeModel for ExponentialSpec {
    fn draw(&self, rng: &mut SimRng) -> Option<f64> {
        Some(-libm::log1p(-rng.unit()) * self.mean.get() as f64)
    }

    fn mean(&self) -> Option<f64> {
        Some(self.mean.get() as f64)
    }
}
