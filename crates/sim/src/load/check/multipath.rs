//! Checks of flows with several paths: each link that carries one leads from the node that opens the connection to the other.

use leobench_base::spec::{SpecError, cut};
use leobench_base::{LinkId, NodeId};
use leobench_quic::QuicSpec;
use leobench_transport::Plugins;

use super::flows::fits;
use super::{Names, Place};
use crate::scenario::{FlowSpec, ScenarioSpec, TransportSpec};

pub(super) fn check(
    spec: &ScenarioSpec,
    flow: &FlowSpec,
    nodes: &Names<'_>,
    plugins: &Plugins,
    at: &Place<'_>,
) -> Result<(), SpecError> {
    let TransportSpec::Quic(QuicSpec { multipath: Some(multipath), .. }) = &flow.transport else {
        return Ok(());
    };
    let (opener, answerer) = (flow.opener(), flow.answerer());
    let (transport, flow_at) = (at.key("transport"), at);
    let multipath_at = transport.key("multipath");
    let scheduler_at = multipath_at.key("scheduler");
    multipath.scheduler.model().check(multipath.links.len(), plugins).map_err(|fault| {
        scheduler_at.key(&fault.field).error(fault.problem).allowed(fault.allowed)
    })?;
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
    Ok(())
}
