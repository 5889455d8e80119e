//! The table of the ways of links through the network in orbit.

use std::collections::BTreeSet;

use crate::common::{run, scenario, table};
use crate::hops::{LASERS, pairs};
use leobench_base::SimTime;
use leobench_sim::Outcome;
use leobench_sim::record::Table;
use leobench_sim::satellite_links::SatelliteLinks;

/// A way from a time on.
#[derive(Debug)]
struct Row {
    at: u64,
    link: String,
    stations: [Option<String>; 2],
    satellites: Option<Vec<String>>,
    hops: Option<i64>,
    delay: Option<i64>,
}

fn rows(outcome: &Outcome) -> Vec<Row> {
    let ways = table(outcome, Table::Ways);
    let (links, satellites) = (ways.texts("link"), ways.maybe_texts("satellites"));
    let (from, to) = (ways.maybe_texts("from_station"), ways.maybe_texts("to_station"));
    let (hops, delays) = (ways.maybe_integers("hops"), ways.maybe_integers("delay_ns"));
    let times = ways.integers("t_ns");
    let row = |row: usize| Row {
        at: times[row] as u64,
        link: links[row].clone(),
        stations: [from[row].clone(), to[row].clone()],
        satellites: satellites[row]
            .as_ref()
            .map(|names| names.split("->").map(str::to_owned).collect()),
        hops: hops[row],
        delay: delays[row],
    };
    (0..times.len()).map(row).collect()
}

/// The lasers that packets took are those between satellites which follow each other on the ways, and packets went up and came
/// down at their ends.
#[test]
fn packets_take_the_hops_of_the_ways() {
    let text = pairs(LASERS, &[("manila", "dalian", "5 Mbps"), ("istanbul", "nairobi", "5 Mbps")]);
    let outcome = run(&scenario(&text), 1);
    let rows = rows(&outcome);
    let there = |row: &&Row| !row.link.ends_with("->manila") && !row.link.ends_with("->istanbul");
    let mut expected = BTreeSet::new();
    for row in rows.iter().filter(there).filter(|row| row.at < 10_000_000_000) {
        let satellites = row.satellites.as_ref().unwrap();
        let [Some(from), Some(to)] = &row.stations else { panic!("{row:?}") };
        assert!(row.link.ends_with(&format!("/{from}->{to}")), "{row:?}");
        assert_eq!(row.hops, Some(satellites.len() as i64 - 1));
        // Light takes 4 ms up to 600 km and down again, and 67 ms half around the Earth on the ground.
        assert!((4_000_000..150_000_000).contains(&row.delay.unwrap()), "{row:?}");
        expected.insert(format!("up/{from}"));
        expected
            .extend(satellites.windows(2).map(|ends| format!("laser/{}->{}", ends[0], ends[1])));
        expected.insert(format!("down/{}->ground", satellites.last().unwrap()));
    }
    let hops = outcome.summary.orbit.as_ref().unwrap().hops.iter();
    let used: BTreeSet<_> =
        hops.filter(|hop| hop.sent_packets > 0).map(|hop| hop.name.clone()).collect();
    assert_eq!(used, expected);
}

/// At every time, the latest row has the serving satellite, the hops and at first the delay that `leobench orbit` shows; there is no
/// row without a change.
#[test]
fn ways_are_those_of_the_report_on_the_orbit() {
    // Above 60 degrees, Kuiper's first shell leaves gaps.
    let sky = LASERS.to_owned() + "lowest_elevation = \"60 deg\"";
    let text = pairs(&sky, &[("manila", "dalian", "20 kbps"), ("istanbul", "nairobi", "20 kbps")]);
    let text = text.replace("lowest_elevation = \"30 deg\"", "").replace("\"20 s\"", "\"120 s\"");
    let text = text.replace("stop = \"10 s\"", "").replace("until = \"drained\"", "");
    let scenario = scenario(&text);
    let rows = rows(&run(&scenario, 1));
    let mut links = SatelliteLinks::new(&scenario, 1).unwrap().unwrap();
    let (mut ways, mut changes, mut seen) = (0, 0, 0);
    loop {
        for path in 0..links.len() {
            let name = format!("{}/", links.link(path));
            let forward = |row: &&Row| {
                row.link.starts_with(&name)
                    && row.link.contains(&format!("/{}->", start(&links, path)))
            };
            let now = links.now().as_nanos();
            let latest = rows.iter().filter(forward).rfind(|row| row.at <= now).unwrap();
            let Some(way) = &links.state(path).way else { continue };
            ways += 1;
            let satellites = latest.satellites.as_ref().unwrap();
            assert_eq!(satellites[0], links.name(way.satellite), "{latest:?}");
            assert_eq!(latest.hops, Some(way.hops as i64), "{latest:?}");
            if latest.at == now {
                seen += 1;
                assert_eq!(latest.delay, Some(way.delay.as_nanos() as i64), "{latest:?}");
            }
        }
        let next = links.next();
        if next > SimTime::from_nanos(120_000_000_000) {
            break;
        }
        links.advance(next);
    }
    let mut names: Vec<_> = rows.iter().map(|row| row.link.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 4, "both directions of both links: {names:?}");
    let mut gaps = 0;
    for name in names {
        let of_link: Vec<_> = rows.iter().filter(|row| row.link == name).collect();
        assert_eq!(of_link[0].at, 0);
        for pair in of_link.windows(2) {
            changes += 1;
            assert!(pair[0].satellites != pair[1].satellites, "{pair:?}");
        }
        gaps += of_link.iter().filter(|row| row.satellites.is_none()).count();
    }
    assert!(ways > 200 && changes > 10 && seen > 5 && gaps > 0, "{ways} {changes} {seen} {gaps}");
}

fn start(links: &SatelliteLinks, path: usize) -> &str {
    &links.stations().terminals[links.terminal(path)].name
}
