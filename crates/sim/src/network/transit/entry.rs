//! An entry of a forwarding table in four bytes, so that tables stay in the cache.

use crate::topology::NextHop;

/// A [`NextHop`] by its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableEntry(u32);

const NOWHERE: u32 = u32::MAX;
const DOWN: u32 = u32::MAX - 1;

impl TableEntry {
    /// Nobody knows a way.
    pub(super) const NOWHERE: Self = Self(NOWHERE);

    pub(super) const fn new(hop: NextHop) -> Self {
        match hop {
            NextHop::Nowhere => Self(NOWHERE),
            NextHop::Down => Self(DOWN),
            NextHop::Over(laser) => Self(laser),
        }
    }

    #[inline]
    pub(super) const fn get(self) -> NextHop {
        match self.0 {
            NOWHERE => NextHop::Nowhere,
            DOWN => NextHop::Down,
            laser => NextHop::Over(laser),
        }
    }
}
