//! The streams of one connection and their scheduler, kept consistent.

use leobench_base::{RngTree, SimTime, StreamIndex};

use super::{FrameCosts, PacketShares, SchedulerContext, SchedulerSpec, Share, StreamScheduler};
use crate::buffer::{Attributes, Message, SendBuffer};
use crate::endpoint::{EndpointError, Forecast};
use crate::plugin::Plugins;

/// Send buffers with a scheduler that is notified of every change.
pub struct Multiplexer {
    buffer: SendBuffer,
    scheduler: Box<dyn StreamScheduler>,
    name: String,
    packet: PacketShares,
    costs: FrameCosts,
}

impl Multiplexer {
    /// Empty buffers for streams with the given attributes, and the scheduler of a specification.
    ///
    /// # Errors
    /// If a plug-in cannot be built.
    pub fn new(
        spec: &SchedulerSpec,
        streams: &[Attributes],
        rng: &RngTree,
        plugins: &Plugins,
    ) -> Result<Self, EndpointError> {
        let name = spec.name();
        let context = SchedulerContext { streams: streams.len(), rng, plugins };
        let scheduler = spec.model().build(&context);
        let scheduler = scheduler.map_err(|problem| EndpointError::Scheduler {
            scheduler: name.clone(),
            at: SimTime::ZERO,
            problem,
        })?;
        let (buffer, packet) = (SendBuffer::new(streams), PacketShares::default());
        Ok(Self { buffer, scheduler, name, packet, costs: FrameCosts::Exact })
    }

    /// The same, for a stack with other costs of frames.
    pub fn with_costs(self, costs: FrameCosts) -> Self {
        Self { costs, ..self }
    }

    /// The buffers.
    pub fn buffer(&self) -> &SendBuffer {
        &self.buffer
    }

    /// Appends a message to its stream.
    pub fn push(&mut self, stream: StreamIndex, message: Message) {
        self.buffer.push(stream, message);
        self.scheduler.on_change(stream, &self.buffer);
    }

    /// Takes `bytes` out of the front of a stream.
    ///
    /// # Panics
    /// If fewer are waiting.
    pub fn take(&mut self, stream: StreamIndex, bytes: u64) {
        self.buffer.take(stream, bytes);
        self.scheduler.on_change(stream, &self.buffer);
    }

    /// Excludes a stream while flow control blocks it, or includes it again.
    pub fn hold(&mut self, stream: StreamIndex, held: bool) {
        self.buffer.hold(stream, held);
        self.scheduler.on_change(stream, &self.buffer);
    }

    /// Tells the scheduler of a forecast.
    ///
    /// # Errors
    /// If it fails.
    pub fn on_forecast(&mut self, now: SimTime, forecast: &Forecast) -> Result<(), EndpointError> {
        self.scheduler.on_forecast(now, forecast).map_err(|problem| EndpointError::Scheduler {
            scheduler: self.name.clone(),
            at: now,
            problem,
        })
    }

    /// Calls the scheduler to share `room` bytes of the next packet, including frame headers.
    ///
    /// # Errors
    /// If the scheduler fails, chooses no stream although one has bytes waiting that there is room for, or leaves room
    /// that it promised to fill.
    pub fn schedule(&mut self, now: SimTime, room: u64) -> Result<(), EndpointError> {
        self.packet.start(room, self.costs);
        let ample = self.packet.has_ample_room();
        let scheduled = self.scheduler.schedule(now, &self.buffer, &mut self.packet);
        let problem = match scheduled {
            Err(problem) => problem,
            Ok(())
                if self.packet.shares().is_empty() && (ample || self.costs == FrameCosts::Noq) =>
            {
                format!("chose no stream, but {} bytes are waiting", self.buffer.backlog())
            }
            Ok(()) if self.scheduler.fills_packets() && self.leaves_room() => {
                format!(
                    "left {} bytes of a packet empty, although it declares `fills_packets`",
                    self.packet.room()
                )
            }
            Ok(()) => return Ok(()),
        };
        Err(EndpointError::Scheduler { scheduler: self.name.clone(), at: now, problem })
    }

    /// Whether the packet has room for waiting bytes of a stream that is not held.
    fn leaves_room(&self) -> bool {
        let given = |stream| {
            self.shares().iter().find(|share| share.stream == stream).map_or(0, |share| share.bytes)
        };
        let mut streams = self.buffer.streams().iter_enumerated();
        // Most packets with spare room hold all waiting bytes: only held streams require a look at each.
        self.packet.has_ample_room()
            && self.shares().iter().map(|share| share.bytes).sum::<u64>() < self.buffer.backlog()
            && streams.any(|(stream, buffer)| {
                self.buffer.is_occupied(stream) && given(stream) < buffer.backlog()
            })
    }

    /// Whether the scheduler leaves no room in a packet while a stream that is not held has bytes waiting.
    pub fn fills_packets(&self) -> bool {
        self.scheduler.fills_packets()
    }

    /// Whether the last scheduled packet is full. If so, every packet is full for which enough bytes are waiting.
    pub fn is_packet_full(&self) -> bool {
        self.scheduler.fills_packets() && !self.packet.has_room()
    }

    /// The shares of the last scheduled packet, in the order of their frames.
    pub fn shares(&self) -> &[Share] {
        self.packet.shares()
    }
}
