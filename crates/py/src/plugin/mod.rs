//! The host of everything written in Python: finds, imports and builds the classes that a scenario names.

use std::path::PathBuf;
use std::sync::Arc;

use leobench_base::RngTree;
use leobench_base::spec::{Fault, Table, Value};
use leobench_foreign::Libraries;
use leobench_transport::plugin::{KEY, Plugin, PluginClass, PluginHost, PluginKind, Plugins};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::adaptation::PythonAdaptation;
use crate::congestion::PythonController;
use crate::errors::PluginError;
use crate::path_scheduler::PythonPathScheduler;
use crate::raised::{PLUGINS, raised};
use crate::scheduler::PythonScheduler;
use crate::watch::Watch;

/// Why a class cannot be used.
struct Problem {
    problem: String,
    allowed: String,
}

/// The interpreter, as the host of one scenario or one run.
pub(crate) struct Interpreter {
    /// The scenario's folder, where modules are looked for first.
    folder: PathBuf,
    /// The modules from it, which no other run shares; none before a plug-in needs them.
    modules: PyOnceLock<Py<PyAny>>,
    /// The watch over its calls; none before a plug-in is built.
    watch: PyOnceLock<Arc<Watch>>,
}

impl Interpreter {
    /// The plug-ins of a scenario in `folder`, shared libraries included.
    pub(crate) fn beside(folder: PathBuf) -> Plugins {
        let (modules, watch) = (PyOnceLock::new(), PyOnceLock::new());
        let libraries = Libraries::beside(&folder);
        Plugins::new(Arc::new(Self { folder, modules, watch })).with_libraries(libraries)
    }

    fn modules<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyAny>> {
        let make = || {
            let made = py.import(PLUGINS)?.call_method1("Modules", (&self.folder,))?;
            PyResult::Ok(made.unbind())
        };
        Ok(self.modules.get_or_try_init(py, make)?.bind(py))
    }

    /// An object of the class.
    fn object<'py>(
        &self,
        py: Python<'py>,
        kind: &PluginKind,
        class: PluginClass<'_>,
        seed: u64,
    ) -> Result<Bound<'py, PyAny>, Problem> {
        let build = || {
            let parameters = table(py, class.parameters)?;
            let modules = self.modules(py)?;
            match kind {
                PluginKind::StreamScheduler { weights } => {
                    let given = (weights.len(),);
                    let kind = "stream scheduler";
                    modules.call_method1("build", (kind, class.name, given, seed, parameters))
                }
                PluginKind::PathScheduler { links } => {
                    let given = (PyTuple::new(py, links)?,);
                    let kind = "path scheduler";
                    modules.call_method1("build", (kind, class.name, given, seed, parameters))
                }
                PluginKind::CongestionController { packet } => {
                    let given = (packet.get(),);
                    let kind = "congestion controller";
                    modules.call_method1("build", (kind, class.name, given, seed, parameters))
                }
                PluginKind::Adaptation { ladder, segment_s } => {
                    let given = (PyTuple::new(py, ladder)?, *segment_s);
                    modules
                        .call_method1("build", ("adaptation", class.name, given, seed, parameters))
                }
                _ => Err(PyTypeError::new_err(format!(
                    "a Python class cannot be a plug-in of the kind {kind:?}"
                ))),
            }
        };
        build().map_err(|error| {
            if error.is_instance_of::<PluginError>(py) {
                let told = |name| Some(error.value(py).getattr(name).ok()?.to_string());
                if let (Some(problem), Some(allowed)) = (told("problem"), told("allowed")) {
                    return Problem { problem, allowed };
                }
            }
            Problem {
                problem: raised(py, &error),
                allowed: "a class whose constructor raises no exception".into(),
            }
        })
    }
}

impl PluginHost for Interpreter {
    fn check(&self, kind: &PluginKind, class: PluginClass<'_>) -> Result<(), Fault> {
        let built = Python::attach(|py| self.object(py, kind, class, 0).map(drop));
        built.map_err(|Problem { problem, allowed }| Fault::new(KEY, problem, allowed))
    }

    fn build(
        &self,
        kind: &PluginKind,
        class: PluginClass<'_>,
        rng: &RngTree,
    ) -> Result<Plugin, String> {
        Python::attach(|py| {
            let object = self.object(py, kind, class, rng.rng().bits());
            let object = object.map_err(|problem| problem.problem)?;
            let watch = self.watch.get_or_try_init(py, || Watch::new(py));
            let watch = Arc::clone(watch.map_err(|error| raised(py, &error))?);
            match kind {
                PluginKind::StreamScheduler { weights } => {
                    let scheduler = PythonScheduler::new(&object, weights, watch);
                    let scheduler = scheduler.map_err(|error| raised(py, &error))?;
                    Ok(Plugin::StreamScheduler(Box::new(scheduler)))
                }
                PluginKind::PathScheduler { links } => {
                    let scheduler = PythonPathScheduler::new(&object, links, watch);
                    let scheduler = scheduler.map_err(|error| raised(py, &error))?;
                    Ok(Plugin::PathScheduler(Box::new(scheduler)))
                }
                PluginKind::CongestionController { packet } => {
                    let controller = PythonController::new(&object, *packet, watch);
                    let controller = controller.map_err(|error| raised(py, &error))?;
                    Ok(Plugin::CongestionController(Box::new(controller)))
                }
                PluginKind::Adaptation { .. } => {
                    let adaptation = PythonAdaptation::new(&object, watch);
                    let adaptation = adaptation.map_err(|error| raised(py, &error))?;
                    Ok(Plugin::Adaptation(Box::new(adaptation)))
                }
                _ => Err(format!("a Python class cannot be a plug-in of the kind {kind:?}")),
            }
        })
    }
}

fn table<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in table.iter() {
        dict.set_item(key, object(py, value)?)?;
    }
    Ok(dict)
}

/// A value of a scenario in Python.
pub(crate) fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Value::Integer(value) => value.into_pyobject(py)?.into_any(),
        Value::Float(value) => value.into_pyobject(py)?.into_any(),
        Value::String(value) => value.into_pyobject(py)?.into_any(),
        Value::Array(values) => {
            let list = PyList::empty(py);
            for value in values {
                list.append(object(py, value)?)?;
            }
            list.into_any()
        }
        Value::Table(values) => table(py, values)?.into_any(),
    })
}
