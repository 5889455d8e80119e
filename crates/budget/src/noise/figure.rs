//! A noise figure, and the temperature that the antenna sees.

use leobench_base::decibel::ratio;
use leobench_base::quantity::{Decibels, Temperature};
use leobench_base::spec::Fault;

use super::NoiseModel;
use crate::free_space::REFERENCE_K;

leobench_base::spec! {
    /// A noise figure, and the temperature that the antenna sees: T = Ta + 290 K (F - 1) (ITU-R P.372).
    pub struct NoiseFigureSpec example = r#"{"figure": "1.2 dB", "antenna": "40 K"}"# check = NoiseFigureSpec::check {
        /// Noise figure F of the receiver.
        pub figure: Decibels,
        /// Noise temperature Ta of the antenna; 290 K for one that looks at the Earth.
        pub antenna: Temperature,
    }
}

impl NoiseFigureSpec {
    fn check(&self) -> Result<(), Fault> {
        if self.figure.db() <= 100.0 {
            return Ok(());
        }
        Err(Fault::new("figure", "is out of range", "a noise figure from 0 to 100 dB"))
    }
}

impl NoiseModel for NoiseFigureSpec {
    fn system_k(&self) -> f64 {
        self.antenna.kelvin() + REFERENCE_K * (ratio(self.figure.db()) - 1.0)
    }
}
