use leobench_base::BitRate;
use leobench_base::decibel::db;
use leobench_base::spec::{At, Spec};
use proptest::prelude::*;

use super::dvb::{DVB_S2, DVB_S2X};
use super::modcod::Modcod;
use super::{Choice, RateSpec};
use crate::testing::{assert_refused, read};

/// The choice at an Es/N0 with one symbol per second and hertz.
fn choice(json: &str, es_n0_db: f64, before: Option<Choice>) -> Choice {
    let spec = read::<RateSpec>(json).unwrap();
    spec.model().rate(es_n0_db + db(1e6), 1e6, before)
}

#[test]
fn specifications_read_back_what_they_write() {
    for spec in RateSpec::examples() {
        assert_eq!(RateSpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
    }
}

/// One bit per second and hertz at 0 dB, and log2(1 + 10) = 3.459432 at 10 dB.
#[test]
fn shannon_is_shannon() {
    let bits = |json, snr| choice(json, snr, None).rate.bps();
    assert_eq!(bits(r#""shannon""#, 0.0), 1_000_000);
    assert_eq!(bits(r#""shannon""#, 10.0), 3_459_432);
    assert_eq!(bits(r#"{"kind": "shannon", "gap": "3 dB"}"#, 13.0), 3_459_432);
    assert_eq!(bits(r#"{"kind": "shannon", "efficiency": 0.5}"#, 0.0), 500_000);
    assert_eq!(bits(r#"{"kind": "shannon", "ceiling": 3.0}"#, 10.0), 3_000_000);
    assert_eq!(bits(r#""shannon""#, f64::NEG_INFINITY), 0);
}

/// Frames of 64,800 coded bits: K of them are data, less a header of 80 bits; 90 symbols of header precede the data
/// symbols, which fill slots of 90 (EN 302 307-1, sections 5.1.6 and 5.5.2). The inner code has rate r, the outer one takes 16 bits for each of 8, 10 or 12
/// errors that it corrects (Table 5a).
#[test]
fn efficiencies_are_those_of_the_frames() {
    for Modcod { name, efficiency, .. } in DVB_S2X {
        let (modulation, rate) = name.split_once(' ').unwrap();
        let bits = match modulation.split_at(modulation.find(['P', 'A', 'Q']).unwrap()).0 {
            "" => 2.0,
            points => libm::log2(points.parse().unwrap()),
        };
        let (over, under) = rate.trim_end_matches("-L").split_once('/').unwrap();
        let coded = 64_800.0 * over.parse::<f64>().unwrap() / under.parse::<f64>().unwrap();
        let slots = (64_800.0_f64 / bits / 90.0).ceil();
        let of = |errors: f64| (coded - 16.0 * errors - 80.0) / (90.0 * slots + 90.0);
        let matches =
            [8.0, 10.0, 12.0].map(of).iter().any(|frame| (frame - efficiency).abs() < 1e-6);
        assert!(matches, "{name}: {efficiency}, not one of {:?}", [8.0, 10.0, 12.0].map(of));
    }
    assert_eq!((DVB_S2.len(), DVB_S2X.len()), (28, 67));
}

/// No code beats Shannon, and those of DVB-S2X are within 4 dB of the capacity.
#[test]
fn thresholds_are_close_to_the_capacity() {
    for Modcod { name, efficiency, threshold_db } in DVB_S2X {
        let gap = threshold_db - db(libm::exp2(efficiency) - 1.0);
        assert!((0.0..4.0).contains(&gap), "{name}: {gap} dB");
    }
}

/// EN 302 307-1, Table 13: 16APSK 3/4 needs 10.21 dB and carries 2.966728 bits per symbol.
#[test]
fn the_table_gives_the_most_efficient_decodable_one() {
    let s2 = r#"{"kind": "modcod", "table": "dvb-s2", "roll_off": 0}"#;
    let at = |json, es_n0| choice(json, es_n0, None);
    assert_eq!(at(s2, 10.22).rate, BitRate::from_bps(2_966_728));
    assert_eq!(DVB_S2[at(s2, 10.22).entry.unwrap()].name, "16APSK 3/4");
    assert_eq!(DVB_S2[at(s2, 10.20).entry.unwrap()].name, "16APSK 2/3");
    assert_eq!(at(s2, -2.36), Choice { rate: BitRate::ZERO, entry: None });
    // 8PSK 9/10 at 10.98 dB carries less than 16APSK 3/4 and is never chosen.
    assert_eq!(DVB_S2[at(s2, 10.99).entry.unwrap()].name, "16APSK 3/4");
    let s2x = r#"{"kind": "modcod", "table": "dvb-s2x", "roll_off": 0}"#;
    assert_eq!(DVB_S2X[at(s2x, 100.0).entry.unwrap()].name, "256APSK 3/4");
    // Two carry 2.370043 bits per symbol: the more robust one is chosen.
    assert_eq!(DVB_S2X[at(s2x, 7.9).entry.unwrap()].name, "16APSK 3/5-L");
    let margin = r#"{"kind": "modcod", "table": "dvb-s2", "roll_off": 0, "margin": "2 dB"}"#;
    assert_eq!(DVB_S2[at(margin, 12.20).entry.unwrap()].name, "16APSK 2/3");
    assert_eq!(DVB_S2[at(margin, 12.22).entry.unwrap()].name, "16APSK 3/4");
}

/// 36 MHz at a roll-off of 0.2 are 30 Msymbol/s: QPSK 3/4 (1.487473) is 44.62 Mbit/s, from Es/N0 = 4.03 dB on, C/N0 = 78.80.
#[test]
fn the_roll_off_takes_its_share_of_the_bandwidth() {
    let spec = read::<RateSpec>(r#"{"kind": "modcod", "table": "dvb-s2"}"#).unwrap();
    let at = |c_n0| spec.model().rate(c_n0, 36e6, None).rate;
    assert_eq!(at(78.81), BitRate::from_bps(44_624_190));
    assert!(at(78.79) < at(78.81));
}

#[test]
fn hysteresis_delays_the_way_up_and_not_the_way_down() {
    let json = r#"{"kind": "modcod", "roll_off": 0, "hysteresis": "1 dB", "entries": [
        {"threshold": "0 dB", "efficiency": 1.0}, {"threshold": "5 dB", "efficiency": 2.0}, {"threshold": "10 dB", "efficiency": 3.0}]}"#;
    let levels = [4.0, 5.5, 6.0, 5.1, 4.9, 5.9, 20.0, 10.0, 9.9, -0.1, 0.5, 1.0];
    let mut before = None;
    let chosen = levels.map(|level| {
        let now = choice(json, level, before);
        before = Some(now);
        now.rate.bps() / 1_000_000
    });
    assert_eq!(chosen, [1, 1, 2, 2, 1, 1, 3, 3, 2, 0, 0, 1]);
    let top = Some(choice(json, 20.0, None));
    let fallen = choice(json, 5.5, top).rate.bps();
    assert_eq!(fallen, 2_000_000, "on the way down, the threshold alone counts");
    assert_eq!(
        choice(json, 5.5, None).rate.bps(),
        2_000_000,
        "there is nothing to keep at the start"
    );
}

proptest! {
    /// On any way through the levels, what is chosen is decodable, at most as efficient as the best, and at least as efficient as
    /// the best of those that the hysteresis allows.
    #[test]
    fn hysteresis_stays_within_its_bounds(levels in prop::collection::vec(-5.0f64..22.0, 1..60), hysteresis in 0.0f64..3.0) {
        let spec = |hysteresis: f64, margin: f64| format!(
            r#"{{"kind": "modcod", "table": "dvb-s2x", "roll_off": 0, "margin": "{margin} dB", "hysteresis": "{hysteresis} dB"}}"#
        );
        let mut before = None;
        for level in levels {
            let now = choice(&spec(hysteresis, 1.0), level, before);
            prop_assert!(now.entry.is_none_or(|entry| DVB_S2X[entry].threshold_db <= level - 1.0));
            prop_assert!(now.rate <= choice(&spec(0.0, 1.0), level, None).rate);
            prop_assert!(now.rate >= choice(&spec(0.0, 1.0 + hysteresis), level, None).rate);
            before = Some(now);
        }
    }
}

/// The rate never falls as the signal gets stronger.
#[test]
fn rates_grow_with_the_signal() {
    for spec in RateSpec::examples() {
        let rates = (-100..300)
            .map(|tenths| spec.model().rate(f64::from(tenths) / 10.0 + db(1e6), 1e6, None).rate);
        let rates: Vec<_> = rates.collect();
        assert!(rates.is_sorted(), "{}", spec.kind());
        assert!(rates[0] < rates[399], "{}", spec.kind());
    }
}

#[test]
fn wrong_rates_are_refused() {
    let refused = assert_refused::<RateSpec>;
    refused(r#"{"kind": "modcod"}"#, "table", "missing");
    refused(r#"{"kind": "modcod", "table": "dvb-t2"}"#, "table", "unknown word");
    refused(r#"{"kind": "modcod", "entries": []}"#, "entries", "empty");
    refused(r#"{"kind": "modcod", "table": "dvb-s2", "entries": []}"#, "entries", "together with");
    refused(r#"{"kind": "shannon", "efficiency": 0}"#, "efficiency", "out of range");
    refused(r#"{"kind": "modcod", "table": "dvb-s2", "roll_off": 2}"#, "roll_off", "out of range");
}
