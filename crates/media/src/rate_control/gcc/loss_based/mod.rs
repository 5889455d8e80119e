//! The loss-based rate.

mod draft;
mod libwebrtc;

use std::fmt::Debug;

use leobench_base::SimTime;

use crate::rate_control::{Bounds, Fate};

leobench_base::words! {
    /// The controller of the loss-based rate.
    pub enum LossBased {
        /// That of libwebrtc (`LossBasedBweV2`): the rate at which a path with random losses explains the packets lost best.
        Libwebrtc = "libwebrtc",
        /// That of the draft (section 6): losses of more than 10 % in a second lower the rate by half of their share.
        Draft = "draft",
    }
}

/// Feedback, and the rates that are known when it comes, in bit/s.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report<'a> {
    pub now: SimTime,
    pub fates: &'a [Fate],
    /// The delay-based rate.
    pub delay_based: f64,
    /// The rate that arrives.
    pub arriving: Option<f64>,
    /// The rate that is used.
    pub target: f64,
    /// Whether the call has sent far less than it might.
    pub is_application_limited: bool,
}

/// A controller in motion.
pub(super) trait LossControl: Debug + Send {
    /// The rate in bit/s that losses allow; infinite if they limit nothing.
    fn rate(&self) -> f64;

    /// Learns of feedback.
    fn on_report(&mut self, report: &Report<'_>);
}

impl LossBased {
    pub(super) fn build(self, bounds: Bounds) -> Box<dyn LossControl> {
        match self {
            Self::Libwebrtc => Box::new(libwebrtc::Libwebrtc::new(bounds)),
            Self::Draft => Box::new(draft::Draft::new(bounds)),
        }
    }
}

#[cfg(test)]
mod tests;
