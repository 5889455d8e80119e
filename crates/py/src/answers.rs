//! Values that classes of the user's return.

use leobench_base::spec::cut;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::raised::raised;

/// A whole number from 0; no boolean, which Python also takes for one.
pub(crate) fn whole(value: &Bound<'_, PyAny>) -> Result<Option<u64>, String> {
    if value.is_instance_of::<PyBool>() {
        return Ok(None);
    }
    value.extract().map(Some).or_else(|error| unless_interrupted(value.py(), &error))
}

/// Nothing, for an error of a method that a value of the user's has; but Ctrl-C ends the run.
pub(crate) fn unless_interrupted<T>(py: Python<'_>, error: &PyErr) -> Result<Option<T>, String> {
    if error.is_instance_of::<PyKeyboardInterrupt>(py) { Err(raised(py, error)) } else { Ok(None) }
}

/// A value for a message, on one line and cut to a readable length.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map(|text| text.to_string_lossy().into_owned());
    let text = text.unwrap_or_else(|error| {
        // Its text is that of an interrupt if it is one, which is kept.
        let _ = unless_interrupted::<()>(value.py(), &error);
        "something".into()
    });
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&line).into_owned()
}
