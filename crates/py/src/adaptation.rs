//! Adaptations of videos written in Python.

use std::sync::Arc;

use leobench_transport::video;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::answers::{shown, whole};
use crate::raised::{PLUGINS, raised};
use crate::watch::Watch;

/// An adaptation of the user's for one player.
#[derive(Debug)]
pub(crate) struct PythonAdaptation {
    /// The bound methods; `choose` is the one that every adaptation has.
    choose: Py<PyAny>,
    on_download: Option<Py<PyAny>>,
    /// The file and line of `choose`, if they are known.
    place: Option<String>,
    watch: Arc<Watch>,
}

impl PythonAdaptation {
    pub(crate) fn new(object: &Bound<'_, PyAny>, watch: Arc<Watch>) -> PyResult<Self> {
        let choose = object.getattr("choose")?;
        let place = object.py().import(PLUGINS)?.call_method1("place", (&choose,))?.extract()?;
        let on_download = object.getattr_opt("on_download")?.map(Bound::unbind);
        Ok(Self { choose: choose.unbind(), on_download, place, watch })
    }

    /// Reads the number of a bitrate that `choose` returned.
    fn read(&self, returned: &Bound<'_, PyAny>, bitrates: usize) -> Result<usize, String> {
        let number = whole(returned)?.and_then(|number| usize::try_from(number).ok());
        number.filter(|number| *number < bitrates).ok_or_else(|| {
            let place = self.place.as_ref().map_or(String::new(), |place| format!(" ({place})"));
            format!(
                "returned {}; allowed: the number of a bitrate in the ladder, from 0 to {}{place}",
                shown(returned),
                bitrates - 1
            )
        })
    }
}

impl video::Adaptation for PythonAdaptation {
    fn choose(&mut self, view: &video::PlayerView<'_>) -> Result<usize, String> {
        Python::attach(|py| {
            self.watch.during(|| {
                let returned = self.choose.bind(py).call1((PlayerView::of(view),));
                self.read(&returned.map_err(|error| raised(py, &error))?, view.ladder.len())
            })
        })
    }

    fn on_download(&mut self, download: &video::Download) -> Result<(), String> {
        let Some(on_download) = &self.on_download else { return Ok(()) };
        Python::attach(|py| {
            let told = self.watch.during(|| on_download.call1(py, (Download(*download),)));
            told.map(drop).map_err(|error| raised(py, &error))
        })
    }
}

/// Knowledge of a player when it chooses.
#[pyclass(module = "leobench._core", frozen)]
pub(crate) struct PlayerView {
    now: f64,
    bits: Vec<f64>,
    buffer: f64,
    most_buffer: f64,
    last: Option<usize>,
}

impl PlayerView {
    fn of(view: &video::PlayerView<'_>) -> Self {
        Self {
            now: view.now.as_secs_f64(),
            bits: view.bits.to_vec(),
            buffer: view.buffer_s,
            most_buffer: view.most_buffer_s,
            last: view.last,
        }
    }
}

#[pymethods]
impl PlayerView {
    #[getter]
    fn now(&self) -> f64 {
        self.now
    }

    #[getter]
    fn bits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.bits)
    }

    #[getter]
    fn buffer(&self) -> f64 {
        self.buffer
    }

    #[getter]
    fn most_buffer(&self) -> f64 {
        self.most_buffer
    }

    #[getter]
    fn last(&self) -> Option<usize> {
        self.last
    }

    fn __repr__(&self) -> String {
        format!("<PlayerView: {} s in the buffer at {} s>", self.buffer, self.now)
    }
}

/// A download that is over.
#[pyclass(module = "leobench._core", frozen)]
pub(crate) struct Download(video::Download);

#[pymethods]
impl Download {
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes.get()
    }

    #[getter]
    fn seconds(&self) -> f64 {
        self.0.seconds
    }

    #[getter]
    fn is_replacement(&self) -> bool {
        self.0.is_replacement
    }

    #[getter]
    fn throughput(&self) -> f64 {
        self.0.throughput()
    }

    fn __repr__(&self) -> String {
        format!("<Download: {} bytes in {} s>", self.0.bytes.get(), self.0.seconds)
    }
}
