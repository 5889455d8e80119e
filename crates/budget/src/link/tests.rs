use leobench_base::spec::{At, Spec, TableSpec};

use super::*;
use crate::testing::{assert_near, assert_refused, read};

fn budget(json: &str) -> Budget {
    Budget::new(read(json).unwrap()).unwrap()
}

fn at(range_km: f64) -> Geometry {
    Geometry {
        range_m: range_km * 1e3,
        path: None,
        transmit: Pointing::default(),
        receive: Pointing::default(),
    }
}

/// Yang et al. 2024, Table 3: gains of 37.7 and 37.1 dBi, a wavelength of 0.086 m, 1.6e-20 W/Hz, an efficiency of 0.98, 12.5 MHz.
fn maco(dbm: f64) -> Budget {
    budget(&format!(
        r#"{{"frequency": "{} Hz", "bandwidth": "12.5 MHz",
        "transmitter": {{"power": "{dbm} dBm", "antenna": {{"kind": "fixed", "gain": "37.7 dBi"}}}},
        "receiver": {{"antenna": {{"kind": "fixed", "gain": "37.1 dBi"}}, "noise": {{"density": "1.6e-20 W/Hz"}}}},
        "rate": {{"kind": "shannon", "efficiency": 0.98}}}}"#,
        299_792_458.0 / 0.086
    ))
}

fn mbps(budget: &Budget, range_km: f64) -> f64 {
    let rate = budget.rate(&budget.at(&at(range_km), 0.0), None).rate;
    rate.bps() as f64 / 1e6
}

/// Equations 2 and 3 of Yang et al. 2024 need 35.46 dBm for the 200 Mbit/s at 550 km that section 6.2 asks for. At the edge of a
/// footprint of 460 km, sqrt(550² + 230²) km away, they give 197 Mbit/s. The printed 35.12 dBm give 198.6 Mbit/s.
#[test]
fn the_equations_of_maco_give_its_rates() {
    let budget = maco(35.46);
    assert_near("overhead", mbps(&budget, 550.0), 200.0, 0.05);
    assert_near("at the edge", mbps(&budget, 550.0_f64.hypot(230.0)), 197.0, 0.3);
    assert_near("as printed", mbps(&maco(35.12), 550.0), 198.6, 0.1);
}

/// The same equations written out with watts and ratios.
#[test]
fn decibels_and_ratios_agree() {
    let (power, gains, noise) = (ratio(5.46), ratio(37.7 + 37.1), 1.6e-20 * 12.5e6);
    for range_km in [550.0, 596.0, 1_000.0] {
        let spread = 4.0 * std::f64::consts::PI * range_km * 1e3 / 0.086;
        let snr = power * gains / (spread * spread * noise);
        let reading = maco(35.46).at(&at(range_km), 0.0);
        assert_near("SNR", ratio(reading.carrier_to_noise), snr, 1e-6 * snr);
        let expected = 0.98 * 12.5 * libm::log2(1.0 + snr);
        assert_near("rate", mbps(&maco(35.46), range_km), expected, 1e-5);
    }
}

/// 3GPP TR 38.821, Table 6.1.3.3-1, study case 6: LEO at 600 km, Ka band, elevation 30 degrees (1,075 km), 400 MHz. Downlink of 4
/// dBW/MHz to 15.9 dB/K: loss 179.1 dB, C/N 8.5 dB. Uplink of 2 W and 43.2 dBi to 13 dB/K: loss 182.6 dB, C/N 18.4 dB. Both
/// with 0.5 dB of gas and 0.3 dB of scintillation. The report rounds every line to 0.1 dB.
#[test]
fn the_budgets_of_the_3gpp_report_are_met() {
    let link = |ghz, transmitter, receiver| {
        budget(&format!(
            r#"{{"frequency": "{ghz} GHz", "bandwidth": "400 MHz", "transmitter": {transmitter}, "receiver": {receiver}, "losses": "0.8 dB"}}"#
        ))
        .at(&at(1_075.1), 0.0)
    };
    let down = link(20, r#"{"eirp": "30.02 dBW"}"#, r#"{"g_over_t": "15.9 dB/K"}"#);
    assert_near("loss", down.free_space_db, 179.1, 0.06);
    assert_near("C/N", down.carrier_to_noise, 8.5, 0.11);
    // Study case 9: S band, 30 MHz to a handheld device, with 3 dB of shadowing and 2.2 dB of scintillation.
    let handheld = budget(
        r#"{"frequency": "2 GHz", "bandwidth": "30 MHz", "transmitter": {"eirp": "78.8 dBm"}, "receiver": {"g_over_t": "-31.6 dB/K"}, "losses": "5.3 dB"}"#,
    );
    assert_near("C/N", handheld.at(&at(1_075.1), 0.0).carrier_to_noise, 6.6, 0.11);
    let vsat = r#"{"power": "2 W", "antenna": {"kind": "fixed", "gain": "43.2 dBi"}}"#;
    let up = link(30, vsat, r#"{"g_over_t": "13 dB/K"}"#);
    assert_near("loss", up.free_space_db, 182.6, 0.06);
    assert_near("C/N", up.carrier_to_noise, 18.4, 0.11);
}

const LINK: &str =
    r#""frequency": "20 GHz", "bandwidth": "100 MHz", "transmitter": {"eirp": "36 dBW"}"#;
const DISH: &str = r#""receiver": {"antenna": {"kind": "parabolic", "diameter": "60 cm"}, "noise": {"temperature": "250 K"}}"#;

/// C/N of 10 dB and C/I of 10 dB leave 7 dB; C/I of 7 dB leaves 5.24.
#[test]
fn interference_adds_to_noise() {
    let clean = budget(&format!("{{{LINK}, {DISH}}}")).at(&at(1_000.0), 0.0).carrier_to_noise;
    let level = |db: f64| {
        let json = format!(r#"{{{LINK}, {DISH}, "interference": "{db} dB"}}"#);
        budget(&json).at(&at(1_000.0), 10.0 - clean).carrier_to_noise
    };
    assert_near("10 and 10", level(10.0), 6.9897, 1e-4);
    assert_near("10 and 7", level(7.0), 5.2356, 1e-4);
}

#[test]
fn the_atmosphere_attenuates_and_radiates() {
    let link = |air: &str| budget(&format!("{{{LINK}, {DISH}, \"atmosphere\": {air}}}"));
    let path = Path { elevation_deg: 30.0, latitude_deg: 47.6, altitude_km: 0.1 };
    let through = Geometry { path: Some(path), ..at(1_000.0) };
    let cloud = r#""cloud": {"water": "1 kg/m2"}"#;
    let dark = link(&format!("{{{cloud}}}")).at(&through, 0.0);
    let clear = budget(&format!("{{{LINK}, {DISH}}}")).at(&through, 0.0);
    assert!(dark.atmosphere_db > 0.5, "{dark:?}");
    assert_near("C/N", dark.carrier_to_noise, clear.carrier_to_noise - dark.atmosphere_db, 1e-9);
    let noisy = link(&format!(r#"{{{cloud}, "noise": true}}"#)).at(&through, 0.0);
    let kelvin = 250.0 + 275.0 * (1.0 - ratio(-dark.atmosphere_db));
    assert_near("G/T", noisy.figure_of_merit, dark.figure_of_merit - db(kelvin / 250.0), 1e-9);
    let space = link(&format!("{{{cloud}}}")).at(&at(1_000.0), 0.0);
    assert_eq!(space.atmosphere_db, 0.0, "a link in space");
    let below = Geometry { path: Some(Path { elevation_deg: -1.0, ..path }), ..through };
    let lost = link(&format!("{{{cloud}}}"));
    assert!(lost.rate(&lost.at(&below, 0.0), None).rate.is_zero(), "below the horizon");
}

#[test]
fn fading_adds_to_the_carrier() {
    let link = budget(&format!("{{{LINK}, {DISH}}}"));
    let faded = |db| link.at(&at(1_000.0), db).carrier_to_density;
    assert_near("fade", faded(-3.0), faded(0.0) - 3.0, 1e-9);
}

#[test]
fn specifications_read_back_what_they_write() {
    for spec in [BudgetSpec::example(), maco(35.46).spec().clone()] {
        assert_eq!(BudgetSpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
    }
}

#[test]
fn wrong_budgets_are_refused() {
    let refused = |rest: &str, place, problem| {
        assert_refused::<BudgetSpec>(&format!("{{{LINK}, {rest}}}"), place, problem);
    };
    let merit = r#""receiver": {"g_over_t": "9 dB/K"}"#;
    refused(
        &format!(r#"{merit}, "atmosphere": {{"noise": true}}"#),
        "atmosphere.noise",
        "has only",
    );
    refused(merit.replace("dB/K", "dB").as_str(), "receiver.g_over_t", "unknown unit");
    refused(&format!(r#"{merit}, "losses": "-1 dB""#), "losses", "out of range");
    refused(&format!(r#"{merit}, "sun": 1"#), "sun", "unknown key");
    let high = format!(
        r#"{{{}, {merit}, "atmosphere": {{"gas": {{}}}}}}"#,
        LINK.replace("20 GHz", "400 GHz")
    );
    assert_refused::<BudgetSpec>(&high, "atmosphere.gas", "does not cover");
}
