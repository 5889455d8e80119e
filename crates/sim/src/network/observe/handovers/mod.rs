//! Effects of handovers on flows. Nothing is watched in a network without topologies.

mod answer;

use leobench_base::End;
use leobench_base::{Bytes, FlowId, LinkId, SimDuration, SimTime};
use leobench_link::Cause;
use leobench_transport::PathId;
use leobench_transport::endpoint::{MoveStep, Report};
use typed_index_collections::TiVec;

use self::answer::Answer;
pub(crate) use self::answer::Milestones;
use self::answer::StreamProgress;
use crate::ledger::{Deliveries, Statistics};
use crate::record::Location;
use crate::topology::{Access, HandoverStage, Stage};

/// Steps of time in which deliveries and retransmissions are summed.
pub(crate) const STEP: SimDuration = SimDuration::from_millis(10);

/// A gap between deliveries belongs to a handover if it begins no later than this after the end of the handover: a
/// retransmission timer without a sample starts at 1 s (RFC 6298 section 2.1).
pub(crate) const AFTERMATH: SimDuration = SimDuration::from_secs(1);

/// The causes of drops that exist only because nodes move.
pub(crate) const MOVING: [Cause; 3] = [Cause::HANDOVER, Cause::NO_ROUTE, Cause::NO_PORT];

/// Watches the flows of a network in which nodes move.
pub(super) struct HandoverWatch {
    handovers: Vec<HandoverTimes>,
    flows: TiVec<FlowId, FlowWatch>,
}

/// A handover that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HandoverTimes {
    /// Which topology carries it out.
    pub(crate) topology: usize,
    pub(crate) stage: HandoverStage,
    pub(crate) begin: SimTime,
    /// When it ended, or the next one cut it short.
    pub(crate) end: Option<SimTime>,
}

/// Deliveries, retransmissions and handovers of a flow.
struct FlowWatch {
    deliveries: Deliveries,
    retransmissions: Deliveries,
    /// Bytes that it had retransmitted when last looked at.
    retransmitted: Bytes,
    last_delivery: Option<SimTime>,
    streams: Vec<StreamProgress>,
    crossings: Vec<Crossing>,
    /// Whether any of them concerns the flow.
    is_concerned: bool,
    /// The first of them that a gap may still belong to.
    listening: usize,
}

/// A handover as a flow goes through it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    /// Its index among the handovers of the run.
    handover: usize,
    /// Whether the flow's packets take another way because of it.
    concerns: bool,
    /// The path whose satellite it changes, where the flow has several paths. The others go on, so that such a handover lasts
    /// until the next one of its path.
    pub(crate) path: Option<PathId>,
    /// The next handover that concerns the flow.
    closed: Option<SimTime>,
    /// The longest gap between deliveries around it.
    pub(crate) gap: Option<(SimTime, SimTime)>,
    /// Bytes of the sender's packets that the network dropped because of it.
    pub(crate) lost: Bytes,
    /// Base round-trip time of the new way.
    pub(crate) base_rtt: SimDuration,
    /// How the flow's ends answered.
    pub(crate) answer: Answer,
}

/// The handovers that a flow went through.
#[derive(Debug)]
pub(crate) struct FlowCrossings {
    /// By steps of [`STEP`].
    pub(crate) deliveries: Deliveries,
    /// Bytes sent again, by the same steps.
    pub(crate) retransmissions: Deliveries,
    /// When the application first had data.
    pub(crate) first_created: Option<SimTime>,
    /// The handovers that concerned it, and until when the effects of each are measured.
    pub(crate) crossings: Vec<(HandoverTimes, Crossing, SimTime)>,
}

/// State of a flow as the watch needs it at a handover, and at the end of a run.
pub(super) struct FlowAtHandover<'a> {
    pub(super) statistics: &'a Statistics,
    /// The links that its packets take, by path.
    pub(super) paths: Vec<(PathId, Vec<LinkId>)>,
    pub(super) base_rtt: SimDuration,
}

impl HandoverWatch {
    pub(super) fn new(flows: usize) -> Self {
        let flow = || FlowWatch {
            deliveries: Deliveries::new(STEP),
            retransmissions: Deliveries::new(STEP),
            retransmitted: Bytes::ZERO,
            last_delivery: None,
            streams: Vec::new(),
            crossings: Vec::new(),
            is_concerned: false,
            listening: 0,
        };
        Self { handovers: Vec::new(), flows: (0..flows).map(|_| flow()).collect() }
    }

    /// A stage of a handover is reached, before packets take other ways.
    pub(super) fn stage<'a>(
        &mut self,
        now: SimTime,
        topology: usize,
        stage: HandoverStage,
        flow: impl Fn(FlowId) -> FlowAtHandover<'a>,
    ) {
        if stage.stage != Stage::Begin {
            let is_known = |known: &HandoverTimes| {
                known.topology == topology && known.stage.number == stage.number
            };
            if let Some(index) = self.handovers.iter().rposition(is_known) {
                self.handovers[index].end = Some(now);
                if matches!(stage.to, Access::Satellite(..)) {
                    self.restored(now, index);
                }
            }
            return;
        }
        let handover = self.handovers.len();
        self.handovers.push(HandoverTimes { topology, stage, begin: now, end: None });
        for (id, watch) in self.flows.iter_mut_enumerated() {
            let FlowAtHandover { statistics, paths, base_rtt } = flow(id);
            if statistics.first_created().is_none() {
                continue;
            }
            watch.crossings.push(Crossing {
                handover,
                concerns: false,
                path: None,
                closed: None,
                gap: None,
                lost: Bytes::ZERO,
                base_rtt: SimDuration::ZERO,
                answer: Answer::default(),
            });
            let left = stage.from.link();
            if let Some((path, _)) = paths.iter().find(|(_, links)| links.contains(&left)) {
                let is_one_of_several =
                    paths.len() > 1 && matches!(stage.from, Access::Satellite(..));
                watch.concern(now, base_rtt, Some(*path).filter(|_| is_one_of_several));
                if matches!(stage.from, Access::Satellite(..)) && stage.overlaps {
                    watch.present().into_iter().for_each(|crossing| crossing.answer.on_way(now));
                }
            }
        }
    }

    /// A satellite serves again: the flows that the handover concerns have a way, without other routes.
    fn restored(&mut self, now: SimTime, handover: usize) {
        for watch in &mut self.flows {
            let concerned = watch.crossings.iter_mut().rev();
            let mut concerned = concerned.filter(|crossing| crossing.handover == handover);
            // After another handover, packets have been going on another way.
            let open = |crossing: &&mut Crossing| crossing.concerns && crossing.closed.is_none();
            if let Some(crossing) = concerned.next().filter(open) {
                crossing.answer.on_way(now);
            }
        }
    }

    /// The packets of a flow take other ways from now on; `base_rtt` was that of the last ones, and `open` says whether there
    /// is a way at all.
    pub(super) fn rerouted(
        &mut self,
        now: SimTime,
        flow: FlowId,
        base_rtt: SimDuration,
        open: bool,
    ) {
        let watch = &mut self.flows[flow];
        let Some(crossing) = watch.crossings.last() else { return };
        let times = self.handovers[crossing.handover];
        if !crossing.concerns && times.end.is_none_or(|end| end == now) {
            watch.concern(times.begin, base_rtt, None);
        }
        if let Some(crossing) = watch.present().filter(|_| open) {
            crossing.answer.on_way(now);
        }
    }

    /// The packets of a flow have a way, whether it is another one or not.
    pub(super) fn on_way(&mut self, now: SimTime, flow: FlowId) {
        if let Some(crossing) = self.flows[flow].present() {
            crossing.answer.on_way(now);
        }
    }

    /// An end of a flow answered a change of the network.
    pub(super) fn moved(&mut self, now: SimTime, flow: FlowId, end: End, step: MoveStep) {
        let watch = &mut self.flows[flow];
        if let Some(crossing) = watch.present() {
            crossing.answer.on_step(now, end, step);
            if step == MoveStep::Reconnecting {
                // The connection took along what was on the way.
                watch.require();
            }
        }
    }

    /// The sender of a flow noticed that a packet was lost because a node moved.
    pub(super) fn noticed(&mut self, now: SimTime, flow: FlowId) {
        let has_lost =
            |crossing: &&mut Crossing| crossing.path.is_none() || crossing.lost > Bytes::ZERO;
        let crossings = self.flows[flow].open().filter(has_lost);
        crossings.for_each(|crossing| crossing.answer.on_notice(now));
    }

    /// Data of a flow was sent, or delivered.
    #[inline]
    pub(super) fn progress(&mut self, now: SimTime, flow: FlowId, report: Report) {
        let watch = &mut self.flows[flow];
        if StreamProgress::update(&mut watch.streams, report) {
            watch.open().for_each(|crossing| crossing.answer.on_repaired(now));
        }
    }

    /// Bytes of a flow were delivered.
    pub(super) fn delivered(
        &mut self,
        now: SimTime,
        flow: FlowId,
        bytes: u64,
        first_created: Option<SimTime>,
    ) {
        let watch = &mut self.flows[flow];
        watch.deliveries.add(now, Bytes::new(bytes));
        let last = watch.last_delivery.replace(now);
        if let Some(from) = last.or(first_created) {
            watch.gap(&self.handovers, from, now);
        }
    }

    /// A packet of the sender of a flow was dropped because a node moved, on a link or at a node.
    pub(super) fn lost(&mut self, flow: FlowId, location: Location, size: Bytes) {
        let Self { handovers, flows } = self;
        let watch = &mut flows[flow];
        let is_on_path = |crossing: &Crossing| match location {
            Location::Link(direction) => {
                handovers[crossing.handover].stage.from.link() == direction.link()
            }
            Location::Node(_) => false,
        };
        let mut concerned = watch.crossings.iter_mut().rev().filter(|crossing| crossing.concerns);
        let concerned = concerned.find(|crossing| crossing.path.is_none() || is_on_path(crossing));
        if let Some(crossing) = concerned {
            crossing.lost += size;
            if crossing.answer.takes_data() && StreamProgress::require(&mut watch.streams) {
                crossing.answer.on_missing();
            }
        }
    }

    /// The sender of a flow has retransmitted so many bytes by now.
    pub(super) fn retransmitted(&mut self, now: SimTime, flow: FlowId, total: Bytes) {
        let watch = &mut self.flows[flow];
        let new = total.saturating_sub(watch.retransmitted);
        watch.retransmitted = total;
        watch.retransmissions.add(now, new);
    }

    /// Whether any handover has concerned a flow.
    pub(super) fn concerns(&self, flow: FlowId) -> bool {
        self.flows[flow].is_concerned
    }

    /// Memory that the watch of a flow takes.
    pub(super) fn memory(&self, flow: FlowId) -> u64 {
        let FlowWatch { deliveries, retransmissions, crossings, .. } = &self.flows[flow];
        let crossings = (crossings.capacity() * size_of::<Crossing>()) as u64;
        deliveries.memory().get() + retransmissions.memory().get() + crossings
    }

    /// Returns each flow's handovers at the end of a run, without those that began before `warm_up`.
    pub(super) fn finish<'a>(
        self,
        now: SimTime,
        warm_up: SimTime,
        flow: impl Fn(FlowId) -> FlowAtHandover<'a>,
    ) -> TiVec<FlowId, FlowCrossings> {
        let Self { handovers, flows } = self;
        let ended = |(id, mut watch): (FlowId, FlowWatch)| {
            let FlowAtHandover { statistics, base_rtt, .. } = flow(id);
            let first_created = statistics.first_created();
            let until = statistics.settled().unwrap_or(now);
            // What is still missing makes a gap up to the end.
            if let Some(last) = watch.last_delivery.or(first_created).filter(|last| *last < until) {
                watch.gap(&handovers, last, until);
            }
            watch.open().for_each(|crossing| crossing.close(now, base_rtt));
            let crossings = watch.crossings.iter().filter(|crossing| crossing.concerns);
            let crossings = crossings.map(|crossing| {
                let close = crossing.closed.unwrap_or(until).min(until);
                (handovers[crossing.handover], *crossing, close)
            });
            let crossings = crossings.filter(|(times, ..)| times.begin >= warm_up);
            FlowCrossings {
                first_created,
                crossings: crossings.collect(),
                deliveries: watch.deliveries,
                retransmissions: watch.retransmissions,
            }
        };
        flows.into_iter_enumerated().map(ended).collect()
    }
}

impl Crossing {
    /// Its effects are measured up to `now`.
    fn close(&mut self, now: SimTime, base_rtt: SimDuration) {
        self.closed = Some(now);
        self.base_rtt = base_rtt;
    }
}

impl FlowWatch {
    /// The latest handover concerns the flow, or one of several paths: the effects of the one before end where it begins.
    fn concern(&mut self, begin: SimTime, base_rtt: SimDuration, path: Option<PathId>) {
        let before = self.open().filter(|before| before.path.is_none() || before.path == path);
        before.for_each(|before| before.close(begin, base_rtt));
        if let Some(crossing) = self.crossings.last_mut() {
            (crossing.concerns, crossing.path) = (true, path);
            self.is_concerned = true;
        }
    }

    /// The handovers that concern the flow and whose effects are still measured: with one path, the latest one.
    fn open(&mut self) -> impl Iterator<Item = &mut Crossing> {
        let is_open = |crossing: &&mut Crossing| crossing.concerns && crossing.closed.is_none();
        self.crossings.iter_mut().filter(is_open)
    }

    /// The latest handover that concerns the flow.
    fn present(&mut self) -> Option<&mut Crossing> {
        self.crossings.iter_mut().rev().find(|crossing| crossing.concerns)
    }

    /// Requires everything sent so far to be delivered before the latest handover counts as repaired.
    fn require(&mut self) {
        if StreamProgress::require(&mut self.streams)
            && let Some(crossing) = self.present()
        {
            crossing.answer.on_missing();
        }
    }

    /// Nothing was delivered between two instants.
    fn gap(&mut self, handovers: &[HandoverTimes], from: SimTime, to: SimTime) {
        for at in self.listening..self.crossings.len() {
            let crossing = &mut self.crossings[at];
            let times = handovers[crossing.handover];
            let over = times.end.is_some_and(|end| from > end + AFTERMATH);
            if over || crossing.closed.is_some_and(|closed| from >= closed) {
                if at == self.listening {
                    self.listening += 1;
                }
                continue;
            }
            let longest = crossing.gap.map_or(SimDuration::ZERO, |(from, to)| to - from);
            if to > times.begin && to - from > longest {
                crossing.gap = Some((from, to));
            }
        }
    }
}
