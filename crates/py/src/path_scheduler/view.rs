//! Paths and their backlog as a scheduler in Python sees them.

use leobench_base::{BitRate, SimTime};
use leobench_transport::path_choice;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::forecast::Forecast;

/// A path of a connection, as it is at the time of the choice: written before every call, and read by nobody else.
#[pyclass(module = "leobench._core")]
pub(crate) struct PathView {
    pub(super) now: SimTime,
    pub(super) path: path_choice::PathView,
    link: Option<Py<PyString>>,
}

impl PathView {
    /// A path over the link of this name, if that is known.
    pub(super) fn new(path: path_choice::PathView, link: Option<Py<PyString>>) -> Self {
        Self { now: SimTime::ZERO, path, link }
    }
}

#[pymethods]
impl PathView {
    #[getter]
    fn id(&self) -> u32 {
        self.path.id.0
    }

    #[getter]
    fn link(&self, py: Python<'_>) -> Option<Py<PyString>> {
        self.link.as_ref().map(|link| link.clone_ref(py))
    }

    #[getter]
    fn rtt(&self) -> f64 {
        self.path.rtt.as_secs_f64()
    }

    #[getter]
    fn rtt_variation(&self) -> f64 {
        self.path.variation.as_secs_f64()
    }

    #[getter]
    fn window(&self) -> u64 {
        self.path.window.get()
    }

    #[getter]
    fn in_flight(&self) -> u64 {
        self.path.in_flight.get()
    }

    #[getter]
    fn payload(&self) -> u64 {
        self.path.payload.get()
    }

    #[getter]
    fn room(&self) -> u64 {
        self.path.window.saturating_sub(self.path.in_flight).get()
    }

    #[getter]
    fn has_room(&self) -> bool {
        self.path.has_room(self.now)
    }

    #[getter]
    fn ready(&self) -> f64 {
        self.path.ready.as_secs_f64()
    }

    #[getter]
    fn slow_start(&self) -> bool {
        self.path.slow_start
    }

    #[getter]
    fn delivery_rate(&self) -> Option<u64> {
        self.path.delivery_rate.map(BitRate::bps)
    }

    #[getter]
    fn forecast(&self) -> Option<Forecast> {
        self.path.forecast.map(Forecast::new)
    }

    /// Like that of its number: sets of paths have the same order in every run, as by address they would not.
    fn __hash__(&self) -> usize {
        self.path.id.0 as usize
    }

    /// A path that was not in use for a while has another object, but is the same.
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other = other.cast::<Self>().ok().and_then(|other| other.try_borrow().ok());
        other.is_some_and(|other| other.path.id == self.path.id)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let id = self.path.id.0;
        match &self.link {
            Some(link) => format!("<PathView {id} over {}>", link.bind(py)),
            None => format!("<PathView {id}>"),
        }
    }
}

/// The data that waits for a path, as it is at the time of the choice.
#[pyclass(module = "leobench._core")]
pub(crate) struct Backlog(pub(super) path_choice::Backlog);

#[pymethods]
impl Backlog {
    #[getter]
    fn waiting(&self) -> u64 {
        self.0.waiting.get()
    }

    #[getter]
    fn credit(&self) -> u64 {
        self.0.credit.get()
    }

    fn __repr__(&self) -> String {
        format!("<Backlog: {} bytes waiting>", self.0.waiting.get())
    }
}
