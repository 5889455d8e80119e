//! Links through a constellation: what packets see of geometry computed independently, satellite by satellite.

use crate::common::{bytes, run, scenario, table};
use leobench_base::{SimDuration, SimTime};
use leobench_orbit::{
    Angle, Constellation, Epoch, Geodetic, SatelliteId, Shell, Site, Vector, frame::LIGHT_SPEED,
};
use leobench_sim::Outcome;
use leobench_sim::record::Table;
use leobench_sim::satellite_links::SatelliteLinks;

const START: &str = "2026-03-20T12:00:00";

/// A terminal in Bologna and a gateway in Turin under a shell of 1,584 satellites; `run`, `sky` and `link` say more.
pub(super) fn bologna(run: &str, sky: &str, link: &str) -> String {
    format!(
        r#"
        name = "bologna"
        {run}
        nodes = {{ van = {{}}, office = {{}} }}
        [constellation]
        satellites = {{ walker = {{ own = {{ altitude = "550 km", inclination = "53 deg", planes = 72, per_plane = 22, phasing = 17 }} }} }}
        start = "{START}Z"
        {sky}
        [constellation.terminals.bologna]
        latitude = "44.494 deg"
        longitude = "11.343 deg"
        [constellation.gateways.turin]
        latitude = "45.07 deg"
        longitude = "7.687 deg"
        altitude = "240 m"
        delay = "3 ms"
        [links.sky]
        between = ["van", "office"]
        constellation = {{ terminal = "bologna" }}
        rate = "8 Mbps"
        {link}
        [flows.main]
        transport = "udp"
        from = "van"
        to = "office"
        source = {{ kind = "cbr", rate = "80 kbps", size = "972 B" }}
        "#
    )
}

/// The same geometry from the crate's orbits alone, without ephemeris, grid or assignment.
pub(super) struct Direct {
    pub(super) constellation: Constellation,
    start: Epoch,
    ends: [Site; 2],
}

impl Direct {
    pub(super) fn new() -> Self {
        let start = Epoch::parse(START).unwrap();
        let shell = Shell::delta("own", 550.0, 53.0, 72, 22).phased(17);
        let site = |latitude, longitude, altitude| {
            let place = Geodetic::from_degrees(latitude, longitude, altitude);
            Site::new(&place, Vector::default())
        };
        Self {
            constellation: Constellation::of_shells(&[shell], start, true),
            start,
            ends: [site(44.494, 11.343, 0.0), site(45.07, 7.687, 240.0)],
        }
    }

    /// Elevation at the terminal and delay over a satellite, if both ends see it above 25 degrees.
    pub(super) fn over(&self, satellite: SatelliteId, at: SimTime) -> Option<(f64, f64)> {
        let state = self.constellation.state(satellite, self.start.at(at));
        let state = state.unwrap();
        let [up, down] = self.ends.map(|site| site.look(&state));
        let lowest = Angle::from_degrees(25.0);
        let metres = up.range_m + down.range_m;
        (up.elevation >= lowest && down.elevation >= lowest)
            .then(|| (up.elevation.degrees(), metres / LIGHT_SPEED + 3e-3))
    }
}

/// Positions between knots are within 0.4 m of the orbit, delays rounded to 1 ns per leg: 10 ns.
#[test]
fn the_highest_satellite_serves_with_the_delay_of_its_way() {
    let text = bologna("duration = \"100 s\"", "policy = \"highest\"", "delay = \"5 ms\"");
    let outcome = run(&scenario(&text), 1);
    let rows = table(&outcome, Table::Channel);
    let direct = Direct::new();
    let count = direct.constellation.satellites().len();
    let mut served = std::collections::BTreeSet::new();
    let (times, delays, labels) =
        (rows.integers("t_ns"), rows.integers("delay_ns"), rows.texts("label"));
    for row in (0..rows.rows()).step_by(50) {
        let at = SimTime::from_nanos(times[row] as u64);
        let ways = (0..count)
            .filter_map(|satellite| Some((satellite, direct.over(satellite.into(), at)?)));
        let (satellite, (_, delay)) = ways.max_by(|a, b| a.1.0.total_cmp(&b.1.0)).unwrap();
        assert_eq!(labels[row], direct.constellation.satellites()[satellite].name, "at {at}");
        let expected = (delay + 5e-3) * 1e9;
        assert!((delays[row] as f64 - expected).abs() < 10.0, "{} {expected}", delays[row]);
        served.insert(satellite);
    }
    assert!(served.len() > 2 && rows.rows() > 1_900, "{served:?}, {} rows", rows.rows());
}

/// A datagram of 1,000 B takes 1 ms on the wire; then the way that the terminal has at that instant.
#[test]
fn packets_take_the_delay_of_their_instant() {
    let run_keys = "duration = \"30 s\"";
    let outcome = run(&scenario(&bologna(run_keys, "policy = \"sticky\"", "")), 1);
    let (messages, direct) = (table(&outcome, Table::Messages), Direct::new());
    let label = table(&outcome, Table::Channel).texts("label")[0].clone();
    let names = direct.constellation.satellites();
    let satellite = names.iter().position(|one| one.name == label).unwrap();
    let (created, delivered) = (messages.integers("created_ns"), messages.integers("delivered_ns"));
    assert!(messages.rows() > 250);
    for (from, to) in created.iter().zip(&delivered) {
        let sent = SimTime::from_nanos(*from as u64 + 1_000_000);
        let (_, delay) = direct.over(satellite.into(), sent).unwrap();
        let seen = (to - from) as f64 / 1e9 - 1e-3;
        // Delays are those of the last step, up to 100 ms ago, and change by less than 50 us per second.
        assert!((seen - delay).abs() < 5.1e-6, "{seen} {delay}");
    }
}

/// Starlink's grid: handovers begin at seconds 12, 27, 42 and 57; packets wait out 40 ms, and all arrive.
#[test]
fn handovers_come_on_the_grid_and_hold_packets() {
    let text = bologna("duration = \"2 min\"", "outage = \"40 ms\"", "");
    let outcome = run(&scenario(&text), 1);
    let rows = table(&outcome, Table::Handovers);
    let (times, stages) = (rows.integers("t_ns"), rows.texts("stage"));
    let (from, to) = (rows.texts("from_link"), rows.texts("to_link"));
    assert!(rows.rows() >= 8, "{} rows", rows.rows());
    for begin in (0..rows.rows()).step_by(2) {
        assert_eq!((times[begin] / 1_000_000_000) % 15, 12, "{}", times[begin]);
        assert_eq!(times[begin] % 1_000_000_000, 0);
        assert_eq!(times[begin + 1] - times[begin], 40_000_000);
        assert_eq!([&*stages[begin], &*stages[begin + 1]], ["begin", "end"]);
        assert!(from[begin].starts_with("own/") && to[begin].starts_with("own/"));
        assert_ne!(from[begin], to[begin]);
    }
    let flow = &outcome.summary.flows[0];
    assert_eq!(flow.undelivered_messages, 0, "the queue waits for the new satellite");
    let seen = flow.handovers.as_ref().unwrap();
    assert_eq!(seen.count as usize, rows.rows() / 2);
    assert_eq!(seen.phases.no_way_ms.max, Some(40.0));
}

/// Dropping what is under way at a handover loses the packets of 13 ms and more on a link that sends one each millisecond.
#[test]
fn packets_on_the_way_can_be_lost() {
    let busy = |left: &str| {
        let sky = format!("outage = \"40 ms\"\nold_packets = \"{left}\"");
        let text = bologna("duration = \"30 s\"", &sky, "");
        let outcome = run(&scenario(&text.replace("80 kbps", "7.6 Mbps")), 1);
        let flow = &outcome.summary.flows[0];
        let handovers = table(&outcome, Table::Handovers).rows() as u64 / 2;
        (flow.dropped_packets.of("handover"), handovers)
    };
    assert_eq!(busy("drain").0, 0);
    let (lost, handovers) = busy("drop");
    assert!(handovers > 0 && lost > 5 * handovers, "{lost} packets in {handovers} handovers");
}

/// With an overlap, what is under way arrives over the old satellite although it is dropped where that is left, and nothing waits.
#[test]
fn an_overlap_is_make_before_break() {
    let busy = |gap: &str| {
        let sky = format!("{gap}\nold_packets = \"drop\"");
        let text = bologna("duration = \"30 s\"", &sky, "delay = \"20 ms\"");
        run(&scenario(&text.replace("80 kbps", "7.6 Mbps")), 1)
    };
    let dropped = |outcome: &Outcome| outcome.summary.flows[0].dropped_packets.of("handover");
    assert!(dropped(&busy("")) > 10, "{}", dropped(&busy("")));
    let outcome = busy("overlap = \"100 ms\"");
    assert_eq!(dropped(&outcome), 0);
    let rows = table(&outcome, Table::Handovers);
    let (times, stages) = (rows.integers("t_ns"), rows.texts("stage"));
    assert!(rows.rows() >= 2);
    for begin in (0..rows.rows()).step_by(2) {
        assert_eq!([&*stages[begin], &*stages[begin + 1]], ["begin", "end"]);
        assert_eq!(times[begin + 1] - times[begin], 100_000_000);
    }
    let labels = table(&outcome, Table::Channel).texts("label");
    assert!(labels.iter().all(|label| label != "handover"), "the new satellite serves at once");
    let seen = outcome.summary.flows[0].handovers.as_ref().unwrap();
    assert_eq!(seen.phases.no_way_ms.max, Some(0.0));
    // Too short an overlap loses what is still on its way of 33 ms when it ends.
    assert!(dropped(&busy("overlap = \"10 ms\"")) > 10);
}

/// A single plane of one satellite rises and sets within the run.
#[test]
fn a_link_is_down_without_a_satellite() {
    let text = bologna(
        "duration = \"110 min\"\nrecord = { interval = \"1 s\" }",
        "policy = \"longest\"\nstep = \"1 s\"",
        "",
    )
    .replace("planes = 72, per_plane = 22, phasing = 17", "planes = 3, per_plane = 4");
    let scenario = scenario(&text);
    let outcome = run(&scenario, 1);
    let rows = table(&outcome, Table::Channel);
    let labels = rows.texts("label");
    assert!(labels.iter().any(|label| label == "none"));
    assert!(labels.iter().any(|label| label.starts_with("own/")));
    let flow = &outcome.summary.flows[0];
    assert!(flow.dropped_packets.of("down") > 0 && flow.undelivered_messages < flow.messages);
    // The loss of a satellite begins a handover that ends with the next rise.
    let handovers = table(&outcome, Table::Handovers);
    let (to, stages) = (handovers.texts("to_link"), handovers.texts("stage"));
    let lost = to.iter().position(|to| to == "none").unwrap();
    assert_eq!(stages[lost], "begin");
}

/// With R1 = 105 km and v = 7 km/s, the second subflow begins after 15 s; d1/v = 25.36 s later both share a satellite for 15 s.
#[test]
fn subflows_of_a_chain_share_a_satellite_in_turns() {
    let scenario = crate::common::shipped("maco-chain.toml", &[]);
    let mut sky = SatelliteLinks::new(&scenario, 1).unwrap().unwrap();
    let at = |millis: u64| SimTime::ZERO + SimDuration::from_millis(millis);
    let mut sharers = |millis: u64| {
        sky.advance(at(millis));
        [0, 1].map(|path| sky.state(path).way.as_ref().map(|way| way.sharers))
    };
    assert_eq!(sharers(14_999), [Some(1), None]);
    assert_eq!(sharers(15_000), [Some(1), Some(1)]);
    assert_eq!(sharers(15_000 + 25_357), [Some(1), Some(1)]);
    assert_eq!(sharers(15_000 + 25_358), [Some(2), Some(2)]);
    assert_eq!(sharers(30_000 + 25_357), [Some(2), Some(2)]);
    assert_eq!(sharers(30_000 + 25_358), [Some(1), Some(1)]);
    // Equations 2 and 3: 200 Mbit/s overhead, 197 at the edge of the footprint.
    let rates: Vec<_> = (0..60)
        .map(|step| {
            sky.advance(at(60_000 + 100 * step));
            sky.state(0).rates[0].bps() as f64 / 1e6
        })
        .collect();
    assert!(rates.iter().all(|rate| (196.5..200.1).contains(rate)), "{rates:?}");
}

/// A run that starts 40 s into the states of a chain sees what another one sees 40 s later; one that starts at random starts
/// anywhere in the second cycle of 40.36 s, with two subflows.
#[test]
fn a_chain_starts_at_a_phase() {
    let at = |millis: u64| SimTime::ZERO + SimDuration::from_millis(millis);
    let sky = |chain: &str, phase: &str, seed| {
        let satellites =
            [("constellation.satellites.chain", chain), ("constellation.satellites.phase", phase)];
        let scenario = crate::common::shipped("maco-chain.toml", &satellites);
        SatelliteLinks::new(&scenario, seed).unwrap().unwrap()
    };
    for chain in ["printed", "geometric"] {
        let (mut first, mut later) = (sky(chain, "0 s", 1), sky(chain, "40 s", 1));
        for millis in (0..60_000).step_by(100) {
            first.advance(at(40_000 + millis));
            later.advance(at(millis));
            let ways = |sky: &SatelliteLinks| [0, 1].map(|path| sky.state(path).clone());
            assert_eq!(ways(&first), ways(&later), "{chain}, {millis} ms");
        }
    }
    let mut satellites = std::collections::BTreeSet::new();
    let mut shared = 0;
    for seed in 1..=200 {
        let sky = sky("printed", "random", seed);
        let ways = [0, 1].map(|path| sky.state(path).way.clone().unwrap());
        shared += u64::from(ways[0].sharers == 2);
        satellites.insert(ways.map(|way| way.satellite.index()));
    }
    // s3 lasts 15 s of 40.36: 74 of 200, with a standard deviation of 7.
    assert!((50..100).contains(&shared), "{shared}");
    assert_eq!(satellites.into_iter().collect::<Vec<_>>(), [[1, 1], [1, 2]]);
}

/// No way is shorter than the straight line, and London to New York is 5,570 km along the ground: 18.6 ms.
#[test]
fn ways_between_satellites_are_longer_than_the_ground_below() {
    let scenario = crate::common::shipped("london-new-york.toml", &[]);
    let mut sky = SatelliteLinks::new(&scenario, 1).unwrap().unwrap();
    let mut hops = std::collections::BTreeSet::new();
    for second in 0..120 {
        sky.advance(SimTime::ZERO + SimDuration::from_secs(second));
        let way = sky.state(0).way.clone().unwrap();
        let millis = way.delay.as_millis_f64();
        assert!((18.6..29.5).contains(&millis), "{millis}: the cable takes 29.5 ms");
        hops.insert(way.hops);
    }
    assert!(hops.iter().all(|hops| *hops >= 2), "{hops:?}");
}

#[test]
fn the_same_run_has_the_same_bytes() {
    let text = bologna(
        "duration = \"40 s\"",
        "outage = { kind = \"uniform\", from = \"10 ms\", to = \"90 ms\" }",
        "",
    );
    let scenario = scenario(&text);
    let [one, other] = [run(&scenario, 3), run(&scenario, 3)];
    for (one, other) in one.tables.iter().zip(&other.tables) {
        assert_eq!(bytes(one), bytes(other));
    }
    let different = run(&scenario, 4);
    let handovers = Table::Handovers as usize;
    assert_ne!(bytes(&one.tables[handovers]), bytes(&different.tables[handovers]));
}
