//! The flows of a scenario: their ends, endpoints, ledgers and applications.

use std::net::{IpAddr, SocketAddr};

use leobench_base::{End, FlowId, NodeId, Protocol, SimTime};
use leobench_media::call::MOST_STREAMS;
#[cfg(feature = "noq")]
use leobench_quic::Stack;
use leobench_quic::{MESSAGE_STREAMS, Protected, QuicConfig, QuicEndpoint, QuicSpec};
use leobench_transport::buffer::{Attributes, Carried, OnDeadline};
use leobench_transport::plugin::{Plugin, PluginKind, StackSetup};
use leobench_transport::tcp::{Ports, ReconnectingTcp, TcpConfig, TcpEndpoint, TcpPool, TcpSpec};
use leobench_transport::udp::UdpEndpoint;
use leobench_transport::{Endpoint, EndpointError, Role};

use super::addresses::Peers;
use super::error::unsound;
use super::{BuildError, FromScenario, SocketRequest};
use crate::ledger::FlowLedger;
use crate::network::application::ApplicationContext;
use crate::network::{Application, EndParts, FlowParts, StallWatch, application};
use crate::record::FlowNames;
use crate::scenario::{
    FlowSpec, HttpVersion, OpenedBy, TransportSpec, browser_socket, server_socket,
};

/// First port of receivers and of senders; a flow's number is added.
const RECEIVER_PORT: u16 = 4_433;
const SENDER_PORT: u16 = 32_768;

/// The two ends of a flow.
pub(super) struct Ends {
    from: NodeId,
    to: NodeId,
    sender: SocketAddr,
    receiver: SocketAddr,
    /// Addresses of the end that opens the connection, if it has several paths.
    paths: Vec<IpAddr>,
    /// Addresses of the other end, if paths lead to several.
    peers: Peers,
}

impl FromScenario<'_> {
    pub(super) fn ends(&self, number: FlowId, flow: &FlowSpec) -> Result<Ends, BuildError> {
        let port = |first: u16| {
            let number = u16::try_from(number.index()).ok();
            let port = number.and_then(|number| first.checked_add(number));
            port.ok_or_else(|| unsound("more flows than ports"))
        };
        let (from, to) = (self.node(&flow.from)?, self.node(&flow.to)?);
        let paths = self.paths(flow)?;
        let peers = self.peers(flow)?;
        let address = |name: &str, opens: bool| {
            let known = if opens { &paths } else { &peers.addresses };
            known.first().map_or_else(|| self.address(name), |first| Ok(*first))
        };
        let from_opens = flow.opened_by == OpenedBy::From;
        let sender = SocketAddr::new(address(&flow.from, from_opens)?, port(SENDER_PORT)?);
        let receiver = SocketAddr::new(address(&flow.to, !from_opens)?, port(RECEIVER_PORT)?);
        Ok(Ends { from, to, sender, receiver, paths, peers })
    }

    pub(super) fn flow(
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
        let thinks = thinks.chain(flow.video.iter().map(|video| video.think));
        let think = thinks.max().unwrap_or_default();
        Ok(FlowParts {
            names: FlowNames { name: name.to_owned(), streams: flow.stream_names() },
            ends: [end(sender, ends.from, ends.sender), end(receiver, ends.to, ends.receiver)],
            application: self.application(name, flow)?,
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
        let cancels = flow.attributes().into_iter().map(|it| it.on_deadline == OnDeadline::Cancel);
        let ledger = FlowLedger::new(flow.stream_count(), warm_up)
            .with_deadlines(deadlines)
            .with_cancellations(cancels)
            .with_ages(flow.streams_that_repeat());
        let competes = self.spec.competitors().count() > 1 && !flow.background;
        let ledger = if flow.is_endless() { ledger.endless() } else { ledger };
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
            TransportSpec::Udp(udp) => {
                let [there, back] = [[ends.sender, ends.receiver], [ends.receiver, ends.sender]];
                let end = |end, addresses| UdpEndpoint::new(end, addresses, streams, udp.clone());
                Ok([Box::new(end(End::Sender, there)), Box::new(end(End::Receiver, back))])
            }
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
        let asks = flow.asks();
        let failed = |error| BuildError::Endpoint { flow: name.to_owned(), error };
        let sends_on: &[Attributes] = if sends || asks { &streams } else { &[] };
        let receives = if sends && !asks { 0 } else { streams.len() };
        let start = SimTime::ZERO + flow.start;
        let rng = self.rng.child("flows").child(name).child(end);
        if let Some(library) = spec.stack.library() {
            let setup = StackSetup {
                role,
                sends: sends_on.to_vec(),
                receives,
                local,
                remote,
                start,
                payload: spec.payload,
                ecn: spec.ecn,
                moves: false,
            };
            let kind = PluginKind::QuicStack(setup);
            let problem = match self.plugins.build(&kind, library.class(), &rng) {
                Ok(Plugin::QuicStack(endpoint)) => return Ok(endpoint),
                Ok(_) => "was built as another kind of plug-in".to_owned(),
                Err(problem) => format!("`{}` {problem}", library.name()),
            };
            return Err(failed(EndpointError::Stack { at: start, problem }));
        }
        let qlog = (self.qlogs)(name, end).map_err(|error| {
            let flow = name.to_owned();
            BuildError::Qlog { flow, end, error }
        })?;
        let carries = |way| streams.iter().any(|stream| stream.carried == way);
        let most = if flow.call.is_some() { MOST_STREAMS } else { MESSAGE_STREAMS };
        let mut config = QuicConfig {
            spec,
            role,
            sends: sends_on,
            receives,
            datagrams: carries(Carried::Datagrams),
            message_streams: carries(Carried::StreamPerMessage).then_some(most),
            local,
            remote,
            start,
            rng: &rng,
            plugins: self.plugins,
            qlog,
        };
        #[cfg(feature = "noq")]
        if spec.stack == Stack::Noq {
            let endpoint = leobench_quic_noq::NoqEndpoint::new(config);
            return Ok(Box::new(endpoint.map_err(failed)?));
        }
        let qlog = config.qlog.take();
        let mut endpoint = QuicEndpoint::new(&config).map_err(failed)?;
        if role == Role::Client {
            endpoint.use_addresses(&ends.paths);
            endpoint.use_peers(&ends.peers.addresses, &ends.peers.pairs);
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
        let pooled = flow.http == Some(HttpVersion::Http1);
        let socket = match (pooled, sends) {
            (true, false) => Some(browser_socket(spec)),
            (false, true) if flow.objects.is_some() => Some(server_socket(spec)),
            _ => None,
        };
        let config = TcpConfig {
            spec: socket.as_ref().unwrap_or(spec),
            role: if opens { Role::Client } else { Role::Server },
            sends: flow.attributes().first().copied().filter(|_| sends || flow.asks()),
            receives: !sends || flow.asks(),
            local,
            remote,
            start: SimTime::ZERO + flow.start,
            rng: &self.rng.child("flows").child(name).child(end),
            plugins: self.plugins,
        };
        if pooled {
            let count = flow.connections();
            let ports = self.ports(sends == opens, count)?;
            return Ok(Box::new(TcpPool::new(config, count, ports)));
        }
        Ok(match flow.reconnect {
            // Two ports at least: a new connection is told from the old one by its port.
            Some(reconnect) => {
                Box::new(ReconnectingTcp::new(config, reconnect, self.ports(sends, 2)?))
            }
            None => Box::new(TcpEndpoint::new(config)),
        })
    }

    /// The ports from which the senders of all flows open more connections, or the receivers; each flow has at least `count` of its
    /// own.
    fn ports(&self, senders: bool, count: usize) -> Result<Ports, BuildError> {
        let (first, last) =
            if senders { (SENDER_PORT, u16::MAX) } else { (RECEIVER_PORT, SENDER_PORT - 1) };
        let flows = self.spec.flows.len();
        let most = usize::from(last - first) / count;
        let step = u16::try_from(flows).ok().filter(|_| flows <= most);
        let step = step.ok_or_else(|| {
            let each = format!("with ports for {count} connections each");
            unsound(format!("{flows} flows are too many {each}; allowed: up to {most}"))
        })?;
        Ok(Ports { first, last, step })
    }

    fn application(&self, name: &str, flow: &FlowSpec) -> Result<Box<dyn Application>, BuildError> {
        let end = SimTime::ZERO + self.spec.production();
        let rng = &self.rng.child("flows").child(name);
        let context = ApplicationContext { end, rng, folder: self.folder, plugins: self.plugins };
        let built = application::build(flow, &context);
        built.map_err(|error| BuildError::Application { flow: name.to_owned(), error })
    }
}
