//! Checks of handovers: the links they lead over, their times, and whether the flows can follow.

use leobench_base::spec::{SpecError, cut};
use rustc_hash::FxHashMap;

use super::super::{HandoverKind, HandoverSpec, OpenedBy, ScenarioSpec, TransportSpec, Until};
use super::{Names, Place};

/// How often a node may move by the clock in a run; each time takes rows and work.
const MOST_HANDOVERS: u64 = 100_000;

/// Checks the nodes, the links and the times.
pub(super) fn links(
    spec: &ScenarioSpec,
    nodes: &Names<'_>,
    handovers: &Place<'_>,
) -> Result<(), SpecError> {
    let links = Names::new(spec.links.iter().map(|(name, _)| name.as_str()));
    let (mut moving, mut taken) = (FxHashMap::default(), FxHashMap::default());
    for (name, handover) in &spec.handovers {
        let at = handovers.key(name);
        super::name(name, &at)?;
        nodes.find(&handover.node, "node", &at.key("node"))?;
        if let Some(other) = moving.insert(&handover.node, name) {
            let problem = format!("`handovers.{}` moves this node already", cut(other));
            return Err(at.key("node").error(problem).allowed("one table of handovers for a node"));
        }
        attached(spec, handover, &links, &at.key("links"))?;
        for (index, link) in handover.links.iter().enumerate() {
            if let Some(other) = taken.insert(link, name).filter(|other| *other != name) {
                let problem = format!("`handovers.{}` uses this link already", cut(other));
                let error = at.key("links").index(index).error(problem);
                return Err(error.allowed("a link that only one end of it attaches and detaches"));
            }
        }
        times(spec, handover, &at)?;
    }
    Ok(())
}

/// Checks that the flows, which are sound in themselves, can follow.
pub(super) fn kinds(spec: &ScenarioSpec, handovers: &Place<'_>) -> Result<(), SpecError> {
    for (name, handover) in &spec.handovers {
        let at = handovers.key(name);
        match handover.kind {
            HandoverKind::Reroute => {}
            HandoverKind::Migrate => migrates(spec, handover, &at)?,
            HandoverKind::Rebind => rebinds(spec, handover, &at)?,
        }
    }
    Ok(())
}

/// Checks that the links are the node's, and that each handover leads to another one.
fn attached(
    spec: &ScenarioSpec,
    handover: &HandoverSpec,
    links: &Names<'_>,
    at: &Place<'_>,
) -> Result<(), SpecError> {
    let node = &handover.node;
    let own = || spec.links.iter().filter(|(_, link)| link.between.contains(node));
    for (index, name) in handover.links.iter().enumerate() {
        let at = at.index(index);
        let place = links.find(name, "link", &at)?;
        if !spec.links[place].1.between.contains(node) {
            let own: Vec<_> = own().map(|(name, _)| name.as_str()).collect();
            let error = at.error(format!("is not attached to `{}`", cut(node)));
            return Err(error.words(name, &own));
        }
        if handover.links[(index + 1) % handover.links.len()] == *name {
            let error = at.error("is followed by itself, and the first link follows the last");
            return Err(error.allowed("another link next"));
        }
    }
    Ok(())
}

fn times(spec: &ScenarioSpec, handover: &HandoverSpec, at: &Place<'_>) -> Result<(), SpecError> {
    if let Some(every) = handover.clock.every
        && (spec.duration.as_nanos() / every.as_nanos().max(1)) > MOST_HANDOVERS
    {
        let error =
            at.key("every").error(format!("comes more than {MOST_HANDOVERS} times in the run"));
        return Err(error.allowed("a longer time"));
    }
    let Some(times) = &handover.at else { return Ok(()) };
    let at = at.key("at");
    if times.is_empty() {
        return Err(at.error("is empty").allowed("at least one time"));
    }
    let end = match spec.until {
        Until::Time => spec.duration,
        Until::Drained => spec.duration + spec.drain_limit,
    };
    for (index, time) in times.iter().enumerate() {
        if *time >= end {
            let error = at.index(index).error("is after the end of the run");
            return Err(error.allowed(format!("a time below {end}")));
        }
        if index > 0 && *time <= times[index - 1] {
            let error =
                at.index(index).error(format!("is not after the one before, {}", times[index - 1]));
            return Err(error.allowed("times in order, one handover at a time"));
        }
    }
    Ok(())
}

/// Refuses an address that changes where the connection cannot follow.
fn migrates(spec: &ScenarioSpec, handover: &HandoverSpec, at: &Place<'_>) -> Result<(), SpecError> {
    let at = at.key("kind");
    let mut any = false;
    for (name, flow) in &spec.flows {
        let sends = flow.from == handover.node;
        if !sends && flow.to != handover.node {
            continue;
        }
        any = true;
        let flow_name = cut(name);
        let opens = sends == (flow.opened_by == OpenedBy::From);
        match &flow.transport {
            TransportSpec::Quic(_) => {
                let error = at.error(format!(
                    "`migrate` is not supported for QUIC yet, and flow `{flow_name}` ends at this node"
                ));
                return Err(error.allowed("`reroute` or `rebind`, or the transport `tcp`"));
            }
            TransportSpec::Udp(_) => {
                let error = at.error(format!(
                    "flow `{flow_name}` keeps to its addresses, as UDP has no connection that could move"
                ));
                return Err(error.allowed("`reroute` or `rebind`"));
            }
            TransportSpec::Tcp(_) if !opens => {
                let error = at.error(format!(
                    "the other end of flow `{flow_name}` opens the connection, and does not learn the new address"
                ));
                return Err(error.allowed(format!(
                    "`reroute` or `rebind`, or `flows.{flow_name}.opened_by` the end that moves"
                )));
            }
            TransportSpec::Tcp(_) if flow.reconnect.is_none() => {
                let error = at.error(format!(
                    "flow `{flow_name}` loses its connection when the address changes, and does not reconnect"
                ));
                return Err(error
                    .allowed(format!("`flows.{flow_name}.reconnect`, or `reroute` or `rebind`")));
            }
            TransportSpec::Tcp(_) => {}
        }
    }
    if any {
        return Ok(());
    }
    let error =
        at.error(format!("no flow ends at `{}`, so no connection notices", cut(&handover.node)));
    Err(error.allowed("`reroute`, or `rebind` for a node that translates addresses"))
}

/// Refuses a translation that a flow would have to be opened through from outside.
fn rebinds(spec: &ScenarioSpec, handover: &HandoverSpec, at: &Place<'_>) -> Result<(), SpecError> {
    let at = at.key("kind");
    for topology in spec.topologies() {
        for (name, flow) in &spec.flows {
            let ends = [&flow.from, &flow.to].map(|end| spec.node(end));
            let [Some(from), Some(to)] = ends else { continue };
            let (opener, other) =
                if flow.opened_by == OpenedBy::From { (from, to) } else { (to, from) };
            let Some(path) = topology.routes([other]).path(opener, other) else { continue };
            let enters = path.iter().any(|link| {
                let (link, direction) = spec.direction(*link);
                handover.links.contains(&spec.links[link].0)
                    && spec.links[link].1.ends(direction)[1] == handover.node
            });
            if enters {
                let error = at.error(format!(
                    "flow `{}` is opened from outside, where only translated addresses are known",
                    cut(name)
                ));
                return Err(error.allowed("flows opened from behind the node, or `reroute`"));
            }
        }
    }
    Ok(())
}
