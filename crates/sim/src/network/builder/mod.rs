//! A network from its parts: nodes, links with their channels, and flows between the nodes.
//!
//! Tables and captures are off by default: [`record`](NetworkBuilder::record) and
//! [`capture`](NetworkBuilder::capture) turn them on.

mod assembly;

use std::net::IpAddr;

use leobench_base::{DirectionId, FlowId, LinkId, NodeId, PortId, Protocol, SimDuration, SimTime};
use leobench_link::{Causes, Channel, LinkConfig};
use leobench_transport::Endpoint;
use typed_index_collections::TiVec;

use super::application::Application;
use super::forwarding::Forwarding;
use super::observe::StallWatch;
use super::{ChannelSlot, PacketTrace, QueueFactory, TransitPlan};
use crate::capture::Captures;
use crate::ledger::FlowLedger;
use crate::limits::LimitsSpec;
use crate::record::{FlowNames, Nowhere, RecordSettings, TableSink};
use crate::topology::{AccessConfig, AccessLink, ForecastConfig, Topology};

/// Puts a network together.
pub struct NetworkBuilder {
    nodes: TiVec<NodeId, String>,
    links: TiVec<LinkId, String>,
    directions: TiVec<DirectionId, LinkParts>,
    channels: Vec<ChannelSlot>,
    topologies: Vec<Box<dyn Topology>>,
    forecasts: Vec<(FlowId, ForecastConfig)>,
    access_links: Vec<AccessLink>,
    cross_layers: Vec<(FlowId, AccessConfig)>,
    several_paths: Vec<FlowId>,
    nats: Vec<(NodeId, Vec<DirectionId>)>,
    flows: TiVec<FlowId, FlowParts>,
    ports: TiVec<PortId, NodeId>,
    settings: RecordSettings,
    sink: Box<dyn TableSink>,
    handovers: Vec<String>,
    satellites: Vec<String>,
    stations: Vec<String>,
    sharing: Option<Sharing>,
    transit: Option<TransitPlan>,
    ends_outside: bool,
    plugins: bool,
    captures: Option<Captures>,
    trace: Option<Box<dyn PacketTrace>>,
    limits: LimitsSpec,
    warm_up: SimTime,
}

/// Links that share the transmitters of satellites, and the queues of those.
struct Sharing {
    links: Vec<LinkId>,
    causes: Causes,
    factory: QueueFactory,
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
        let settings = RecordSettings {
            interval,
            messages: false,
            series: false,
            packets: false,
            flows: usize::MAX,
        };
        Self {
            nodes: TiVec::new(),
            links: TiVec::new(),
            directions: TiVec::new(),
            channels: Vec::new(),
            topologies: Vec::new(),
            forecasts: Vec::new(),
            access_links: Vec::new(),
            cross_layers: Vec::new(),
            several_paths: Vec::new(),
            nats: Vec::new(),
            flows: TiVec::new(),
            ports: TiVec::new(),
            settings,
            sink: Box::new(Nowhere),
            handovers: Vec::new(),
            satellites: Vec::new(),
            stations: Vec::new(),
            sharing: None,
            transit: None,
            ends_outside: false,
            plugins: false,
            captures: None,
            trace: None,
            limits: LimitsSpec::DEFAULT,
            warm_up: SimTime::ZERO,
        }
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

    /// Names the stations of a constellation: terminals first, then gateways.
    pub fn stations(&mut self, names: Vec<String>) {
        self.stations = names;
    }

    /// Gives each satellite that serves any of these links one transmitter and one queue per direction, in place of the links' own;
    /// `factory` builds the queues, which drop and mark for these `causes`. A topology says which satellite serves
    /// ([`Change::Serve`](crate::topology::Change::Serve)). The queue of a link's configuration is where packets wait while the
    /// link has no rate.
    pub fn share_satellites(&mut self, links: &[LinkId], causes: Causes, factory: QueueFactory) {
        self.sharing = Some(Sharing { links: links.to_vec(), causes, factory });
    }

    /// Leads links through a network in orbit, hop by hop; a topology says what it is like ([`Change::Transit`](crate::topology::Change::Transit)). The queue of a
    /// link's configuration is where packets wait while the link has no way or no rate.
    pub fn transit(&mut self, plan: TransitPlan) {
        self.transit = Some(plan);
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

    /// Stores what the link layers of these links know. Their topology tells it by [`Change::Access`](crate::topology::Change).
    pub fn access_links(&mut self, links: Vec<AccessLink>) {
        self.access_links = links;
    }

    /// Reports to the sender of a flow what the link layers of its paths' access links know.
    pub fn cross_layer(&mut self, flow: FlowId, config: AccessConfig) {
        self.cross_layers.push((flow, config));
    }

    /// Measures the delays of a flow's packets on each path that it uses.
    pub fn measure_paths(&mut self, flow: FlowId) {
        self.several_paths.push(flow);
    }

    /// Adds a port at `node`, where packets for it leave that no endpoint takes.
    pub fn port(&mut self, node: NodeId) -> PortId {
        self.ports.push_and_get_key(node)
    }

    /// The endpoints of all flows send and receive on sockets outside: what they put into the network comes in through ports,
    /// and what is for them leaves by ports. [`Network::wake`](super::Network::wake) polls them.
    pub fn ends_outside(&mut self) {
        self.ends_outside = true;
    }

    /// Flows have plug-ins, which may share a state: the order in which flows act must not change.
    pub fn plugins(&mut self) {
        self.plugins = true;
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

    /// Follows the packets of the world outside.
    pub fn trace(&mut self, trace: Option<Box<dyn PacketTrace>>) {
        self.trace = trace;
    }

    /// Limits what the network may take.
    pub fn limits(&mut self, limits: LimitsSpec) {
        self.limits = limits;
    }

    /// Leaves out of totals and statistics what happens before.
    pub fn warm_up(&mut self, warm_up: SimTime) {
        self.warm_up = warm_up;
    }
}
