//! Plug-ins: classes in Python and shared libraries with a C interface, which belong to the user and are named in a scenario.
//! This crate depends on neither: a run is built with the hosts that load them.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use leobench_base::spec::{Fault, Table};
use leobench_base::{BitRate, Bytes, RngTree, SimDuration, SimTime, StreamIndex};

use crate::Role;
use crate::buffer::{Attributes, SendBuffer};
use crate::endpoint::{Endpoint, Forecast};
use crate::path_choice::PathScheduler;
use crate::video::Adaptation;

/// The key under which a scenario names a class, and which faults of a class name.
pub const KEY: &str = "python";

/// The key under which a scenario names a shared library, and which faults of a library name.
pub const LIBRARY: &str = "library";

/// The code of a plug-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A class in Python.
    Python,
    /// A shared library.
    Library,
}

impl Origin {
    /// The key under which a scenario names it.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Python => KEY,
            Self::Library => LIBRARY,
        }
    }

    /// The problem without a host, and the alternative.
    const fn without_host(self) -> (&'static str, &'static str) {
        match self {
            Self::Python => (
                "is written in Python, which only leobench's Python package can run",
                "a kind that is not written in Python",
            ),
            Self::Library => (
                "is a shared library, which only leobench's Python package can load",
                "a kind that is part of leobench",
            ),
        }
    }
}

/// A class or a library, and what to build it with.
#[derive(Clone, Copy, Debug)]
pub struct PluginClass<'a> {
    /// Its code.
    pub origin: Origin,
    /// Module and class, such as `mymodule:MyScheduler`, or the file of a library.
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
    /// One end of a QUIC connection.
    QuicStack(StackSetup),
    /// The adaptation of a player of video.
    Adaptation {
        /// Bitrates of the ladder in bit/s, from the lowest.
        ladder: Vec<f64>,
        /// Length of a segment in seconds.
        segment_s: f64,
    },
}

/// The setup of one end of a QUIC connection whose stack is a plug-in.
#[derive(Clone, Debug, PartialEq)]
pub struct StackSetup {
    /// Its role: the client opens the connection.
    pub role: Role,
    /// The streams it sends on; none if it only receives.
    pub sends: Vec<Attributes>,
    /// How many streams the other end sends on.
    pub receives: usize,
    /// Its own address.
    pub local: SocketAddr,
    /// The other end's address.
    pub remote: SocketAddr,
    /// When the client opens the connection.
    pub start: SimTime,
    /// Bytes of the largest UDP payload.
    pub payload: Bytes,
    /// Whether packets may be sent as ECN-capable.
    pub ecn: bool,
    /// Whether handovers change the client's address.
    pub moves: bool,
}

/// A scheduler implemented outside this crate.
pub trait PluginScheduler: Send {
    /// Called when a stream has changed, like [`on_change`](crate::StreamScheduler::on_change).
    fn on_change(&mut self, stream: StreamIndex, streams: &SendBuffer);

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

impl Decision {
    /// The largest window in bytes, and the largest pacing rate in bits per second: beyond any path, and exact as floating-point
    /// numbers.
    pub const LARGEST: u64 = 1_000_000_000_000_000;
    /// The pacing rates allowed, for messages.
    pub const RATES: &'static str = "bits per second from 1 to 1e15";
    /// The slow-start thresholds allowed, for messages.
    pub const THRESHOLDS: &'static str = "bytes up to 1e15";

    /// The smallest window with packets of this size: two packets.
    pub fn least_window(packet: Bytes) -> Bytes {
        packet + packet
    }

    /// The windows allowed with packets of this size, for messages.
    pub fn windows(packet: Bytes) -> String {
        format!("bytes from {} (two packets) to 1e15", Self::least_window(packet).get())
    }

    /// Checks it against the bounds for packets of this size.
    ///
    /// # Errors
    /// The number out of bounds, and the bounds.
    pub fn check(&self, packet: Bytes) -> Result<(), String> {
        let refused = |what: &str, number: u64, allowed: &str| {
            Err(format!("set `{what}` to {number}; allowed: {allowed}"))
        };
        let window = self.window;
        if window < Self::least_window(packet) || window.get() > Self::LARGEST {
            return refused("window", window.get(), &Self::windows(packet));
        }
        if let Some(rate) = self.pacing_rate.map(BitRate::bps)
            && !(1..=Self::LARGEST).contains(&rate)
        {
            return refused("pacing_rate", rate, Self::RATES);
        }
        match self.ssthresh.map(Bytes::get) {
            Some(bytes) if bytes > Self::LARGEST => refused("ssthresh", bytes, Self::THRESHOLDS),
            _ => Ok(()),
        }
    }
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
    /// One end of a QUIC connection.
    QuicStack(Box<dyn Endpoint>),
    /// The adaptation of a player of video, which needs no adapter.
    Adaptation(Box<dyn Adaptation>),
}

/// A program that can run plug-ins of one origin. One host serves one scenario or one run.
pub trait PluginHost: Send + Sync {
    /// Checks whether a plug-in can be built.
    ///
    /// # Errors
    /// If it cannot; the fault is in the key of its [`Origin`].
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

/// The hosts of a run's plug-ins. A scenario that names a plug-in without a host is refused.
#[derive(Clone, Default)]
pub struct Plugins {
    python: Option<Arc<dyn PluginHost>>,
    libraries: Option<Arc<dyn PluginHost>>,
}

impl Plugins {
    /// No host.
    pub const NONE: &'static Self = &Self { python: None, libraries: None };

    /// The plug-ins of a host of Python classes.
    pub fn new(host: Arc<dyn PluginHost>) -> Self {
        Self { python: Some(host), libraries: None }
    }

    /// The same with a host of shared libraries.
    #[must_use]
    pub fn with_libraries(self, host: Arc<dyn PluginHost>) -> Self {
        Self { libraries: Some(host), ..self }
    }

    fn host(&self, origin: Origin) -> Option<&dyn PluginHost> {
        match origin {
            Origin::Python => self.python.as_deref(),
            Origin::Library => self.libraries.as_deref(),
        }
    }

    /// Checks whether a plug-in can be built.
    ///
    /// # Errors
    /// If it cannot, or there is no host.
    pub fn check(&self, kind: &PluginKind, class: PluginClass<'_>) -> Result<(), Fault> {
        if let Some(host) = self.host(class.origin) {
            return host.check(kind, class);
        }
        let (problem, allowed) = class.origin.without_host();
        Err(Fault::new(class.origin.key(), problem, allowed))
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
        let host = self.host(class.origin);
        let host = host.ok_or_else(|| class.origin.without_host().0.to_owned())?;
        host.build(kind, class, rng)
    }
}

impl fmt::Debug for Plugins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (python, libraries) = (self.python.is_some(), self.libraries.is_some());
        f.debug_struct("Plugins").field("python", &python).field("libraries", &libraries).finish()
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
