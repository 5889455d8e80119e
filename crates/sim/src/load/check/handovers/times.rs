//! Checks of when handovers come: that they can come at all, not too often, and not before the one before is over.

use leobench_base::clock::Phase;
use leobench_base::spec::{SpecError, cut};
use leobench_base::{RngTree, SimDuration, SimTime};
use leobench_link::channel::ChannelContext;

use super::Place;
use crate::scenario::{Direction, HandoverSpec, Scenario, ScenarioSpec};

/// How often a node may move by the clock in a run; each time takes rows and work.
const MOST_HANDOVERS: u64 = 100_000;

pub(super) fn check(
    scenario: &Scenario,
    handover: &HandoverSpec,
    at: &Place<'_>,
) -> Result<(), SpecError> {
    let spec = &scenario.spec;
    if let Some(times) = &handover.at {
        listed(spec, times, &at.key("at"))?;
    } else if handover.down_for.is_some() {
        return goes_down(scenario, handover, &at.key("down_for"));
    } else {
        by_the_clock(spec, handover, at)?;
    }
    lasts(handover, at)
}

fn listed(spec: &ScenarioSpec, times: &[SimDuration], at: &Place<'_>) -> Result<(), SpecError> {
    if times.is_empty() {
        return Err(at.error("is empty").allowed("at least one time"));
    }
    let end = spec.end();
    for (index, time) in times.iter().enumerate() {
        if let Some(end) = end.filter(|end| time >= end) {
            let error = at.index(index).error("is after the end of the run");
            return Err(error.allowed(format!("a time below {end}")));
        }
        if index > 0 && *time <= times[index - 1] {
            let error = at
                .index(index)
                .error(format!("is not after the previous one, {}", times[index - 1]));
            return Err(error.allowed("times in order, one handover at a time"));
        }
    }
    Ok(())
}

fn by_the_clock(
    spec: &ScenarioSpec,
    handover: &HandoverSpec,
    at: &Place<'_>,
) -> Result<(), SpecError> {
    let key = if handover.clock.every.is_some() { "every" } else { "interval" };
    let at = at.key(key);
    let interval = handover.clock.mean_interval(SimDuration::MAX);
    if spec.longest().as_nanos() / interval.as_nanos().max(1) > MOST_HANDOVERS {
        let error = at.error(format!("occurs more than {MOST_HANDOVERS} times in the run"));
        return Err(error.allowed("a longer time"));
    }
    if handover.clock.every.is_none() || handover.clock.phase == Some(Phase::Random) {
        return Ok(());
    }
    // Neither seed nor random numbers play a part.
    let first = handover.clock(&RngTree::new(0)).next(SimTime::ZERO) - SimTime::ZERO;
    if let Some(end) = spec.end().filter(|end| first >= *end) {
        let problem = format!("first occurs at {first}, after the end of the run");
        return Err(at.error(problem).allowed(format!("a handover before {end}")));
    }
    Ok(())
}

/// Checks that a handover is over before the next one, as far as that is known.
fn lasts(handover: &HandoverSpec, at: &Place<'_>) -> Result<(), SpecError> {
    let (key, span) = match (handover.outage, handover.overlap) {
        (outage, overlap) if overlap.is_zero() => ("outage", outage),
        (_, overlap) => ("overlap", overlap),
    };
    let between = match &handover.at {
        Some(times) => times.windows(2).map(|pair| pair[1] - pair[0]).min(),
        None => Some(handover.clock.mean_interval(SimDuration::MAX)),
    };
    let Some(between) = between.filter(|between| span >= *between) else { return Ok(()) };
    let mean = if handover.clock.interval.is_some() { " on average" } else { "" };
    let error =
        at.key(key).error(format!("is as long as the time between handovers, {between}{mean}"));
    Err(error.allowed(format!("a time shorter than {between}")))
}

/// Checks that the channel of the first link, which the node can only leave when that is down, ever is.
fn goes_down(
    scenario: &Scenario,
    handover: &HandoverSpec,
    at: &Place<'_>,
) -> Result<(), SpecError> {
    let Scenario { spec, folder, .. } = scenario;
    let first = handover.links.first().map_or("", String::as_str);
    let Some((_, link)) = spec.links.iter().find(|(name, _)| name == first) else { return Ok(()) };
    if link.constellation.is_some() {
        return Ok(());
    }
    let context = ChannelContext { folder: folder.clone(), rng: RngTree::new(spec.seed) };
    for direction in Direction::BOTH {
        let Some(channel) = link.channel(direction) else { continue };
        let down = channel.model().goes_down(&context);
        // A channel that cannot be built has been refused before.
        if down.unwrap_or(true) {
            return Ok(());
        }
    }
    let first = cut(first);
    let error = at.error(format!("never occurs: the channel of `{first}` is never down"));
    let allowed = "a channel that goes down (`on_off` with `outage = \"drop\"`, `schedule` with `up = false`), or `at`, \
                   `every` or `interval`";
    Err(error.allowed(allowed))
}
