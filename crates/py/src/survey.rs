//! A look at the constellation of a scenario.

use leobench_base::SimDuration;
use leobench_base::spec::Fault;
use leobench_sim::scenario::Scenario;
use leobench_sim::survey::GoOn;
use leobench_sim::{sky::Sky, survey};
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::ScenarioError;
use crate::scenario::{PyScenario, as_json};

/// Steps of a look between two questions for signals: some hundredths of a second.
const STEPS: u64 = 64;

/// Passes, handovers and samples of a scenario's constellation as JSON, a sample every so many seconds; `None` without one.
#[pyfunction]
pub(crate) fn orbit(
    py: Python<'_>,
    scenario: &PyScenario,
    interval_s: f64,
) -> PyResult<Option<String>> {
    look(py, scenario, interval_s, survey::survey)
}

/// Positions of satellites, terminals and gateways as JSON, a point every so many seconds; `None` without a
/// constellation.
#[pyfunction]
pub(crate) fn scene(
    py: Python<'_>,
    scenario: &PyScenario,
    interval_s: f64,
) -> PyResult<Option<String>> {
    look(py, scenario, interval_s, survey::scene)
}

/// A look at the sky that may be told to stop.
type See<T> = fn(&Scenario, u64, SimDuration, &mut GoOn<'_>) -> Result<Option<T>, Fault>;

/// The JSON of a look at the sky.
fn look<T: Serialize + Send>(
    py: Python<'_>,
    scenario: &PyScenario,
    interval_s: f64,
    see: See<T>,
) -> PyResult<Option<String>> {
    let interval = SimDuration::from_secs_f64(interval_s).max(SimDuration::from_millis(1));
    let seed = scenario.0.spec.seed;
    let (mut asked, mut signal) = (0u64, None);
    let view = py.detach(|| {
        see(&scenario.0, seed, interval, &mut || {
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
pub(crate) fn sky_warnings(scenario: &PyScenario) -> PyResult<Vec<String>> {
    let sky = Sky::new(&scenario.0, scenario.0.spec.seed).map_err(|fault| wrong(&fault))?;
    Ok(sky.map_or_else(Vec::new, |sky| sky.warnings().to_vec()))
}

fn wrong(fault: &Fault) -> PyErr {
    ScenarioError::new_err(format!(
        "{}: {}; allowed: {}",
        fault.field, fault.problem, fault.allowed
    ))
}
