//! Stream schedulers: they choose the streams whose bytes fill the next packet. Each has one file, and one line here
//! registers it.

mod fair;
mod most_urgent;
mod multiplexer;
mod packet;
mod tournament;

use leobench_base::spec::Fault;
use leobench_base::{RngTree, SimTime, StreamIndex};

pub use multiplexer::Multiplexer;
pub use packet::{FrameCosts, PacketShares, Share};
pub use packet::{LARGEST_HEADER, LENGTH_RESERVE, fit_with_length, frame_size, stream_header};
pub use priority::Priority;

use crate::buffer::SendBuffer;
use crate::endpoint::Forecast;
use crate::plugin::Plugins;

/// A running stream scheduler, called once for every packet that may carry new application bytes.
pub trait StreamScheduler: Send {
    /// Called when bytes of a stream have arrived or left, or when flow control blocks or unblocks it. Runs in constant
    /// or logarithmic time, because this happens for every message and every share of a packet.
    fn on_change(&mut self, _stream: StreamIndex, _streams: &SendBuffer) {}

    /// Called when a forecast of one of the connection's paths comes, if the flow has forecasts.
    ///
    /// # Errors
    /// A description of the failure of a plug-in.
    fn on_forecast(&mut self, now: SimTime, forecast: &Forecast) -> Result<(), String> {
        let _ = (now, forecast);
        Ok(())
    }

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

/// Inputs for building a scheduler.
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
