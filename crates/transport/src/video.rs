//! The choice of a video's bitrates: the knowledge of a player, and the interface of the algorithms that choose by it.

use std::fmt::Debug;

use leobench_base::{Bytes, SimTime};

/// Knowledge of a player when it chooses.
#[derive(Clone, Copy, Debug)]
pub struct PlayerView<'a> {
    /// When it chooses.
    pub now: SimTime,
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
    /// Bytes of the segment that have arrived: all, unless the player abandoned it.
    pub bytes: Bytes,
    /// Seconds from the request until they had arrived.
    pub seconds: f64,
    /// Whether the player had the segment already, in another bitrate.
    pub is_replacement: bool,
}

impl Download {
    /// Its throughput in bit/s, the round trip of the request included.
    pub fn throughput(&self) -> f64 {
        self.bytes.bits() as f64 / self.seconds.max(1e-9)
    }
}

/// An algorithm that chooses the bitrates of one video. After a failure it is not called again.
pub trait Adaptation: Debug + Send {
    /// Chooses a bitrate by its number in the ladder.
    ///
    /// # Errors
    /// A description of the failure.
    fn choose(&mut self, view: &PlayerView<'_>) -> Result<usize, String>;

    /// How long the player waits before it asks for what was chosen last, in seconds.
    fn pause_s(&self) -> f64 {
        0.0
    }

    /// Learns of a download, before the next choice. It may be one that the player abandoned.
    ///
    /// # Errors
    /// A description of the failure.
    fn on_download(&mut self, download: &Download) -> Result<(), String> {
        let _ = download;
        Ok(())
    }

    /// Learns that the player abandoned a download and asks for that segment in the bitrate `view.last`.
    fn on_abandonment(&mut self, view: &PlayerView<'_>) {
        let _ = view;
    }
}
