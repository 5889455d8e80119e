//! Connection IDs (RFC 9000 section 5.1) and stateless reset tokens (section 10.3).

/// A connection ID of up to 20 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId {
    len: u8,
    bytes: [u8; Self::MAX_SIZE],
}

impl ConnectionId {
    /// Maximum size in version 1 (RFC 9000 section 17.2).
    pub const MAX_SIZE: usize = 20;

    /// The connection ID of these bytes, if they are no more than allowed.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let mut id = Self { len: u8::try_from(bytes.len()).ok()?, ..Self::default() };
        id.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(id)
    }

    /// Its bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Its size in bytes.
    #[inline]
    pub const fn size(&self) -> u64 {
        self.len as u64
    }
}

/// A stateless reset token (RFC 9000 section 10.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResetToken(pub [u8; 16]);
