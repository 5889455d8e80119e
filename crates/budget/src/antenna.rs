//! Antennas: the gain in the direction of the other end.

use leobench_base::decibel::db;
use leobench_base::quantity::{Angle, Decibels, Distance, Frequency, Gain};
use leobench_base::spec::{Fault, Range};

use crate::free_space::{LIGHT_M_PER_S, cos_deg, sin_deg};

/// The direction of the other end as an antenna sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pointing {
    /// Angle in degrees between the other end and the centre of the beam.
    pub off_axis_deg: f64,
    /// Angle in degrees between the centre of the beam and the normal of a phased array.
    pub scan_deg: f64,
}

/// An antenna specification: the gain that it describes.
pub trait AntennaModel {
    /// Gain in dBi over an isotropic antenna; minus infinity where the antenna does not radiate.
    fn gain_dbi(&self, frequency: Frequency, pointing: Pointing) -> f64;
}

leobench_base::kinds! {
    /// The antenna models.
    pub enum AntennaSpec as dyn AntennaModel {
        Fixed(FixedSpec) = "fixed",
        Parabolic(ParabolicSpec) = "parabolic",
        Phased(PhasedSpec) = "phased",
    }
}

leobench_base::spec! {
    /// A given gain, the same in all directions unless a beamwidth says how it falls.
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

fn check_beamwidth(beamwidth: Option<Angle>) -> Result<(), Fault> {
    match beamwidth {
        Some(width) if width.degrees() <= 0.0 => {
            Err(Fault::new("beamwidth", "is zero", "an angle above zero, such as \"3.5 deg\""))
        }
        _ => Ok(()),
    }
}

/// Roll-off in dB of a beam `width_deg` wide.
fn roll_off_db(off_axis_deg: f64, width_deg: f64, side_lobes: Decibels) -> f64 {
    let relative = off_axis_deg / width_deg;
    (12.0 * relative * relative).min(side_lobes.db())
}

impl FixedSpec {
    fn check(&self) -> Result<(), Fault> {
        check_beamwidth(self.beamwidth)
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

impl PhasedSpec {
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
fn aperture_db(u: f64) -> f64 {
    // J1(u)/u is 1/2 - u²/16 near zero.
    if u < 1e-6 { 0.0 } else { 2.0 * db((2.0 * libm::j1(u) / u).abs()) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_near, assert_refused, read};

    fn gain(json: &str, off_axis_deg: f64, scan_deg: f64) -> f64 {
        let antenna = read::<AntennaSpec>(json).unwrap();
        let frequency = Frequency::new(12e9).unwrap();
        antenna.model().gain_dbi(frequency, Pointing { off_axis_deg, scan_deg })
    }

    /// 3GPP TR 38.821, Table 6.1.1.1-1: an aperture of 0.5 m at 20 GHz has 38.5 dBi (that is an efficiency of 0.65) and a beam
    /// 1.7647 degrees wide; one of 2 m at 2 GHz has a beam 4.4127 degrees wide.
    #[test]
    fn a_dish_is_that_of_the_report() {
        let at = |diameter: &str, ghz: f64, off_axis_deg| {
            let dish = read::<ParabolicSpec>(&format!(r#"{{"diameter": "{diameter}"}}"#)).unwrap();
            let pointing = Pointing { off_axis_deg, scan_deg: 0.0 };
            dish.gain_dbi(Frequency::new(ghz * 1e9).unwrap(), pointing)
        };
        assert_near("gain", at("50 cm", 20.0, 0.0), 38.5, 0.05);
        for (diameter, ghz, width) in [("50 cm", 20.0, 1.7647), ("2 m", 2.0, 4.4127)] {
            let fall = at(diameter, ghz, 0.0) - at(diameter, ghz, width / 2.0);
            assert_near("half the power", fall, 3.0, 0.02);
        }
    }

    /// A uniformly lit circular aperture: half the power at u = 1.61634, null at u = 3.83171, first side lobe of -17.57 dB
    /// at u = 5.13562 (Born and Wolf 1999, "Principles of Optics", section 8.5.2, Table 8.2).
    #[test]
    fn a_dish_has_the_pattern_of_theory() {
        assert_near("half power", aperture_db(1.616_34), -3.0103, 1e-4);
        assert!(aperture_db(3.831_706) < -100.0);
        assert_near("side lobe", aperture_db(5.135_62), -17.57, 0.01);
        let dish = r#"{"kind": "parabolic", "diameter": "1 m"}"#;
        assert_near("off axis", gain(dish, 0.7364, 0.0) - gain(dish, 0.0, 0.0), -3.01, 0.01);
        assert_eq!(gain(dish, 90.0, 0.0), f64::NEG_INFINITY);
        let filled = r#"{"kind": "parabolic", "diameter": "1 m", "side_lobes": "30 dB"}"#;
        assert_near("behind", gain(filled, 120.0, 0.0) - gain(filled, 0.0, 0.0), -30.0, 1e-9);
    }

    #[test]
    fn a_beam_falls_by_three_decibels_at_half_its_width() {
        let beam =
            r#"{"kind": "fixed", "gain": "30 dBi", "beamwidth": "4 deg", "side_lobes": "25 dB"}"#;
        assert_eq!([0.0, 2.0, 90.0].map(|off| gain(beam, off, 0.0)), [30.0, 27.0, 5.0]);
        assert_eq!(gain(r#"{"kind": "fixed", "gain": "30 dBi"}"#, 90.0, 0.0), 30.0);
    }

    #[test]
    fn a_phased_array_loses_its_projected_aperture() {
        let array = |exponent: f64, off, scan| {
            gain(
                &format!(
                    r#"{{"kind": "phased", "gain": "33 dBi", "exponent": {exponent}, "beamwidth": "4 deg"}}"#
                ),
                off,
                scan,
            )
        };
        assert_near("60 degrees", array(1.0, 0.0, 60.0), 33.0 - 3.0103, 1e-4);
        assert_near("60 degrees", array(1.5, 0.0, 60.0), 33.0 - 4.5154, 1e-4);
        assert_near("wider beam", array(1.0, 4.0, 60.0), array(1.0, 0.0, 60.0) - 3.0, 1e-9);
        assert_eq!(array(1.0, 0.0, 90.0), f64::NEG_INFINITY);
        assert_eq!(array(1.0, 0.0, 120.0), f64::NEG_INFINITY);
    }

    #[test]
    fn wrong_antennas_are_refused() {
        let refused = assert_refused::<AntennaSpec>;
        refused(r#"{"kind": "fixed", "gain": "30 dB"}"#, "gain", "unknown unit");
        refused(
            r#"{"kind": "fixed", "gain": "30 dBi", "beamwidth": "0 deg"}"#,
            "beamwidth",
            "is zero",
        );
        refused(r#"{"kind": "parabolic", "diameter": "0 m"}"#, "diameter", "is zero");
        refused(
            r#"{"kind": "parabolic", "diameter": "1 m", "efficiency": 1.5}"#,
            "efficiency",
            "out of range",
        );
        refused(
            r#"{"kind": "phased", "gain": "30 dBi", "beamwidth": "0 deg"}"#,
            "beamwidth",
            "is zero",
        );
        refused(r#"{"kind": "horn"}"#, "kind", "unknown kind");
    }
}
