//! Checks of flows: their ends, their times, what they send, and the way it goes.

use leobench_base::spec::{Fault, Spec, SpecError};
use leobench_base::{Bytes, SimDuration};

use super::super::{Direction, FlowSpec, OpenedBy, ScenarioSpec, Streams};
use super::Place;
use crate::routes::{Edge, next_hops, path};

/// Headers that a UDP payload travels under: 8 bytes of UDP (RFC 768) and 20 of IPv4 (RFC 791 section 3.1).
const HEADERS: Bytes = Bytes::new(28);

/// The network as the routes see it.
struct Routes<'s> {
    nodes: Vec<&'s str>,
    edges: Vec<Edge>,
    next_hops: Vec<Vec<Option<usize>>>,
}

pub(super) fn check(spec: &ScenarioSpec, flows: &Place<'_>) -> Result<(), SpecError> {
    let routes = Routes::new(spec);
    for (name, flow) in &spec.flows {
        let at = flows.key(name);
        times(flow, spec.duration, &at)?;
        traffic(flow, &at)?;
        let from = routes.node(&flow.from, &at.key("from"))?;
        let to = routes.node(&flow.to, &at.key("to"))?;
        if from == to {
            return Err(at.key("to").error("is where the flow starts").allowed("another node"));
        }
        let connects = flow.transport.model().connects();
        if !connects && flow.opened_by == OpenedBy::To {
            let error = at.key("opened_by").error("the transport opens no connection");
            return Err(error.allowed("`from`"));
        }
        fits(spec, flow, &routes.path(from, to, &at)?, &at)?;
        if connects {
            fits(spec, flow, &routes.path(to, from, &at)?, &at)?;
        }
    }
    Ok(())
}

fn times(flow: &FlowSpec, duration: SimDuration, at: &Place<'_>) -> Result<(), SpecError> {
    if flow.start >= duration {
        let error = at.key("start").error("is after the sources stopped");
        return Err(error.allowed(format!("a time below the duration, {duration}")));
    }
    if flow.stop.is_some_and(|stop| stop <= flow.start) {
        let error = at.key("stop").error("is not after the start");
        return Err(error.allowed(format!("a time above {}", flow.start)));
    }
    Ok(())
}

fn traffic(flow: &FlowSpec, at: &Place<'_>) -> Result<(), SpecError> {
    let source = at.key("source");
    let ways =
        "either `source` with a number of `streams`, or an array of `streams` with a source each";
    match (&flow.streams, &flow.source) {
        (Streams::Dealt(_), None) => Err(source.error("is required but missing").allowed(ways)),
        (Streams::Each(_), Some(_)) => {
            Err(source.error("is given beside an array of streams").allowed(ways))
        }
        (Streams::Dealt(_), Some(spec)) => {
            spec.model().check().map_err(|fault| faulty(fault, &source))
        }
        (Streams::Each(streams), None) => {
            let array = at.key("streams");
            let mut names: Vec<String> = Vec::new();
            for (index, stream) in streams.iter().enumerate() {
                let at = array.index(index);
                let name = flow.streams.name(index);
                if !super::is_name(&name) {
                    let error = at.key("name").error("is no name");
                    return Err(error.allowed("letters from a to z, digits, `_` and `-`"));
                }
                if names.contains(&name) {
                    let error = at.key("name").error(format!("another stream is named `{name}`"));
                    return Err(error.allowed("a name of its own for every stream"));
                }
                names.push(name);
                let source = at.key("source");
                stream.source.model().check().map_err(|fault| faulty(fault, &source))?;
            }
            Ok(())
        }
    }
}

fn faulty(fault: Fault, at: &Place<'_>) -> SpecError {
    match at.value {
        Some(value) => fault.at(value, &at.at),
        None => at.at.missing(fault.problem).allowed(fault.allowed),
    }
}

/// Refuses a flow whose full packets do not fit the links that they take.
fn fits(
    spec: &ScenarioSpec,
    flow: &FlowSpec,
    edges: &[usize],
    at: &Place<'_>,
) -> Result<(), SpecError> {
    let payload = flow.transport.model().payload();
    for edge in edges {
        let (name, link) = &spec.links[edge / Direction::BOTH.len()];
        if payload + HEADERS > link.mtu {
            let transport = at.key("transport");
            let most = link.mtu.saturating_sub(HEADERS);
            let problem = format!(
                "and {HEADERS} of UDP and IPv4 headers exceed the MTU of link `{name}`, {}",
                link.mtu
            );
            let error = transport.key("payload").at.error(&payload.write(), problem);
            return Err(error.allowed(format!("at most {most}, or a larger `links.{name}.mtu`")));
        }
    }
    Ok(())
}

impl<'s> Routes<'s> {
    fn new(spec: &'s ScenarioSpec) -> Self {
        let nodes: Vec<_> = spec.nodes.iter().map(|(name, _)| name.as_str()).collect();
        let edges = spec.edges().unwrap_or_default();
        let next_hops = next_hops(nodes.len(), &edges);
        Self { nodes, edges, next_hops }
    }

    fn node(&self, name: &str, at: &Place<'_>) -> Result<usize, SpecError> {
        let found = self.nodes.iter().position(|node| *node == name);
        found.ok_or_else(|| at.unknown("node", name, &self.nodes))
    }

    fn path(&self, from: usize, to: usize, at: &Place<'_>) -> Result<Vec<usize>, SpecError> {
        path(&self.next_hops, &self.edges, from, to).ok_or_else(|| {
            let [from, to] = [self.nodes[from], self.nodes[to]];
            let error = at.key("to").error(format!("no links lead from `{from}` to `{to}`"));
            error.allowed("a node that the links reach")
        })
    }
}
