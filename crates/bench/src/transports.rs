//! Both QUIC stacks and TCP through the same engine: what a packet costs, and whether it costs more in a large window.

use std::path::PathBuf;

use leobench_sim::record::MemorySink;
use leobench_sim::scenario::{Source, Syntax, load};
use leobench_sim::{Run, RunOptions};

use crate::{CASES, Case, DELAY, ROUNDS, timed};

/// Name and parameters of what is compared: packets of 1,500 bytes each, and the same controller.
const TRANSPORTS: [(&str, &str); 4] = [
    ("quic noq", r#"{ kind = "quic", stack = "noq", payload = "1472 B" }"#),
    ("quic own", r#"{ kind = "quic", stack = "own", payload = "1472 B" }"#),
    ("quic tls", r#"{ kind = "quic", stack = "own", protection = "tls", payload = "1472 B" }"#),
    ("tcp", r#"{ kind = "tcp", receive_buffer = "unlimited", send_buffer = "unlimited" }"#),
];

/// Wall nanoseconds per packet, and packets.
#[derive(Clone, Copy)]
struct Cost {
    nanos: f64,
    packets: u64,
    goodput_bps: f64,
}

/// Runs a case once over TCP, for a profiler.
pub(crate) fn tcp(case: &Case) {
    measure(case, TRANSPORTS[TRANSPORTS.len() - 1].1);
}

/// Prints what a packet costs over each transport, in turn, the fastest of several rounds.
pub(crate) fn compare() {
    println!(
        "One bulk transfer over each transport in turn, 60 virtual seconds, 20 ms one way, packets of 1,500 bytes, fastest \
         of {ROUNDS} rounds."
    );
    println!(
        "{:12} {:8} {:>10} {:>10} {:>14} {:>10}",
        "bottleneck", "", "packets", "ns", "goodput Mbit/s", "to TCP"
    );
    for case in &CASES {
        let mut best: [Option<Cost>; TRANSPORTS.len()] = [None; TRANSPORTS.len()];
        for _ in 0..ROUNDS {
            for (best, (_, transport)) in best.iter_mut().zip(TRANSPORTS) {
                let cost = measure(case, transport);
                if best.is_none_or(|best| cost.nanos < best.nanos) {
                    *best = Some(cost);
                }
            }
        }
        let tcp = best[TRANSPORTS.len() - 1].map_or(f64::NAN, |tcp| tcp.nanos);
        for (cost, (name, _)) in best.into_iter().flatten().zip(TRANSPORTS) {
            println!(
                "{:12} {name:8} {:>10} {:>10.0} {:>14.2} {:>10.2}",
                case.name,
                cost.packets,
                cost.nanos,
                cost.goodput_bps / 1e6,
                cost.nanos / tcp
            );
        }
    }
}

fn measure(case: &Case, transport: &str) -> Cost {
    let run = || -> Result<(u64, f64), Box<dyn std::error::Error>> {
        let text = scenario(case, transport);
        let file = "benchmark";
        let source = Source { file, text: &text, syntax: Syntax::Toml, folder: PathBuf::new() };
        let scenario = load(&source, &[])?;
        let mut run = Run::new(&scenario, 1, RunOptions::default(), Box::new(MemorySink::new()?))?;
        run.to_end()?;
        let summary = run.finish()?.summary;
        Ok((summary.packets, summary.flows[0].goodput_bps.unwrap_or(0.0)))
    };
    let (wall, outcome) = timed(run);
    match outcome {
        Ok((packets, goodput_bps)) => {
            Cost { nanos: wall.as_nanos() as f64 / packets as f64, packets, goodput_bps }
        }
        Err(error) => panic!("the benchmark's own scenario failed: {error}"),
    }
}

fn scenario(case: &Case, transport: &str) -> String {
    format!(
        r#"
        name = "benchmark"
        duration = "{span}"
        nodes = {{ client = {{}}, server = {{}} }}
        [links.path]
        between = ["client", "server"]
        rate = "{rate} bps"
        delay = "{DELAY}"
        queue = {{ kind = "fifo", limit = "{queue} packets" }}
        [flows.main]
        transport = {transport}
        from = "client"
        to = "server"
        source = {{ kind = "bulk", size = "1000 GB" }}
        "#,
        span = case.span,
        rate = case.rate_bps,
        queue = case.queue,
    )
}
