//! Driving a run: slices of bounded work with the interpreter set free, progress and signals in between.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use leobench_sim::capture::{CaptureOptions, DEFAULT_SNAPLEN};
use leobench_sim::network::Stall;
use leobench_sim::record::{FileSink, MemorySink, Stored, TableSink};
use leobench_sim::{Run, RunError as Failure, RunOptions};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{RunError, ScenarioError};
use crate::plugin::Interpreter;
use crate::raised::take_interrupt;
use crate::scenario::{PyScenario, as_json};

/// Most events in a slice: some milliseconds of work mostly, so that Ctrl-C is noticed at once and the clock is read seldom.
const SLICE_EVENTS: u64 = 10_000;

/// Wall time above which slices become shorter: events of some runs take much longer than others, such as those of a
/// source that is hardly ever on.
const LONG_SLICE: Duration = Duration::from_millis(50);

/// Wall time between two reports of progress.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// By flow, its longest stall: seconds of its start and its end.
pub(crate) type Stalls = BTreeMap<String, (f64, f64)>;

/// The summary as JSON, the tables by name, the stalls, and the flows that connected.
type Finished<'py> = (String, Bound<'py, PyDict>, Stalls, Vec<String>);

/// Runs a scenario. Tables go to Parquet files in `tables_dir`, or are returned as the bytes of such files.
#[pyfunction]
#[pyo3(signature = (
    scenario, tables_dir = None, qlog_dir = None, pcap_dir = None, snaplen = None, progress = None
))]
pub(crate) fn run<'py>(
    py: Python<'py>,
    scenario: &PyScenario,
    tables_dir: Option<PathBuf>,
    qlog_dir: Option<PathBuf>,
    pcap_dir: Option<PathBuf>,
    snaplen: Option<u32>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Finished<'py>> {
    let sink = sink(tables_dir)?;
    let snaplen = snaplen.unwrap_or(DEFAULT_SNAPLEN);
    let capture = pcap_dir.map(|folder| CaptureOptions { folder, snaplen });
    let plugins = Interpreter::beside(scenario.0.folder.clone());
    let options = RunOptions { qlog: qlog_dir, capture, plugins };
    let mut run = Run::new(&scenario.0, scenario.0.spec.seed, options, sink).map_err(failed)?;
    let mut reported = now();
    let mut events = 1;
    loop {
        let began = now();
        let state = py.detach(|| run.advance(events)).map_err(ended)?;
        let long = began.elapsed() > LONG_SLICE;
        events = if long { (events / 2).max(1) } else { (2 * events).min(SLICE_EVENTS) };
        py.check_signals()?;
        if let Some(progress) = progress
            && (state.done || reported.elapsed() >= REPORT_EVERY)
        {
            progress.call1((state.now.as_secs_f64(), state.end.as_secs_f64(), state.packets))?;
            reported = now();
        }
        if state.done {
            break;
        }
    }
    let finished = py.detach(|| run.finish()).map_err(failed)?;
    let tables = PyDict::new(py);
    for table in finished.tables {
        if let Stored::Memory(bytes) = table.stored {
            tables.set_item(table.table.name(), PyBytes::new(py, &bytes))?;
        }
    }
    let stalls = told_stalls(finished.stalls);
    Ok((as_json(&finished.summary)?, tables, stalls, finished.connected))
}

pub(crate) fn told_stalls(stalls: Vec<(String, Stall)>) -> Stalls {
    let seconds = |stall: Stall| (stall.from.as_secs_f64(), stall.to.as_secs_f64());
    stalls.into_iter().map(|(flow, stall)| (flow, seconds(stall))).collect()
}

pub(crate) fn sink(folder: Option<PathBuf>) -> PyResult<Box<dyn TableSink>> {
    Ok(match folder {
        Some(folder) => Box::new(FileSink::new(&folder).map_err(failed)?),
        None => Box::new(MemorySink::new().map_err(failed)?),
    })
}

/// Why a run ended early.
fn ended(error: Failure) -> PyErr {
    match error {
        Failure::Refused { .. } => ScenarioError::new_err(error.to_string()),
        error => failed(error),
    }
}

pub(crate) fn failed(error: impl std::fmt::Display) -> PyErr {
    take_interrupt().unwrap_or_else(|| RunError::new_err(error.to_string()))
}

#[expect(clippy::disallowed_methods, reason = "progress is for people, whose time it is shown in")]
fn now() -> Instant {
    Instant::now()
}
