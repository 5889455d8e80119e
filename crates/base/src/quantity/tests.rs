use proptest::prelude::*;

use super::*;

fn read<T: Spec>(json: &str) -> Result<T, SpecError> {
    T::read(&serde_json::from_str(json).unwrap(), &At::ROOT)
}

/// Checks where and why a text is refused, on one line, with what would be right.
#[track_caller]
fn assert_refused<T: Spec + std::fmt::Debug>(json: &str, place: &str, problem: &str) {
    let error = read::<T>(json).expect_err(json);
    assert_eq!(error.place, place, "{error}");
    assert!(error.problem.contains(problem), "{error}");
    assert!(error.allowed.as_ref().is_some_and(|allowed| !allowed.is_empty()), "{error}");
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
}

fn text(quantity: &impl Spec) -> String {
    match quantity.write() {
        Value::String(text) => text,
        other => panic!("a quantity is written as text, not {other:?}"),
    }
}

#[test]
fn units_are_those_of_the_field() {
    assert_eq!(read::<Frequency>(r#""12.7 GHz""#).unwrap().hz(), 12.7e9);
    assert_eq!(read::<Distance>(r#""550km""#).unwrap().m(), 550e3);
    assert_eq!(read::<Power>(r#""35.5 dBm""#).unwrap().dbw(), 5.5);
    assert_eq!(read::<Power>(r#""100 W""#).unwrap().dbw(), 20.0);
    assert!((read::<Power>(r#""500 mW""#).unwrap().dbw() + 3.010_299_96).abs() < 1e-8);
    assert!(
        (read::<NoiseDensity>(r#""1.6e-20 W/Hz""#).unwrap().dbw_per_hz() + 197.958_8).abs() < 1e-4
    );
    assert_eq!(read::<TimeShare>(r#""0.01 %""#).unwrap().percent(), 0.01);
    assert_eq!(read::<Latitude>(r#""-22.9 deg""#).unwrap().degrees(), -22.9);
}

#[test]
fn texts_are_short() {
    assert_eq!(text(&Frequency::new(12.7e9).unwrap()), "12.7 GHz");
    assert_eq!(text(&Distance::new(0.6).unwrap()), "0.6 m");
    assert_eq!(text(&Distance::new(550e3).unwrap()), "550 km");
    assert_eq!(text(&Power::new(36.0).unwrap()), "36 dBW");
}

#[test]
fn wrong_texts_are_refused() {
    assert_refused::<Frequency>("12", "", "bare number without a unit");
    assert_refused::<Frequency>(r#""12""#, "", "has no unit");
    assert_refused::<Frequency>(r#""GHz""#, "", "does not start with a number");
    assert_refused::<Frequency>(r#""""#, "", "does not start with a number");
    assert_refused::<Frequency>(r#""12 Ghz""#, "", "unknown unit \"Ghz\"");
    assert_refused::<Frequency>(r#""0 GHz""#, "", "out of range");
    assert_refused::<Frequency>(r#""inf GHz""#, "", "out of range");
    assert_refused::<Power>(r#""0 W""#, "", "out of range");
    assert_refused::<Power>(r#""-1 W""#, "", "out of range");
    assert_refused::<Decibels>(r#""-1 dB""#, "", "out of range");
    assert_refused::<Frequency>(r#""12 µHz""#, "", "unknown unit");
    assert_refused::<Distance>("true", "", "is a boolean");
    let power = read::<Power>(r#""300 dBW""#).unwrap_err();
    assert!(power.allowed.unwrap().contains("from -200 to 200 dBW"));
    let error = read::<Frequency>(r#""12 Ghz""#).unwrap_err();
    assert_eq!(error.nearest.as_deref(), Some("12 GHz"));
}

proptest! {
    #[test]
    fn what_is_written_reads_back(hz in 1e-3f64..3e12, dbw in -200.0f64..200.0, metres in 0.0f64..1e8) {
        let frequency = Frequency::new(hz).unwrap();
        prop_assert_eq!(read::<Frequency>(&format!("{:?}", text(&frequency))).unwrap(), frequency);
        let power = Power::new(dbw).unwrap();
        prop_assert_eq!(read::<Power>(&format!("{:?}", text(&power))).unwrap(), power);
        let distance = Distance::new(metres).unwrap();
        prop_assert_eq!(read::<Distance>(&format!("{:?}", text(&distance))).unwrap(), distance);
    }
}
