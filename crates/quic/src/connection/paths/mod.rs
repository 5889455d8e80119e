//! The paths of a connection over time: validation, migration, failover, the preferred address of a server, and several paths at a time.

mod failover;
mod migration;
mod multipath;
mod preferred;
mod validation;

pub(crate) use self::multipath::Offer;
pub(super) use self::multipath::{Cargo, Multipath};
pub(super) use self::preferred::Preferred;
