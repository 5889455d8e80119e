//! Channels: the time-varying state of a path. One file per model, one line here to register it.
//!
//! A channel is advanced by whoever owns it (the network), which pushes each new state to its subscribers.

mod csv;
mod files;
mod markov;
mod timeline;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use leobench_base::spec::Fault;
use leobench_base::{BitRate, Direction, RngTree, SimDuration, SimTime};

pub use markov::Chain;
use trace::Opportunities;

/// The state of a channel, which holds until its next change.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelState {
    /// How packets are served.
    pub service: Service,
    /// One-way propagation delay added to the link's own.
    pub delay: SimDuration,
    /// Probability that a packet sent in this state is lost, besides the link's own loss process.
    pub loss: f64,
    /// Whether the link exists: while it is down, packets that arrive are dropped and waiting ones wait.
    pub up: bool,
    /// Whether there is a way at all, such as over a satellite; without one, `delay` is zero and says nothing.
    pub has_way: bool,
    /// Short name of the state, such as `line-of-sight`.
    pub label: Cow<'static, str>,
}

impl ChannelState {
    /// The state of a link without a way, which drops what arrives.
    pub fn without_way(label: &'static str) -> Self {
        Self { up: false, has_way: false, ..Self::at_rate(BitRate::ZERO, label) }
    }

    /// A lossless link at `rate` that adds no delay.
    pub const fn at_rate(rate: BitRate, label: &'static str) -> Self {
        let label = Cow::Borrowed(label);
        let service = Service::Rate(rate);
        Self { service, delay: SimDuration::ZERO, loss: 0.0, up: true, has_way: true, label }
    }
}

/// How a channel serves packets.
#[derive(Clone, Debug, PartialEq)]
pub enum Service {
    /// At a rate; zero holds them.
    Rate(BitRate),
    /// At the delivery opportunities of a recorded trace.
    Opportunities(Arc<Opportunities>),
}

/// A channel model in motion. Most have one state for both directions of a link; a channel that tells them apart has a
/// [`state_of`](Self::state_of) each.
pub trait Channel: Send {
    /// The state of the forward direction at the last instant advanced to (the start of the run at first).
    fn state(&self) -> &ChannelState;

    /// The state of a direction at the last instant advanced to.
    fn state_of(&self, direction: Direction) -> &ChannelState {
        let _ = direction;
        self.state()
    }

    /// When the state of a direction changes next; `None` if never.
    fn next_change(&self) -> Option<SimTime>;

    /// Goes through all changes up to and including `now`, and returns the state of the forward direction there.
    fn advance(&mut self, now: SimTime) -> &ChannelState;
}

/// The average rate and delay of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mean {
    /// Rate, outages included.
    pub rate: BitRate,
    /// One-way propagation delay added to the link's own.
    pub delay: SimDuration,
}

impl Mean {
    /// A mean rate in bits per second, without delay.
    fn at_rate(bps: f64) -> Self {
        Self { rate: BitRate::from_bps(bps.round() as u64), delay: SimDuration::ZERO }
    }
}

/// The inputs of a model besides its own parameters.
#[derive(Clone, Debug)]
pub struct ChannelContext {
    /// Folder of the scenario file, which relative file names start from.
    pub folder: PathBuf,
    /// Random stream of this channel.
    pub rng: RngTree,
}

/// A channel specification: builds the channel it describes.
pub trait ChannelModel {
    /// Builds the channel at the start of a run.
    ///
    /// # Errors
    /// If what it refers to (a file) cannot be used, or the channel could never carry a packet.
    fn build(&self, context: &ChannelContext) -> Result<Box<dyn Channel>, Fault>;

    /// The average rate and delay of the forward direction in the long run; `None` if that is not defined.
    ///
    /// # Errors
    /// If what it refers to (a file) cannot be used.
    fn mean(&self, context: &ChannelContext) -> Result<Option<Mean>, Fault>;

    /// The average of a direction, for a channel that tells them apart.
    ///
    /// # Errors
    /// If what it refers to (a file) cannot be used.
    fn mean_of(
        &self,
        direction: Direction,
        context: &ChannelContext,
    ) -> Result<Option<Mean>, Fault> {
        let _ = direction;
        self.mean(context)
    }

    /// Whether it is ever down. The conformance tests check it.
    ///
    /// # Errors
    /// If what it refers to (a file) cannot be used.
    fn goes_down(&self, context: &ChannelContext) -> Result<bool, Fault> {
        let _ = context;
        Ok(false)
    }

    /// Whether its states depend on the seed. The conformance tests check it.
    fn is_random(&self) -> bool {
        false
    }
}

leobench_base::kinds! {
    /// The channel models.
    pub enum ChannelSpec as dyn ChannelModel {
        Steady(pub mod steady::SteadySpec) = "steady",
        Lms(pub mod lms::LmsSpec) = "lms",
        OnOff(pub mod on_off::OnOffSpec) = "on_off",
        Schedule(pub mod schedule::ScheduleSpec) = "schedule",
        Trace(pub mod trace::TraceSpec) = "trace",
        Reconfiguration(pub mod reconfiguration::ReconfigurationSpec) = "reconfiguration",
        Starlink(pub mod starlink::StarlinkSpec) = "starlink",
    }
}

#[cfg(test)]
mod tests;
