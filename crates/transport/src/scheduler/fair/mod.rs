//! Fair queueing within a packet (Khan et al. 2023, Computer Networks, section 5.2): C bytes are shared by N streams.
//! Stream i is due `c[i] = w[i] * C / sum(w)`; C is the payload that remains after frame headers.

mod leave;
mod redistribute;
mod waiting;

use leave::Leave;
use leobench_base::StreamIndex;
use leobench_base::varint::varint_size;
use redistribute::Redistribute;

use super::StreamScheduler;
use super::packet::frame_header;
use crate::buffer::SendBuffer;

leobench_base::words! {
    /// The use of a share that a stream cannot fill.
    pub enum Surplus {
        /// The other streams get it, in proportion to their weights.
        Redistribute = "redistribute",
        /// It stays empty.
        None = "none",
    }
}

/// At most this many streams share a packet, so that its cost hardly grows with the number of streams. Ours: more than
/// the eight streams of the papers' experiments, whose packets are thus shared by all, as the equation has it.
const MOST_STREAMS: usize = 10;
/// The least room of a packet for every stream that shares it, so that frame headers do not eat it up: shorter packets
/// are shared by fewer. Ours: a header takes up to 19 bytes (RFC 9000 section 19.8), less than a third of this.
const ROOM_PER_STREAM: u64 = 64;

/// The scheduler that shares packets in proportion to `weights`, one per stream.
pub(super) fn build(weights: &[u64], surplus: Surplus) -> Box<dyn StreamScheduler> {
    match surplus {
        Surplus::Redistribute => Box::new(Redistribute::new(weights)),
        Surplus::None => Box::new(Leave::new(weights)),
    }
}

/// The maximum number of streams in a packet with `room` left.
fn most_streams(room: u64) -> usize {
    usize::try_from(room / ROOM_PER_STREAM).unwrap_or(MOST_STREAMS).clamp(1, MOST_STREAMS)
}

/// A stream's part of the packet under construction.
#[derive(Clone, Copy, Debug)]
struct Part {
    stream: StreamIndex,
    weight: i128,
    /// Waiting bytes.
    backlog: u64,
    /// Bytes of its frame's header, without the length.
    header: u64,
    /// Whether it gets only what it is due, and not all of its waiting bytes.
    open: bool,
    /// The amount due, in a fraction of a byte common to the open parts.
    due: i128,
    /// The remainder of that beyond whole bytes, in the same unit; negative if the amount was rounded up.
    rest: i64,
    /// The bytes that it gets.
    bytes: u64,
}

impl Part {
    fn new(stream: StreamIndex, weight: u64, streams: &SendBuffer) -> Self {
        let buffer = &streams.streams()[stream];
        Self {
            stream,
            weight: weight.into(),
            backlog: buffer.backlog(),
            header: frame_header(stream, buffer.taken()),
            open: true,
            due: 0,
            rest: 0,
            bytes: UNKNOWN_SHARE,
        }
    }
}

/// A share that is not known yet: any size from 64 to 16,383 bytes, for which the length field takes the two bytes that it
/// mostly does (RFC 9000 section 16).
const UNKNOWN_SHARE: u64 = 100;

/// The application bytes that fit a packet in frames for all parts with bytes. The largest frame goes last and needs no
/// length field.
fn payload(room: u64, parts: &[Part]) -> u64 {
    let (mut frames, mut largest) = (0, 0);
    for part in parts.iter().filter(|part| part.bytes > 0) {
        let bytes = part.bytes.min(part.backlog);
        frames += part.header + varint_size(bytes);
        largest = largest.max(bytes);
    }
    (room + varint_size(largest)).saturating_sub(frames)
}

/// Gives every open part the whole bytes of the amount due, in units of 1 / `unit` bytes. Then gives one more byte each
/// to the parts with the largest remainders until `total` bytes are given; the first part among equals.
fn round(parts: &mut [Part], unit: i128, total: u64) {
    let mut left = total;
    for part in parts.iter_mut().filter(|part| part.open) {
        part.bytes = (part.due.max(0) / unit) as u64;
        left = left.saturating_sub(part.bytes);
    }
    for _ in 0..left.min(parts.len() as u64) {
        let mut largest: Option<(i128, &mut Part)> = None;
        for part in parts.iter_mut().filter(|part| part.open) {
            let rest = part.due - i128::from(part.bytes) * unit;
            if largest.as_ref().is_none_or(|(most, _)| rest > *most) {
                largest = Some((rest, part));
            }
        }
        if let Some((_, part)) = largest {
            part.bytes += 1;
        }
    }
}

#[cfg(test)]
mod tests;
