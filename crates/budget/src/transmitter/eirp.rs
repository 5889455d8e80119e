//! A given equivalent isotropic radiated power.

use leobench_base::quantity::{Frequency, Power};

use super::TransmitterModel;
use crate::antenna::Pointing;

leobench_base::spec! {
    /// A given equivalent isotropic radiated power, the same in all directions.
    pub struct EirpSpec example = r#"{"eirp": "36 dBW"}"# {
        /// Equivalent isotropic radiated power.
        pub eirp: Power,
    }
}

impl TransmitterModel for EirpSpec {
    fn eirp_dbw(&self, _frequency: Frequency, _pointing: Pointing) -> f64 {
        self.eirp.dbw()
    }
}
