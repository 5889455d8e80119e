//! A flow over the fitted channel `starlink`, whose delay and rates change every 10 ms, beside the same flow over a
//! recorded trace and over a constant rate, of the same mean. The trace has one packet per millisecond: packets of one
//! millisecond arrive together, which would cost less each than over any link with a rate.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::engine::measure;
use crate::{Measured, ROUNDS};

/// A fit all of whose parts move. The means of its log-normal capacities, exp(location + scale squared / 2), are 12 Mbit/s.
const FIT: &str = r#"{"format": "leobench-fit", "version": 1, "name": "benchmark",
    "delay": {"process": {"floor": 18, "location": 3, "scale": 0.5, "tail": 0.9, "drift_s": 600, "fast_s": 0.05,
        "shares": {"drift": 0.1, "slot": 0.4, "slow": 0.2, "fast": 0.3}}},
    "uplink": {"capacity": {"location": 2.4399, "scale": 0.3, "shares": {"slot": 0.5, "slow": 0.3, "fast": 0.2}},
        "loss": {"clean": 0, "lossy": 0.0001, "to_lossy": 0.1, "to_clean": 0.5}},
    "downlink": {"capacity": {"location": 2.4399, "scale": 0.3, "shares": {"slot": 0.5, "slow": 0.3, "fast": 0.2}}}}"#;

/// Prints the cost of a packet and of a virtual second over each channel.
pub(crate) fn compare() {
    println!(
        "One QUIC flow of 60 virtual seconds over a trace of 12 Mbit/s, a constant rate and a fitted channel of the same mean, fastest \
         of {ROUNDS} rounds."
    );
    println!(
        "{:10} {:>10} {:>10} {:>14} {:>10}",
        "channel", "packets", "ns", "ms per second", "to trace"
    );
    let folder = files().unwrap_or_else(|error| panic!("the benchmark's files: {error}"));
    let channels = ["trace", "steady", "starlink"];
    let mut best: [Option<Measured>; 3] = [None; 3];
    for _ in 0..ROUNDS {
        for (best, channel) in best.iter_mut().zip(channels) {
            let measured = measure(&scenario(channel, &folder));
            if best.is_none_or(|best| measured.wall < best.wall) {
                *best = Some(measured);
            }
        }
    }
    let trace = best[0].map_or(0.0, |trace| trace.nanos_per_packet());
    for (measured, channel) in best.into_iter().flatten().zip(channels) {
        let nanos = measured.nanos_per_packet();
        let per_second = measured.wall.as_secs_f64() * 1e3 / 60.0;
        let packets = measured.packets;
        println!(
            "{channel:10} {packets:>10} {nanos:>10.0} {per_second:>14.2} {:>10.2}",
            nanos / trace
        );
    }
}

/// A folder with the trace and the fit.
fn files() -> io::Result<PathBuf> {
    let folder = std::env::temp_dir().join("leobench-bench-channels");
    fs::create_dir_all(&folder)?;
    let millis = (1..=1_000).map(|milli| format!("{milli}\n"));
    fs::write(folder.join("trace"), millis.collect::<String>())?;
    fs::write(folder.join("fit.json"), FIT)?;
    Ok(folder)
}

fn scenario(channel: &str, folder: &Path) -> String {
    let folder = folder.display();
    let (channel, delay) = match channel {
        "trace" => (format!(r#"{{ kind = "trace", file = "{folder}/trace" }}"#), "20 ms"),
        "steady" => (r#"{ kind = "steady", rate = "12 Mbps" }"#.to_owned(), "20 ms"),
        _ => (format!(r#"{{ kind = "starlink", fit = "{folder}/fit.json" }}"#), "0 s"),
    };
    format!(
        r#"
        name = "benchmark"
        duration = "60 s"
        nodes = {{ client = {{}}, server = {{}} }}
        [links.path]
        between = ["client", "server"]
        channel = {channel}
        delay = "{delay}"
        queue = {{ kind = "fifo", limit = "200 packets" }}
        [flows.main]
        transport = {{ kind = "quic", congestion = "bbr" }}
        from = "client"
        to = "server"
        source = {{ kind = "bulk", size = "1000 GB" }}
        "#
    )
}
