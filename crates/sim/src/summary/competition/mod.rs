//! How flows share a network, while all of them are there.

use leobench_base::SimTime;

use super::{jain, ratio};
use crate::ledger::Deliveries;
use crate::scenario::CompetitionSpec;

summary! {
    /// Shares of the network while all flows that are not background are there. That time lasts from the start of the last
    /// of them (or the end of the warm-up) until the first has delivered everything, in whole steps of a tenth of the
    /// scenario's `competition.window`. Values that need it are `null` where there is none.
    pub struct CompetitionSummary {
        /// When that time begins, in seconds from the start of the run.
        pub from_s: Option<f64>,
        /// When it ends.
        pub to_s: Option<f64>,
        /// Mean goodput of the flows that are no reference over the mean of those that are; `null` without either.
        pub friendliness_ratio: Option<f64> ["ratio"],
        /// How long after the last flow started every flow's goodput over the window before lay within the tolerance
        /// around the fair share, and stayed there for as long as `competition.hold` asks; `null` if that never came to be.
        /// The warm-up counts here.
        pub convergence_s: Option<f64>,
        /// The flows.
        pub flows: Vec<CompetitorSummary>,
    }
}

summary! {
    /// A flow's part.
    pub struct CompetitorSummary {
        /// Name of the flow.
        pub name: String,
        /// Application bits it delivered per second of the time in common.
        pub goodput_bps: Option<f64>,
        /// Its part of what all delivered.
        pub share: Option<f64> ["ratio"],
        /// Its goodput over the mean of the reference flows; `null` without any.
        pub friendliness_ratio: Option<f64> ["ratio"],
    }
}

/// Input of the summary for a flow that competes with others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Competitor<'a> {
    pub name: &'a str,
    pub start: SimTime,
    /// When it had delivered everything, or when the run ended.
    pub end: SimTime,
    pub deliveries: &'a Deliveries,
}

/// The flows while all are there, in steps of time from the start of the run.
struct Common<'a> {
    flows: &'a [Competitor<'a>],
    step_s: f64,
    /// When the last of them started.
    arrival: SimTime,
    /// The first whole step after that, and after the warm-up.
    arrived: usize,
    first: usize,
    /// The step in which the first of them ends.
    end: usize,
}

impl CompetitionSummary {
    /// Sums up the flows' competition, and Jain's index of their goodputs; `None` with fewer than two.
    pub(super) fn new(
        spec: &CompetitionSpec,
        warm_up: SimTime,
        flows: &[Competitor<'_>],
    ) -> Option<(Self, Option<f64>)> {
        let common = Common::new(flows, warm_up)?;
        let span_s = common.end.saturating_sub(common.first) as f64 * common.step_s;
        let goodputs: Option<Vec<f64>> = (span_s > 0.0).then(|| {
            let bits = |flow: &Competitor<'_>| 8.0 * flow.bytes(common.first, common.end);
            flows.iter().map(|flow| bits(flow) / span_s).collect()
        });
        let known = goodputs.as_deref().unwrap_or_default();
        let total: f64 = known.iter().sum();
        let of = |wanted| {
            let flows = flows.iter().zip(known);
            let asked = flows
                .filter(|(flow, _)| spec.reference.iter().any(|name| name == flow.name) == wanted);
            mean(&asked.map(|(_, goodput)| *goodput).collect::<Vec<_>>())
        };
        let over_reference =
            |goodput: f64| of(true).and_then(|reference| ratio(goodput, reference));
        let competitor = |(index, flow): (usize, &Competitor<'_>)| {
            let goodput_bps = known.get(index).copied();
            CompetitorSummary {
                name: flow.name.to_owned(),
                goodput_bps,
                share: goodput_bps.and_then(|goodput| ratio(goodput, total)),
                friendliness_ratio: goodput_bps.and_then(over_reference),
            }
        };
        let at = |step: usize| goodputs.as_ref().map(|_| step as f64 * common.step_s);
        let summary = Self {
            from_s: at(common.first),
            to_s: at(common.end),
            friendliness_ratio: of(false).and_then(over_reference),
            convergence_s: common.convergence_s(spec),
            flows: flows.iter().enumerate().map(competitor).collect(),
        };
        Some((summary, jain(known)))
    }
}

impl Competitor<'_> {
    /// Bytes it delivered from one step until before another.
    fn bytes(&self, from: usize, to: usize) -> f64 {
        self.deliveries.bytes(from, to).get() as f64
    }
}

impl<'a> Common<'a> {
    fn new(flows: &'a [Competitor<'a>], warm_up: SimTime) -> Option<Self> {
        let [first, _, ..] = flows else { return None };
        let step = first.deliveries.step();
        let number = |time: SimTime| time.as_nanos() / step.as_nanos();
        let after = |time: SimTime| time.as_nanos().div_ceil(step.as_nanos()) as usize;
        let arrival = flows.iter().map(|flow| flow.start).max()?;
        let end = flows.iter().map(|flow| flow.end).min()?;
        Some(Self {
            flows,
            step_s: step.as_secs_f64(),
            arrival,
            arrived: after(arrival),
            first: after(arrival.max(warm_up)),
            end: number(end) as usize,
        })
    }

    /// The δ-fair convergence time (RFC 5166 section 2.3, after Bansal et al. 2001), for any number of flows: with two,
    /// shares between (1 - δ)/2 and (1 + δ)/2 are fair.
    fn convergence_s(&self, spec: &CompetitionSpec) -> Option<f64> {
        let window = spec.window_steps();
        let mut fair = 0;
        for end in self.arrived + window..=self.end {
            fair = if self.is_fair(end - window, end, spec.tolerance) { fair + 1 } else { 0 };
            if fair > spec.hold_steps() {
                let reached = (end - spec.hold_steps()) as f64 * self.step_s;
                return Some(reached - self.arrival.as_secs_f64());
            }
        }
        None
    }

    fn is_fair(&self, from: usize, to: usize, tolerance: f64) -> bool {
        let bytes = |flow: &Competitor<'_>| flow.bytes(from, to);
        let share = self.flows.iter().map(bytes).sum::<f64>() / self.flows.len() as f64;
        let near = |flow: &Competitor<'_>| (bytes(flow) - share).abs() <= tolerance * share;
        share > 0.0 && self.flows.iter().all(near)
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    ratio(values.iter().sum(), values.len() as f64)
}

#[cfg(test)]
mod tests;
