//! A channel whose whole history is known beforehand: piecewise constant, possibly periodic.

use leobench_base::{BitRate, SimDuration, SimTime};

use super::{Channel, ChannelState, Mean, Service};

/// The mean of a history up to `end`, weighted by time; a state that is down or served by a trace has no rate.
pub(super) fn time_weighted(history: &[(SimDuration, ChannelState)], end: SimDuration) -> Mean {
    let (mut bits, mut delay) = (0u128, 0u128);
    let ends = history.iter().skip(1).map(|(start, _)| *start).chain([end]);
    for ((start, state), until) in history.iter().zip(ends) {
        let span = u128::from(until.min(end).saturating_sub(*start).as_nanos());
        if let (true, Service::Rate(rate)) = (state.up, &state.service) {
            bits += u128::from(rate.bps()) * span;
        }
        delay += u128::from(state.delay.as_nanos()) * span;
    }
    let whole = u128::from(end.as_nanos()).max(1);
    let mean = |sum: u128| u64::try_from((sum + whole / 2) / whole).unwrap_or(u64::MAX);
    Mean { rate: BitRate::from_bps(mean(bits)), delay: SimDuration::from_nanos(mean(delay)) }
}

/// A piecewise-constant history of states, repeated for ever if it has a period.
#[derive(Debug)]
pub(super) struct Timeline {
    /// Start of each state within the history, the first at zero; neighbours differ.
    steps: Vec<(SimDuration, ChannelState)>,
    period: Option<SimDuration>,
    current: usize,
    /// Start of the current repetition, in nanoseconds of the history.
    cycle: u64,
    /// Start of the run within the history, in nanoseconds.
    offset: u64,
}

impl Timeline {
    /// One state for ever.
    pub fn constant(state: ChannelState) -> Self {
        Self::new(vec![(SimDuration::ZERO, state)], None, SimDuration::ZERO)
    }

    /// The history of `steps` (at least one, the first at zero, times increasing), which the run enters at `offset`.
    /// Steps at or after the `period` never come; `offset` is less than the period.
    pub fn new(
        mut steps: Vec<(SimDuration, ChannelState)>,
        period: Option<SimDuration>,
        offset: SimDuration,
    ) -> Self {
        if let Some(period) = period {
            steps.retain(|(at, _)| *at < period);
        }
        steps.dedup_by(|later, earlier| later.1 == earlier.1);
        let current = steps.partition_point(|(at, _)| *at <= offset) - 1;
        Self { steps, period, current, cycle: 0, offset: offset.as_nanos() }
    }

    /// The step after the current one, and the start of the repetition it is in.
    fn next(&self) -> Option<(usize, u64)> {
        let next = self.current + 1;
        if next < self.steps.len() {
            return Some((next, self.cycle));
        }
        let period = self.period.filter(|_| self.steps.len() > 1)?;
        let unchanged = self.steps[self.current].1 == self.steps[0].1;
        Some((usize::from(unchanged), self.cycle + period.as_nanos()))
    }

    fn time_of(&self, step: usize, cycle: u64) -> SimTime {
        SimTime::from_nanos(cycle + self.steps[step].0.as_nanos() - self.offset)
    }
}

impl Channel for Timeline {
    fn state(&self) -> &ChannelState {
        &self.steps[self.current].1
    }

    fn next_change(&self) -> Option<SimTime> {
        self.next().map(|(step, cycle)| self.time_of(step, cycle))
    }

    fn advance(&mut self, now: SimTime) -> &ChannelState {
        while let Some((step, cycle)) = self.next()
            && self.time_of(step, cycle) <= now
        {
            (self.current, self.cycle) = (step, cycle);
        }
        self.state()
    }
}
