//! A cursor over received bytes. Every method returns `None` at the end of the bytes and never panics.

use leobench_base::varint::read_varint;

/// The bytes that are still unread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// The unread bytes.
    pub(super) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `len` bytes.
    pub(super) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    /// The next `N` bytes.
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*taken)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// A variable-length integer (RFC 9000 section 16), in any of its encodings.
    #[inline]
    pub(super) fn varint(&mut self) -> Option<u64> {
        read_varint(&mut self.rest)
    }

    /// The next bytes, whose count stands in front of them as a variable-length integer.
    pub(super) fn prefixed(&mut self) -> Option<&'a [u8]> {
        let len = self.varint()?;
        self.take(usize::try_from(len).ok()?)
    }

    /// Skips zeros; how many there were.
    pub(super) fn skip_zeros(&mut self) -> usize {
        let zeros = self.rest.iter().take_while(|byte| **byte == 0).count();
        self.rest = &self.rest[zeros..];
        zeros
    }
}
