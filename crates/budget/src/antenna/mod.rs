//! Antennas: the gain in the direction of the other end. One file per model, one line here to register it.

use leobench_base::quantity::{Angle, Decibels, Frequency};
use leobench_base::spec::Fault;

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
        Fixed(mod fixed::FixedSpec) = "fixed",
        Parabolic(mod parabolic::ParabolicSpec) = "parabolic",
        Phased(mod phased::PhasedSpec) = "phased",
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

#[cfg(test)]
mod tests;
