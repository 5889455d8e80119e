//! Routes beside those of Hypatia (Kassing et al. 2020): Kuiper's shell of 630 km, 100 cities, one pair of cities a row.

use std::fmt::Write as _;

use leobench_base::{SimDuration, SimTime};

use crate::frame::{Geodetic, Site, Vector, light_delay};
use crate::hypatia::{Network, Text};
use crate::isl::links::read_pairs;
use crate::isl::{Exit, Limits, Router};
use crate::motion::{Constellation, DestinationId, Ephemeris, GatewayId, SatelliteId};

const PLANES: usize = 34;
const PER_PLANE: usize = 34;
/// The longest link to the ground: a slope of 30 degrees over flat ground, 630 km below.
const LONGEST_GSL_M: f64 = 1_260e3;
/// The longest link between satellites, over 80 km of air.
const LONGEST_ISL_M: f64 = 5_442_958.2;

/// Element sets as Hypatia writes them: each second plane is half a place ahead, and nothing drags.
fn element_sets() -> String {
    let mut text = format!("{PLANES} {PER_PLANE}\n");
    for number in 0..PLANES * PER_PLANE {
        let (plane, slot) = (number / PER_PLANE, number % PER_PLANE);
        let node = plane as f64 * 360.0 / PLANES as f64;
        let anomaly = (slot as f64 + 0.5 * (plane % 2) as f64) * 360.0 / PER_PLANE as f64;
        let first = format!(
            "1 {:05}U 00000ABC 00001.00000000  .00000000  00000-0  00000+0 0    0",
            number + 1
        );
        let second = format!(
            "2 {:05}  51.9000 {node:8.4} 0000001   0.0000 {anomaly:8.4} 14.80000000    0",
            number + 1
        );
        writeln!(text, "Kuiper-630 {number}\n{}\n{}", summed(&first), summed(&second)).unwrap();
    }
    text
}

/// A line with its checksum.
fn summed(line: &str) -> String {
    let value = |byte: u8| if byte == b'-' { 1 } else { u32::from(byte.saturating_sub(b'0')) };
    let sum: u32 = line.bytes().filter(|b| b.is_ascii_digit() || *b == b'-').map(value).sum();
    format!("{line}{}", sum % 10)
}

/// Every satellite is linked to the next one in its plane, and to that of its number in the next plane.
fn pairs() -> String {
    let mut text = String::new();
    for number in 0..PLANES * PER_PLANE {
        let (plane, slot) = (number / PER_PLANE, number % PER_PLANE);
        let ahead = plane * PER_PLANE + (slot + 1) % PER_PLANE;
        let beside = (plane + 1) % PLANES * PER_PLANE + slot;
        for other in [ahead, beside] {
            writeln!(text, "{} {}", number.min(other), number.max(other)).unwrap();
        }
    }
    text
}

/// The shortest way between two places, with its round trip in nanoseconds.
struct Best {
    way: Vec<usize>,
    rtt_ns: u64,
}

struct Sky {
    ephemeris: Ephemeris,
    router: Router,
    sites: Vec<Site>,
}

impl Sky {
    fn new(stations: &[Geodetic]) -> Self {
        let text = |file, text| Text { file, text };
        let limits =
            format!("max_gsl_length_m={LONGEST_GSL_M}\nmax_isl_length_m={LONGEST_ISL_M}\n");
        let (tles, isls) = (element_sets(), pairs());
        let network = Network::read(
            text("tles.txt", &tles),
            text("isls.txt", &isls),
            text("ground_stations.txt", "0,Manila,14.6042,120.9822,0\n"),
            text("description.txt", &limits),
        );
        let network = network.unwrap();
        let links = read_pairs("isls.txt", &isls, network.satellites.len()).unwrap();
        let all = Constellation::of_satellites(network.satellites);
        let ephemeris = Ephemeris::new(all, network.epoch, SimDuration::from_secs(60)).unwrap();
        let limits = Limits { longest_m: LONGEST_ISL_M, ..Limits::default() };
        let router = Router::new(ephemeris.len(), links, limits, stations.len());
        let sites = stations.iter().map(|place| Site::new(place, Vector::default())).collect();
        Self { ephemeris, router, sites }
    }

    fn advance(&mut self, seconds: u64) {
        self.ephemeris.advance(SimTime::ZERO + SimDuration::from_secs(seconds)).unwrap();
        self.router.update(&self.ephemeris);
        for station in 0..self.sites.len() {
            let exits = self.in_range(station);
            self.router.route(DestinationId::from(station), &exits);
        }
    }

    /// The satellites in range of a station.
    fn in_range(&self, station: usize) -> Vec<Exit> {
        let all = (0..self.ephemeris.len()).map(SatelliteId::from);
        let ranges = all.map(|satellite| (satellite, self.range(station, satellite)));
        let near = ranges.filter(|(_, range)| *range <= LONGEST_GSL_M);
        let gateway = GatewayId::from(station);
        near.map(|(satellite, range)| Exit { satellite, gateway, delay: light_delay(range) })
            .collect()
    }

    fn range(&self, station: usize, satellite: SatelliteId) -> f64 {
        (self.ephemeris.position(satellite) - self.sites[station].position()).norm()
    }

    /// The shortest way over any satellite in range of either.
    fn best(&self, from: usize, to: usize) -> Option<Best> {
        let end = DestinationId::from(to);
        let ways = self.in_range(from).into_iter().filter_map(|entry| {
            let onwards = self.router.way(entry.satellite, end)?;
            Some((entry.delay + onwards.delay, onwards))
        });
        let (delay, way) = ways.min_by_key(|(delay, _)| *delay)?;
        let way = way.satellites.iter().map(|satellite| satellite.index()).collect();
        Some(Best { way, rtt_ns: 2 * delay.as_nanos() })
    }
}

/// A row of `hypatia-routes.csv`.
struct Row {
    from: usize,
    to: usize,
    seconds: u64,
    /// None while there is no way.
    way: Option<Vec<usize>>,
    rtt_ns: f64,
}

fn rows() -> Vec<Row> {
    let text = include_str!("../../../tests/data/hypatia-routes.csv");
    let mut last = None;
    let mut rows = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |cell: &str| cell.parse::<usize>().unwrap();
        let way = match cells[3] {
            "=" => last,
            "" => None,
            way => Some(way.split('-').map(number).collect()),
        };
        last = way.clone();
        let rtt_ns = cells[4].parse().unwrap_or_default();
        let seconds = number(cells[2]) as u64;
        rows.push(Row { from: number(cells[0]), to: number(cells[1]), seconds, way, rtt_ns });
    }
    rows.sort_by_key(|row| row.seconds);
    rows
}

fn stations() -> Vec<Geodetic> {
    let text = include_str!("../../../tests/data/hypatia-stations.csv");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let degrees = lines.map(|line| line.split(',').skip(1).map(|cell| cell.parse().unwrap()));
    let places = degrees.map(|mut cell| {
        let (north, east) = (cell.next().unwrap(), cell.next().unwrap());
        Geodetic::from_degrees(north, east, 0.0)
    });
    places.collect()
}

/// Ranges of `PyEphem` are 32-bit floats over another ellipsoid: round trips differ by less than a microsecond, and one satellite
/// that is 19 m within Hypatia's longest link to the ground is beyond ours.
#[test]
fn routes_are_those_of_hypatia() {
    let mut sky = Sky::new(&stations());
    let (mut now, mut same, mut worst) = (None, 0, 0.0f64);
    let mut others = Vec::new();
    for Row { from, to, seconds, way, rtt_ns } in rows() {
        if now.replace(seconds) != Some(seconds) {
            sky.advance(seconds);
        }
        let found = sky.best(from, to);
        if found.as_ref().map(|best| &best.way) != way.as_ref() {
            others.push((from, to, seconds, way));
            continue;
        }
        same += 1;
        worst = worst.max(found.map_or(0.0, |best| (best.rtt_ns as f64 - rtt_ns).abs()));
    }
    assert!(same > 1_990 && worst < 1e3, "{same} ways, {worst} ns");
    for (from, to, seconds, way) in others {
        sky.advance(seconds);
        let way = way.unwrap();
        let ends = [(from, way[0]), (to, way[way.len() - 1])];
        let beyond =
            ends.map(|(station, satellite)| sky.range(station, satellite.into()) - LONGEST_GSL_M);
        assert!(
            beyond.iter().any(|metres| metres.abs() < 100.0),
            "{from} {to} {seconds} {beyond:?}"
        );
    }
}
