//! Equal transfers.

use leobench_base::spec::Fault;
use leobench_base::{Bytes, SimRng};

use super::{SizeModel, check_size};

leobench_base::spec! {
    /// The same size for all.
    pub struct FixedSpec example = r#"{"size": "1 MB"}"# check = FixedSpec::check {
        /// Bytes of a transfer.
        pub size: Bytes,
    }
}

impl FixedSpec {
    fn check(&self) -> Result<(), Fault> {
        check_size("size", self.size)
    }
}

impl SizeModel for FixedSpec {
    fn draw(&self, _: &mut SimRng) -> Option<f64> {
        self.mean()
    }

    fn mean(&self) -> Option<f64> {
        Some(self.size.get() as f64)
    }
}
