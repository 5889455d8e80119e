//! Fits of links to measurements, for Python.

use std::path::PathBuf;

use leobench_base::RngTree;
use leobench_base::spec::Spec;
use leobench_link::ChannelContext;
use leobench_link::channel::starlink::fit::{FITS, FitSpec};
use pyo3::prelude::*;

use crate::errors::InputError;
use crate::scenario::as_json;

/// The names of the fits that come with leobench.
#[pyfunction]
pub(crate) fn shipped_fits() -> Vec<&'static str> {
    FITS.iter().map(|(name, _)| *name).collect()
}

/// The content of a fit, checked and with all defaults: of one that comes with leobench, by its name, or of a JSON file.
#[pyfunction]
pub(crate) fn read_fit(place: &str) -> PyResult<String> {
    let context = ChannelContext { folder: PathBuf::new(), rng: RngTree::new(0) };
    let fit = FitSpec::load(place, &context).map_err(|fault| {
        InputError::new_err(format!("{}; allowed: {}", fault.problem, fault.allowed))
    })?;
    as_json(&fit.write())
}
