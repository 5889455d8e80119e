//! Noise of receivers. One file per model, one line here to register it.

/// A noise specification.
pub trait NoiseModel {
    /// Noise temperature of the system in K under a clear sky.
    fn system_k(&self) -> f64;
}

leobench_base::kinds! {
    /// The noise models.
    pub enum NoiseSpec as dyn NoiseModel {
        Temperature(mod temperature::TemperatureSpec) = "temperature",
        Figure(mod figure::NoiseFigureSpec) = "figure",
        Density(mod density::DensitySpec) = "density",
    }
}

#[cfg(test)]
mod tests;
