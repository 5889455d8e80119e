//! Observation of a running network: subscribers to its [events](NetworkEvent), samples, and the results of both.

mod events;
mod handovers;
mod links;
mod losses;
mod memory;
mod path_delays;
mod results;
mod routes;
mod samples;
mod stalls;
mod trace;

use leobench_base::{Bytes, DirectionId, FlowId, NodeId, SimTime};
use leobench_link::{Cause, Tallies};
use leobench_transport::endpoint::{PathSample, Report};
use typed_index_collections::TiVec;

pub(super) use self::events::NetworkEvent;
use self::handovers::HandoverWatch;
pub(crate) use self::handovers::{
    AFTERMATH, Crossing, FlowCrossings, HandoverTimes, MOVING, Milestones, STEP as HANDOVER_STEP,
};
pub(super) use self::links::LinkView;
pub use self::losses::LossTotals;
use self::losses::Losses;
pub(crate) use self::losses::Repeat;
use self::path_delays::PathDelays;
pub(crate) use self::results::{FlowState, Observed};
pub(crate) use self::routes::FirstOffer;
use self::routes::FlowRoutes;
pub(super) use self::routes::{AccessPath, Addresses, PathRoutes};
pub use self::stalls::{Stall, StallWatch};
pub use self::trace::PacketTrace;
use crate::ledger::FlowLedger;
use crate::record::{MessageRow, Names, RecordSettings, Recorder, TableSink};

/// The subscribers to the events of a network.
pub(super) struct Observer {
    recorder: Recorder,
    /// Whether every packet is recorded or followed.
    pub(super) packets: bool,
    trace: Option<Box<dyn PacketTrace>>,
    ledgers: TiVec<FlowId, FlowLedger>,
    /// Messages of all flows that take memory, and the bytes that the records of their deliveries take.
    kept: (u64, u64),
    /// `None` for flows whose data does not wait for anything.
    stalls: TiVec<FlowId, Option<StallWatch>>,
    /// Whether an end of a flow has completed its handshake.
    connected: TiVec<FlowId, bool>,
    directions: TiVec<DirectionId, LinkView>,
    /// The directions that are sampled: all that a flow can use.
    sampled: Vec<DirectionId>,
    /// Totals and measurements of the flows at the end of the warm-up.
    before: TiVec<FlowId, FlowState>,
    routes: TiVec<FlowId, FlowRoutes>,
    /// Packets of each flow, either way, that the network dropped, and that queues marked.
    dropped: TiVec<FlowId, Tallies>,
    marked: TiVec<FlowId, u64>,
    losses: Losses,
    path_delays: TiVec<FlowId, PathDelays>,
    /// Only where nodes move.
    handovers: Option<HandoverWatch>,
    next_sample: SimTime,
    warm_up: SimTime,
    /// Whether the warm-up is over.
    warm: bool,
    samples: Vec<PathSample>,
    rows: Vec<MessageRow>,
    /// By direction, the flows whose packets take it.
    over: TiVec<DirectionId, Vec<FlowId>>,
    /// Names of both ends of every flow, the sender first.
    ends: TiVec<FlowId, [String; 2]>,
    detail: String,
}

/// Parts that an observer is made from.
pub(super) struct ObserverParts {
    pub(super) settings: RecordSettings,
    pub(super) names: Names,
    pub(super) sink: Box<dyn TableSink>,
    pub(super) trace: Option<Box<dyn PacketTrace>>,
    pub(super) ledgers: TiVec<FlowId, FlowLedger>,
    pub(super) stalls: TiVec<FlowId, Option<StallWatch>>,
    pub(super) directions: TiVec<DirectionId, LinkView>,
    /// Whether no flow can use a direction.
    pub(super) idle: TiVec<DirectionId, bool>,
    /// The nodes at the ends of every flow.
    pub(super) flows: TiVec<FlowId, [NodeId; 2]>,
    /// The flows that may use several paths.
    pub(super) several_paths: Vec<FlowId>,
    pub(super) warm_up: SimTime,
}

impl Observer {
    pub(super) fn new(parts: ObserverParts) -> Self {
        let ObserverParts {
            settings,
            names,
            sink,
            mut trace,
            ledgers,
            stalls,
            directions,
            idle,
            flows,
            several_paths,
            warm_up,
        } = parts;
        let ends = |name: &str| ["sender", "receiver"].map(|end| format!("{name}/{end}"));
        let routes = flows.iter().map(|ends| FlowRoutes::new(*ends));
        if let Some(trace) = &mut trace {
            trace.begin(&names);
        }
        Self {
            packets: settings.packets || trace.is_some(),
            trace,
            ends: names.flows.iter().map(|flow| ends(&flow.name)).collect(),
            over: directions.iter().map(|_| Vec::new()).collect(),
            connected: flows.iter().map(|_| false).collect(),
            dropped: flows.iter().map(|_| Tallies::new(Cause::OF_NETWORKS)).collect(),
            marked: flows.iter().map(|_| 0).collect(),
            path_delays: PathDelays::of_flows(flows.len(), &several_paths),
            losses: Losses::new(flows.len(), warm_up, !names.topologies.is_empty()),
            handovers: (!names.topologies.is_empty()).then(|| HandoverWatch::new(flows.len())),
            routes: routes.collect(),
            recorder: Recorder::new(settings, names, sink),
            ledgers,
            kept: (0, 0),
            stalls,
            directions,
            sampled: idle
                .iter_enumerated()
                .filter(|(_, idle)| !**idle)
                .map(|(direction, _)| direction)
                .collect(),
            before: TiVec::new(),
            next_sample: SimTime::ZERO,
            warm_up,
            warm: warm_up == SimTime::ZERO,
            samples: Vec::new(),
            rows: Vec::new(),
            detail: String::new(),
        }
    }

    /// The names of everything.
    pub(super) fn names(&self) -> &Names {
        self.recorder.names()
    }

    /// When samples are due next, or the end of the warm-up; never if there is neither.
    pub(super) fn next_wake(&self) -> SimTime {
        let sample = if self.recorder.settings().series { self.next_sample } else { SimTime::MAX };
        if self.warm { sample } else { sample.min(self.warm_up) }
    }

    /// Size of the tables so far.
    pub(super) fn recorded(&self) -> Bytes {
        self.recorder.written()
    }

    /// The part of them that is kept in memory.
    pub(super) fn recorded_in_memory(&self) -> Bytes {
        self.recorder.kept()
    }

    /// Whether every message of a flow was delivered, or lost where nothing sends it again.
    pub(super) fn is_awaited(&self, flow: FlowId) -> bool {
        self.ledgers[flow].is_awaited()
    }

    /// Whether a report may become rows of messages.
    #[inline]
    pub(super) fn may_be_recorded(&self, flow: FlowId, report: Report) -> bool {
        self.recorder.settings().messages && self.ledgers[flow].may_complete(report)
    }

    /// Whether a handover has concerned a flow.
    pub(super) fn is_handed_over(&self, flow: FlowId) -> bool {
        self.handovers.as_ref().is_some_and(|watch| watch.concerns(flow))
    }

    /// Whether what a flow has lost is not sent again.
    pub(super) fn is_unreliable(&self, flow: FlowId) -> bool {
        self.stalls[flow].is_none()
    }
}
