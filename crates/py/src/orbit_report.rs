//! Reports of the constellation of a scenario.

use leobench_base::spec::Fault;
use leobench_base::{SimDuration, SimTime};
use leobench_sim::orbit_report::KeepGoing;
use leobench_sim::scenario::Scenario;
use leobench_sim::{orbit_report, satellite_links::SatelliteLinks};
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::ScenarioError;
use crate::scenario::{PyScenario, as_json};

/// Steps of a report between two questions for signals: some hundredths of a second.
const STEPS: u64 = 64;

/// Passes, handovers and samples of a scenario's constellation as JSON, a sample every so many seconds; `None` without one.
#[pyfunction]
pub(crate) fn orbit(
    py: Python<'_>,
    scenario: &PyScenario,
    interval_s: f64,
) -> PyResult<Option<String>> {
    as_json_of(py, scenario, interval_s, orbit_report::report)
}

/// Positions of satellites, terminals and gateways as JSON, a point every so many seconds; `None` without a
/// constellation.
#[pyfunction]
pub(crate) fn scene(
    py: Python<'_>,
    scenario: &PyScenario,
    interval_s: f64,
) -> PyResult<Option<String>> {
    as_json_of(py, scenario, interval_s, orbit_report::scene)
}

/// Positions of satellites of these names over the whole run as JSON, a point every so many seconds; `None` without orbits.
#[pyfunction]
pub(crate) fn trajectories(
    py: Python<'_>,
    scenario: &PyScenario,
    interval_s: f64,
    names: Vec<String>,
) -> PyResult<Option<String>> {
    as_json_of(py, scenario, interval_s, move |scenario, seed, interval, keep_going| {
        orbit_report::trajectories(scenario, seed, interval, &names, keep_going)
    })
}

/// The places below all satellites, and of stations, at a time of a run, as JSON: name, and latitude and longitude in degrees; `None`
/// without orbits.
#[pyfunction]
pub(crate) fn places_below(scenario: &PyScenario, at_s: f64) -> PyResult<Option<String>> {
    let at = SimTime::ZERO + SimDuration::from_secs_f64(at_s);
    let places = orbit_report::places_below(&scenario.0, scenario.0.spec.seed, at);
    places.map_err(|fault| wrong(&fault))?.as_ref().map(as_json).transpose()
}

/// The JSON of a look at the satellites that may be told to stop.
fn as_json_of<T: Serialize + Send>(
    py: Python<'_>,
    scenario: &PyScenario,
    interval_s: f64,
    report: impl FnOnce(&Scenario, u64, SimDuration, &mut KeepGoing<'_>) -> Result<Option<T>, Fault>
    + Send,
) -> PyResult<Option<String>> {
    let interval = SimDuration::from_secs_f64(interval_s).max(SimDuration::from_millis(1));
    let seed = scenario.0.spec.seed;
    let (mut asked, mut signal) = (0u64, None);
    let view = py.detach(|| {
        report(&scenario.0, seed, interval, &mut || {
            asked += 1;
            if asked.is_multiple_of(STEPS) && signal.is_none() {
                signal = Python::attach(|py| py.check_signals().err());
            }
            signal.is_none()
        })
    });
    if let Some(signal) = signal {
        return Err(signal);
    }
    let view = view.map_err(|fault| wrong(&fault))?;
    view.as_ref().map(as_json).transpose()
}

/// Warnings about the scenario's constellation, to read before a run.
#[pyfunction]
pub(crate) fn constellation_warnings(scenario: &PyScenario) -> PyResult<Vec<String>> {
    let satellites =
        SatelliteLinks::new(&scenario.0, scenario.0.spec.seed).map_err(|fault| wrong(&fault))?;
    Ok(satellites.map_or_else(Vec::new, |satellites| satellites.warnings().to_vec()))
}

fn wrong(fault: &Fault) -> PyErr {
    ScenarioError::new_err(format!(
        "{}: {}; allowed: {}",
        fault.field, fault.problem, fault.allowed
    ))
}
