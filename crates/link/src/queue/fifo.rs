//! First in, first out, with tail drop.

use std::collections::VecDeque;

use leobench_base::spec::{Fault, Limit};
use leobench_base::{Bytes, Packet, RngTree, SimTime};

use super::{Backlog, Drop, DropCause, QueueDiscipline, QueueModel};

leobench_base::spec! {
    /// First in, first out; drops what arrives when it is full.
    pub struct FifoSpec example = r#"{"limit": "7 packets"}"# check = check {
        /// How much may wait, in packets or in bytes by IP length, the packet on the wire not counted.
        pub limit: Limit = Limit::Unlimited,
    }
}

fn check(spec: &FifoSpec) -> Result<(), Fault> {
    if matches!(spec.limit, Limit::Packets(0) | Limit::Bytes(Bytes::ZERO)) {
        return Err(Fault::new("limit", "is zero, so nothing gets through", "a limit above zero"));
    }
    Ok(())
}

impl QueueModel for FifoSpec {
    fn build(&self, _rng: &RngTree) -> Box<dyn QueueDiscipline> {
        Box::new(Fifo { limit: self.limit, packets: VecDeque::new(), bytes: Bytes::ZERO })
    }
}

#[derive(Debug)]
struct Fifo {
    limit: Limit,
    packets: VecDeque<Packet>,
    bytes: Bytes,
}

impl Fifo {
    fn fits(&self, size: Bytes) -> bool {
        match self.limit {
            Limit::Packets(limit) => (self.packets.len() as u64) < limit,
            Limit::Bytes(limit) => self.bytes + size <= limit,
            Limit::Unlimited => true,
        }
    }
}

impl QueueDiscipline for Fifo {
    fn enqueue(&mut self, _now: SimTime, packet: Packet, drops: &mut Vec<Drop>) {
        if self.fits(packet.meta.size) {
            self.bytes += packet.meta.size;
            self.packets.push_back(packet);
        } else {
            drops.push(Drop { packet, cause: DropCause::Queue });
        }
    }

    fn dequeue(&mut self, _now: SimTime, _drops: &mut Vec<Drop>) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= packet.meta.size;
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u64, bytes: self.bytes }
    }
}
