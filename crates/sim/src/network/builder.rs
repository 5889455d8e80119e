//! A network from its parts: nodes, links with their channels, and flows between the nodes.
//!
//! Tables and captures are off by default: [`record`](NetworkBuilder::record) and
//! [`capture`](NetworkBuilder::capture) turn them on.

use std::net::IpAddr;

use leobench_base::End;
use leobench_base::{
    DirectionId, EndpointId, FlowId, LinkId, NodeId, PortId, Protocol, SimDuration, SimTime,
};
use leobench_link::{Cause, Channel, Link, LinkConfig, LinkOutput};
use leobench_transport::{Endpoint, Outbox};
use rustc_hash::FxHashMap;
use typed_index_collections::TiVec;

use super::application::Application;
use super::bounds::InstantWatch;
use super::forwarding::{Forwarding, MOST_LINKS, MOST_NODES, Nat, idle_directions};
use super::motion::Forecaster;
use super::observe::{LinkView, NetworkEvent, Observer, ObserverParts, StallWatch};
use super::packets::{Egress, PacketStore, Port};
use super::schedule::{Census, Entity, Schedule};
use super::{ChannelSlot, EndpointSlot, FlowSlot, Network, NetworkError};
use crate::capture::Captures;
use crate::ledger::FlowLedger;
use crate::limits::LimitsSpec;
use crate::record::{FlowNames, Names, Nowhere, RecordSettings, TableSink};
use crate::routes::Edge;
use crate::topology::{ForecastConfig, Topology};

/// Puts a network together.
pub struct NetworkBuilder {
    nodes: TiVec<NodeId, String>,
    links: TiVec<LinkId, String>,
    directions: TiVec<DirectionId, LinkParts>,
    channels: Vec<ChannelSlot>,
    topologies: Vec<Box<dyn Topology>>,
    forecasts: Vec<(FlowId, ForecastConfig)>,
    nats: Vec<(NodeId, Vec<DirectionId>)>,
    flows: TiVec<FlowId, FlowParts>,
    ports: TiVec<PortId, Port>,
    settings: RecordSettings,
    sink: Box<dyn TableSink>,
    handovers: Vec<String>,
    satellites: Vec<String>,
    ends_outside: bool,
    captures: Option<Captures>,
    limits: LimitsSpec,
    warm_up: SimTime,
}

struct LinkParts {
    ends: [NodeId; 2],
    config: LinkConfig,
}

/// A flow and its two ends.
pub struct FlowParts {
    /// Its name, and its streams'.
    pub names: FlowNames,
    /// The end that sends its data, and the one that receives it.
    pub ends: [EndParts; 2],
    /// The applications at both ends.
    pub application: Box<dyn Application>,
    /// Ledger of its messages.
    pub ledger: FlowLedger,
    /// Watches for stalls, if its data waits for anything.
    pub stalls: Option<StallWatch>,
}

/// One end of a flow.
pub struct EndParts {
    /// The transport.
    pub endpoint: Box<dyn Endpoint>,
    /// Node of the endpoint.
    pub node: NodeId,
    /// Protocol of the packets it receives.
    pub protocol: Protocol,
    /// The port it listens at.
    pub port: u16,
}

impl Default for NetworkBuilder {
    fn default() -> Self {
        let interval = SimDuration::from_secs(1);
        let settings = RecordSettings { interval, messages: false, series: false, packets: false };
        Self {
            nodes: TiVec::new(),
            links: TiVec::new(),
            directions: TiVec::new(),
            channels: Vec::new(),
            topologies: Vec::new(),
            forecasts: Vec::new(),
            nats: Vec::new(),
            flows: TiVec::new(),
            ports: TiVec::new(),
            settings,
            sink: Box::new(Nowhere),
            handovers: Vec::new(),
            satellites: Vec::new(),
            ends_outside: false,
            captures: None,
            limits: LimitsSpec::DEFAULT,
            warm_up: SimTime::ZERO,
        }
    }
}

impl EndParts {
    /// One end of a flow, which has not sent anything.
    fn into_slot(self, flow: FlowId, end: End) -> EndpointSlot {
        let Self { endpoint, node, protocol, .. } = self;
        EndpointSlot { endpoint, node, protocol, flow, end, last_route: None }
    }
}

impl NetworkBuilder {
    /// Adds a node.
    pub fn node(&mut self, name: &str) -> NodeId {
        self.nodes.push_and_get_key(name.to_owned())
    }

    /// Adds a link between two nodes: from the first to the second, and back. Each direction needs a
    /// [channel](Self::channel).
    pub fn link(&mut self, name: &str, ends: [NodeId; 2], configs: [LinkConfig; 2]) -> LinkId {
        let [there, back] = configs;
        self.directions.push(LinkParts { ends, config: there });
        self.directions.push(LinkParts { ends: [ends[1], ends[0]], config: back });
        self.links.push_and_get_key(name.to_owned())
    }

    /// Adds a channel that serves these directions of links.
    pub fn channel(&mut self, channel: Box<dyn Channel>, directions: Vec<DirectionId>) {
        self.channels.push(ChannelSlot { channel, directions });
    }

    /// Adds something that moves; `name` is what tables call it.
    pub fn topology(&mut self, name: &str, topology: Box<dyn Topology>) {
        self.handovers.push(name.to_owned());
        self.topologies.push(topology);
    }

    /// Names the satellites of a constellation, in the order of their numbers.
    pub fn satellites(&mut self, names: Vec<String>) {
        self.satellites = names;
    }

    /// Translates the addresses of what leaves `node` over these links.
    pub fn nat(&mut self, node: NodeId, outside: &[LinkId]) {
        let directions = outside.iter().flat_map(|link| link.directions());
        let directions =
            directions.filter(|direction| self.directions[*direction].ends[0] == node).collect();
        self.nats.push((node, directions));
    }

    /// Adds a flow.
    pub fn flow(&mut self, flow: FlowParts) -> FlowId {
        self.flows.push_and_get_key(flow)
    }

    /// Lets the sender of a flow know ahead what those topologies will do that can be [foreseen](crate::topology::Foreseen).
    pub fn forecast(&mut self, flow: FlowId, config: ForecastConfig) {
        self.forecasts.push((flow, config));
    }

    /// Adds a port at `node`, where packets for it leave that no endpoint takes.
    pub fn port(&mut self, node: NodeId, egress: Box<dyn Egress>) -> PortId {
        self.ports.push_and_get_key(Port { node, egress })
    }

    /// The endpoints of all flows send and receive on sockets outside: what they put into the network comes in through ports,
    /// and what is for them leaves by ports. [`Network::wake`] polls them.
    pub fn ends_outside(&mut self) {
        self.ends_outside = true;
    }

    /// The address of a node that does not change when its links do.
    pub fn own_address(node: NodeId) -> IpAddr {
        Forwarding::own_address(node)
    }

    /// The address of a node's interface to a link.
    ///
    /// # Panics
    /// If the link does not end there.
    pub fn interface_address(&self, node: NodeId, link: LinkId) -> IpAddr {
        let direction = link
            .directions()
            .into_iter()
            .find(|direction| self.directions[*direction].ends[0] == node);
        Forwarding::interface_address(direction.expect("the node is at an end of the link"))
    }

    /// Records what these settings ask for into `sink`.
    pub fn record(&mut self, settings: RecordSettings, sink: Box<dyn TableSink>) {
        (self.settings, self.sink) = (settings, sink);
    }

    /// Captures the packets at the ends of flows, in the order in which the ends were added.
    pub(crate) fn capture(&mut self, captures: Option<Captures>) {
        self.captures = captures;
    }

    /// Limits what the network may take.
    pub fn limits(&mut self, limits: LimitsSpec) {
        self.limits = limits;
    }

    /// Leaves out of totals and statistics what happens before.
    pub fn warm_up(&mut self, warm_up: SimTime) {
        self.warm_up = warm_up;
    }

    /// The network at the start of a run.
    ///
    /// # Errors
    /// If what its channels offer at the start cannot be recorded.
    ///
    /// # Panics
    /// If a link has no channel, or there are more nodes or links than addresses.
    pub fn build(self) -> Result<Network, NetworkError> {
        assert!(
            self.nodes.len() < MOST_NODES && self.links.len() < MOST_LINKS,
            "too many for addresses"
        );
        let names = self.names();
        let edges = self.directions.iter().map(|parts| Edge {
            from: parts.ends[0],
            to: parts.ends[1],
            delay: parts.config.delay,
        });
        let forwarding = Forwarding::new(self.nodes.len(), edges.collect());
        let idle = self.idle();
        let views: TiVec<DirectionId, _> =
            self.directions.iter().map(|parts| LinkView::new(&parts.config)).collect();
        let directions = links(self.directions, &self.channels, !self.topologies.is_empty());
        let mut nats: TiVec<NodeId, Option<Nat>> = self.nodes.iter().map(|_| None).collect();
        for (node, outside) in self.nats {
            nats[node] = Some(Nat::new(outside));
        }
        let egress_at = egress_at(self.nodes.len(), &self.ports);
        let mut endpoints = TiVec::new();
        let mut listeners = FxHashMap::default();
        let (mut flows, mut ledgers, mut stalls) = (TiVec::new(), TiVec::new(), TiVec::new());
        for (number, flow) in self.flows.into_iter().enumerate() {
            let ends =
                [End::Sender, End::Receiver].into_iter().zip(flow.ends).map(|(end, parts)| {
                    let EndParts { node, protocol, port, .. } = parts;
                    let slot = parts.into_slot(number.into(), end);
                    let id: EndpointId = endpoints.push_and_get_key(slot);
                    let before = listeners.insert((node, protocol, port), id);
                    assert!(before.is_none(), "port {port} of {} is taken", self.nodes[node]);
                    (node, id)
                });
            let ends: Vec<_> = ends.collect();
            let ends = [ends[0], ends[1]];
            let slot = FlowSlot {
                name: flow.names.name,
                application: flow.application,
                ends: ends.map(|(_, id)| id),
                nodes: ends.map(|(node, _)| node),
            };
            flows.push(slot);
            ledgers.push(flow.ledger);
            stalls.push(flow.stalls);
        }
        let parts = ObserverParts {
            settings: self.settings,
            names,
            sink: self.sink,
            ledgers,
            stalls,
            directions: views,
            idle,
            flows: flows.iter().map(|flow: &FlowSlot| flow.nodes).collect(),
            warm_up: self.warm_up,
        };
        let census = Census {
            topologies: self.topologies.len(),
            channels: self.channels.len(),
            directions: directions.len(),
            flows: flows.len(),
            endpoints: endpoints.len(),
        };
        let forecasters = self.forecasts.into_iter();
        let forecasters = forecasters.map(|(flow, config)| Forecaster::new(flow, config));
        let mut network = Network {
            now: SimTime::ZERO,
            wakes: Schedule::new(census),
            topologies: self.topologies,
            forecasters: forecasters.collect(),
            channels: self.channels,
            directions,
            forwarding,
            nats,
            flows,
            endpoints,
            listeners,
            ports: self.ports,
            egress_at,
            ends_outside: self.ends_outside,
            observer: Observer::new(parts),
            captures: self.captures,
            store: PacketStore::default(),
            packets: 0,
            open_flow: FlowId::from(0),
            limits: self.limits,
            steps: 0,
            check_at: 0,
            instant: InstantWatch::new(census.parts()),
            link_output: LinkOutput::default(),
            outbox: Outbox::default(),
            actions: Vec::new(),
            changes: Vec::new(),
            held: Vec::new(),
        };
        network.start()?;
        Ok(network)
    }

    /// The directions of links that nobody can use: none where packets of the world outside may go anywhere.
    fn idle(&self) -> TiVec<DirectionId, bool> {
        let mut used: TiVec<NodeId, bool> =
            self.nodes.iter().map(|_| !self.ports.is_empty()).collect();
        for end in self.flows.iter().flat_map(|flow| &flow.ends) {
            used[end.node] = true;
        }
        let directions: TiVec<DirectionId, _> =
            self.directions.iter().map(|parts| parts.ends).collect();
        idle_directions(&used, &directions)
    }

    /// Returns the names of flows, links, nodes and topologies for the tables.
    fn names(&self) -> Names {
        let directions = self.directions.iter_enumerated().map(|(direction, parts)| {
            let [from, to] = parts.ends.map(|end| self.nodes[end].as_str());
            format!("{}/{from}->{to}", self.links[direction.link()])
        });
        Names {
            flows: self.flows.iter().map(|flow| flow.names.clone()).collect(),
            directions: directions.collect(),
            links: self.links.clone(),
            nodes: self.nodes.clone(),
            topologies: self.handovers.clone(),
            satellites: self.satellites.clone(),
        }
    }
}

/// By node, the port where packets leave that no endpoint takes.
fn egress_at(nodes: usize, ports: &TiVec<PortId, Port>) -> TiVec<NodeId, Option<PortId>> {
    let mut egress_at: TiVec<_, _> = (0..nodes).map(|_| None).collect();
    for (port, Port { node, .. }) in ports.iter_enumerated() {
        egress_at[*node] = Some(port);
    }
    egress_at
}

/// The links by direction, each in the state of its channel. They count drops by handovers if anything `moves`.
fn links(
    parts: TiVec<DirectionId, LinkParts>,
    channels: &[ChannelSlot],
    moves: bool,
) -> TiVec<DirectionId, Link> {
    let mut serving: TiVec<DirectionId, Option<&ChannelSlot>> =
        parts.iter().map(|_| None).collect();
    for slot in channels {
        for direction in &slot.directions {
            serving[*direction] = Some(slot);
        }
    }
    let links = parts.into_iter().zip(serving).map(|(parts, serving)| {
        let channel = &serving.expect("every link has a channel").channel;
        let mut link = Link::new(parts.config, channel.state());
        if moves {
            link.expect_cause(Cause::HANDOVER);
        }
        link
    });
    links.collect()
}

impl Network {
    /// Wakes everybody at the start, and records what the channels offer there.
    fn start(&mut self) -> Result<(), NetworkError> {
        self.check_at = self.look_every();
        for (channel, slot) in self.channels.iter().enumerate() {
            self.wakes.set(Entity::Channel(channel), slot.channel.next_change());
            for &direction in &slot.directions {
                let state = slot.channel.state();
                self.observer.emit(SimTime::ZERO, NetworkEvent::Channel { direction, state })?;
            }
        }
        for nodes in self.flows.iter().map(|flow| flow.nodes) {
            self.forwarding.expect_at(nodes);
        }
        for direction in self.directions.keys() {
            if !self.observer.is_up(direction) {
                self.tell_topologies(direction);
            }
        }
        self.take_places()?;
        for (flow, slot) in self.flows.iter_enumerated() {
            self.wakes.set(Entity::Application(flow), slot.application.next_wake());
        }
        for endpoint in self.endpoints.keys() {
            self.wakes.set(Entity::Endpoint(endpoint), Some(SimTime::ZERO));
        }
        self.wakes.set(Entity::Forecasts, self.forecasters.iter().map(Forecaster::next).min());
        self.wakes.set(Entity::Observer, Some(self.observer.next_wake()));
        Ok(())
    }
}
