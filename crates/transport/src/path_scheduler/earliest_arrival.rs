//! The path on which a packet arrives first, for all that waits: a slower path is used for what the faster ones cannot deliver by
//! then. The estimates are those of Kuhn et al. (2014, ICC, "DAPS: Intelligent delay-aware packet scheduling for multipath
//! transport"), with measured delivery rates instead of a window per round trip where there are any.

use leobench_base::{BitRate, SimDuration, SimTime};

use super::{Backlog, Choice, PathScheduler, PathSchedulerContext, PathSchedulerModel, PathView};

leobench_base::spec! {
    /// The path with room on which a packet arrives first, forecast handovers included.
    ///
    /// It waits if the other paths deliver everything that waits before that packet. A packet that would arrive during a forecast
    /// handover counts as arriving at its end.
    pub struct EarliestArrivalSpec: Default {}
}

impl PathSchedulerModel for EarliestArrivalSpec {
    fn build(&self, _: &PathSchedulerContext<'_>) -> Result<Box<dyn PathScheduler>, String> {
        Ok(Box::new(EarliestArrival))
    }
}

struct EarliestArrival;

impl PathScheduler for EarliestArrival {
    fn uses_delivery_rates(&self) -> bool {
        true
    }

    fn choose(
        &mut self,
        now: SimTime,
        paths: &[PathView],
        backlog: &Backlog,
    ) -> Result<Choice, String> {
        let available = paths.iter().filter(|path| path.has_room(now));
        let Some(first) = available.min_by_key(|path| (arrival(now, path), path.id)) else {
            return Ok(Choice::Wait);
        };
        let by = arrival(now, first);
        let others = paths.iter().filter(|path| path.id != first.id);
        let earlier: f64 = others.map(|path| delivered(now, path, by)).sum();
        let waiting = backlog.sendable().max(first.payload).get() as f64;
        Ok(if earlier >= waiting { Choice::Wait } else { Choice::One(first.id) })
    }
}

/// When a packet arrives that is sent now.
fn arrival(now: SimTime, path: &PathView) -> SimTime {
    let arrival = now + path.rtt / 2;
    let handover = path.forecast.and_then(|forecast| forecast.handover);
    match handover.filter(|handover| (handover.from..handover.until).contains(&arrival)) {
        Some(handover) => handover.until,
        None => arrival,
    }
}

/// Bytes that a path delivers before an instant, beyond those in flight: what there is room for, and then at its rate.
fn delivered(now: SimTime, path: &PathView, by: SimTime) -> f64 {
    let handover = path.forecast.and_then(|forecast| forecast.handover);
    let by = handover.map_or(by, |handover| by.min(handover.from));
    let lasts = by.saturating_since(path.ready.max(now) + path.rtt / 2);
    if lasts.is_zero() {
        return 0.0;
    }
    let room = path.window.get().saturating_sub(path.in_flight.get()) as f64;
    room + rate(path) * lasts.as_secs_f64()
}

/// Bytes per second that a path delivers: as measured, or else a window per round trip.
fn rate(path: &PathView) -> f64 {
    match path.delivery_rate.map(BitRate::bps).filter(|rate| *rate > 0) {
        Some(rate) => rate as f64 / 8.0,
        None => path.window.get() as f64 / path.rtt.max(SimDuration::from_nanos(1)).as_secs_f64(),
    }
}
