//! Variable-length integers (RFC 9000 section 16).

use bytes::BufMut;

/// Largest value of a variable-length integer.
pub const MAX_VARINT: u64 = (1 << 62) - 1;

/// Bytes of the shortest encoding of `value`.
#[inline]
pub const fn varint_size(value: u64) -> u64 {
    match value {
        0..=0x3f => 1,
        0x40..=0x3fff => 2,
        0x4000..=0x3fff_ffff => 4,
        _ => 8,
    }
}

/// Takes a value, in any of its encodings, from the front of `bytes`; `None` if they end before it does.
#[inline]
pub fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    match *bytes.first()? >> 6 {
        0 => array(bytes).map(|[byte]| byte.into()),
        1 => array(bytes).map(|bytes| u64::from(u16::from_be_bytes(bytes) & 0x3fff)),
        2 => array(bytes).map(|bytes| u64::from(u32::from_be_bytes(bytes) & 0x3fff_ffff)),
        _ => array(bytes).map(|bytes| u64::from_be_bytes(bytes) & MAX_VARINT),
    }
}

#[inline]
fn array<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}

/// Appends the shortest encoding of `value`, which is at most [`MAX_VARINT`].
#[inline]
pub fn write_varint(out: &mut impl BufMut, value: u64) {
    debug_assert!(value <= MAX_VARINT, "{value} is no variable-length integer");
    match varint_size(value) {
        1 => out.put_u8(value as u8),
        2 => out.put_u16(value as u16 | 0x4000),
        4 => out.put_u32(value as u32 | 0x8000_0000),
        _ => out.put_u64(value | 0xc000_0000_0000_0000),
    }
}
