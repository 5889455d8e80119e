//! The module `leobench._core`: scenarios and runs for Python, and schedulers and congestion controllers from it. Everything here is conversion;
//! what a run does is in `leobench_sim`, and what becomes of its tables is in the Python package.

mod adaptation;
mod answers;
mod build;
mod congestion;
mod drive;
#[cfg(all(feature = "real-time", target_os = "linux"))]
mod emulate;
mod fit;
mod forecast;
mod hypatia;
mod kinds;
mod orbit_report;
mod path_scheduler;
mod plugin;
mod process;
mod quic;
mod raised;
mod scenario;
mod scheduler;
mod watch;

use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The exceptions of `leobench.errors`, which Python code catches.
mod errors {
    pyo3::import_exception!(leobench.errors, InputError);
    pyo3::import_exception!(leobench.plugins, PluginError);
    pyo3::import_exception!(leobench.errors, RunError);
    pyo3::import_exception!(leobench.errors, ScenarioError);
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("COMMIT", build::COMMIT)?;
    module.add("FEATURES", PyTuple::new(module.py(), build::features())?)?;
    module.add("LARGEST_FILE", leobench_sim::load::LARGEST_FILE)?;
    module.add("KINDS", PyTuple::new(module.py(), leobench_sim::listing::kinds())?)?;
    module.add_class::<scenario::PyScenario>()?;
    module.add_class::<quic::QuicConnection>()?;
    module.add_class::<quic::QuicSessions>()?;
    module.add_class::<scheduler::Stream>()?;
    module.add_class::<path_scheduler::PathView>()?;
    module.add_class::<path_scheduler::Backlog>()?;
    module.add_class::<congestion::Acknowledgement>()?;
    module.add_class::<congestion::CongestionEvent>()?;
    module.add_class::<adaptation::PlayerView>()?;
    module.add_class::<adaptation::Download>()?;
    module.add_class::<forecast::Forecast>()?;
    module.add_class::<forecast::InterfaceForecast>()?;
    module.add_class::<hypatia::HypatiaNetwork>()?;
    module.add_class::<process::Process>()?;
    module.add_function(wrap_pyfunction!(scenario::schema, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::summary_schema, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::read_toml, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::notices, module)?)?;
    module.add_function(wrap_pyfunction!(fit::shipped_fits, module)?)?;
    module.add_function(wrap_pyfunction!(fit::read_fit, module)?)?;
    module.add_function(wrap_pyfunction!(kinds::kinds, module)?)?;
    module.add_function(wrap_pyfunction!(kinds::kind_schema, module)?)?;
    module.add_function(wrap_pyfunction!(kinds::refused, module)?)?;
    module.add_function(wrap_pyfunction!(kinds::preset, module)?)?;
    module.add_function(wrap_pyfunction!(orbit_report::orbit, module)?)?;
    module.add_function(wrap_pyfunction!(orbit_report::trajectories, module)?)?;
    module.add_function(wrap_pyfunction!(orbit_report::scene, module)?)?;
    module.add_function(wrap_pyfunction!(orbit_report::places_below, module)?)?;
    module.add_function(wrap_pyfunction!(orbit_report::constellation_warnings, module)?)?;
    module.add_function(wrap_pyfunction!(drive::run, module)?)?;
    add_real_time(module)
}

/// Adds what runs in real time.
#[cfg(all(feature = "real-time", target_os = "linux"))]
fn add_real_time(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<emulate::Emulation>()?;
    module.add_function(wrap_pyfunction!(emulate::places, module)?)?;
    module.add_function(wrap_pyfunction!(emulate::check_kernel, module)?)
}

/// Adds nothing: this build has virtual time only.
#[cfg(not(all(feature = "real-time", target_os = "linux")))]
#[expect(clippy::unnecessary_wraps, reason = "the other form can fail")]
fn add_real_time(_: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
