//! Queue disciplines: which waiting packet is sent next, and which is dropped. One file per discipline, one line
//! here to register it.

use leobench_base::{Bytes, Packet, RngTree, SimTime};

/// Why a packet did not get through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DropCause {
    /// The queue discipline dropped it.
    Queue,
    /// It was lost on the channel.
    Channel,
    /// The link was down when it arrived.
    Down,
    /// It was larger than the link's MTU.
    Mtu,
}

impl DropCause {
    /// All causes, in the order of their declaration.
    pub const ALL: [Self; 4] = [Self::Queue, Self::Channel, Self::Down, Self::Mtu];

    /// The cause's name in tables and summaries.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Channel => "channel",
            Self::Down => "down",
            Self::Mtu => "mtu",
        }
    }
}

/// A packet that did not get through, and why.
#[derive(Debug)]
pub struct Drop {
    /// The packet.
    pub packet: Packet,
    /// Why it was dropped.
    pub cause: DropCause,
}

/// How much waits in a queue, the packet on the wire not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Waiting packets.
    pub packets: u64,
    /// Their bytes, by IP length.
    pub bytes: Bytes,
}

/// A queue in front of a transmitter. Time is handed in; whatever is dropped is handed out.
///
/// At any moment, packets enqueued = packets dequeued + dropped + backlog (the conformance suite checks it).
pub trait QueueDiscipline: Send {
    /// Takes a packet in, or drops it or others to make room.
    fn enqueue(&mut self, now: SimTime, packet: Packet, drops: &mut Vec<Drop>);

    /// The packet to send next; may drop others on the way (active queue management).
    fn dequeue(&mut self, now: SimTime, drops: &mut Vec<Drop>) -> Option<Packet>;

    /// How much waits.
    fn backlog(&self) -> Backlog;
}

/// A queue specification: builds the discipline it describes.
pub trait QueueModel {
    /// Builds the queue, empty; random disciplines draw from `rng`.
    fn build(&self, rng: &RngTree) -> Box<dyn QueueDiscipline>;
}

leobench_base::kinds! {
    /// The queue disciplines.
    pub enum QueueSpec as dyn QueueModel {
        Fifo(pub mod fifo::FifoSpec) = "fifo",
    }
}

#[cfg(test)]
mod tests;
