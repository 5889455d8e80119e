//! A run: builds the network, drives it to the end in virtual time unless a clock does, and sums it up.

mod results;
mod transfers;

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use leobench_base::{Bytes, SimTime};
use leobench_quic::QlogWriter;
use leobench_transport::{EndpointError, Plugins};
use results::Results;

use crate::build::{BuildError, Sinks, Sockets};
use crate::capture::{CaptureOptions, Captures};
use crate::network::{Network, NetworkError, PacketTrace, Stall};
use crate::record::{SinkError, StoredTable, TableSink};
use crate::scenario::{Engine, Scenario, Until};
use crate::summary::{RunSummaryInput, Summary};

/// Options of a run beside its scenario.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Folder to write the connections' qlogs to.
    pub qlog: Option<PathBuf>,
    /// Packet captures to write.
    pub capture: Option<CaptureOptions>,
    /// The host of the plug-ins that the scenario names; without one, there may be none.
    pub plugins: Plugins,
}

/// Connections of a real-time run to the world outside its network.
pub struct Outside {
    /// The names of nodes where packets enter and leave, in the order of the ports' numbers.
    pub ports: Vec<String>,
    /// The sockets of the scenario's flows; without, the flows are left out.
    pub sockets: Option<Box<dyn Sockets>>,
    /// The trace of packets of the world outside.
    pub trace: Option<Box<dyn PacketTrace>>,
}

/// A run of a scenario.
pub struct Run {
    scenario: Scenario,
    seed: u64,
    engine: Engine,
    network: Network,
    /// By link and direction, the bytes of the limits that depend on what links carry.
    queue_limits: Vec<Option<Bytes>>,
    /// When it ends at the latest.
    end: SimTime,
    /// From when on it ends as soon as every byte has arrived; never for a run that ends at a time.
    drains_from: SimTime,
    done: bool,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Virtual time reached.
    pub now: SimTime,
    /// When the sources stop; a run that waits for every byte may go on behind it.
    pub end: SimTime,
    /// Packets sent so far.
    pub packets: u64,
    /// Whether the run is over.
    pub done: bool,
}

/// The outcome of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Its numbers.
    pub summary: Summary,
    /// The flows that delivered nothing for long while data waited and their path was open, and when.
    pub stalls: Vec<(String, Stall)>,
    /// The flows at least one end of which completed its handshake.
    pub connected: Vec<String>,
    /// Its tables, where the sink put them.
    pub tables: Vec<StoredTable>,
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It could not be set up.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// It could not go on.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The scenario demands something impossible, which only the run could find out.
    #[error("flow `{flow}`: {problem}")]
    Refused {
        /// Name of the flow.
        flow: String,
        /// The impossible demand, and the allowed ones.
        problem: String,
    },
    /// Results could not be written.
    #[error(transparent)]
    Sink(#[from] SinkError),
}

impl Run {
    /// Sets up a run of `scenario` under `seed`, whose tables go to `sink`.
    ///
    /// # Errors
    /// If the network cannot be built.
    pub fn new(
        scenario: &Scenario,
        seed: u64,
        options: RunOptions,
        sink: Box<dyn TableSink>,
    ) -> Result<Self, RunError> {
        Self::build(scenario, seed, options, sink, None)
    }

    /// Sets up a run whose [network](Self::network) a clock drives, and whose packets come from outside through ports.
    ///
    /// # Errors
    /// If the network cannot be built.
    pub fn real(
        scenario: &Scenario,
        seed: u64,
        options: RunOptions,
        sink: Box<dyn TableSink>,
        outside: Outside,
    ) -> Result<Self, RunError> {
        let mut scenario = scenario.clone();
        if outside.sockets.is_none() {
            scenario.spec.flows.clear();
            scenario.traffic = None;
        }
        for (_, flow) in &mut scenario.spec.flows {
            if let Some(transport) = flow.transport.model().in_real_time() {
                flow.transport = transport;
            }
        }
        Self::build(&scenario, seed, options, sink, Some(outside))
    }

    fn build(
        scenario: &Scenario,
        seed: u64,
        options: RunOptions,
        sink: Box<dyn TableSink>,
        outside: Option<Outside>,
    ) -> Result<Self, RunError> {
        let engine = if outside.is_some() { Engine::Real } else { Engine::Virtual };
        let (ports, sockets, trace) =
            outside.map(|it| (it.ports, it.sockets, it.trace)).unwrap_or_default();
        let sources_end = SimTime::ZERO + scenario.spec.production();
        let (end, drains_from) = match scenario.spec.until {
            Until::Time => (sources_end, SimTime::MAX),
            Until::Drained => (sources_end + scenario.spec.drain_limit, SimTime::ZERO),
        };
        let RunOptions { qlog: folder, capture, plugins } = options;
        let flows = scenario.spec.flows.iter();
        let flows =
            flows.map(|(name, flow)| (name.as_str(), [flow.from.as_str(), flow.to.as_str()]));
        let captures = capture.map(|options| Captures::new(&options, flows));
        let captures = captures.transpose().map_err(BuildError::Capture)?;
        let mut open_qlog = |flow: &str, end: &str| qlog(folder.as_deref(), flow, end);
        let qlogs = &mut open_qlog;
        let sinks = Sinks { tables: sink, captures, trace, qlogs, ports, sockets };
        let network = Network::new(scenario, seed, &plugins, sinks)?;
        let queue_limits = scenario.carried_limits();
        let scenario = scenario.clone();
        Ok(Self { scenario, seed, engine, network, queue_limits, end, drains_from, done: false })
    }

    /// When it ends at the latest, and whether it ends as soon as every byte has arrived.
    pub fn end(&self) -> (SimTime, bool) {
        (self.end, self.drains_from < self.end)
    }

    /// The network, for a driver of its own.
    pub fn network(&mut self) -> &mut Network {
        &mut self.network
    }

    /// Goes on for about `steps` events, so that a caller may show progress or stop. A window is not split.
    ///
    /// # Errors
    /// If a flow fails, or results cannot be written.
    pub fn advance(&mut self, steps: u64) -> Result<Progress, RunError> {
        let mut left = steps;
        while left > 0 && !self.done {
            let events = if self.drains_from == SimTime::MAX {
                self.network.run(self.end, left)
            } else {
                self.network.step(self.end).map(u64::from)
            };
            let events = events.map_err(|error| self.blame(error))?;
            self.done =
                events == 0 || self.network.now() >= self.drains_from && self.network.is_drained();
            left = left.saturating_sub(events);
        }
        let end = SimTime::ZERO + self.scenario.spec.production();
        let (now, packets) = (self.network.now(), self.network.packets());
        Ok(Progress { now, end, packets, done: self.done })
    }

    /// A failure as the user is told of it.
    #[cold]
    fn blame(&self, error: NetworkError) -> RunError {
        match error {
            NetworkError::Flow { flow, error } if error.refuses_scenario() => {
                let spec = self.scenario.spec.flows.iter().find(|(name, _)| *name == flow);
                let problem = match (&error, spec) {
                    (EndpointError::OnePath { at, .. }, Some((_, spec))) => format!(
                        "`{}` offers several paths, but `{}`, which answers at {at}, does not; allowed: \
                         `multipath.peer_offers = true`, or no `multipath`",
                        spec.opener(),
                        spec.answerer()
                    ),
                    _ => error.to_string(),
                };
                RunError::Refused { flow, problem }
            }
            error => error.into(),
        }
    }

    /// Goes on to the end.
    ///
    /// # Errors
    /// If a flow fails, or results cannot be written.
    pub fn to_end(&mut self) -> Result<(), RunError> {
        while !self.advance(u64::MAX)?.done {}
        Ok(())
    }

    /// Completes the tables and sums up what was seen so far.
    ///
    /// # Errors
    /// If results cannot be written.
    pub fn finish(self) -> Result<Outcome, RunError> {
        let Self { scenario, seed, engine, network, queue_limits, .. } = self;
        let run = RunSummaryInput {
            scenario: &scenario.spec.name,
            seed,
            engine: engine.word(),
            end: network.now(),
            warm_up: SimTime::ZERO + scenario.spec.warm_up,
            packets: network.packets(),
            competition: &scenario.spec.competition,
        };
        let ended = network.finish()?;
        let traffic = transfers::summary(&scenario, seed, &run, &ended);
        let reported_flows = scenario.reported_flows();
        let (spec, end) = (&scenario.spec, run.end);
        let results = Results { spec, reported_flows, engine, end, ended: &ended };
        let satellites = results.satellites();
        let (flows, links) = (results.flows(), results.links(&queue_limits));
        let summary = Summary::new(run, &flows, &links, satellites, results.orbit());
        let summary = summary.with_traffic(traffic);
        let (stalls, connected) = (results.stalls(), results.connected());
        Ok(Outcome { summary, stalls, connected, tables: ended.observed.recorder.finish()? })
    }
}

/// The qlog of an end of a flow in a folder, if there is one.
fn qlog(folder: Option<&Path>, flow: &str, end: &str) -> io::Result<Option<QlogWriter>> {
    let Some(folder) = folder else { return Ok(None) };
    let path = folder.join(format!("{flow}-{end}.sqlog"));
    let file = File::create(&path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    Ok(Some(Box::new(BufWriter::new(file))))
}

#[cfg(test)]
mod queueing;
#[cfg(test)]
mod tests;
