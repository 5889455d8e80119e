//! What there is to make scenarios of.

use leobench_sim::registry;
use pyo3::prelude::*;

use crate::errors::InputError;

/// The names of a kind of thing, each with its one-line summary.
#[pyfunction]
pub(crate) fn kinds(kind: &str) -> PyResult<Vec<(&'static str, &'static str)>> {
    registry::entries(kind).map_err(|error| InputError::new_err(error.to_string()))
}
