//! The kinds of things that scenarios are made of.

use leobench_sim::listing;
use pyo3::prelude::*;

use crate::errors::InputError;
use crate::scenario::as_json;

/// The names of a kind of thing, each with its one-line summary.
#[pyfunction]
pub(crate) fn kinds(kind: &str) -> PyResult<Vec<(&'static str, &'static str)>> {
    listing::entries(kind).map_err(|error| InputError::new_err(error.to_string()))
}

/// The key under which a kind of thing stands in a scenario, and its JSON Schema.
#[pyfunction]
pub(crate) fn kind_schema(kind: &str) -> PyResult<(&'static str, String)> {
    let (key, schema) =
        listing::schema(kind).map_err(|error| InputError::new_err(error.to_string()))?;
    Ok((key, as_json(&schema)?))
}

/// Names of a kind that are refused, each with the reason.
#[pyfunction]
pub(crate) fn refused(kind: &str) -> PyResult<Vec<(&'static str, &'static str)>> {
    listing::refused(kind)
        .map(<[_]>::to_vec)
        .map_err(|error| InputError::new_err(error.to_string()))
}

/// The states of a preset of the LMS channel: name, rate in bits per second, mean time spent in it in seconds, share of
/// all time, and the probability of each state when it is left. Empty if there is no such preset.
#[pyfunction]
pub(crate) fn preset(name: &str) -> PyResult<Vec<PresetState>> {
    let states = listing::preset(name).map_err(|fault| InputError::new_err(fault.problem))?;
    let told = states.into_iter().map(|state| {
        (state.name, state.rate.bps(), state.dwell.as_secs_f64(), state.time_share, state.jump)
    });
    Ok(told.collect())
}

type PresetState = (&'static str, u64, f64, f64, [f64; 3]);
