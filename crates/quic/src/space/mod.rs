//! The receiving side of a packet number space (RFC 9000 section 12.3).

mod acknowledgements;

pub(crate) use self::acknowledgements::{FrequencyState, Received};
use crate::wire::Space;

/// The acknowledgements and probes that an end owes its peer in a packet number space.
pub(crate) struct AckState {
    /// Packets received, and their acknowledgement.
    pub(crate) received: Received,
    /// Probes to send (RFC 9002 section 6.2.4).
    pub(crate) probes: u32,
}

impl AckState {
    pub(crate) fn new(space: Space) -> Self {
        Self { received: Received::new(space), probes: 0 }
    }
}
