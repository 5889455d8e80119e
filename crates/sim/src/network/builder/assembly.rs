//! Assembly of a network from the parts that its builder has collected.

use leobench_base::{DirectionId, End, EndpointId, FlowId, NodeId, PortId, Protocol, SimTime};
use leobench_link::{Cause, Link, LinkOutput};
use leobench_transport::Outbox;
use rustc_hash::FxHashMap;
use typed_index_collections::{TiSlice, TiVec};

use super::{EndParts, FlowParts, LinkParts, NetworkBuilder, Sharing};
use crate::ledger::FlowLedger;
use crate::network::bounds::InstantWatch;
use crate::network::forwarding::{Forwarding, MOST_LINKS, MOST_NODES, Nat, idle_directions};
use crate::network::handover::{AccessStore, Forecaster};
use crate::network::observe::{LinkView, NetworkEvent, Observer, ObserverParts, StallWatch};
use crate::network::packets::PacketStore;
use crate::network::schedule::{Census, Entity, Schedule};
use crate::network::transit::Transit;
use crate::network::transmitters::SharedTransmitters;
use crate::network::windows::Windows;
use crate::network::{ChannelSlot, EndpointSlot, FlowSlot, Network, NetworkError};
use crate::record::Names;
use crate::routes::Edge;

/// The flows with their ends, and the subscribers to what becomes of their data.
#[derive(Default)]
struct Flows {
    slots: TiVec<FlowId, FlowSlot>,
    endpoints: TiVec<EndpointId, EndpointSlot>,
    listeners: FxHashMap<(NodeId, Protocol, u16), EndpointId>,
    ledgers: TiVec<FlowId, FlowLedger>,
    stalls: TiVec<FlowId, Option<StallWatch>>,
}

impl Flows {
    fn new(flows: TiVec<FlowId, FlowParts>, nodes: &TiSlice<NodeId, String>) -> Self {
        let mut all = Self::default();
        for flow in flows {
            all.add(flow, nodes);
        }
        all
    }

    fn add(&mut self, flow: FlowParts, nodes: &TiSlice<NodeId, String>) {
        let number = self.slots.next_key();
        let at = flow.ends.each_ref().map(|end| end.node);
        let [sender, receiver] = flow.ends;
        let ends = [(End::Sender, sender), (End::Receiver, receiver)];
        let ends = ends.map(|(end, parts)| self.add_end(number, end, parts, nodes));
        let FlowParts { names, application, ledger, stalls, .. } = flow;
        let multiplexes = application.multiplexes();
        self.slots.push(FlowSlot { name: names.name, application, multiplexes, ends, nodes: at });
        self.ledgers.push(ledger);
        self.stalls.push(stalls);
    }

    fn add_end(
        &mut self,
        flow: FlowId,
        end: End,
        parts: EndParts,
        nodes: &TiSlice<NodeId, String>,
    ) -> EndpointId {
        let EndParts { endpoint, node, protocol, port } = parts;
        let slot = EndpointSlot { endpoint, node, protocol, flow, end, last_route: None };
        let id = self.endpoints.push_and_get_key(slot);
        let before = self.listeners.insert((node, protocol, port), id);
        assert!(before.is_none(), "port {port} of {} is taken", nodes[node]);
        id
    }
}

impl NetworkBuilder {
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
        let (names, idle, forwarding) = (self.names(), self.idle(), self.forwarding());
        let views = self.directions.iter().map(|parts| LinkView::new(&parts.config)).collect();
        let nats = nats(self.nodes.len(), self.nats);
        let egress_at = egress_at(self.nodes.len(), &self.ports);
        let mut directions = links(self.directions, &self.channels, !self.topologies.is_empty());
        let transmitters = self.sharing.map(|Sharing { links, causes, factory }| {
            SharedTransmitters::new(factory, causes, &links, &mut directions)
        });
        let transit = self.transit.map(|plan| Box::new(Transit::new(plan, &mut directions)));
        let flows = Flows::new(self.flows, &self.nodes);
        let census = Census {
            topologies: self.topologies.len(),
            channels: self.channels.len(),
            directions: directions.len(),
            flows: flows.slots.len(),
            endpoints: flows.endpoints.len(),
        };
        let observer = Observer::new(ObserverParts {
            settings: self.settings,
            names,
            sink: self.sink,
            trace: self.trace,
            ledgers: flows.ledgers,
            stalls: flows.stalls,
            directions: views,
            idle,
            flows: flows.slots.iter().map(|flow| flow.nodes).collect(),
            several_paths: self.several_paths,
            warm_up: self.warm_up,
        });
        let forecasters = self.forecasts.into_iter();
        let forecasters = forecasters.map(|(flow, config)| Forecaster::new(flow, config));
        let mut network = Network {
            now: SimTime::ZERO,
            wakes: Schedule::new(census),
            topologies: self.topologies,
            forecasters: forecasters.collect(),
            access: AccessStore::new(self.access_links, self.cross_layers),
            channels: self.channels,
            directions,
            transmitters,
            transit,
            forwarding,
            nats,
            flows: flows.slots,
            endpoints: flows.endpoints,
            listeners: flows.listeners,
            ports: self.ports,
            egress: Vec::new(),
            egress_at,
            ends_outside: self.ends_outside,
            observer,
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
            windows: Windows::new(census.flows),
        };
        network.start()?;
        network.choose_windows(self.plugins);
        Ok(network)
    }

    /// The addresses and routes, with all links active.
    fn forwarding(&self) -> Forwarding {
        let edges = self.directions.iter().map(|parts| Edge {
            from: parts.ends[0],
            to: parts.ends[1],
            delay: parts.config.delay,
        });
        Forwarding::new(self.nodes.len(), edges.collect())
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
            stations: self.stations.clone(),
        }
    }
}

/// By node, the translation of addresses there.
fn nats(nodes: usize, outside: Vec<(NodeId, Vec<DirectionId>)>) -> TiVec<NodeId, Option<Nat>> {
    let mut nats: TiVec<NodeId, Option<Nat>> = (0..nodes).map(|_| None).collect();
    for (node, outside) in outside {
        nats[node] = Some(Nat::new(outside));
    }
    nats
}

/// By node, the port where packets leave that no endpoint takes.
fn egress_at(nodes: usize, ports: &TiVec<PortId, NodeId>) -> TiVec<NodeId, Option<PortId>> {
    let mut egress_at: TiVec<_, _> = (0..nodes).map(|_| None).collect();
    for (port, node) in ports.iter_enumerated() {
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
    let links = parts.into_iter_enumerated().zip(serving).map(|((direction, parts), serving)| {
        let channel = &serving.expect("every link has a channel").channel;
        let mut link = Link::new(parts.config, channel.state_of(direction.direction()));
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
                let state = slot.channel.state_of(direction.direction());
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
        self.start_topologies()?;
        for (flow, slot) in self.flows.iter_enumerated() {
            self.wakes.set(Entity::Application(flow), slot.application.next_wake());
        }
        for endpoint in self.endpoints.keys() {
            self.wakes.set(Entity::Endpoint(endpoint), Some(SimTime::ZERO));
        }
        self.wakes.set(Entity::Forecasts, self.next_forecast());
        self.wakes.set(Entity::Observer, Some(self.observer.next_wake()));
        Ok(())
    }
}
