//! Rows of the tables that are filled at regular times.

use leobench_base::{Bytes, DirectionId, FlowId, SimDuration, SimTime, StreamIndex};
use leobench_link::Backlog;
use leobench_transport::buffer::StreamBuffer;
use leobench_transport::endpoint::PathSample;

use super::super::schema::Table;
use super::super::sink::SinkError;
use super::Recorder;

/// A hop since its last sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopRow<'a> {
    /// Its name.
    pub name: &'a str,
    /// How much waits.
    pub backlog: Backlog,
    /// Bytes sent, with framing.
    pub sent: Bytes,
    /// Time in transmissions that ended.
    pub busy: SimDuration,
    /// Packets that the queue dropped.
    pub dropped: u64,
}

impl Recorder {
    /// A sample of a path's sender state.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn transport(
        &mut self,
        now: SimTime,
        flow: FlowId,
        sample: &PathSample,
    ) -> Result<(), SinkError> {
        if !self.settings.series {
            return Ok(());
        }
        let row = [
            now.into(),
            self.names.flows[flow].name.as_str().into(),
            u64::from(sample.path.0).into(),
            sample.cwnd.into(),
            sample.ssthresh.into(),
            sample.in_flight.into(),
            sample.smoothed_rtt.into(),
            sample.latest_rtt.into(),
            sample.pacing.into(),
            sample.phase.into(),
            sample.totals.sent_bytes.into(),
            sample.totals.acked_bytes.into(),
            sample.totals.lost_bytes.into(),
            sample.totals.retransmitted_bytes.into(),
        ];
        self.tables.append(Table::Transport, row)
    }

    /// A sample of a stream's send buffer.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn stream(
        &mut self,
        now: SimTime,
        flow: FlowId,
        stream: StreamIndex,
        buffer: &StreamBuffer,
    ) -> Result<(), SinkError> {
        if !self.settings.series {
            return Ok(());
        }
        let flow = &self.names.flows[flow];
        let row = [
            now.into(),
            flow.name.as_str().into(),
            flow.streams[stream.index()].as_str().into(),
            buffer.backlog().into(),
            buffer.head_age(now).into(),
            buffer.sojourn_sum(now).into(),
        ];
        self.tables.append(Table::Streams, row)
    }

    /// A sample of a link's queue.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn queue(
        &mut self,
        now: SimTime,
        direction: DirectionId,
        backlog: Backlog,
    ) -> Result<(), SinkError> {
        if !self.settings.series {
            return Ok(());
        }
        let link = self.names.directions[direction].as_str();
        let row = [now.into(), link.into(), backlog.bytes.into(), backlog.packets.into()];
        self.tables.append(Table::Queues, row)
    }

    /// A sample of the queue of a shared transmitter.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn queue_named(
        &mut self,
        now: SimTime,
        name: &str,
        backlog: Backlog,
    ) -> Result<(), SinkError> {
        if !self.settings.series {
            return Ok(());
        }
        let row = [now.into(), name.into(), backlog.bytes.into(), backlog.packets.into()];
        self.tables.append(Table::Queues, row)
    }

    /// A sample of a hop of the network in orbit.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn hop(&mut self, now: SimTime, row: &HopRow<'_>) -> Result<(), SinkError> {
        let HopRow { name, backlog, sent, busy, dropped } = *row;
        let row = [
            now.into(),
            name.into(),
            backlog.bytes.into(),
            backlog.packets.into(),
            sent.into(),
            busy.into(),
            dropped.into(),
        ];
        self.tables.append(Table::Hops, row)
    }

    /// A sample of what the delivery opportunities of a link that a trace serves have offered so far.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn opportunities(
        &mut self,
        now: SimTime,
        direction: DirectionId,
        offered: Bytes,
    ) -> Result<(), SinkError> {
        if !self.settings.series {
            return Ok(());
        }
        let link = self.names.directions[direction].as_str();
        self.tables.append(Table::Opportunities, [now.into(), link.into(), offered.into()])
    }
}
