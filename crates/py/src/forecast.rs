//! Forecasts for schedulers written in Python.

use leobench_base::{BitRate, SimDuration, SimTime};
use leobench_transport::endpoint;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::raised::raised;

/// A forecast for a path of a connection.
#[pyclass(module = "leobench._core", frozen)]
pub(crate) struct Forecast(endpoint::Forecast);

impl Forecast {
    pub(crate) fn new(forecast: endpoint::Forecast) -> Self {
        Self(forecast)
    }

    /// Calls the bound method `on_forecast`, if a class has it.
    pub(crate) fn tell(
        on_forecast: Option<&Py<PyAny>>,
        now: SimTime,
        forecast: &endpoint::Forecast,
    ) -> Result<(), String> {
        let Some(on_forecast) = on_forecast else { return Ok(()) };
        Python::attach(|py| {
            let told = on_forecast.call1(py, (now.as_secs_f64(), Self(*forecast)));
            told.map(drop).map_err(|error| raised(py, &error))
        })
    }
}

#[pymethods]
impl Forecast {
    #[getter]
    fn path(&self) -> u32 {
        self.0.path.0
    }

    #[getter]
    fn at(&self) -> f64 {
        self.0.at.as_secs_f64()
    }

    #[getter]
    fn base_rtt(&self) -> Option<f64> {
        self.0.base_rtt.map(SimDuration::as_secs_f64)
    }

    #[getter]
    fn bottleneck(&self) -> Option<u64> {
        self.0.bottleneck.map(BitRate::bps)
    }

    #[getter]
    fn handover(&self) -> Option<(f64, f64)> {
        self.0.handover.map(|next| (next.from.as_secs_f64(), next.until.as_secs_f64()))
    }

    fn __repr__(&self) -> String {
        let endpoint::Forecast { path, at, handover, .. } = self.0;
        match handover {
            Some(next) => format!("<Forecast of path {}: handover at {}>", path.0, next.from),
            None => format!("<Forecast of path {}: no handover up to {at}>", path.0),
        }
    }
}

/// A forecast for the interface of a link.
#[pyclass(module = "leobench._core", frozen)]
pub(crate) struct InterfaceForecast {
    #[pyo3(get)]
    link: Py<PyString>,
    forecast: endpoint::InterfaceForecast,
}

impl InterfaceForecast {
    pub(crate) fn new(link: Py<PyString>, forecast: endpoint::InterfaceForecast) -> Self {
        Self { link, forecast }
    }
}

#[pymethods]
impl InterfaceForecast {
    #[getter]
    fn comes_up(&self) -> Option<f64> {
        self.forecast.comes_up.map(SimTime::as_secs_f64)
    }

    #[getter]
    fn goes_down(&self) -> Option<f64> {
        self.forecast.goes_down.map(SimTime::as_secs_f64)
    }

    #[getter]
    fn handover(&self) -> Option<(f64, f64)> {
        let handover = self.forecast.handover;
        handover.map(|next| (next.from.as_secs_f64(), next.until.as_secs_f64()))
    }

    fn __repr__(&self) -> String {
        let endpoint::InterfaceForecast { comes_up, goes_down, .. } = self.forecast;
        let link = &self.link;
        format!("<InterfaceForecast of {link}: up at {comes_up:?}, down at {goes_down:?}>")
    }
}
