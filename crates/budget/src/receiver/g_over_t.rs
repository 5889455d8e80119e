//! A given figure of merit.

use leobench_base::quantity::{FigureOfMerit, Frequency};

use super::ReceiverModel;
use crate::antenna::Pointing;

leobench_base::spec! {
    /// A given figure of merit, the same in all directions.
    pub struct FigureSpec example = r#"{"g_over_t": "9.2 dB/K"}"# {
        /// Figure of merit G/T.
        pub g_over_t: FigureOfMerit,
    }
}

impl ReceiverModel for FigureSpec {
    fn figure_of_merit(&self, _frequency: Frequency, _pointing: Pointing, _extra_k: f64) -> f64 {
        self.g_over_t.db_per_k()
    }

    fn takes_noise(&self) -> bool {
        false
    }
}
