//! Path schedulers written in Python.

mod view;

use std::sync::Arc;

use leobench_base::{Bytes, SimTime};
use leobench_transport::PathId;
use leobench_transport::endpoint;
use leobench_transport::path_choice::{self, Choice, PathIds, PathScheduler};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};

pub(crate) use self::view::{Backlog, PathView};
use crate::answers::{shown, whole};
use crate::forecast::{Forecast, InterfaceForecast};
use crate::raised::{PLUGINS, raised};
use crate::watch::Watch;

/// Description of the value that `choose` returns, for messages.
const CHOICES: &str =
    "a path or its number, several of them for a packet on each, or None for waiting";

/// A scheduler of the user's for one end of a connection.
pub(crate) struct PythonPathScheduler {
    /// The bound methods; `choose` is the one that every scheduler has.
    choose: Py<PyAny>,
    on_sent: Option<Py<PyAny>>,
    on_forecast: Option<Py<PyAny>>,
    on_interface_forecast: Option<Py<PyAny>>,
    /// The file and line of `choose`, if they are known.
    place: Option<String>,
    /// The names of the connection's links.
    links: Vec<Py<PyString>>,
    /// The paths of the last call as Python sees them, and all of them together.
    paths: Vec<(PathId, Py<PathView>)>,
    all: Py<PyTuple>,
    backlog: Py<Backlog>,
    watch: Arc<Watch>,
}

impl PythonPathScheduler {
    /// The scheduler of an end of a connection over links of these names.
    pub(crate) fn new(
        object: &Bound<'_, PyAny>,
        links: &[String],
        watch: Arc<Watch>,
    ) -> PyResult<Self> {
        let py = object.py();
        let choose = object.getattr("choose")?;
        let place = py.import(PLUGINS)?.call_method1("place", (&choose,))?.extract()?;
        let nothing = path_choice::Backlog { waiting: Bytes::ZERO, credit: Bytes::ZERO };
        Ok(Self {
            choose: choose.unbind(),
            on_sent: object.getattr_opt("on_sent")?.map(Bound::unbind),
            on_forecast: object.getattr_opt("on_forecast")?.map(Bound::unbind),
            on_interface_forecast: object.getattr_opt("on_interface_forecast")?.map(Bound::unbind),
            place,
            links: links.iter().map(|link| PyString::new(py, link).unbind()).collect(),
            paths: Vec::new(),
            all: PyTuple::empty(py).unbind(),
            backlog: Py::new(py, Backlog(nothing))?,
            watch,
        })
    }

    fn call<'py>(
        &mut self,
        py: Python<'py>,
        now: SimTime,
        paths: &[path_choice::PathView],
        backlog: &path_choice::Backlog,
    ) -> PyResult<Bound<'py, PyAny>> {
        let known = self.paths.iter().map(|(id, _)| id);
        if !known.eq(paths.iter().map(|path| &path.id)) {
            self.change_paths(py, paths)?;
        }
        for ((_, view), path) in self.paths.iter().zip(paths) {
            let mut view = view.bind(py).try_borrow_mut()?;
            (view.now, view.path) = (now, *path);
        }
        self.backlog.bind(py).try_borrow_mut()?.0 = *backlog;
        self.choose.bind(py).call1((now.as_secs_f64(), self.all.bind(py), self.backlog.bind(py)))
    }

    /// Other paths may carry data from now on; those that could before keep their objects.
    #[cold]
    fn change_paths(&mut self, py: Python<'_>, paths: &[path_choice::PathView]) -> PyResult<()> {
        let mut before = std::mem::take(&mut self.paths);
        for path in paths {
            let known = before.iter().position(|(id, _)| *id == path.id);
            let view = if let Some(place) = known {
                before.swap_remove(place).1
            } else {
                let link = path.link.and_then(|link| self.links.get(link));
                Py::new(py, PathView::new(*path, link.map(|link| link.clone_ref(py))))?
            };
            self.paths.push((path.id, view));
        }
        let views = self.paths.iter().map(|(_, view)| view);
        self.all = PyTuple::new(py, views)?.unbind();
        Ok(())
    }

    /// Reads what `choose` returned.
    fn read(&self, returned: &Bound<'_, PyAny>) -> Result<Choice, String> {
        if returned.is_none() {
            return Ok(Choice::Wait);
        }
        if let Some(id) = Self::path(returned)? {
            return Ok(Choice::One(id));
        }
        let wrong = || self.refused(&format!("returned {}; allowed: {CHOICES}", shown(returned)));
        if returned.is_instance_of::<PyString>() || returned.is_instance_of::<PyBytes>() {
            return Err(wrong());
        }
        let py = returned.py();
        let items = returned.try_iter().map_err(|error| {
            if error.is_instance_of::<PyTypeError>(py) { wrong() } else { raised(py, &error) }
        })?;
        let mut ids = PathIds::new();
        for item in items {
            let item = item.map_err(|error| raised(py, &error))?;
            let id = Self::path(&item)?.ok_or_else(|| {
                let item = shown(&item);
                self.refused(&format!("chose {item}, which is no path; allowed: {CHOICES}"))
            })?;
            if ids.len() > self.paths.len() {
                let most = self.paths.len();
                return Err(self.refused(&format!(
                    "chose more paths than there are; allowed: up to {most}, each once"
                )));
            }
            ids.push(id);
        }
        Ok(match ids[..] {
            [only] => Choice::One(only),
            _ => Choice::Several(ids),
        })
    }

    /// The path that is meant, given as itself or by its number.
    fn path(value: &Bound<'_, PyAny>) -> Result<Option<PathId>, String> {
        if let Ok(view) = value.cast::<PathView>() {
            let view = view.try_borrow().map(|view| view.path.id);
            return Ok(view.ok());
        }
        let number = whole(value)?.and_then(|number| u32::try_from(number).ok());
        Ok(number.map(PathId))
    }

    /// A refusal that says where `choose` is written.
    fn refused(&self, problem: &str) -> String {
        self.place.as_ref().map_or(problem.to_owned(), |place| format!("{problem} ({place})"))
    }
}

impl PathScheduler for PythonPathScheduler {
    fn uses_delivery_rates(&self) -> bool {
        true
    }

    fn choose(
        &mut self,
        now: SimTime,
        paths: &[path_choice::PathView],
        backlog: &path_choice::Backlog,
    ) -> Result<Choice, String> {
        let watch = Arc::clone(&self.watch);
        Python::attach(|py| {
            watch.during(|| {
                let returned = self.call(py, now, paths, backlog);
                self.read(&returned.map_err(|error| raised(py, &error))?)
            })
        })
    }

    fn on_sent(&mut self, path: PathId) -> Result<(), String> {
        let Some(on_sent) = &self.on_sent else { return Ok(()) };
        let view = self.paths.iter().find(|(id, _)| *id == path);
        let Some((_, view)) = view else { return Ok(()) };
        Python::attach(|py| {
            let told = on_sent.call1(py, (view,));
            told.map(drop).map_err(|error| raised(py, &error))
        })
    }

    fn on_forecast(&mut self, now: SimTime, forecast: &endpoint::Forecast) -> Result<(), String> {
        Forecast::tell(self.on_forecast.as_ref(), now, forecast)
    }

    fn on_interface_forecast(
        &mut self,
        now: SimTime,
        link: usize,
        forecast: &endpoint::InterfaceForecast,
    ) -> Result<(), String> {
        let (Some(method), Some(link)) = (&self.on_interface_forecast, self.links.get(link)) else {
            return Ok(());
        };
        Python::attach(|py| {
            let forecast = InterfaceForecast::new(link.clone_ref(py), *forecast);
            let told = method.call1(py, (now.as_secs_f64(), forecast));
            told.map(drop).map_err(|error| raised(py, &error))
        })
    }

    fn place(&self) -> Option<&str> {
        self.place.as_deref()
    }
}
