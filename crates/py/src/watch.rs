//! An end for calls into the user's code that never return.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use pyo3::prelude::*;

use crate::raised::PLUGINS;

/// Time between two looks.
const EVERY: Duration = Duration::from_millis(250);

/// The calls of one run, which come one after the other on one thread.
#[derive(Debug)]
pub(crate) struct Watch {
    /// How many have begun and ended: odd during a call.
    turns: AtomicU64,
    /// Python's number of the thread.
    thread: u64,
}

impl Watch {
    /// Watches the calls of this thread, until it is dropped.
    ///
    /// # Errors
    /// If Python or the system refuses.
    pub(crate) fn new(py: Python<'_>) -> PyResult<Arc<Self>> {
        let thread = py.import("threading")?.call_method0("get_ident")?.extract()?;
        let longest: f64 = py.import(PLUGINS)?.getattr("LONGEST_CALL_S")?.extract()?;
        let watch = Arc::new(Self { turns: AtomicU64::new(0), thread });
        let watched = Arc::downgrade(&watch);
        let looks = (longest / EVERY.as_secs_f64()).ceil() as u32;
        let named = std::thread::Builder::new().name("leobench-watch".into());
        named.spawn(move || look_after(&watched, looks))?;
        Ok(watch)
    }

    /// Makes a call.
    #[inline]
    pub(crate) fn during<T>(&self, call: impl FnOnce() -> T) -> T {
        self.turns.fetch_add(1, Ordering::Relaxed);
        let returned = call();
        self.turns.fetch_add(1, Ordering::Relaxed);
        returned
    }
}

/// Looks now and then whether the same call is still under way, and raises an exception in it after so many looks.
#[expect(clippy::disallowed_methods, reason = "it watches real time, on a thread of its own")]
fn look_after(watched: &Weak<Watch>, looks: u32) {
    let (mut seen, mut same) = (0, 0);
    loop {
        std::thread::sleep(EVERY);
        let Some(watch) = watched.upgrade() else { return };
        let turns = watch.turns.load(Ordering::Relaxed);
        same = if turns % 2 == 1 && turns == seen { same + 1 } else { 0 };
        seen = turns;
        if same == looks {
            // If Python refuses, the call goes on as without a watch.
            let _ = Python::attach(|py| {
                py.import(PLUGINS)?.call_method1("interrupt", (watch.thread,)).map(drop)
            });
        }
    }
}
