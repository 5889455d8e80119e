//! A dish with uniform illumination.

use leobench_base::decibel::db;
use leobench_base::quantity::{Decibels, Distance, Frequency};
use leobench_base::spec::{Fault, Range};

use super::{AntennaModel, Pointing};
use crate::free_space::{LIGHT_M_PER_S, sin_deg};

leobench_base::spec! {
    /// A dish with uniform illumination: gain from diameter and efficiency, and the pattern of a circular aperture.
    ///
    /// The gain on the axis is η (πD/λ)². Off the axis it is multiplied by (2 J1(u)/u)² with u = (πD/λ) sin θ (3GPP TR
    /// 38.811, section 6.4.1); behind the dish it is zero.
    pub struct ParabolicSpec example = r#"{"diameter": "60 cm"}"# check = ParabolicSpec::check {
        /// Diameter of the aperture.
        pub diameter: Distance [Distance::APERTURE],
        /// Efficiency of the aperture.
        pub efficiency: f64 [Range::above(0.0).to(1.0)] = 0.65,
        /// Level below the gain on the axis at which nulls and side lobes are filled; without it they are those of theory.
        pub side_lobes: Option<Decibels>,
    }
}

impl ParabolicSpec {
    fn check(&self) -> Result<(), Fault> {
        if self.diameter.m() > 0.0 {
            return Ok(());
        }
        Err(Fault::new("diameter", "is zero", "a length above zero, such as \"60 cm\""))
    }
}

impl AntennaModel for ParabolicSpec {
    fn gain_dbi(&self, frequency: Frequency, pointing: Pointing) -> f64 {
        let circumference =
            std::f64::consts::PI * self.diameter.m() * frequency.hz() / LIGHT_M_PER_S;
        let peak = db(self.efficiency * circumference * circumference);
        let floor = self.side_lobes.map_or(f64::NEG_INFINITY, |level| -level.db());
        let pattern = if pointing.off_axis_deg >= 90.0 {
            f64::NEG_INFINITY
        } else {
            aperture_db(circumference * sin_deg(pointing.off_axis_deg))
        };
        peak + pattern.max(floor)
    }
}

/// The pattern of a circular aperture in dB: 20 log |2 J1(u)/u|.
pub(super) fn aperture_db(u: f64) -> f64 {
    // J1(u)/u is 1/2 - u²/16 near zero.
    if u < 1e-6 { 0.0 } else { 2.0 * db((2.0 * libm::j1(u) / u).abs()) }
}
