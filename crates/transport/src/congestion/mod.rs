//! Congestion control, shared by all transports: one controller per connection, which gets the path with every call. One
//! file per algorithm, and one line here that registers it. `per_path` runs an algorithm on every path by itself,
//! `coupled` on all paths together.

mod ack_interval;
mod careful_resume;
mod coupled;
mod delivery_rate;
mod filter;
mod forecast_window;
mod full_pipe;
mod growth_per;
mod kalman;
mod library;
mod loss_based;
mod opening;
mod per_path;
mod phase;
mod plugged;
mod prior_window;
mod probe_rtt;
mod rate;
mod recovery;
mod round;
mod slow_start;
mod upcoming;

use leobench_base::spec::Fault;
use leobench_base::{BitRate, Bytes, RngTree, SimDuration, SimTime};

pub use balia::BaliaSpec;
pub use bbr::BbrSpec;
pub use bbr3::Bbr3Spec;
pub use careful_resume::{CarefulResume, Remote, Saved, Store};
pub use cubic::CubicSpec;
pub use elastic::ElasticSpec;
pub use forecast_window::ForecastWindow;
pub use growth_per::GrowthPer;
pub use hybla::HyblaSpec;
pub use leocc::LeoccSpec;
pub use lia::LiaSpec;
pub use maco::{
    Capacity, DelayEstimate, MacoSpec, MaxScope, OtherLoss, RateCounts, SsthreshAfterLoss,
};
pub use new_reno::NewRenoSpec;
pub use olia::{Increase, OliaSpec};
pub use opening::Opening;
pub use per_path::{PerPath, SinglePath};
pub use phase::PhaseWatch;
pub use satcp::SatcpSpec;
pub use slow_start::SlowStartSpec;
pub use vegas::VegasSpec;
pub use westwood::WestwoodSpec;
pub use wvegas::WvegasSpec;

use crate::endpoint::{AccessReport, Forecast, PathId};
use crate::library::LibrarySpec;
use crate::plugin::Plugins;

/// A packet that was just sent.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Sent {
    /// When.
    pub now: SimTime,
    /// Bytes that count towards the congestion window.
    pub size: Bytes,
    /// Bytes in flight, this packet included.
    pub in_flight: Bytes,
    /// Its number on the path. Numbers rise, but may start anew after a handshake.
    pub packet_number: u64,
    /// Whether the application had left the window unfilled until this packet.
    pub app_limited: bool,
}

/// An acknowledged packet.
#[derive(Clone, Copy, Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and most combinations occur"
)]
pub struct Acked {
    /// When the acknowledgement arrived.
    pub now: SimTime,
    /// When the packet was sent.
    pub sent: SimTime,
    /// Bytes of the packet that counted towards the congestion window.
    pub size: Bytes,
    /// Its number on the path.
    pub packet_number: u64,
    /// Bytes in flight before this packet was acknowledged, those that the acknowledgement shows to be lost excluded.
    pub in_flight: Bytes,
    /// Whether the application left the window unfilled: the delivery rate then underestimates the path
    /// (draft-ietf-ccwg-bbr section 4.1.2.4). Flow-control blocking does not count.
    pub app_limited: bool,
    /// Whether the congestion window limits the sender. A window that is not used up, for lack of data or of room at the
    /// receiver, does not grow (RFC 9002 section 7.8).
    pub cwnd_limited: bool,
    /// Whether the transport is still in the recovery that the last reduction began (RFC 6675 section 5), during which
    /// loss-based algorithms do not grow. QUIC derives its recovery period from the packets acknowledged (RFC 9002 section
    /// 7.3.2), and never sets this.
    pub recovering: bool,
    /// Whether it may be an earlier transmission of the same data that was acknowledged, so that the time since `sent` is
    /// no round trip (Karn's rule, RFC 6298 section 3). QUIC never sets this.
    pub ambiguous: bool,
    /// Round-trip time as measured so far.
    pub rtt: Rtt,
}

/// Round-trip time of a path (RFC 9002 section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rtt {
    /// Latest sample.
    pub latest: SimDuration,
    /// Smoothed.
    pub smoothed: SimDuration,
    /// Smallest sample.
    pub min: SimDuration,
}

/// The end of an acknowledgement, after all of its packets have been reported.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AckEnd {
    /// When it arrived.
    pub now: SimTime,
    /// Bytes in flight after it.
    pub in_flight: Bytes,
}

/// A packet declared lost.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Lost {
    /// When the loss was detected.
    pub now: SimTime,
    /// Bytes of the packet that counted towards the congestion window.
    pub size: Bytes,
    /// Its number on the path.
    pub packet_number: u64,
}

/// One or more packets declared lost together, or marked by ECN.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Congestion {
    /// When it was detected.
    pub now: SimTime,
    /// When the latest of these packets was sent.
    pub sent: SimTime,
    /// Bytes lost; none for an ECN mark.
    pub lost: Bytes,
    /// Whether everything sent over a long period was lost (RFC 9002 section 7.6).
    pub persistent: bool,
    /// Whether the window was already reduced for it: TCP reduces once per recovery (RFC 6675 section 5), whenever the
    /// packets lost in it were sent. QUIC never sets this.
    pub answered: bool,
}

impl Sent {
    /// A sample of a sender that was not limited by its application.
    pub fn new(now: SimTime, size: Bytes, in_flight: Bytes, packet_number: u64) -> Self {
        Self { now, size, in_flight, packet_number, app_limited: false }
    }

    /// The same sample, with `app_limited` set.
    pub fn app_limited(self, app_limited: bool) -> Self {
        Self { app_limited, ..self }
    }
}

impl AckEnd {
    /// A sample with everything given.
    pub fn new(now: SimTime, in_flight: Bytes) -> Self {
        Self { now, in_flight }
    }
}

impl Lost {
    /// A sample with everything given.
    pub fn new(now: SimTime, size: Bytes, packet_number: u64) -> Self {
        Self { now, size, packet_number }
    }
}

impl Congestion {
    /// A sample with everything given.
    pub fn new(now: SimTime, sent: SimTime, lost: Bytes, persistent: bool) -> Self {
        Self { now, sent, lost, persistent, answered: false }
    }

    /// The same, with `answered` set.
    #[must_use]
    pub fn answered(self) -> Self {
        Self { answered: true, ..self }
    }
}

/// A congestion controller of a whole connection. Every call names the path it is about.
///
/// Order of calls on a path: [`open`](Self::open) first; then [`on_sent`](Self::on_sent) for every packet that counts
/// towards the window, and for each of them at most one of [`on_ack`](Self::on_ack) and
/// [`on_packet_lost`](Self::on_packet_lost). Packets found lost together are an `on_packet_lost` for each, in the order of
/// their numbers, and one [`on_loss`](Self::on_loss). An acknowledgement is told in the order of RFC 9002 appendix A.7:
/// first the congestion that it reveals, as [`on_ecn`](Self::on_ecn) and losses, then an `on_ack` for every packet it
/// acknowledges anew, in the order of their numbers, and one [`on_ack_end`](Self::on_ack_end). The window thus never grows
/// by an acknowledgement that reduces it.
pub trait CongestionControl: Send {
    /// A path comes into use, with packets of `datagram` bytes.
    fn open(&mut self, path: PathId, now: SimTime, datagram: Bytes);

    /// A path is abandoned, or the run of the connection ends: the endpoint closes every open path in
    /// [`Endpoint::finish`](crate::Endpoint::finish). Its window is zero from now on, and late reports about its packets are
    /// ignored.
    fn close(&mut self, path: PathId) {
        let _ = path;
    }

    /// A packet was sent.
    fn on_sent(&mut self, path: PathId, sent: &Sent) {
        let _ = (path, sent);
    }

    /// A packet was acknowledged.
    fn on_ack(&mut self, path: PathId, acked: &Acked);

    /// All packets of an acknowledgement have been reported, after the losses it reveals. HyStart and BBR do their work
    /// here.
    fn on_ack_end(&mut self, path: PathId, end: &AckEnd) {
        let _ = (path, end);
    }

    /// A packet was declared lost.
    fn on_packet_lost(&mut self, path: PathId, lost: &Lost) {
        let _ = (path, lost);
    }

    /// The packets declared lost since the last call, taken together.
    fn on_loss(&mut self, path: PathId, congestion: &Congestion);

    /// The peer reports new CE marks.
    fn on_ecn(&mut self, path: PathId, congestion: &Congestion);

    /// The losses behind the last reduction were spurious.
    fn on_spurious_loss(&mut self, path: PathId) {
        let _ = path;
    }

    /// A forecast of a path from outside the connection.
    fn on_forecast(&mut self, path: PathId, forecast: &Forecast) {
        let _ = (path, forecast);
    }

    /// A report of the link layer on the access link of a path.
    fn on_access(&mut self, path: PathId, report: &AccessReport) {
        let _ = (path, report);
    }

    /// Bytes that may be in flight.
    fn window(&self, path: PathId) -> Bytes;

    /// Pacing rate, if the algorithm sets one; otherwise the transport derives it from window and RTT.
    fn pacing_rate(&self, path: PathId) -> Option<BitRate> {
        let _ = path;
        None
    }

    /// Slow-start threshold, if there is one yet.
    fn ssthresh(&self, path: PathId) -> Option<Bytes> {
        let _ = path;
        None
    }

    /// Whether the algorithm's window holds in recovery and after idle times too, as with `cong_control` in Linux. The
    /// transport then neither reduces in-flight data proportionally (PRR, RFC 9937) nor restarts slowly (RFC 5681 section
    /// 4.1).
    fn bypasses_recovery(&self, path: PathId) -> bool {
        let _ = path;
        false
    }

    /// Name of the phase the path is in, such as `slow-start`.
    fn phase(&self, path: PathId) -> &'static str;

    /// Sets the window, and the slow-start threshold if one is given, and forgets what an undo would restore. Returns whether the
    /// algorithm has a window that can be set; a model of the path has none.
    fn set_window(&mut self, path: PathId, window: Bytes, ssthresh: Option<Bytes>) -> bool {
        let _ = (path, window, ssthresh);
        false
    }

    /// The algorithm as one that resumes carefully, if it does.
    fn careful_resume(&mut self) -> Option<&mut CarefulResume> {
        None
    }

    /// Takes the failure after which the controller cannot go on, if there was one since the last call: a plug-in's, with its
    /// trace. The endpoint asks at the end of every poll and after closing the paths, and the run ends with the failure.
    /// Until then calls go on, and the controller answers them with its last numbers. Calls cannot fail one by one, because
    /// they happen for every packet.
    fn fault(&mut self) -> Option<String> {
        None
    }
}

/// A controller's view of its connection.
#[derive(Clone, Copy, Debug)]
pub struct CongestionContext<'a> {
    /// Its random streams.
    pub rng: &'a RngTree,
    /// Whether the transport spreads packets over the round trip.
    pub paced: bool,
    /// The host of plug-ins.
    pub plugins: &'a Plugins,
}

impl CongestionSpec {
    /// The name of a controller in messages and results; that of its class or file if it is a plug-in.
    pub fn name(&self) -> &str {
        match self {
            Self::Python(spec) => &spec.python,
            Self::Library(spec) => spec.name(),
            _ => self.kind(),
        }
    }

    /// One of every kind that is part of leobench.
    pub fn built_in() -> Vec<Self> {
        let mut examples = Self::examples();
        examples.retain(|spec| !spec.is_plugin());
        examples
    }

    /// Whether it is a class or a library of the user's.
    pub fn is_plugin(&self) -> bool {
        matches!(self, Self::Python(_) | Self::Library(_))
    }

    /// Whether the controller couples the paths of a connection.
    pub fn is_coupled(&self) -> bool {
        self.model().behaviour().coupled
    }

    /// The controllers that couple nothing, for messages.
    pub fn uncoupled() -> String {
        Self::names(|spec| !spec.is_coupled())
    }

    /// The controllers that couple nothing and are told nothing by others than the connection, for messages.
    pub fn self_contained() -> String {
        let told = |spec: &Self| spec.model().uses_forecast() || spec.model().needs_access();
        Self::names(|spec| !spec.is_coupled() && !told(spec))
    }

    fn names(wanted: impl Fn(&Self) -> bool) -> String {
        let names = Self::built_in().into_iter().filter(wanted);
        let names: Vec<_> = names.map(|spec| format!("`{}`", spec.name())).collect();
        names.join(", ")
    }
}

/// How an algorithm behaves. The conformance tests hold it to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is declared by itself, and selects conformance tests"
)]
pub struct Behaviour {
    /// A path opens with the initial window of RFC 9002 section 7.2.
    pub standard_initial_window: bool,
    /// Every loss reduces the window, as a mark does. Otherwise the algorithm tells losses without congestion from others.
    pub every_loss_counts: bool,
    /// A model of the path sets the window. Otherwise acknowledgements open it, and losses and marks reduce it.
    pub model_based: bool,
    /// Slow start opens the window by the bytes acknowledged (RFC 9002 section 7.3.1).
    pub standard_slow_start: bool,
    /// Congestion multiplies the window of a single path by a constant factor, once per recovery period (RFC 9002 section
    /// 7.3.2).
    pub multiplicative_decrease: bool,
    /// The window of a path depends on what happens on the other paths of the connection. Otherwise they are independent.
    pub coupled: bool,
}

impl Behaviour {
    /// An algorithm like Reno.
    pub const LOSS_BASED: Self = Self {
        standard_initial_window: true,
        every_loss_counts: true,
        model_based: false,
        standard_slow_start: true,
        multiplicative_decrease: true,
        coupled: false,
    };
    /// An algorithm like BBR.
    pub const MODEL_BASED: Self = Self {
        standard_initial_window: true,
        every_loss_counts: false,
        model_based: true,
        standard_slow_start: false,
        multiplicative_decrease: false,
        coupled: false,
    };
    /// An algorithm like LIA.
    pub const COUPLED: Self = Self { coupled: true, ..Self::LOSS_BASED };
}

/// A congestion-control specification: builds the controller it describes.
pub trait CongestionModel {
    /// Checks it with the host of plug-ins.
    ///
    /// # Errors
    /// If it is a plug-in that cannot be built.
    fn check(&self, plugins: &Plugins) -> Result<(), Fault> {
        let _ = plugins;
        Ok(())
    }

    /// Builds a controller for one connection, without paths yet.
    fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl>;

    /// How it behaves.
    fn behaviour(&self) -> Behaviour {
        Behaviour::LOSS_BASED
    }

    /// Whether it needs forecasts of its paths ([`CongestionControl::on_forecast`]).
    fn needs_forecast(&self) -> bool {
        false
    }

    /// Whether it uses forecasts of its paths where there are some.
    fn uses_forecast(&self) -> bool {
        self.needs_forecast()
    }

    /// Whether it needs reports on the access links of its paths ([`CongestionControl::on_access`]).
    fn needs_access(&self) -> bool {
        false
    }
}

leobench_base::kinds! {
    /// A congestion controller, by name.
    pub enum CongestionSpec as dyn CongestionModel {
        NewReno(mod new_reno::NewRenoSpec) = "newreno",
        Cubic(mod cubic::CubicSpec) = "cubic",
        Westwood(mod westwood::WestwoodSpec) = "westwood",
        Hybla(mod hybla::HyblaSpec) = "hybla",
        Vegas(mod vegas::VegasSpec) = "vegas",
        Elastic(mod elastic::ElasticSpec) = "elastic",
        Bbr(mod bbr::BbrSpec) = "bbr",
        Bbr3(mod bbr3::Bbr3Spec) = "bbr3",
        Lia(mod lia::LiaSpec) = "lia",
        Olia(mod olia::OliaSpec) = "olia",
        Balia(mod balia::BaliaSpec) = "balia",
        Wvegas(mod wvegas::WvegasSpec) = "wvegas",
        Satcp(mod satcp::SatcpSpec) = "satcp",
        Leocc(mod leocc::LeoccSpec) = "leocc",
        Maco(mod maco::MacoSpec) = "maco",
        Python(pub mod python::PythonSpec) = "python",
        Library(LibrarySpec) = "library",
    }
    refuses {
        // Abdelsalam et al., "TCP Wave over Linux", Computer Networks 184 (2021) describe it; a patched kernel implements it.
        "tcpwave" = "is not modelled: it sends bursts by a timer instead of a window, and no RFC or draft specifies it; \
                     the nearest is `bbr`, which sends at a measured rate",
    }
}

#[cfg(test)]
mod tests;
