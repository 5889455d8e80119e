//! A given gain, with a beam of a given width if the scenario names one.

use leobench_base::quantity::{Angle, Decibels, Frequency, Gain};
use leobench_base::spec::Fault;

use super::{AntennaModel, Pointing, check_beamwidth, roll_off_db};

leobench_base::spec! {
    /// A given gain, the same in all directions unless there is a beamwidth.
    ///
    /// With a beamwidth b, the gain falls by 12 (θ/b)² dB off the axis, down to the level of the side lobes (ITU-R S.672-4,
    /// annex 1, which has 3 (θ/ψ)² dB for half the beamwidth ψ).
    pub struct FixedSpec example = r#"{"gain": "37.7 dBi"}"# check = FixedSpec::check {
        /// Gain on the axis.
        pub gain: Gain,
        /// Full width of the beam between the directions of half the power.
        pub beamwidth: Option<Angle>,
        /// Level of the side lobes below the gain on the axis (S.672-4 has 20 to 30 dB).
        pub side_lobes: Decibels = Decibels::constant(20.0),
    }
}

impl FixedSpec {
    fn check(&self) -> Result<(), Fault> {
        check_beamwidth(self.beamwidth)
    }
}

impl AntennaModel for FixedSpec {
    fn gain_dbi(&self, _frequency: Frequency, pointing: Pointing) -> f64 {
        let roll_off = self.beamwidth.map_or(0.0, |width| {
            roll_off_db(pointing.off_axis_deg, width.degrees(), self.side_lobes)
        });
        self.gain.dbi() - roll_off
    }
}
