//! Runs scenarios given as text, and reads their tables.

#![allow(dead_code, reason = "not every test file uses everything")]

pub mod frame;
pub mod random;

use std::path::{Path, PathBuf};

use leobench_sim::load::{FlowUse, Source, Syntax, load, load_file};
use leobench_sim::record::{MemorySink, Stored, StoredTable, Table};
use leobench_sim::scenario::Scenario;
use leobench_sim::summary::Summary;
use leobench_sim::{Outcome, Run, RunOptions};
use leobench_transport::Plugins;

use frame::Frame;

/// The scenario in `text`.
pub fn scenario(text: &str) -> Scenario {
    try_scenario(text).unwrap_or_else(|error| panic!("{error}"))
}

/// The scenario in `text`, or what is wrong with it.
pub fn try_scenario(text: &str) -> Result<Scenario, String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let source = Source { file: "test.toml", text, syntax: Syntax::Toml, folder };
    load(&source, &[]).map_err(|error| error.to_string())
}

/// A scenario of one link between `a` and `b` and a flow from `a` to `b`, as text: `run`, `link` and `flow` are what the
/// tables for each say besides.
pub fn one_link(run: &str, link: &str, flow: &str) -> String {
    format!(
        r#"
        name = "one-link"
        nodes = {{ a = {{}}, b = {{}} }}
        {run}
        [links.path]
        between = ["a", "b"]
        {link}
        [flows.main]
        from = "a"
        to = "b"
        {flow}
        "#
    )
}

/// The shipped scenario of this name, with overrides.
pub fn shipped(name: &str, overrides: &[(&str, &str)]) -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    load_file(&file, &overrides, Plugins::NONE, FlowUse::Required)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Of a table `constellation`: 1,584 satellites over a van in Bologna, and a gateway in Turin.
pub const VAN_SKY: &str = r#"
    satellites = { walker = { own = { altitude = "550 km", inclination = "53 deg", planes = 72, per_plane = 22, phasing = 17 } } }
    start = "2026-03-20T12:00:00Z"
    terminals.van = { latitude = "44.494 deg", longitude = "11.343 deg" }
    gateways.turin = { latitude = "45.07 deg", longitude = "7.687 deg" }
"#;

/// Runs to the end, tables in memory.
pub fn run(scenario: &Scenario, seed: u64) -> Outcome {
    run_with(scenario, seed, RunOptions::default())
}

/// Runs to the end with options, tables in memory.
pub fn run_with(scenario: &Scenario, seed: u64, options: RunOptions) -> Outcome {
    let sink = Box::new(MemorySink::new().expect("memory"));
    let mut run = Run::new(scenario, seed, options, sink).unwrap_or_else(|error| panic!("{error}"));
    run.to_end().unwrap_or_else(|error| panic!("{error}"));
    run.finish().unwrap_or_else(|error| panic!("{error}"))
}

/// Runs to the end, for the summary.
pub fn summary(text: &str) -> Summary {
    run(&scenario(text), 1).summary
}

/// One of a run's tables.
pub fn table(outcome: &Outcome, table: Table) -> Frame {
    let found = outcome.tables.iter().find(|stored| stored.table == table);
    let found = found.unwrap_or_else(|| panic!("there is no table `{}`", table.name()));
    Frame::read(bytes(found))
}

/// A table's bytes.
pub fn bytes(table: &StoredTable) -> &[u8] {
    match &table.stored {
        Stored::Memory(bytes) => bytes,
        other @ (Stored::File(_) | Stored::Columns(_)) => panic!("a memory sink stored {other:?}"),
    }
}
