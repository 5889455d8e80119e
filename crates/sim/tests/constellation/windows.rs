//! Windows over constellations against steps: all tables and the summary are equal to the byte.

use std::fmt::Write as _;
use std::ops::Range;

use crate::common::{bytes, try_scenario};
use crate::hops::anything;
use leobench_sim::record::MemorySink;
use leobench_sim::{Outcome, Run, RunOptions};

/// A [random constellation](anything) with 40 flows, of which some use two paths, and tables of one kind or another.
fn crowded(seed: u64) -> String {
    let record = match seed % 4 {
        0 => "warm_up = \"3 s\"",
        1 => "record = { interval = \"70 ms\" }",
        2 => "warm_up = \"2500 ms\"\nrecord = { series = false, messages = false }",
        _ => "record = { interval = \"130 ms\", messages = false }",
    };
    let mut text = anything(seed)
        .replace("until = \"drained\"", record)
        .replace("25 s", "7 s")
        .replace("18 s", "6 s")
        .replace("            transport = ", "            count = 8\n            transport = ")
        .replace(" Mbps\" }\n            stop", "00 kbps\" }\n            stop");
    let (_, ends) = text.split_once("between = [\"").unwrap();
    let ends = (ends[..2].to_owned(), ends[6..8].to_owned());
    write!(
        text,
        r#"
        [links.aside]
        between = ["{0}", "{1}"]
        rate = "5 Mbps"
        delay = "30 ms"
        [flows.both]
        count = 8
        from = "{0}"
        to = "{1}"
        transport = {{ kind = "quic", multipath = {{ links = ["way-0", "aside"] }} }}
        source = {{ kind = "poisson", size = "20000 B", rate = "500 kbps" }}
        stop = "6 s"
        "#,
        ends.0, ends.1
    )
    .unwrap();
    text
}

/// Runs a scenario in windows, as a run does, or from event to event. Returns the number of windows.
fn run(text: &str, seed: u64, windows: bool) -> Option<(Outcome, u64)> {
    let scenario = try_scenario(text).ok()?;
    let sink = Box::new(MemorySink::new().unwrap());
    let mut run = Run::new(&scenario, seed, RunOptions::default(), sink).unwrap();
    let (end, _) = run.end();
    let (network, mut count) = (run.network(), 0);
    if windows {
        loop {
            match network.run(end, 1).unwrap() {
                0 => break,
                1 => {}
                _ => count += 1,
            }
        }
    } else {
        network.advance(end).unwrap();
    }
    Some((run.finish().unwrap(), count))
}

/// Counts of the scenarios compared, of those with many windows, and of what happened in them.
#[derive(Debug, Default)]
struct Compared {
    scenarios: u32,
    with_windows: u32,
    dropped_at_lasers: u64,
    looped: u64,
    dropped_in_handovers: u64,
}

impl Compared {
    /// Enough was compared, and everything happened that may make a difference.
    fn check(&self, least: u32) {
        let Self { scenarios, with_windows, dropped_at_lasers, looped, dropped_in_handovers } =
            self;
        assert!(*scenarios > least && 4 * with_windows > 3 * least, "{self:?}");
        assert!(*dropped_at_lasers > 0 && *looped > 0 && *dropped_in_handovers > 0, "{self:?}");
    }
}

/// Compares runs of random scenarios in windows with those from event to event.
fn compare(seeds: Range<u64>) -> Compared {
    let mut compared = Compared::default();
    for seed in seeds {
        let text = crowded(seed);
        let Some((in_windows, count)) = run(&text, seed, true) else { continue };
        let (in_steps, _) = run(&text, seed, false).unwrap();
        assert_eq!(in_windows.summary, in_steps.summary, "{seed}: {text}");
        assert_eq!(in_windows.tables.len(), in_steps.tables.len());
        for (one, other) in in_windows.tables.iter().zip(&in_steps.tables) {
            assert!(bytes(one) == bytes(other), "{seed}: `{}` differs: {text}", one.table.name());
        }
        let Some(orbit) = &in_windows.summary.orbit else { continue };
        let lasers = orbit.hops.iter().filter(|hop| hop.name.starts_with("laser/"));
        compared.scenarios += 1;
        compared.with_windows += u32::from(count > 100);
        compared.dropped_at_lasers +=
            lasers.map(|hop| hop.dropped_packets.of("queue")).sum::<u64>();
        compared.looped += orbit.looped_packets;
        let drops = in_windows.summary.links.iter().map(|link| &link.dropped_packets);
        compared.dropped_in_handovers += drops.map(|drops| drops.of("handover")).sum::<u64>();
    }
    compared
}

#[test]
fn windows_over_constellations_give_the_bytes_of_steps() {
    compare(120..150).check(15);
}

#[test]
#[ignore = "the long form of the test above"]
fn windows_over_many_constellations_give_the_bytes_of_steps() {
    compare(150..550).check(200);
}
