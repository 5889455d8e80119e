//! Stream schedulers: they choose the streams whose bytes fill the next packet. Each has one file, and one line here
//! registers it.

mod fair;
mod most_urgent;
mod multiplexer;
mod tournament;

use leobench_base::spec::Fault;
use leobench_base::{RngTree, SimTime};

pub use multiplexer::Multiplexer;

use crate::buffer::SendBuffer;
use crate::plugin::Plugins;

/// The room in the packet under construction, and the shares of the streams.
///
/// A stream's first share also costs the header of its STREAM frame (RFC 9000 section 19.8); the frame that fills the
/// packet needs no length field.
#[derive(Debug, Default)]
pub struct PacketShares {
    room: u64,
    shares: Vec<Share>,
}

/// Bytes of one stream that go into a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Stream number within the flow.
    pub stream: usize,
    /// Application bytes.
    pub bytes: u64,
}

impl PacketShares {
    /// Starts a packet with `room` bytes for STREAM frames, headers included.
    pub fn start(&mut self, room: u64) {
        self.room = room;
        self.shares.clear();
    }

    /// Bytes left in the packet, after the headers of the frames so far.
    pub fn room(&self) -> u64 {
        self.room
    }

    /// Whether there is room for another frame.
    pub fn has_room(&self) -> bool {
        self.room > SMALLEST_ROOM
    }

    /// The shares so far, in the order of their frames in the packet.
    pub fn shares(&self) -> &[Share] {
        &self.shares
    }

    /// Gives up to `want` bytes of the packet to `stream`, limited by its waiting bytes and the room, and returns how
    /// many it got.
    pub fn give(&mut self, streams: &SendBuffer, stream: usize, want: u64) -> u64 {
        let buffer = &streams.streams()[stream];
        let held = self.shares.iter_mut().find(|share| share.stream == stream);
        let given = held.as_ref().map_or(0, |share| share.bytes);
        let want = want.min(buffer.backlog().saturating_sub(given));
        if let Some(share) = held {
            let bytes = want.min(self.room);
            share.bytes += bytes;
            self.room -= bytes;
            return bytes;
        }
        let room = match self.room {
            0..=SMALLEST_ROOM => 0,
            room => room - frame_header(stream, buffer.taken()),
        };
        let bytes = if want >= room { room } else { want.min(room.saturating_sub(LENGTH_RESERVE)) };
        if bytes > 0 {
            let length = if bytes == room { 0 } else { varint_size(bytes) };
            self.room = room - bytes - length;
            self.shares.push(Share { stream, bytes });
        }
        bytes
    }
}

/// The stack starts no STREAM frame in this much room or less (`frame::Stream::SIZE_BOUND` of `noq-proto`).
const SMALLEST_ROOM: u64 = 25;
/// Room that the stack reserves for the length field of a frame that does not fill the packet.
pub(crate) const LENGTH_RESERVE: u64 = 8;

/// Bytes of a STREAM frame's header without its length: type, stream number, offset.
fn frame_header(stream: usize, offset: u64) -> u64 {
    let id = stream as u64 * 4 + 3;
    1 + varint_size(id) + if offset == 0 { 0 } else { varint_size(offset) }
}

/// Bytes of a STREAM frame that does not fill its packet.
pub(crate) fn frame_size(stream: usize, offset: u64, bytes: u64) -> u64 {
    frame_header(stream, offset) + varint_size(bytes) + bytes
}

/// Bytes of a variable-length integer (RFC 9000 section 16).
pub(crate) fn varint_size(value: u64) -> u64 {
    match value {
        0..=0x3f => 1,
        0x40..=0x3fff => 2,
        0x4000..=0x3fff_ffff => 4,
        _ => 8,
    }
}

/// A running stream scheduler, called once for every packet that may carry new application bytes.
pub trait StreamScheduler: Send {
    /// Called when bytes of a stream have arrived or left, or when flow control blocks or unblocks it. Runs in constant
    /// or logarithmic time, because this happens for every message and every share of a packet.
    fn on_change(&mut self, _stream: usize, _streams: &SendBuffer) {}

    /// Whether it leaves no room in a packet while a stream that is not held has bytes waiting.
    fn fills_packets(&self) -> bool {
        true
    }

    /// Shares the room of the next packet among the streams that have bytes waiting and are not held; there is at least
    /// one.
    ///
    /// # Errors
    /// A description of the failure of a plug-in.
    fn schedule(
        &mut self,
        now: SimTime,
        streams: &SendBuffer,
        packet: &mut PacketShares,
    ) -> Result<(), String>;
}

/// What a scheduler is built with.
#[derive(Clone, Copy, Debug)]
pub struct SchedulerContext<'a> {
    /// Streams of the flow.
    pub streams: usize,
    /// Random streams of a random scheduler.
    pub rng: &'a RngTree,
    /// The host of plug-ins.
    pub plugins: &'a Plugins,
}

/// A scheduler specification: builds its scheduler.
pub trait SchedulerModel {
    /// Checks whether it can serve a flow of `streams` streams, given a host of plug-ins.
    ///
    /// # Errors
    /// If it cannot.
    fn check(&self, _streams: usize, _plugins: &Plugins) -> Result<(), Fault> {
        Ok(())
    }

    /// Builds the scheduler.
    ///
    /// # Errors
    /// A description of the failure of a plug-in.
    fn build(&self, context: &SchedulerContext<'_>) -> Result<Box<dyn StreamScheduler>, String>;
}

leobench_base::kinds! {
    /// A stream scheduler, by name.
    pub enum SchedulerSpec as dyn SchedulerModel {
        RoundRobin(mod rr::RoundRobinSpec) = "rr",
        FairQueueing(mod fq::FairQueueingSpec) = "fq",
        WeightedFairQueueing(mod wfq::WeightedFairQueueingSpec) = "wfq",
        BackPressure(mod bp::BackPressureSpec) = "bp",
        Sojourn(mod stbp::SojournSpec) = "stbp",
        MaxDelay(mod max_delay::MaxDelaySpec) = "max_delay",
        Priority(mod priority::PrioritySpec) = "priority",
        EarliestDeadline(mod edf::EarliestDeadlineSpec) = "edf",
        Python(pub mod python::PythonSpec) = "python",
    }
}

impl SchedulerSpec {
    /// The name of a scheduler in messages.
    pub fn name(&self) -> String {
        let Self::Python(spec) = self else { return self.kind().to_owned() };
        spec.python.clone()
    }
}

impl Default for SchedulerSpec {
    fn default() -> Self {
        Self::RoundRobin(rr::RoundRobinSpec::default())
    }
}

/// Checks that there is one weight for each stream.
fn one_weight_each(given: usize, streams: usize) -> Result<(), Fault> {
    if given == streams {
        return Ok(());
    }
    let plural = |count, noun| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let found = format!("has {}, for {}", plural(given, "weight"), plural(streams, "stream"));
    Err(Fault::new("weights", found, format!("{} above 0", plural(streams, "number"))))
}

#[cfg(test)]
mod tests;
