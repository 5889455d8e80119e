//! The scenario as a whole: what runs, for how long, and what is recorded of it.

use leobench_base::{DirectionId, NodeId, SimDuration};
use rustc_hash::FxHashMap;
use typed_index_collections::TiVec;

use super::competition::CompetitionSpec;
use super::constellation::ConstellationSpec;
use super::flow::FlowSpec;
use super::handover::HandoverSpec;
use super::link::{Direction, LinkSpec};
use super::real::{Engine, RealSpec};
use super::traffic::TrafficSpec;
use crate::limits::LimitsSpec;
use crate::routes::{Edge, Routes};

leobench_base::words! {
    /// When a run ends.
    pub enum Until {
        /// At `duration`, even if bytes are still in flight.
        Time = "time",
        /// When every byte has arrived after the sources stopped at `duration`, or `drain_limit` later.
        Drained = "drained",
    }
}

leobench_base::spec! {
    /// An experiment: nodes, the links between them, and the flows over them.
    pub struct ScenarioSpec {
        /// Name of the scenario and of its results: letters, digits, `_`, `-` and `.`.
        pub name: String,
        /// Purpose of the scenario, for readers.
        pub description: Option<String>,
        /// Seed of all random numbers of the run.
        pub seed: u64 = 1,
        /// Time during which the sources produce messages. Programs run without one, until the main program ends.
        pub duration: Option<SimDuration>,
        /// When the run ends: at `duration` (`time`), or when every byte has arrived (`drained`).
        pub until: Until = Until::Time,
        /// Maximum time after `duration` to wait for the last byte.
        pub drain_limit: SimDuration = SimDuration::from_secs(600),
        /// The driver of the run: the next event (`virtual`), or a clock (`real`).
        pub engine: Engine = Engine::Virtual,
        /// How a run in real time follows the clock.
        pub real: RealSpec = RealSpec::DEFAULT,
        /// Initial time that the summary leaves out.
        pub warm_up: SimDuration = SimDuration::ZERO,
        /// The tables to record.
        pub record: RecordSpec = RecordSpec::DEFAULT,
        /// Limits on memory and disk space of the run.
        pub limits: LimitsSpec = LimitsSpec::DEFAULT,
        /// Criteria for how non-background flows share the network.
        pub competition: CompetitionSpec = CompetitionSpec::default(),
        /// The nodes by name.
        pub nodes: Vec<(String, NodeSpec)> = Vec::new(),
        /// The links by name.
        pub links: Vec<(String, LinkSpec)> = Vec::new(),
        /// The flows by name. Programs run without any.
        pub flows: Vec<(String, FlowSpec)> = Vec::new(),
        /// Traffic between places, which makes more flows and, if needed, nodes and links.
        pub traffic: Option<TrafficSpec>,
        /// How nodes move from link to link, by name.
        pub handovers: Vec<(String, HandoverSpec)> = Vec::new(),
        /// Satellites over terminals and gateways, which links lead through.
        pub constellation: Option<ConstellationSpec>,
    }
}

/// Length that checks assume for a session of programs without a `duration`.
const SESSION: SimDuration = SimDuration::from_secs(3_600);

impl ScenarioSpec {
    /// Number of the node of this name, in the order of the file.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().position(|(node, _)| node == name).map(NodeId::from)
    }

    /// The link (by its place in the file) and the direction that a number stands for: two for every link, forward before
    /// backward.
    pub fn direction(&self, direction: DirectionId) -> (usize, Direction) {
        (
            direction.index() / Direction::BOTH.len(),
            Direction::BOTH[direction.index() % Direction::BOTH.len()],
        )
    }

    /// How long sources produce: the `duration`, or an hour where programs run without one.
    pub fn production(&self) -> SimDuration {
        self.duration.unwrap_or(SESSION)
    }

    /// The longest time that a run takes.
    pub fn longest(&self) -> SimDuration {
        match self.until {
            Until::Time => self.production(),
            Until::Drained => self.production() + self.drain_limit,
        }
    }

    /// When a run ends at the latest; `None` if only its main program ends it.
    pub fn end(&self) -> Option<SimDuration> {
        self.duration.map(|_| self.longest())
    }

    /// How far ahead any flow is told of its paths; zero if none is.
    pub fn foresight(&self) -> SimDuration {
        let horizons = self.flows.iter().flat_map(|(_, flow)| {
            let forecast = flow.forecast.map(|forecast| forecast.horizon);
            [forecast, flow.cross_layer.map(|cross_layer| cross_layer.horizon)]
        });
        horizons.flatten().max().unwrap_or_default()
    }

    /// The flows that compete with each other: all that are not background.
    pub fn competitors(&self) -> impl Iterator<Item = &(String, FlowSpec)> {
        self.flows.iter().filter(|(_, flow)| !flow.background)
    }

    /// The directions of all links as routes see them, by their delay without the channel's: two for every link in
    /// the order of the file, forward before backward. `None` if a link names a node that does not exist.
    pub fn edges(&self) -> Option<TiVec<DirectionId, Edge>> {
        let places: FxHashMap<_, _> = self
            .nodes
            .iter()
            .enumerate()
            .map(|(place, (name, _))| (name.as_str(), NodeId::from(place)))
            .collect();
        let directions = self.links.iter().flat_map(|(_, link)| {
            Direction::BOTH.map(|direction| {
                let [from, to] = link.ends(direction).map(|name| places.get(name).copied());
                Some(Edge { from: from?, to: to?, delay: link.delay(direction) })
            })
        });
        directions.collect()
    }

    /// The networks that a run goes through: that of the start, and for every handover those with each of its other links in
    /// use while all other nodes are at their first.
    pub fn topologies(&self) -> impl Iterator<Item = StaticTopology<'_>> {
        let moves = self.handovers.iter().flat_map(|(_, handover)| {
            handover.links.iter().skip(1).map(move |link| (handover, link.as_str()))
        });
        std::iter::once(None)
            .chain(moves.map(Some))
            .map(|moved| StaticTopology { spec: self, moved })
    }
}

/// The network while nothing moves.
#[derive(Clone, Copy, Debug)]
pub struct StaticTopology<'a> {
    spec: &'a ScenarioSpec,
    /// A node that is not at its first link, and the link that it is at.
    moved: Option<(&'a HandoverSpec, &'a str)>,
}

impl StaticTopology<'_> {
    /// The node that is not at its first link, and the link that it is at.
    pub fn moved(&self) -> Option<(&str, &str)> {
        self.moved.map(|(handover, link)| (handover.node.as_str(), link))
    }

    /// The routes to some destinations; none if the scenario names nodes that do not exist.
    pub fn routes(&self, destinations: impl IntoIterator<Item = NodeId>) -> Routes {
        let edges = self.spec.edges().unwrap_or_default();
        let mut routes = Routes::new(self.spec.nodes.len(), edges.clone());
        for (direction, edge) in edges.iter_enumerated() {
            let name = &self.spec.links[self.spec.direction(direction).0].0;
            routes.set(direction, self.is_in_use(name), edge.delay);
        }
        routes.to(destinations)
    }

    fn is_in_use(&self, link: &str) -> bool {
        self.spec.handovers.iter().all(|(_, handover)| {
            let in_use = match self.moved {
                Some((moved, at)) if std::ptr::eq(moved, handover) => Some(at),
                _ => handover.links.first().map(String::as_str),
            };
            in_use == Some(link) || !handover.links.iter().any(|other| other == link)
        })
    }
}

leobench_base::spec! {
    /// The tables that a run records, beside the summary and the events.
    #[derive(Copy, Eq)]
    pub struct RecordSpec {
        /// Time between two samples of the series.
        pub interval: SimDuration = Self::DEFAULT.interval,
        /// Whether every message gets a row.
        pub messages: bool = Self::DEFAULT.messages,
        /// Whether the state of links, queues and transports is sampled.
        pub series: bool = Self::DEFAULT.series,
        /// Whether every packet gets a row.
        pub packets: bool = Self::DEFAULT.packets,
    }
}

impl RecordSpec {
    /// Defaults of the keys.
    pub const DEFAULT: Self = Self {
        interval: SimDuration::from_millis(10),
        messages: true,
        series: true,
        packets: false,
    };
}

leobench_base::spec! {
    /// A place where links meet and flows end.
    pub struct NodeSpec {
        /// Meaning of the node, for readers.
        pub description: Option<String>,
    }
}
