use leobench_base::quantity::Frequency;
use leobench_base::spec::{At, Spec};

use super::ReceiverSpec;
use crate::antenna::Pointing;
use crate::testing::{assert_near, assert_refused, read};

#[test]
fn specifications_read_back_what_they_write() {
    for spec in ReceiverSpec::examples() {
        assert_eq!(ReceiverSpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
    }
}

#[test]
fn noise_of_the_atmosphere_lowers_the_figure_of_every_receiver_that_takes_it() {
    let frequency = Frequency::new(12e9).unwrap();
    for spec in ReceiverSpec::examples() {
        let figure = |kelvin| spec.model().figure_of_merit(frequency, Pointing::default(), kelvin);
        assert!(figure(0.0).is_finite(), "{}", spec.kind());
        assert_eq!(figure(100.0) < figure(0.0), spec.model().takes_noise(), "{}", spec.kind());
        assert!(figure(100.0) <= figure(0.0), "{}", spec.kind());
    }
}

/// 3GPP TR 38.821, Table 6.1.1.1-3: a VSAT with 39.7 dBi, a noise figure of 1.2 dB and an antenna of 150 K has 15.9 dB/K.
#[test]
fn the_figure_of_merit_is_that_of_the_report() {
    let vsat = r#"{"antenna": {"kind": "fixed", "gain": "39.7 dBi"}, "noise": {"figure": "1.2 dB", "antenna": "150 K"}}"#;
    let receiver = read::<ReceiverSpec>(vsat).unwrap();
    let at = |extra| {
        receiver.model().figure_of_merit(Frequency::new(20e9).unwrap(), Pointing::default(), extra)
    };
    assert_near("VSAT", at(0.0), 15.9, 0.05);
    // 150 + 290 (1.3183 - 1) = 242.3 K; as much again costs 3 dB.
    assert_near("under rain", at(242.3), at(0.0) - 3.0103, 1e-3);
}

#[test]
fn wrong_receivers_are_refused() {
    assert_refused::<ReceiverSpec>(r#"{"g_over_t": "9 dB"}"#, "g_over_t", "unknown unit");
}
