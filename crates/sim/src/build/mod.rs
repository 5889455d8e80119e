//! A network from a scenario.

mod addresses;
mod error;
mod sinks;

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use leobench_base::{DirectionId, End, FlowId, LinkId, NodeId, Protocol, RngTree, SimTime};
use leobench_link::LinkConfig;
use leobench_link::channel::ChannelContext;
#[cfg(feature = "noq")]
use leobench_quic::Stack;
use leobench_quic::{Protected, QuicConfig, QuicEndpoint, QuicSpec};
use leobench_transport::tcp::{Ports, ReconnectingTcp, TcpConfig, TcpEndpoint, TcpSpec};
use leobench_transport::udp::{UdpReceiver, UdpSender};
use leobench_transport::{Endpoint, Plugins, Role};

pub use self::error::BuildError;
use self::error::unsound;
pub use self::sinks::{OpenQlog, Sinks, SocketRequest, Sockets};
use crate::capture::{Captures, Secrets};
use crate::ledger::FlowLedger;
use crate::network::{
    Application, Egress, EndParts, FlowParts, Network, NetworkBuilder, StallWatch, application,
};
use crate::record::{FlowNames, RecordSettings};
use crate::scenario::{
    Direction, FlowSpec, HandoverKind, HandoverSpec, LinkSpec, OpenedBy, Scenario, ScenarioSpec,
    TransportSpec, capacity,
};
use crate::sky::{Constellation, Sky};
use crate::topology::{Foreseen, Handover, HandoverConfig, Topology, Transition, Trigger};

/// First port of receivers and of senders; a flow's number is added.
const RECEIVER_PORT: u16 = 4_433;
const SENDER_PORT: u16 = 32_768;

/// A network under construction, and the inputs it is built from.
struct FromScenario<'a> {
    spec: &'a ScenarioSpec,
    folder: &'a Path,
    rng: RngTree,
    builder: NetworkBuilder,
    sky: Option<Sky>,
    plugins: &'a Plugins,
    qlogs: &'a mut OpenQlog<'a>,
    sockets: Option<Box<dyn Sockets>>,
    /// Log of the secrets of encrypted connections, if packets are captured.
    secrets: Option<Secrets>,
}

impl Network {
    /// Builds the network of a scenario at the start of a run.
    ///
    /// # Errors
    /// If a channel's files are unusable, or results or qlogs cannot be written.
    pub fn new(
        scenario: &Scenario,
        seed: u64,
        plugins: &Plugins,
        sinks: Sinks<'_>,
    ) -> Result<Self, BuildError> {
        let spec = &scenario.spec;
        let mut builder = NetworkBuilder::default();
        let record = &spec.record;
        let settings = RecordSettings {
            interval: record.interval,
            messages: record.messages,
            series: record.series,
            packets: record.packets,
        };
        builder.record(settings, sinks.tables);
        let secrets = sinks.captures.as_ref().map(Captures::secrets);
        builder.capture(sinks.captures);
        builder.limits(spec.limits);
        builder.warm_up(SimTime::ZERO + spec.warm_up);
        let sky = Sky::new(scenario, seed).map_err(|fault| {
            unsound(format!("{} {}; allowed: {}", fault.field, fault.problem, fault.allowed))
        })?;
        let parts = FromScenario {
            spec,
            folder: &scenario.folder,
            rng: RngTree::new(seed),
            builder,
            sky,
            plugins,
            qlogs: sinks.qlogs,
            sockets: sinks.sockets,
            secrets,
        };
        parts.build(sinks.ports)
    }
}

impl FromScenario<'_> {
    fn build(mut self, ports: Vec<(String, Box<dyn Egress>)>) -> Result<Network, BuildError> {
        for (name, _) in &self.spec.nodes {
            self.builder.node(name);
        }
        for (node, egress) in ports {
            self.builder.port(self.node(&node)?, egress);
        }
        for (number, (name, link)) in self.spec.links.iter().enumerate() {
            let ends = [self.node(&link.between[0])?, self.node(&link.between[1])?];
            let [forward, backward] =
                Direction::BOTH.map(|direction| self.direction(name, link, direction));
            self.builder.link(name, ends, [forward?, backward?]);
            if link.constellation.is_none() {
                self.channels(name, link, LinkId::from(number).directions())?;
            }
        }
        if let (Some(sky), Some(spec)) = (self.sky.take(), &self.spec.constellation) {
            let foreseen = !self.spec.foresight().is_zero();
            self.constellation(Constellation::new(sky, spec.old_packets), foreseen);
        }
        for (name, handover) in &self.spec.handovers {
            self.handover(name, handover)?;
        }
        if self.sockets.is_some() {
            self.builder.ends_outside();
        }
        for (number, (name, flow)) in self.spec.flows.iter().enumerate() {
            let ends = self.ends(FlowId::from(number), flow)?;
            let told = flow.forecast.map(|forecast| {
                let rng = self.rng.child("flows").child(name).child("forecast").rng();
                forecast.config(flow.start, rng)
            });
            let flow = self.flow(FlowId::from(number), (name, flow), &ends)?;
            let number = self.builder.flow(flow);
            if let Some(told) = told {
                self.builder.forecast(number, told);
            }
        }
        Ok(self.builder.build()?)
    }

    /// Adds the links through a constellation. If it is `foreseen`, forecasts can tell what it will do.
    fn constellation(&mut self, constellation: Constellation, foreseen: bool) {
        self.builder.satellites(constellation.satellites());
        for (direction, channel) in constellation.channels() {
            self.builder.channel(channel, vec![direction]);
        }
        let topology: Box<dyn Topology> = Box::new(constellation);
        let topology = if foreseen { Box::new(Foreseen::new(topology)) } else { topology };
        self.builder.topology("constellation", topology);
    }

    fn node(&self, name: &str) -> Result<NodeId, BuildError> {
        let node = self.spec.node(name);
        node.ok_or_else(|| unsound(format!("there is no node {name}")))
    }

    fn link(&self, name: &str) -> Result<LinkId, BuildError> {
        let number = self.spec.links.iter().position(|(link, _)| link == name);
        number.map(LinkId::from).ok_or_else(|| unsound(format!("there is no link {name}")))
    }

    /// One channel for both directions of a link, or one for each.
    fn channels(
        &mut self,
        name: &str,
        link: &LinkSpec,
        directions: [DirectionId; 2],
    ) -> Result<(), BuildError> {
        let rng = self.rng.child("links").child(name);
        if link.shares_channel() {
            return self.channel(name, link, Direction::Forward, directions.into(), &rng);
        }
        for (direction, number) in Direction::BOTH.into_iter().zip(directions) {
            let rng = rng.child(direction.key());
            self.channel(name, link, direction, vec![number], &rng)?;
        }
        Ok(())
    }

    fn channel(
        &mut self,
        name: &str,
        link: &LinkSpec,
        direction: Direction,
        directions: Vec<DirectionId>,
        rng: &RngTree,
    ) -> Result<(), BuildError> {
        let spec = link.channel(direction);
        let spec = spec.ok_or_else(|| unsound(format!("links.{name} has no channel")))?;
        let context = ChannelContext { folder: self.folder.into(), rng: rng.child("channel") };
        let built = spec.model().build(&context);
        let channel = built.map_err(|fault| BuildError::Channel { link: name.into(), fault })?;
        self.builder.channel(channel, directions);
        Ok(())
    }

    /// One direction of a link.
    fn direction(
        &self,
        name: &str,
        link: &LinkSpec,
        direction: Direction,
    ) -> Result<LinkConfig, BuildError> {
        let rng = self.rng.child("links").child(name).child(direction.key());
        let capacity = capacity(self.spec, self.folder, (name, link), direction);
        let capacity =
            capacity.map_err(|fault| BuildError::Queue { link: name.to_owned(), fault })?;
        Ok(LinkConfig {
            queue: link.queue(direction).model().build(capacity, &rng.child("queue")),
            loss: link.loss(direction).map(|loss| loss.model().build(&rng.child("loss"))),
            access: link.access(direction).map(|access| access.model().build(&rng.child("access"))),
            delay: link.delay(direction),
            overhead: link.overhead.get(),
            mtu: link.mtu,
            // Packets over another satellite take another way.
            overtaking: link.overtaking || link.constellation.is_some(),
            rate_scale: link.rate_scale(direction),
            rng,
        })
    }

    fn handover(&mut self, name: &str, spec: &HandoverSpec) -> Result<(), BuildError> {
        let node = self.node(&spec.node)?;
        let links = spec.links.iter().map(|link| self.link(link)).collect::<Result<Vec<_>, _>>()?;
        let rng = self.rng.child("handovers").child(name);
        let trigger = match (&spec.at, spec.down_for) {
            (Some(times), _) => Trigger::At(times.iter().map(|at| SimTime::ZERO + *at).collect()),
            (None, Some(after)) => Trigger::Down { after, back: spec.up_for },
            (None, None) => Trigger::Clock(spec.clock(&rng)),
        };
        let transition = if spec.overlap.is_zero() {
            Transition::BreakBeforeMake(spec.outage)
        } else {
            Transition::MakeBeforeBreak(spec.overlap)
        };
        if spec.kind == HandoverKind::Rebind {
            self.builder.nat(node, &links);
        }
        let config = HandoverConfig { node, links, trigger, transition, left: spec.old_packets };
        let foreseen = !self.spec.foresight().is_zero() && spec.is_timed();
        let topology: Box<dyn Topology> = Box::new(Handover::new(config));
        let topology = if foreseen { Box::new(Foreseen::new(topology)) } else { topology };
        self.builder.topology(name, topology);
        Ok(())
    }

    fn ends(&self, number: FlowId, flow: &FlowSpec) -> Result<Ends, BuildError> {
        let port = |first: u16| {
            let number = u16::try_from(number.index()).ok();
            let port = number.and_then(|number| first.checked_add(number));
            port.ok_or_else(|| unsound("more flows than ports"))
        };
        let (from, to) = (self.node(&flow.from)?, self.node(&flow.to)?);
        let paths = self.paths(flow)?;
        let address = |name: &str, opens: bool| match paths.first().filter(|_| opens) {
            Some(first) => Ok(*first),
            None => self.address(name),
        };
        let from_opens = flow.opened_by == OpenedBy::From;
        let sender = SocketAddr::new(address(&flow.from, from_opens)?, port(SENDER_PORT)?);
        let receiver = SocketAddr::new(address(&flow.to, !from_opens)?, port(RECEIVER_PORT)?);
        Ok(Ends { from, to, sender, receiver, paths })
    }

    fn flow(
        &mut self,
        number: FlowId,
        (name, flow): (&str, &FlowSpec),
        ends: &Ends,
    ) -> Result<FlowParts, BuildError> {
        let endpoints = self.endpoints(name, flow, ends)?;
        let [sender, receiver] = self.placed(number, (name, flow), ends, endpoints)?;
        let protocol = match flow.transport {
            TransportSpec::Tcp(_) => Protocol::Tcp,
            TransportSpec::Quic(_) | TransportSpec::Udp(_) => Protocol::Udp,
        };
        let end = |endpoint, node, address: SocketAddr| EndParts {
            endpoint,
            node,
            protocol,
            port: address.port(),
        };
        let thinks = flow.objects.iter().flatten().map(|object| object.think);
        let think = thinks.max().unwrap_or_default();
        Ok(FlowParts {
            names: FlowNames { name: name.to_owned(), streams: flow.stream_names() },
            ends: [end(sender, ends.from, ends.sender), end(receiver, ends.to, ends.receiver)],
            application: self.application(name, flow),
            ledger: self.ledger(flow),
            stalls: flow.transport.model().connects().then(|| StallWatch::new(think)),
        })
    }

    /// The ends of a flow where they belong: inside the network, or on sockets outside.
    fn placed(
        &mut self,
        number: FlowId,
        (name, spec): (&str, &FlowSpec),
        ends: &Ends,
        endpoints: [Box<dyn Endpoint>; 2],
    ) -> Result<[Box<dyn Endpoint>; 2], BuildError> {
        let Some(sockets) = &mut self.sockets else { return Ok(endpoints) };
        let mut open = |end, node, addresses, inside| {
            let request = SocketRequest { flow: number, spec, end, node, addresses };
            let opened = sockets.open(&request, inside);
            opened.map_err(|error| BuildError::Socket { flow: name.to_owned(), end, error })
        };
        let [sender, receiver] = endpoints;
        let (there, back) = ([ends.sender, ends.receiver], [ends.receiver, ends.sender]);
        let receiver = open(End::Receiver, &spec.to, back, receiver)?;
        Ok([open(End::Sender, &spec.from, there, sender)?, receiver])
    }

    fn ledger(&self, flow: &FlowSpec) -> FlowLedger {
        let warm_up = SimTime::ZERO + self.spec.warm_up;
        let deadlines = flow.attributes().into_iter().map(|stream| stream.deadline);
        let ledger = FlowLedger::new(flow.stream_count(), warm_up).with_deadlines(deadlines);
        let competes = self.spec.competitors().count() > 1 && !flow.background;
        if competes { ledger.with_deliveries(self.spec.competition.step()) } else { ledger }
    }

    fn endpoints(
        &mut self,
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
                self.tcp(name, flow, tcp, ends, true)?,
                self.tcp(name, flow, tcp, ends, false)?,
            ]),
            TransportSpec::Quic(quic) => Ok([
                self.quic(name, flow, quic, ends, true)?,
                self.quic(name, flow, quic, ends, false)?,
            ]),
        }
    }

    fn quic(
        &mut self,
        name: &str,
        flow: &FlowSpec,
        spec: &QuicSpec,
        ends: &Ends,
        sends: bool,
    ) -> Result<Box<dyn Endpoint>, BuildError> {
        let opens = (flow.opened_by == OpenedBy::From) == sends;
        let role = if opens { Role::Client } else { Role::Server };
        let end = if sends { "sender" } else { "receiver" };
        let (local, remote) =
            if sends { (ends.sender, ends.receiver) } else { (ends.receiver, ends.sender) };
        let streams = flow.attributes();
        let asks = flow.objects.is_some();
        let qlog = (self.qlogs)(name, end).map_err(|error| {
            let flow = name.to_owned();
            BuildError::Qlog { flow, end, error }
        })?;
        let mut config = QuicConfig {
            spec,
            role,
            sends: if sends || asks { &streams } else { &[] },
            receives: if sends && !asks { 0 } else { streams.len() },
            local,
            remote,
            start: SimTime::ZERO + flow.start,
            rng: &self.rng.child("flows").child(name).child(end),
            plugins: self.plugins,
            qlog,
        };
        let failed = |error| BuildError::Endpoint { flow: name.to_owned(), error };
        #[cfg(feature = "noq")]
        if spec.stack == Stack::Noq {
            let endpoint = leobench_quic_noq::NoqEndpoint::new(config);
            return Ok(Box::new(endpoint.map_err(failed)?));
        }
        let qlog = config.qlog.take();
        let mut endpoint = QuicEndpoint::new(&config).map_err(failed)?;
        if role == Role::Client {
            endpoint.use_addresses(&ends.paths);
            if spec.probe_after.is_some() {
                endpoint.know_addresses(&self.other_interfaces(flow)?);
            }
        } else if let Some(link) = &spec.preferred_address {
            let node = self.node(flow.answerer())?;
            let address = self.builder.interface_address(node, self.link(link)?);
            endpoint.prefer_address(SocketAddr::new(address, local.port()));
        }
        if let Some(writer) = qlog {
            endpoint.write_qlog(writer);
        }
        // Both ends know the same secrets.
        if let (Protected::Tls, Role::Client, Some(secrets)) =
            (spec.protection, role, &self.secrets)
        {
            endpoint.log_secrets(secrets.log()?);
        }
        Ok(Box::new(endpoint))
    }

    fn tcp(
        &self,
        name: &str,
        flow: &FlowSpec,
        spec: &TcpSpec,
        ends: &Ends,
        sends: bool,
    ) -> Result<Box<dyn Endpoint>, BuildError> {
        let opens = (flow.opened_by == OpenedBy::From) == sends;
        let end = if sends { "sender" } else { "receiver" };
        let (local, remote) =
            if sends { (ends.sender, ends.receiver) } else { (ends.receiver, ends.sender) };
        let config = TcpConfig {
            spec,
            role: if opens { Role::Client } else { Role::Server },
            sends: flow.attributes().first().copied().filter(|_| sends),
            local,
            remote,
            start: SimTime::ZERO + flow.start,
            rng: &self.rng.child("flows").child(name).child(end),
            plugins: self.plugins,
        };
        Ok(match flow.reconnect {
            Some(reconnect) => {
                Box::new(ReconnectingTcp::new(config, reconnect, self.ports(sends)?))
            }
            None => Box::new(TcpEndpoint::new(config)),
        })
    }

    /// The ports from which the senders of all flows connect anew, or the receivers; each flow has some of its own.
    fn ports(&self, senders: bool) -> Result<Ports, BuildError> {
        let (first, last) =
            if senders { (SENDER_PORT, u16::MAX) } else { (RECEIVER_PORT, SENDER_PORT - 1) };
        let step = u16::try_from(self.spec.flows.len()).ok();
        // Two for each flow at least: a new connection is told from the old one by its port.
        let step = step.filter(|step| *step <= (last - first) / 2);
        let step =
            step.ok_or_else(|| unsound("too many flows for the ports of new connections"))?;
        Ok(Ports { first, last, step })
    }

    fn application(&self, name: &str, flow: &FlowSpec) -> Box<dyn Application> {
        let end = SimTime::ZERO + self.spec.production();
        application::build(flow, end, &self.rng.child("flows").child(name))
    }
}

/// The two ends of a flow.
struct Ends {
    from: NodeId,
    to: NodeId,
    sender: SocketAddr,
    receiver: SocketAddr,
    /// Addresses of the end that opens the connection, if it has several paths.
    paths: Vec<IpAddr>,
}
