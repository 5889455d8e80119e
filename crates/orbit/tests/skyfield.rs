//! Looks at satellites against skyfield, which turns TEME into ITRS by way of the full models of the IAU.

use leobench_base::SimDuration;
use leobench_orbit::{Epoch, Geodetic, Satellite, Site, Vector, elements};

/// 15 July 2024, when UT1 was 0.01 s from UTC.
const DAY: &str = "2024-07-15";

#[test]
fn looks_are_those_of_skyfield() {
    let day = Epoch::parse(DAY).unwrap();
    let mut satellite: Option<Satellite> = None;
    let (mut first, mut rows) = ("", 0);
    let (mut angle, mut range, mut rate) = (0.0f64, 0.0f64, 0.0f64);
    for line in include_str!("data/skyfield-looks.csv").lines() {
        if let Some(line) = line.strip_prefix("# ") {
            if line.starts_with('2') {
                let set = elements::read("set", &format!("{first}\n{line}")).unwrap().remove(0);
                satellite = Some(set.elements.satellite().unwrap());
            }
            first = line;
            continue;
        }
        let fields: Vec<&str> = line.split(',').collect();
        let number = |index: usize| fields[index].parse::<f64>().unwrap();
        let place = match fields[0] {
            "louvain" => Geodetic::from_degrees(50.67, 4.61, 150.0),
            "kanazawa" => Geodetic::from_degrees(36.56, 136.66, 60.0),
            "brisbane" => Geodetic::from_degrees(-27.47, 153.02, 30.0),
            other => panic!("{other}"),
        };
        let at = day.after(SimDuration::from_secs(number(1) as u64 * 60));
        let state = satellite.as_ref().unwrap().orbit.state(at).unwrap().to_ecef(at);
        let look = Site::new(&place, Vector::default()).look(&state);
        let turn = look.azimuth.degrees() - number(2);
        let turn = (turn + 540.0).rem_euclid(360.0) - 180.0;
        // Near the zenith, an azimuth turns without the direction moving.
        angle = angle.max((turn * look.elevation.cos()).abs());
        angle = angle.max((look.elevation.degrees() - number(3)).abs());
        range = range.max((look.range_m * 1e-3 - number(4)).abs());
        rate = rate.max((look.range_rate * 1e-3 - number(5)).abs());
        rows += 1;
    }
    println!("{rows} looks: {angle:.5} degrees, {range:.4} km, {rate:.6} km/s");
    assert_eq!(rows, 3 * 3 * 72);
    assert!(angle < 0.01, "{angle} degrees");
    assert!(range < 0.1, "{range} km");
    assert!(rate < 0.001, "{rate} km/s");
}
