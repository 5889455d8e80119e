//! The flows of a scenario: their ends, endpoints, ledgers and applications.

use std::net::{IpAddr, SocketAddr};

use leobench_base::{End, FlowId, NodeId, SimTime};
use leobench_quic::{KeyLog, QlogWriter};
use leobench_transport::Endpoint;
use leobench_transport::buffer::OnDeadline;
use leobench_transport::tcp::Ports;

use super::addresses::Peers;
use super::error::unsound;
use super::{BuildError, FromScenario, SocketRequest};
use crate::capture::Secrets;
use crate::ledger::FlowLedger;
use crate::network::application::ApplicationContext;
use crate::network::{Application, EndParts, FlowParts, StallWatch, application};
use crate::record::FlowNames;
use crate::scenario::{EndpointContext, EndpointFault, FlowNetwork, FlowSpec, OpenedBy, Unsound};

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
        let protocol = flow.transport.model().protocol();
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
        let mut end = |end| {
            let [local, remote] = match end {
                End::Sender => [ends.sender, ends.receiver],
                End::Receiver => [ends.receiver, ends.sender],
            };
            let rng = self.rng.child("flows").child(name).child(end.name());
            let plugins = self.plugins;
            let mut network = Surroundings { scenario: self, name, flow, end };
            let context = EndpointContext {
                flow,
                end,
                local,
                remote,
                paths: &ends.paths,
                peers: &ends.peers.addresses,
                pairs: &ends.peers.pairs,
                rng: &rng,
                plugins,
                network: &mut network,
            };
            let built = flow.transport.model().endpoint(context);
            built.map_err(|fault| BuildError::endpoint(name, end, fault))
        };
        Ok([end(End::Sender)?, end(End::Receiver)?])
    }

    /// The ports from which the senders of all flows open more connections, or the receivers; each flow has at least `count` of its
    /// own.
    fn ports(&self, of: End, count: usize) -> Result<Ports, Unsound> {
        let (first, last) = match of {
            End::Sender => (SENDER_PORT, u16::MAX),
            End::Receiver => (RECEIVER_PORT, SENDER_PORT - 1),
        };
        let flows = self.spec.flows.len();
        let most = usize::from(last - first) / count;
        let step = u16::try_from(flows).ok().filter(|_| flows <= most);
        let step = step.ok_or_else(|| {
            let each = format!("with ports for {count} connections each");
            Unsound(format!("{flows} flows are too many {each}; allowed: up to {most}"))
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

/// The network around an end of a flow.
struct Surroundings<'c, 'a> {
    scenario: &'c mut FromScenario<'a>,
    /// Name of the flow.
    name: &'c str,
    flow: &'c FlowSpec,
    end: End,
}

impl FlowNetwork for Surroundings<'_, '_> {
    fn qlog(&mut self) -> Result<Option<QlogWriter>, EndpointFault> {
        (self.scenario.qlogs)(self.name, self.end.name()).map_err(EndpointFault::Qlog)
    }

    fn key_log(&self) -> Result<Option<KeyLog>, EndpointFault> {
        Ok(self.scenario.secrets.as_ref().map(Secrets::log).transpose()?)
    }

    fn answerer_address(&self, link: &str) -> Result<IpAddr, EndpointFault> {
        let node = self.scenario.node(self.flow.answerer())?;
        Ok(self.scenario.builder.interface_address(node, self.scenario.link(link)?))
    }

    fn other_interfaces(&self) -> Result<Vec<IpAddr>, EndpointFault> {
        Ok(self.scenario.other_interfaces(self.flow)?)
    }

    fn ports(&self, of: End, count: usize) -> Result<Ports, EndpointFault> {
        Ok(self.scenario.ports(of, count)?)
    }
}
