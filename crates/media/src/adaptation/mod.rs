//! Adaptation: which bitrate of the ladder the next segment is asked for in. One file per algorithm, one line here to
//! register it.

use std::fmt::Debug;

use leobench_base::Bytes;

/// Knowledge of a player when it chooses.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Bitrates of the ladder in bit/s, from the lowest.
    pub ladder: &'a [f64],
    /// Bits of the next segment, by bitrate.
    pub bits: &'a [f64],
    /// Length of a segment in seconds.
    pub segment_s: f64,
    /// Length of the buffer's content in seconds.
    pub buffer_s: f64,
    /// How long the buffer may become, in seconds.
    pub most_buffer_s: f64,
    /// The bitrate of the last segment, by its number in the ladder.
    pub last: Option<usize>,
}

/// A download that is over.
#[derive(Clone, Copy, Debug)]
pub struct Download {
    /// Bytes of the segment.
    pub bytes: Bytes,
    /// Seconds from the request until it had arrived.
    pub seconds: f64,
}

impl Download {
    /// Its throughput in bit/s, the round trip of the request included.
    pub fn throughput(&self) -> f64 {
        self.bytes.bits() as f64 / self.seconds.max(1e-9)
    }
}

/// An algorithm in motion.
pub trait Adaptation: Debug + Send {
    /// Chooses a bitrate by its number in the ladder.
    fn choose(&mut self, view: &View<'_>) -> usize;

    /// Learns of a download.
    fn on_download(&mut self, _download: &Download) {}
}

/// The specification of an algorithm.
pub trait AdaptationModel {
    /// Builds it.
    fn build(&self) -> Box<dyn Adaptation>;
}

leobench_base::kinds! {
    /// How a player chooses bitrates.
    pub enum AdaptationSpec as dyn AdaptationModel {
        Throughput(mod throughput::ThroughputSpec) = "throughput",
        Buffer(mod buffer::BufferSpec) = "buffer",
        Bola(mod bola::BolaSpec) = "bola",
        Dynamic(mod dynamic::DynamicSpec) = "dynamic",
        L2a(mod l2a::L2aSpec) = "l2a",
        Fixed(mod fixed::FixedSpec) = "fixed",
    }
}

impl Default for AdaptationSpec {
    fn default() -> Self {
        Self::Throughput(throughput::ThroughputSpec::default())
    }
}

/// The highest bitrate of the ladder that is at most `limit`, or the lowest.
fn below(ladder: &[f64], limit: f64) -> usize {
    ladder.iter().rposition(|rate| *rate <= limit).unwrap_or(0)
}

#[cfg(test)]
mod tests;
