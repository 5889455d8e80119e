//! Exceptions of the user's code: a run reports them as texts. One that must end the program rather than the run, such as Ctrl-C, is
//! kept until the run has failed, as it could not be raised again from a text.

use std::cell::RefCell;

use pyo3::prelude::*;

/// The Python module that finds, imports and builds classes.
pub(crate) const PLUGINS: &str = "leobench.plugins";

thread_local! {
    static KEPT: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Keeps the exception.
fn keep(error: PyErr) {
    KEPT.set(Some(error));
}

/// Takes the exception kept on this thread since the last call.
pub(crate) fn take_interrupt() -> Option<PyErr> {
    KEPT.take()
}

/// Tells of what the user's code raised, with its traceback; keeps what must end the program.
pub(crate) fn raised(py: Python<'_>, error: &PyErr) -> String {
    let describe = || {
        let (plugins, raised) = (py.import(PLUGINS)?, error.clone_ref(py).into_value(py));
        if plugins.call_method1("is_fault", (&raised,))?.extract()? {
            return plugins.call_method1("describe", (raised,))?.extract();
        }
        keep(error.clone_ref(py));
        Ok("interrupted".into())
    };
    describe().unwrap_or_else(|_: PyErr| format!("raised {error}"))
}
