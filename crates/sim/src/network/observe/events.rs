//! The pipeline of results: the engine emits events, and subscribers turn them into numbers and rows.
//!
//! [`Observer::emit`] is the only way from the engine to results, and the methods below it name the subscribers of each event, in
//! order: the ledger of a flow (messages), [`Losses`](super::losses::Losses) (packets by what their sender concluded), the
//! [watch of handovers](super::handovers::HandoverWatch), the [watch of stalls](super::stalls::StallWatch), totals by cause, and the recorder.
//! The outcome of one subscriber may be an event for those behind it: the ledger turns reports into messages and delivered
//! bytes, `Losses` turns drops and verdicts into rows.

use std::fmt::Write as _;

use leobench_base::{
    Bytes, DirectionId, End, FlowId, Header, Meta, NodeId, SimDuration, SimTime, StreamIndex,
};
use leobench_link::{Cause, ChannelState};
use leobench_transport::Message;
use leobench_transport::endpoint::{Endpoint, Event, LossVerdict, MoveStep, PathId, Report};

use super::handovers::MOVING;
use super::{Addresses, Observer, PathRoutes};
use crate::record::{DropRow, Location, PacketEvent, PacketRow, SinkError};
use crate::topology::{HandoverStage, TransitWay};

/// Kind of the event that an end of a connection reports when its handshake is complete.
const ESTABLISHED: &str = "established";

/// Finds the routes of a path there and back, between these nodes and from and to these addresses.
pub(in crate::network) type FindRoutes<'a> = &'a dyn Fn([NodeId; 2], Addresses) -> PathRoutes;

/// Something that happened in the network, for its results.
#[derive(Clone, Copy)]
pub(in crate::network) enum NetworkEvent<'a> {
    /// A message of a flow came into being.
    Created { flow: FlowId, stream: StreamIndex, message: Message },
    /// Data of a flow was sent or delivered.
    Progress { flow: FlowId, report: Report },
    /// A message of a flow was lost with a datagram, for good.
    MessageLost { flow: FlowId, stream: StreamIndex, message: u64 },
    /// A packet entered a link, or left it at its far end after its queue had held it for so long.
    Packet {
        direction: DirectionId,
        meta: &'a Header,
        event: PacketEvent,
        queued: Option<SimDuration>,
    },
    /// A packet of a flow has reached the end that it is for, and was sent at `sent`.
    Arrived { flow: FlowId, meta: &'a Meta, sent: SimTime },
    /// A packet was dropped, after the link's queue had held it for so long.
    Dropped { location: Location, meta: &'a Meta, cause: Cause, queued: Option<SimDuration> },
    /// A packet goes on with a congestion mark.
    Marked { direction: DirectionId, meta: &'a Header, cause: Cause },
    /// An end of a flow concluded something about a packet that it sent.
    Concluded { flow: FlowId, end: End, verdict: LossVerdict },
    /// An end of a flow answered a change of the network.
    Moved { flow: FlowId, end: End, step: MoveStep },
    /// An end of a flow has acted.
    Acted { flow: FlowId, end: End, endpoint: &'a dyn Endpoint },
    /// An end of a flow reported an event of its own, or the network reports one about it.
    Endpoint { flow: FlowId, end: End, event: &'a Event },
    /// A stage of a handover is reached.
    Handover { topology: usize, stage: &'a HandoverStage },
    /// A link offers something else in one direction.
    Channel { direction: DirectionId, state: &'a ChannelState },
    /// Packets of a link take another way through the network in orbit, or none, from now on.
    Way { direction: DirectionId, way: Option<&'a TransitWay> },
    /// The changes of channels are complete: these directions offer something else.
    Offers { directions: &'a [DirectionId] },
    /// A flow uses these paths from now on; their routes are still to be found.
    Paths { flow: FlowId, paths: &'a [(PathId, Addresses)] },
    /// Packets take other routes from now on: those of all flows, or of one that has changed its addresses by itself.
    Rerouted { flow: Option<FlowId>, find: FindRoutes<'a> },
}

impl Observer {
    /// Passes an event to its subscribers. It is inlined so that the choice is made where the event is known.
    ///
    /// # Errors
    /// If a row cannot be written.
    #[expect(clippy::inline_always, reason = "packets pay for no choice between events")]
    #[inline(always)]
    pub(in crate::network) fn emit(
        &mut self,
        now: SimTime,
        event: NetworkEvent<'_>,
    ) -> Result<(), SinkError> {
        match event {
            NetworkEvent::Created { flow, stream, message } => self.created(flow, stream, message),
            NetworkEvent::Progress { flow, report } => return self.progress(now, flow, report),
            NetworkEvent::MessageLost { flow, stream, message } => {
                return self.message_lost(now, flow, stream, message);
            }
            NetworkEvent::Packet { direction, meta, event, queued } => {
                return self.packet(now, direction, meta, event, queued);
            }
            NetworkEvent::Arrived { flow, meta, sent } => self.arrived(now, flow, meta, sent),
            NetworkEvent::Dropped { location, meta, cause, queued } => {
                return self.dropped(now, location, meta, cause, queued);
            }
            NetworkEvent::Marked { direction, meta, cause } => {
                return self.marked(now, direction, meta, cause);
            }
            NetworkEvent::Concluded { flow, end, verdict } => {
                return self.concluded(now, flow, end, verdict);
            }
            NetworkEvent::Moved { flow, end, step } => self.moved(now, flow, end, step),
            NetworkEvent::Acted { flow, end, endpoint } => self.acted(now, flow, end, endpoint),
            NetworkEvent::Endpoint { flow, end, event } => {
                return self.endpoint(now, flow, end, event);
            }
            NetworkEvent::Handover { topology, stage } => {
                return self.handover(now, topology, stage);
            }
            NetworkEvent::Channel { direction, state } => {
                return self.channel(now, direction, state);
            }
            NetworkEvent::Way { direction, way } => {
                return self.recorder.way(now, direction, way);
            }
            NetworkEvent::Offers { directions } => return self.offers(now, directions),
            NetworkEvent::Paths { flow, paths } => return self.use_paths(now, flow, paths),
            NetworkEvent::Rerouted { flow: None, find } => return self.reroute(now, find),
            NetworkEvent::Rerouted { flow: Some(flow), find } => {
                return self.reroute_flow(now, flow, find);
            }
        }
        Ok(())
    }

    /// For the ledger and the watch of stalls.
    fn created(&mut self, flow: FlowId, stream: StreamIndex, message: Message) {
        self.routes[flow].start();
        self.settle(flow, |ledger, _| ledger.created(stream, message));
        if let Some(watch) = &mut self.stalls[flow] {
            watch.data_waits(message.created);
        }
    }

    /// For the watch of handovers and the ledger; delivered bytes for the watches, and messages for the recorder.
    fn progress(&mut self, now: SimTime, flow: FlowId, report: Report) -> Result<(), SinkError> {
        if let Some(watch) = &mut self.handovers {
            watch.progress(now, flow, report);
        }
        let arrived = match self.ledgers[flow].progress(now, report) {
            Some(0) => return Ok(()),
            Some(arrived) => arrived,
            None => self.settle(flow, |ledger, rows| ledger.report(now, report, rows)),
        };
        if arrived == 0 {
            if let (Report::Lost { .. } | Report::Cancelled { .. }, Some(watch)) =
                (report, &mut self.stalls[flow])
            {
                watch.given_up(!self.ledgers[flow].is_drained());
            }
        } else {
            if let Some(watch) = &mut self.stalls[flow] {
                let base_rtt = || self.routes[flow].base_rtt();
                watch.delivered(now, base_rtt, !self.ledgers[flow].is_drained());
            }
            if let Some(watch) = &mut self.handovers {
                let first = self.ledgers[flow].statistics().first_created();
                watch.delivered(now, flow, arrived, first);
            }
        }
        self.record_messages(flow)
    }

    /// For the ledger; messages for the recorder.
    fn message_lost(
        &mut self,
        now: SimTime,
        flow: FlowId,
        stream: StreamIndex,
        message: u64,
    ) -> Result<(), SinkError> {
        self.settle(flow, |ledger, rows| ledger.lost(now, stream, message, rows));
        self.record_messages(flow)
    }

    fn record_messages(&mut self, flow: FlowId) -> Result<(), SinkError> {
        for row in self.rows.drain(..) {
            self.recorder.message(flow, &row)?;
        }
        Ok(())
    }

    /// For the recorder.
    fn packet(
        &mut self,
        now: SimTime,
        direction: DirectionId,
        meta: &Header,
        event: PacketEvent,
        queued: Option<SimDuration>,
    ) -> Result<(), SinkError> {
        let location = Location::Link(direction);
        let (packet, size, flow) = (meta.id, meta.size, meta.label.flow);
        let row = PacketRow { packet, location, event, size, flow, queued };
        if let Some(trace) = &mut self.trace {
            trace.event(now, &row);
        }
        self.recorder.packet(now, &row)
    }

    /// For the delays by path.
    #[inline]
    fn arrived(&mut self, now: SimTime, flow: FlowId, meta: &Meta, sent: SimTime) {
        if self.warm {
            self.path_delays[flow].arrived(now, meta, sent);
        }
    }

    /// For the totals, the watch of handovers, `Losses` and the recorder.
    fn dropped(
        &mut self,
        now: SimTime,
        location: Location,
        meta: &Meta,
        cause: Cause,
        queued: Option<SimDuration>,
    ) -> Result<(), SinkError> {
        if let Some(flow) = meta.label.flow {
            if self.warm {
                self.dropped[flow].count(cause, meta.size);
            }
            let watch = self.handovers.as_mut().filter(|_| !meta.back);
            if let Some(watch) = watch.filter(|_| MOVING.contains(&cause)) {
                watch.lost(flow, location, meta.size);
            }
            let row = DropRow { packet: meta.id, size: meta.size, at: now, location, cause };
            self.losses.dropped(flow, meta, row, &mut self.recorder)?;
        }
        let (packet, size, flow) = (meta.id, meta.size, meta.label.flow);
        let event = PacketEvent::Drop(cause);
        self.record_packet_event(now, &PacketRow { packet, location, event, size, flow, queued })
    }

    /// For the totals and the recorder.
    fn marked(
        &mut self,
        now: SimTime,
        direction: DirectionId,
        meta: &Header,
        cause: Cause,
    ) -> Result<(), SinkError> {
        if let Some(flow) = meta.label.flow.filter(|_| self.warm) {
            self.marked[flow] += 1;
        }
        let (packet, size, flow) = (meta.id, meta.size, meta.label.flow);
        let (location, event) = (Location::Link(direction), PacketEvent::Mark(cause));
        // Queues mark packets that they hold.
        let queued = Some(now.saturating_since(meta.arrival));
        self.record_packet_event(now, &PacketRow { packet, location, event, size, flow, queued })
    }

    /// Records a drop or a mark among the packets and among the events.
    fn record_packet_event(&mut self, now: SimTime, row: &PacketRow) -> Result<(), SinkError> {
        if let Some(trace) = &mut self.trace {
            trace.event(now, row);
        }
        self.recorder.packet(now, row)?;
        let PacketRow { packet, location, event, flow, .. } = *row;
        let names = self.recorder.names();
        let flow = flow.map_or("nobody", |flow| names.flows[flow].name.as_str());
        let cause = event.cause().map_or("", Cause::name);
        self.detail.clear();
        // Writing to a string cannot fail.
        let _ = write!(self.detail, "{cause}: packet {packet} of {flow}");
        self.recorder.event_at(now, event.name(), location, &self.detail)
    }

    /// For `Losses`; for the watch of handovers if the packet was dropped because a node moved.
    fn concluded(
        &mut self,
        now: SimTime,
        flow: FlowId,
        end: End,
        verdict: LossVerdict,
    ) -> Result<(), SinkError> {
        let moved = self.losses.concluded(now, (flow, end), verdict, &mut self.recorder)?;
        if let Some(watch) = self.handovers.as_mut().filter(|_| moved && end == End::Sender) {
            watch.noticed(now, flow);
        }
        Ok(())
    }

    /// For the watch of handovers.
    fn moved(&mut self, now: SimTime, flow: FlowId, end: End, step: MoveStep) {
        if let Some(watch) = &mut self.handovers {
            watch.moved(now, flow, end, step);
        }
    }

    /// For the watch of handovers.
    fn acted(&mut self, now: SimTime, flow: FlowId, end: End, endpoint: &dyn Endpoint) {
        if let Some(watch) = self.handovers.as_mut().filter(|_| end == End::Sender) {
            let retransmitted: Bytes = endpoint.totals().retransmitted_bytes;
            watch.retransmitted(now, flow, retransmitted);
        }
    }

    /// For the recorder; a completed handshake is remembered.
    fn endpoint(
        &mut self,
        now: SimTime,
        flow: FlowId,
        end: End,
        event: &Event,
    ) -> Result<(), SinkError> {
        self.connected[flow] |= event.kind == ESTABLISHED;
        self.recorder.event(now, event.kind, &self.ends[flow][end as usize], &event.detail)
    }

    /// For the watch of handovers and the recorder.
    fn handover(
        &mut self,
        now: SimTime,
        topology: usize,
        stage: &HandoverStage,
    ) -> Result<(), SinkError> {
        let Self { handovers, routes, ledgers, .. } = self;
        if let Some(watch) = handovers {
            let flow = |flow: FlowId| routes[flow].at_handover(ledgers[flow].statistics());
            watch.stage(now, topology, *stage, flow);
        }
        self.recorder.handover(now, topology, stage)
    }
}
