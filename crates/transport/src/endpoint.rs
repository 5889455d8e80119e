//! The interface of every transport to the network: an endpoint takes inputs and the time, and returns packets, reports
//! and its next wake-up.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU64;

use leobench_base::packet::Datagram;
use leobench_base::{
    BitRate, Bytes, LinkId, LogHistogram, Packet, SatelliteId, SimDuration, SimTime, StreamIndex,
};

use crate::arrivals::Arrivals;
use crate::buffer::Message;
pub use crate::report::Report;
pub use crate::totals::Totals;

/// Number of a path within a connection; a single-path connection has path 0 only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u32);

impl PathId {
    /// Bits of a packet number in the number of a transmission; the path's number is above them.
    const NUMBER_BITS: u32 = 40;

    /// The number of a transmission ([`Meta::transmission`](leobench_base::Meta)): a packet's number on this path, unique over all
    /// paths of the connection.
    #[inline]
    pub fn transmission(self, packet: u64) -> Option<NonZeroU64> {
        NonZeroU64::new(u64::from(self.0) << Self::NUMBER_BITS | (packet + 1))
    }

    /// The path of a transmission.
    #[inline]
    pub fn of_transmission(transmission: NonZeroU64) -> Self {
        Self((transmission.get() >> Self::NUMBER_BITS) as u32)
    }
}

/// The addresses between which the packets of a path travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathAddresses {
    /// The path.
    pub path: PathId,
    /// The address of the end itself.
    pub local: IpAddr,
    /// The other end's address.
    pub remote: IpAddr,
}

/// Something that happens to an endpoint.
#[derive(Debug)]
pub enum Input<'a> {
    /// A packet addressed to it arrived; the endpoint takes out of it what it keeps.
    Packet(&'a mut Packet),
    /// The application demands that the connection of a stream opens, over a transport with a connection for each stream. All
    /// other transports have a single connection, which they open by themselves.
    Open {
        /// Stream number within the flow.
        stream: StreamIndex,
    },
    /// The application wrote a message on a stream.
    Message {
        /// Stream number within the flow.
        stream: StreamIndex,
        /// The message.
        message: Message,
    },
    /// The application sends a datagram, on a stream that travels in datagrams.
    Datagram {
        /// The datagram, which fits in a packet and has at least one byte.
        datagram: Datagram,
        /// When the application scheduled it.
        created: SimTime,
    },
    /// The application has nothing more to write on any stream.
    Finish,
    /// An interface of its node changed.
    Interface(InterfaceChange),
    /// The link layer of one of its interfaces is there again, or gone: a satellite rises or sets.
    Carrier(InterfaceChange),
    /// Somebody who knows the network says what will become of a path.
    Forecast(Forecast),
    /// Somebody who knows the network says what will become of an interface.
    InterfaceForecast(InterfaceForecast),
    /// The link layer reports on the access link of a path.
    Access(AccessReport),
}

/// A change of one of the node's interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceChange {
    /// Address of the interface.
    pub address: IpAddr,
    /// Whether it can be used from now on.
    pub up: bool,
}

/// A forecast for one of an endpoint's paths. It may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// The path meant.
    pub path: PathId,
    /// The instant that rate and round-trip time are about.
    pub at: SimTime,
    /// Round-trip time without queues then, if it can be told.
    pub base_rtt: Option<SimDuration>,
    /// Rate of the narrowest link then, if it can be told.
    pub bottleneck: Option<BitRate>,
    /// The next handover of the path up to then, or the one under way.
    pub handover: Option<HandoverForecast>,
}

/// A forecast for one of the interfaces of an endpoint's node, whether a path uses it or not. It may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceForecast {
    /// Address of the interface.
    pub address: IpAddr,
    /// When it can be used, and has a carrier, after it could not or had none.
    pub comes_up: Option<SimTime>,
    /// When it cannot be used any more, or has no carrier.
    pub goes_down: Option<SimTime>,
    /// Its next handover, or the one under way.
    pub handover: Option<HandoverForecast>,
}

impl InterfaceForecast {
    /// Its next interruptions: a handover, and the time between going down and coming up again.
    pub fn interruptions(&self) -> impl Iterator<Item = HandoverForecast> {
        let down = self.goes_down.map(|from| {
            let until = self
                .comes_up
                .filter(|until| *until > from)
                .unwrap_or(SimTime::from_nanos(u64::MAX));
            HandoverForecast { from, until }
        });
        self.handover.into_iter().chain(down)
    }
}

/// A report of the link layer on the access link of one of an endpoint's paths, across the layers between (Yang et al. 2024,
/// section 6.1). The access link is the link through a constellation that the path's packets take. A report is late, and may be
/// wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccessReport {
    /// The path meant.
    pub path: PathId,
    /// The link, which outlives the paths over it: the number of an abandoned path does not come back.
    pub link: LinkId,
    /// When this was so.
    pub at: SimTime,
    /// The link's offer; none without a serving satellite.
    pub service: Option<AccessService>,
    /// The next handover of the path, or the one under way.
    pub handover: Option<HandoverForecast>,
}

/// Service of an access link by a satellite, in the direction of the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccessService {
    /// Number of the serving satellite.
    pub satellite: SatelliteId,
    /// Signal-to-noise ratio in dB.
    pub snr_db: f64,
    /// Distance of the satellite in m.
    pub range_m: f64,
    /// Rate that the link budget offers at this ratio.
    pub rate: BitRate,
}

/// A handover of a path ahead of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandoverForecast {
    /// When it begins.
    pub from: SimTime,
    /// When packets go on: at its beginning, if nothing interrupts them.
    pub until: SimTime,
}

/// The output of a poll of an endpoint.
#[derive(Debug, Default)]
pub struct Outbox {
    /// Packets to send, in order; the network numbers them.
    pub packets: Vec<Packet>,
    /// Progress of application data, in order.
    pub reports: Vec<Report>,
    /// Rare events worth recording, with the time they happened at.
    pub events: Vec<Event>,
    /// Addresses at which the endpoint can be reached from now on, in addition to earlier ones.
    pub addresses: Vec<SocketAddr>,
    /// The endpoint's conclusions about its earlier transmissions, in order.
    pub verdicts: Vec<LossVerdict>,
    /// How the endpoint answered a change of the network below it, in order.
    pub moves: Vec<MoveStep>,
}

/// A step of an endpoint's answer to a change of the network below it, such as a handover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveStep {
    /// It noticed: it uses another address, or follows its peer to one.
    Noticed,
    /// It follows its peer to an address that is not validated, and may send little there until it is (RFC 9000 section 9.3.1).
    Validating,
    /// It gave its connection up, and opens another one. Neither end can send data until that is open.
    Reconnecting,
    /// It may send its data: the peer's address is validated, or the other connection is open.
    Ready,
}

/// A sender's conclusion about one of its transmissions, by the number that its packet carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossVerdict {
    /// Number of the transmission ([`Meta::transmission`](leobench_base::Meta)).
    pub transmission: NonZeroU64,
    /// The sender's action.
    pub kind: LossVerdictKind,
}

/// A sender's action on a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossVerdictKind {
    /// It declared the transmission lost.
    Lost(Evidence),
    /// It sent so many of its bytes again.
    Repeated(Bytes),
}

leobench_base::words! {
    /// The evidence by which a sender declares a transmission lost.
    pub enum Evidence {
        /// Acknowledgements of later ones: fast retransmit, RACK, the loss detection of QUIC.
        Acks = "acks",
        /// The answer to a probe: TCP's tail loss probe, QUIC's probe timeout.
        Probe = "probe",
        /// TCP's retransmission timeout.
        Timeout = "timeout",
    }
}

/// A rare event: a handshake done, a loss, a phase change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Kind of event, such as `congestion` or `established`.
    pub kind: &'static str,
    /// Details for a reader.
    pub detail: String,
}

/// The state of a path as the sender sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathSample {
    /// The path.
    pub path: PathId,
    /// Congestion window.
    pub cwnd: Bytes,
    /// Slow-start threshold, if there is one yet.
    pub ssthresh: Option<Bytes>,
    /// Bytes sent and neither acknowledged nor given up, if the stack tells.
    pub in_flight: Option<Bytes>,
    /// Smoothed round-trip time (RFC 9002 section 5.3), if measured.
    pub smoothed_rtt: Option<SimDuration>,
    /// Latest round-trip time sample, if any.
    pub latest_rtt: Option<SimDuration>,
    /// Pacing rate, if the sender paces.
    pub pacing: Option<BitRate>,
    /// Phase of the congestion controller.
    pub phase: &'static str,
    /// Totals since the start.
    pub totals: Totals,
}

/// The loss of a connection: an outcome of a flow, not a failure of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// When the connection was lost.
    pub at: SimTime,
    /// Why, in the words of the stack.
    pub reason: String,
}

impl Loss {
    /// The event that reports it.
    pub fn event(&self) -> Event {
        Event { kind: "lost", detail: self.reason.clone() }
    }
}

/// One transport at one end of a flow.
///
/// Order of calls: any number of [`input`](Endpoint::input)s at an instant, then one [`poll`](Endpoint::poll) at that
/// instant; a poll also at the instant the last poll asked for. Time never runs backwards.
pub trait Endpoint: Send {
    /// Takes something in.
    ///
    /// # Errors
    /// If a plug-in or the stack misbehaved.
    fn input(&mut self, now: SimTime, input: Input<'_>) -> Result<(), EndpointError>;

    /// Does what is due, appends what comes out to `outbox`, and says when to be polled next if nothing comes in
    /// before; `None` for never.
    ///
    /// # Errors
    /// If a plug-in or the stack misbehaved.
    fn poll(&mut self, now: SimTime, outbox: &mut Outbox)
    -> Result<Option<SimTime>, EndpointError>;

    /// Appends the state of every path that is there; nothing for a transport without paths of its own.
    fn sample_paths(&self, now: SimTime, samples: &mut Vec<PathSample>);

    /// Appends the last state of the paths that are gone, which [`sample_paths`](Self::sample_paths) leaves out: a connection may have
    /// opened thousands.
    fn sample_former_paths(&self, samples: &mut Vec<PathSample>) {
        let _ = samples;
    }

    /// Appends the addresses of every path in use, as the end that opened the connection knows them. Nothing for the other end, and
    /// for a transport whose packets go between the nodes' own addresses.
    fn paths(&self, paths: &mut Vec<PathAddresses>) {
        let _ = paths;
    }

    /// The application's send buffer, if this end sends.
    fn send_buffer(&self) -> Option<&crate::buffer::SendBuffer>;

    /// Totals over all paths, those that are gone included.
    fn totals(&self) -> Totals;

    /// The counts of [`totals`](Self::totals) that it does not know and that read zero, by their names in a summary.
    fn unreported(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Every round-trip time sample taken so far, in nanoseconds.
    fn rtts(&self) -> LogHistogram {
        LogHistogram::new()
    }

    /// Measurements of the arrival of stream data, if it is the receiver of a connection that may use several paths.
    fn arrivals(&self) -> Option<&Arrivals> {
        None
    }

    /// When and why its connection was lost for good, if it was. From then on the endpoint sends and reports nothing; it
    /// accepts what the application writes, and never delivers it.
    fn lost(&self) -> Option<&Loss> {
        None
    }

    /// Ends the connection at the end of a run: closes its paths, and completes what it writes on the side, such as a qlog.
    /// The last call; samples of paths are taken before.
    ///
    /// # Errors
    /// If something could not be written, or a plug-in misbehaved.
    fn finish(&mut self, now: SimTime) -> Result<(), EndpointError> {
        let _ = now;
        Ok(())
    }
}

/// Why an endpoint cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// The stack did something that leobench does not understand.
    #[error("the stack at {at}: {problem}")]
    Stack {
        /// When.
        at: SimTime,
        /// The stack's error.
        problem: String,
    },
    /// The connection moved to a path of which nothing is saved, which the scenario does not allow.
    #[error(
        "`careful_resume` requires saved parameters, but at {at} the connection moves to a path without any: {path}; allowed: \
         `saved_cwnd` and `saved_rtt`, or `required = false`"
    )]
    NothingSaved {
        /// When.
        at: SimTime,
        /// Addresses of its ends.
        path: String,
    },
    /// The connection offers several paths, as the scenario demands, and the peer does not.
    #[error("at {at}, {local} offers several paths, but {remote} does not")]
    OnePath {
        /// When.
        at: SimTime,
        /// Its own address.
        local: SocketAddr,
        /// The peer's address.
        remote: SocketAddr,
    },
    /// Its qlog could not be written.
    #[error("the qlog cannot be written: {0}")]
    Qlog(String),
    /// A scheduler did what a scheduler must not.
    #[error("scheduler `{scheduler}` at {at}: {problem}")]
    Scheduler {
        /// Its name.
        scheduler: String,
        /// When.
        at: SimTime,
        /// The scheduler's error.
        problem: String,
    },
    /// A path scheduler did what a path scheduler must not.
    #[error("path scheduler `{scheduler}` at {at}: {problem}")]
    PathScheduler {
        /// Its name.
        scheduler: String,
        /// When.
        at: SimTime,
        /// The scheduler's error.
        problem: String,
    },
    /// A congestion controller cannot go on.
    #[error("congestion controller `{controller}` at {at}: {problem}")]
    Controller {
        /// Its name.
        controller: String,
        /// When.
        at: SimTime,
        /// The controller's error, with the trace of a plug-in.
        problem: String,
    },
}

impl EndpointError {
    /// The error of a transport without datagrams that is given one.
    #[cold]
    pub fn no_datagrams(at: SimTime) -> Self {
        Self::Stack { at, problem: "it has no datagrams, but the application sends one".to_owned() }
    }

    /// Whether the scenario demands something impossible, which only the run could find out.
    pub fn refuses_scenario(&self) -> bool {
        matches!(self, Self::NothingSaved { .. } | Self::OnePath { .. })
    }

    /// Fails if a controller, whose calls end at `at`, cannot go on.
    ///
    /// # Errors
    /// The controller's failure.
    #[inline]
    pub fn check_controller(
        algorithm: &mut dyn crate::CongestionControl,
        name: &str,
        at: SimTime,
    ) -> Result<(), Self> {
        match algorithm.fault() {
            None => Ok(()),
            Some(problem) => Err(Self::Controller { controller: name.to_owned(), at, problem }),
        }
    }
}
