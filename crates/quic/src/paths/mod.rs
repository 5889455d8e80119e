//! The paths of a connection: the routes of each, its connection IDs, and all that is measured on it.

mod member;
mod path;
mod path_set;
mod route;
mod validation;

pub(crate) use self::member::{Member, StreamRange};
pub(crate) use self::path::{Ids, Path, Stage};
pub(crate) use self::path_set::PathSet;
pub(crate) use self::route::{FourTuple, RecvMeta, Route};
pub(crate) use self::validation::Due;
