//! Effects of handovers on a flow, in numbers.
//!
//! All rates are means over windows that begin at multiples of [`HANDOVER_STEP`]: one base round trip of the new way, at
//! least [`WINDOW`]. The plateau is the mean rate over the second half of the time from the end of the longest gap to the
//! next handover, or the end of the flow.
//!
//! The time until a flow has recovered is divided among five causes ([`Phases`]). Each begins where the one before it ends.

use leobench_base::{SimDuration, SimTime};
use leobench_link::Cause;

use super::millis;
use crate::network::{
    AFTERMATH, Crossing, FlowCrossings, HANDOVER_STEP, HandoverTimes, MOVING, Milestones, Repeat,
};

/// Shortest window over which a rate is measured.
const WINDOW: SimDuration = SimDuration::from_millis(100);
/// Windows over which the rate before a handover is measured.
const WINDOWS_BEFORE: usize = 10;
/// Share of a rate that counts as reached.
const REACHED: f64 = 0.9;

summary! {
    /// The handovers that concerned a flow, in numbers.
    #[derive(Default)]
    pub struct HandoversSummary {
        /// How many there were after the warm-up.
        pub count: u64 ["count"],
        /// After how many of them the flow reached 90 % of its later rate.
        pub recovered: u64 ["count"],
        /// Longest gap between deliveries around each.
        pub outage_ms: Spread,
        /// Time until 90 % of the later rate is reached.
        pub recovery_ms: Spread,
        /// Time until the flow had recovered, divided by cause.
        #[serde(flatten)]
        pub phases: Phases<Spread>,
        /// Share of the rate that is missing at the lowest point.
        pub dip_depth: Spread ["ratio"],
        /// How long the rate is below 90 %.
        pub dip_ms: Spread,
        /// Bytes of the sender's packets that the network dropped because of it.
        pub lost_bytes: Spread,
        /// Bytes that the sender sent again up to the next handover, but for what the network dropped for other causes.
        pub retransmitted_bytes: Spread,
        /// Those of them that the network had not dropped.
        pub retransmitted_in_vain_bytes: Spread,
        /// Each handover.
        pub each: Vec<HandoverSummary>,
    }
}

summary! {
    /// Mean and maximum over handovers, in the unit of the key that has them; `null` without a value.
    #[derive(Copy, Default)]
    pub struct Spread {
        /// Mean.
        pub mean: Option<f64>,
        /// Maximum.
        pub max: Option<f64>,
    }
}

summary! {
    /// The time from the beginning of a handover until the flow has recovered, by cause.
    #[derive(Copy, Default)]
    pub struct Phases<T> {
        /// Until packets have a way again.
        pub no_way_ms: T,
        /// From there until an end notices: it moves to another address, gives its connection up, or declares lost or repeats a
        /// packet that the handover took. Zero if nothing was lost and no address changed.
        pub detection_ms: T,
        /// From there until the end that sends data may send it: the address of its peer is validated, or the other connection is
        /// open. Zero if it never had to wait.
        pub validation_ms: T,
        /// From there until all data is delivered that had been sent when the last packet was lost to the handover. Zero if none was.
        pub retransmission_ms: T,
        /// From there until the flow reaches 90 % of its later rate, whatever phase its controller is in.
        pub slow_start_ms: T,
    }
}

summary! {
    /// A handover as a flow noticed it.
    pub struct HandoverSummary {
        /// Table and number of the handover, such as `backhaul-0`.
        pub name: String,
        /// The path whose satellite it changed, where the flow has several.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub path: Option<u32>,
        /// When it began, in seconds from the start of the run.
        pub at_s: f64,
        /// Longest gap between deliveries around it; `null` if the flow had delivered everything.
        pub outage_ms: Option<f64>,
        /// Time from its beginning until the flow reaches 90 % of its later rate; `null` if it does not.
        pub recovery_ms: Option<f64>,
        /// Time until the flow had recovered, divided by cause; `null` from the first phase that did not end.
        #[serde(flatten)]
        pub phases: Phases<Option<f64>>,
        /// Share of the rate that is missing at the lowest point.
        pub dip_depth: Option<f64> ["ratio"],
        /// How long the rate is below 90 %; `null` if that does not end.
        pub dip_ms: Option<f64>,
        /// Bytes of the sender's packets that the network dropped because of it.
        pub lost_bytes: u64,
        /// Bytes that the sender sent again up to the next handover, but for what the network dropped for other causes.
        pub retransmitted_bytes: u64,
        /// Those of them that the network had not dropped.
        pub retransmitted_in_vain_bytes: u64,
    }
}

/// Input of the summary for a flow in a network in which nodes move.
#[derive(Clone, Copy, Debug)]
pub struct HandoversInput<'a> {
    /// Handovers of the flow.
    pub(crate) flow: &'a FlowCrossings,
    /// Bytes that its sender sent again.
    pub(crate) repeats: &'a [Repeat],
    /// Names of the tables of handovers.
    pub(crate) names: &'a [String],
}

impl HandoversSummary {
    pub(super) fn new(input: HandoversInput<'_>) -> Self {
        let HandoversInput { flow, repeats, names } = input;
        let each = flow.crossings.iter().map(|(times, crossing, close)| {
            let course = Course::new(flow, times, crossing, *close);
            course.summary(&names[times.topology], flow, repeats)
        });
        let each: Vec<HandoverSummary> = each.collect();
        let spread =
            |of: fn(&HandoverSummary) -> Option<f64>| Spread::of(each.iter().filter_map(of));
        Self {
            count: each.len() as u64,
            recovered: each.iter().filter(|handover| handover.recovery_ms.is_some()).count() as u64,
            outage_ms: spread(|handover| handover.outage_ms),
            recovery_ms: spread(|handover| handover.recovery_ms),
            phases: Phases {
                no_way_ms: spread(|handover| handover.phases.no_way_ms),
                detection_ms: spread(|handover| handover.phases.detection_ms),
                validation_ms: spread(|handover| handover.phases.validation_ms),
                retransmission_ms: spread(|handover| handover.phases.retransmission_ms),
                slow_start_ms: spread(|handover| handover.phases.slow_start_ms),
            },
            dip_depth: spread(|handover| handover.dip_depth),
            dip_ms: spread(|handover| handover.dip_ms),
            lost_bytes: spread(|handover| Some(handover.lost_bytes as f64)),
            retransmitted_bytes: spread(|handover| Some(handover.retransmitted_bytes as f64)),
            retransmitted_in_vain_bytes: spread(|handover| {
                Some(handover.retransmitted_in_vain_bytes as f64)
            }),
            each,
        }
    }
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let (mut sum, mut count, mut max) = (0.0, 0_u64, f64::NEG_INFINITY);
        for value in values {
            (sum, count, max) = (sum + value, count + 1, max.max(value));
        }
        if count == 0 {
            return Self::default();
        }
        Self { mean: Some(sum / count as f64), max: Some(max) }
    }
}

/// The rate of a flow around a handover, in steps and bytes per window.
struct Course<'a> {
    flow: &'a FlowCrossings,
    times: &'a HandoverTimes,
    crossing: &'a Crossing,
    /// Steps in a window.
    window: usize,
    /// The step in which the handover begins, and the one before which its effects are measured.
    begin: usize,
    close: usize,
    plateau: Option<f64>,
    before: Option<f64>,
    /// The window with the fewest bytes.
    lowest: Option<usize>,
}

impl<'a> Course<'a> {
    fn new(
        flow: &'a FlowCrossings,
        times: &'a HandoverTimes,
        crossing: &'a Crossing,
        close: SimTime,
    ) -> Self {
        let window = crossing.base_rtt.max(WINDOW).as_nanos().div_ceil(HANDOVER_STEP.as_nanos());
        let (begin, close) = (step(times.begin), step(close));
        let window = window as usize;
        let mut course = Self {
            flow,
            times,
            crossing,
            window,
            begin,
            close,
            plateau: None,
            before: None,
            lowest: None,
        };
        course.plateau = course.plateau();
        course.before = course.before();
        course.lowest = course.lowest();
        course
    }

    /// Bytes delivered in the window that begins with a step.
    fn bytes(&self, step: usize) -> f64 {
        self.flow.deliveries.bytes(step, step + self.window).get() as f64
    }

    /// Mean bytes in a window, from one step to another; nothing if that is less than `windows`.
    fn mean(&self, from: usize, to: usize, windows: usize) -> Option<f64> {
        let steps = to.checked_sub(from).filter(|steps| *steps >= windows * self.window)?;
        let bytes = self.flow.deliveries.bytes(from, to).get() as f64;
        Some(bytes * self.window as f64 / steps as f64).filter(|mean| *mean > 0.0)
    }

    fn plateau(&self) -> Option<f64> {
        let (_, resumed) = self.crossing.gap?;
        let resumed = step(resumed).max(self.begin);
        self.mean(resumed + self.close.checked_sub(resumed)? / 2, self.close, 2)
    }

    fn before(&self) -> Option<f64> {
        let first = self.flow.first_created.map_or(0, step);
        let from = self.begin.saturating_sub(WINDOWS_BEFORE * self.window).max(first);
        self.mean(from, self.begin, 1)
    }

    fn lowest(&self) -> Option<usize> {
        let (_, resumed) = self.crossing.gap?;
        let end = self.times.end.unwrap_or(self.times.begin) + AFTERMATH;
        let last = step(end.max(resumed)).min(self.close.checked_sub(self.window)?);
        let windows = (self.begin..=last).map(|step| (self.bytes(step), step));
        windows.min_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, step)| step)
    }

    /// The first window behind the lowest one with this many bytes. What arrives at the end of a long gap has waited
    /// there for what was missing, and says nothing about the rate: it does not count.
    fn reached(&self, bytes: f64) -> Option<usize> {
        let lowest = self.lowest?;
        if self.bytes(lowest) >= bytes {
            return Some(self.begin);
        }
        let (from, to) = self.crossing.gap?;
        let is_long = to - from >= HANDOVER_STEP * self.window as u64;
        let first = if is_long { (step(to) + 1).max(lowest + 1) } else { lowest + 1 };
        let last = self.close.checked_sub(self.window)?;
        (first..=last).find(|step| self.bytes(*step) >= bytes)
    }

    /// Depth of the dip, and its length in steps if it ends.
    fn dip(&self) -> Option<(f64, Option<usize>)> {
        let lowest = self.lowest?;
        let (plateau, before) = (self.plateau?, self.before);
        let reference = before.map_or(plateau, |before| before.min(plateau));
        let depth = (1.0 - self.bytes(lowest) / reference).max(0.0);
        if depth <= 1.0 - REACHED {
            return Some((depth, Some(0)));
        }
        let good = |step: &usize| self.bytes(*step) >= REACHED * reference;
        let first = self.begin.saturating_sub(self.window);
        let last_good = (first..lowest).rev().find(good);
        let start = last_good.map_or(self.begin, |step| step + self.window);
        let end = self.reached(REACHED * reference);
        Some((depth, end.map(|end| end.saturating_sub(start))))
    }

    /// The phases of a recovery that ended at `recovered`.
    fn phases(&self, recovered: Option<SimTime>) -> Phases<Option<f64>> {
        let Milestones { way, noticed, ready, repaired } = self.crossing.answer.milestones();
        let begin = Some(self.times.begin);
        let span = |from: Option<SimTime>, to: Option<SimTime>| {
            from.zip(to).map(|(from, to)| to.saturating_since(from).as_millis_f64())
        };
        Phases {
            no_way_ms: span(begin, way),
            detection_ms: span(way, noticed),
            validation_ms: span(noticed, ready),
            retransmission_ms: span(ready, repaired),
            slow_start_ms: span(repaired, recovered),
        }
    }

    fn summary(&self, table: &str, flow: &FlowCrossings, repeats: &[Repeat]) -> HandoverSummary {
        let reached = self.plateau.and_then(|plateau| self.reached(REACHED * plateau));
        let range = self.begin..self.close;
        let before = |end: usize| repeats.partition_point(|repeat| step(repeat.at) < end);
        let repeats = &repeats[before(range.start)..before(range.end).max(before(range.start))];
        let repeated = |counts: fn(Option<Cause>) -> bool| -> u64 {
            let repeats = repeats.iter().filter(|repeat| counts(repeat.cause));
            repeats.map(|repeat| repeat.bytes.get()).sum()
        };
        // What congestion or the channel took is not the handover's doing.
        let others = repeated(|cause| cause.is_some_and(|cause| !MOVING.contains(&cause)));
        let retransmitted = flow.retransmissions.bytes(range.start, range.end).get();
        let retransmitted = retransmitted.saturating_sub(others);
        let in_vain = repeated(|cause| cause.is_none());
        let begin = self.times.begin;
        // Windows begin at whole steps, the handover anywhere.
        let recovered =
            reached.map(|reached| (SimTime::ZERO + HANDOVER_STEP * reached as u64).max(begin));
        let steps = |steps: usize| (HANDOVER_STEP * steps as u64).as_millis_f64();
        let dip = self.dip();
        HandoverSummary {
            name: format!("{table}-{}", self.times.stage.number),
            path: self.crossing.path.map(|path| path.0),
            at_s: begin.as_secs_f64(),
            outage_ms: self.crossing.gap.map(|(from, to)| millis((to - from).as_nanos() as f64)),
            recovery_ms: recovered.map(|recovered| (recovered - begin).as_millis_f64()),
            phases: self.phases(recovered),
            dip_depth: dip.map(|(depth, _)| depth),
            dip_ms: dip.and_then(|(_, length)| length).map(steps),
            lost_bytes: self.crossing.lost.get(),
            retransmitted_bytes: retransmitted,
            retransmitted_in_vain_bytes: in_vain.min(retransmitted),
        }
    }
}

fn step(time: SimTime) -> usize {
    (time.as_nanos() / HANDOVER_STEP.as_nanos()) as usize
}
