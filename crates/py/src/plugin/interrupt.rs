//! What ends the program rather than the run, such as Ctrl-C, on its way out of a run: the errors of a run are texts,
//! and it must come out as itself.

use std::cell::RefCell;

use pyo3::PyErr;

thread_local! {
    static KEPT: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Keeps it until the run has failed over it.
pub(super) fn keep(error: PyErr) {
    KEPT.set(Some(error));
}

/// What was kept since the last time, on this thread.
pub(crate) fn take() -> Option<PyErr> {
    KEPT.take()
}
