//! Checks of flows with several paths: each link that carries one leads from the node that opens the connection to the other.

use leobench_base::spec::{SpecError, cut};
use leobench_base::{LinkId, NodeId};
use leobench_quic::MultipathSpec;
use leobench_transport::Plugins;
use leobench_transport::path_manager::ManagedFlow;

use super::flows::fits;
use super::{Names, Place};
use crate::scenario::{FlowSpec, ScenarioSpec};

pub(super) fn check(
    spec: &ScenarioSpec,
    flow: &FlowSpec,
    nodes: &Names<'_>,
    plugins: &Plugins,
    at: &Place<'_>,
) -> Result<(), SpecError> {
    let Some(multipath) = flow.transport.model().multipath() else { return Ok(()) };
    let (opener, answerer) = (flow.opener(), flow.answerer());
    let (transport, flow_at) = (at.key("transport"), at);
    let multipath_at = transport.key("multipath");
    let scheduler_at = multipath_at.key("scheduler");
    let scheduler = multipath.scheduler.model().check(&multipath.links, plugins);
    scheduler.map_err(|fault| scheduler_at.fault(fault))?;
    manager(flow, multipath, &multipath_at.key("manager"))?;
    let links = multipath_at.key("links");
    let own = spec.links.iter().filter(|(_, link)| link.between.iter().any(|end| end == opener));
    let own: Vec<_> = own.map(|(name, _)| format!("`{name}`")).collect();
    for (index, name) in multipath.links.iter().enumerate() {
        let at = links.index(index);
        let known = spec.links.iter().position(|(known, _)| known == name);
        let ends = known.map(|known| &spec.links[known].1.between);
        let Some(ends) = ends.filter(|ends| ends.iter().any(|end| end == opener)) else {
            let problem = format!("is not a link of `{}`, which opens the connection", cut(opener));
            return Err(at.error(problem).allowed(own.join(", ")));
        };
        if let Some(known) = known {
            fits(spec, flow, &LinkId::from(known).directions(), flow_at)?;
        }
        let far = if ends[0] == opener { &ends[1] } else { &ends[0] };
        let [Some(far), Some(to), Some(from)] =
            [far, answerer, opener].map(|name| nodes.places.get(name).map(|at| NodeId::from(*at)))
        else {
            continue;
        };
        let start = spec.topologies().next();
        let routes = start.map(|topology| (topology, topology.routes([to])));
        let leads = routes.is_some_and(|(_, routes)| {
            let path = routes.path(far, to);
            path.is_some_and(|path| {
                far == to || path.iter().all(|direction| routes.edges()[*direction].from != from)
            })
        });
        if !leads {
            let problem = format!("does not lead to `{}`", cut(answerer));
            return Err(at.error(problem).allowed("a link with a route to it"));
        }
    }
    peers(spec, flow, multipath, &multipath_at.key("peer_links"))
}

/// Refuses a path manager that cannot manage the paths of the flow.
fn manager(flow: &FlowSpec, multipath: &MultipathSpec, at: &Place<'_>) -> Result<(), SpecError> {
    let has_peer_links = !multipath.peer_links.is_empty();
    let managed = ManagedFlow { has_peer_links, has_forecasts: flow.forecast.is_some() };
    multipath.manager.model().check(managed).map_err(|fault| at.fault(fault))
}

/// Refuses addresses of the server that no link leads to.
fn peers(
    spec: &ScenarioSpec,
    flow: &FlowSpec,
    multipath: &MultipathSpec,
    at: &Place<'_>,
) -> Result<(), SpecError> {
    if multipath.peer_links.is_empty() {
        return Ok(());
    }
    if !multipath.manager.model().uses_peer_links() {
        let kind = multipath.manager.kind();
        let problem = format!("is not used by the path manager `{kind}`");
        return Err(at.error(problem).allowed("`full_mesh`, or no `peer_links`"));
    }
    let answerer = flow.answerer();
    let own = spec.links.iter().filter(|(_, link)| link.between.iter().any(|end| end == answerer));
    let own: Vec<_> = own.map(|(name, _)| name).collect();
    let pairs = spec.reachable_pairs(flow, multipath);
    for (index, name) in multipath.peer_links.iter().enumerate() {
        let at = at.index(index);
        if !own.contains(&name) {
            let problem = format!("is not a link of `{}`, which answers", cut(answerer));
            let names: Vec<_> = own.iter().map(|name| format!("`{name}`")).collect();
            return Err(at.error(problem).allowed(names.join(", ")));
        }
        if !pairs.iter().any(|(_, peer)| *peer == index) {
            let error = at.error("cannot be reached from any of `links`");
            return Err(error.allowed("one of `links`, or a link to which a route leads"));
        }
    }
    if pairs.iter().all(|pair| *pair != (0, 0)) {
        let error = at.index(0).error("cannot be reached from the first of `links`");
        return Err(error.allowed("another order: the handshake takes the first of both"));
    }
    Ok(())
}
