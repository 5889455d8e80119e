//! A given noise temperature.

use leobench_base::quantity::Temperature;

use super::NoiseModel;

leobench_base::spec! {
    /// The noise temperature of the whole system.
    pub struct TemperatureSpec example = r#"{"temperature": "250 K"}"# {
        /// Noise temperature.
        pub temperature: Temperature,
    }
}

impl NoiseModel for TemperatureSpec {
    fn system_k(&self) -> f64 {
        self.temperature.kelvin()
    }
}
