//! Congestion controllers written in Python.

mod view;

use std::sync::Arc;

use leobench_base::{BitRate, Bytes};
use leobench_transport::endpoint;
use leobench_transport::plugin::{AckBatch, Decision, LossBatch, PluginController};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBool;

pub(crate) use self::view::{Acknowledgement, CongestionEvent};
use crate::answers::{shown, unless_interrupted};
use crate::forecast::Forecast;
use crate::raised::{PLUGINS, raised};
use crate::watch::Watch;

/// A controller of the user's for one path.
pub(crate) struct PythonController {
    object: Py<PyAny>,
    on_ack: Method,
    on_loss: Method,
    on_ecn: Option<Method>,
    on_spurious_loss: Option<Method>,
    on_forecast: Option<Method>,
    /// Bytes of a full packet.
    packet: Bytes,
    /// None for one that may wait for another program.
    watch: Option<Arc<Watch>>,
    acknowledgement: Py<Acknowledgement>,
    event: Py<CongestionEvent>,
}

/// A bound method, and the file and line of it.
struct Method {
    bound: Py<PyAny>,
    place: Option<String>,
}

impl Method {
    fn new(bound: Bound<'_, PyAny>) -> PyResult<Self> {
        let place = bound.py().import(PLUGINS)?.call_method1("place", (&bound,))?.extract()?;
        Ok(Self { bound: bound.unbind(), place })
    }

    fn optional(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<Self>> {
        object.getattr_opt(name)?.map(Self::new).transpose()
    }
}

impl PythonController {
    /// The controller of a path with packets of this size.
    pub(crate) fn new(
        object: &Bound<'_, PyAny>,
        packet: Bytes,
        watch: Arc<Watch>,
    ) -> PyResult<Self> {
        let py = object.py();
        let may_wait =
            object.getattr_opt("may_wait")?.map_or(Ok(false), |may_wait| may_wait.is_truthy())?;
        Ok(Self {
            on_ack: Method::new(object.getattr("on_ack")?)?,
            on_loss: Method::new(object.getattr("on_loss")?)?,
            on_ecn: Method::optional(object, "on_ecn")?,
            on_spurious_loss: Method::optional(object, "on_spurious_loss")?,
            on_forecast: Method::optional(object, "on_forecast")?,
            object: object.clone().unbind(),
            packet,
            watch: (!may_wait).then_some(watch),
            acknowledgement: Py::new(py, Acknowledgement::default())?,
            event: Py::new(py, CongestionEvent::default())?,
        })
    }

    /// Reads what the object has decided; `place` is where it was written.
    fn read(&self, py: Python<'_>, place: Option<&str>) -> Result<Decision, String> {
        let object = self.object.bind(py);
        let refused = |problem: String| match place {
            Some(place) => Err(format!("{problem} ({place})")),
            None => Err(problem),
        };
        let least = Decision::least_window(self.packet).get();
        let allowed = || Decision::windows(self.packet);
        let Some(window) = attribute(object, intern!(py, "window"))? else {
            return refused(format!("has no `window`; allowed: {}", allowed()));
        };
        let Some(bytes) = number(&window, least as f64)? else {
            return refused(format!("set `window` to {}; allowed: {}", shown(&window), allowed()));
        };
        let mut decision =
            Decision { window: Bytes::new(bytes as u64), pacing_rate: None, ssthresh: None };
        if let Some(rate) = attribute(object, intern!(py, "pacing_rate"))? {
            let Some(bps) = number(&rate, 1.0)? else {
                let allowed = format!("None, or {}", Decision::RATES);
                let shown = shown(&rate);
                return refused(format!("set `pacing_rate` to {shown}; allowed: {allowed}"));
            };
            decision.pacing_rate = Some(BitRate::from_bps(bps as u64));
        }
        if let Some(ssthresh) = attribute(object, intern!(py, "ssthresh"))? {
            let Some(bytes) = number(&ssthresh, 0.0)? else {
                let allowed = format!("None, or {}", Decision::THRESHOLDS);
                let shown = shown(&ssthresh);
                return refused(format!("set `ssthresh` to {shown}; allowed: {allowed}"));
            };
            decision.ssthresh = Some(Bytes::new(bytes as u64));
        }
        Ok(decision)
    }

    /// Calls a method, and reads the decision.
    fn call<'py>(
        &self,
        py: Python<'py>,
        method: &Method,
        arguments: impl pyo3::call::PyCallArgs<'py>,
    ) -> Result<Decision, String> {
        let bound = method.bound.bind(py);
        let called = match &self.watch {
            Some(watch) => watch.during(|| bound.call1(arguments)),
            None => bound.call1(arguments),
        };
        called.map_err(|error| raised(py, &error))?;
        self.read(py, method.place.as_deref())
    }

    fn congested(&self, method: &Method, batch: &LossBatch<'_>) -> Result<Decision, String> {
        Python::attach(|py| {
            let event = self.event.bind(py);
            event.try_borrow_mut().map_err(|_| BORROWED)?.set(batch);
            self.call(py, method, (event,))
        })
    }
}

/// A view cannot be borrowed while it is written, which only another thread could do.
const BORROWED: &str = "used an acknowledgement on another thread";

/// An attribute of the object; none if it has none, or it is None.
fn attribute<'py>(
    object: &Bound<'py, PyAny>,
    name: &Bound<'py, pyo3::types::PyString>,
) -> Result<Option<Bound<'py, PyAny>>, String> {
    let value = object.getattr_opt(name).map_err(|error| raised(object.py(), &error))?;
    Ok(value.filter(|value| !value.is_none()))
}

/// A number from `least` to [`Decision::LARGEST`]; none for other values, booleans included.
fn number(value: &Bound<'_, PyAny>, least: f64) -> Result<Option<f64>, String> {
    if value.is_instance_of::<PyBool>() {
        return Ok(None);
    }
    let number: Option<f64> =
        value.extract().map(Some).or_else(|error| unless_interrupted(value.py(), &error))?;
    Ok(number.filter(|number| (least..=Decision::LARGEST as f64).contains(number)))
}

impl PluginController for PythonController {
    fn decide(&mut self) -> Result<Decision, String> {
        Python::attach(|py| self.read(py, self.on_ack.place.as_deref()))
    }

    fn on_ack(&mut self, batch: &AckBatch<'_>) -> Result<Decision, String> {
        Python::attach(|py| {
            let acknowledgement = self.acknowledgement.bind(py);
            acknowledgement.try_borrow_mut().map_err(|_| BORROWED)?.set(batch);
            self.call(py, &self.on_ack, (acknowledgement,))
        })
    }

    fn on_loss(&mut self, batch: &LossBatch<'_>) -> Result<Decision, String> {
        self.congested(&self.on_loss, batch)
    }

    fn on_ecn(&mut self, batch: &LossBatch<'_>) -> Result<Decision, String> {
        self.congested(self.on_ecn.as_ref().unwrap_or(&self.on_loss), batch)
    }

    fn on_spurious_loss(&mut self) -> Result<Decision, String> {
        let Some(method) = &self.on_spurious_loss else { return self.decide() };
        Python::attach(|py| self.call(py, method, ()))
    }

    fn on_forecast(&mut self, forecast: &endpoint::Forecast) -> Result<Decision, String> {
        let Some(method) = &self.on_forecast else { return self.decide() };
        Python::attach(|py| self.call(py, method, (Forecast::new(*forecast),)))
    }
}
