//! The results of a run, in the form that its summary is made from.

use leobench_base::{Bytes, FlowId, SimTime};
use leobench_transport::CongestionSpec;

use crate::network::{Ended, Stall};
use crate::scenario::{Engine, FlowSpec, HttpVersion, ScenarioSpec, Streams, TransportSpec};
use crate::summary::{
    ByCause, FlowSummaryInput, HandoversInput, LinkSummaryInput, OrbitSummary, PageInput,
    SatelliteSummary,
};

/// The end of a run, beside its specification.
#[derive(Clone, Copy)]
pub(super) struct Results<'a> {
    pub(super) spec: &'a ScenarioSpec,
    /// Number of flows, the first ones, that are reported one by one.
    pub(super) reported_flows: usize,
    pub(super) engine: Engine,
    /// When it ended.
    pub(super) end: SimTime,
    pub(super) ended: &'a Ended,
}

impl<'a> Results<'a> {
    /// The flows, in the order of the scenario.
    pub(super) fn flows(self) -> Vec<FlowSummaryInput<'a>> {
        let flows = self.spec.flows.iter().enumerate().take(self.reported_flows);
        flows.map(|(number, (name, flow))| self.flow(number.into(), name, flow)).collect()
    }

    fn flow(self, number: FlowId, name: &'a str, flow: &'a FlowSpec) -> FlowSummaryInput<'a> {
        let Ended { observed, states, pages, watched, called, losses, .. } = self.ended;
        let names = observed.recorder.names();
        let start = SimTime::ZERO + flow.start;
        FlowSummaryInput {
            name,
            streams: &names.flows[number].streams,
            transport: flow.transport.kind(),
            congestion: controller(&flow.transport),
            start,
            offered_bps: offered(flow),
            ledger: &observed.ledgers[number],
            end: self.end,
            totals: states[number].totals,
            unreported: &states[number].unreported,
            rtt: &states[number].rtts,
            arrivals: states[number].arrivals.as_ref(),
            dropped: &observed.dropped[number],
            marked: observed.marked[number],
            losses: (self.engine == Engine::Virtual && !flow.transport.model().is_foreign())
                .then(|| observed.losses[number].totals),
            handovers: observed.handovers.as_ref().map(|flows| HandoversInput {
                flow: &flows[number],
                repeats: &observed.losses[number].repeats,
                names: &names.topologies,
            }),
            paths: &states[number].paths,
            pooled: flow.http == Some(HttpVersion::Http1),
            path_delays: &observed.path_delays[number],
            lost: losses[number].as_ref().map(|(end, loss)| (*end, loss)),
            video: watched[number].as_ref(),
            call: called[number].as_ref(),
            page: pages[number].as_ref().map(|times| PageInput { start, times }),
        }
    }

    /// The links, one entry per direction; `queue_limits` has the bytes of the limits that depend on what links carry.
    pub(super) fn links(self, queue_limits: &[Option<Bytes>]) -> Vec<LinkSummaryInput<'a>> {
        let observed = &self.ended.observed;
        let span = self.end.saturating_since(observed.links_from);
        let names = &observed.recorder.names().directions;
        let links = self.ended.directions.iter().zip(&observed.directions).zip(names);
        let links = links.zip(queue_limits).map(
            |((((counters, queue_delay), view), name), queue_limit)| {
                let before = &view.before;
                let bits = counters.capacity_bits - before.capacity_bits;
                LinkSummaryInput {
                    name,
                    span,
                    capacity: Bytes::new(u64::try_from(bits / 8).unwrap_or(u64::MAX)),
                    delivered: counters.wire_bytes.saturating_sub(before.wire_bytes),
                    delivered_packets: counters.delivered.packets - before.delivered.packets,
                    dropped_packets: ByCause::since(&before.dropped, &counters.dropped),
                    marked_packets: ByCause::since(&before.marked, &counters.marked),
                    queue_limit: *queue_limit,
                    queue_delay,
                }
            },
        );
        links.collect()
    }

    /// The transmitters of satellites, if links shared them.
    pub(super) fn satellites(self) -> Vec<SatelliteSummary> {
        self.ended.transmitters.iter().map(SatelliteSummary::new).collect()
    }

    /// The network in orbit, if packets took hops there.
    pub(super) fn orbit(self) -> Option<OrbitSummary> {
        let span = self.end.saturating_since(self.ended.observed.links_from);
        self.ended.transit.as_ref().map(|transit| OrbitSummary::new(transit, span))
    }

    /// The flows that stalled, and when.
    pub(super) fn stalls(self) -> Vec<(String, Stall)> {
        let stalls = self.spec.flows.iter().zip(&self.ended.observed.stalls);
        stalls.filter_map(|((name, _), stall)| Some((name.clone(), (*stall)?))).collect()
    }

    /// The flows at least one end of which completed its handshake.
    pub(super) fn connected(self) -> Vec<String> {
        let flows = self.spec.flows.iter().zip(&self.ended.observed.connected);
        flows.filter(|(_, connected)| **connected).map(|((name, _), _)| name.clone()).collect()
    }
}

/// The congestion controller of a transport, if it has one that is known.
pub(super) fn controller(transport: &TransportSpec) -> Option<&str> {
    let model = transport.model();
    model.congestion().filter(|_| !model.is_foreign()).map(CongestionSpec::name)
}

/// The mean rate a flow's sources offer together, if each has one.
fn offered(flow: &FlowSpec) -> Option<f64> {
    match (&flow.streams, &flow.source) {
        (Streams::Each(streams), _) => {
            streams.iter().map(|stream| stream.source.model().offered_bps()).sum()
        }
        (Streams::Dealt(_), Some(source)) => source.model().offered_bps(),
        (Streams::Dealt(_), None) => None,
    }
}
