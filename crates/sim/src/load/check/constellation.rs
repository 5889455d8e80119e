//! Checks of constellations, and of the links that lead through them.

use leobench_base::spec::{At, Fault, Spec, SpecError, Value};
use leobench_base::{SimDuration, SimTime};
use leobench_link::ChannelSpec;
use leobench_link::channel::starlink::{LinkEnd, StarlinkSpec};

use super::Place;
use crate::satellite_links::SatelliteLinks;
use crate::scenario::{
    ConstellationSpec, Direction, LinkSpec, RouteChoice, SatelliteSpec, SatellitesSpec, Scenario,
    ScenarioSpec, default_queue, satellite_capacity,
};

/// How often delay and rate may be updated in a run; each time takes a row and work.
const MOST_STEPS: u64 = 10_000_000;
/// Steps in which a satellite is looked for.
const STEP: SimDuration = SimDuration::from_secs(10);

/// Refuses a link through the constellation that also has a channel other than a fit, or no constellation to lead through.
pub(super) fn link(spec: &ScenarioSpec, link: &LinkSpec, at: &Place<'_>) -> Result<(), SpecError> {
    if spec.constellation.as_ref().is_some_and(|constellation| constellation.satellite.is_some()) {
        without_queue(link, at)?;
    }
    match &link.channel {
        None => {}
        Some(ChannelSpec::Starlink(fit)) => fitted(spec, link, fit, at)?,
        Some(_) => {
            let error = at.key("channel").error("is given together with `constellation`");
            return Err(error.allowed(
                "either `channel` or `constellation`; only the channel `starlink` goes with one",
            ));
        }
    }
    for direction in Direction::BOTH {
        if link.changes(direction).channel.is_some() {
            let at = at.key(direction.key());
            let error =
                at.key("channel").error("is given together with the link's `constellation`");
            return Err(error.allowed("a `rate`, or a budget of the `constellation`"));
        }
    }
    if spec.constellation.is_none() {
        let error =
            at.key("constellation").error("refers to a constellation, but the scenario has none");
        return Err(error.allowed("a table `constellation` with satellites"));
    }
    let routes = link.constellation.as_ref().and_then(|passage| passage.route);
    if routes.is_some() && !spec.constellation.as_ref().is_some_and(ConstellationSpec::is_multipath)
    {
        let error = at.key("constellation").key("route").error("is given without two routes");
        return Err(error.allowed("no `route`, or `constellation.isl.routing = \"disjoint\"`"));
    }
    Ok(())
}

/// Refuses keys that contradict the channel `starlink` of a link through the constellation.
fn fitted(
    spec: &ScenarioSpec,
    link: &LinkSpec,
    fit: &StarlinkSpec,
    at: &Place<'_>,
) -> Result<(), SpecError> {
    let either = "either `channel` or `rate`";
    if link.rate.is_some() {
        return Err(at.key("rate").error("is given together with `channel`").allowed(either));
    }
    for direction in Direction::BOTH {
        if link.changes(direction).rate.is_some() {
            let error =
                at.key(direction.key()).key("rate").error("is given together with `channel`");
            return Err(error.allowed(either));
        }
    }
    if link.independent {
        let error = at.key("independent").error("is given together with `constellation`");
        return Err(error.allowed("`false`: the outages of a link interrupt both directions"));
    }
    let channel = at.key("channel");
    if fit.terminal == LinkEnd::Second {
        let error = channel.key("terminal").error("contradicts `constellation`");
        let allowed = "`first`: the first node of `between` is at the terminal";
        return Err(error.allowed(allowed));
    }
    if spec.longest().as_nanos() / fit.step.as_nanos().max(1) > MOST_STEPS {
        return Err(too_often(&channel.key("step")));
    }
    Ok(())
}

/// The error of a time that would take too many rows and too much work.
fn too_often(at: &Place<'_>) -> SpecError {
    at.error(format!("occurs more than {MOST_STEPS} times in the run")).allowed("a longer time")
}

/// Refuses what a link over satellites with queues cannot have: a queue of its own, and a channel, which may be a trace.
fn without_queue(link: &LinkSpec, at: &Place<'_>) -> Result<(), SpecError> {
    let forward = at.key(Direction::Forward.key());
    let backward = at.key(Direction::Backward.key());
    let own = link.queue != default_queue()
        || (at.key("queue").value.is_some() && !is_spelled_out(link, at));
    let ways = [
        (*at, own, link.channel.is_some()),
        (forward, link.forward.queue.is_some(), link.forward.channel.is_some()),
        (backward, link.backward.queue.is_some(), link.backward.channel.is_some()),
    ];
    for (at, queue, channel) in ways {
        if queue {
            let error = at.key("queue").error(
                "is given, but packets of this link wait in the queues of satellites (`constellation.satellite`)",
            );
            let allowed = "no `queue`, as `constellation.satellite.queue` takes its place, or no `constellation.satellite`";
            return Err(error.allowed(allowed));
        }
        if channel {
            let error = at.key("channel").error(
                "is given for a link over satellites with queues (`constellation.satellite`), which all their links share",
            );
            return Err(error.allowed("a `rate`, or a budget of the link's `constellation`"));
        }
    }
    Ok(())
}

/// Whether the file gives every key of a link, as a scenario with all defaults does: its queue then says nothing.
fn is_spelled_out(link: &LinkSpec, at: &Place<'_>) -> bool {
    let (Some(Value::Table(given)), Value::Table(all)) = (at.value, link.write()) else {
        return false;
    };
    all.iter().all(|(key, _)| given.get(key).is_some())
}

/// Checks the limit of the queues of satellites, once all links are known to be sound.
fn satellite_queue(
    scenario: &Scenario,
    spec: &SatelliteSpec,
    at: &Place<'_>,
) -> Result<(), SpecError> {
    for direction in Direction::BOTH {
        let capacity = satellite_capacity(&scenario.spec, &scenario.folder, &spec.queue, direction);
        let place = at.key("queue");
        capacity.map_err(|fault| match place.value {
            Some(value) => fault.at(value, &place.at),
            None => place.at.missing(fault.problem).allowed(fault.allowed),
        })?;
    }
    Ok(())
}

/// Checks that there is a constellation as described, and that every link has a way through it at some time.
pub(super) fn check(scenario: &Scenario, root: &Place<'_>) -> Result<(), SpecError> {
    let spec = &scenario.spec;
    let Some(constellation) = &spec.constellation else { return Ok(()) };
    let longest = spec.longest();
    let at = root.key("constellation");
    if longest.as_nanos() / constellation.step.as_nanos() > MOST_STEPS {
        return Err(too_often(&at.key("step")));
    }
    if let Some(satellite) = &constellation.satellite {
        satellite_queue(scenario, satellite, &at.key("satellite"))?;
    }
    let fault = |fault: Fault| match root.value {
        Some(value) => fault.at(value, &At::ROOT),
        None => root.error(fault.problem).allowed(fault.allowed),
    };
    let has_stations = matches!(constellation.satellites, SatellitesSpec::Hypatia(_));
    if constellation.terminals.is_empty() && !has_stations {
        let allowed = "at least one terminal";
        return Err(fault(Fault::new("constellation.terminals", "is empty", allowed)));
    }
    let Some(mut satellites) = SatelliteLinks::new(scenario, spec.seed).map_err(fault)? else {
        return Ok(());
    };
    let mut waiting: Vec<_> = (0..satellites.len()).map(|path| (path, false)).collect();
    let end = SimTime::ZERO + longest;
    let mut now = SimTime::ZERO;
    loop {
        waiting.retain_mut(|(path, seen)| {
            *seen = *seen || satellites.sees_any(*path);
            satellites.state(*path).way.is_none()
        });
        if waiting.is_empty() || now >= end {
            break;
        }
        now = (now + STEP).min(end);
        satellites.advance(now);
    }
    let Some((path, seen)) = waiting.first() else { return Ok(()) };
    Err(fault(unreachable(&satellites, *path, *seen)))
}

/// Why a link never has a way.
fn unreachable(satellites: &SatelliteLinks, path: usize, seen: bool) -> Fault {
    let terminal = &satellites.stations().terminals[satellites.terminal(path)];
    let field = format!("links.{}.constellation", satellites.link(path));
    let (name, lowest) = (&terminal.name, terminal.view.lowest.degrees());
    if satellites.is_forwarded() {
        let problem = "never has a route in both directions in the forwarding state";
        return Fault::new(field, problem, "stations that are connected at some time");
    }
    if satellites.is_chain() {
        let problem =
            "never has a route: no satellite of the chain serves its subflow during the run";
        return Fault::new(field, problem, "a longer run, or another chain");
    }
    if seen && satellites.route_choice(path) == Some(RouteChoice::Second) {
        let problem = "never has a route: no two routes between its ends share no laser";
        return Fault::new(field, problem, "more lasers, another `policy`, or `route = \"first\"`");
    }
    if seen {
        let problem = format!(
            "never has a route: `{name}` sees satellites during the run, but none of those that may serve it reaches \
             a gateway"
        );
        return Fault::new(
            field,
            problem,
            "a gateway that sees the same satellites, or `constellation.isl`",
        );
    }
    let range_km = terminal.view.longest_m / 1e3;
    let (within, longer) = if range_km.is_finite() {
        (format!(" within {range_km} km"), " a longer `longest_range`,")
    } else {
        (String::new(), "")
    };
    let problem = format!(
        "never has a route: `{name}` sees no satellite above {lowest:.1} degrees{within} during the run"
    );
    let allowed = format!(
        "another `start`, a longer run, a lower `lowest_elevation`,{longer} or other satellites"
    );
    Fault::new(field, problem, allowed)
}
