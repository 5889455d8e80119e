//! Checks of flows whose server prefers another address: that of an interface which the client reaches.

use leobench_base::NodeId;
use leobench_base::spec::{SpecError, cut};

use super::{Names, Place};
use crate::scenario::{FlowSpec, LinkSpec, ScenarioSpec};

pub(super) fn check(
    spec: &ScenarioSpec,
    flow: &FlowSpec,
    nodes: &Names<'_>,
    at: &Place<'_>,
) -> Result<(), SpecError> {
    let Some(name) = flow.transport.model().preferred_address() else { return Ok(()) };
    let (opener, answerer) = (flow.opener(), flow.answerer());
    let transport = at.key("transport");
    let at = transport.key("preferred_address");
    let at_server = |link: &LinkSpec| link.between.iter().any(|end| end == answerer);
    let own: Vec<_> = spec.links.iter().filter(|(_, link)| at_server(link)).collect();
    let Some((_, link)) = own.iter().find(|(known, _)| known == name) else {
        let problem = format!("is not a link of `{}`, where the server is", cut(answerer));
        let names: Vec<_> = own.iter().map(|(name, _)| format!("`{name}`")).collect();
        return Err(at.error(problem).allowed(names.join(", ")));
    };
    if own.len() < 2 {
        let problem = format!("is the only link of `{}`", cut(answerer));
        return Err(at
            .error(problem)
            .allowed("a server with two links, or no `preferred_address`"));
    }
    let far = if link.between[0] == *answerer { &link.between[1] } else { &link.between[0] };
    let places =
        [far.as_str(), opener].map(|name| nodes.places.get(name).map(|at| NodeId::from(*at)));
    let [Some(far), Some(from)] = places else { return Ok(()) };
    let start = spec.topologies().next();
    let leads = far == from
        || start.is_some_and(|topology| topology.routes([far]).path(from, far).is_some());
    if leads {
        Ok(())
    } else {
        let problem = format!("cannot be reached from `{}`", cut(opener));
        Err(at.error(problem).allowed("a link whose other end can be reached"))
    }
}
