use leobench_base::quantity::Frequency;
use leobench_base::spec::{At, Spec};

use super::parabolic::{ParabolicSpec, aperture_db};
use super::{AntennaModel, AntennaSpec, Pointing};
use crate::testing::{assert_near, assert_refused, read};

#[test]
fn specifications_read_back_what_they_write() {
    for spec in AntennaSpec::examples() {
        assert_eq!(AntennaSpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
    }
}

/// Nor does any antenna gain by pointing elsewhere; behind, it may not radiate at all.
#[test]
fn every_antenna_gains_most_on_its_axis() {
    let frequency = Frequency::new(12e9).unwrap();
    for spec in AntennaSpec::examples() {
        let gain = |off_axis_deg, scan_deg| {
            spec.model().gain_dbi(frequency, Pointing { off_axis_deg, scan_deg })
        };
        let most = gain(0.0, 0.0);
        assert!(most.is_finite() && most > 0.0, "{}: {most}", spec.kind());
        for off_axis in 0..=180 {
            for scan in 0..=180 {
                let found = gain(f64::from(off_axis), f64::from(scan));
                assert!(found <= most, "{} at {off_axis}, {scan}: {found}", spec.kind());
            }
        }
    }
}

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
    refused(r#"{"kind": "fixed", "gain": "30 dBi", "beamwidth": "0 deg"}"#, "beamwidth", "is zero");
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
