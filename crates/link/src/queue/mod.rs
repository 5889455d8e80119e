//! Queue disciplines: which waiting packet is sent next, and which is dropped or marked. One file per discipline, one
//! line here to register it.

mod cause;
mod cobalt;
mod hash;
mod line;
mod ways;

use leobench_base::spec::{Fault, Limit};
use leobench_base::{Bytes, Descriptor, RngTree, SimDuration, SimTime};

pub(crate) use line::Line;

pub use cause::{Cause, Causes, Drop, Fates, Mark, Tallies, Tally};

/// How much waits in a queue, the packet on the wire not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Waiting packets.
    pub packets: u64,
    /// Their bytes, by IP length.
    pub bytes: Bytes,
}

impl Backlog {
    /// Counts a packet that comes.
    pub fn add(&mut self, size: Bytes) {
        self.packets += 1;
        self.bytes += size;
    }

    /// Counts a packet that goes.
    pub fn remove(&mut self, size: Bytes) {
        self.packets -= 1;
        self.bytes -= size;
    }
}

/// The answer of a queue discipline to a request for the next packet.
#[derive(Debug)]
pub enum Dequeued {
    /// Send this packet.
    Packet(Descriptor),
    /// Nothing waits.
    Empty,
    /// Packets wait, but none may be sent before this time, which is later than now.
    NotBefore(SimTime),
}

impl Dequeued {
    /// The packet to send, if there is one.
    pub fn packet(self) -> Option<Descriptor> {
        match self {
            Self::Packet(packet) => Some(packet),
            Self::Empty | Self::NotBefore(_) => None,
        }
    }
}

/// A queue in front of a transmitter. Time is handed in; dropped and marked packets are handed out.
///
/// At any moment, packets enqueued = packets dequeued + dropped + flushed + withdrawn + backlog, and every packet comes out or is
/// dropped if it is asked for at the times of [`Dequeued::NotBefore`] (the conformance suite checks both).
pub trait QueueDiscipline: Send {
    /// Takes a packet in, or drops it or others to make room.
    fn enqueue(&mut self, now: SimTime, packet: Descriptor, fates: &mut Fates);

    /// The packet to send next; may drop others on the way (active queue management).
    fn dequeue(&mut self, now: SimTime, fates: &mut Fates) -> Dequeued;

    /// How much waits.
    fn backlog(&self) -> Backlog;

    /// Hands out every waiting packet in order of arrival, undecided, and is empty afterwards.
    fn flush(&mut self, now: SimTime, out: &mut Vec<Descriptor>);

    /// Hands out the waiting packets that leave for another queue, in order of arrival, undecided; the others stay in their
    /// places.
    fn withdraw(
        &mut self,
        now: SimTime,
        leaves: &dyn Fn(&Descriptor) -> bool,
        out: &mut Vec<Descriptor>,
    );

    /// The packet handed out last takes so many bytes and so long on the wire. For disciplines that share out what is spent.
    fn on_sent(&mut self, wire_size: Bytes, airtime: SimDuration) {
        let _ = (wire_size, airtime);
    }

    /// The causes it names. Summaries have those from the start, at zero; others only once they occur.
    fn causes(&self) -> Causes {
        Causes::default()
    }
}

/// Puts packets from several queues into order of arrival; those of one instant by number.
pub(crate) fn by_arrival(packets: &mut [Descriptor]) {
    packets.sort_by_key(|packet| (packet.meta.arrival, packet.meta.id));
}

/// How much a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// A number of packets.
    Packets(u64),
    /// A number of bytes.
    Bytes(Bytes),
    /// No limit.
    Unlimited,
}

impl Capacity {
    /// The capacity that a limit amounts to; `None` if that depends on a link.
    pub const fn of(limit: &Limit) -> Option<Self> {
        match limit {
            Limit::Packets(packets) => Some(Self::Packets(*packets)),
            Limit::Bytes(bytes) => Some(Self::Bytes(*bytes)),
            Limit::Unlimited => Some(Self::Unlimited),
            Limit::Carried { .. } => None,
        }
    }

    /// Whether a packet of `size` bytes fits beside the `backlog`.
    pub fn fits(self, backlog: Backlog, size: Bytes) -> bool {
        match self {
            Self::Packets(limit) => backlog.packets < limit,
            Self::Bytes(limit) => backlog.bytes + size <= limit,
            Self::Unlimited => true,
        }
    }

    /// Whether the `backlog` is more than this.
    pub fn is_exceeded(self, backlog: Backlog) -> bool {
        match self {
            Self::Packets(limit) => backlog.packets > limit,
            Self::Bytes(limit) => backlog.bytes > limit,
            Self::Unlimited => false,
        }
    }
}

/// A queue specification: builds the discipline it describes.
pub trait QueueModel {
    /// How much may wait.
    fn limit(&self) -> &Limit;

    /// The key of the limit in the specification.
    fn limit_key(&self) -> &'static str {
        "limit"
    }

    /// Builds the queue, empty, with the capacity that its limit comes to; random disciplines draw from `rng`.
    fn build(&self, capacity: Capacity, rng: &RngTree) -> Box<dyn QueueDiscipline>;
}

leobench_base::kinds! {
    /// The queue disciplines.
    pub enum QueueSpec as dyn QueueModel {
        Fifo(pub mod fifo::FifoSpec) = "fifo",
        Codel(pub mod codel::CodelSpec) = "codel",
        FqCodel(pub mod fq_codel::FqCodelSpec) = "fq_codel",
        Pie(pub mod pie::PieSpec) = "pie",
        Red(pub mod red::RedSpec) = "red",
        Cake(pub mod cake::CakeSpec) = "cake",
        Device(pub mod device::DeviceSpec) = "device",
    }
}

/// Refuses a limit under which nothing gets through.
fn check_limit(limit: &Limit) -> Result<(), Fault> {
    if limit.is_zero() {
        return Err(Fault::new("limit", "is zero, so nothing gets through", "a limit above zero"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
