//! Keeps an exception that must end the program rather than the run, such as Ctrl-C, until the run has failed. A run
//! reports its errors as texts, from which the exception could not be raised again.

use std::cell::RefCell;

use pyo3::PyErr;

thread_local! {
    static KEPT: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Keeps the exception.
pub(super) fn keep(error: PyErr) {
    KEPT.set(Some(error));
}

/// Takes the exception kept on this thread since the last call.
pub(crate) fn take() -> Option<PyErr> {
    KEPT.take()
}
