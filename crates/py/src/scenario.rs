//! Scenarios: loading and checking.

use std::path::{Path, PathBuf};

use leobench_base::SimDuration;
use leobench_sim::load::{self, FlowUse, Syntax, SyntaxError};
use leobench_sim::scenario::Scenario;
use leobench_sim::summary::Summary;
use pyo3::prelude::*;

use crate::errors::{InputError, ScenarioError};
use crate::plugin::{self, Interpreter};
use crate::raised::take_interrupt;

/// A scenario that was read and checked.
#[pyclass(name = "Scenario", module = "leobench._core", frozen)]
pub(crate) struct PyScenario(pub(crate) Scenario);

#[pymethods]
impl PyScenario {
    /// Reads and checks a scenario file, with values put in place of its own. Its `flows` are `required`, `optional`, or
    /// `unused`.
    #[staticmethod]
    #[pyo3(signature = (path, overrides = Vec::new(), flows = "required"))]
    #[expect(clippy::needless_pass_by_value, reason = "converted from Python by value")]
    fn load(path: PathBuf, overrides: Vec<(String, String)>, flows: &str) -> PyResult<Self> {
        let flows = match flows {
            "required" => FlowUse::Required,
            "optional" => FlowUse::Optional,
            "unused" => FlowUse::Unused,
            other => return Err(InputError::new_err(format!("{other}: no such use of flows"))),
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        let plugins = Interpreter::beside(folder.to_path_buf());
        let loaded = load::load_file(&path, &overrides, &plugins, flows);
        loaded.map(Self).map_err(|error| {
            take_interrupt().unwrap_or_else(|| ScenarioError::new_err(error.to_string()))
        })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.spec.name
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.0.spec.seed
    }

    #[getter]
    fn engine(&self) -> &'static str {
        self.0.spec.engine.word()
    }

    /// Seconds during which the sources produce messages.
    #[getter]
    fn duration(&self) -> f64 {
        self.0.spec.production().as_secs_f64()
    }

    /// Settings of a run in real time, in seconds: lateness, stall, spin, settle; and last, `busy` and `waited`.
    #[getter]
    fn real(&self) -> (f64, f64, f64, f64, f64, f64) {
        let real = &self.0.spec.real;
        let [lateness, stall, spin, settle] =
            [real.lateness, real.stall, real.spin, real.settle].map(SimDuration::as_secs_f64);
        (lateness, stall, spin, settle, real.busy, real.waited)
    }

    /// The scenario as JSON, every default spelled out.
    fn to_json(&self) -> PyResult<String> {
        as_json(&self.0.write())
    }
}

/// Parses a text in TOML into a table, with the reader and the limits of scenarios. `file` is its name in messages.
#[pyfunction]
pub(crate) fn read_toml<'py>(
    py: Python<'py>,
    file: &str,
    text: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let value = py.detach(|| Syntax::Toml.parse(text)).map_err(|error| {
        let SyntaxError { position, problem } = error;
        let file = file.to_owned();
        InputError::new_err(load::ScenarioError::Syntax { file, position, problem }.to_string())
    })?;
    plugin::object(py, &value)
}

/// Notices about what has no effect in a scenario: the flow, the kind, and the words.
#[pyfunction]
pub(crate) fn notices(scenario: &PyScenario) -> Vec<(String, &'static str, String)> {
    let found = leobench_sim::notices::notices(&scenario.0).into_iter();
    found.map(|notice| (notice.flow, notice.kind.name(), notice.text)).collect()
}

/// The JSON Schema of scenario files.
#[pyfunction]
pub(crate) fn schema() -> PyResult<String> {
    as_json(&Scenario::schema())
}

/// The JSON Schema of `summary.json`.
#[pyfunction]
pub(crate) fn summary_schema() -> PyResult<String> {
    as_json(&Summary::schema())
}

/// JSON text; failing would be a bug of ours, as only maps with keys other than text cannot be written.
pub(crate) fn as_json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value)
        .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))
}
