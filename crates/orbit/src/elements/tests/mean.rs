use leobench_base::{SimDuration, SimTime};

use crate::elements::{Acceptance, MeanElements, OnDecayed, load, read};
use crate::frame::Epoch;
use crate::motion::{Constellation, Ephemeris, SPACING};

const FIRST: &str = "1 25544U 98067A   20194.88612269 -.00002218  00000-0 -31515-4 0  9992";
const SECOND: &str = "2 25544  51.6461 221.2784 0001413  89.1723 280.4612 15.49507896236008";

fn tle() -> String {
    format!("ISS (ZARYA)\n{FIRST}\n{SECOND}\n")
}

fn csv() -> String {
    "OBJECT_NAME,EPOCH,MEAN_MOTION,ECCENTRICITY,INCLINATION,RA_OF_ASC_NODE,ARG_OF_PERICENTER,MEAN_ANOMALY,NORAD_CAT_ID,BSTAR\n\
     ISS (ZARYA),2020-07-12T21:16:01.000416,15.49507896,0.0001413,51.6461,221.2784,89.1723,280.4612,25544,-0.000031515\n"
        .to_owned()
}

fn json() -> String {
    r#"[{"OBJECT_NAME": "ISS (ZARYA)", "EPOCH": "2020-07-12T21:16:01.000416", "MEAN_MOTION": 15.49507896,
         "ECCENTRICITY": "0.0001413", "INCLINATION": 51.6461, "RA_OF_ASC_NODE": 221.2784, "ARG_OF_PERICENTER": 89.1723,
         "MEAN_ANOMALY": 280.4612, "NORAD_CAT_ID": 25544, "BSTAR": -3.1515e-5}]"#
        .to_owned()
}

fn xml() -> String {
    "<?xml version=\"1.0\"?>\n<ndm><omm id=\"CCSDS_OMM_VERS\"><body><segment>\n\
     <metadata><OBJECT_NAME>ISS (ZARYA)</OBJECT_NAME><REF_FRAME>TEME</REF_FRAME></metadata><data><meanElements>\n\
     <EPOCH>2020-07-12T21:16:01.000416</EPOCH><MEAN_MOTION>15.49507896</MEAN_MOTION><ECCENTRICITY>0.0001413</ECCENTRICITY>\n\
     <INCLINATION>51.6461</INCLINATION><RA_OF_ASC_NODE>221.2784</RA_OF_ASC_NODE>\n\
     <ARG_OF_PERICENTER>89.1723</ARG_OF_PERICENTER><MEAN_ANOMALY>280.4612</MEAN_ANOMALY></meanElements>\n\
     <tleParameters><NORAD_CAT_ID>25544</NORAD_CAT_ID><BSTAR>-0.31515E-4</BSTAR></tleParameters></data></segment></body>\n\
     </omm></ndm>"
        .to_owned()
}

fn error(file: &str, text: &str) -> String {
    read(file, text).unwrap_err().to_string()
}

#[test]
fn all_formats_tell_the_same() {
    let of = |file, text: String| read(file, &text).unwrap().remove(0).elements;
    let tle = of("a.tle", tle());
    assert_eq!((tle.name.as_str(), tle.catalogue), ("ISS (ZARYA)", 25_544));
    assert_eq!(tle.epoch.to_string(), "2020-07-12T21:16:01.000Z");
    for other in [of("a.csv", csv()), of("a.json", json()), of("a.xml", xml()), of("a", xml())] {
        // The day's fraction in a TLE has eight decimals: steps of 0.86 ms.
        assert!(other.epoch.seconds_since(tle.epoch).abs() < 0.5e-3);
        assert_eq!(MeanElements { epoch: tle.epoch, ..other }, tle);
    }
    let unnamed = of("a.txt", format!("# comment\n{FIRST}\r\n{SECOND}"));
    assert_eq!(unnamed.name, "25544");
}

#[test]
fn wrong_lines_are_named() {
    let wrong = [
        (
            format!("ISS\n{FIRST}\n{}\n", SECOND.replace("51.6461", "51.6471")),
            "line 3",
            "the checksum is 8, but the digits of the line add up to 9",
        ),
        (
            format!("{}\n{SECOND}", FIRST.replace("9992", "999")),
            "line 1",
            "has 69 ASCII characters, but this one has 68",
        ),
        (format!("{FIRST}\n"), "line 1", "expected line 2"),
        (format!("ISS\n{SECOND}\n"), "line 1", "expected line 1"),
        (format!("{}{}", tle(), tle()), "line 5", "appears twice"),
        (format!("{FIRST}\n{}\n", SECOND.replace("25544", "25454")), "line 1", "NORAD mismatch"),
        (String::new(), "x", "contains no satellites"),
        ("<html><body>404</body></html>".to_owned(), "x", "contains no satellites"),
    ];
    for (text, place, problem) in wrong {
        let message = error("x", &text);
        assert!(message.contains(place) && message.contains(problem), "{message}");
        assert!(!message.contains('\n'));
    }
}

#[test]
fn wrong_messages_are_named() {
    let wrong = [
        (
            csv().replace("51.6461", "north"),
            "x, line 2: INCLINATION should be a number, found \"north\"",
        ),
        (csv().replace("51.6461", "NaN"), "INCLINATION should be a number"),
        (csv().replace("51.6461", "181"), "inclination 181 is not from 0 to 180 degrees"),
        (csv().replace(",-0.000031515", ""), "x, line 2: not CSV"),
        (csv().replace("BSTAR", "DRAG"), "BSTAR is missing"),
        (json().replace("2020-07-12T", "12.7.2020 "), "x, record 1: EPOCH should be a time"),
        (json().replace("25544", "\"ISS\""), "NORAD_CAT_ID should be a whole number"),
        (json().replace("}]", "]"), "x, line 3: not JSON"),
        (
            xml().replace("TEME", "EME2000"),
            "x, line 2: REF_FRAME should be TEME, found \"EME2000\"",
        ),
        (xml().replace("</ndm>", ""), "not XML"),
        ("{}".to_owned(), "x, record 1: NORAD_CAT_ID is missing"),
    ];
    for (text, problem) in wrong {
        let message = error("x", &text);
        assert!(message.contains(problem) && !message.contains('\n'), "{message}");
    }
    assert!(error("x.json", &tle()).contains("named like JSON, but its text is two-line elements"));
}

#[test]
fn elements_are_used_near_their_epoch_only() {
    let hour = SimTime::from_nanos(3_600_000_000_000);
    let load = |days: u64| {
        let start = epoch().after(SimDuration::from_secs(days * 86_400));
        load("iss.tle", &tle(), start, hour, Acceptance::default())
    };
    assert!(load(0).unwrap().warnings.is_empty());
    let warned = load(8).unwrap();
    assert_eq!(warned.satellites.len(), 1);
    assert!(warned.warnings[0].contains("1 of 1 satellites") && warned.warnings[0].contains("8.0"));
    let message = load(31).unwrap_err().to_string();
    assert!(
        message.contains("iss.tle, line 2") && message.contains("at most 30 days"),
        "{message}"
    );
}

/// Vectors of AIAA 2006-6753, Revisiting Spacetrack Report #3 (Vallado, Crawford, Hujsak, Kelso), for near-Earth and
/// deep-space orbits, resonant and decaying ones; `tests/data/sgp4_vectors.py` takes them from Python's `sgp4`.
#[test]
fn positions_are_those_of_the_verification_vectors() {
    let text = include_str!("../../../tests/data/sgp4-vectors.txt");
    let (mut rows, mut lines) = (0, Vec::new());
    let mut satellite = None;
    for line in text.lines() {
        if line.starts_with("1 ") {
            lines.clear();
        }
        if line.starts_with("1 ") || line.starts_with("2 ") {
            lines.push(line);
            if lines.len() == 2 {
                let elements = read("vectors", &lines.join("\n")).unwrap().remove(0).elements;
                satellite = Some((elements.epoch, elements.satellite().unwrap()));
            }
            continue;
        }
        let row: Vec<f64> = line.split(',').map(|number| number.parse().unwrap()).collect();
        let (epoch, satellite) = satellite.as_ref().unwrap();
        let nanos = epoch.unix_nanos() + (row[0] * 60e9).round() as i64;
        let state = satellite.orbit.state(Epoch::from_unix_nanos(nanos)).unwrap();
        let position = [state.position.x, state.position.y, state.position.z];
        assert!(position.iter().all(|coordinate| (coordinate * 8.0).fract() == 0.0));
        for (found, expected) in position.into_iter().zip(&row[1..4]) {
            let error = (found - expected * 1e3).abs();
            // Half a grain of 1/8 m from rounding, SGP4 itself within 2 cm; after years, the rounded mean motion shows.
            let allowed = if row[0].abs() <= 30.0 * 1_440.0 { 0.0825 } else { 0.5 };
            assert!(error < allowed, "{} {}: {error} m", satellite.name, row[0]);
        }
        let velocity = [state.velocity.x, state.velocity.y, state.velocity.z];
        for (found, expected) in velocity.into_iter().zip(&row[4..7]) {
            assert!((found - expected * 1e3).abs() < 1e-3, "{} {}", satellite.name, row[0]);
        }
        rows += 1;
    }
    assert!(rows > 600, "{rows}");
}

const DAY: SimTime = SimTime::from_nanos(86_400_000_000_000);

fn epoch() -> Epoch {
    Epoch::parse("2020-07-12T21:16:01").unwrap()
}

/// The station, and others whose drag makes them decay within a day: ten thousand times its own.
fn with_decaying(count: usize) -> String {
    let text = csv();
    let (header, station) = text.split_once('\n').unwrap();
    let decaying = (1..=count).map(|number| {
        let other = station.replace("ISS (ZARYA)", &format!("FALLING {number}"));
        other.replace("25544", &(25_544 + number).to_string()).replace("-0.000031515", "0.9")
    });
    format!("{header}\n{station}{}", decaying.collect::<String>())
}

/// The satellite, its line and the time are named.
#[test]
fn a_satellite_that_decays_is_refused_if_asked_for() {
    let refuse = Acceptance { on_decayed: OnDecayed::Refuse, ..Acceptance::default() };
    let text = with_decaying(1);
    let message = load("iss.csv", &text, epoch(), DAY, refuse).unwrap_err().to_string();
    assert!(message.starts_with("iss.csv, line 3: FALLING 1: "), "{message}");
    let end = "at 2020-07-13T21:16:01.000Z; leave it out, or use on_decayed = `skip`";
    assert!(message.ends_with(end), "{message}");
    let all = Constellation::of_satellites(
        load("iss.csv", &text, epoch(), SimTime::ZERO, refuse).unwrap().satellites,
    );
    let mut ephemeris = Ephemeris::new(all, epoch(), SPACING).unwrap();
    let error = ephemeris.advance(DAY).unwrap_err().to_string();
    assert!(error.contains("satellite FALLING 1 has no orbit at 2020-07-13"), "{error}");
}

#[test]
fn satellites_that_decay_are_left_out_and_counted() {
    let load = |count| load("iss.csv", &with_decaying(count), epoch(), DAY, Acceptance::default());
    assert!(load(0).unwrap().warnings.is_empty());
    let ends = [(1, "left out: FALLING 1"), (3, "FALLING 3"), (5, "FALLING 3 and 2 more")];
    for (count, end) in ends {
        let loaded = load(count).unwrap();
        assert_eq!(loaded.satellites.len(), 1);
        assert_eq!(loaded.satellites[0].name, "ISS (ZARYA)");
        let [warning] = loaded.warnings.as_slice() else { panic!("{:?}", loaded.warnings) };
        let start = format!("iss.csv: {count} of {} satellites decay", count + 1);
        assert!(warning.starts_with(&start) && warning.ends_with(end), "{warning}");
    }
}

#[test]
fn a_file_of_decayed_satellites_only_is_refused() {
    let text = csv().replace("-0.000031515", "0.9");
    let error = load("iss.csv", &text, epoch(), DAY, Acceptance::default()).unwrap_err();
    let message = error.to_string();
    assert_eq!(message, "iss.csv: no satellite has an orbit above the ground during the run");
}

/// The axis of 15.495 revolutions a day is 6,795 km: with an eccentricity of 0.1, the perigee is 260 km below the ground, and the
/// apogee, where the run starts and ends, 1,100 km above.
#[test]
fn a_perigee_below_the_ground_is_found_within_the_run() {
    let (header, station) = {
        let text = csv();
        let (header, station) = text.split_once('\n').unwrap();
        (header.to_owned(), station.to_owned())
    };
    let low = station
        .replace("ISS (ZARYA)", "LOW")
        .replace("25544", "25545")
        .replace("0.0001413", "0.1")
        .replace("280.4612", "180");
    let text = format!("{header}\n{station}{low}");
    let turn = SimTime::from_nanos(5_576_000_000_000);
    let loaded = load("low.csv", &text, epoch(), turn, Acceptance::default()).unwrap();
    assert!(loaded.warnings[0].ends_with("left out: LOW"), "{:?}", loaded.warnings);
    let sound = Constellation::of_satellites(loaded.satellites);
    let mut ephemeris = Ephemeris::new(sound, epoch(), SPACING).unwrap();
    for minute in 0..=93 {
        ephemeris.advance(SimTime::ZERO + SPACING * minute).unwrap();
    }
}

/// 16.2 revolutions a day are an axis of 6,598 km: a perigee 190 km above the ground with an eccentricity of 0.005.
#[test]
fn a_low_orbit_that_lasts_is_kept() {
    let text = csv().replace("15.49507896", "16.2").replace("0.0001413", "0.005");
    let loaded = load("low.csv", &text, epoch(), DAY, Acceptance::default()).unwrap();
    assert_eq!((loaded.satellites.len(), loaded.warnings.len()), (1, 0));
}
