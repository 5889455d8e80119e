//! Against the validation examples of ITU-R Study Group 3 (CG-3M3J-13-ValEx, revision 5.1), worksheets `P618-13 A_Rain`,
//! `A_Sci` and `A_Total`, `P676-12 A_Gas` and `SpAtt`, `P838-3`, and `P840-8`. Their inputs from the digital maps (rain rate, isotherm, columns of
//! water) are inputs here as well.

use leobench_base::spec::{At, Spec, TableSpec};

use super::cloud::coefficient;
use super::gas::Air;
use super::specific::{Coefficients, specific_attenuation};
use super::*;
use crate::testing::{assert_near, assert_refused, read};

mod sites;

use sites::{FREQUENCIES_GHZ, PERCENT, SITES, Site};

fn ghz(ghz: f64) -> Frequency {
    Frequency::new(ghz * 1e9).unwrap()
}

/// A relative tolerance of 1e-6: the examples have nine digits or more.
#[track_caller]
fn assert_same(what: &str, found: f64, expected: f64) {
    assert_near(what, found, expected, 1e-6 * expected.abs());
}

impl Site {
    fn path(&self) -> Path {
        Path {
            elevation_deg: self.elevation,
            latitude_deg: self.latitude,
            altitude_km: self.altitude,
        }
    }
}

fn for_every_example(test: impl Fn(&Site, usize, Frequency)) {
    for site in &SITES {
        for (index, frequency) in FREQUENCIES_GHZ.into_iter().enumerate() {
            test(site, index, ghz(frequency));
        }
    }
}

#[test]
fn rain_is_that_of_the_examples() {
    for_every_example(|site, index, frequency| {
        let json = format!(
            r#"{{"rate": "{} mm/h", "zero_isotherm": "{} km", "polarisation": "{}"}}"#,
            site.rate, site.isotherm, site.polarisation
        );
        let rain = Rain::new(&read(&json).unwrap(), frequency);
        for (percent, expected) in PERCENT.into_iter().zip(site.rain[index]) {
            let what = format!("{} N at {} GHz, {percent} %", site.latitude, frequency.ghz());
            assert_same(&what, rain.attenuation_db(&site.path(), percent), expected);
        }
    });
}

#[test]
fn scintillation_is_that_of_the_examples() {
    for_every_example(|site, index, frequency| {
        let json = format!(
            r#"{{"diameter": "1 m", "efficiency": 0.65, "wet_refractivity": {}}}"#,
            site.refractivity
        );
        let scintillation = Scintillation::new(&read(&json).unwrap(), frequency);
        for (percent, expected) in PERCENT.into_iter().zip(site.scintillation[index]) {
            let what = format!("{} N at {} GHz, {percent} %", site.latitude, frequency.ghz());
            assert_same(&what, scintillation.attenuation_db(&site.path(), percent), expected);
        }
    });
}

#[test]
fn clouds_are_those_of_the_examples() {
    for_every_example(|site, index, frequency| {
        let json = format!(r#"{{"water": "{} kg/m2"}}"#, site.water);
        let cloud = Cloud::new(&read(&json).unwrap(), frequency);
        let what = format!("{} N at {} GHz", site.latitude, frequency.ghz());
        assert_same(&what, cloud.attenuation_db(&site.path()), site.cloud[index]);
    });
}

#[test]
fn gases_are_those_of_the_examples() {
    for_every_example(|site, index, frequency| {
        let json = format!(
            r#"{{"temperature": "{} K", "pressure": "{} hPa", "vapour": "{} g/m3", "column": "{} kg/m2"}}"#,
            site.kelvin, site.hpa, site.vapour, site.column
        );
        let gas = Gas::new(&read(&json).unwrap(), frequency);
        let what = format!("{} N at {} GHz", site.latitude, frequency.ghz());
        assert_same(&what, gas.attenuation_db(&site.path()), site.gas[index]);
    });
}

/// Worksheet `P676-12 SpAtt`: GHz, and dB/km of oxygen and of water vapour, at 1013.25 hPa, 288.15 K and 7.5 g/m3.
#[test]
fn specific_attenuation_by_gases_is_that_of_the_examples() {
    let air = Air { dry_hpa: 1013.25, kelvin: 288.15, vapour: 7.5 };
    for (ghz, oxygen, water) in [
        (12.0, 0.008_698_264, 0.009_535_388),
        (20.0, 0.011_883_55, 0.097_047_305),
        (22.0, 0.013_130_223, 0.174_207_033),
        (60.0, 14.623_474_8, 0.154_841_841),
        (118.0, 1.134_866_202, 0.605_921_953),
        (183.0, 0.012_733_909, 27.665_008_31),
        (300.0, 0.025_759_576, 5.221_329_041),
        (350.0, 0.036_805_627, 10.122_673_14),
    ] {
        assert_same(&format!("oxygen at {ghz}"), air.oxygen(ghz), oxygen);
        assert_same(&format!("water at {ghz}"), air.water(ghz), water);
    }
}

/// Worksheet `P618-13 A_Total`: gas, cloud, rain and scintillation, and their sum, in dB.
#[test]
fn the_total_is_that_of_the_examples() {
    for ([gas, cloud, rain, scintillation], total) in [
        ([0.226_874_038, 0.455_169_824, 0.495_316_047, 0.261_931_889], 1.212_790_721),
        ([0.226_874_038, 0.455_169_824, 14.899_799_65, 0.910_213_314], 15.608_797_71),
        ([1.627_537_069, 2.109_942_403, 59.625_910_66, 2.214_953_485], 63.403_111_31),
        ([0.704_136_355, 2.560_951_657, 3.701_587_179, 0.723_521_308], 7.008_331_446),
    ] {
        assert_same("total", Parts { gas, rain, cloud, scintillation }.total_db(), total);
    }
}

/// Worksheet `P838-3`: elevation, GHz, mm/h, tilt; k, α and dB/km.
#[test]
fn specific_attenuation_by_rain_is_that_of_the_examples() {
    for ([elevation, ghz, rate, tilt], [k, alpha, specific]) in [
        ([20.143_358_09, 14.25, 42.910_071_83, 90.0], [0.043_198_35, 1.063_153_1, 2.350_323_23]),
        ([22.278_334_68, 29.0, 50.639_304, 0.0], [0.221_682_03, 0.955_430_01, 9.424_302_44]),
        ([46.359_692_61, 14.25, 27.135_868_32, 0.0], [0.040_303_44, 1.113_760_17, 1.592_084_2]),
        ([85.804_595_66, 29.0, 99.135_589_78, 90.0], [0.217_371_48, 0.939_508_25, 16.318_368_6]),
    ] {
        let found = Coefficients::at(ghz).on_path(elevation, tilt);
        assert_near("k", found.0, k, 1e-8);
        assert_near("alpha", found.1, alpha, 1e-8);
        assert_near("dB/km", specific_attenuation(found.0, found.1, rate), specific, 1e-6);
    }
}

/// Elevations below 5 degrees, which the examples leave out, by the library ITU-Rpy 0.4.0: `itur.models.itu618.rain_attenuation` at
/// 20 GHz with a rain height of 3.36 km, a station at 0.5 km, 42 mm/h, circular polarisation and 0.1 %.
#[test]
fn rain_near_the_horizon_is_that_of_another_implementation() {
    let spec = read(r#"{"rate": "42 mm/h", "zero_isotherm": "3 km"}"#).unwrap();
    let rain = Rain::new(&spec, ghz(20.0));
    for (elevation_deg, latitude_deg, expected) in [
        (1.0, 10.0, 54.002_401_971),
        (1.0, 47.6, 46.966_455_561),
        (3.0, 10.0, 37.267_368_195),
        (4.9, 47.6, 19.978_388_298),
        (10.0, 10.0, 22.985_333_569),
        (60.0, 47.6, 5.331_651_898),
    ] {
        let path = Path { elevation_deg, latitude_deg, altitude_km: 0.5 };
        assert_same(&format!("{path:?}"), rain.attenuation_db(&path, 0.1), expected);
    }
}

/// Higher frequencies and altitudes, by `itur.models.itu676.gaseous_attenuation_slant_path` of ITU-Rpy 0.4.0 (P.676-12, mode
/// `approx`, 15 kg/m2): GHz, dB at the zenith at sea level, and at 30 degrees from 2 km.
#[test]
fn gases_at_high_frequencies_are_those_of_another_implementation() {
    for (at_ghz, zenith, slant) in [
        (70.0, 1.929_870_197_616_702_8, 3.712_378_794_628_794_5),
        (94.0, 0.891_891_732_379_809, 1.522_255_659_766_113_9),
        (119.0, 36.502_589_414_050_42, 72.573_426_001_246_94),
        (150.0, 2.177_182_877_345, 3.582_755_875_561_593),
        (300.0, 9.967_786_421_686_021, 16.324_263_023_525_244),
    ] {
        let gas = Gas::new(&GasSpec::default(), ghz(at_ghz));
        assert_same(&format!("zenith at {at_ghz}"), gas.attenuation_db(&path(90.0, 0.0)), zenith);
        assert_same(&format!("slant at {at_ghz}"), gas.attenuation_db(&path(30.0, 2.0)), slant);
    }
}

/// P.838-3, Table 5: GHz, kH, αH, kV, αV.
#[test]
fn coefficients_are_those_of_the_recommendation() {
    for [ghz, k_h, alpha_h, k_v, alpha_v] in [
        [1.0, 0.000_025_9, 0.9691, 0.000_030_8, 0.8592],
        [2.0, 0.000_084_7, 1.0664, 0.000_099_8, 0.9490],
        [4.0, 0.000_107_1, 1.6009, 0.000_246_1, 1.2476],
        [10.0, 0.01217, 1.2571, 0.01129, 1.2156],
        [15.0, 0.04481, 1.1233, 0.05008, 1.0440],
        [20.0, 0.09164, 1.0568, 0.09611, 0.9847],
        [25.0, 0.1571, 0.9991, 0.1533, 0.9491],
        [30.0, 0.2403, 0.9485, 0.2291, 0.9129],
        [40.0, 0.4431, 0.8673, 0.4274, 0.8421],
        [100.0, 1.3671, 0.6815, 1.3680, 0.6765],
    ] {
        let found = Coefficients::at(ghz);
        let digits = |k: f64| 0.5 * libm::pow(10.0, libm::floor(libm::log10(k)) - 3.0);
        // The table rounds small k to seven decimals, large ones to four digits.
        assert_near("kH", found.k_h, k_h, digits(k_h).max(6e-8));
        assert_near("kV", found.k_v, k_v, digits(k_v).max(6e-8));
        assert_near("αH", found.alpha_h, alpha_h, 6e-5);
        assert_near("αV", found.alpha_v, alpha_v, 6e-5);
    }
}

/// Circular polarisation lies between both linear ones; P.838-3 gives it a tilt of 45 degrees.
#[test]
fn circular_polarisation_is_the_mean_of_the_linear_ones() {
    let coefficients = Coefficients::at(20.0);
    let k = |tilt| coefficients.on_path(30.0, tilt).0;
    assert_near("k", k(45.0), f64::midpoint(k(0.0), k(90.0)), 1e-12);
    assert_eq!(specific::Polarisation::Circular.tilt_deg(), 45.0);
}

/// (dB/km)/(g/m3) at -10, 0 and 20 degrees Celsius, by `itur.models.itu840` of ITU-Rpy 0.4.0.
#[test]
fn clouds_of_any_temperature_are_those_of_another_implementation() {
    for (ghz, expected) in [
        (14.25, [0.259_398_974_923_308, 0.185_986_248_390_236_53, 0.108_160_378_684_898_47]),
        (100.0, [4.861_417_266_181_548, 4.888_008_390_677_107, 4.170_339_375_461_091]),
        (190.0, [9.114_988_361_592_372, 9.360_593_117_423_663, 9.892_697_309_716_489]),
    ] {
        for (celsius, expected) in [-10.0, 0.0, 20.0].into_iter().zip(expected) {
            assert_same(
                &format!("{ghz} at {celsius}"),
                coefficient(ghz, celsius + 273.15),
                expected,
            );
        }
    }
}

fn whole(rest: &str) -> AtmosphereSpec {
    let json = format!(
        r#"{{"exceeded": "0.1 %", "rain": {{"rate": "42 mm/h", "zero_isotherm": "3 km"}}, "cloud": {{"water": "0.4 kg/m2"}},
        "gas": {{}}, "scintillation": {{"diameter": "60 cm", "wet_refractivity": 50}}{rest}}}"#
    );
    read(&json).unwrap()
}

fn path(elevation_deg: f64, altitude_km: f64) -> Path {
    Path { elevation_deg, latitude_deg: 47.6, altitude_km }
}

#[test]
fn specifications_read_back_what_they_write() {
    let spec = whole(r#", "noise": true"#);
    assert_eq!(AtmosphereSpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
    assert_eq!(AtmosphereSpec::example().gas, Some(GasSpec::default()));
}

#[test]
fn attenuation_falls_with_elevation_and_is_infinite_below_the_horizon() {
    let air = Attenuation::new(&whole(""), ghz(20.0)).unwrap();
    // Near the zenith the rain of P.618-13 does not fall any further.
    let totals: Vec<_> = (1..=60).map(|it| air.effect(&path(f64::from(it), 0.0)).loss_db).collect();
    assert!(totals.iter().rev().is_sorted(), "{totals:?}");
    assert!(totals.iter().all(|total| total.is_finite()));
    assert_eq!([0.0, -5.0].map(|it| air.effect(&path(it, 0.0)).loss_db), [f64::INFINITY; 2]);
    let none = Attenuation::new(&read("{}").unwrap(), ghz(20.0)).unwrap();
    assert_eq!(none.effect(&path(45.0, 0.0)).loss_db, 0.0);
}

/// P.618-13, step 2: no rain attenuates above the rain height, 0.36 km above the isotherm.
#[test]
fn a_plane_above_the_rain_flies_in_the_dry() {
    let rain =
        Rain::new(&read(r#"{"rate": "42 mm/h", "zero_isotherm": "3 km"}"#).unwrap(), ghz(20.0));
    assert_eq!(rain.attenuation_db(&path(45.0, 3.36), 0.1), 0.0);
    assert_eq!(rain.attenuation_db(&path(45.0, 11.0), 0.1), 0.0);
    assert!(rain.attenuation_db(&path(45.0, 3.0), 0.1) > 0.0);
    let dry = read(r#"{"rate": "0 mm/h", "zero_isotherm": "3 km"}"#).unwrap();
    assert_eq!(Rain::new(&dry, ghz(20.0)).attenuation_db(&path(45.0, 0.0), 0.1), 0.0);
}

/// P.618-13, section 3: 275 K (1 - 10^(-A/10)), which is half of 275 K at 3.0103 dB.
#[test]
fn what_absorbs_radiates() {
    let cloud = r#""cloud": {"water": "1 kg/m2"}"#;
    let noise = |rest: &str, degrees| {
        let spec = read(&format!("{{{cloud}{rest}}}")).unwrap();
        let air = Attenuation::new(&spec, ghz(30.0)).unwrap();
        air.effect(&path(degrees, 0.0))
    };
    let zenith = noise("", 90.0).loss_db;
    let degrees = libm::asin(zenith / 3.0103).to_degrees();
    assert_near("noise", noise(r#", "noise": true"#, degrees).noise_k, 137.5, 1e-3);
    assert_eq!(noise("", degrees).noise_k, 0.0);
    // Rain and gas radiate as well, scintillation does not.
    let all = whole(r#", "noise": true"#);
    let quiet = AtmosphereSpec { scintillation: None, ..all.clone() };
    let of = |spec| Attenuation::new(spec, ghz(30.0)).unwrap().effect(&path(degrees, 0.0));
    assert_near("noise", of(&quiet).noise_k, 275.0 * (1.0 - ratio(-of(&quiet).loss_db)), 1e-9);
    assert_eq!(of(&all).noise_k, of(&quiet).noise_k);
    assert!(of(&all).loss_db > of(&quiet).loss_db);
}

/// The dependence on the altitude ends at 0 and 4 km (P.676-12, annex 2, section 2.3).
#[test]
fn gases_end_at_the_altitudes_of_the_approximation() {
    let gas = Gas::new(&GasSpec::default(), ghz(22.0));
    let at = |altitude| gas.attenuation_db(&path(90.0, altitude));
    assert_eq!((at(-0.4), at(11.0)), (at(0.0), at(4.0)));
    assert!(at(4.0) != at(0.0));
}

/// P.618-13, section 2.4.1, step 6: a large aperture averages scintillation out altogether.
#[test]
fn a_large_antenna_sees_no_scintillation() {
    let spec = |metres: f64| format!(r#"{{"diameter": "{metres} m", "wet_refractivity": 50}}"#);
    let deviation = |metres| {
        Scintillation::new(&read(&spec(metres)).unwrap(), ghz(50.0)).deviation_db(&path(90.0, 0.0))
    };
    assert!(deviation(1.0) > deviation(5.0));
    assert_eq!(deviation(60.0), 0.0);
}

/// Equation 6 of P.835-6 integrates to 2 km of the density at the ground: 15 kg/m2.
#[test]
fn the_reference_atmosphere_has_its_column() {
    let explicit = read::<GasSpec>(r#"{"column": "15 kg/m2"}"#).unwrap();
    let both = [GasSpec::default(), explicit].map(|spec| Gas::new(&spec, ghz(22.0)));
    assert_eq!(both[0].attenuation_db(&path(90.0, 0.0)), both[1].attenuation_db(&path(90.0, 0.0)));
}

#[test]
fn wrong_atmospheres_are_refused() {
    let refused = assert_refused::<AtmosphereSpec>;
    let rain = r#""rain": {"rate": "42 mm/h", "zero_isotherm": "3 km"}"#;
    let scintillation = r#""scintillation": {"diameter": "60 cm", "wet_refractivity": 50}"#;
    refused(&format!("{{{rain}}}"), "exceeded", "missing");
    refused(&format!(r#"{{{rain}, "exceeded": "10 %"}}"#), "exceeded", "outside");
    refused(&format!(r#"{{{scintillation}, "exceeded": "0.001 %"}}"#), "exceeded", "outside");
    refused(&format!(r#"{{{rain}, {scintillation}, "exceeded": "20 %"}}"#), "exceeded", "outside");
    refused(r#"{"rain": {"rate": "42 mm", "zero_isotherm": "3 km"}}"#, "rain.rate", "unknown unit");
    refused(r#"{"rain": {"rate": "42 mm/h"}}"#, "rain.zero_isotherm", "missing");
    refused(r#"{"gas": {"vapour": "0 g/m3"}}"#, "gas.vapour", "zero");
    refused(r#"{"gas": {"column": "0 kg/m2"}}"#, "gas.column", "zero");
}

#[test]
fn frequencies_outside_the_models_are_refused() {
    let fault = |spec: &AtmosphereSpec, at| Attenuation::new(spec, ghz(at)).unwrap_err().field;
    assert_eq!(fault(&whole(""), 0.5), "rain");
    assert_eq!(fault(&whole(""), 60.0), "rain");
    assert_eq!(fault(&read(r#"{"gas": {}}"#).unwrap(), 400.0), "gas");
    assert_eq!(fault(&read(r#"{"cloud": {"water": "1 kg/m2"}}"#).unwrap(), 300.0), "cloud");
    let scintillation =
        r#"{"exceeded": "1 %", "scintillation": {"diameter": "60 cm", "wet_refractivity": 50}}"#;
    assert_eq!(fault(&read(scintillation).unwrap(), 2.0), "scintillation");
}
