//! Observation of single packets, of their losses, and of handovers.

use std::fmt::Write as _;

use leobench_base::{Bytes, DirectionId, FlowId, Header, Meta, SimTime};
use leobench_link::Cause;
use leobench_transport::endpoint::{Endpoint, LossVerdict, MoveStep};

use super::Observer;
use super::handovers::MOVING;
use crate::record::{DropRow, Location, PacketEvent, PacketRow, SinkError};
use crate::topology::HandoverStage;
use leobench_base::End;

impl Observer {
    pub(in crate::network) fn packet(
        &mut self,
        now: SimTime,
        direction: DirectionId,
        meta: &Header,
        event: PacketEvent,
    ) -> Result<(), SinkError> {
        let location = Location::Link(direction);
        let (packet, size, flow) = (meta.id, meta.size, meta.label.flow);
        self.recorder.packet(now, &PacketRow { packet, location, event, size, flow })
    }

    pub(in crate::network) fn dropped(
        &mut self,
        now: SimTime,
        location: Location,
        meta: &Meta,
        cause: Cause,
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
        self.decided(now, &PacketRow { packet, location, event, size, flow })
    }

    pub(in crate::network) fn marked(
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
        self.decided(now, &PacketRow { packet, location, event, size, flow })
    }

    /// Records that a packet was dropped or marked.
    fn decided(&mut self, now: SimTime, row: &PacketRow) -> Result<(), SinkError> {
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

    /// An end of a flow concluded something about a packet that it sent.
    pub(in crate::network) fn concluded(
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

    /// An end of a flow answered a change of the network.
    pub(in crate::network) fn moved(
        &mut self,
        now: SimTime,
        flow: FlowId,
        end: End,
        step: MoveStep,
    ) {
        if let Some(watch) = &mut self.handovers {
            watch.moved(now, flow, end, step);
        }
    }

    /// An end of a flow has acted.
    pub(in crate::network) fn acted(
        &mut self,
        now: SimTime,
        flow: FlowId,
        end: End,
        endpoint: &dyn Endpoint,
    ) {
        if let Some(watch) = self.handovers.as_mut().filter(|_| end == End::Sender) {
            let retransmitted: Bytes = endpoint.totals().retransmitted_bytes;
            watch.retransmitted(now, flow, retransmitted);
        }
    }

    /// A stage of a handover is reached.
    pub(in crate::network) fn handover(
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
