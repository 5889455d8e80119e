//! The network as one state machine: nodes, links, channels, and the flows between the nodes.
//!
//! Nothing in it reads a clock or waits. A driver hands it the time with [`Network::advance`] and learns from
//! [`Network::next_wake`] when something is due next; how fast that time comes is the driver's affair.
//!
//! Simultaneous events are ordered by class, then by number within the class: the topology moves, channels change, packets arrive,
//! applications write, endpoints act, samples are taken.

pub(crate) mod application;
mod bounds;
mod builder;
mod end;
mod forwarding;
mod handover;
mod observe;
mod packets;
mod schedule;
mod transit;
mod transmitters;
mod windows;

use leobench_base::{DirectionId, End, EndpointId, FlowId, NodeId, PortId, Protocol, SimTime};
use leobench_link::{Channel, Link, LinkOutput};
use leobench_transport::endpoint::Report;
use leobench_transport::{Endpoint, EndpointError, Input, Outbox};
use rustc_hash::FxHashMap;
use typed_index_collections::TiVec;

pub use application::{
    Action, Application, ApplicationError, Called, ObjectTimes, PageTimes, Watched,
};
use bounds::InstantWatch;
pub use bounds::{InstantError, LimitError};
pub use builder::{EndParts, FlowParts, NetworkBuilder};
pub(crate) use end::Ended;
use forwarding::{Forwarding, Nat};
pub use forwarding::{HostAddresses, Interface, host_addresses};
use handover::{AccessStore, Forecaster, Held};
pub(crate) use observe::{
    AFTERMATH, Crossing, FirstOffer, FlowCrossings, HANDOVER_STEP, HandoverTimes, MOVING,
    Milestones, Repeat,
};
pub use observe::{LossTotals, PacketTrace, Stall, StallWatch};
use observe::{NetworkEvent, Observer};
pub use packets::Egress;
use packets::{PacketStore, SendRoute};
use schedule::{Entity, Schedule};
use transit::Transit;
pub use transit::{
    HopFactory, HopKey, HopParts, HopRate, HopTransmitter, Radio, Sharing, TransitPlan,
    TransitRoute,
};
pub(crate) use transit::{HopTotals, TransitTotals};
use transmitters::SharedTransmitters;
pub(crate) use transmitters::TransmitterTotals;
pub use transmitters::{QueueFactory, QueueRequest, Way};
use windows::Windows;

use crate::capture::{CaptureError, Captures};
use crate::limits::LimitsSpec;
use crate::record::SinkError;
use crate::topology::{Change, Topology};

/// A network with everything in it.
pub struct Network {
    now: SimTime,
    wakes: Schedule,
    topologies: Vec<Box<dyn Topology>>,
    /// By flow that is told what its topologies will do.
    forecasters: Vec<Forecaster>,
    /// Knowledge of link layers for the flows that are told of it.
    access: AccessStore,
    channels: Vec<ChannelSlot>,
    directions: TiVec<DirectionId, Link>,
    /// Those that several links share, if there are any.
    transmitters: Option<SharedTransmitters>,
    /// The network in orbit, if packets take hops there.
    transit: Option<Box<Transit>>,
    forwarding: Forwarding,
    nats: TiVec<NodeId, Option<Nat>>,
    flows: TiVec<FlowId, FlowSlot>,
    endpoints: TiVec<EndpointId, EndpointSlot>,
    /// Endpoints by node, protocol and port.
    listeners: FxHashMap<(NodeId, Protocol, u16), EndpointId>,
    /// The nodes of the ports.
    ports: TiVec<PortId, NodeId>,
    /// Events for the world outside that have not been taken.
    egress: Vec<Egress>,
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
    windows: Windows,
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
    /// The route of the last packet that it sent, as most take the same.
    last_route: Option<SendRoute>,
}

struct FlowSlot {
    name: String,
    application: Box<dyn Application>,
    /// Whether its streams share one of the transport.
    multiplexes: bool,
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
    /// An application of a flow failed.
    #[error("flow `{flow}`: {error}")]
    Application {
        /// Its name.
        flow: String,
        /// Error of the application.
        error: ApplicationError,
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

    /// Whether all applications have finished and every message was delivered, or lost where nothing sends it again. Messages
    /// without an end do not count.
    pub fn is_drained(&mut self) -> bool {
        let is_open = |flow: FlowId| {
            !self.flows[flow].application.is_finished() || self.observer.is_awaited(flow)
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
    #[expect(clippy::inline_always, reason = "the loop of a run is as short as this")]
    #[inline(always)]
    pub fn step(&mut self, to: SimTime) -> Result<bool, NetworkError> {
        let Some((time, entity)) = self.wakes.next().filter(|(time, _)| *time <= to) else {
            self.now = self.now.max(to);
            return Ok(false);
        };
        self.wakes.begin(time);
        self.now = time;
        self.count_step(entity)?;
        if self.observer.ends_warm_up(time) {
            self.end_warm_up();
        }
        match entity {
            Entity::Topology(topology) => self.move_on(topology),
            Entity::Channel(channel) => self.change(channel),
            Entity::Transmitters => self.serve_shared(),
            Entity::Transit => self.serve_transit(),
            Entity::Direction(direction) => self.transmit(direction),
            Entity::Application(flow) => self.write(flow),
            Entity::Forecasts => self.tell_forecasts(),
            Entity::Endpoint(endpoint) => self.poll(endpoint),
            Entity::Observer => self.sample(),
        }?;
        Ok(true)
    }

    /// Totals count anew from here on.
    #[cold]
    fn end_warm_up(&mut self) {
        let states = self.flow_states();
        self.observer.end_warm_up(&mut self.directions, states);
        if let Some(shared) = &mut self.transmitters {
            shared.restart(self.now);
        }
        if let Some(transit) = &mut self.transit {
            transit.restart(self.now);
        }
    }

    /// Counts a step, and looks around now and then.
    #[inline]
    fn count_step(&mut self, entity: Entity) -> Result<(), NetworkError> {
        self.steps += 1;
        if self.steps < self.check_at { Ok(()) } else { self.look_around(entity) }
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
        self.channels[channel].channel.advance(self.now);
        for index in 0..self.channels[channel].directions.len() {
            let slot = &self.channels[channel];
            let direction = slot.directions[index];
            let state = slot.channel.state_of(direction.direction());
            let (was_up, is_up) = (self.observer.is_up(direction), state.up);
            self.directions[direction].set_channel(self.now, state, &mut self.link_output);
            self.wakes.set(Entity::Direction(direction), self.directions[direction].next_wake());
            self.observer.emit(self.now, NetworkEvent::Channel { direction, state })?;
            self.deliver(direction)?;
            if was_up != is_up {
                self.tell_topologies(direction);
            }
        }
        self.wakes.set(Entity::Channel(channel), self.channels[channel].channel.next_change());
        let directions = &self.channels[channel].directions;
        Ok(self.observer.emit(self.now, NetworkEvent::Offers { directions })?)
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
        let FlowSlot { name, application, ends, .. } = &mut self.flows[flow];
        let ends = *ends;
        application
            .advance(self.now, &mut actions)
            .map_err(|error| NetworkError::Application { flow: name.clone(), error })?;
        self.wakes.set(Entity::Application(flow), application.next_wake());
        for action in actions.drain(..) {
            match action {
                Action::Create { stream, message } => {
                    let created = NetworkEvent::Created { flow, stream, message };
                    self.windows.pass(self.now, created, &mut self.observer)?;
                }
                Action::Write { end, stream, message } => {
                    self.input(ends[end as usize], Input::Message { stream, message })?;
                }
                Action::Datagram { end, datagram, created } => {
                    self.input(ends[end as usize], Input::Datagram { datagram, created })?;
                }
                Action::Open { end, stream } => {
                    self.input(ends[end as usize], Input::Open { stream })?;
                }
                Action::Cancel { stream, message, written } => {
                    let report = Report::Cancelled { stream, message, sent: written };
                    let cancelled = NetworkEvent::Progress { flow, report };
                    self.windows.pass(self.now, cancelled, &mut self.observer)?;
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
        if self.flows[flow].multiplexes {
            self.demultiplex(flow, end);
        }
        let application = &mut self.flows[flow].application;
        for report in self.outbox.reports.drain(..) {
            if application::reports_data(end, report) {
                let progress = NetworkEvent::Progress { flow, report };
                self.windows.pass(self.now, progress, &mut self.observer)?;
            }
            if application.on_report(self.now, end, report) {
                self.wakes.set(Entity::Application(flow), application.next_wake());
            }
        }
        let Outbox { events, verdicts, moves, .. } = &self.outbox;
        if !events.is_empty() || !verdicts.is_empty() || !moves.is_empty() {
            self.note(flow, end)?;
        }
        let acted = &*self.endpoints[endpoint].endpoint;
        self.observer.emit(self.now, NetworkEvent::Acted { flow, end, endpoint: acted })?;
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

    /// Puts reports about the streams of a flow in place of those about the one of its transport.
    #[cold]
    fn demultiplex(&mut self, flow: FlowId, end: End) {
        let application = &mut self.flows[flow].application;
        if application.demultiplex(self.now, end, &mut self.outbox.reports) {
            self.wakes.set(Entity::Application(flow), application.next_wake());
        }
    }

    /// Passes on the events, moves and verdicts of an endpoint that has acted.
    #[cold]
    fn note(&mut self, flow: FlowId, end: End) -> Result<(), NetworkError> {
        let moves = !self.outbox.moves.is_empty();
        let moves = moves || self.outbox.events.iter().any(|event| event.kind == "path");
        for event in self.outbox.events.drain(..) {
            let event = NetworkEvent::Endpoint { flow, end, event: &event };
            self.windows.pass(self.now, event, &mut self.observer)?;
        }
        for step in self.outbox.moves.drain(..) {
            let event = NetworkEvent::Moved { flow, end, step };
            self.windows.pass(self.now, event, &mut self.observer)?;
        }
        for verdict in self.outbox.verdicts.drain(..) {
            let concluded = NetworkEvent::Concluded { flow, end, verdict };
            self.windows.pass(self.now, concluded, &mut self.observer)?;
        }
        if !moves {
            return Ok(());
        }
        let paths = self.named_paths(flow);
        if self.windows.keeps_paths(self.now, flow, &paths) {
            return Ok(());
        }
        self.follow_paths(flow, &paths)
    }

    /// Samples are taken.
    #[inline(never)]
    fn sample(&mut self) -> Result<(), NetworkError> {
        let senders = self.flows.iter().map(|flow| {
            let sender = &*self.endpoints[flow.ends[End::Sender as usize]].endpoint;
            (sender, flow.application.send_buffer().or_else(|| sender.send_buffer()))
        });
        let shared = self.transmitters.iter().flat_map(SharedTransmitters::backlogs);
        let due = self.observer.sample(self.now, &self.directions, shared, senders)?;
        if let Some(transit) = self.transit.as_mut().filter(|_| due) {
            transit.sample(self.now, |row| self.observer.sample_hop(self.now, row))?;
        }
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
