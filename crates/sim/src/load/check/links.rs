//! Checks of links: the nodes they join and the channels that serve them.

use leobench_base::spec::SpecError;
use leobench_base::{BitRate, RngTree, SimDuration};
use leobench_link::channel::ChannelContext;
use leobench_link::{ChannelSpec, Service};

use super::{Names, Place, constellation};
use crate::scenario::{Direction, LinkSpec, Scenario, capacity, steady};

/// How often the clock of a channel may change it in a run.
const MOST_CHANGES: u64 = 10_000_000;

pub(super) fn check(
    scenario: &Scenario,
    nodes: &Names<'_>,
    links: &Place<'_>,
) -> Result<(), SpecError> {
    for (name, link) in &scenario.spec.links {
        let at = links.key(name);
        ends(link, nodes, &at.key("between"))?;
        if link.mtu.is_zero() {
            return Err(at.key("mtu").error("is zero").allowed("a size above zero"));
        }
        match &link.constellation {
            Some(_) => constellation::link(&scenario.spec, link, &at)?,
            None => channels(scenario, name, link, &at)?,
        }
    }
    scenario.spec.links.iter().try_for_each(|(name, link)| {
        Direction::BOTH
            .into_iter()
            .try_for_each(|direction| limit(scenario, name, link, direction, &links.key(name)))
    })
}

/// Checks the limit of a queue, once all links are known to be sound: it may depend on any of them.
fn limit(
    scenario: &Scenario,
    name: &str,
    link: &LinkSpec,
    direction: Direction,
    at: &Place<'_>,
) -> Result<(), SpecError> {
    let Scenario { spec, folder, .. } = scenario;
    capacity(spec, folder, (name, link), direction).map(|_| ()).map_err(|fault| {
        let own = at.key(direction.key());
        let place = if link.changes(direction).queue.is_some() { &own } else { at };
        let place = place.key("queue");
        match place.value {
            Some(value) => fault.at(value, &place.at),
            None => place.at.missing(fault.problem).allowed(fault.allowed),
        }
    })
}

fn ends(link: &LinkSpec, nodes: &Names<'_>, at: &Place<'_>) -> Result<(), SpecError> {
    for (index, node) in link.between.iter().enumerate() {
        nodes.find(node, "node", &at.index(index))?;
    }
    if link.between[0] == link.between[1] {
        return Err(at.error("joins a node to itself").allowed("two different nodes"));
    }
    Ok(())
}

/// Checks that every direction has exactly one channel, and that each of them can be built.
fn channels(
    scenario: &Scenario,
    name: &str,
    link: &LinkSpec,
    at: &Place<'_>,
) -> Result<(), SpecError> {
    let context = ChannelContext {
        folder: scenario.folder.clone(),
        rng: RngTree::new(scenario.spec.seed).child("links").child(name),
    };
    let [forward, backward] = Direction::BOTH.map(|direction| link.has_own_channel(direction));
    let given = link.channel.is_some() || link.rate.is_some();
    if given && forward && backward {
        let key = if link.channel.is_some() { "channel" } else { "rate" };
        return Err(at
            .key(key)
            .error("is unused: both directions have their own channel")
            .allowed(
                "no such key, or only one direction with its own channel, or a `rate_scale` for a direction, such \
                 as \"20/150\", instead of its own channel",
            ));
    }
    let service = match (forward, backward) {
        (true, true) => None,
        _ => Some(served(link.channel.as_ref(), link.rate, &context, at)?),
    };
    for direction in Direction::BOTH {
        changes(scenario.spec.production(), link, direction, at)?;
        let (own, at) = (link.changes(direction), at.key(direction.key()));
        if link.has_own_channel(direction) {
            served(own.channel.as_ref(), own.rate, &context, &at)?;
        }
        if own.rate_scale.is_none() {
            continue;
        }
        if link.has_own_channel(direction) {
            return Err(at
                .key("rate_scale")
                .error("is given together with the direction's own channel")
                .allowed("a factor on the rate of the link's channel"));
        }
        if matches!(service, Some(Service::Opportunities(_))) {
            return Err(at
                .key("rate_scale")
                .error("cannot scale a trace, which has no rate")
                .allowed("a channel that has a rate"));
        }
    }
    Ok(())
}

/// Refuses a channel that is sure to change absurdly often: each time takes a row and work.
fn changes(
    duration: SimDuration,
    link: &LinkSpec,
    direction: Direction,
    at: &Place<'_>,
) -> Result<(), SpecError> {
    let (every, key) = match link.channel(direction) {
        Some(ChannelSpec::Reconfiguration(spec)) => {
            let key = if spec.clock.interval.is_some() { "interval" } else { "every" };
            (spec.mean_interval(), key)
        }
        Some(ChannelSpec::Starlink(spec)) => (spec.step, "step"),
        _ => return Ok(()),
    };
    if duration.as_nanos() / every.as_nanos().max(1) <= MOST_CHANGES {
        return Ok(());
    }
    let own = at.key(direction.key());
    let place = if link.has_own_channel(direction) { &own } else { at };
    let channel = place.key("channel");
    let place = channel.key(key);
    let error = place.error(format!("occurs more than {MOST_CHANGES} times in the run"));
    Err(error.allowed("a longer time"))
}

/// How the one channel given at `at`, in full or by its rate, serves packets at the start.
fn served(
    channel: Option<&ChannelSpec>,
    rate: Option<BitRate>,
    context: &ChannelContext,
    at: &Place<'_>,
) -> Result<Service, SpecError> {
    let either = "either `channel` or `rate`";
    let (spec, place) = match (channel.cloned(), rate) {
        (Some(_), Some(_)) => {
            return Err(at.key("rate").error("is given together with `channel`").allowed(either));
        }
        (None, None) => {
            return Err(at.key("channel").error("is required but missing").allowed(either));
        }
        (Some(channel), None) => (channel, at.key("channel")),
        (None, Some(rate)) => (steady(rate), *at),
    };
    let value = place.value.cloned();
    let built = spec.model().build(context);
    let channel = built.map_err(|fault| match &value {
        Some(value) => fault.at(value, &place.at),
        None => place.at.missing(fault.problem).allowed(fault.allowed),
    })?;
    Ok(channel.state().service.clone())
}
