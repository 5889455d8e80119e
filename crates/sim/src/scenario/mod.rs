//! Scenarios: the specification of a run, one file per table. `load` reads and checks them.

mod capacity;
mod competition;
mod constellation;
mod cross_layer;
mod flow;
mod handover;
mod link;
mod page;
mod pairs;
mod real;
mod spec;
pub mod traffic;
mod transport;

use std::path::PathBuf;

use leobench_base::spec::{Schema, Spec, Value, json};

pub(crate) use capacity::{capacity, hop_capacity, satellite_capacity};
pub use competition::CompetitionSpec;
pub(crate) use constellation::hypatia_fault;
pub(crate) use constellation::text_of;
pub use constellation::{
    BackhaulSpec, BeamSpec, ConstellationSpec, Forwarded, GatewaySpec, GroundSpec, Instant,
    IslSpec, PassageSpec, RouteChoice, SatelliteSpec, Satellites, SatellitesModel, SatellitesSpec,
    StateFile, TerminalSpec,
};
pub use cross_layer::CrossLayerSpec;
pub use flow::{ApplicationSpec, FlowSpec, ForecastSpec, OpenedBy, StreamSpec, Streams};
pub(crate) use flow::{MOST_FLOWS, MOST_STREAMS, Urgency};
pub use handover::{HandoverKind, HandoverSpec};
pub use link::{Direction, DirectionSpec, LinkSpec, SignedBytes};
pub(crate) use link::{default_queue, steady};
pub use page::{HttpVersion, ObjectSpec};
pub(crate) use page::{LARGEST_FRAME, browser_socket, server_socket};
pub use real::{Engine, RealSpec};
pub use spec::{NodeSpec, RecordSpec, ScenarioSpec, StaticTopology, Until};
use traffic::TrafficPlan;
pub use transport::{
    BlocksUntil, EndpointContext, EndpointFault, FlowCheck, FlowNetwork, HostSocket, MovedFlow,
    TransportModel, TransportSpec, Unsound,
};

/// A scenario that was read and checked, and may be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its specification, defaults filled in, together with what `traffic` expands into.
    pub spec: ScenarioSpec,
    /// Folder that the relative file names in it start from.
    pub folder: PathBuf,
    /// Its traffic between places, if it has any.
    pub traffic: Option<Traffic>,
}

/// The traffic between places of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// The specification before it was expanded.
    pub given: Box<ScenarioSpec>,
    /// Number of the flow of the first transfer; the others follow in order, and no other flows.
    pub first_flow: usize,
    /// The transfers.
    pub plan: TrafficPlan,
}

impl Scenario {
    /// Number of flows, the first ones, that are reported one by one: all but those of traffic between places.
    pub fn reported_flows(&self) -> usize {
        self.traffic.as_ref().map_or(self.spec.flows.len(), |traffic| traffic.first_flow)
    }

    /// The tree that loads as this scenario, defaults spelled out.
    pub fn write(&self) -> Value {
        self.traffic.as_ref().map_or_else(|| self.spec.write(), |traffic| traffic.given.write())
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
