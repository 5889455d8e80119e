//! Runs scenarios given as text.

use std::path::{Path, PathBuf};

use leobench_sim::record::{MemorySink, Stored, StoredTable};
use leobench_sim::scenario::{Scenario, Source, Syntax, load, load_file};
use leobench_sim::summary::Summary;
use leobench_sim::{Outcome, Run, RunOptions};

/// The scenario in `text`.
pub fn scenario(text: &str) -> Scenario {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let source = Source { file: "test.toml", text, syntax: Syntax::Toml, folder };
    load(&source, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// The shipped scenario of this name, with overrides.
#[allow(dead_code, reason = "not every test file uses it")]
pub fn shipped(name: &str, overrides: &[(&str, &str)]) -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    load_file(&file, &overrides).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs to the end, tables in memory.
pub fn run(scenario: &Scenario, seed: u64) -> Outcome {
    let sink = Box::new(MemorySink::new().expect("memory"));
    let mut run = Run::new(scenario, seed, RunOptions::default(), sink)
        .unwrap_or_else(|error| panic!("{error}"));
    run.to_end().unwrap_or_else(|error| panic!("{error}"));
    run.finish().unwrap_or_else(|error| panic!("{error}"))
}

/// Runs to the end, for the summary.
#[allow(dead_code, reason = "not every test file uses it")]
pub fn summary(text: &str) -> Summary {
    run(&scenario(text), 1).summary
}

/// A table's bytes.
#[allow(dead_code, reason = "not every test file uses it")]
pub fn bytes(table: &StoredTable) -> &[u8] {
    match &table.stored {
        Stored::Memory(bytes) => bytes,
        other => panic!("a memory sink stored {other:?}"),
    }
}
