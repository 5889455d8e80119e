//! Pairs what the network did to packets with what their senders concluded.
//!
//! Only packets that are dropped, declared lost or repeated take time and memory: those that arrive do not.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use leobench_base::{Bytes, FlowId, Meta, SimTime};
use leobench_link::Cause;
use leobench_transport::endpoint::{Verdict, VerdictKind};
use typed_index_collections::TiVec;

use super::application::End;
use super::handovers::MOVING;
use crate::record::{DropRow, LossRow, Recorder, SinkError};

/// The packets of all flows that were lost, or taken for lost.
pub(super) struct Losses {
    flows: TiVec<FlowId, FlowLosses>,
    scope: Scope,
}

/// What is counted, and kept.
#[derive(Clone, Copy)]
struct Scope {
    warm_up: SimTime,
    /// Whether nodes move: only then repetitions are kept.
    moves: bool,
}

/// Those of a flow.
#[derive(Default)]
struct FlowLosses {
    /// By [`End`] and transmission, those that more may become known of.
    open: [BTreeMap<NonZeroU64, LossRow>; 2],
    totals: LossTotals,
    repeats: Vec<Repeat>,
}

/// Bytes that a sender sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repeat {
    pub(crate) at: SimTime,
    pub(crate) bytes: Bytes,
    /// Why the network had dropped them, if it had.
    pub(crate) cause: Option<Cause>,
}

/// Packets of the sender of a flow by what became of them and what it concluded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossTotals {
    /// Dropped, and declared lost.
    pub noticed: u64,
    /// Dropped, and never declared lost.
    pub unnoticed: u64,
    /// Declared lost, but not dropped.
    pub spurious: u64,
}

/// The losses of a flow at the end of a run.
#[derive(Debug, Default)]
pub(crate) struct FlowLossesEnded {
    pub(crate) totals: LossTotals,
    /// What its sender sent again, in no order; empty unless nodes move.
    pub(crate) repeats: Vec<Repeat>,
}

impl Losses {
    /// Of so many flows, in a network in which nodes move or not.
    pub(super) fn new(flows: usize, warm_up: SimTime, moves: bool) -> Self {
        let flows = (0..flows).map(|_| FlowLosses::default()).collect();
        Self { flows, scope: Scope { warm_up, moves } }
    }

    /// The network dropped a packet of a flow.
    pub(super) fn dropped(
        &mut self,
        flow: FlowId,
        meta: &Meta,
        dropped: DropRow,
        recorder: &mut Recorder,
    ) -> Result<(), SinkError> {
        let end = if meta.back { End::Receiver } else { End::Sender };
        let Some(transmission) = meta.transmission else {
            // Its sender never judges it.
            let row = LossRow { dropped: Some(dropped), ..LossRow::new(flow, end) };
            self.flows[flow].count(&row, self.scope);
            return recorder.loss(&row);
        };
        self.update(flow, end, transmission, recorder, |row| row.dropped = Some(dropped))
    }

    /// The sender of packets concluded something about one of them; whether the network had dropped that because nodes move.
    pub(super) fn concluded(
        &mut self,
        now: SimTime,
        (flow, end): (FlowId, End),
        verdict: Verdict,
        recorder: &mut Recorder,
    ) -> Result<bool, SinkError> {
        let Verdict { transmission, kind } = verdict;
        let mut moved = false;
        self.update(flow, end, transmission, recorder, |row| {
            moved = row.dropped.is_some_and(|dropped| MOVING.contains(&dropped.cause));
            match kind {
                VerdictKind::Lost(evidence) => {
                    row.declared = row.declared.or(Some((now, evidence)));
                }
                VerdictKind::Repeated(bytes) => row.repeated = row.repeated.or(Some((now, bytes))),
            }
        })?;
        Ok(moved)
    }

    /// Takes in what became known of a transmission; records it once nothing more can.
    fn update(
        &mut self,
        flow: FlowId,
        end: End,
        transmission: NonZeroU64,
        recorder: &mut Recorder,
        update: impl FnOnce(&mut LossRow),
    ) -> Result<(), SinkError> {
        let open = &mut self.flows[flow].open[end as usize];
        let row = open.entry(transmission).or_insert_with(|| LossRow::new(flow, end));
        update(row);
        if row.dropped.is_none() || row.declared.is_none() || row.repeated.is_none() {
            return Ok(());
        }
        let row = *row;
        open.remove(&transmission);
        self.flows[flow].count(&row, self.scope);
        recorder.loss(&row)
    }

    /// Records the rest at the end of a run.
    pub(super) fn finish(
        mut self,
        recorder: &mut Recorder,
    ) -> Result<TiVec<FlowId, FlowLossesEnded>, SinkError> {
        for flow in &mut self.flows {
            for row in std::mem::take(&mut flow.open).into_iter().flat_map(BTreeMap::into_values) {
                flow.count(&row, self.scope);
                recorder.loss(&row)?;
            }
        }
        let ended =
            |flow: FlowLosses| FlowLossesEnded { totals: flow.totals, repeats: flow.repeats };
        Ok(self.flows.into_iter().map(ended).collect())
    }
}

impl FlowLosses {
    /// Counts a packet whose fate is known, if its sender sends the flow's data.
    fn count(&mut self, row: &LossRow, Scope { warm_up, moves }: Scope) {
        if row.end != End::Sender {
            return;
        }
        let totals = &mut self.totals;
        match (row.dropped, row.declared) {
            (Some(dropped), Some(_)) => totals.noticed += u64::from(dropped.at >= warm_up),
            (Some(dropped), None) => totals.unnoticed += u64::from(dropped.at >= warm_up),
            (None, Some((at, _))) => totals.spurious += u64::from(at >= warm_up),
            (None, None) => {}
        }
        if let Some((at, bytes)) = row.repeated.filter(|_| moves) {
            self.repeats.push(Repeat {
                at,
                bytes,
                cause: row.dropped.map(|dropped| dropped.cause),
            });
        }
    }
}

impl LossRow {
    fn new(flow: FlowId, end: End) -> Self {
        Self { flow, end, dropped: None, declared: None, repeated: None }
    }
}
