//! Traffic between places: who sends to whom, when, and how much.
//!
//! [`TrafficSpec::plan`] resolves the places, asks the matrix for the [demands](Demand), the arrivals for the times and the sizes for
//! the bytes, and returns a [`TrafficPlan`]: every transfer with its pair, its start, its size and its transport.
//! `load::traffic` adds what the plan needs to the scenario: stations, nodes, a link for each pair, and a flow for each transfer.
//!
//! Each of pairs, times, sizes and transports has its own random stream under the run's seed. The names, the number and the
//! parameters of the transports change none of the others, so that transports are compared on the same plan.

mod arrivals;
mod file;
mod link;
mod matrix;
mod places;
mod plan;
mod sizes;
#[cfg(test)]
mod tests;

use leobench_base::quantity::{Altitude, Latitude, Longitude};
use leobench_base::spec::{Fault, Range, Whole};

pub use arrivals::{ArrivalModel, ArrivalsSpec};
pub use link::PairLinkSpec;
pub use matrix::{Demand, MatrixModel, MatrixSpec};
pub use places::Place;
pub use plan::{TrafficPlan, Transfer};
pub use sizes::{SizeModel, SizeSpec};

use super::flow::OpenedBy;
use super::transport::TransportSpec;
use arrivals::at_start::AtStartSpec;

/// The largest number of transfers. Ours: a flow has two ports of its own, so that there are no more than 32,768 flows
/// (`build/flows`), and at one node no port of a receiver may be that of a sender.
pub const MOST_TRANSFERS: u32 = 28_000;

leobench_base::spec! {
    /// Traffic between places: a flow for each transfer and, with `link`, a link for each pair of places.
    pub struct TrafficSpec check = TrafficSpec::check {
        /// Places by name.
        pub places: Vec<(String, PlaceSpec)> = Vec::new(),
        /// A CSV file with more places: `name`, `latitude`, `longitude` in degrees, and if needed `population` and `altitude` in metres.
        pub place_list: Option<String>,
        /// Names of the places with traffic: of `places` or `place_list`, of nodes, terminals or gateways. Without it, all of
        /// `places` and `place_list`.
        pub between: Option<Vec<String>>,
        /// The shares of the pairs of places.
        pub matrix: MatrixSpec,
        /// When transfers start.
        pub arrivals: ArrivalsSpec = ArrivalsSpec::AtStart(AtStartSpec::default()),
        /// Number of transfers, or the largest number if they arrive at random; one for each pair of the matrix unless given, or all
        /// that arrive before `duration`.
        pub flows: Option<Whole<1, MOST_TRANSFERS>>,
        /// Bytes of a transfer.
        pub size: SizeSpec,
        /// The transport of all transfers.
        pub transport: Option<TransportSpec>,
        /// Transports with shares of the transfers, by name, instead of `transport`.
        pub mix: Vec<(String, MixSpec)> = Vec::new(),
        /// The end that opens the connection.
        pub opened_by: OpenedBy = OpenedBy::From,
        /// The link of a pair through the constellation: the keys of a link but for `between`. Without it, transfers take the
        /// links of the scenario between nodes of these names.
        pub link: Option<PairLinkSpec>,
    }
}

leobench_base::spec! {
    /// A place on the ground.
    pub struct PlaceSpec: Default check = PlaceSpec::check {
        /// Latitude, north positive; with `longitude`, or neither for a node, a terminal or a gateway of this name.
        pub latitude: Option<Latitude>,
        /// Longitude, east positive.
        pub longitude: Option<Longitude>,
        /// Height above the ellipsoid WGS84.
        pub altitude: Altitude = Altitude::constant(0.0),
        /// Inhabitants, for matrices that weigh places by them.
        pub population: Option<f64> [Range::above(0.0)],
    }
}

leobench_base::spec! {
    /// A transport with a share of the transfers.
    pub struct MixSpec {
        /// The transport and its parameters.
        pub transport: TransportSpec,
        /// Its share; the shares add up to 1. Equal shares unless given.
        pub share: Option<f64> [Range::above(0.0).to(1.0)],
    }
}

impl PlaceSpec {
    fn check(&self) -> Result<(), Fault> {
        let allowed = "both `latitude` and `longitude`, or neither";
        match (self.latitude, self.longitude) {
            (Some(_), None) => Err(Fault::new("longitude", "is required but missing", allowed)),
            (None, Some(_)) => Err(Fault::new("latitude", "is required but missing", allowed)),
            _ => Ok(()),
        }
    }
}

impl TrafficSpec {
    fn check(&self) -> Result<(), Fault> {
        let either = "either `transport` or a `mix` of transports";
        match (&self.transport, self.mix.is_empty()) {
            (None, true) => return Err(Fault::new("transport", "is required but missing", either)),
            (Some(_), false) => {
                return Err(Fault::new("mix", "is given together with `transport`", either));
            }
            _ => {}
        }
        if self.between.as_ref().is_some_and(|between| between.len() < 2) {
            let problem = "has no pair of places";
            return Err(Fault::new("between", problem, "at least two names"));
        }
        self.shares().map(drop)
    }

    /// The shares of the transports, which add up to 1.
    pub(super) fn shares(&self) -> Result<Vec<f64>, Fault> {
        let given: Vec<f64> = self.mix.iter().filter_map(|(_, mix)| mix.share).collect();
        if given.is_empty() {
            let count = self.mix.len().max(1);
            return Ok(vec![1.0 / count as f64; count]);
        }
        if let Some((name, _)) = self.mix.iter().find(|(_, mix)| mix.share.is_none()) {
            let allowed = "a share for every transport of the `mix`, or for none";
            return Err(Fault::new(format!("mix.{name}.share"), "is missing", allowed));
        }
        let sum: f64 = given.iter().sum();
        if (sum - 1.0).abs() > 1e-9 {
            let problem = format!("has shares that add up to {sum:.6}");
            return Err(Fault::new("mix", problem, "shares that add up to 1"));
        }
        Ok(given)
    }

    /// The transports by number, with their names in the `mix`.
    pub fn transports(&self) -> Vec<(Option<&str>, &TransportSpec)> {
        let mixed = self.mix.iter().map(|(name, mix)| (Some(name.as_str()), &mix.transport));
        self.transport.iter().map(|transport| (None, transport)).chain(mixed).collect()
    }
}
