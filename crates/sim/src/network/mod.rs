//! The network as one state machine: nodes, links, channels, and the flows between the nodes.
//!
//! Nothing in it reads a clock or waits. A driver hands it the time with [`Network::advance`] and learns from
//! [`Network::next_wake`] when something is due next; how fast that time comes is the driver's affair.
//!
//! Simultaneous events are ordered by class, then by number within the class: channels change, packets arrive,
//! applications write, endpoints act, samples are taken.

mod application;
mod build;
mod limits;
mod observe;
mod stalls;
mod wake;

use std::net::SocketAddr;

use leobench_base::{Body, LogHistogram, Meta, Packet, SimTime};
use leobench_link::{Channel, Drop, Link, LinkCounters, LinkOutput, Mark};
use leobench_transport::{Endpoint, EndpointError, Input, Outbox};
use rustc_hash::FxHashMap;

pub(crate) use application::ObjectTimes;
use application::{Action, Application, End};
pub use build::BuildError;
pub use limits::LimitError;
pub(crate) use observe::Observed;
use observe::{Observer, SenderState};
pub use stalls::Stall;
pub use wake::WakeTree;

use crate::capture::{CaptureError, Captures, Passage};
use crate::limits::LimitsSpec;
use crate::record::{PacketEvent, SinkError};
use crate::routes::Routes;

/// A network with everything in it.
pub struct Network {
    now: SimTime,
    wakes: WakeTree,
    layout: Layout,
    channels: Vec<ChannelSlot>,
    links: Vec<Link>,
    routes: Routes,
    flows: Vec<FlowSlot>,
    /// Both ends of every flow: the sender of flow f at 2f, its receiver at 2f + 1.
    endpoints: Vec<EndpointSlot>,
    addresses: FxHashMap<SocketAddr, usize>,
    observer: Observer,
    captures: Option<Captures>,
    packets: u64,
    limits: LimitsSpec,
    steps: u64,
    link_output: LinkOutput,
    outbox: Outbox,
    actions: Vec<Action>,
}

/// Which numbers in the wake tree belong to which class; classes in order of precedence at equal times.
#[derive(Clone, Copy, Debug)]
struct Layout {
    links: usize,
    applications: usize,
    endpoints: usize,
    observer: usize,
}

/// A channel and the links that follow it.
struct ChannelSlot {
    channel: Box<dyn Channel>,
    links: Vec<usize>,
}

struct EndpointSlot {
    endpoint: Box<dyn Endpoint>,
    node: usize,
}

struct FlowSlot {
    name: String,
    application: Box<dyn Application>,
}

/// A network at its end.
pub(crate) struct Ended {
    /// What was observed of it.
    pub(crate) observed: Observed,
    /// What the senders have done.
    pub(crate) senders: Vec<SenderState>,
    /// Totals and waiting times of the links.
    pub(crate) links: Vec<(LinkCounters, LogHistogram)>,
    /// By flow, what became of the objects of its page, if it has one.
    pub(crate) pages: Vec<Option<Vec<ObjectTimes>>>,
}

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// A flow failed.
    #[error("flow `{flow}`: {error}")]
    Flow {
        /// Its name.
        flow: String,
        /// What happened.
        error: EndpointError,
    },
    /// It takes more than it may.
    #[error(transparent)]
    Limit(#[from] LimitError),
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
        self.wakes.next().map(|(time, _)| time)
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
    pub fn is_drained(&self) -> bool {
        self.flows.iter().all(|flow| flow.application.is_finished()) && self.observer.is_drained()
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
        self.now = time;
        self.steps += 1;
        if self.steps.is_multiple_of(limits::EVERY) {
            self.check_limits(&self.limits)?;
        }
        if self.observer.ends_warm_up(time) {
            let senders = self.senders();
            self.observer.end_warm_up(&mut self.links, senders);
        }
        if entity >= self.layout.observer {
            self.sample()?;
        } else if entity >= self.layout.endpoints {
            self.poll(entity - self.layout.endpoints)?;
        } else if entity >= self.layout.applications {
            self.write(entity - self.layout.applications)?;
        } else if entity >= self.layout.links {
            self.transmit(entity - self.layout.links)?;
        } else {
            self.change(entity)?;
        }
        Ok(true)
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
    fn change(&mut self, channel: usize) -> Result<(), NetworkError> {
        self.channels[channel].channel.advance(self.now);
        for index in 0..self.channels[channel].links.len() {
            let slot = &self.channels[channel];
            let (link, state) = (slot.links[index], slot.channel.state());
            self.links[link].set_channel(self.now, state, &mut self.link_output);
            self.wakes.set(self.layout.links + link, self.links[link].next_wake());
            self.observer.channel(self.now, link, state)?;
            self.deliver(link)?;
        }
        self.wakes.set(channel, self.channels[channel].channel.next_change());
        self.observer.paths(self.now)?;
        Ok(())
    }

    /// A link ends a transmission, or packets reach its far end.
    fn transmit(&mut self, link: usize) -> Result<(), NetworkError> {
        self.links[link].advance(self.now, &mut self.link_output);
        self.wakes.set(self.layout.links + link, self.links[link].next_wake());
        self.deliver(link)
    }

    /// Passes on what a link has put out.
    fn deliver(&mut self, link: usize) -> Result<(), NetworkError> {
        if !self.link_output.fates.is_empty() {
            self.account_fates(link)?;
        }
        if self.link_output.arrivals.is_empty() {
            return Ok(());
        }
        let node = self.routes.edges()[link].to;
        let mut arrivals = std::mem::take(&mut self.link_output.arrivals);
        for packet in arrivals.drain(..) {
            if self.observer.packets {
                let flow = self.flow_of(&packet.meta);
                self.observer.packet(self.now, link, flow, &packet.meta, PacketEvent::Deliver)?;
            }
            self.forward(node, packet)?;
        }
        self.link_output.arrivals = arrivals;
        Ok(())
    }

    fn account_fates(&mut self, link: usize) -> Result<(), NetworkError> {
        let mut fates = std::mem::take(&mut self.link_output.fates);
        for Mark { meta, cause } in fates.marks.drain(..) {
            let flow = self.flow_of(&meta);
            self.observer.marked(self.now, link, flow, &meta, cause)?;
        }
        for Drop { packet, cause } in fates.drops.drain(..) {
            let flow = self.flow_of(&packet.meta);
            self.observer.dropped(self.now, link, flow, &packet.meta, cause)?;
            if let (Some(flow), Body::Datagram(datagram)) = (flow, &packet.body) {
                self.observer.lost(self.now, flow, datagram.stream, datagram.message)?;
            }
        }
        self.link_output.fates = fates;
        Ok(())
    }

    fn flow_of(&self, meta: &Meta) -> Option<usize> {
        self.addresses.get(&meta.destination).map(|endpoint| endpoint / 2)
    }

    /// A packet is at a node: it goes to an endpoint there, or over the next link towards one.
    fn forward(&mut self, node: usize, packet: Packet) -> Result<(), NetworkError> {
        let Some(&endpoint) = self.addresses.get(&packet.meta.destination) else {
            // An address that nobody has: as on any network, nobody receives it.
            return Ok(());
        };
        let target = self.endpoints[endpoint].node;
        if target == node {
            self.capture(endpoint, Passage::Inbound, &packet)?;
            return self.input(endpoint, Input::Packet(packet));
        }
        let Some(link) = self.routes.next_hop(node, target) else { return Ok(()) };
        if self.observer.packets {
            let flow = Some(endpoint / 2);
            self.observer.packet(self.now, link, flow, &packet.meta, PacketEvent::Enqueue)?;
        }
        self.links[link].enqueue(self.now, packet, &mut self.link_output);
        self.wakes.set(self.layout.links + link, self.links[link].next_wake());
        // At the very instant this packet comes in, another one may reach the far end.
        self.deliver(link)
    }

    /// A packet leaves an endpoint, or reaches it.
    fn capture(
        &mut self,
        endpoint: usize,
        passage: Passage,
        packet: &Packet,
    ) -> Result<(), CaptureError> {
        match &mut self.captures {
            Some(captures) => captures.record(self.now, endpoint, passage, packet),
            None => Ok(()),
        }
    }

    fn input(&mut self, endpoint: usize, input: Input) -> Result<(), NetworkError> {
        self.wakes.set(self.layout.endpoints + endpoint, Some(self.now));
        let done = self.endpoints[endpoint].endpoint.input(self.now, input);
        done.map_err(|error| self.flow_error(endpoint / 2, error))
    }

    /// The applications of a flow do what is due.
    fn write(&mut self, flow: usize) -> Result<(), NetworkError> {
        let mut actions = std::mem::take(&mut self.actions);
        let application = &mut self.flows[flow].application;
        application.advance(self.now, &mut actions);
        self.wakes.set(self.layout.applications + flow, application.next_wake());
        for action in actions.drain(..) {
            match action {
                Action::Create { stream, message } => self.observer.created(flow, stream, message),
                Action::Write { end, stream, message } => {
                    self.input(2 * flow + end as usize, Input::Message { stream, message })?;
                }
                Action::Finish { end } => self.input(2 * flow + end as usize, Input::Finish)?,
            }
        }
        self.actions = actions;
        Ok(())
    }

    /// An endpoint acts.
    fn poll(&mut self, endpoint: usize) -> Result<(), NetworkError> {
        let flow = endpoint / 2;
        let slot = &mut self.endpoints[endpoint];
        let node = slot.node;
        let wake = match slot.endpoint.poll(self.now, &mut self.outbox) {
            Ok(wake) => wake,
            Err(error) => return Err(self.flow_error(flow, error)),
        };
        self.wakes.set(self.layout.endpoints + endpoint, wake);
        let (end, application) = (End::of(endpoint), &mut self.flows[flow].application);
        for report in self.outbox.reports.drain(..) {
            if end.reports_data(report) {
                self.observer.report(self.now, flow, report)?;
            }
            if application.on_report(self.now, end, report) {
                self.wakes.set(self.layout.applications + flow, application.next_wake());
            }
        }
        for event in self.outbox.events.drain(..) {
            self.observer.event(self.now, endpoint, &event)?;
        }
        let mut packets = std::mem::take(&mut self.outbox.packets);
        for mut packet in packets.drain(..) {
            packet.meta.id = self.packets;
            self.packets += 1;
            self.capture(endpoint, Passage::Outbound, &packet)?;
            self.forward(node, packet)?;
        }
        self.outbox.packets = packets;
        Ok(())
    }

    /// Samples are taken.
    fn sample(&mut self) -> Result<(), NetworkError> {
        let endpoints = self.endpoints.iter().step_by(2).map(|slot| &*slot.endpoint);
        self.observer.sample(self.now, &mut self.links, endpoints)?;
        self.wakes.set(self.layout.observer, Some(self.observer.next_wake()));
        Ok(())
    }

    /// Takes the network apart at the end of a run.
    ///
    /// # Errors
    /// If results or what the endpoints wrote on the side cannot be written.
    pub(crate) fn finish(mut self) -> Result<Ended, NetworkError> {
        if let Some(captures) = self.captures.take() {
            captures.finish()?;
        }
        for endpoint in 0..self.endpoints.len() {
            let done = self.endpoints[endpoint].endpoint.finish();
            done.map_err(|error| self.flow_error(endpoint / 2, error))?;
        }
        let senders = self.senders();
        let Self { now, links, observer, flows, .. } = self;
        let pages = flows.iter().map(|flow| flow.application.page()).collect();
        let links = links.iter().map(|link| (link.counters(now), link.queue_delay().clone()));
        let links = links.collect();
        Ok(Ended { observed: observer.finish(now)?, senders, links, pages })
    }

    /// What the senders have done, by flow.
    fn senders(&self) -> Vec<SenderState> {
        let senders = self.endpoints.iter().step_by(2);
        senders.map(|slot| SenderState::of(self.now, &*slot.endpoint)).collect()
    }

    /// Puts another link in the place of one, at the start of a run.
    #[cfg(test)]
    pub(crate) fn replace_link(&mut self, number: usize, link: Link) {
        self.links[number] = link;
    }

    fn flow_error(&self, flow: usize, error: EndpointError) -> NetworkError {
        NetworkError::Flow { flow: self.flows[flow].name.clone(), error }
    }
}
