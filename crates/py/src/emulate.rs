//! Runs in real time: Python makes the hosts and their devices, the driver does the rest.

use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use leobench_base::{LogHistogram, PortId, SimDuration, SimTime};
use leobench_emu::flows::{Host, HostSockets, Ready, congestion_name, offered};
use leobench_emu::spin::SpinFlow;
use leobench_emu::{
    Budget, Device, Driver, Framing, Losses, Outside, Settings, Until, Verdict, WallClock,
    open_port,
};
use leobench_sim::build::Sockets;
use leobench_sim::capture::{CaptureOptions, DEFAULT_SNAPLEN};
use leobench_sim::scenario::TransportSpec;
use leobench_sim::{Run, RunOptions, network};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::drive::{Stalls, failed, sink, told_stalls};
use crate::errors::InputError;
use crate::plugin::Interpreter;
use crate::scenario::{PyScenario, as_json};

/// A node's name, its own two addresses, and its interfaces: link, two addresses, MTU in bytes.
type Place = (String, [String; 2], Vec<(String, [String; 2], u64)>);

/// The two addresses of an interface, and the descriptor of the TUN device there.
type Attached = ([String; 2], RawFd);

/// A node's name, its interfaces, and the descriptor of its network namespace.
type Made = (String, Vec<Attached>, RawFd);

/// Checks that this machine's kernel can run the flows of a scenario.
#[pyfunction]
pub(crate) fn check_kernel(scenario: &PyScenario) -> PyResult<()> {
    let offered = offered().map_err(failed)?;
    for (name, flow) in &scenario.0.spec.flows {
        let TransportSpec::Tcp(tcp) = &flow.transport else { continue };
        let wanted = congestion_name(&tcp.congestion);
        if !offered.iter().any(|known| known == wanted) {
            let listed: Vec<_> = offered.iter().map(|known| format!("`{known}`")).collect();
            return Err(InputError::new_err(format!(
                "flows.{name}.transport.congestion: {wanted} is not in this kernel; allowed in real time: {} \
                 (`reno` is `newreno` here), or load its module",
                listed.join(", ")
            )));
        }
    }
    Ok(())
}

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

/// A run and its driver, before the run or after its end.
struct Parts {
    run: Run,
    driver: Driver,
}

/// A scenario's network between real hosts.
#[pyclass(module = "leobench._core", frozen)]
pub(crate) struct Emulation {
    parts: Mutex<Option<Parts>>,
    stop: AtomicBool,
    hosts: Vec<Arc<Host>>,
    budget: Budget,
}

#[pymethods]
impl Emulation {
    /// `hosts` has by node, for each of its interfaces, the addresses and the descriptor of the TUN device there, which
    /// takes over `offloads`: `none`, `segments` of TCP, or `datagrams` too. With `flows`, the scenario's own flows run on them.
    /// Times are in seconds.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "each has a name in Python")]
    fn new(
        scenario: &PyScenario,
        hosts: Vec<Made>,
        flows: bool,
        tables_dir: Option<PathBuf>,
        qlog_dir: Option<PathBuf>,
        pcap_dir: Option<PathBuf>,
        snaplen: Option<u32>,
        lateness: f64,
        stall: f64,
        spin: f64,
        busy: f64,
        offloads: &str,
    ) -> PyResult<Self> {
        let time = |seconds: f64| SimDuration::from_nanos((seconds * 1e9) as u64);
        let budget = Budget { lateness: time(lateness), stall: time(stall), busy };
        let settings = Settings { spin: time(spin), budget };
        let (clock, outside) = (WallClock::new(), Outside::default());
        let framing = match offloads {
            "none" => Framing::Bare,
            "segments" => Framing::Virtio { datagrams: false },
            "datagrams" => Framing::Virtio { datagrams: true },
            other => return Err(InputError::new_err(format!("{other}: no such offloads"))),
        };
        let (mut ports, mut devices, mut namespaces) = (Vec::new(), Vec::new(), Vec::new());
        for (number, (node, interfaces, namespace)) in hosts.into_iter().enumerate() {
            let mut own = Vec::new();
            for (addresses, descriptor) in interfaces {
                let device = Device::new(duplicate(descriptor)?, framing);
                let addresses = addresses.iter().map(|address| address.parse());
                let addresses = addresses.collect::<Result<_, _>>().map_err(failed)?;
                own.push((addresses, device.share()?));
                devices.push((PortId::from(number), device));
            }
            namespaces.push((node.clone(), Arc::new(Host::new(duplicate(namespace)?))));
            ports.push((node, open_port(own, &outside, budget)));
        }
        let plugins = Interpreter::beside(scenario.0.folder.clone());
        let snaplen = snaplen.unwrap_or(DEFAULT_SNAPLEN);
        let capture = pcap_dir.map(|folder| CaptureOptions { folder, snaplen });
        let options = RunOptions { qlog: qlog_dir, capture, plugins };
        let sink = sink(tables_dir)?;
        let spec = &scenario.0.spec;
        let mut driver = Driver::new(clock, settings, devices, outside);
        let mut sockets: Option<Box<dyn Sockets>> = None;
        let known = namespaces.iter().map(|(_, host)| Arc::clone(host)).collect();
        if flows {
            let ready = Ready::new()?;
            driver.watch(ready.clone());
            sockets = Some(Box::new(HostSockets::new(namespaces, ready, spec.record.interval)));
        }
        let outside = leobench_sim::Outside { ports, sockets };
        let run = Run::real(&scenario.0, spec.seed, options, sink, outside).map_err(failed)?;
        let built = Mutex::new(Some(Parts { run, driver }));
        Ok(Self { parts: built, stop: AtomicBool::new(false), hosts: known, budget })
    }

    /// Follows the clock for so many seconds, without a number until the scenario's flows are over, or until it is stopped.
    /// Returns the summary and the verdict as JSON, by flow its longest stall, and what QUIC's spin bit showed as JSON.
    fn run(
        &self,
        py: Python<'_>,
        seconds: Option<f64>,
    ) -> PyResult<(String, String, Stalls, String)> {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Parts { mut run, mut driver }) = parts else {
            return Err(PyRuntimeError::new_err("an emulation runs once"));
        };
        let (time, drained) = match seconds {
            Some(seconds) => (SimTime::from_nanos((seconds * 1e9) as u64), false),
            None => run.end(),
        };
        let until = Until { time, drained };
        let driven = py.detach(|| driver.run(run.network(), until, &self.stop));
        driven.map_err(failed)?;
        let mut losses = Losses::default();
        for host in &self.hosts {
            losses += host.losses()?;
        }
        let verdict = told(&Verdict { losses, ..driver.verdict() }, &self.budget);
        let spin: Vec<_> = driver.spin_flows().iter().map(ToldSpin::of).collect();
        let finished = py.detach(|| run.finish()).map_err(failed)?;
        let stalls = told_stalls(finished.stalls);
        Ok((as_json(&finished.summary)?, as_json(&verdict)?, stalls, as_json(&spin)?))
    }

    /// Writes changes of interfaces to a pipe, a line for each: the address, and `up` or `down`. Does nothing once it runs.
    fn report_interfaces(&self, news: RawFd) -> PyResult<()> {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Parts { driver, .. }) = &*parts {
            driver.report_interfaces(duplicate(news)?.into());
        }
        Ok(())
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
    precedence: &'static str,
    elapsed_s: f64,
    driver_cpu_s: f64,
    driver_spin_s: f64,
    packets_in: u64,
    packets_out: u64,
    frames_in: u64,
    frames_out: u64,
    packets_refused: u64,
    ring_overruns: u64,
    socket_overruns: u64,
    device_queue_peak: u64,
    packets_malformed: u64,
    packets_over_budget: u64,
    lateness_ms: Option<Quantiles>,
    device_wait_ms: Option<Quantiles>,
    longest_stall_ms: f64,
    processors_busy: Option<f64>,
    budget: ToldBudget,
}

#[derive(serde::Serialize)]
struct ToldBudget {
    lateness_ms: f64,
    stall_ms: f64,
    busy: f64,
}

/// A direction of a QUIC connection, with its samples: when, and the round-trip time, in nanoseconds.
#[derive(serde::Serialize)]
struct ToldSpin {
    from: String,
    to: String,
    packets: u64,
    spin_bit: &'static str,
    samples: Vec<(u64, u64)>,
}

impl ToldSpin {
    fn of(flow: &SpinFlow) -> Self {
        let samples = flow.samples.iter().map(|each| (each.at.as_nanos(), each.rtt.as_nanos()));
        Self {
            from: flow.source.to_string(),
            to: flow.destination.to_string(),
            packets: flow.packets,
            spin_bit: flow.spin.name(),
            samples: samples.collect(),
        }
    }
}

#[derive(serde::Serialize)]
struct Quantiles {
    p50: f64,
    p99: f64,
    p999: f64,
    max: f64,
}

/// Of nanoseconds, in milliseconds.
fn quantiles(histogram: &LogHistogram) -> Option<Quantiles> {
    let quantile = |q| histogram.quantile(q).map(|nanos| nanos as f64 / 1e6);
    let (p50, p99, p999) = (quantile(0.5)?, quantile(0.99)?, quantile(0.999)?);
    Some(Quantiles { p50, p99, p999, max: quantile(1.0)? })
}

fn told(verdict: &Verdict, budget: &Budget) -> Told {
    let reasons = verdict.doubts(budget);
    let ms = |duration: SimDuration| duration.as_secs_f64() * 1e3;
    Told {
        verdict: if reasons.is_empty() { "valid" } else { "invalid" },
        reasons,
        precedence: verdict.precedence.name(),
        elapsed_s: verdict.elapsed.as_secs_f64(),
        driver_cpu_s: verdict.cpu.as_secs_f64(),
        driver_spin_s: verdict.spun.as_secs_f64(),
        packets_in: verdict.packets_in,
        packets_out: verdict.packets_out,
        frames_in: verdict.frames_in,
        frames_out: verdict.frames_out,
        packets_refused: verdict.refused,
        ring_overruns: verdict.losses.ring,
        socket_overruns: verdict.losses.sockets,
        device_queue_peak: verdict.device_queue_peak,
        packets_malformed: verdict.malformed,
        packets_over_budget: verdict.lateness.over_budget,
        lateness_ms: quantiles(&verdict.lateness.histogram),
        device_wait_ms: quantiles(&verdict.queued),
        longest_stall_ms: ms(verdict.longest_stall),
        processors_busy: verdict.processors.share(),
        budget: ToldBudget {
            lateness_ms: ms(budget.lateness),
            stall_ms: ms(budget.stall),
            busy: budget.busy,
        },
    }
}
