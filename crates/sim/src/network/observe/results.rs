//! The results of the subscribers at the end of a run.

use leobench_base::{Digest, DirectionId, FlowId, LogHistogram, SimTime};
use leobench_link::Tallies;
use leobench_transport::Endpoint;
use leobench_transport::arrivals::Arrivals;
use leobench_transport::endpoint::{PathId, PathSample, Totals};
use typed_index_collections::TiVec;

use super::handovers::FlowCrossings;
use super::losses::FlowLossesEnded;
use super::path_delays::PathDelays;
use super::routes::FirstOffer;
use super::{LinkView, Observer, Stall};
use crate::ledger::FlowLedger;
use crate::network::{Called, Watched};
use crate::record::{Recorder, SinkError};

/// Totals and measurements of both ends of a flow since the start.
pub(crate) struct FlowState {
    /// The sender's.
    pub(crate) totals: Totals,
    /// Names of its totals that it does not know.
    pub(crate) unreported: Vec<&'static str>,
    pub(crate) paths: Vec<PathSample>,
    /// Round-trip times in nanoseconds.
    pub(crate) rtts: LogHistogram,
    /// The receiver's measurements of the arrival of stream data, if it has any.
    pub(crate) arrivals: Option<Arrivals>,
}

impl FlowState {
    pub(in crate::network) fn of(now: SimTime, [sender, receiver]: [&dyn Endpoint; 2]) -> Self {
        let mut paths = Vec::new();
        sender.sample_former_paths(&mut paths);
        sender.sample_paths(now, &mut paths);
        paths.sort_by_key(|path| path.path);
        let arrivals = receiver.arrivals().cloned();
        let (totals, unreported) = (sender.totals(), sender.unreported());
        Self { totals, unreported, paths, rtts: sender.rtts(), arrivals }
    }

    /// Takes off what was done up to `before`, on those paths too that were there already.
    pub(in crate::network) fn leave_out(&mut self, before: &Self) {
        self.totals = self.totals.since(&before.totals);
        self.rtts = self.rtts.since(&before.rtts);
        if let (Some(arrivals), Some(before)) = (&mut self.arrivals, &before.arrivals) {
            *arrivals = arrivals.since(before);
        }
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
    /// Whether at least one end of each flow completed its handshake.
    pub(crate) connected: TiVec<FlowId, bool>,
    pub(crate) directions: TiVec<DirectionId, LinkView>,
    /// From when on what links did counts: the end of the warm-up, or the start if the run ended before.
    pub(crate) links_from: SimTime,
    /// Totals and measurements of the flows at the end of the warm-up; empty without a warm-up.
    pub(in crate::network) before: TiVec<FlowId, FlowState>,
    /// Packets of each flow, either way, that the network dropped after the warm-up.
    pub(crate) dropped: TiVec<FlowId, Tallies>,
    /// Packets of each flow, either way, that queues marked after the warm-up.
    pub(crate) marked: TiVec<FlowId, u64>,
    pub(crate) losses: TiVec<FlowId, FlowLossesEnded>,
    /// Delays of the packets of each flow, by path, if it may use several.
    pub(crate) path_delays: TiVec<FlowId, Vec<(PathId, Digest)>>,
    /// Handovers of each flow, if nodes move.
    pub(crate) handovers: Option<TiVec<FlowId, FlowCrossings>>,
    /// Offer of the network to each flow at its first message.
    pub(crate) first_offers: TiVec<FlowId, Option<FirstOffer>>,
}

impl Observer {
    /// Records what the viewer of a flow's video was sent.
    pub(in crate::network) fn watched(
        &mut self,
        flow: FlowId,
        watched: &Watched,
    ) -> Result<(), SinkError> {
        self.recorder.segments(flow, &watched.player)
    }

    /// Records the frames of a flow's call.
    pub(in crate::network) fn called(
        &mut self,
        flow: FlowId,
        called: &Called,
    ) -> Result<(), SinkError> {
        self.recorder.frames(flow, &called.times)
    }

    /// Records the messages still open, and hands everything over.
    pub(in crate::network) fn finish(mut self, now: SimTime) -> Result<Observed, SinkError> {
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
        let (marked, connected) = (self.marked, self.connected);
        let stalls = stalls.into_iter().zip(&routes).map(|(watch, routes)| {
            watch.and_then(|watch| watch.finish(now, routes.base_rtt(), warm_up))
        });
        let stalls = stalls.collect();
        let observed = Observed {
            recorder,
            ledgers,
            stalls,
            connected,
            directions,
            links_from,
            before,
            dropped,
            marked,
            losses,
            path_delays: self.path_delays.into_iter().map(PathDelays::finish).collect(),
            handovers,
            first_offers: routes.iter().map(|routes| routes.first_offer).collect(),
        };
        Ok(observed)
    }
}
