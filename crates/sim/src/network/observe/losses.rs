//! Pairs what the network did to packets with what their senders concluded.
//!
//! Only packets that are dropped, declared lost or repeated take time and memory: those that arrive do not.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU64;

use leobench_base::End;
use leobench_base::{Bytes, FlowId, Meta, SimTime};
use leobench_link::Cause;
use leobench_transport::endpoint::{LossVerdict, LossVerdictKind};
use typed_index_collections::TiVec;

use super::handovers::MOVING;
use crate::record::{DropRow, LossRow, Recorder, SinkError};

/// Transmissions of an end of a flow that are kept because more may become known of them. Nobody ever judges an acknowledgement
/// that was dropped, or what a connection had under way when its host gave it up: so many lost packets later, the case is closed.
/// An outage of 0.3 s at 10 Gbit/s takes as many before anybody can judge one.
const MOST_OPEN: usize = if cfg!(test) { 1_000 } else { 262_144 };

/// The packets of all flows that were lost, or taken for lost.
pub(super) struct Losses {
    flows: TiVec<FlowId, FlowLosses>,
    scope: Scope,
}

/// Conditions for counting losses and keeping repetitions.
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
    open: [Open; 2],
    totals: LossTotals,
    repeats: Vec<Repeat>,
}

/// The transmissions of an end that more may become known of.
#[derive(Default)]
struct Open {
    rows: BTreeMap<NonZeroU64, LossRow>,
    /// The same in the order in which they were lost, among others that are complete by now.
    ages: VecDeque<NonZeroU64>,
}

impl Open {
    /// Takes in what became known of a transmission. Returns a row of which nothing more will be: its own if it is complete, or that
    /// of the oldest transmission if there are too many.
    fn update(
        &mut self,
        transmission: NonZeroU64,
        new: impl FnOnce() -> LossRow,
        update: impl FnOnce(&mut LossRow),
    ) -> Option<LossRow> {
        let ages = &mut self.ages;
        let row = self.rows.entry(transmission).or_insert_with(|| {
            ages.push_back(transmission);
            new()
        });
        update(row);
        if row.dropped.is_some() && row.declared.is_some() && row.repeated.is_some() {
            return self.rows.remove(&transmission);
        }
        if self.ages.len() > 2 * MOST_OPEN {
            self.ages.retain(|transmission| self.rows.contains_key(transmission));
        }
        if self.rows.len() <= MOST_OPEN {
            return None;
        }
        std::iter::from_fn(|| self.ages.pop_front()).find_map(|oldest| self.rows.remove(&oldest))
    }
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
    /// Bytes that its sender sent again, in order; empty unless nodes move.
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
        verdict: LossVerdict,
        recorder: &mut Recorder,
    ) -> Result<bool, SinkError> {
        let LossVerdict { transmission, kind } = verdict;
        let mut moved = false;
        self.update(flow, end, transmission, recorder, |row| {
            moved = row.dropped.is_some_and(|dropped| MOVING.contains(&dropped.cause));
            match kind {
                LossVerdictKind::Lost(evidence) => {
                    row.declared = row.declared.or(Some((now, evidence)));
                }
                LossVerdictKind::Repeated(bytes) => {
                    row.repeated = row.repeated.or(Some((now, bytes)));
                }
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
        let closed = open.update(transmission, || LossRow::new(flow, end), update);
        let Some(row) = closed else { return Ok(()) };
        self.flows[flow].count(&row, self.scope);
        recorder.loss(&row)
    }

    /// Memory that is kept of a flow.
    pub(super) fn memory(&self, flow: FlowId) -> u64 {
        let FlowLosses { open, repeats, .. } = &self.flows[flow];
        let open: usize = open.iter().map(|open| open.rows.len()).sum();
        let repeats = repeats.capacity() * size_of::<Repeat>();
        (open * size_of::<(NonZeroU64, LossRow)>() + repeats) as u64
    }

    /// Records the rest at the end of a run.
    pub(super) fn finish(
        mut self,
        recorder: &mut Recorder,
    ) -> Result<TiVec<FlowId, FlowLossesEnded>, SinkError> {
        for flow in &mut self.flows {
            let open = std::mem::take(&mut flow.open).into_iter();
            for row in open.flat_map(|open| open.rows.into_values()) {
                flow.count(&row, self.scope);
                recorder.loss(&row)?;
            }
        }
        let ended = |mut flow: FlowLosses| {
            flow.repeats.sort_by_key(|repeat| repeat.at);
            FlowLossesEnded { totals: flow.totals, repeats: flow.repeats }
        };
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

#[cfg(test)]
mod tests {
    use leobench_base::{DirectionId, SimDuration};
    use leobench_transport::endpoint::Evidence;

    use super::*;
    use crate::record::Location;

    fn transmission(number: u64) -> NonZeroU64 {
        NonZeroU64::new(number).unwrap()
    }

    fn dropped(packet: u64) -> DropRow {
        let (size, at) = (Bytes::new(40), SimTime::ZERO);
        DropRow {
            packet,
            size,
            at,
            location: Location::Link(DirectionId::from(0)),
            cause: Cause::HANDOVER,
        }
    }

    fn drop(open: &mut Open, number: u64) -> Option<LossRow> {
        let new = || LossRow::new(FlowId::from(0), End::Sender);
        open.update(transmission(number), new, |row| row.dropped = Some(dropped(number)))
    }

    /// A path with small numbers comes last: age counts, not the number.
    #[test]
    fn the_oldest_cases_are_closed_when_there_are_too_many() {
        let (mut open, most) = (Open::default(), MOST_OPEN as u64);
        for number in 0..most {
            assert_eq!(drop(&mut open, 2 * most - number), None);
        }
        for number in 0..most {
            let closed = drop(&mut open, most - number);
            assert_eq!(closed.unwrap().dropped, Some(dropped(2 * most - number)));
        }
        assert_eq!(open.rows.len() as u64, most);
    }

    /// Those that are complete leave nothing behind, and do not age.
    #[test]
    fn complete_cases_take_no_memory() {
        let (mut open, at) = (Open::default(), SimTime::ZERO + SimDuration::from_secs(1));
        assert_eq!(drop(&mut open, 1), None);
        for number in 2..5 * MOST_OPEN as u64 {
            assert_eq!(drop(&mut open, number), None);
            let closed = open.update(
                transmission(number),
                || panic!("it is known"),
                |row| {
                    row.declared = Some((at, Evidence::Acks));
                    row.repeated = Some((at, Bytes::ZERO));
                },
            );
            assert_eq!(closed.unwrap().dropped, Some(dropped(number)));
            assert!(open.ages.len() <= 2 * MOST_OPEN);
        }
        assert!(open.rows.len() == 1 && open.ages.contains(&transmission(1)));
    }
}
