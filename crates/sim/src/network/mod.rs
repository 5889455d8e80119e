//! The network as one state machine: nodes, links, channels, and the flows between the nodes.
//!
//! Nothing in it reads a clock or waits. A driver hands it the time with [`Network::advance`] and learns from
//! [`Network::next_wake`] when something is due next; how fast that time comes is the driver's affair.
//!
//! Simultaneous events are ordered by class, then by number within the class: the topology moves, channels change, packets arrive,
//! applications write, endpoints act, samples are taken.

pub(crate) mod application;
mod builder;
mod edge;
mod end;
mod fates;
mod forecasts;
mod forwarding;
mod handovers;
mod idle;
mod instant;
mod limits;
mod losses;
mod motion;
mod nat;
mod nat_errors;
mod observe;
mod places;
mod ready;
mod schedule;
mod stalls;
mod store;
mod wake;
mod way;

use std::net::SocketAddr;

use leobench_base::{
    Descriptor, Destination, DirectionId, End, EndpointId, FlowId, Meta, NodeId, Packet, PortId,
    Protocol, SimTime,
};
use leobench_link::{Cause, Channel, Link, LinkOutput};
use leobench_transport::{Endpoint, EndpointError, Input, Outbox};
use rustc_hash::FxHashMap;
use typed_index_collections::TiVec;

pub use application::{Action, Application, ObjectTimes};
pub use builder::{EndParts, FlowParts, NetworkBuilder};
pub use edge::Egress;
use forecasts::Forecaster;
use forwarding::{Forwarding, Hop};
pub(crate) use handovers::{
    AFTERMATH, Crossing, FlowCrossings, HandoverTimes, MOVING, Milestones, STEP as HANDOVER_STEP,
};
pub use instant::InstantError;
use instant::InstantWatch;
pub use limits::LimitError;
pub use losses::LossTotals;
pub(crate) use losses::Repeat;
use motion::Held;
use nat::Nat;
use observe::Observer;
pub use places::{HostAddresses, Interface, host_addresses};
use schedule::{Entity, Schedule};
pub use stalls::{Stall, StallWatch};
use store::PacketStore;
use way::Way;

use crate::capture::{CaptureError, Captures, Passage};
use crate::limits::LimitsSpec;
use crate::record::{Location, PacketEvent, SinkError};
use crate::topology::{Change, Topology};

/// A network with everything in it.
pub struct Network {
    now: SimTime,
    wakes: Schedule,
    topologies: Vec<Box<dyn Topology>>,
    /// By flow that is told what its topologies will do.
    forecasters: Vec<Forecaster>,
    channels: Vec<ChannelSlot>,
    directions: TiVec<DirectionId, Link>,
    forwarding: Forwarding,
    nats: TiVec<NodeId, Option<Nat>>,
    flows: TiVec<FlowId, FlowSlot>,
    endpoints: TiVec<EndpointId, EndpointSlot>,
    /// Endpoints by node, protocol and port.
    listeners: FxHashMap<(NodeId, Protocol, u16), EndpointId>,
    ports: TiVec<PortId, edge::Port>,
    /// By node, where packets leave that no endpoint is there for.
    egress_at: TiVec<NodeId, Option<PortId>>,
    /// Whether the packets of all endpoints enter and leave through ports: endpoints send and receive on sockets outside.
    ends_outside: bool,
    observer: Observer,
    captures: Option<Captures>,
    /// The packets in the network; links carry their descriptors.
    store: PacketStore,
    /// Packets that have entered it.
    packets: u64,
    /// A flow that was not drained when that was last asked.
    open_flow: FlowId,
    limits: LimitsSpec,
    steps: u64,
    /// The step before which its size is held against the limits.
    check_at: u64,
    /// Whether time passes.
    instant: InstantWatch,
    link_output: LinkOutput,
    outbox: Outbox,
    actions: Vec<Action>,
    changes: Vec<Change>,
    /// Packets of links that were left, until there is a way for them.
    held: Vec<Held>,
}

/// A channel and the directions of links that follow it.
struct ChannelSlot {
    channel: Box<dyn Channel>,
    directions: Vec<DirectionId>,
}

struct EndpointSlot {
    endpoint: Box<dyn Endpoint>,
    node: NodeId,
    protocol: Protocol,
    flow: FlowId,
    end: End,
    /// The way of the last packet that it sent, as most go the same way.
    way: Option<Way>,
}

struct FlowSlot {
    name: String,
    application: Box<dyn Application>,
    /// By [`End`].
    ends: [EndpointId; 2],
    nodes: [NodeId; 2],
}

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// A flow failed.
    #[error("flow `{flow}`: {error}")]
    Flow {
        /// Its name.
        flow: String,
        /// Error of the endpoint.
        error: EndpointError,
    },
    /// It takes more than it may.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// Time does not pass any more.
    #[error(transparent)]
    Instant(#[from] InstantError),
    /// Results could not be written.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// Packet captures could not be written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
}

impl Network {
    /// When something is due next; `None` if nothing ever will be.
    pub fn next_wake(&self) -> Option<SimTime> {
        self.wakes.next_time()
    }

    /// The time it was last advanced to.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Packets that endpoints have sent into it.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Whether all applications have finished and every message was delivered, or lost where nothing sends it again.
    pub fn is_drained(&mut self) -> bool {
        let is_open = |flow: FlowId| {
            !self.flows[flow].application.is_finished() || !self.observer.is_drained(flow)
        };
        // The flow that was open last most likely still is: whoever asks at every event does not look at all of them.
        if self.flows.get(self.open_flow).is_some() && is_open(self.open_flow) {
            return false;
        }
        let open = self.flows.keys().find(|flow| is_open(*flow));
        self.open_flow = open.unwrap_or(self.open_flow);
        open.is_none()
    }

    /// Works off the next thing due, if it is due at or before `to`; whether there was one.
    ///
    /// # Errors
    /// If a flow fails, results cannot be written, or the run takes more than its limits.
    pub fn step(&mut self, to: SimTime) -> Result<bool, NetworkError> {
        let Some((time, entity)) = self.wakes.next().filter(|(time, _)| *time <= to) else {
            self.now = self.now.max(to);
            return Ok(false);
        };
        self.wakes.begin(time);
        self.now = time;
        self.steps += 1;
        if self.steps >= self.check_at {
            self.look_around(entity)?;
        }
        if self.observer.ends_warm_up(time) {
            let senders = self.senders();
            self.observer.end_warm_up(&mut self.directions, senders);
        }
        match entity {
            Entity::Topology(topology) => self.move_on(topology),
            Entity::Channel(channel) => self.change(channel),
            Entity::Direction(direction) => self.transmit(direction),
            Entity::Application(flow) => self.write(flow),
            Entity::Forecasts => self.tell_forecasts(),
            Entity::Endpoint(endpoint) => self.poll(endpoint),
            Entity::Observer => self.sample(),
        }?;
        Ok(true)
    }

    /// Ends a run that takes more than it may, or goes on for ever.
    #[inline(never)]
    fn look_around(&mut self, entity: Entity) -> Result<(), NetworkError> {
        self.check_limits(&self.limits)?;
        let every = self.look_every();
        match self.instant.look(self.steps, self.now, entity, every) {
            Some(steps) => self.check_at = self.steps + steps,
            None => return Err(self.endless_instant().into()),
        }
        Ok(())
    }

    /// Works off everything due up to and including `to`.
    ///
    /// # Errors
    /// If a flow fails, or results cannot be written.
    pub fn advance(&mut self, to: SimTime) -> Result<(), NetworkError> {
        while self.step(to)? {}
        Ok(())
    }

    /// A channel changes: its links follow.
    #[inline(never)]
    fn change(&mut self, channel: usize) -> Result<(), NetworkError> {
        let was_up = self.channels[channel].channel.state().up;
        self.channels[channel].channel.advance(self.now);
        let is_up = self.channels[channel].channel.state().up;
        for index in 0..self.channels[channel].directions.len() {
            let slot = &self.channels[channel];
            let (direction, state) = (slot.directions[index], slot.channel.state());
            self.directions[direction].set_channel(self.now, state, &mut self.link_output);
            self.wakes.set(Entity::Direction(direction), self.directions[direction].next_wake());
            self.observer.channel(self.now, direction, state)?;
            self.deliver(direction)?;
            if was_up != is_up {
                self.tell_topologies(direction);
            }
        }
        self.wakes.set(Entity::Channel(channel), self.channels[channel].channel.next_change());
        self.observer.paths(self.now, &self.channels[channel].directions)?;
        Ok(())
    }

    /// A direction of a link ends a transmission, or packets reach its far end.
    fn transmit(&mut self, direction: DirectionId) -> Result<(), NetworkError> {
        self.directions[direction].advance(self.now, &mut self.link_output);
        self.wakes.set(Entity::Direction(direction), self.directions[direction].next_wake());
        self.deliver(direction)
    }

    /// Passes on what a link has put out.
    #[inline]
    fn deliver(&mut self, direction: DirectionId) -> Result<(), NetworkError> {
        if !self.link_output.fates.is_empty() {
            self.account_drops_and_marks(direction)?;
        }
        if self.link_output.arrivals.is_empty() { Ok(()) } else { self.hand_over(direction) }
    }

    /// Passes on the packets that have reached the far end of a link.
    fn hand_over(&mut self, direction: DirectionId) -> Result<(), NetworkError> {
        let node = self.forwarding.edge(direction).to;
        let mut arrivals = std::mem::take(&mut self.link_output.arrivals);
        for packet in arrivals.drain(..) {
            if self.observer.packets {
                self.observer.packet(self.now, direction, &packet.meta, PacketEvent::Deliver)?;
            }
            self.forward(node, packet)?;
        }
        self.link_output.arrivals = arrivals;
        Ok(())
    }

    /// A packet is at a node: it has arrived, or goes on over the next link.
    fn forward(&mut self, node: NodeId, packet: Descriptor) -> Result<(), NetworkError> {
        match self.forwarding.hop(node, packet.meta.label.to) {
            Hop::Here => self.arrive(node, packet),
            Hop::Over(direction) => self.leave_by(node, direction, packet),
            Hop::Nowhere => self.drop_at_node(node, packet, Cause::NO_ROUTE),
        }
    }

    /// A packet leaves a node by a link, translated where the node does that.
    fn leave_by(
        &mut self,
        node: NodeId,
        direction: DirectionId,
        mut packet: Descriptor,
    ) -> Result<(), NetworkError> {
        if self.is_outside(node, direction)
            // What waited for another link when that was left has been translated already.
            && let Meta { source, protocol, .. } = self.store.get(&packet).meta
            && self.forwarding.bound_to(node, source.ip()).is_none()
        {
            let port =
                if protocol == Protocol::ICMP && self.error_leaves(node, direction, &mut packet) {
                    Some(0)
                } else {
                    self.nats[node].as_mut().and_then(|nat| nat.leave(direction, protocol, source))
                };
            let Some(port) = port else {
                return self.drop_at_node(node, packet, Cause::NO_PORT);
            };
            let outside = Forwarding::interface_address(direction);
            self.store.change(&mut packet, |Packet { meta, .. }| {
                meta.source = SocketAddr::new(outside, port);
                meta.label(meta.label.flow, meta.label.to);
            });
        }
        if self.observer.packets {
            self.observer.packet(self.now, direction, &packet.meta, PacketEvent::Enqueue)?;
        }
        self.directions[direction].enqueue(self.now, packet, &mut self.link_output);
        self.wakes.set(Entity::Direction(direction), self.directions[direction].next_wake());
        // At the very instant this packet comes in, another one may reach the far end.
        self.deliver(direction)
    }

    /// A packet has reached the node that it is addressed to.
    fn arrive(&mut self, node: NodeId, mut packet: Descriptor) -> Result<(), NetworkError> {
        if let Some(inside) = self.translated(node, &mut packet) {
            let to = self.forwarding.destination(inside.ip());
            self.forwarding.expect(to);
            self.store.change(&mut packet, |Packet { meta, .. }| {
                meta.destination = inside;
                meta.label(meta.label.flow, to);
            });
            return self.forward(node, packet);
        }
        // The outside addresses of a translating node stand for nobody on it.
        if matches!(packet.meta.label.to, Destination::Interface(direction) if self.is_outside(node, direction))
        {
            return self.drop_at_node(node, packet, Cause::NO_PORT);
        }
        let Meta { protocol, destination, .. } = self.store.get(&packet).meta;
        let listener = self.listeners.get(&(node, protocol, destination.port()));
        let Some(&endpoint) = listener.filter(|_| !self.ends_outside) else {
            return self.leave_network(node, packet);
        };
        let packet = self.store.end(packet);
        if let Some(captures) = &mut self.captures {
            captures.record(self.now, endpoint, Passage::Inbound, packet)?;
        }
        self.wakes.set(Entity::Endpoint(endpoint), Some(self.now));
        let EndpointSlot { endpoint, flow, .. } = &mut self.endpoints[endpoint];
        let done = endpoint.input(self.now, Input::Packet(packet));
        let flow = *flow;
        done.map_err(|error| self.flow_error(flow, error))
    }

    fn input(&mut self, endpoint: EndpointId, input: Input<'_>) -> Result<(), NetworkError> {
        self.wakes.set(Entity::Endpoint(endpoint), Some(self.now));
        let slot = &mut self.endpoints[endpoint];
        let done = slot.endpoint.input(self.now, input);
        let flow = slot.flow;
        done.map_err(|error| self.flow_error(flow, error))
    }

    /// The applications of a flow do what is due.
    #[inline(never)]
    fn write(&mut self, flow: FlowId) -> Result<(), NetworkError> {
        let mut actions = std::mem::take(&mut self.actions);
        let FlowSlot { application, ends, .. } = &mut self.flows[flow];
        let ends = *ends;
        application.advance(self.now, &mut actions);
        self.wakes.set(Entity::Application(flow), application.next_wake());
        for action in actions.drain(..) {
            match action {
                Action::Create { stream, message } => self.observer.created(flow, stream, message),
                Action::Write { end, stream, message } => {
                    self.input(ends[end as usize], Input::Message { stream, message })?;
                }
                Action::Finish { end } => self.input(ends[end as usize], Input::Finish)?,
            }
        }
        self.actions = actions;
        Ok(())
    }

    /// An endpoint acts.
    fn poll(&mut self, endpoint: EndpointId) -> Result<(), NetworkError> {
        let slot = &mut self.endpoints[endpoint];
        let (flow, end) = (slot.flow, slot.end);
        let wake = match slot.endpoint.poll(self.now, &mut self.outbox) {
            Ok(wake) => wake,
            Err(error) => return Err(self.flow_error(flow, error)),
        };
        self.wakes.set(Entity::Endpoint(endpoint), wake);
        // Most of the outbox is empty most of the time, which is cheaper to see than to drain.
        if !self.outbox.addresses.is_empty() {
            for address in self.outbox.addresses.drain(..) {
                self.listeners.insert((slot.node, slot.protocol, address.port()), endpoint);
            }
        }
        let application = &mut self.flows[flow].application;
        for report in self.outbox.reports.drain(..) {
            if application::reports_data(end, report) {
                self.observer.report(self.now, flow, report)?;
            }
            if application.on_report(self.now, end, report) {
                self.wakes.set(Entity::Application(flow), application.next_wake());
            }
        }
        let Outbox { events, verdicts, moves, .. } = &self.outbox;
        if !events.is_empty() || !verdicts.is_empty() || !moves.is_empty() {
            self.note(flow, end)?;
        }
        self.observer.acted(self.now, flow, end, &*self.endpoints[endpoint].endpoint);
        if self.outbox.packets.is_empty() {
            return Ok(());
        }
        let mut packets = std::mem::take(&mut self.outbox.packets);
        for packet in packets.drain(..) {
            self.send(endpoint, packet)?;
        }
        self.outbox.packets = packets;
        Ok(())
    }

    /// Passes on the events, moves and verdicts of an endpoint that has acted.
    #[cold]
    fn note(&mut self, flow: FlowId, end: End) -> Result<(), NetworkError> {
        let moves = !self.outbox.moves.is_empty();
        let moves = moves || self.outbox.events.iter().any(|event| event.kind == "path");
        for event in self.outbox.events.drain(..) {
            self.observer.event(self.now, flow, end, &event)?;
        }
        for step in self.outbox.moves.drain(..) {
            self.observer.moved(self.now, flow, end, step);
        }
        for verdict in self.outbox.verdicts.drain(..) {
            self.observer.concluded(self.now, flow, end, verdict)?;
        }
        if moves { self.follow_paths(flow) } else { Ok(()) }
    }

    /// Samples are taken.
    #[inline(never)]
    fn sample(&mut self) -> Result<(), NetworkError> {
        let senders = self.flows.iter().map(|flow| flow.ends[End::Sender as usize]);
        let senders = senders.map(|sender| &*self.endpoints[sender].endpoint);
        self.observer.sample(self.now, &self.directions, senders)?;
        self.wakes.set(Entity::Observer, Some(self.observer.next_wake()));
        Ok(())
    }

    /// Replaces one direction of a link, at the start of a run.
    #[cfg(test)]
    pub(crate) fn replace_direction(&mut self, direction: DirectionId, link: Link) {
        self.directions[direction] = link;
    }

    #[cold]
    fn flow_error(&self, flow: FlowId, error: EndpointError) -> NetworkError {
        NetworkError::Flow { flow: self.flows[flow].name.clone(), error }
    }
}
