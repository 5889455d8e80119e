//! Runs in real time: Python makes the hosts and their devices, the driver does the rest.

use std::net::IpAddr;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use leobench_base::{SimDuration, SimTime};
use leobench_emu::{
    Budget, Framing, HostParts, Session, SessionError, Settings, SpinReport, flows,
};
use leobench_sim::capture::{CaptureOptions, DEFAULT_SNAPLEN};
use leobench_sim::{RunOptions, network};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::drive::{Stalls, failed, sink, told_stalls};
use crate::errors::InputError;
use crate::plugin::Interpreter;
use crate::scenario::{PyScenario, as_json};

/// A node's name, its own two addresses, and its interfaces: link, two addresses, MTU in bytes.
type HostRow = (String, [String; 2], Vec<(String, [String; 2], u64)>);

/// The two addresses of an interface, and the descriptor of the TUN device there.
type Attached = ([String; 2], RawFd);

/// A node's name, its interfaces, and the descriptor of its network namespace.
type Made = (String, Vec<Attached>, RawFd);

/// Checks that this machine's kernel can run the flows of a scenario.
#[pyfunction]
pub(crate) fn check_kernel(scenario: &PyScenario) -> PyResult<()> {
    match flows::check_kernel(&scenario.0.spec).map_err(failed)? {
        None => Ok(()),
        Some(problem) => Err(InputError::new_err(problem)),
    }
}

/// The nodes of a scenario with their IPv4 and IPv6 addresses.
#[pyfunction]
pub(crate) fn places(scenario: &PyScenario) -> Vec<HostRow> {
    let row = |host: network::HostAddresses| {
        let interfaces = host.interfaces.into_iter().map(|interface| {
            let addresses = [interface.address, interface.address_v6].map(|ip| ip.to_string());
            (interface.link, addresses, interface.mtu.get())
        });
        let interfaces = interfaces.collect();
        (host.node, [host.address, host.address_v6].map(|ip| ip.to_string()), interfaces)
    };
    network::host_addresses(&scenario.0.spec).into_iter().map(row).collect()
}

/// The summary and the verdict as JSON, the stalls, the flows that connected, and the report on the spin bit as JSON.
type Ended = (String, String, Stalls, Vec<String>, String);

/// A scenario's network between real hosts.
#[pyclass(module = "leobench._core", frozen)]
pub(crate) struct Emulation {
    /// None once it runs.
    session: Mutex<Option<Session>>,
    /// The folder of the tables.
    tables: Option<PathBuf>,
    stop: AtomicBool,
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
        waited: f64,
        offloads: &str,
    ) -> PyResult<Self> {
        let time = |seconds: f64| SimDuration::from_nanos((seconds * 1e9) as u64);
        let budget = Budget { lateness: time(lateness), stall: time(stall), busy, waited };
        let settings = Settings { spin: time(spin), budget };
        let framing = match offloads {
            "none" => Framing::Bare,
            "segments" => Framing::Virtio { datagrams: false },
            "datagrams" => Framing::Virtio { datagrams: true },
            other => return Err(InputError::new_err(format!("{other}: no such offloads"))),
        };
        let hosts = hosts.into_iter().map(host_parts).collect::<PyResult<Vec<_>>>()?;
        let plugins = Interpreter::beside(scenario.0.folder.clone());
        let snaplen = snaplen.unwrap_or(DEFAULT_SNAPLEN);
        let capture = pcap_dir.map(|folder| CaptureOptions { folder, snaplen });
        let options = RunOptions { qlog: qlog_dir, capture, plugins };
        let sink = sink(tables_dir.clone())?;
        let session = Session::new(&scenario.0, hosts, (framing, settings), flows, options, sink);
        let session = Mutex::new(Some(session.map_err(ended)?));
        Ok(Self { session, tables: tables_dir, stop: AtomicBool::new(false) })
    }

    /// Follows the clock for so many seconds, without a number until the scenario's flows are over, or until it is stopped.
    /// Returns the summary and the verdict as JSON, by flow its longest stall, the flows that connected, and what QUIC's spin
    /// bit showed as JSON.
    fn run(&self, py: Python<'_>, seconds: Option<f64>) -> PyResult<Ended> {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(session) = session else {
            return Err(PyRuntimeError::new_err("an emulation can run only once"));
        };
        let until = seconds.map(|seconds| SimTime::from_nanos((seconds * 1e9) as u64));
        let outcome = py.detach(|| session.run(until, &self.stop)).map_err(ended)?;
        if let Some(folder) = &self.tables {
            SpinReport::write_table(&outcome.spin, folder).map_err(failed)?;
        }
        let stalls = told_stalls(outcome.run.stalls);
        let (summary, verdict) = (as_json(&outcome.run.summary)?, as_json(&outcome.verdict)?);
        Ok((summary, verdict, stalls, outcome.run.connected, as_json(&outcome.spin)?))
    }

    /// Writes changes of interfaces to a pipe, a line for each: the address, and `up` or `down`. Does nothing once it runs.
    fn report_interfaces(&self, news: RawFd) -> PyResult<()> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = &mut *session {
            session.report_interfaces(duplicate(news)?.into());
        }
        Ok(())
    }

    /// Sends packets to addresses that share their first `length` bits with `first`, and that no host has, to the host of this
    /// number. Does nothing once it runs.
    fn lead_to(&self, first: IpAddr, length: u32, host: usize) {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = &mut *session {
            session.lead_to(first, length, host);
        }
    }

    /// Lets it end within some milliseconds.
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// A host from what Python says of it.
fn host_parts((node, interfaces, namespace): Made) -> PyResult<HostParts> {
    let interface = |(addresses, descriptor): Attached| {
        let addresses = addresses.iter().map(|address| address.parse());
        let addresses = addresses.collect::<Result<_, _>>().map_err(failed)?;
        Ok((addresses, duplicate(descriptor)?))
    };
    let interfaces = interfaces.into_iter().map(interface).collect::<PyResult<_>>()?;
    Ok(HostParts { node, interfaces, namespace: duplicate(namespace)? })
}

/// The exception for a run that failed.
fn ended(error: SessionError) -> PyErr {
    match error {
        SessionError::Io(error) => error.into(),
        error => failed(error),
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
