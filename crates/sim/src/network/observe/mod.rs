//! Observation of a running network: messages, samples, events, and the numbers for the summary.

mod drops;
mod handovers;
mod losses;
mod memory;
mod routes;
mod stalls;

use leobench_base::End;
use leobench_base::{
    BitRate, Bytes, DirectionId, FlowId, LogHistogram, NodeId, SimDuration, SimTime,
};
use leobench_link::{Cause, ChannelState, Link, LinkConfig, LinkCounters, Service, Tallies};
use leobench_transport::endpoint::{Event, PathSample, Report, Totals};
use leobench_transport::{Endpoint, Message};
use typed_index_collections::{TiSlice, TiVec};

use self::handovers::HandoverWatch;
pub(crate) use self::handovers::{
    AFTERMATH, Crossing, FlowCrossings, HandoverTimes, MOVING, Milestones, STEP as HANDOVER_STEP,
};
pub use self::losses::LossTotals;
pub(crate) use self::losses::Repeat;
use self::losses::{FlowLossesEnded, Losses};
use self::routes::FlowRoutes;
pub(super) use self::routes::{Addresses, PathRoutes};
pub use self::stalls::{Stall, StallWatch};
use crate::ledger::FlowLedger;
use crate::record::{
    ChannelRow, MessageRow, Names, RecordSettings, Recorder, SinkError, TableSink,
};

/// Watches a network and feeds the recorder.
pub(super) struct Observer {
    recorder: Recorder,
    /// Whether every packet is recorded.
    pub(super) packets: bool,
    ledgers: TiVec<FlowId, FlowLedger>,
    /// Messages of all flows that take memory, and the bytes that the records of their deliveries take.
    kept: (u64, u64),
    /// `None` for flows whose data does not wait for anything.
    stalls: TiVec<FlowId, Option<StallWatch>>,
    directions: TiVec<DirectionId, LinkView>,
    /// The directions that are sampled: all that a flow can use.
    sampled: Vec<DirectionId>,
    /// Totals of the senders at the end of the warm-up, and their paths.
    before: TiVec<FlowId, SenderState>,
    routes: TiVec<FlowId, FlowRoutes>,
    /// Packets of each flow, either way, that the network dropped, and that queues marked.
    dropped: TiVec<FlowId, Tallies>,
    marked: TiVec<FlowId, u64>,
    losses: Losses,
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

/// The observer's record of a direction of a link, beside the link itself.
pub(crate) struct LinkView {
    pub(super) own_delay: SimDuration,
    pub(super) rate_scale: f64,
    /// Delay of the channel and its rate, if it has one.
    pub(super) channel: (SimDuration, Option<BitRate>),
    /// Whether it takes packets.
    pub(super) up: bool,
    /// Whether packets get through at some time while the channel stays as it is.
    pub(super) open: bool,
    /// Totals at the end of the warm-up.
    pub(crate) before: LinkCounters,
}

/// Totals and measurements of a sender since the start.
pub(crate) struct SenderState {
    pub(crate) totals: Totals,
    pub(crate) paths: Vec<PathSample>,
    /// Round-trip times in nanoseconds.
    pub(crate) rtts: LogHistogram,
}

impl SenderState {
    pub(super) fn of(now: SimTime, sender: &dyn Endpoint) -> Self {
        let mut paths = Vec::new();
        sender.sample_former_paths(&mut paths);
        sender.sample_paths(now, &mut paths);
        paths.sort_by_key(|path| path.path);
        Self { totals: sender.totals(), paths, rtts: sender.rtts() }
    }

    /// Takes off what was done up to `before`, on those paths too that were there already.
    pub(crate) fn leave_out(&mut self, before: &Self) {
        self.totals = self.totals.since(&before.totals);
        self.rtts = self.rtts.since(&before.rtts);
        for path in &mut self.paths {
            let earlier = before.paths.iter().find(|earlier| earlier.path == path.path);
            if let Some(earlier) = earlier {
                path.totals = path.totals.since(&earlier.totals);
            }
        }
    }
}

/// Results of an observer, for the summary.
pub(crate) struct Observed {
    pub(crate) recorder: Recorder,
    pub(crate) ledgers: TiVec<FlowId, FlowLedger>,
    /// The longest stall of every flow, if it has one.
    pub(crate) stalls: TiVec<FlowId, Option<Stall>>,
    pub(crate) directions: TiVec<DirectionId, LinkView>,
    /// From when on what links did counts: the end of the warm-up, or the start if the run ended before.
    pub(crate) links_from: SimTime,
    /// Totals of the senders at the end of the warm-up, and their paths; empty without a warm-up.
    pub(crate) before: TiVec<FlowId, SenderState>,
    /// Packets of each flow, either way, that the network dropped after the warm-up.
    pub(crate) dropped: TiVec<FlowId, Tallies>,
    /// Packets of each flow, either way, that queues marked after the warm-up.
    pub(crate) marked: TiVec<FlowId, u64>,
    pub(crate) losses: TiVec<FlowId, FlowLossesEnded>,
    /// Handovers of each flow, if nodes move.
    pub(crate) handovers: Option<TiVec<FlowId, FlowCrossings>>,
}

/// Parts that an observer is made from.
pub(super) struct ObserverParts {
    pub(super) settings: RecordSettings,
    pub(super) names: Names,
    pub(super) sink: Box<dyn TableSink>,
    pub(super) ledgers: TiVec<FlowId, FlowLedger>,
    pub(super) stalls: TiVec<FlowId, Option<StallWatch>>,
    pub(super) directions: TiVec<DirectionId, LinkView>,
    /// Whether no flow can use a direction.
    pub(super) idle: TiVec<DirectionId, bool>,
    /// The nodes at the ends of every flow.
    pub(super) flows: TiVec<FlowId, [NodeId; 2]>,
    pub(super) warm_up: SimTime,
}

impl LinkView {
    pub(super) fn new(config: &LinkConfig) -> Self {
        Self {
            own_delay: config.delay,
            rate_scale: config.rate_scale,
            channel: Default::default(),
            up: true,
            open: true,
            before: LinkCounters::default(),
        }
    }

    /// Propagation delay, that of the channel included.
    fn delay(&self) -> SimDuration {
        self.own_delay + self.channel.0
    }
}

impl Observer {
    pub(super) fn new(parts: ObserverParts) -> Self {
        let ObserverParts {
            settings,
            names,
            sink,
            ledgers,
            stalls,
            directions,
            idle,
            flows,
            warm_up,
        } = parts;
        let ends = |name: &str| ["sender", "receiver"].map(|end| format!("{name}/{end}"));
        let routes = flows.iter().map(|ends| FlowRoutes::new(*ends));
        Self {
            packets: settings.packets,
            ends: names.flows.iter().map(|flow| ends(&flow.name)).collect(),
            over: directions.iter().map(|_| Vec::new()).collect(),
            dropped: flows.iter().map(|_| Tallies::new(Cause::OF_NETWORKS)).collect(),
            marked: flows.iter().map(|_| 0).collect(),
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

    /// Propagation delay in a direction now.
    pub(super) fn delay(&self, direction: DirectionId) -> SimDuration {
        self.directions[direction].delay()
    }

    /// Whether a link takes packets in a direction.
    pub(super) fn is_up(&self, direction: DirectionId) -> bool {
        self.directions[direction].up
    }

    pub(super) fn next_wake(&self) -> SimTime {
        if self.warm { self.next_sample } else { self.next_sample.min(self.warm_up) }
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
    pub(super) fn is_drained(&self, flow: FlowId) -> bool {
        self.ledgers[flow].is_drained()
    }

    /// Whether what a flow has lost is not sent again.
    pub(super) fn is_unreliable(&self, flow: FlowId) -> bool {
        self.stalls[flow].is_none()
    }

    pub(super) fn created(&mut self, flow: FlowId, stream: usize, message: Message) {
        self.settle(flow, |ledger, _| ledger.created(stream, message));
        if let Some(watch) = &mut self.stalls[flow] {
            watch.data_waits(message.created);
        }
    }

    pub(super) fn report(
        &mut self,
        now: SimTime,
        flow: FlowId,
        report: Report,
    ) -> Result<(), SinkError> {
        if let Some(watch) = &mut self.handovers {
            watch.progress(now, flow, report);
        }
        let progress = self.ledgers[flow].progress(now, report);
        let arrived = progress
            .unwrap_or_else(|| self.settle(flow, |ledger, rows| ledger.report(now, report, rows)));
        if arrived > 0 {
            if let Some(watch) = &mut self.stalls[flow] {
                let base_rtt = || self.routes[flow].base_rtt();
                watch.delivered(now, base_rtt, !self.ledgers[flow].is_drained());
            }
            if let Some(watch) = &mut self.handovers {
                let first = self.ledgers[flow].statistics().first_created();
                watch.delivered(now, flow, arrived, first);
            }
        }
        self.record_messages(flow)
    }

    pub(super) fn lost(
        &mut self,
        now: SimTime,
        flow: FlowId,
        stream: usize,
        message: u64,
    ) -> Result<(), SinkError> {
        self.settle(flow, |ledger, rows| ledger.lost(now, stream, message, rows));
        self.record_messages(flow)
    }

    fn record_messages(&mut self, flow: FlowId) -> Result<(), SinkError> {
        for row in self.rows.drain(..) {
            self.recorder.message(flow, &row)?;
        }
        Ok(())
    }

    pub(super) fn event(
        &mut self,
        now: SimTime,
        flow: FlowId,
        end: End,
        event: &Event,
    ) -> Result<(), SinkError> {
        self.recorder.event(now, event.kind, &self.ends[flow][end as usize], &event.detail)
    }

    pub(super) fn channel(
        &mut self,
        now: SimTime,
        direction: DirectionId,
        state: &ChannelState,
    ) -> Result<(), SinkError> {
        let view = &mut self.directions[direction];
        let rate = match &state.service {
            Service::Rate(rate) => Some(rate.scaled(view.rate_scale)),
            Service::Opportunities(_) => None,
        };
        view.channel = (state.delay, rate);
        view.up = state.up;
        view.open = state.up && rate.is_none_or(|rate| !rate.is_zero());
        let delay = view.own_delay + state.delay;
        if self.sampled.binary_search(&direction).is_err() {
            return Ok(());
        }
        let (loss, up, label) = (state.loss, state.up, &*state.label);
        self.recorder.channel(now, direction, &ChannelRow { rate, delay, loss, up, label })
    }

    /// The directions that a flow can use: no other ever has a packet.
    pub(super) fn sampled(&self) -> &[DirectionId] {
        &self.sampled
    }

    /// Takes the samples due at `now`; `senders` in the order of the flows.
    pub(super) fn sample<'e>(
        &mut self,
        now: SimTime,
        directions: &TiSlice<DirectionId, Link>,
        senders: impl Iterator<Item = &'e (dyn Endpoint + 'static)>,
    ) -> Result<(), SinkError> {
        if now < self.next_sample {
            return Ok(());
        }
        self.next_sample = now + self.recorder.settings().interval;
        if !self.recorder.settings().series {
            return Ok(());
        }
        for &number in &self.sampled {
            let link = &directions[number];
            self.recorder.queue(now, number, link.backlog())?;
            if self.directions[number].channel.1.is_none() {
                let bits = link.counters(now).capacity_bits;
                self.recorder.opportunities(now, number, Bytes::new((bits / 8) as u64))?;
            }
        }
        for (flow, sender) in senders.enumerate() {
            self.sample_flow(now, flow.into(), sender)?;
        }
        Ok(())
    }

    fn sample_flow(
        &mut self,
        now: SimTime,
        flow: FlowId,
        sender: &dyn Endpoint,
    ) -> Result<(), SinkError> {
        self.samples.clear();
        sender.sample_paths(now, &mut self.samples);
        for sample in &self.samples {
            self.recorder.transport(now, flow, sample)?;
        }
        if let Some(buffer) = sender.send_buffer() {
            for (stream, buffer) in buffer.streams().iter().enumerate() {
                self.recorder.stream(now, flow, stream, buffer)?;
            }
        }
        Ok(())
    }

    /// Whether the warm-up ends at `now`, before anything else happens at that instant.
    pub(super) fn ends_warm_up(&self, now: SimTime) -> bool {
        !self.warm && now >= self.warm_up
    }

    /// Ends the warm-up: from here on everything counts.
    pub(super) fn end_warm_up(
        &mut self,
        directions: &mut TiSlice<DirectionId, Link>,
        senders: TiVec<FlowId, SenderState>,
    ) {
        self.warm = true;
        self.before = senders;
        for (view, link) in self.directions.iter_mut().zip(directions) {
            view.before = link.counters(self.warm_up);
            link.restart_queue_delay();
        }
    }

    /// Records the messages still open, and hands everything over.
    pub(super) fn finish(mut self, now: SimTime) -> Result<Observed, SinkError> {
        for (flow, ledger) in self.ledgers.iter_mut_enumerated() {
            for row in ledger.take_open(now) {
                self.recorder.message(flow, &row)?;
            }
        }
        let losses = self.losses.finish(&mut self.recorder)?;
        let links_from = if self.warm { self.warm_up } else { SimTime::ZERO };
        let Self {
            recorder, ledgers, stalls, directions, before, routes, warm_up, dropped, ..
        } = self;
        let handovers = self.handovers.map(|watch| {
            watch.finish(now, warm_up, |flow| routes[flow].at_handover(ledgers[flow].statistics()))
        });
        let marked = self.marked;
        let stalls = stalls.into_iter().zip(&routes).map(|(watch, routes)| {
            watch.and_then(|watch| watch.finish(now, routes.base_rtt(), warm_up))
        });
        let stalls = stalls.collect();
        let observed = Observed {
            recorder,
            ledgers,
            stalls,
            directions,
            links_from,
            before,
            dropped,
            marked,
            losses,
            handovers,
        };
        Ok(observed)
    }
}
