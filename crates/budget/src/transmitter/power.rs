//! An amplifier and an antenna.

use leobench_base::quantity::{Decibels, Frequency, Power};

use super::TransmitterModel;
use crate::antenna::{AntennaSpec, Pointing};

leobench_base::spec! {
    /// An amplifier and an antenna.
    pub struct PowerSpec example = r#"{"power": "5 W", "antenna": {"kind": "fixed", "gain": "33 dBi"}}"# {
        /// Power of the amplifier.
        pub power: Power,
        /// Antenna.
        pub antenna: AntennaSpec,
        /// Loss between the amplifier and the antenna.
        pub loss: Decibels = Decibels::constant(0.0),
    }
}

impl TransmitterModel for PowerSpec {
    fn eirp_dbw(&self, frequency: Frequency, pointing: Pointing) -> f64 {
        self.power.dbw() - self.loss.db() + self.antenna.model().gain_dbi(frequency, pointing)
    }
}
