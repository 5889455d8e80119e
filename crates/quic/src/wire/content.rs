//! The bytes behind the byte counts of STREAM frames.

use super::frame::StreamId;

/// Content of streams, made when a STREAM frame is encoded and verified when one is decoded.
pub trait Content {
    /// Writes the bytes of stream `id` from `offset` on; zeros unless overridden. `out` holds zeros.
    fn fill(&self, _id: StreamId, _offset: u64, _out: &mut [u8]) {}

    /// Whether `data` is the content of stream `id` from `offset` on. Accepts all bytes unless overridden.
    fn check(&self, _id: StreamId, _offset: u64, _data: &[u8]) -> bool {
        true
    }
}

/// Streams of zeros; received bytes are not looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Zeros;

impl Content for Zeros {}
