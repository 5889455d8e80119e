//! The types of packet captures in a build without them. They have no values, so no run can be asked for a capture.

use leobench_base::{EndpointId, Packet, SimTime};
use leobench_quic::KeyLog;

/// A type without values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Never {}

/// Destination of packet captures, of which this build has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureOptions(Never);

/// Which way a packet passes the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// It comes in.
    Inbound,
    /// It goes out.
    Outbound,
}

/// Why there is no capture.
#[derive(Debug, thiserror::Error)]
#[error("this build has no packet captures")]
pub struct CaptureError(Never);

/// The secrets of the connections of a run.
#[derive(Clone, Debug)]
pub struct Secrets(Never);

impl Secrets {
    /// Returns a writer for the key-log lines of a connection.
    ///
    /// # Errors
    /// Never.
    pub fn log(&self) -> Result<KeyLog, CaptureError> {
        match self.0 {}
    }
}

/// The captures of a run.
pub struct Captures(Never);

impl Captures {
    /// Creates the files.
    ///
    /// # Errors
    /// Never.
    pub fn new<'a>(
        options: &CaptureOptions,
        _flows: impl Iterator<Item = (&'a str, [&'a str; 2])>,
    ) -> Result<Self, CaptureError> {
        match options.0 {}
    }

    /// Returns the log of the secrets of encrypted connections.
    pub fn secrets(&self) -> Secrets {
        match self.0 {}
    }

    /// Records a packet at an endpoint.
    ///
    /// # Errors
    /// Never.
    pub fn record(
        &mut self,
        _now: SimTime,
        _endpoint: EndpointId,
        _passage: Passage,
        _packet: &Packet,
    ) -> Result<(), CaptureError> {
        match self.0 {}
    }

    /// Completes the files.
    ///
    /// # Errors
    /// Never.
    pub fn finish(self) -> Result<(), CaptureError> {
        match self.0 {}
    }
}
