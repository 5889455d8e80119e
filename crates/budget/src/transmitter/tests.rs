use leobench_base::quantity::Frequency;
use leobench_base::spec::{At, Spec};

use super::TransmitterSpec;
use crate::antenna::Pointing;
use crate::testing::{assert_near, assert_refused, read};

#[test]
fn specifications_read_back_what_they_write() {
    for spec in TransmitterSpec::examples() {
        assert_eq!(TransmitterSpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
    }
}

#[test]
fn every_transmitter_radiates_most_along_its_axis() {
    let frequency = Frequency::new(30e9).unwrap();
    for spec in TransmitterSpec::examples() {
        let eirp = |off_axis_deg, scan_deg| {
            spec.model().eirp_dbw(frequency, Pointing { off_axis_deg, scan_deg })
        };
        let most = eirp(0.0, 0.0);
        assert!(most.is_finite(), "{}: {most}", spec.kind());
        for degrees in 0..=180 {
            let degrees = f64::from(degrees);
            assert!(eirp(degrees, 0.0) <= most, "{} off axis by {degrees}", spec.kind());
            assert!(eirp(0.0, degrees) <= most, "{} scanned by {degrees}", spec.kind());
        }
    }
}

/// 2 W are 3.01 dBW.
#[test]
fn the_radiated_power_is_the_sum() {
    let json =
        r#"{"power": "2 W", "antenna": {"kind": "fixed", "gain": "43.2 dBi"}, "loss": "1 dB"}"#;
    let eirp = |json| {
        let transmitter = read::<TransmitterSpec>(json).unwrap();
        transmitter.model().eirp_dbw(Frequency::new(30e9).unwrap(), Pointing::default())
    };
    assert_near("VSAT", eirp(json), 46.21 - 1.0, 0.01);
    assert_near("given", eirp(r#"{"eirp": "66 dBm"}"#), 36.0, 1e-9);
}

#[test]
fn wrong_transmitters_are_refused() {
    assert_refused::<TransmitterSpec>(r#"{"eirp": "36 dB"}"#, "eirp", "unknown unit");
    assert_refused::<TransmitterSpec>(r#"{"watts": 3}"#, "kind", "missing");
}
