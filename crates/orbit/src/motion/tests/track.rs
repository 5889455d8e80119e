use leobench_base::{SimDuration, SimTime};

use crate::frame::{Epoch, Geodetic};
use crate::motion::Track;

fn start() -> Epoch {
    Epoch::parse("2024-07-15T10:00:00").unwrap()
}

fn at(seconds: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_secs(seconds)
}

const CSV: &str = "time,latitude,longitude,altitude\n0,50,170,1000\n100, 50, -170,2000\n2024-07-15T10:03:20Z,40,-170,2000\n";

#[test]
fn a_track_is_a_great_circle_across_the_date_line() {
    let track = Track::read(
        "plane.csv",
        &CSV.replace("100,", "2000,").replace("10:03:20", "11:00:00"),
        start(),
    )
    .unwrap();
    let middle = track.place(at(1_000));
    assert!((middle.longitude.degrees().abs() - 180.0).abs() < 1e-9);
    // The great circle between two points of latitude 50, 20 degrees of longitude apart, reaches atan(tan 50 / cos 10).
    let highest =
        (libm::tan(50.0f64.to_radians()) / libm::cos(10.0f64.to_radians())).atan().to_degrees();
    assert!((middle.latitude.degrees() - highest).abs() < 1e-9);
    assert!((middle.altitude_m - 1_500.0).abs() < 1e-9);
    assert_eq!(track.place(at(9_999)), track.place(at(3_600)));
    let (one, two) = (track.site(at(1_000)), track.site(at(1_010)));
    let speed = (two.position() - one.position()).norm() / 10.0;
    assert!((speed - 715.0).abs() < 5.0, "{speed}");
    assert!(track.fastest() >= speed && track.fastest() < 720.0, "{}", track.fastest());
}

#[test]
fn gpx_is_read_like_csv() {
    let gpx = "<?xml version=\"1.0\"?>\n<gpx xmlns=\"http://www.topografix.com/GPX/1/1\"><trk><trkseg>\n\
        <trkpt lat=\"50.0\" lon=\"4.0\"><ele>20</ele><time>2024-07-15T10:00:00Z</time></trkpt>\n\
        <trkpt lat=\"50.1\" lon=\"4.0\"><time>2024-07-15T10:10:00Z</time></trkpt>\n</trkseg></trk></gpx>";
    let csv = "time,latitude,longitude,altitude\n0,50,4,20\n600,50.1,4,0\n";
    let track = Track::read("t.gpx", gpx, start()).unwrap();
    assert_eq!(track, Track::read("t.csv", csv, start()).unwrap());
    assert!(
        track.moves() && !Track::fixed(&Geodetic::from_degrees(50.0, 4.0, 0.0)).unwrap().moves()
    );
    let untimed = gpx.replace("<time>2024-07-15T10:10:00Z</time>", "");
    let message = Track::read("t.gpx", &untimed, start()).unwrap_err().to_string();
    assert!(message.contains("t.gpx, line 4: a track point needs a time"), "{message}");
}

#[test]
fn wrong_tracks_are_refused() {
    let wrong = [
        (CSV.replace("100,", "0,"), "line 3: time 0.000000000 s is not after"),
        (CSV.to_owned(), "line 3: 14 km/s from the previous point"),
        (CSV.replace("1000", "-1000"), "line 2: altitude -1000 m is below ground"),
        (CSV.replace("latitude", "lat"), "line 1: no column \"latitude\""),
        (CSV.replace("50,170", "91,170"), "line 2: latitude 91"),
        (
            CSV.replace("50,170", "fifty,170"),
            "line 2: latitude should be a number, found \"fifty\"",
        ),
        (CSV.replace("T10:03", "T09:03"), "line 4: 2024-07-15T09:03:20.000Z is before the run"),
        (CSV.replace(",2000\n", "\n"), "line 3: not CSV"),
        ("time,latitude,longitude\n".to_owned(), "t: a track has at least one point"),
        ("<gpx>".to_owned(), "line 1: not GPX"),
    ];
    for (text, problem) in wrong {
        let message = Track::read("t", &text, start()).unwrap_err().to_string();
        assert!(message.contains(problem), "{message}");
    }
}
