//! Scenarios: the file that says what is run.
//!
//! A file in TOML or JSON is parsed into a tree of values, `--set` overrides are applied to the tree, the tree is
//! read into a [`ScenarioSpec`], and what only makes sense together is checked. Everything wrong is said with the
//! file, the place in it, the value, what is allowed, and the nearest valid word.

mod capacity;
mod check;
mod competition;
mod constellation;
mod flow;
mod handover;
mod hints;
mod link;
mod load;
mod overrides;
mod page;
mod real;
mod spec;
mod syntax;

use std::path::PathBuf;

use leobench_base::spec::{Schema, Spec, Value, json};

pub(crate) use capacity::capacity;
pub use competition::CompetitionSpec;
pub(crate) use constellation::hypatia_fault;
pub(crate) use constellation::text_of;
pub use constellation::{
    ConstellationSpec, Forwarded, GatewaySpec, Instant, IslSpec, PassageSpec, PolicyContext,
    PolicyModel, PolicySpec, Satellites, SatellitesModel, SatellitesSpec, StateFile, TerminalSpec,
};
pub use flow::{
    ApplicationSpec, BlocksUntil, FlowSpec, ForecastSpec, OpenedBy, StreamSpec, Streams,
    TransportModel, TransportSpec,
};
pub use handover::{HandoverKind, HandoverSpec};
pub use link::{Direction, DirectionSpec, LinkSpec, SignedBytes};
pub use load::{ScenarioError, Source, load, load_file};
pub use page::ObjectSpec;
pub use real::{Engine, RealSpec};
pub use spec::{NodeSpec, RecordSpec, ScenarioSpec, StaticTopology, Until};
pub use syntax::{LARGEST_FILE, Syntax, SyntaxError};

/// Use of a scenario's flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowUse {
    /// They run: there is at least one.
    Required,
    /// They are only looked at: there may be none.
    Optional,
    /// Programs run instead: there may be none, and they need not suit the network.
    Unused,
}

/// A scenario that was read and checked, and may be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its specification, defaults filled in.
    pub spec: ScenarioSpec,
    /// Folder that the relative file names in it start from.
    pub folder: PathBuf,
}

impl Scenario {
    /// The tree that loads as this scenario, defaults spelled out.
    pub fn write(&self) -> Value {
        self.spec.write()
    }

    /// The JSON Schema (draft 2020-12) of scenario files.
    pub fn schema() -> Schema {
        let mut schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "leobench scenario",
        });
        if let (Some(schema), Schema::Object(rest)) =
            (schema.as_object_mut(), ScenarioSpec::schema())
        {
            schema.extend(rest);
        }
        schema
    }
}

#[cfg(test)]
mod tests;
