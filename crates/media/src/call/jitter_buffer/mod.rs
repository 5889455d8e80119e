//! Jitter buffers: how long after its capture a frame or a voice packet is due. One file per kind, one line here to register it.

use std::fmt::Debug;

use leobench_base::{SimDuration, SimTime};

/// A jitter buffer in motion.
pub trait JitterBuffer: Debug + Send {
    /// Learns of an arrival: when the frame or voice packet was there as a whole, and how long that was after its capture.
    fn on_arrival(&mut self, now: SimTime, transit: SimDuration);

    /// How long after its capture the next one is due; none before the first arrival.
    fn delay(&self) -> Option<SimDuration>;
}

/// The specification of a jitter buffer.
pub trait JitterBufferModel {
    /// Builds it.
    fn build(&self) -> Box<dyn JitterBuffer>;
}

leobench_base::kinds! {
    /// How long frames and voice packets wait.
    pub enum JitterBufferSpec as dyn JitterBufferModel {
        Adaptive(mod adaptive::AdaptiveSpec) = "adaptive",
        Fixed(mod fixed::FixedSpec) = "fixed",
    }
}

impl Default for JitterBufferSpec {
    fn default() -> Self {
        Self::Adaptive(adaptive::AdaptiveSpec::default())
    }
}

#[cfg(test)]
mod tests;
