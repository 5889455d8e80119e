//! Scenarios: the file that says what is run.
//!
//! A file in TOML or JSON is parsed into a tree of values, `--set` overrides are applied to the tree, the tree is
//! read into a [`ScenarioSpec`], and what only makes sense together is checked. Everything wrong is said with the
//! file, the place in it, the value, what is allowed, and the nearest valid word.

mod flow;
mod link;
mod spec;

use std::path::PathBuf;

pub use flow::{FlowSpec, OpenedBy, StreamSpec, Streams, TransportModel, TransportSpec};
pub use link::{Direction, DirectionSpec, LinkSpec, SignedBytes};
pub use spec::{NodeSpec, RecordSpec, ScenarioSpec, Until};

/// A scenario that was read and checked, and may be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// What it says.
    pub spec: ScenarioSpec,
    /// Folder that the relative file names in it start from.
    pub folder: PathBuf,
}
