//! Peak memory of a short run and of one ten times as long.

use std::process::Command;

use leobench_base::SimDuration;
use leobench_sim::load::{Source, Syntax, load};
use leobench_sim::record::FileSink;
use leobench_sim::{Run, RunOptions};

use crate::engine::{ONE_STREAM, scenario};
use crate::{CASES, Case};

/// Prints the peak memory of runs of 60 and 600 virtual seconds, each in a process of its own.
pub(crate) fn compare() {
    let [short, long] = ["60", "600"].map(peak_kib);
    println!("Peak memory at 45 Mbit/s, messages not recorded, tables to files:");
    println!("  60 s: {short} KiB   600 s: {long} KiB   ratio {:.2}", long as f64 / short as f64);
}

fn peak_kib(seconds: &str) -> u64 {
    let own = std::env::current_exe().unwrap_or_else(|error| panic!("own path: {error}"));
    let output = Command::new(own).args(["memory", seconds]).output();
    let output = output.unwrap_or_else(|error| panic!("cannot run a child: {error}"));
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().unwrap_or_else(|_| panic!("child said {text:?}"))
}

/// Runs `seconds` of the first case and prints the process's peak resident memory in KiB (Linux).
pub(crate) fn child(seconds: &str) {
    if let Err(error) = run(seconds) {
        panic!("the benchmark's own scenario failed: {error}");
    }
    println!("{}", peak());
}

/// The process's peak resident memory in KiB (Linux).
pub(crate) fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.unwrap_or("unknown").trim().trim_end_matches(" kB").to_owned()
}

fn run(seconds: &str) -> Result<(), Box<dyn std::error::Error>> {
    let span = SimDuration::from_secs(seconds.parse()?);
    let text = scenario(&Case { span, ..CASES[0] }, ONE_STREAM, "messages = false");
    let folder = std::env::temp_dir().join(format!("leobench-memory-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let source =
        Source { file: "benchmark", text: &text, syntax: Syntax::Toml, folder: folder.clone() };
    let scenario = load(&source, &[])?;
    let mut run = Run::new(&scenario, 1, RunOptions::default(), Box::new(FileSink::new(&folder)?))?;
    run.to_end()?;
    run.finish()?;
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
