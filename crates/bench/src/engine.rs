//! The engine on one link, with everything a user's run has.

use std::path::PathBuf;

use leobench_sim::load::{Source, Syntax, load};
use leobench_sim::record::MemorySink;
use leobench_sim::{Run, RunOptions};

use crate::{Case, DELAY, Measured, PAYLOAD, timed};

/// The source of a flow of one endless stream, as TOML.
pub(crate) const ONE_STREAM: &str = r#"source = { kind = "bulk", size = "1000 GB" }"#;

/// Runs a case through the engine, a single stream.
pub(crate) fn run(case: &Case) -> Measured {
    run_flow(case, ONE_STREAM)
}

/// Runs a case through the engine, with a flow that sends what the lines say, recording as by default.
pub(crate) fn run_flow(case: &Case, flow: &str) -> Measured {
    run_recording(case, flow, "messages = true")
}

/// Runs a case through the engine, with a flow that sends what the lines of `flow` say, and recording what `record` says.
pub(crate) fn run_recording(case: &Case, flow: &str, record: &str) -> Measured {
    measure(&scenario(case, flow, record))
}

/// Runs a scenario.
pub(crate) fn measure(text: &str) -> Measured {
    let run = || -> Result<Measured, Box<dyn std::error::Error>> {
        let file = "benchmark";
        let source = Source { file, text, syntax: Syntax::Toml, folder: PathBuf::new() };
        let scenario = load(&source, &[])?;
        let mut run = Run::new(&scenario, 1, RunOptions::default(), Box::new(MemorySink::new()?))?;
        // Not the scenario of a thousand streams, which is read once.
        let (wall, done) = timed(|| run.to_end());
        done?;
        let summary = run.finish()?.summary;
        let flow = &summary.flows[0];
        let delivered = flow.goodput_bps.unwrap_or(0.0) * summary.virtual_s / 8.0;
        Ok(Measured { wall, packets: summary.packets, delivered_bytes: delivered as u64 })
    };
    run().unwrap_or_else(|error| panic!("the benchmark's own scenario failed: {error}"))
}

/// The scenario of a case, with a flow that sends what the lines of `flow` say, and recording what `record` says.
pub(crate) fn scenario(case: &Case, flow: &str, record: &str) -> String {
    format!(
        r#"
        name = "benchmark"
        duration = "{span}"
        record = {{ {record} }}
        nodes = {{ client = {{}}, server = {{}} }}
        [links.path]
        between = ["client", "server"]
        rate = "{rate} bps"
        delay = "{DELAY}"
        queue = {{ kind = "fifo", limit = "{queue} packets" }}
        [flows.main]
        transport.kind = "quic"
        transport.payload = "{PAYLOAD} B"
        from = "client"
        to = "server"
        {flow}
        "#,
        span = case.span,
        rate = case.rate_bps,
        queue = case.queue,
    )
}
