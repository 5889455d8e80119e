//! An antenna and the noise of the receiver behind it.

use leobench_base::decibel::db;
use leobench_base::quantity::Frequency;

use super::ReceiverModel;
use crate::antenna::{AntennaSpec, Pointing};
use crate::noise::NoiseSpec;

leobench_base::spec! {
    /// An antenna and the noise of the receiver behind it.
    pub struct ChainSpec
        example = r#"{"antenna": {"kind": "phased", "gain": "33 dBi"}, "noise": {"temperature": "250 K"}}"#
    {
        /// Antenna.
        pub antenna: AntennaSpec,
        /// Noise of the system, referred to the antenna's terminals.
        pub noise: NoiseSpec,
    }
}

impl ReceiverModel for ChainSpec {
    fn figure_of_merit(&self, frequency: Frequency, pointing: Pointing, extra_k: f64) -> f64 {
        let kelvin = self.noise.model().system_k() + extra_k;
        self.antenna.model().gain_dbi(frequency, pointing) - db(kelvin)
    }
}
