use proptest::prelude::*;

use crate::frame::Epoch;

fn epoch(text: &str) -> Epoch {
    Epoch::parse(text).unwrap()
}

#[test]
fn the_forms_of_iso_8601_are_read() {
    assert_eq!(epoch("2000-01-01T12:00:00Z"), Epoch::J2000);
    assert_eq!(epoch("1970-01-01").unix_nanos(), 0);
    // `date -u -d @1721044800.25`
    assert_eq!(epoch("2024-07-15T12:00:00.25").unix_nanos(), 1_721_044_800_250_000_000);
    assert_eq!(epoch("2024-02-29 00:01"), Epoch::from_unix_nanos(1_709_164_860_000_000_000));
}

#[test]
fn what_the_calendar_lacks_is_refused() {
    for text in [
        "2023-02-29",
        "2024-13-01",
        "2024-00-01",
        "2024-01-32",
        "1899-12-31",
        "2024-01-01T24:00",
        "2024-01-01T10:60",
        "2024-01-01T10:00:60",
        "2024-01-01T10:00:1x",
        "2024-01",
        "24:00",
        "",
        "2024-01-01T10:00:01.5é",
        "-024-01-01",
    ] {
        assert_eq!(Epoch::parse(text), None, "{text}");
    }
}

/// Vallado, Fundamentals of Astrodynamics and Applications (4th ed.), example 3-5: 1992-08-20T12:14 UT1, 152.578788 degrees.
#[test]
fn sidereal_angle_is_that_of_the_textbook() {
    let angle = epoch("1992-08-20T12:14:00").sidereal_angle();
    assert!((angle.degrees() - 152.578_787_81).abs() < 1e-7, "{}", angle.degrees());
}

proptest! {
    #[test]
    fn dates_come_back_as_they_are_written(nanos in 0..4_000_000_000_000i64) {
        let epoch = Epoch::from_unix_nanos(nanos * 1_000_000);
        prop_assert_eq!(Epoch::parse(&epoch.to_string()), Some(epoch));
    }
}
