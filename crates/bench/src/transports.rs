//! Both QUIC stacks and TCP through the same engine: what a packet costs, and whether it costs more in a large window.

use std::path::PathBuf;

use leobench_sim::load::{Source, Syntax, load};
use leobench_sim::record::MemorySink;
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

/// The transports to measure: those named, by the last word of their names, beside TCP.
fn chosen(named: Option<&str>) -> Vec<(&'static str, &'static str)> {
    let is_named = |name: &str| match (named, name.split(' ').next_back()) {
        (Some(named), Some(name)) => name == "tcp" || named.split(',').any(|named| named == name),
        _ => true,
    };
    TRANSPORTS.into_iter().filter(|(name, _)| is_named(name)).collect()
}

/// Prints what a packet costs over each transport, in turn, the fastest of several rounds; over some only if they are named.
pub(crate) fn compare(named: Option<&str>) {
    let transports = chosen(named);
    println!(
        "One bulk transfer over each transport in turn, 60 virtual seconds, 20 ms one way, packets of 1,500 bytes, fastest \
         of {ROUNDS} rounds."
    );
    println!(
        "{:12} {:8} {:>10} {:>10} {:>14} {:>10} {:>10}",
        "bottleneck", "", "packets", "ns", "goodput Mbit/s", "to TCP", "to 1st"
    );
    let mut first: Option<Vec<f64>> = None;
    for case in &CASES {
        let mut best: Vec<Option<Cost>> = vec![None; transports.len()];
        for _ in 0..ROUNDS {
            for (best, (_, transport)) in best.iter_mut().zip(&transports) {
                let cost = measure(case, transport);
                if best.is_none_or(|best| cost.nanos < best.nanos) {
                    *best = Some(cost);
                }
            }
        }
        let best: Vec<_> = best.into_iter().flatten().collect();
        let tcp = best.last().map_or(f64::NAN, |tcp| tcp.nanos);
        let first = first.get_or_insert_with(|| best.iter().map(|cost| cost.nanos).collect());
        for ((cost, (name, _)), first) in best.iter().zip(&transports).zip(first) {
            println!(
                "{:12} {name:8} {:>10} {:>10.0} {:>14.2} {:>10.2} {:>10.2}",
                case.name,
                cost.packets,
                cost.nanos,
                cost.goodput_bps / 1e6,
                cost.nanos / tcp,
                cost.nanos / *first,
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
