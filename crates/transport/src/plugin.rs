//! Plug-ins: classes of the user's, written in Python, that a scenario names. This crate does not depend on Python: whoever
//! builds a run passes in a host that does.

use std::fmt;
use std::sync::Arc;

use leobench_base::spec::{Fault, Table};
use leobench_base::{BitRate, Bytes, RngTree, SimDuration, SimTime};

use crate::buffer::SendBuffer;
use crate::endpoint::Forecast;
use crate::path_choice::PathScheduler;

/// The key under which a scenario names a class, and which faults of a class name.
pub const KEY: &str = "python";

const NO_HOST: &str = "is written in Python, which only leobench's Python package can run";

/// A class, and what to build it with.
#[derive(Clone, Copy, Debug)]
pub struct PluginClass<'a> {
    /// Module and class, such as `mymodule:MyScheduler`.
    pub name: &'a str,
    /// Keyword arguments of the scenario's.
    pub parameters: &'a Table,
}

/// The kind of plug-in that a class is to be, with what such a plug-in is told of its connection.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PluginKind {
    /// A stream scheduler.
    StreamScheduler {
        /// The weight of every stream.
        weights: Vec<f64>,
    },
    /// A path scheduler.
    PathScheduler {
        /// The names of the connection's links.
        links: Vec<String>,
    },
    /// The congestion controller of a path.
    CongestionController {
        /// Bytes of a full packet.
        packet: Bytes,
    },
}

/// A scheduler implemented outside this crate.
pub trait PluginScheduler: Send {
    /// Called when a stream has changed, like [`on_change`](crate::StreamScheduler::on_change).
    fn on_change(&mut self, stream: usize, streams: &SendBuffer);

    /// Called when a forecast comes, like [`on_forecast`](crate::StreamScheduler::on_forecast).
    ///
    /// # Errors
    /// A description of the failure.
    fn on_forecast(&mut self, now: SimTime, forecast: &Forecast) -> Result<(), String> {
        let _ = (now, forecast);
        Ok(())
    }

    /// Whether it promises to leave no room while a stream that is not held has bytes waiting.
    fn fills_packets(&self) -> bool {
        false
    }

    /// Appends to `requests` the streams for a packet with `room` bytes for STREAM frames, in order, each with its bytes.
    ///
    /// # Errors
    /// A description of the failure.
    fn choose(
        &mut self,
        now: SimTime,
        streams: &SendBuffer,
        room: u64,
        requests: &mut Vec<(usize, u64)>,
    ) -> Result<(), String>;
}

/// An acknowledged packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckedPacket {
    /// Its number on the path.
    pub number: u64,
    /// Bytes that counted towards the congestion window.
    pub size: Bytes,
    /// When it was sent.
    pub sent: SimTime,
    /// Whether it may be an earlier transmission that was acknowledged ([`Acked`](crate::congestion::Acked)).
    pub ambiguous: bool,
}

/// An acknowledgement with all packets that it acknowledges anew.
#[derive(Clone, Copy, Debug)]
pub struct AckBatch<'a> {
    /// When it arrived.
    pub now: SimTime,
    /// The packets, by number.
    pub packets: &'a [AckedPacket],
    /// Bytes in flight before it, without those that it shows to be lost.
    pub prior_in_flight: Bytes,
    /// Bytes in flight after it.
    pub in_flight: Bytes,
    /// Latest sample of the round-trip time.
    pub latest_rtt: SimDuration,
    /// The same smoothed (RFC 9002 section 5.3).
    pub smoothed_rtt: SimDuration,
    /// Smallest sample.
    pub min_rtt: SimDuration,
    /// Delivery rate (draft-ietf-ccwg-bbr section 4.1), if the sample is long enough.
    pub delivery_rate: Option<BitRate>,
    /// Whether the application had left a gap, so that the rate underestimates the path.
    pub app_limited: bool,
    /// Whether the congestion window limits the sender.
    pub cwnd_limited: bool,
    /// Whether TCP is in recovery.
    pub recovering: bool,
}

/// Packets found lost together, or marked by ECN.
#[derive(Clone, Copy, Debug)]
pub struct LossBatch<'a> {
    /// When it was detected.
    pub now: SimTime,
    /// When the latest of these packets was sent.
    pub sent: SimTime,
    /// Bytes lost; none for marks.
    pub lost: Bytes,
    /// Whether everything sent over a long period was lost (RFC 9002 section 7.6).
    pub persistent: bool,
    /// Whether TCP has reduced its window for it already (RFC 6675 section 5).
    pub answered: bool,
    /// The numbers of the packets lost.
    pub packets: &'a [u64],
}

/// The decision of a congestion controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Bytes that may be in flight.
    pub window: Bytes,
    /// Pacing rate; derived from window and round-trip time by the transport if none.
    pub pacing_rate: Option<BitRate>,
    /// Slow-start threshold, for results.
    pub ssthresh: Option<Bytes>,
}

/// A congestion controller of one path implemented outside this crate. Each call returns what it decides, or a description of its
/// failure; after one, it is not called again.
pub trait PluginController: Send {
    /// The decision before anything has happened.
    ///
    /// # Errors
    /// A description of the failure.
    fn decide(&mut self) -> Result<Decision, String>;

    /// An acknowledgement came.
    ///
    /// # Errors
    /// A description of the failure.
    fn on_ack(&mut self, batch: &AckBatch<'_>) -> Result<Decision, String>;

    /// Packets were lost.
    ///
    /// # Errors
    /// A description of the failure.
    fn on_loss(&mut self, batch: &LossBatch<'_>) -> Result<Decision, String>;

    /// The peer reports new CE marks.
    ///
    /// # Errors
    /// A description of the failure.
    fn on_ecn(&mut self, batch: &LossBatch<'_>) -> Result<Decision, String>;

    /// The losses behind the last reduction were spurious.
    ///
    /// # Errors
    /// A description of the failure.
    fn on_spurious_loss(&mut self) -> Result<Decision, String>;

    /// A forecast came.
    ///
    /// # Errors
    /// A description of the failure.
    fn on_forecast(&mut self, forecast: &Forecast) -> Result<Decision, String>;
}

/// A plug-in that was built, of the kind asked for.
#[non_exhaustive]
pub enum Plugin {
    /// A stream scheduler.
    StreamScheduler(Box<dyn PluginScheduler>),
    /// A path scheduler, which needs no adapter.
    PathScheduler(Box<dyn PathScheduler>),
    /// A congestion controller.
    CongestionController(Box<dyn PluginController>),
}

/// A program that can run plug-ins of every kind. One host serves one scenario or one run.
pub trait PluginHost: Send + Sync {
    /// Checks whether a plug-in can be built.
    ///
    /// # Errors
    /// If it cannot; the fault is in [`KEY`].
    fn check(&self, kind: &PluginKind, class: PluginClass<'_>) -> Result<(), Fault>;

    /// Builds a plug-in of the kind; a random one draws from `rng`.
    ///
    /// # Errors
    /// A description of the failure, with its trace.
    fn build(
        &self,
        kind: &PluginKind,
        class: PluginClass<'_>,
        rng: &RngTree,
    ) -> Result<Plugin, String>;
}

/// The host of a run's plug-ins, if there is one. Without one, scenarios that name a class are refused.
#[derive(Clone, Default)]
pub struct Plugins(Option<Arc<dyn PluginHost>>);

impl Plugins {
    /// No host.
    pub const NONE: &'static Self = &Self(None);

    /// The plug-ins of a host.
    pub fn new(host: Arc<dyn PluginHost>) -> Self {
        Self(Some(host))
    }

    /// Checks whether a plug-in can be built.
    ///
    /// # Errors
    /// If it cannot, or there is no host.
    pub fn check(&self, kind: &PluginKind, class: PluginClass<'_>) -> Result<(), Fault> {
        match &self.0 {
            Some(host) => host.check(kind, class),
            None => Err(Fault::new(KEY, NO_HOST, "a kind that is not written in Python")),
        }
    }

    /// Builds a plug-in of the kind; a random one draws from `rng`.
    ///
    /// # Errors
    /// A description of the failure, with its trace; or that there is no host.
    pub fn build(
        &self,
        kind: &PluginKind,
        class: PluginClass<'_>,
        rng: &RngTree,
    ) -> Result<Plugin, String> {
        let host = self.0.as_ref().ok_or_else(|| NO_HOST.to_owned())?;
        host.build(kind, class, rng)
    }
}

impl fmt::Debug for Plugins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Plugins").field(&self.0.is_some()).finish()
    }
}

/// Checks the form of a class's name.
///
/// # Errors
/// If it names no class.
pub fn check_name(name: &str) -> Result<(), Fault> {
    let is_name = |name: &str| {
        let starts = |c: char| c.is_alphabetic() || c == '_';
        name.starts_with(starts) && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    match name.split_once(':') {
        Some((module, class)) if module.split('.').all(is_name) && is_name(class) => Ok(()),
        _ => {
            let allowed = "a module and a class in it, such as `mymodule:MyScheduler`";
            Err(Fault::new(KEY, "names no class", allowed))
        }
    }
}
