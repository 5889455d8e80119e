//! Processes fitted to measurements: likelihoods and draws for Python.

use leobench_base::spec::{At, Spec, Value};
use leobench_base::{RngTree, SimRng};
use leobench_link::process::{Filter, Grid, Innovation, ProcessSpec};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

use crate::errors::InputError;

/// The parameters of a process, and the slots of the recordings.
#[pyclass(frozen, module = "leobench._core")]
pub(crate) struct Process {
    spec: ProcessSpec,
    grid: Grid,
}

#[pymethods]
impl Process {
    #[new]
    #[pyo3(signature = (parameters, every_s = 15.0, phase_s = 12.0))]
    fn new(parameters: &str, every_s: f64, phase_s: f64) -> PyResult<Self> {
        if every_s.is_nan() || every_s <= 0.0 || !phase_s.is_finite() {
            let message = format!("slots of {every_s} s from {phase_s} s on cannot be");
            return Err(InputError::new_err(message));
        }
        let value: Value =
            serde_json::from_str(parameters).map_err(|error| refused(&error.to_string()))?;
        let spec =
            ProcessSpec::read(&value, &At::ROOT).map_err(|error| refused(&error.to_string()))?;
        Ok(Self { spec, grid: Grid { every: every_s, phase: phase_s } })
    }

    fn log_likelihood(&self, py: Python<'_>, times: Numbers, values: Numbers) -> PyResult<f64> {
        let (times, values) = series(times, values)?;
        Ok(py.detach(|| {
            let mut sum = 0.0;
            self.filter(&times, &values, |found| {
                sum += found.map_or(f64::NEG_INFINITY, |found| found.log_density);
            });
            sum
        }))
    }

    fn innovations<'py>(
        &self,
        py: Python<'py>,
        times: Numbers,
        values: Numbers,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (times, values) = series(times, values)?;
        let [mean, deviation, z] = py.detach(|| {
            let mut columns = [(); 3].map(|()| vec![f64::NAN; times.len()]);
            let mut filter = Filter::new(self.spec.clone(), self.grid);
            for (index, (time, value)) in times.iter().zip(&values).enumerate() {
                filter.advance(*time);
                if let Some(found) = filter.observe(*value) {
                    let row = [found.mean, found.deviation, found.z];
                    for (column, number) in columns.iter_mut().zip(row) {
                        column[index] = number;
                    }
                }
            }
            columns
        });
        Ok((array(py, &mean)?, array(py, &deviation)?, array(py, &z)?))
    }

    fn sample<'py>(
        &self,
        py: Python<'py>,
        times: Numbers,
        seed: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let times = ascending(times)?;
        let filter = Filter::new(self.spec.clone(), self.grid);
        let values = py.detach(|| filter.draw(&times, &mut rng(seed)));
        array(py, &values)
    }

    fn predict<'py>(
        &self,
        py: Python<'py>,
        times: Numbers,
        values: Numbers,
        at: Numbers,
        seed: u64,
        draws: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (times, values) = series(times, values)?;
        let at = ascending(at)?;
        if let (Some(last), Some(first)) = (times.last(), at.first())
            && first < last
        {
            let message = format!("{first} s is before the end of the series, {last} s");
            return Err(InputError::new_err(message));
        }
        let values_drawn = py.detach(|| {
            let filter = self.filter(&times, &values, |_| ());
            let mut rng = rng(seed);
            (0..draws).flat_map(|_| filter.draw(&at, &mut rng)).collect::<Vec<_>>()
        });
        array(py, &values_drawn)?.call_method1("reshape", (draws, at.len()))
    }

    fn quantile<'py>(&self, py: Python<'py>, numbers: Numbers) -> PyResult<Bound<'py, PyAny>> {
        let values: Vec<_> = numbers.0.into_iter().map(|number| self.spec.warp(number)).collect();
        array(py, &values)
    }
}

impl Process {
    /// Filters a series, and calls `each` with what each value was that is not missing.
    fn filter(
        &self,
        times: &[f64],
        values: &[f64],
        mut each: impl FnMut(Option<Innovation>),
    ) -> Filter {
        let mut filter = Filter::new(self.spec.clone(), self.grid);
        for (time, value) in times.iter().zip(values).filter(|(_, value)| !value.is_nan()) {
            filter.advance(*time);
            each(filter.observe(*value));
        }
        if let Some(last) = times.last() {
            filter.advance(*last);
        }
        filter
    }
}

fn refused(problem: &str) -> PyErr {
    InputError::new_err(format!("the parameters of a process: {problem}"))
}

fn rng(seed: u64) -> SimRng {
    RngTree::new(seed).rng()
}

/// A copy of an array of doubles.
struct Numbers(Vec<f64>);

impl<'py> FromPyObject<'_, 'py> for Numbers {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(PyBuffer::<f64>::get(&object)?.to_vec(object.py())?))
    }
}

/// The times and values of a series.
fn series(times: Numbers, Numbers(values): Numbers) -> PyResult<(Vec<f64>, Vec<f64>)> {
    let times = ascending(times)?;
    if times.len() != values.len() {
        let message = format!("{} times have {} values", times.len(), values.len());
        return Err(InputError::new_err(message));
    }
    Ok((times, values))
}

/// Times that do not decrease.
fn ascending(Numbers(times): Numbers) -> PyResult<Vec<f64>> {
    let is_wrong = |pair: &[f64]| pair[0].is_nan() || pair[1].is_nan() || pair[1] < pair[0];
    if let Some(index) = times.windows(2).position(is_wrong) {
        let message =
            format!("time {} is {} s, after {} s", index + 1, times[index + 1], times[index]);
        return Err(InputError::new_err(message));
    }
    Ok(times)
}

/// An array of doubles for Python.
fn array<'py>(py: Python<'py>, numbers: &[f64]) -> PyResult<Bound<'py, PyAny>> {
    let bytes = PyByteArray::new_with(py, size_of_val(numbers), |bytes| {
        for (place, number) in bytes.chunks_exact_mut(size_of::<f64>()).zip(numbers) {
            place.copy_from_slice(&number.to_ne_bytes());
        }
        Ok(())
    })?;
    py.import("numpy")?.call_method1("frombuffer", (bytes,))
}
