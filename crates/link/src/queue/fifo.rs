//! First in, first out, with tail drop.

use std::collections::VecDeque;

use leobench_base::spec::{Fault, Limit};
use leobench_base::{Packet, RngTree, SimTime};

use super::{Backlog, Capacity, Cause, Fates, QueueDiscipline, QueueModel, Verdict, check_limit};

leobench_base::spec! {
    /// First in, first out; drops what arrives when it is full.
    pub struct FifoSpec example = r#"{"limit": "7 packets"}"# check = check {
        /// How much may wait, in packets or in bytes by IP length, the packet on the wire not counted.
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
        Box::new(Fifo { capacity, packets: VecDeque::new(), backlog: Backlog::default() })
    }
}

#[derive(Debug)]
struct Fifo {
    capacity: Capacity,
    packets: VecDeque<Packet>,
    backlog: Backlog,
}

impl QueueDiscipline for Fifo {
    fn enqueue(&mut self, _now: SimTime, packet: Packet, fates: &mut Fates) {
        if self.capacity.fits(self.backlog, packet.meta.size) {
            self.backlog.add(packet.meta.size);
            self.packets.push_back(packet);
        } else {
            fates.drop(packet, Cause::QUEUE);
        }
    }

    fn dequeue(&mut self, _now: SimTime, _fates: &mut Fates) -> Verdict {
        let Some(packet) = self.packets.pop_front() else { return Verdict::Empty };
        self.backlog.remove(packet.meta.size);
        Verdict::Packet(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn flush(&mut self, out: &mut Vec<Packet>) {
        self.backlog = Backlog::default();
        out.extend(self.packets.drain(..));
    }
}
