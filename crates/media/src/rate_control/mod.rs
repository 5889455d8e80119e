//! Rate control: how fast a call sends. One file or folder per algorithm, one line here to register it.

use std::fmt::Debug;

use leobench_base::{Bytes, SimDuration, SimTime};

/// Pacing rate over the target rate (libwebrtc, `PacingController::kDefaultPaceMultiplier`).
pub(crate) const PACE: f64 = 2.5;

/// Limits of a target rate, and where it starts, in bit/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The lowest rate.
    pub least: f64,
    /// The rate before the first feedback.
    pub start: f64,
    /// The highest rate.
    pub most: f64,
}

impl Bounds {
    /// The nearest rate within the limits.
    pub fn clamp(&self, rate: f64) -> f64 {
        rate.clamp(self.least, self.most)
    }
}

/// The fate of a packet, as feedback reports it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fate {
    /// The packet's number: numbers rise by one from packet to packet.
    pub number: u64,
    /// When it was sent.
    pub sent: SimTime,
    /// Its size.
    pub bytes: Bytes,
    /// When it arrived; none if it is missing.
    pub arrival: Option<SimTime>,
    /// Whether it arrived with the mark "congestion experienced" of ECN.
    pub is_marked: bool,
}

/// Feedback as the sender sees it.
#[derive(Clone, Copy, Debug)]
pub struct Feedback<'a> {
    /// The packets it is about, by number. A packet that was reported missing is reported again if it arrives.
    pub fates: &'a [Fate],
    /// How long the receiver held the newest arrival back.
    pub held: SimDuration,
    /// Bytes that wait at the sender.
    pub queued: Bytes,
}

impl Feedback<'_> {
    /// The round trip of the newest packet that arrived, without the time that the receiver held it back.
    pub fn round_trip(&self, now: SimTime) -> Option<SimDuration> {
        let newest = self.fates.iter().rev().find(|fate| fate.arrival.is_some())?;
        Some(now.saturating_since(newest.sent).saturating_sub(self.held))
    }
}

/// An algorithm in motion. Rates are in bit/s and count packets with their RTP headers.
pub trait RateControl: Debug + Send {
    /// Learns that the encoders have made a packet.
    fn on_produced(&mut self, _now: SimTime, _bytes: Bytes) {}

    /// Learns that a packet was sent.
    fn on_sent(&mut self, _now: SimTime, _number: u64, _bytes: Bytes) {}

    /// Learns of feedback.
    fn on_feedback(&mut self, _now: SimTime, _feedback: &Feedback<'_>) {}

    /// The rate at which audio and video together should be produced.
    fn target(&self) -> f64;

    /// The rate at which packets leave the sender's queue.
    fn pacing(&self) -> f64 {
        PACE * self.target()
    }

    /// How long before their time packets may leave the queue, so that they go in bursts.
    fn burst(&self) -> SimDuration {
        SimDuration::ZERO
    }

    /// The rate at which padding is to leave now, beside all else; none if it measures nothing.
    fn padding(&self) -> Option<f64> {
        None
    }

    /// One frame of so many is not to be made; none if all are.
    fn drop_interval(&self) -> Option<u64> {
        None
    }

    /// How many more bytes may be sent now; none if there is no window.
    fn window(&self) -> Option<Bytes> {
        None
    }
}

/// Feedback that an algorithm needs from the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedbackKind {
    /// Arrivals by number (draft-holmer-rmcat-transport-wide-cc-extensions-01).
    TransportWide,
    /// Arrivals by number (RFC 8888).
    CongestionControl,
}

/// The specification of an algorithm.
pub trait RateControlModel {
    /// Builds it.
    fn build(&self, bounds: Bounds) -> Box<dyn RateControl>;

    /// The feedback that it needs; none if it needs none.
    fn feedback(&self) -> Option<FeedbackKind>;
}

leobench_base::kinds! {
    /// How a call sets its rate.
    pub enum RateControlSpec as dyn RateControlModel {
        Gcc(mod gcc::GccSpec) = "gcc",
        Scream(mod scream::ScreamSpec) = "scream",
        Fixed(mod fixed::FixedSpec) = "fixed",
    }
}

impl Default for RateControlSpec {
    fn default() -> Self {
        Self::Gcc(gcc::GccSpec::default())
    }
}

#[cfg(test)]
mod tests;
