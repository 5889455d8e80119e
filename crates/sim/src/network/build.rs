//! A network from a scenario.

use std::fs::File;
use std::io::BufWriter;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use leobench_base::spec::Fault;
use leobench_base::{RngTree, SimTime};
use leobench_link::channel::ChannelContext;
use leobench_link::{Capacity, Link, LinkConfig, LinkCounters, LinkOutput};
use leobench_transport::quic::{QlogWriter, QuicConfig, QuicEndpoint, QuicSpec, Role};
use leobench_transport::tcp::{TcpConfig, TcpEndpoint, TcpSpec};
use leobench_transport::udp::{UdpReceiver, UdpSender};
use leobench_transport::{Endpoint, EndpointError, Outbox};
use rustc_hash::FxHashMap;

use super::application::{self, Application};
use super::observe::{FlowRoutes, LinkView, Observer};
use super::stalls::StallWatch;
use super::{ChannelSlot, EndpointSlot, FlowSlot, Layout, Network, NetworkError, WakeTree};
use crate::capture::{CaptureError, Captures};
use crate::ledger::FlowLedger;
use crate::record::{FlowNames, Names, RecordSettings, Recorder, SinkError, TableSink};
use crate::routes::Routes;
use crate::run::RunOptions;
use crate::scenario::{
    Direction, FlowSpec, LinkSpec, OpenedBy, Scenario, ScenarioSpec, TransportSpec,
};

/// First port of receivers and of senders; a flow's number is added.
const RECEIVER_PORT: u16 = 4_433;
const SENDER_PORT: u16 = 32_768;

/// Why a network could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A channel cannot be built.
    #[error("links.{link}: channel: {} {}; allowed: {}", .fault.field, .fault.problem, .fault.allowed)]
    Channel {
        /// Name of its link.
        link: String,
        /// What is wrong.
        fault: Fault,
    },
    /// An endpoint cannot be built.
    #[error("flow `{flow}`: {error}")]
    Endpoint {
        /// Name of its flow.
        flow: String,
        /// What went wrong.
        error: EndpointError,
    },
    /// The scenario was not checked: it names what does not exist, or leaves out what it must say.
    #[error("the scenario is not sound: {0}")]
    Unsound(String),
    /// A qlog file cannot be created.
    #[error("{file}: {error}")]
    Qlog {
        /// The file.
        file: String,
        /// Why not.
        error: std::io::Error,
    },
    /// Results cannot be written.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// Packet captures cannot be written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
}

impl From<NetworkError> for BuildError {
    fn from(error: NetworkError) -> Self {
        match error {
            NetworkError::Sink(error) => Self::Sink(error),
            NetworkError::Capture(error) => Self::Capture(error),
            NetworkError::Limit(error) => Self::Unsound(error.to_string()),
            NetworkError::Flow { flow, error } => Self::Unsound(format!("{flow}: {error}")),
        }
    }
}

/// What is being built, and from what.
struct Builder<'a> {
    spec: &'a ScenarioSpec,
    folder: &'a Path,
    rng: RngTree,
    routes: Routes,
    options: RunOptions,
}

impl Network {
    /// Builds the network of a scenario at the start of a run.
    ///
    /// # Errors
    /// If a channel's files are unusable, or results, qlogs or captures cannot be written.
    pub fn new(
        scenario: &Scenario,
        seed: u64,
        options: RunOptions,
        sink: Box<dyn TableSink>,
    ) -> Result<Self, BuildError> {
        let spec = &scenario.spec;
        let edges = spec.edges().ok_or_else(|| unsound("a link names a node that is not there"))?;
        let ends = spec.flows.iter().flat_map(|(_, flow)| [&flow.from, &flow.to]);
        let destinations = ends.filter_map(|name| spec.node(name));
        let routes = Routes::new(spec.nodes.len(), edges, destinations);
        let rng = RngTree::new(seed);
        Builder { spec, folder: &scenario.folder, rng, routes, options }.build(sink)
    }
}

impl Builder<'_> {
    fn build(self, sink: Box<dyn TableSink>) -> Result<Network, BuildError> {
        let channels = self.channels()?;
        let links = self.links(&channels);
        let (mut flows, mut endpoints) = (Vec::new(), Vec::new());
        let mut addresses = FxHashMap::default();
        let mut routes = Vec::new();
        for (index, (name, flow)) in self.spec.flows.iter().enumerate() {
            let ends = self.ends(index, name, flow)?;
            for (end, address) in [(0, ends.sender), (1, ends.receiver)] {
                addresses.insert(address, 2 * index + end);
            }
            let [sender, receiver] = self.endpoints(name, flow, &ends)?;
            endpoints.push(EndpointSlot { endpoint: sender, node: ends.from });
            endpoints.push(EndpointSlot { endpoint: receiver, node: ends.to });
            flows.push(FlowSlot { name: name.clone(), application: self.application(name, flow) });
            routes.push(FlowRoutes { there: ends.there, back: ends.back, recorded: None });
        }
        let observer = self.observer(routes, sink);
        let captures = self.captures()?;
        let mut network = Network {
            now: SimTime::ZERO,
            wakes: WakeTree::new(channels.len() + links.len() + 3 * flows.len() + 1),
            layout: Layout {
                links: channels.len(),
                applications: channels.len() + links.len(),
                endpoints: channels.len() + links.len() + flows.len(),
                observer: channels.len() + links.len() + 3 * flows.len(),
            },
            channels,
            links,
            routes: self.routes,
            flows,
            endpoints,
            addresses,
            observer,
            captures,
            packets: 0,
            limits: self.spec.limits,
            steps: 0,
            link_output: LinkOutput::default(),
            outbox: Outbox::default(),
            actions: Vec::new(),
        };
        network.start()?;
        Ok(network)
    }

    /// One channel for both directions of a link, or one for each.
    fn channels(&self) -> Result<Vec<ChannelSlot>, BuildError> {
        let mut channels = Vec::new();
        for (index, (name, link)) in self.spec.links.iter().enumerate() {
            let rng = self.rng.child("links").child(name);
            let [forward, backward] = [2 * index, 2 * index + 1];
            if link.shares_channel() {
                let links = vec![forward, backward];
                channels.push(self.channel(name, link, Direction::Forward, links, &rng)?);
                continue;
            }
            for (direction, number) in Direction::BOTH.into_iter().zip([forward, backward]) {
                let rng = rng.child(direction.key());
                channels.push(self.channel(name, link, direction, vec![number], &rng)?);
            }
        }
        Ok(channels)
    }

    fn channel(
        &self,
        name: &str,
        link: &LinkSpec,
        direction: Direction,
        links: Vec<usize>,
        rng: &RngTree,
    ) -> Result<ChannelSlot, BuildError> {
        let spec = link.channel(direction);
        let spec = spec.ok_or_else(|| unsound(format!("links.{name} has no channel")))?;
        let context = ChannelContext { folder: self.folder.into(), rng: rng.child("channel") };
        let built = spec.model().build(&context);
        let channel = built.map_err(|fault| BuildError::Channel { link: name.into(), fault })?;
        Ok(ChannelSlot { channel, links })
    }

    /// The links, two directions each, forward first.
    fn links(&self, channels: &[ChannelSlot]) -> Vec<Link> {
        let mut links = Vec::new();
        for (name, link) in &self.spec.links {
            for direction in Direction::BOTH {
                let number = links.len();
                let served = channels.iter().find(|slot| slot.links.contains(&number));
                let Some(slot) = served else { unreachable!("every link has a channel") };
                let rng = self.rng.child("links").child(name).child(direction.key());
                let queue = link.queue(direction).model();
                let capacity = Capacity::of(queue.limit());
                let config = LinkConfig {
                    queue: queue.build(capacity, &rng.child("queue")),
                    loss: link.loss(direction).map(|loss| loss.model().build(&rng.child("loss"))),
                    delay: link.delay(direction),
                    overhead: link.overhead.get(),
                    mtu: link.mtu,
                    overtaking: link.overtaking,
                    rate_scale: link.rate_scale(direction),
                    rng,
                };
                links.push(Link::new(config, slot.channel.state()));
            }
        }
        links
    }

    fn ends(&self, index: usize, name: &str, flow: &FlowSpec) -> Result<Ends, BuildError> {
        let node = |node: &str| {
            let number = self.spec.node(node);
            number.ok_or_else(|| unsound(format!("flows.{name} names node {node}")))
        };
        let (from, to) = (node(&flow.from)?, node(&flow.to)?);
        let route = |from, to| {
            let links = self.routes.path(from, to);
            links.ok_or_else(|| unsound(format!("flows.{name} has no route")))
        };
        let (there, back) = (route(from, to)?, route(to, from)?);
        let port = |first: u16| {
            let number = u16::try_from(index).ok().and_then(|index| first.checked_add(index));
            number.ok_or_else(|| unsound("more flows than ports"))
        };
        // Each end sends from, and is reached at, the interface its packets leave by.
        let sender = SocketAddr::new(interface(there[0]), port(SENDER_PORT)?);
        let receiver = SocketAddr::new(interface(back[0]), port(RECEIVER_PORT)?);
        Ok(Ends { from, to, there, back, sender, receiver })
    }

    fn endpoints(
        &self,
        name: &str,
        flow: &FlowSpec,
        ends: &Ends,
    ) -> Result<[Box<dyn Endpoint>; 2], BuildError> {
        let streams = flow.stream_count();
        match &flow.transport {
            TransportSpec::Udp(udp) => Ok([
                Box::new(UdpSender::new(ends.sender, ends.receiver, streams, udp.payload)),
                Box::new(UdpReceiver::new()),
            ]),
            TransportSpec::Tcp(tcp) => Ok([
                Box::new(self.tcp(name, flow, tcp, ends, true)),
                Box::new(self.tcp(name, flow, tcp, ends, false)),
            ]),
            TransportSpec::Quic(quic) => Ok([
                Box::new(self.quic(name, flow, quic, ends, true)?),
                Box::new(self.quic(name, flow, quic, ends, false)?),
            ]),
        }
    }

    fn quic(
        &self,
        name: &str,
        flow: &FlowSpec,
        spec: &QuicSpec,
        ends: &Ends,
        sends: bool,
    ) -> Result<QuicEndpoint, BuildError> {
        let opens = (flow.opened_by == OpenedBy::From) == sends;
        let role = if opens { Role::Client } else { Role::Server };
        let end = if sends { "sender" } else { "receiver" };
        let (local, remote) =
            if sends { (ends.sender, ends.receiver) } else { (ends.receiver, ends.sender) };
        let streams = flow.attributes();
        let asks = flow.objects.is_some();
        let endpoint = QuicEndpoint::new(QuicConfig {
            spec,
            role,
            sends: if sends || asks { &streams } else { &[] },
            receives: if sends && !asks { 0 } else { streams.len() },
            local,
            remote,
            start: SimTime::ZERO + flow.start,
            rng: &self.rng.child("flows").child(name).child(end),
            qlog: self.qlog_writer(name, end)?,
        });
        endpoint.map_err(|error| BuildError::Endpoint { flow: name.to_owned(), error })
    }

    fn tcp(
        &self,
        name: &str,
        flow: &FlowSpec,
        spec: &TcpSpec,
        ends: &Ends,
        sends: bool,
    ) -> TcpEndpoint {
        let opens = (flow.opened_by == OpenedBy::From) == sends;
        let end = if sends { "sender" } else { "receiver" };
        let (local, remote) =
            if sends { (ends.sender, ends.receiver) } else { (ends.receiver, ends.sender) };
        TcpEndpoint::new(TcpConfig {
            spec,
            role: if opens { Role::Client } else { Role::Server },
            sends: flow.attributes().first().copied().filter(|_| sends),
            local,
            remote,
            start: SimTime::ZERO + flow.start,
            rng: &self.rng.child("flows").child(name).child(end),
        })
    }

    fn qlog_writer(&self, flow: &str, end: &str) -> Result<Option<QlogWriter>, BuildError> {
        let Some(folder) = &self.options.qlog else { return Ok(None) };
        let file = folder.join(format!("{flow}-{end}.sqlog"));
        match File::create(&file) {
            Ok(file) => Ok(Some(Box::new(BufWriter::new(file)))),
            Err(error) => Err(BuildError::Qlog { file: file.display().to_string(), error }),
        }
    }

    fn captures(&self) -> Result<Option<Captures>, CaptureError> {
        let flows = self.spec.flows.iter();
        let flows =
            flows.map(|(name, flow)| (name.as_str(), [flow.from.as_str(), flow.to.as_str()]));
        self.options.capture.as_ref().map(|options| Captures::new(options, flows)).transpose()
    }

    fn application(&self, name: &str, flow: &FlowSpec) -> Box<dyn Application> {
        let end = SimTime::ZERO + self.spec.duration;
        application::build(flow, end, &self.rng.child("flows").child(name))
    }

    fn observer(&self, routes: Vec<FlowRoutes>, sink: Box<dyn TableSink>) -> Observer {
        let warm_up = SimTime::ZERO + self.spec.warm_up;
        let record = &self.spec.record;
        let settings = RecordSettings {
            interval: record.interval,
            messages: record.messages,
            series: record.series,
            packets: record.packets,
        };
        let flows = self.spec.flows.iter();
        let compete = self.spec.competitors().count() > 1;
        let ledgers = flows.map(|(_, flow)| {
            let deadlines = flow.attributes().into_iter().map(|stream| stream.deadline);
            let ledger = FlowLedger::new(flow.stream_count(), warm_up).with_deadlines(deadlines);
            if compete && !flow.background {
                ledger.with_deliveries(self.spec.competition.step())
            } else {
                ledger
            }
        });
        let views = self.spec.links.iter().flat_map(|(_, link)| {
            Direction::BOTH.map(|direction| LinkView {
                own_delay: link.delay(direction),
                rate_scale: link.rate_scale(direction),
                channel: Default::default(),
                open: true,
                before: LinkCounters::default(),
            })
        });
        let stalls = self.spec.flows.iter().map(|(_, flow)| {
            let thinks = flow.objects.iter().flatten().map(|object| object.think);
            let think = thinks.max().unwrap_or_default();
            flow.transport.model().connects().then(|| StallWatch::new(think))
        });
        let recorder = Recorder::new(settings, self.names(), sink);
        let (ledgers, stalls) = (ledgers.collect(), stalls.collect());
        Observer::new(recorder, ledgers, stalls, views.collect(), routes, warm_up)
    }

    fn names(&self) -> Names {
        let flows = self
            .spec
            .flows
            .iter()
            .map(|(name, flow)| FlowNames { name: name.clone(), streams: flow.stream_names() });
        let links = self.spec.links.iter().flat_map(|(name, link)| {
            Direction::BOTH.map(|direction| {
                let [from, to] = link.ends(direction);
                format!("{name}/{from}->{to}")
            })
        });
        Names { flows: flows.collect(), links: links.collect() }
    }
}

impl Network {
    /// Wakes everybody at the start, and records what the channels offer there.
    fn start(&mut self) -> Result<(), NetworkError> {
        for (number, slot) in self.channels.iter().enumerate() {
            self.wakes.set(number, slot.channel.next_change());
            for &link in &slot.links {
                self.observer.channel(SimTime::ZERO, link, slot.channel.state())?;
            }
        }
        self.observer.paths(SimTime::ZERO)?;
        for (flow, slot) in self.flows.iter().enumerate() {
            self.wakes.set(self.layout.applications + flow, slot.application.next_wake());
        }
        for endpoint in 0..self.endpoints.len() {
            self.wakes.set(self.layout.endpoints + endpoint, Some(SimTime::ZERO));
        }
        self.wakes.set(self.layout.observer, Some(self.observer.next_wake()));
        Ok(())
    }
}

/// The two ends of a flow.
struct Ends {
    from: usize,
    to: usize,
    there: Vec<usize>,
    back: Vec<usize>,
    sender: SocketAddr,
    receiver: SocketAddr,
}

/// Address of the interface from which a link (by its number, two directions each) is entered: every link is a
/// network of its own, `10.x.y.0/30` by its place in the scenario.
fn interface(link: usize) -> IpAddr {
    let network = (link / 2) as u32;
    let host = 1 + (link % 2) as u32;
    IpAddr::V4(Ipv4Addr::from_bits((10 << 24) | (network << 2) | host))
}

fn unsound(problem: impl Into<String>) -> BuildError {
    BuildError::Unsound(problem.into())
}
