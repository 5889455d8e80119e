//! Links as state machines that are handed the time: a queue discipline, a transmitter served by a time-varying
//! channel, loss, and propagation; and transmitters that several links share. Knows packets by their [`Header`](leobench_base::Header) only, and no transport.

pub mod access;
pub mod channel;
pub mod link;
pub mod loss;
pub mod process;
pub mod queue;
mod shared;
#[cfg(test)]
mod testing;
mod transmitter;

pub use access::{AccessModel, AccessSpec, MediumAccess};
pub use channel::{
    Channel, ChannelContext, ChannelModel, ChannelSpec, ChannelState, Mean, Service,
};
pub use link::{AfterOverlap, Link, LinkConfig, LinkCounters, LinkOutput, wire_size};
pub use loss::{LossModel, LossProcess, LossSpec};
pub use queue::{
    Backlog, Capacity, Cause, Causes, Dequeued, Drop, Fates, Mark, QueueDiscipline, QueueModel,
    QueueSpec, Tallies, Tally,
};
pub use shared::{
    DropTail, MemberQueue, PacketService, SharedCounters, SharedOutput, SharedTransmitter, Started,
    Transmission, Turn, Turns,
};
