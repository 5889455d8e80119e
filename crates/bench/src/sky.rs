//! The cost of packets and of their hops over a constellation whose lasers and stations have queues, with more and more flows.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use leobench_sim::load::{Source, Syntax, load};
use leobench_sim::record::MemorySink;
use leobench_sim::{Run, RunOptions};

use crate::{memory, timed};

/// Flows, each of 10 Mbit/s.
const FLOWS: [usize; 3] = [10, 100, 1_000];
/// Virtual seconds of a run.
const SECONDS: u64 = 3;
/// Stations, at even distances around the Earth and on five latitudes.
const STATIONS: usize = 30;
const LATITUDES: [i32; 5] = [-35, -10, 5, 30, 50];

/// Prints what a packet and a hop cost by number of flows, the hop beside that with the fewest, and the memory of such a run, each in a process
/// of its own.
pub(crate) fn compare() {
    println!(
        "QUIC flows of 10 Mbit/s between {STATIONS} stations over 1,156 satellites, each laser and station with a queue, \
         {SECONDS} virtual seconds"
    );
    println!(
        "{:>8} {:>10} {:>12} {:>10} {:>9} {:>8}",
        "flows", "packets", "at satellites", "ns/packet", "ns/hop", "MiB"
    );
    let mut first = None;
    for flows in FLOWS {
        let own = std::env::current_exe().unwrap_or_else(|error| panic!("own path: {error}"));
        let output = Command::new(own).args(["sky", &flows.to_string()]).output();
        let output = output.unwrap_or_else(|error| panic!("cannot run a child: {error}"));
        let text = String::from_utf8_lossy(&output.stdout);
        let numbers: Vec<f64> =
            text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [nanos, packets, visits, kib] = numbers[..] else { panic!("child said {text:?}") };
        // Up, down, and a laser between each two satellites.
        let each = nanos / (visits + packets);
        let ratio = each / *first.get_or_insert(each);
        println!(
            "{flows:>8} {packets:>10} {visits:>12} {:>10.0} {each:>9.0} {:>8.0}   {ratio:.2} times the hop with {} flows",
            nanos / packets,
            kib / 1_024.0,
            FLOWS[0],
        );
    }
}

/// Runs so many flows, and prints nanoseconds, packets, how often they came to satellites, and the peak memory in KiB.
pub(crate) fn child(flows: &str) {
    let run = || -> Result<(f64, u64, u64), Box<dyn std::error::Error>> {
        let text = scenario(flows.parse()?);
        let file = "benchmark";
        let source = Source { file, text: &text, syntax: Syntax::Toml, folder: PathBuf::new() };
        let scenario = load(&source, &[])?;
        let mut run = Run::new(&scenario, 1, RunOptions::default(), Box::new(MemorySink::new()?))?;
        let (wall, done) = timed(|| run.to_end());
        done?;
        let summary = run.finish()?.summary;
        let visits = summary.orbit.map_or(0, |orbit| orbit.visits);
        Ok((wall.as_nanos() as f64, summary.packets, visits))
    };
    let (nanos, packets, visits) =
        run().unwrap_or_else(|error| panic!("the benchmark's own scenario failed: {error}"));
    println!("{nanos} {packets} {visits} {}", memory::peak());
}

fn scenario(flows: usize) -> String {
    let queue = r#"{ kind = "fifo", limit = "10 MB" }"#;
    let mut text = format!(
        r#"
        name = "benchmark"
        duration = "{SECONDS} s"
        record = {{ messages = false, series = false }}
        [constellation]
        satellites.walker.k1 = {{ altitude = "630 km", inclination = "51.9 deg", planes = 34, per_plane = 34 }}
        start = "2026-01-01T00:00:00Z"
        policy = "shortest"
        isl = {{ rate = "20 Gbps", queue = {queue} }}
        ground = {{ rate = "20 Gbps", queue = {queue} }}
        "#
    );
    for station in 0..STATIONS {
        let longitude = station * 360 / STATIONS;
        let latitude = LATITUDES[station % LATITUDES.len()];
        let _ = writeln!(text, "[nodes.n{station}]");
        for kind in ["terminals", "gateways"] {
            let _ = writeln!(
                text,
                "[constellation.{kind}.n{station}]\nlatitude = \"{latitude} deg\"\nlongitude = \"{} deg\"",
                longitude as i64 - 180
            );
        }
    }
    // Every pair of two stations has one link, and flows go around the pairs.
    let pairs = STATIONS * (STATIONS - 1);
    let pair = |number: usize| {
        let (from, step) = (number % STATIONS, 1 + number * 7 / STATIONS % (STATIONS - 1));
        (from, (from + step) % STATIONS)
    };
    for number in 0..flows.min(pairs) {
        let (from, to) = pair(number);
        let _ = writeln!(
            text,
            "[links.l{number}]\nbetween = [\"n{from}\", \"n{to}\"]\nrate = \"20 Gbps\"\nqueue = {queue}\n\
             constellation = {{ terminal = \"n{from}\", gateways = [\"n{to}\"] }}"
        );
    }
    for flow in 0..flows {
        let (from, to) = pair(flow % pairs);
        let _ = writeln!(
            text,
            "[flows.f{flow}]\ntransport = \"quic\"\nfrom = \"n{from}\"\nto = \"n{to}\"\nstart = \"{} ms\"\n\
             source = {{ kind = \"cbr\", size = \"12 kB\", rate = \"10 Mbps\" }}",
            flow % 100
        );
    }
    text
}
