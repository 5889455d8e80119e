//! The scenario as a whole: what runs, for how long, and what is recorded of it.

use leobench_base::SimDuration;
use rustc_hash::FxHashMap;

use super::competition::CompetitionSpec;
use super::flow::FlowSpec;
use super::link::{Direction, LinkSpec};
use crate::limits::LimitsSpec;
use crate::routes::Edge;

leobench_base::words! {
    /// When a run ends.
    pub enum Until {
        /// At `duration`, whatever is still under way.
        Time = "time",
        /// When every byte has arrived after the sources stopped at `duration`, or `drain_limit` later.
        Drained = "drained",
    }
}

leobench_base::spec! {
    /// An experiment: nodes, the links between them, and the flows over them.
    pub struct ScenarioSpec {
        /// Name of the scenario, which results are filed under: letters, digits, `_`, `-` and `.`.
        pub name: String,
        /// What the scenario shows, for a reader.
        pub description: Option<String>,
        /// Seed of all randomness in the run.
        pub seed: u64 = 1,
        /// How long the sources produce.
        pub duration: SimDuration,
        /// When the run ends: at `duration` (`time`), or when every byte has arrived (`drained`).
        pub until: Until = Until::Time,
        /// How long after `duration` a run that waits for every byte may last at most.
        pub drain_limit: SimDuration = SimDuration::from_secs(600),
        /// Time from the start that the summary leaves out.
        pub warm_up: SimDuration = SimDuration::ZERO,
        /// What is recorded.
        pub record: RecordSpec = RecordSpec::DEFAULT,
        /// What the run may take of memory and space.
        pub limits: LimitsSpec = LimitsSpec::DEFAULT,
        /// How it is judged how flows that are not background share the network.
        pub competition: CompetitionSpec = CompetitionSpec::default(),
        /// The nodes by name.
        pub nodes: Vec<(String, NodeSpec)>,
        /// The links by name.
        pub links: Vec<(String, LinkSpec)>,
        /// The flows by name.
        pub flows: Vec<(String, FlowSpec)>,
    }
}

impl ScenarioSpec {
    /// Number of the node of this name, in the order of the file.
    pub fn node(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|(node, _)| node == name)
    }

    /// The flows that compete with each other: all that are not background.
    pub fn competitors(&self) -> impl Iterator<Item = &(String, FlowSpec)> {
        self.flows.iter().filter(|(_, flow)| !flow.background)
    }

    /// The directions of all links as routes see them, by their delay without the channel's: two for every link in
    /// the order of the file, forward before backward. `None` if a link names a node that does not exist.
    pub fn edges(&self) -> Option<Vec<Edge>> {
        let places: FxHashMap<_, _> =
            self.nodes.iter().zip(0..).map(|((name, _), place)| (name.as_str(), place)).collect();
        let directions = self.links.iter().flat_map(|(_, link)| {
            Direction::BOTH.map(|direction| {
                let [from, to] = link.ends(direction).map(|name| places.get(name).copied());
                Some(Edge { from: from?, to: to?, delay: link.delay(direction) })
            })
        });
        directions.collect()
    }
}

leobench_base::spec! {
    /// What is recorded of a run, beside the summary and the events.
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
    /// What is recorded unless a scenario says otherwise.
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
        /// What the node stands for, for a reader.
        pub description: Option<String>,
    }
}
