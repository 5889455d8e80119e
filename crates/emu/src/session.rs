//! A run in real time as a whole: the hosts and their devices, the driver, and the report at the end.

use std::fs::File;
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use leobench_base::{PortId, SimTime};
use leobench_sim::build::Sockets;
use leobench_sim::network::PacketTrace;
use leobench_sim::record::TableSink;
use leobench_sim::scenario::Scenario;
use leobench_sim::{Outcome, Run, RunError, RunOptions};

use crate::budget::Budget;
use crate::captures::HostCaptures;
use crate::clock::WallClock;
use crate::device::Device;
use crate::driver::{DriveError, Driver, Settings, Until};
use crate::flows::{Host, HostSockets, Ready};
use crate::framing::Framing;
use crate::port::Ports;
use crate::programs::{Findings, SocketWatch, Waits, Watch};
use crate::report::{Setting, SpinReport, VerdictReport};
use crate::verdict::Verdict;

/// A host that stands for a node of a scenario.
#[derive(Debug)]
pub struct HostParts {
    /// The node's name.
    pub node: String,
    /// By interface, its addresses and the TUN device there.
    pub interfaces: Vec<(Vec<IpAddr>, OwnedFd)>,
    /// Its network namespace.
    pub namespace: OwnedFd,
}

/// A failure of a run in real time.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The operating system refused something.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The run cannot be set up, or its results cannot be written.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The run broke off.
    #[error(transparent)]
    Drive(#[from] DriveError),
}

/// Results of a run in real time.
pub struct SessionOutcome {
    /// Those of any run.
    pub run: Outcome,
    /// How far the clock could be trusted.
    pub verdict: VerdictReport,
    /// Samples of QUIC's spin bit, by direction of a connection.
    pub spin: Vec<SpinReport>,
}

/// A scenario's network between real hosts, before it runs.
pub struct Session {
    run: Run,
    driver: Driver,
    clock: WallClock,
    hosts: Vec<(String, Arc<Host>)>,
    /// By device, the number of its host.
    owners: Vec<usize>,
    /// The captures at the hosts of programs.
    captures: Option<HostCaptures>,
    /// Whether programs run on the hosts, and not the scenario's flows.
    has_programs: bool,
    budget: Budget,
}

impl Session {
    /// Puts a network between hosts, whose devices have `framing`. With `flows`, the scenario's own flows run on the hosts, and the
    /// captures of `options` are those of their ends; otherwise, they are those of the hosts.
    ///
    /// # Errors
    /// If a device or a namespace cannot be used, or the network cannot be built.
    pub fn new(
        scenario: &Scenario,
        hosts: Vec<HostParts>,
        (framing, settings): (Framing, Settings),
        flows: bool,
        mut options: RunOptions,
        sink: Box<dyn TableSink>,
    ) -> Result<Self, SessionError> {
        let (mut nodes, mut ports) = (Vec::new(), Ports::default());
        let (mut devices, mut namespaces, mut owners) = (Vec::new(), Vec::new(), Vec::new());
        for HostParts { node, interfaces, namespace } in hosts {
            let (mut own, mut read) = (Vec::new(), Vec::new());
            for (addresses, descriptor) in interfaces {
                let device = Device::new(descriptor, framing);
                own.push((addresses, device.share()?));
                read.push(device);
            }
            namespaces.push((node.clone(), Arc::new(Host::new(namespace))));
            let port = ports.open(own, settings.budget);
            owners.extend(read.iter().map(|_| port.index()));
            devices.extend(read.into_iter().map(|device| (port, device)));
            nodes.push(node);
        }
        let clock = WallClock::new();
        let mut driver = Driver::new(clock.clone(), settings, devices, ports);
        let known = namespaces.clone();
        let mut sockets: Option<Box<dyn Sockets>> = None;
        if flows {
            let ready = Ready::new()?;
            driver.watch(ready.clone());
            let interval = scenario.spec.record.interval;
            sockets = Some(Box::new(HostSockets::new(namespaces, ready, interval)));
        }
        let (mut captures, mut trace) = (None, None::<Box<dyn PacketTrace>>);
        if let Some(capture) = options.capture.take_if(|_| !flows) {
            let (started, tap) = HostCaptures::start(&capture, &nodes, clock.clone())?;
            captures = Some(started);
            trace = Some(Box::new(tap));
        }
        let outside = leobench_sim::Outside { ports: nodes, sockets, trace };
        let run = Run::real(scenario, scenario.spec.seed, options, sink, outside)?;
        let (has_programs, budget) = (!flows, settings.budget);
        Ok(Self { run, driver, clock, hosts: known, owners, captures, has_programs, budget })
    }

    /// Writes changes of interfaces to a pipe from now on, a line for each: the address, and `up` or `down`.
    pub fn report_interfaces(&mut self, news: File) {
        self.driver.report_interfaces(news);
    }

    /// Sends packets to the addresses of a prefix that no node has to a host, by its number.
    pub fn lead_to(&mut self, first: IpAddr, length: u32, host: usize) {
        self.run.network().lead_to(first, length, PortId::from(host));
    }

    /// Follows the clock until a time, without one until the scenario's flows are over, or until `stop` is set.
    ///
    /// # Errors
    /// If the network or a device fails, or results cannot be written.
    pub fn run(
        self,
        until: Option<SimTime>,
        stop: &AtomicBool,
    ) -> Result<SessionOutcome, SessionError> {
        let Self { mut run, mut driver, clock, hosts, owners, captures, has_programs, budget } =
            self;
        let names: Vec<_> = hosts.iter().map(|(name, _)| name.clone()).collect();
        let sockets = SocketWatch::new(hosts);
        let (time, drained) = until.map_or_else(|| run.end(), |time| (time, false));
        let until = Until { time, drained };
        let (waits, losses, overruns) = if has_programs {
            let watch = Watch::start(clock.clone(), budget, sockets, driver.traffic())?;
            let driven = driver.run(run.network(), until, stop);
            let Findings { waits, sockets } = watch.finish()?;
            driven?;
            let (losses, overruns) = sockets.finish()?;
            (waits, losses, overruns)
        } else {
            driver.run(run.network(), until, stop)?;
            (Waits::default(), sockets.finish()?.0, Vec::new())
        };
        let verdict = Verdict { losses, overruns, waits, ..driver.verdict() };
        let spin = driver.spin_flows().iter().map(SpinReport::of).collect();
        // The network hands the last packets over to the captures as it ends.
        let run = run.finish()?;
        let captures = captures.map(HostCaptures::finish).transpose()?;
        let setting = Setting { clock: &clock, hosts: &names, owners: &owners, captures };
        let verdict = VerdictReport::of(&verdict, &budget, &setting);
        Ok(SessionOutcome { run, verdict, spin })
    }
}
