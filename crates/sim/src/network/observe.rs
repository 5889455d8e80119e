//! What is seen of a network while it runs: messages, samples, events, and the numbers for the summary.

use std::fmt::Write as _;

use leobench_base::{BitRate, Bytes, LogHistogram, Meta, SimDuration, SimTime};
use leobench_link::{Cause, ChannelState, Link, LinkCounters, Service};
use leobench_transport::endpoint::{Event, PathSample, Report, Totals};
use leobench_transport::{Endpoint, Message, PathId};

use super::stalls::{Stall, StallWatch};
use crate::ledger::FlowLedger;
use crate::record::{
    ChannelRow, FlowNames, MessageRow, Names, PacketEvent, PacketRow, Recorder, SinkError,
};
use crate::summary::totals_since;

/// Watches a network and feeds the recorder.
pub(super) struct Observer {
    recorder: Recorder,
    /// Whether every packet is recorded.
    pub(super) packets: bool,
    ledgers: Vec<FlowLedger>,
    /// By flow; `None` for those whose data does not wait for anything.
    stalls: Vec<Option<StallWatch>>,
    links: Vec<LinkView>,
    /// Totals of the senders at the end of the warm-up, and their paths.
    before: Vec<SenderState>,
    routes: Vec<FlowRoutes>,
    next_sample: SimTime,
    warm_up: SimTime,
    /// Whether the warm-up is over.
    warm: bool,
    samples: Vec<PathSample>,
    rows: Vec<MessageRow>,
    names: Names,
    /// Names of both ends of every flow, senders first.
    endpoints: Vec<String>,
    detail: String,
}

/// What is known of a link beside the link itself.
pub(crate) struct LinkView {
    pub(super) own_delay: SimDuration,
    pub(super) rate_scale: f64,
    /// Delay of the channel and its rate, if it has one.
    pub(super) channel: (SimDuration, Option<BitRate>),
    /// Whether packets get through at some time while the channel stays as it is.
    pub(super) open: bool,
    /// Totals at the end of the warm-up.
    pub(crate) before: LinkCounters,
}

/// The links a flow's packets take, there and back.
pub(super) struct FlowRoutes {
    pub(super) there: Vec<usize>,
    pub(super) back: Vec<usize>,
    /// Base round-trip time and bottleneck last recorded.
    pub(super) recorded: Option<(SimDuration, Option<BitRate>)>,
}

/// What a sender has done and measured since the start.
pub(crate) struct SenderState {
    pub(crate) totals: Totals,
    pub(crate) paths: Vec<PathSample>,
    /// Round-trip times in nanoseconds.
    pub(crate) rtts: LogHistogram,
}

impl FlowRoutes {
    /// The base round-trip time last recorded.
    fn base_rtt(&self) -> SimDuration {
        self.recorded.map_or(SimDuration::ZERO, |(base_rtt, _)| base_rtt)
    }
}

impl SenderState {
    pub(super) fn of(now: SimTime, sender: &dyn Endpoint) -> Self {
        let mut paths = Vec::new();
        sender.sample_paths(now, &mut paths);
        Self { totals: sender.totals(), paths, rtts: sender.rtts() }
    }

    /// Takes off what was done up to `before`, on those paths too that were there already.
    pub(crate) fn leave_out(&mut self, before: &Self) {
        self.totals = totals_since(&before.totals, &self.totals);
        self.rtts = self.rtts.since(&before.rtts);
        for path in &mut self.paths {
            let earlier = before.paths.iter().find(|earlier| earlier.path == path.path);
            if let Some(earlier) = earlier {
                path.totals = totals_since(&earlier.totals, &path.totals);
            }
        }
    }
}

/// What the summary takes over.
pub(crate) struct Observed {
    pub(crate) recorder: Recorder,
    pub(crate) ledgers: Vec<FlowLedger>,
    /// The longest stall of every flow, if it has one.
    pub(crate) stalls: Vec<Option<Stall>>,
    pub(crate) links: Vec<LinkView>,
    /// Totals of the senders at the end of the warm-up, and their paths; empty without a warm-up.
    pub(crate) before: Vec<SenderState>,
}

impl Observer {
    pub(super) fn new(
        recorder: Recorder,
        ledgers: Vec<FlowLedger>,
        stalls: Vec<Option<StallWatch>>,
        links: Vec<LinkView>,
        routes: Vec<FlowRoutes>,
        warm_up: SimTime,
    ) -> Self {
        Self {
            packets: recorder.settings().packets,
            endpoints: endpoint_names(recorder.names()),
            names: recorder.names().clone(),
            recorder,
            ledgers,
            stalls,
            links,
            before: Vec::new(),
            routes,
            next_sample: SimTime::ZERO,
            warm_up,
            warm: warm_up == SimTime::ZERO,
            samples: Vec::new(),
            rows: Vec::new(),
            detail: String::new(),
        }
    }

    pub(super) fn next_wake(&self) -> SimTime {
        if self.warm { self.next_sample } else { self.next_sample.min(self.warm_up) }
    }

    /// By flow, how many messages take memory, and the bytes that the record of its deliveries takes.
    pub(super) fn messages(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ledgers.iter().map(|ledger| {
            let deliveries = ledger.deliveries().map_or(0, |deliveries| deliveries.memory().get());
            (ledger.kept(), deliveries)
        })
    }

    /// Size of the tables so far.
    pub(super) fn recorded(&self) -> Bytes {
        self.recorder.written()
    }

    /// The part of them that is kept in memory.
    pub(super) fn recorded_in_memory(&self) -> Bytes {
        self.recorder.kept()
    }

    pub(super) fn link_name(&self, link: usize) -> &str {
        &self.names.links[link]
    }

    pub(super) fn is_drained(&self) -> bool {
        self.ledgers.iter().all(FlowLedger::is_drained)
    }

    pub(super) fn created(&mut self, flow: usize, stream: usize, message: Message) {
        self.ledgers[flow].created(stream, message);
        if let Some(watch) = &mut self.stalls[flow] {
            watch.data_waits(message.created);
        }
    }

    pub(super) fn report(
        &mut self,
        now: SimTime,
        flow: usize,
        report: Report,
    ) -> Result<(), SinkError> {
        let arrived = self.ledgers[flow].report(now, report, &mut self.rows);
        if arrived > 0
            && let Some(watch) = &mut self.stalls[flow]
        {
            watch.delivered(now, self.routes[flow].base_rtt(), !self.ledgers[flow].is_drained());
        }
        self.record_messages(flow)
    }

    pub(super) fn lost(
        &mut self,
        now: SimTime,
        flow: usize,
        stream: usize,
        message: u64,
    ) -> Result<(), SinkError> {
        self.ledgers[flow].lost(now, stream, message, &mut self.rows);
        self.record_messages(flow)
    }

    fn record_messages(&mut self, flow: usize) -> Result<(), SinkError> {
        for row in self.rows.drain(..) {
            self.recorder.message(flow, &row)?;
        }
        Ok(())
    }

    pub(super) fn event(
        &mut self,
        now: SimTime,
        endpoint: usize,
        event: &Event,
    ) -> Result<(), SinkError> {
        self.recorder.event(now, event.kind, &self.endpoints[endpoint], &event.detail)
    }

    pub(super) fn packet(
        &mut self,
        now: SimTime,
        link: usize,
        flow: Option<usize>,
        meta: &Meta,
        event: PacketEvent,
    ) -> Result<(), SinkError> {
        let (number, size) = (meta.id, meta.size);
        self.recorder.packet(now, &PacketRow { packet: number, link, event, size, flow })
    }

    pub(super) fn dropped(
        &mut self,
        now: SimTime,
        link: usize,
        flow: Option<usize>,
        meta: &Meta,
        cause: Cause,
    ) -> Result<(), SinkError> {
        self.packet(now, link, flow, meta, PacketEvent::Drop(cause))?;
        self.packet_event(now, "drop", link, flow, meta, cause)
    }

    pub(super) fn marked(
        &mut self,
        now: SimTime,
        link: usize,
        flow: Option<usize>,
        meta: &Meta,
        cause: Cause,
    ) -> Result<(), SinkError> {
        self.packet(now, link, flow, meta, PacketEvent::Mark(cause))?;
        self.packet_event(now, "mark", link, flow, meta, cause)
    }

    fn packet_event(
        &mut self,
        now: SimTime,
        kind: &str,
        link: usize,
        flow: Option<usize>,
        meta: &Meta,
        cause: Cause,
    ) -> Result<(), SinkError> {
        let flow = flow.map_or("nobody", |flow| self.names.flows[flow].name.as_str());
        self.detail.clear();
        // Writing to a string cannot fail.
        let _ = write!(self.detail, "{}: packet {} of {flow}", cause.name(), meta.id);
        self.recorder.event(now, kind, &self.names.links[link], &self.detail)
    }

    pub(super) fn channel(
        &mut self,
        now: SimTime,
        link: usize,
        state: &ChannelState,
    ) -> Result<(), SinkError> {
        let view = &mut self.links[link];
        let rate = match &state.service {
            Service::Rate(rate) => Some(rate.scaled(view.rate_scale)),
            Service::Opportunities(_) => None,
        };
        view.channel = (state.delay, rate);
        view.open = state.up && rate.is_none_or(|rate| !rate.is_zero());
        let delay = view.own_delay + state.delay;
        let (loss, up, label) = (state.loss, state.up, state.label);
        self.recorder.channel(now, link, &ChannelRow { rate, delay, loss, up, label })
    }

    /// Records what the network offers every flow, where that has changed.
    pub(super) fn paths(&mut self, now: SimTime) -> Result<(), SinkError> {
        for (flow, routes) in self.routes.iter_mut().enumerate() {
            let delay = |link: &usize| {
                let view = &self.links[*link];
                view.own_delay + view.channel.0
            };
            let base_rtt = routes.there.iter().chain(&routes.back).map(delay).sum();
            if let Some(watch) = &mut self.stalls[flow] {
                let mut both = routes.there.iter().chain(&routes.back);
                watch.path(now, both.all(|link| self.links[*link].open));
            }
            let rates = routes.there.iter().map(|link| self.links[*link].channel.1);
            let bottleneck = rates.collect::<Option<Vec<_>>>().and_then(|r| r.into_iter().min());
            if routes.recorded != Some((base_rtt, bottleneck)) {
                routes.recorded = Some((base_rtt, bottleneck));
                self.recorder.path(now, flow, PathId::default(), base_rtt, bottleneck)?;
            }
        }
        Ok(())
    }

    /// Takes the samples due at `now`; `senders` in the order of the flows.
    pub(super) fn sample<'e>(
        &mut self,
        now: SimTime,
        links: &mut [Link],
        senders: impl Iterator<Item = &'e (dyn Endpoint + 'static)>,
    ) -> Result<(), SinkError> {
        if now < self.next_sample {
            return Ok(());
        }
        self.next_sample = now + self.recorder.settings().interval;
        for (index, link) in links.iter().enumerate() {
            self.recorder.queue(now, index, link.backlog())?;
            if self.links[index].channel.1.is_none() {
                let bits = link.counters(now).capacity_bits;
                self.recorder.opportunities(now, index, Bytes::new((bits / 8) as u64))?;
            }
        }
        for (flow, sender) in senders.enumerate() {
            self.sample_flow(now, flow, sender)?;
        }
        Ok(())
    }

    fn sample_flow(
        &mut self,
        now: SimTime,
        flow: usize,
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
    pub(super) fn end_warm_up(&mut self, links: &mut [Link], senders: Vec<SenderState>) {
        self.warm = true;
        self.before = senders;
        for (view, link) in self.links.iter_mut().zip(links) {
            view.before = link.counters(self.warm_up);
            link.restart_queue_delay();
        }
    }

    /// Records the messages still open, and hands everything over.
    pub(super) fn finish(mut self, now: SimTime) -> Result<Observed, SinkError> {
        for (flow, ledger) in self.ledgers.iter_mut().enumerate() {
            for row in ledger.take_open(now) {
                self.recorder.message(flow, &row)?;
            }
        }
        let Self { recorder, ledgers, stalls, links, before, routes, warm_up, .. } = self;
        let stalls = stalls.into_iter().zip(&routes).map(|(watch, routes)| {
            watch.and_then(|watch| watch.finish(now, routes.base_rtt(), warm_up))
        });
        Ok(Observed { recorder, ledgers, stalls: stalls.collect(), links, before })
    }
}

fn endpoint_names(names: &Names) -> Vec<String> {
    let ends = |flow: &FlowNames| ["sender", "receiver"].map(|end| format!("{}/{end}", flow.name));
    names.flows.iter().flat_map(ends).collect()
}
