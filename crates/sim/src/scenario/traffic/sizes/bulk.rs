//! Transfers without an end.

use leobench_base::SimRng;

use super::SizeModel;

leobench_base::spec! {
    /// Long-running transfers, which have no end.
    pub struct BulkSpec: Default {}
}

impl SizeModel for BulkSpec {
    fn draw(&self, _: &mut SimRng) -> Option<f64> {
        None
    }

    fn mean(&self) -> Option<f64> {
        None
    }
}
