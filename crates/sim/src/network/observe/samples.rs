//! Samples at regular times, and the end of the warm-up.

use leobench_base::{Bytes, DirectionId, FlowId, SimTime};
use leobench_link::{Backlog, Link};
use leobench_transport::{Endpoint, SendBuffer};
use typed_index_collections::{TiSlice, TiVec};

use super::{FlowState, Observer};
use crate::record::{HopRow, SinkError};

impl Observer {
    /// Takes the samples due at `now`; `shared` are the names and backlogs of shared transmitters, `senders` in the order of the flows, each with
    /// its send buffer. Returns whether any were due.
    pub(in crate::network) fn sample<'e>(
        &mut self,
        now: SimTime,
        directions: &TiSlice<DirectionId, Link>,
        shared: impl Iterator<Item = (&'e str, Backlog)>,
        senders: impl Iterator<Item = (&'e (dyn Endpoint + 'static), Option<&'e SendBuffer>)>,
    ) -> Result<bool, SinkError> {
        if now < self.next_sample {
            return Ok(false);
        }
        self.next_sample = now + self.recorder.settings().interval;
        if !self.recorder.settings().series {
            return Ok(false);
        }
        for &number in &self.sampled {
            let link = &directions[number];
            self.recorder.queue(now, number, link.backlog())?;
            if self.directions[number].channel.1.is_none() {
                let bits = link.counters(now).capacity_bits;
                self.recorder.opportunities(now, number, Bytes::new((bits / 8) as u64))?;
            }
        }
        for (name, backlog) in shared {
            self.recorder.queue_named(now, name, backlog)?;
        }
        let flows = self.recorder.settings().flows;
        for (flow, (sender, buffer)) in senders.enumerate().take(flows) {
            self.sample_flow(now, flow.into(), sender, buffer)?;
        }
        Ok(true)
    }

    /// Takes the sample of a hop.
    pub(in crate::network) fn sample_hop(
        &mut self,
        now: SimTime,
        row: &HopRow<'_>,
    ) -> Result<(), SinkError> {
        self.recorder.hop(now, row)
    }

    fn sample_flow(
        &mut self,
        now: SimTime,
        flow: FlowId,
        sender: &dyn Endpoint,
        buffer: Option<&SendBuffer>,
    ) -> Result<(), SinkError> {
        self.samples.clear();
        sender.sample_paths(now, &mut self.samples);
        for sample in &self.samples {
            self.recorder.transport(now, flow, sample)?;
        }
        if let Some(buffer) = buffer {
            for (stream, buffer) in buffer.streams().iter_enumerated() {
                self.recorder.stream(now, flow, stream, buffer)?;
            }
        }
        Ok(())
    }

    /// Whether the warm-up ends at `now`, before anything else happens at that instant.
    pub(in crate::network) fn ends_warm_up(&self, now: SimTime) -> bool {
        !self.warm && now >= self.warm_up
    }

    /// Ends the warm-up: from here on everything counts.
    pub(in crate::network) fn end_warm_up(
        &mut self,
        directions: &mut TiSlice<DirectionId, Link>,
        states: TiVec<FlowId, FlowState>,
    ) {
        self.warm = true;
        self.before = states;
        for (view, link) in self.directions.iter_mut().zip(directions) {
            view.before = link.counters(self.warm_up);
            link.restart_queue_delay();
        }
    }
}
