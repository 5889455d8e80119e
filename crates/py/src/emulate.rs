//! Runs in real time: Python makes the hosts and their devices, the driver does the rest.

use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use leobench_base::{PortId, SimDuration, SimTime};
use leobench_emu::{Budget, Device, Driver, Outside, Settings, Verdict, WallClock, open_port};
use leobench_sim::{Run, RunOptions, network};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::drive::{failed, sink};
use crate::plugin::Interpreter;
use crate::scenario::{PyScenario, as_json};

/// A node's name, its own two addresses, and its interfaces: link, two addresses, MTU in bytes.
type Place = (String, [String; 2], Vec<(String, [String; 2], u64)>);

/// The two addresses of an interface, and the descriptor of the TUN device there.
type Attached = ([String; 2], RawFd);

/// The nodes of a scenario with their IPv4 and IPv6 addresses.
#[pyfunction]
pub(crate) fn places(scenario: &PyScenario) -> Vec<Place> {
    let place = |place: network::PlaceOfHost| {
        let interfaces = place.interfaces.into_iter().map(|interface| {
            let addresses = [interface.address, interface.address_v6].map(|ip| ip.to_string());
            (interface.link, addresses, interface.mtu.get())
        });
        let interfaces = interfaces.collect();
        (place.node, [place.address, place.address_v6].map(|ip| ip.to_string()), interfaces)
    };
    network::places(&scenario.0.spec).into_iter().map(place).collect()
}

/// What is built and not driven yet, or driven to its end.
struct Parts {
    run: Run,
    driver: Driver,
}

/// A scenario's network between real hosts.
#[pyclass(module = "leobench._core", frozen)]
pub(crate) struct Emulation {
    parts: Mutex<Option<Parts>>,
    stop: AtomicBool,
    budget: Budget,
}

#[pymethods]
impl Emulation {
    /// `hosts` has by node, for each of its interfaces, the addresses and the descriptor of the TUN device there. The clock
    /// starts at once. Times are in seconds.
    #[new]
    fn new(
        scenario: &PyScenario,
        hosts: Vec<(String, Vec<Attached>)>,
        tables_dir: Option<PathBuf>,
        lateness: f64,
        stall: f64,
        spin: f64,
    ) -> PyResult<Self> {
        let time = |seconds: f64| SimDuration::from_nanos((seconds * 1e9) as u64);
        let budget = Budget { lateness: time(lateness), stall: time(stall) };
        let settings = Settings { spin: time(spin), budget };
        let (clock, outside) = (WallClock::start(), Outside::default());
        let (mut ports, mut devices) = (Vec::new(), Vec::new());
        for (number, (node, interfaces)) in hosts.into_iter().enumerate() {
            let mut own = Vec::new();
            for (addresses, descriptor) in interfaces {
                let device = Device::new(duplicate(descriptor)?);
                for address in addresses {
                    own.push((address.parse().map_err(failed)?, device.share()?));
                }
                devices.push((PortId::from(number), device));
            }
            ports.push((node, open_port(own, &outside, clock, budget)));
        }
        let plugins = Interpreter::beside(scenario.0.folder.clone());
        let options = RunOptions { plugins, ..RunOptions::default() };
        let sink = sink(tables_dir)?;
        let run = Run::real(&scenario.0, scenario.0.spec.seed, options, sink, ports);
        let run = run.map_err(failed)?;
        let driver = Driver::new(clock, settings, devices, outside);
        let built = Mutex::new(Some(Parts { run, driver }));
        Ok(Self { parts: built, stop: AtomicBool::new(false), budget })
    }

    /// Follows the clock for so many seconds, or until it is stopped. Returns the summary and the verdict, as JSON.
    fn run(&self, py: Python<'_>, seconds: f64) -> PyResult<(String, String)> {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Parts { mut run, mut driver }) = parts else {
            return Err(PyRuntimeError::new_err("an emulation runs once"));
        };
        let end = SimTime::from_nanos((seconds * 1e9) as u64);
        let driven = py.detach(|| driver.run(run.network(), end, &self.stop));
        driven.map_err(failed)?;
        let verdict = told(&driver.verdict(), &self.budget);
        let finished = py.detach(|| run.finish()).map_err(failed)?;
        Ok((as_json(&finished.summary)?, as_json(&verdict)?))
    }

    /// Lets it end within some milliseconds.
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// A descriptor of our own for the same device.
fn duplicate(descriptor: RawFd) -> PyResult<OwnedFd> {
    #[expect(
        unsafe_code,
        reason = "Python hands descriptors over as numbers, and keeps this one open meanwhile"
    )]
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    Ok(borrowed.try_clone_to_owned()?)
}

#[derive(serde::Serialize)]
struct Told {
    verdict: &'static str,
    reasons: Vec<String>,
    elapsed_s: f64,
    driver_cpu_s: f64,
    packets_in: u64,
    packets_out: u64,
    packets_refused: u64,
    packets_malformed: u64,
    packets_over_budget: u64,
    lateness_ms: Option<Quantiles>,
    longest_stall_ms: f64,
    budget_ms: [f64; 2],
}

#[derive(serde::Serialize)]
struct Quantiles {
    p50: f64,
    p99: f64,
    p999: f64,
    max: f64,
}

fn told(verdict: &Verdict, budget: &Budget) -> Told {
    let reasons = verdict.doubts(budget);
    let ms = |duration: SimDuration| duration.as_secs_f64() * 1e3;
    let histogram = &verdict.lateness.histogram;
    let quantile = |q| histogram.quantile(q).map(|nanos| nanos as f64 / 1e6);
    let lateness_ms = || {
        let (p50, p99, p999) = (quantile(0.5)?, quantile(0.99)?, quantile(0.999)?);
        Some(Quantiles { p50, p99, p999, max: quantile(1.0)? })
    };
    Told {
        verdict: if reasons.is_empty() { "valid" } else { "invalid" },
        reasons,
        elapsed_s: verdict.elapsed.as_secs_f64(),
        driver_cpu_s: verdict.cpu.as_secs_f64(),
        packets_in: verdict.packets_in,
        packets_out: verdict.packets_out,
        packets_refused: verdict.refused,
        packets_malformed: verdict.malformed,
        packets_over_budget: verdict.lateness.over_budget,
        lateness_ms: lateness_ms(),
        longest_stall_ms: ms(verdict.longest_stall),
        budget_ms: [ms(budget.lateness), ms(budget.stall)],
    }
}
