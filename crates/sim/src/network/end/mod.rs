//! The network at the end of a run: what it and its flows leave behind.

use leobench_base::{DirectionId, FlowId, LogHistogram};
use leobench_link::LinkCounters;
use leobench_transport::Endpoint;
use leobench_transport::endpoint::Loss;
use typed_index_collections::TiVec;

use super::observe::{FlowState, Observed};
use super::{
    Called, HopTotals, Network, NetworkError, PageTimes, TransitTotals, TransmitterTotals, Watched,
};

/// A network at its end.
pub(crate) struct Ended {
    /// Results of the observer.
    pub(crate) observed: Observed,
    /// Totals and measurements of the flows' ends, the warm-up left out.
    pub(crate) states: TiVec<FlowId, FlowState>,
    /// Totals and waiting times of the links, by direction.
    pub(crate) directions: TiVec<DirectionId, (LinkCounters, LogHistogram)>,
    /// Totals of the transmitters that links shared, of those that served.
    pub(crate) transmitters: Vec<TransmitterTotals>,
    /// Totals of the hops of the network in orbit that sent, and of all, if there is one.
    pub(crate) transit: Option<(Vec<HopTotals>, TransitTotals)>,
    /// By flow, what became of the objects of its page, if it has one.
    pub(crate) pages: TiVec<FlowId, Option<PageTimes>>,
    /// By flow, what its viewer has seen, if it is a video.
    pub(crate) watched: TiVec<FlowId, Option<Watched>>,
    /// By flow, the picture as seen and the voice as heard, if it is a call.
    pub(crate) called: TiVec<FlowId, Option<Called>>,
    /// By flow, which end lost its connection for good, if one did, and how; the first if both did.
    pub(crate) losses: TiVec<FlowId, Option<(&'static str, Loss)>>,
}

impl Network {
    /// Takes the network apart at the end of a run.
    ///
    /// # Errors
    /// If results or what the endpoints wrote on the side cannot be written.
    pub(crate) fn finish(mut self) -> Result<Ended, NetworkError> {
        if let Some(captures) = self.captures.take() {
            captures.finish()?;
        }
        let losses = self
            .flows
            .iter()
            .map(|flow| first_loss(flow.ends.map(|end| &*self.endpoints[end].endpoint)));
        let losses = losses.collect();
        // Endpoints close their paths when they finish.
        let mut states = self.flow_states();
        for endpoint in self.endpoints.keys() {
            let slot = &mut self.endpoints[endpoint];
            let (flow, done) = (slot.flow, slot.endpoint.finish(self.now));
            done.map_err(|error| self.flow_error(flow, error))?;
        }
        let Self {
            now,
            directions,
            mut observer,
            mut flows,
            store,
            held,
            transmitters,
            transit,
            ..
        } = self;
        let transmitters = transmitters.map(|shared| shared.totals(now)).unwrap_or_default();
        let transit = transit.map(|mut transit| transit.totals(now));
        let pages = flows.iter().map(|flow| flow.application.page()).collect();
        let watched: TiVec<FlowId, _> =
            flows.iter_mut().map(|flow| flow.application.watched(now)).collect();
        let called: TiVec<FlowId, _> =
            flows.iter().map(|flow| flow.application.called(now)).collect();
        for (flow, watched) in watched.iter_enumerated() {
            if let Some(watched) = watched {
                observer.watched(flow, watched)?;
            }
        }
        for (flow, called) in called.iter_enumerated() {
            if let Some(called) = called {
                observer.called(flow, called)?;
            }
        }
        let on_links = directions.iter().map(|link| link.backlog().packets + link.in_flight());
        debug_assert_eq!(
            store.len() as u64,
            on_links.sum::<u64>() + held.len() as u64,
            "every packet has a descriptor, which is on a link or held at a node"
        );
        let directions =
            directions.iter().map(|link| (link.counters(now), link.queue_delay().clone()));
        let directions = directions.collect();
        let observed = observer.finish(now)?;
        for (state, before) in states.iter_mut().zip(&observed.before) {
            state.leave_out(before);
        }
        Ok(Ended {
            observed,
            states,
            directions,
            transmitters,
            transit,
            pages,
            watched,
            called,
            losses,
        })
    }

    /// Returns the state of each flow's ends at this instant.
    pub(super) fn flow_states(&self) -> TiVec<FlowId, FlowState> {
        let ends = self.flows.iter().map(|flow| flow.ends);
        let ends = ends.map(|ends| ends.map(|end| &*self.endpoints[end].endpoint));
        ends.map(|ends| FlowState::of(self.now, ends)).collect()
    }
}

/// Which of the two ends of a flow lost its connection first, if one did, and how.
fn first_loss(ends: [&dyn Endpoint; 2]) -> Option<(&'static str, Loss)> {
    let losses = ["sender", "receiver"].into_iter().zip(ends);
    let losses = losses.filter_map(|(end, endpoint)| Some((end, endpoint.lost()?.clone())));
    losses.min_by_key(|(_, loss)| loss.at)
}

#[cfg(test)]
mod tests;
