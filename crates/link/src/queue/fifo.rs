//! First in, first out, with tail drop.

use leobench_base::spec::{Fault, Limit};
use leobench_base::{Descriptor, RngTree, SimTime};

use super::{
    Backlog, Capacity, Cause, Dequeued, Fates, Line, QueueDiscipline, QueueModel, check_limit,
};

leobench_base::spec! {
    /// First in, first out; drops arriving packets when it is full.
    pub struct FifoSpec example = r#"{"limit": "7 packets"}"# check = check {
        /// Capacity in packets, or in bytes by IP length, not counting the packet on the wire.
        pub limit: Limit = Limit::Unlimited,
    }
}

fn check(spec: &FifoSpec) -> Result<(), Fault> {
    check_limit(&spec.limit)
}

impl QueueModel for FifoSpec {
    fn limit(&self) -> &Limit {
        &self.limit
    }

    fn build(&self, capacity: Capacity, _rng: &RngTree) -> Box<dyn QueueDiscipline> {
        Box::new(Fifo { capacity, line: Line::default() })
    }
}

#[derive(Debug)]
struct Fifo {
    capacity: Capacity,
    line: Line,
}

impl QueueDiscipline for Fifo {
    fn enqueue(&mut self, _now: SimTime, packet: Descriptor, fates: &mut Fates) {
        if self.capacity.fits(self.line.backlog(), packet.meta.size) {
            self.line.push(packet);
        } else {
            fates.drop(packet, Cause::QUEUE);
        }
    }

    fn dequeue(&mut self, _now: SimTime, _fates: &mut Fates) -> Dequeued {
        self.line.pop().map_or(Dequeued::Empty, Dequeued::Packet)
    }

    fn backlog(&self) -> Backlog {
        self.line.backlog()
    }

    fn flush(&mut self, _now: SimTime, out: &mut Vec<Descriptor>) {
        self.line.flush(out);
    }

    fn withdraw(
        &mut self,
        _now: SimTime,
        leaves: &dyn Fn(&Descriptor) -> bool,
        out: &mut Vec<Descriptor>,
    ) {
        self.line.withdraw(leaves, out);
    }
}
