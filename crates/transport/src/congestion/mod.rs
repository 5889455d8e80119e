//! Congestion control: one object per connection, told the path; shared by every transport. One file per algorithm,
//! one line here to register it.

mod bbr;
mod bbr3;
mod cubic;
mod filter;
mod hybla;
mod loss_based;
mod new_reno;
mod per_path;
mod phase;
mod rate;
mod recovery;
mod round;
mod slow_start;
mod vegas;
mod westwood;

use leobench_base::{BitRate, Bytes, RngTree, SimDuration, SimTime};

pub use bbr::BbrSpec;
pub use bbr3::Bbr3Spec;
pub use cubic::CubicSpec;
pub use hybla::HyblaSpec;
pub use new_reno::NewRenoSpec;
pub use per_path::{PerPath, SinglePath};
pub use phase::PhaseWatch;
pub use slow_start::SlowStartSpec;
pub use vegas::VegasSpec;
pub use westwood::WestwoodSpec;

use crate::endpoint::{Hint, PathId};

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
    /// Whether the sender had had too little to send to fill the window, until it sent this.
    pub app_limited: bool,
}

/// An acknowledged packet.
#[derive(Clone, Copy, Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and most combinations occur"
)]
#[non_exhaustive]
pub struct Acked {
    /// When the acknowledgement arrived.
    pub now: SimTime,
    /// When the packet was sent.
    pub sent: SimTime,
    /// Bytes of the packet that counted towards the congestion window.
    pub size: Bytes,
    /// Its number on the path.
    pub packet_number: u64,
    /// Bytes in flight before this packet was acknowledged.
    pub in_flight: Bytes,
    /// Whether the sender had too little to send to fill the window: what is delivered then says less than the path could do
    /// (draft-ietf-ccwg-bbr section 4.1.2.4). Waiting for the receiver's window is no such want.
    pub app_limited: bool,
    /// Whether the window is underused, for want of data or as the receiver has no room: it is not to grow (RFC 9002 section
    /// 7.8).
    pub underused: bool,
    /// Whether the transport is still in the recovery that the last reduction began (RFC 6675 section 5), during which
    /// loss-based algorithms do not grow. QUIC tells its recovery period by the packets acknowledged (RFC 9002 section
    /// 7.3.2), and never sets this.
    pub recovering: bool,
    /// Whether it may be an earlier transmission of the same data that was acknowledged, so that the time since `sent` is
    /// no round trip (Karn's rule, RFC 6298 section 3). QUIC never sets this.
    pub ambiguous: bool,
    /// Round-trip time as measured so far.
    pub rtt: Rtt,
}

/// Round-trip time of a path (RFC 9002 section 5).
#[derive(Clone, Copy, Debug)]
pub struct Rtt {
    /// Latest sample.
    pub latest: SimDuration,
    /// Smoothed.
    pub smoothed: SimDuration,
    /// Smallest sample.
    pub min: SimDuration,
}

/// An acknowledgement of which all packets have been told.
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
    /// When it was found out.
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
    /// When it was found out.
    pub now: SimTime,
    /// When the latest of these packets was sent.
    pub sent: SimTime,
    /// Bytes lost; none for an ECN mark.
    pub lost: Bytes,
    /// Whether everything sent over a long period was lost (RFC 9002 section 7.6).
    pub persistent: bool,
    /// Whether the transport has already had the congestion behind it answered: TCP reduces once per recovery (RFC 6675
    /// section 5), whenever the packets lost in it were sent. QUIC never sets this.
    pub answered: bool,
}

impl Sent {
    /// A sample of a sender that was not limited by its application.
    pub fn new(now: SimTime, size: Bytes, in_flight: Bytes, packet_number: u64) -> Self {
        Self { now, size, in_flight, packet_number, app_limited: false }
    }

    /// The same sample with a word on whether the application had left room in the window until then.
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

    /// The same, the congestion behind it having been answered before.
    #[must_use]
    pub fn answered(self) -> Self {
        Self { answered: true, ..self }
    }
}

/// A congestion controller of a whole connection. Every call says which path it is about.
///
/// Order of calls on a path: [`open`](Self::open) first; then [`on_sent`](Self::on_sent) for every packet that counts
/// towards the window, and for each of them at most one of [`on_ack`](Self::on_ack) and
/// [`on_packet_lost`](Self::on_packet_lost). An acknowledgement is an `on_ack` for every packet it acknowledges anew, in
/// the order of their numbers, and one [`on_ack_end`](Self::on_ack_end). Packets found lost together are an
/// `on_packet_lost` for each, in the order of their numbers, and one [`on_loss`](Self::on_loss).
pub trait CongestionControl: Send {
    /// A path comes into use, with packets of `datagram` bytes.
    fn open(&mut self, path: PathId, now: SimTime, datagram: Bytes);

    /// A path is given up. Late news about its packets are dropped, and its window is zero.
    fn close(&mut self, path: PathId) {
        let _ = path;
    }

    /// A packet was sent.
    fn on_sent(&mut self, path: PathId, sent: &Sent) {
        let _ = (path, sent);
    }

    /// A packet was acknowledged.
    fn on_ack(&mut self, path: PathId, acked: &Acked);

    /// All packets of an acknowledgement have been told; the losses it reveals come after. HyStart and BBR do their work
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

    /// The losses behind the last reduction turned out to be wrong.
    fn on_spurious_loss(&mut self, path: PathId) {
        let _ = path;
    }

    /// Somebody who knows more about the network says something.
    fn on_hint(&mut self, path: PathId, hint: &Hint) {
        let _ = (path, hint);
    }

    /// Bytes that may be in flight.
    fn window(&self, path: PathId) -> Bytes;

    /// Rate to pace at, if the algorithm has one of its own; otherwise the transport paces by window and RTT.
    fn pacing_rate(&self, path: PathId) -> Option<BitRate> {
        let _ = path;
        None
    }

    /// Slow-start threshold, if there is one yet.
    fn ssthresh(&self, path: PathId) -> Option<Bytes> {
        let _ = path;
        None
    }

    /// Whether the algorithm alone decides what may be in flight, in recovery and after an idle time too, as those of
    /// Linux with `cong_control` do: the transport then neither leads the window down to its target (PRR, RFC 9937) nor
    /// starts slowly again (RFC 5681 section 4.1).
    fn rules_alone(&self, path: PathId) -> bool {
        let _ = path;
        false
    }

    /// Name of the phase the path is in, such as `slow-start`.
    fn phase(&self, path: PathId) -> &'static str;
}

/// What a controller is told of its connection.
#[derive(Clone, Copy, Debug)]
pub struct CongestionContext<'a> {
    /// Its random streams.
    pub rng: &'a RngTree,
    /// Whether the transport spreads packets over the round trip.
    pub paced: bool,
}

/// A congestion-control specification: builds the controller it describes.
pub trait CongestionModel {
    /// Builds a controller for one connection, without paths yet.
    fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl>;
}

leobench_base::kinds! {
    /// A congestion controller, by name.
    pub enum CongestionSpec as dyn CongestionModel {
        NewReno(new_reno::NewRenoSpec) = "newreno",
        Cubic(cubic::CubicSpec) = "cubic",
        Westwood(westwood::WestwoodSpec) = "westwood",
        Hybla(hybla::HyblaSpec) = "hybla",
        Vegas(vegas::VegasSpec) = "vegas",
        Bbr(bbr::BbrSpec) = "bbr",
        Bbr3(bbr3::Bbr3Spec) = "bbr3",
    }
}

#[cfg(test)]
mod tests;
