//! Interests in sending, of the parts of a connection that seldom have any.

use crate::connection::Connection;

/// Rare interests in sending, a bit each. Without any, all that can be sent are 1-RTT packets of the only path over its route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interests(u8);

impl Interests {
    /// The connection closes, or is closed.
    pub(super) const CLOSE: Self = Self(1);
    /// The handshake is not confirmed: packets of several spaces may share a datagram.
    pub(super) const HANDSHAKE: Self = Self(1 << 1);
    /// The keys are worn out, or have changed.
    pub(super) const KEYS: Self = Self(1 << 2);
    /// Both ends have agreed on several paths.
    pub(super) const PATHS: Self = Self(1 << 3);
    /// Routes other than the present one are known.
    pub(super) const ROUTES: Self = Self(1 << 4);

    #[inline]
    pub(in crate::connection) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(in crate::connection) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// This interest if it is present.
    #[inline]
    const fn when(self, present: bool) -> u8 {
        if present { self.0 } else { 0 }
    }
}

impl Connection {
    /// The rare interests of now.
    #[inline]
    pub(super) fn interests(&self) -> Interests {
        Interests(
            Interests::CLOSE.when(!self.is_open())
                | Interests::HANDSHAKE.when(!self.handshake.confirmed)
                | Interests::KEYS.when(self.keys.needs_care())
                | Interests::PATHS.when(self.multipath.is_some())
                | Interests::ROUTES.when(!self.paths.first().others.is_empty()),
        )
    }
}
