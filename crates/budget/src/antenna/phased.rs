//! A flat phased array.

use leobench_base::decibel::db;
use leobench_base::quantity::{Angle, Decibels, Frequency, Gain};
use leobench_base::spec::{Fault, Range};

use super::{AntennaModel, Pointing, check_beamwidth, roll_off_db};
use crate::free_space::cos_deg;

leobench_base::spec! {
    /// A flat phased array: the gain falls with the angle from its normal as cos^n.
    ///
    /// The projected aperture alone makes n = 1 (Mailloux 2005, "Phased Array Antenna Handbook"); elements of a narrower pattern
    /// make it larger. The beam widens by 1/cos.
    pub struct PhasedSpec example = r#"{"gain": "33 dBi"}"# check = PhasedSpec::check {
        /// Gain along the normal.
        pub gain: Gain,
        /// Exponent n of the scan loss.
        pub exponent: f64 [Range::from(0.0).to(4.0)] = 1.0,
        /// Full width of the beam along the normal between the directions of half the power; the gain does not fall off the
        /// axis of the beam without it.
        pub beamwidth: Option<Angle>,
        /// Level of the side lobes below the gain on the axis of the beam.
        pub side_lobes: Decibels = Decibels::constant(20.0),
    }
}

impl PhasedSpec {
    fn check(&self) -> Result<(), Fault> {
        check_beamwidth(self.beamwidth)
    }
}

impl AntennaModel for PhasedSpec {
    fn gain_dbi(&self, _frequency: Frequency, pointing: Pointing) -> f64 {
        let cos = cos_deg(pointing.scan_deg);
        if pointing.scan_deg >= 90.0 || cos <= 0.0 {
            return f64::NEG_INFINITY;
        }
        let roll_off = self.beamwidth.map_or(0.0, |width| {
            roll_off_db(pointing.off_axis_deg, width.degrees() / cos, self.side_lobes)
        });
        self.gain.dbi() + self.exponent * db(cos) - roll_off
    }
}
