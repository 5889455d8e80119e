use leobench_base::spec::{At, Spec};

use super::NoiseSpec;
use crate::testing::{assert_near, assert_refused, read};

fn system_k(json: &str) -> f64 {
    read::<NoiseSpec>(json).unwrap().model().system_k()
}

#[test]
fn specifications_read_back_what_they_write() {
    for spec in NoiseSpec::examples() {
        assert_eq!(NoiseSpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
    }
}

/// No receiver is colder than space.
#[test]
fn every_noise_is_a_temperature() {
    for spec in NoiseSpec::examples() {
        let kelvin = spec.model().system_k();
        assert!(kelvin.is_finite() && kelvin > 2.7, "{}: {kelvin}", spec.kind());
    }
}

/// A noise figure of 3.0103 dB doubles the noise of 290 K; kT at 290 K is -203.975 dBW/Hz (ITU-R P.372: -174 dBm/Hz).
#[test]
fn noise_is_that_of_its_definition() {
    assert_near("temperature", system_k(r#"{"temperature": "250 K"}"#), 250.0, 1e-9);
    assert_near("figure", system_k(r#"{"figure": "3.0103 dB", "antenna": "290 K"}"#), 580.0, 1e-4);
    assert_near("no figure", system_k(r#"{"figure": "0 dB", "antenna": "40 K"}"#), 40.0, 1e-9);
    assert_near("density", system_k(r#"{"density": "-203.975 dBW/Hz"}"#), 290.0, 0.02);
}

#[test]
fn wrong_noise_is_refused() {
    assert_refused::<NoiseSpec>(r#"{"temperature": "0 K"}"#, "temperature", "out of range");
    assert_refused::<NoiseSpec>(
        r#"{"figure": "200 dB", "antenna": "40 K"}"#,
        "figure",
        "out of range",
    );
}
