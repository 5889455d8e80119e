//! Checks of handovers: the links they lead over, their times, and whether the flows can follow.

mod times;

use leobench_base::spec::{SpecError, cut};
use rustc_hash::FxHashMap;

use super::{Names, Place};
use crate::scenario::{HandoverKind, HandoverSpec, MovedFlow, OpenedBy, Scenario, ScenarioSpec};

/// Checks the nodes, the links and the times.
pub(super) fn links(
    scenario: &Scenario,
    nodes: &Names<'_>,
    handovers: &Place<'_>,
) -> Result<(), SpecError> {
    let spec = &scenario.spec;
    let links = Names::new(spec.links.iter().map(|(name, _)| name.as_str()));
    let (mut moving, mut taken) = (FxHashMap::default(), FxHashMap::default());
    for (name, handover) in &spec.handovers {
        let at = handovers.key(name);
        nodes.find(&handover.node, "node", &at.key("node"))?;
        if let Some(other) = moving.insert(&handover.node, name) {
            let problem = format!("`handovers.{}` already moves this node", cut(other));
            return Err(at.key("node").error(problem).allowed("one table of handovers per node"));
        }
        attached(spec, handover, &links, &at.key("links"))?;
        for (index, link) in handover.links.iter().enumerate() {
            if let Some(other) = taken.insert(link, name).filter(|other| *other != name) {
                let problem = format!("`handovers.{}` already uses this link", cut(other));
                let error = at.key("links").index(index).error(problem);
                return Err(error.allowed("a link that no other table of handovers uses"));
            }
        }
        times::check(scenario, handover, &at)?;
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
            let error = at.error("is followed by itself (the first link follows the last)");
            return Err(error.allowed("another link next"));
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
        let opens = sends == (flow.opened_by == OpenedBy::From);
        let moved = MovedFlow { name: &cut(name), flow, opens };
        let checked = flow.transport.model().check_migration(moved);
        checked.map_err(|fault| at.fault(fault))?;
    }
    // Programs may notice where there are no flows.
    if any || spec.flows.is_empty() {
        return Ok(());
    }
    let error = at.error(format!(
        "no flow starts or ends at `{}`, so no connection would migrate",
        cut(&handover.node)
    ));
    Err(error.allowed("`reroute`, or `rebind` for a node that translates addresses"))
}

/// Refuses a translation that a flow would have to be opened through from outside.
fn rebinds(spec: &ScenarioSpec, handover: &HandoverSpec, at: &Place<'_>) -> Result<(), SpecError> {
    let at = at.key("kind");
    for (name, flow) in &spec.flows {
        let opener = flow.opener();
        if flow.transport.model().multipath().is_some() && opener == handover.node {
            let error = at.error(format!(
                "flow `{}` uses the addresses of several links of `{}`, which translates them",
                cut(name),
                cut(opener)
            ));
            return Err(
                error.allowed("`reroute` or `migrate`, or flows that are opened behind the node")
            );
        }
    }
    for topology in spec.topologies() {
        for (name, flow) in &spec.flows {
            let ends = [&flow.from, &flow.to].map(|end| spec.node(end));
            let [Some(from), Some(to)] = ends else { continue };
            let (opener, other) =
                if flow.opened_by == OpenedBy::From { (from, to) } else { (to, from) };
            let Some(path) = topology.routes([other]).path(opener, other) else { continue };
            let enters = path.iter().any(|direction| {
                let (link, direction) = spec.direction(*direction);
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
