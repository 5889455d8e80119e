//! Stream schedulers written in Python.

mod interrupt;
mod stream;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use leobench_base::spec::{Fault, Table, Value};
use leobench_base::{RngTree, SimTime};
use leobench_transport::buffer::SendBuffer;
use leobench_transport::scheduler::python::{self, Host, PluginScheduler, PythonSpec};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

pub(crate) use interrupt::take as take_interrupt;
use stream::Shared;
pub(crate) use stream::Stream;

use crate::errors::PluginError;

/// What finds, imports and builds classes.
const PLUGINS: &str = "leobench.plugins";
/// What `schedule` is to return.
const PAIRS: &str = "a list of pairs of a stream and its bytes, such as `[(streams[0], 1000)]`";

/// What this thread is loading, or setting up a run of.
#[derive(Default)]
struct Setting {
    /// The scenario's folder.
    folder: PathBuf,
    /// The modules from it, which no other run shares; none before a scheduler needs them.
    modules: Option<Py<PyAny>>,
}

thread_local! {
    static SETTING: RefCell<Setting> = RefCell::default();
}

/// Does `work` on a scenario, with modules of its own, which are looked for in its folder first.
pub(crate) fn beside<R>(folder: &Path, work: impl FnOnce() -> R) -> R {
    let outer = SETTING.replace(Setting { folder: folder.to_path_buf(), modules: None });
    let done = work();
    SETTING.set(outer);
    done
}

/// Has schedulers built here that a scenario names by a Python class.
pub(crate) fn register() {
    // Only a second import of the module, in a subinterpreter, would find it done.
    let _ = python::host(Box::new(Interpreter));
}

/// Why a class cannot be used.
struct Problem {
    problem: String,
    allowed: String,
}

struct Interpreter;

impl Host for Interpreter {
    fn check(&self, spec: &PythonSpec, streams: usize) -> Result<(), Fault> {
        let built = Python::attach(|py| build(py, spec, streams, 0).map(drop));
        built.map_err(|Problem { problem, allowed }| Fault::new("python", problem, allowed))
    }

    fn build(
        &self,
        spec: &PythonSpec,
        streams: usize,
        rng: &RngTree,
    ) -> Result<Box<dyn PluginScheduler>, String> {
        Python::attach(|py| {
            let built = build(py, spec, streams, rng.rng().bits());
            let scheduler = built.map_err(|problem| problem.problem)?;
            let schedule = scheduler.getattr("schedule").map_err(|error| raised(py, &error))?;
            let on_change =
                scheduler.getattr_opt("on_change").map_err(|error| raised(py, &error))?;
            let fills_packets = fills_packets(&scheduler).map_err(|error| raised(py, &error))?;
            Ok(Box::new(PythonScheduler {
                schedule: schedule.unbind(),
                fills_packets,
                changes: on_change.map(|on_change| Changes::new(on_change.unbind(), streams)),
                weights: (0..streams).map(|stream| spec.weight(stream)).collect(),
                shared: Arc::new(Shared::new(streams)),
                streams: Vec::new(),
                occupied: vec![false; streams],
                waiting: None,
            }) as Box<dyn PluginScheduler>)
        })
    }
}

/// The modules of the scenario at hand.
fn modules(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    // Python code that runs meanwhile may load another scenario on this thread.
    let (folder, modules) = SETTING.with_borrow(|setting| {
        (setting.folder.clone(), setting.modules.as_ref().map(|modules| modules.clone_ref(py)))
    });
    if let Some(modules) = modules {
        return Ok(modules.into_bound(py));
    }
    let made = py.import(PLUGINS)?.call_method1("Modules", (folder,))?;
    SETTING.with_borrow_mut(|setting| setting.modules = Some(made.clone().unbind()));
    Ok(made)
}

/// An object of the class that a specification names.
fn build<'py>(
    py: Python<'py>,
    spec: &PythonSpec,
    streams: usize,
    seed: u64,
) -> Result<Bound<'py, PyAny>, Problem> {
    let build = || {
        let parameters = table(py, &spec.parameters)?;
        modules(py)?.call_method1("build", (&spec.python, streams, seed, parameters))
    };
    build().map_err(|error| {
        if error.is_instance_of::<PluginError>(py) {
            let told = |name| Some(error.value(py).getattr(name).ok()?.to_string());
            if let (Some(problem), Some(allowed)) = (told("problem"), told("allowed")) {
                return Problem { problem, allowed };
            }
        }
        Problem { problem: raised(py, &error), allowed: "a class that can be built".into() }
    })
}

/// What the scheduler says of itself; that it does not, if it says nothing.
fn fills_packets(scheduler: &Bound<'_, PyAny>) -> PyResult<bool> {
    scheduler.getattr_opt("fills_packets")?.map_or(Ok(false), |promise| promise.is_truthy())
}

/// Tells of what the user's code raised, with its traceback; keeps what must end the program.
fn raised(py: Python<'_>, error: &PyErr) -> String {
    let describe = || {
        let (plugins, raised) = (py.import(PLUGINS)?, error.clone_ref(py).into_value(py));
        if plugins.call_method1("is_fault", (&raised,))?.extract()? {
            return plugins.call_method1("describe", (raised,))?.extract();
        }
        interrupt::keep(error.clone_ref(py));
        Ok("interrupted".into())
    };
    describe().unwrap_or_else(|_: PyErr| format!("raised {error}"))
}

/// A scheduler of the user's for one connection.
struct PythonScheduler {
    /// The bound method.
    schedule: Py<PyAny>,
    fills_packets: bool,
    /// What it has yet to hear of, if it wants to.
    changes: Option<Changes>,
    weights: Vec<f64>,
    shared: Arc<Shared>,
    /// What Python sees of the streams; made when it first looks, as their attributes are known then.
    streams: Vec<Py<Stream>>,
    /// By stream: whether it has bytes waiting and is not held.
    occupied: Vec<bool>,
    /// The streams that have, as long as they are the same.
    waiting: Option<Py<PyTuple>>,
}

/// Streams that have changed since the last packet, each once.
struct Changes {
    /// The bound method that is told.
    on_change: Py<PyAny>,
    changed: Vec<usize>,
    has_changed: Vec<bool>,
}

impl Changes {
    fn new(on_change: Py<PyAny>, streams: usize) -> Self {
        Self { on_change, changed: Vec::new(), has_changed: vec![false; streams] }
    }

    fn add(&mut self, stream: usize) {
        if !std::mem::replace(&mut self.has_changed[stream], true) {
            self.changed.push(stream);
        }
    }

    fn tell(&mut self, py: Python<'_>, streams: &[Py<Stream>]) -> PyResult<()> {
        for stream in self.changed.drain(..) {
            self.has_changed[stream] = false;
            self.on_change.call1(py, (&streams[stream],))?;
        }
        Ok(())
    }
}

impl PluginScheduler for PythonScheduler {
    fn fills_packets(&self) -> bool {
        self.fills_packets
    }

    fn on_change(&mut self, stream: usize, streams: &SendBuffer) {
        self.shared.update(stream, streams);
        if let Some(changes) = &mut self.changes {
            changes.add(stream);
        }
        let occupied = streams.is_occupied(stream);
        if self.occupied[stream] != occupied {
            self.occupied[stream] = occupied;
            self.waiting = None;
        }
    }

    fn choose(
        &mut self,
        now: SimTime,
        streams: &SendBuffer,
        room: u64,
        requests: &mut Vec<(usize, u64)>,
    ) -> Result<(), String> {
        self.shared.set_now(now);
        Python::attach(|py| {
            let returned = self.call(py, now, streams, room);
            self.read(&returned.map_err(|error| raised(py, &error))?, requests)
        })
    }
}

impl PythonScheduler {
    fn call<'py>(
        &mut self,
        py: Python<'py>,
        now: SimTime,
        streams: &SendBuffer,
        room: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let waiting = self.waiting(py, streams)?;
        if let Some(changes) = &mut self.changes {
            changes.tell(py, &self.streams)?;
        }
        self.schedule.bind(py).call1((now.as_secs_f64(), waiting, room))
    }

    /// The streams that have bytes waiting and are not held, in order.
    fn waiting<'py>(
        &mut self,
        py: Python<'py>,
        streams: &SendBuffer,
    ) -> PyResult<Bound<'py, PyTuple>> {
        if self.streams.is_empty() {
            let views = streams.streams().iter().zip(&self.weights).enumerate();
            let views = views.map(|(number, (buffer, weight))| {
                Py::new(py, Stream::new(&self.shared, number, *weight, buffer.attributes()))
            });
            self.streams = views.collect::<PyResult<_>>()?;
        }
        if let Some(waiting) = &self.waiting {
            return Ok(waiting.bind(py).clone());
        }
        let all = self.streams.iter().zip(&self.occupied);
        let waiting: Vec<_> = all.filter_map(|(view, waits)| waits.then_some(view)).collect();
        let waiting = PyTuple::new(py, waiting)?;
        self.waiting = Some(waiting.clone().unbind());
        Ok(waiting)
    }

    /// Reads what `schedule` returned.
    fn read(
        &self,
        returned: &Bound<'_, PyAny>,
        requests: &mut Vec<(usize, u64)>,
    ) -> Result<(), String> {
        let py = returned.py();
        let items = returned.try_iter().map_err(|error| {
            if error.is_instance_of::<PyTypeError>(py) {
                return format!("returned {}; allowed: {PAIRS}", shown(returned));
            }
            raised(py, &error)
        })?;
        for item in items {
            let item = item.map_err(|error| raised(py, &error))?;
            let Some((stream, bytes)) = pair(&item) else {
                return Err(format!(
                    "returned {} where a pair should be; allowed: {PAIRS}",
                    shown(&item)
                ));
            };
            let number = self.number(&stream)?;
            let Ok(bytes) = bytes.extract() else {
                return Err(format!(
                    "gave stream {number} {} bytes; allowed: a whole number from 0",
                    shown(&bytes)
                ));
            };
            requests.push((number, bytes));
        }
        Ok(())
    }

    /// The number of a stream, given as itself or by its number.
    fn number(&self, stream: &Bound<'_, PyAny>) -> Result<usize, String> {
        if let Ok(view) = stream.cast::<Stream>() {
            let number = view.get().of(&self.shared);
            return number.ok_or_else(|| "chose a stream of another connection".into());
        }
        stream.extract().map_err(|_| {
            let streams = "one of the streams, or its number";
            format!("chose {}, which is not a stream; allowed: {streams}", shown(stream))
        })
    }
}

/// The two items of a sequence, whether a tuple, a list, or the row of an array.
fn pair<'py>(item: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    if let Ok(tuple) = item.cast::<PyTuple>() {
        return tuple.extract().ok();
    }
    if item.len().ok()? != 2 {
        return None;
    }
    Some((item.get_item(0).ok()?, item.get_item(1).ok()?))
}

/// A value for a message, on one line and cut to a readable length.
fn shown(value: &Bound<'_, PyAny>) -> String {
    const LONGEST: usize = 80;
    let text = value.repr().map_or_else(|_| "something".into(), |text| text.to_string());
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
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
fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
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
