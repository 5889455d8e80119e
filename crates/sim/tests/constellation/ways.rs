//! The table of the ways of links through the network in orbit.

use std::collections::BTreeSet;

use crate::common::{run, scenario, table};
use crate::hops::{LASERS, pairs};
use leobench_sim::Outcome;
use leobench_sim::record::Table;

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
