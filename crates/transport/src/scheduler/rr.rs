//! Round robin, packet by packet (Khan et al. 2023, Computer Networks, section 5.2).

use leobench_base::{SimTime, StreamIndex};

use super::{PacketShares, SchedulerContext, SchedulerModel, StreamScheduler};
use crate::buffer::SendBuffer;

leobench_base::spec! {
    /// One stream per packet in a fixed order; the next stream in order gets the rest of the packet.
    pub struct RoundRobinSpec: Default {}
}

impl SchedulerModel for RoundRobinSpec {
    fn build(&self, _context: &SchedulerContext<'_>) -> Result<Box<dyn StreamScheduler>, String> {
        Ok(Box::new(RoundRobin { next: StreamIndex::FIRST }))
    }
}

struct RoundRobin {
    next: StreamIndex,
}

impl StreamScheduler for RoundRobin {
    fn schedule(
        &mut self,
        _now: SimTime,
        streams: &SendBuffer,
        packet: &mut PacketShares,
    ) -> Result<(), String> {
        let mut from = self.next;
        let mut first = None;
        while let Some(stream) = streams.next_occupied(from) {
            if first == Some(stream) || packet.give(streams, stream, u64::MAX) == 0 {
                break;
            }
            if first.is_none() {
                first = Some(stream);
                self.next = stream.next();
            }
            if !packet.has_room() {
                break;
            }
            from = stream.next();
        }
        Ok(())
    }
}
