//! Truncated packet numbers (RFC 9000 section 17.1 and appendix A).

use super::MAX_VARINT;
use super::packet::Number;

impl Number {
    /// Packet number `value`, truncated so that the peer can expand it when all packets up to `largest_acked` are
    /// acknowledged (appendix A.2): it distinguishes more than twice as many numbers as are unacknowledged (section 17.1).
    /// Four bytes at most, so fewer than 2^31 packets may be unacknowledged.
    #[inline]
    pub const fn truncated(value: u64, largest_acked: Option<u64>) -> Self {
        let unacked = match largest_acked {
            Some(acked) => value.saturating_sub(acked),
            None => value.saturating_add(1),
        };
        let len = match unacked {
            0..=0x7f => 1,
            0x80..=0x7fff => 2,
            0x8000..=0x7f_ffff => 3,
            _ => 4,
        };
        Self { value, len }
    }

    /// The packet number whose last `len` bytes are `truncated`, closest to the one expected next (appendix A.3).
    #[inline]
    pub const fn expanded(truncated: u32, len: u8, largest_received: Option<u64>) -> Self {
        let expected = match largest_received {
            Some(largest) => largest + 1,
            None => 0,
        };
        let window = 1_u64 << (8 * len as u32);
        let half = window / 2;
        let candidate = (expected & !(window - 1)) | truncated as u64;
        let value = if candidate + half <= expected && candidate <= MAX_VARINT - window {
            candidate + window
        } else if candidate > expected + half && candidate >= window {
            candidate - window
        } else {
            candidate
        };
        Self { value, len }
    }

    /// Its last `len` bytes, as a number.
    #[inline]
    pub const fn on_wire(self) -> u32 {
        (self.value & ((1_u64 << (8 * self.len as u32)) - 1)) as u32
    }
}
