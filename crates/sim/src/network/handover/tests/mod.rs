//! Tests of the reports on access links: a tap at the sender hears them, and the satellites are asked again beside the network.

mod content;
mod order;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use leobench_base::{End, FlowId, LogHistogram, SimDuration, SimTime};
use leobench_transport::arrivals::Arrivals;
use leobench_transport::buffer::SendBuffer;
use leobench_transport::endpoint::{
    AccessReport, AccessService, Event, Loss, Outbox, PathAddresses, PathSample, Report, Totals,
};
use leobench_transport::{Endpoint, EndpointError, Input, Plugins};

use crate::build::Sinks;
use crate::load::{Source, Syntax, load};
use crate::network::Network;
use crate::record::Nowhere;
use crate::satellite_links::SatelliteLinks;
use crate::scenario::Scenario;

/// An input of a sender, or its action.
#[derive(Clone, Debug, PartialEq)]
enum Note {
    /// It is told of an access link.
    Access(AccessReport),
    /// It has sent application data, however much.
    Sent,
    /// It reports an event.
    Event(Event),
}

type Notes = Arc<Mutex<Vec<(SimTime, Note)>>>;

/// An endpoint whose notes are taken.
struct Tap {
    inner: Box<dyn Endpoint>,
    notes: Notes,
}

impl Endpoint for Tap {
    fn input(&mut self, now: SimTime, input: Input<'_>) -> Result<(), EndpointError> {
        if let Input::Access(report) = &input {
            self.notes.lock().unwrap().push((now, Note::Access(*report)));
        }
        self.inner.input(now, input)
    }

    fn poll(
        &mut self,
        now: SimTime,
        outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        let wake = self.inner.poll(now, outbox)?;
        let mut notes = self.notes.lock().unwrap();
        if outbox.reports.iter().any(|report| matches!(report, Report::Sent { .. })) {
            notes.push((now, Note::Sent));
        }
        notes.extend(outbox.events.iter().map(|event| (now, Note::Event(event.clone()))));
        Ok(wake)
    }

    fn sample_paths(&self, now: SimTime, samples: &mut Vec<PathSample>) {
        self.inner.sample_paths(now, samples);
    }

    fn paths(&self, paths: &mut Vec<PathAddresses>) {
        self.inner.paths(paths);
    }

    fn send_buffer(&self) -> Option<&SendBuffer> {
        self.inner.send_buffer()
    }

    fn totals(&self) -> Totals {
        self.inner.totals()
    }

    fn rtts(&self) -> LogHistogram {
        self.inner.rtts()
    }

    fn arrivals(&self) -> Option<&Arrivals> {
        self.inner.arrivals()
    }

    fn lost(&self) -> Option<&Loss> {
        self.inner.lost()
    }
}

const SEED: u64 = 1;

const CHAIN: &str = include_str!("../../../../../../scenarios/maco-chain.toml");

/// The shipped chain, whose flow has a `cross_layer` of these keys.
fn chain(cross_layer: &str, overrides: &[(&str, &str)]) -> Scenario {
    chain_of(CHAIN, cross_layer, overrides)
}

/// The same of another text.
fn chain_of(text: &str, cross_layer: &str, overrides: &[(&str, &str)]) -> Scenario {
    let cross_layer = ("flows.upload.cross_layer", cross_layer);
    let source = ("flows.upload.source", r#"{ kind = "cbr", rate = "2 Mbps", size = "1000 B" }"#);
    let overrides = [&[("duration", "40 s"), source, cross_layer], overrides].concat();
    scenario(text, &overrides)
}

fn scenario(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    let source = Source { file: "t.toml", text, syntax: Syntax::Toml, folder: PathBuf::new() };
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    load(&source, &overrides).unwrap_or_else(|error| panic!("{error}"))
}

/// A van under a shell of 1,584 satellites, with a budget each way whose rate jumps; `flow` says more about its flow.
fn van(flow: &str, overrides: &[(&str, &str)]) -> Scenario {
    let load = ["0.9"; 24].join(", ");
    let text = format!(
        r#"
        name = "van"
        duration = "60 s"
        nodes = {{ van = {{}}, office = {{}}, server = {{}} }}
        [constellation]
        satellites = {{ walker = {{ own = {{ altitude = "550 km", inclination = "53 deg", planes = 72, per_plane = 22, phasing = 17 }} }} }}
        start = "2026-03-20T12:00:00Z"
        terminals.van = {{ latitude = "44.494 deg", longitude = "11.343 deg" }}
        gateways.turin = {{ latitude = "45.07 deg", longitude = "7.687 deg" }}
        outage = "340 ms"
        [links.sky]
        between = ["van", "office"]
        queue = {{ kind = "fifo", limit = "100 kB" }}
        [links.sky.constellation]
        terminal = "van"
        fading = {{ kind = "log_normal", deviation = "2 dB", correlation = "3 s" }}
        cell = {{ capacity = "400 Mbps", users = 10, load = [{load}] }}
        [links.sky.constellation.uplink]
        frequency = "14 GHz"
        bandwidth = "20 MHz"
        transmitter = {{ eirp = "34 dBW" }}
        receiver = {{ g_over_t = "8 dB/K" }}
        rate = {{ kind = "modcod", table = "dvb-s2x", margin = "1 dB", hysteresis = "1.5 dB" }}
        [links.sky.constellation.downlink]
        frequency = "12 GHz"
        bandwidth = "240 MHz"
        transmitter = {{ eirp = "36 dBW" }}
        receiver = {{ g_over_t = "9.2 dB/K" }}
        rate = {{ kind = "modcod", table = "dvb-s2x", margin = "1 dB", hysteresis = "1.5 dB" }}
        [links.core]
        between = ["office", "server"]
        rate = "30 Mbps"
        delay = "5 ms"
        [flows.main]
        source = {{ kind = "cbr", rate = "2 Mbps", size = "1000 B" }}
        {flow}
        "#
    );
    scenario(&text, overrides)
}

/// A flow from the van, and one to it.
const UPLOAD: &str = r#"from = "van"
to = "server"
transport = "quic""#;
const DOWNLOAD: &str = r#"from = "server"
to = "van"
transport = "quic""#;

/// Inputs and actions of the sender of the first flow, in order.
fn notes(scenario: &Scenario) -> Vec<(SimTime, Note)> {
    let mut qlogs = |_: &str, _: &str| Ok(None);
    let (tables, ports) = (Box::new(Nowhere), Vec::new());
    let qlogs = &mut qlogs;
    let sinks = Sinks { tables, captures: None, trace: None, qlogs, ports, sockets: None };
    let network = Network::new(scenario, SEED, Plugins::NONE, sinks);
    let mut network = network.unwrap_or_else(|error| panic!("{error}"));
    let sender = network.flows[FlowId::from(0)].ends[End::Sender as usize];
    let notes = Notes::default();
    let endpoint = &mut network.endpoints[sender].endpoint;
    let inner = std::mem::replace(endpoint, Box::new(Nobody));
    *endpoint = Box::new(Tap { inner, notes: Arc::clone(&notes) });
    network.advance(SimTime::ZERO + scenario.spec.longest()).unwrap();
    drop(network);
    Arc::try_unwrap(notes).unwrap().into_inner().unwrap()
}

/// The reports that the sender of the first flow gets.
fn reports(scenario: &Scenario) -> Vec<(SimTime, AccessReport)> {
    let notes = notes(scenario).into_iter();
    notes
        .filter_map(|(at, note)| match note {
            Note::Access(report) => Some((at, report)),
            Note::Sent | Note::Event(_) => None,
        })
        .collect()
}

/// Nothing, in the place of an endpoint for a moment.
struct Nobody;

impl Endpoint for Nobody {
    fn input(&mut self, _now: SimTime, _input: Input<'_>) -> Result<(), EndpointError> {
        Ok(())
    }

    fn poll(
        &mut self,
        _now: SimTime,
        _outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        Ok(None)
    }

    fn sample_paths(&self, _now: SimTime, _samples: &mut Vec<PathSample>) {}

    fn send_buffer(&self) -> Option<&SendBuffer> {
        None
    }

    fn totals(&self) -> Totals {
        Totals::default()
    }
}

/// The satellites of a scenario beside its network.
struct Truth {
    links: SatelliteLinks,
    /// Links in an outage, and when it ends.
    outages: Vec<(usize, SimTime)>,
    /// When satellites began to serve otherwise, and how long packets waited.
    changes: Vec<(SimTime, usize, SimDuration)>,
}

impl Truth {
    fn new(scenario: &Scenario) -> Self {
        let links = SatelliteLinks::new(scenario, SEED).unwrap().unwrap();
        Self { links, outages: Vec::new(), changes: Vec::new() }
    }

    /// Moves on to the last change at or before a time.
    fn advance(&mut self, time: SimTime) {
        loop {
            let ends = self.outages.iter().map(|(_, ends)| *ends);
            let due = ends.chain([self.links.next()]).min().unwrap();
            if due > time {
                return;
            }
            self.links.advance(due);
            self.outages.retain(|(_, ends)| *ends > due);
            for change in self.links.serving_changes().iter().filter(|it| it.from.is_some()) {
                self.changes.push((due, change.path, change.outage));
                if change.to.is_some() && !change.outage.is_zero() {
                    self.outages.push((change.path, due + change.outage));
                }
            }
        }
    }

    /// The service of a link in a direction, 0 for the one there, at the time advanced to.
    fn service(&self, path: usize, direction: usize) -> Option<AccessService> {
        if self.outages.iter().any(|(other, _)| *other == path) {
            return None;
        }
        let state = self.links.state(path);
        let way = state.way.as_ref()?;
        Some(AccessService {
            satellite: way.satellite,
            snr_db: state.carrier_to_noise[direction]?,
            range_m: way.range_m,
            rate: state.rates[direction],
        })
    }
}
