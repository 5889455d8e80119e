//! Checks of flows: their ends, their times, what they send, and the way it goes.

use leobench_base::spec::{NAME, Spec, SpecError, cut, is_name};
use leobench_base::{DirectionId, NodeId, Protocol, SimDuration};
use leobench_transport::buffer::Carried;
use leobench_transport::source::BulkSpec;
use leobench_transport::{Plugins, SourceSpec};
use rustc_hash::FxHashMap;

use super::{Names, Place, call, cross_layer, multipath, page, preferred, video};
use crate::scenario::{
    ApplicationSpec, FlowCheck, FlowSpec, OpenedBy, Scenario, ScenarioSpec, StaticTopology,
    StreamSpec, Streams, Until,
};

pub(super) fn check(
    Scenario { spec, folder, .. }: &Scenario,
    nodes: &Names<'_>,
    plugins: &Plugins,
    flows: &Place<'_>,
) -> Result<(), SpecError> {
    let ends = spec.flows.iter().flat_map(|(_, flow)| [flow.from.as_str(), flow.to.as_str()]);
    let ends: Vec<_> = ends.filter_map(|name| nodes.places.get(name).copied()).collect();
    let networks: Vec<_> = spec
        .topologies()
        .map(|topology| (topology, topology.routes(ends.iter().map(|end| NodeId::from(*end)))))
        .collect();
    for (name, flow) in &spec.flows {
        let at = flows.key(name);
        times(flow, spec.production(), &at)?;
        let model = flow.transport.model();
        let checked = model.check(FlowCheck { scenario: spec, flow, plugins });
        checked.map_err(|fault| at.fault(fault))?;
        forecast(spec, flow, &at)?;
        match (&flow.objects, &flow.call, &flow.video) {
            (Some(objects), ..) => page::check(flow, objects, &at)?,
            (None, Some(call), _) => call::check(flow, call, &at)?,
            (None, None, Some(watched)) => video::check(flow, watched, folder, plugins, &at)?,
            (None, None, None) => traffic(flow, &at)?,
        }
        page::http(flow, &at)?;
        endless(spec, flow, &at)?;
        single(flow, &at)?;
        datagrams(flow, &at)?;
        message_streams(flow, &at)?;
        scheduler(flow, plugins, &at.key("transport").key("scheduler"))?;
        congestion(flow, plugins, &at.key("transport").key("congestion"))?;
        let from = nodes.find(&flow.from, "node", &at.key("from"))?;
        let to = nodes.find(&flow.to, "node", &at.key("to"))?;
        if from == to {
            return Err(at
                .key("to")
                .error("is the node where the flow starts")
                .allowed("another node"));
        }
        let connects = model.connects();
        if !connects && flow.opened_by == OpenedBy::To {
            let error = at.key("opened_by").error("the transport opens no connection");
            return Err(error.allowed("`from`"));
        }
        multipath::check(spec, flow, nodes, plugins, &at)?;
        preferred::check(spec, flow, nodes, &at)?;
        cross_layer::check(spec, flow, &at)?;
        for (topology, routes) in &networks {
            let path = |from: usize, to: usize| {
                let path = routes.path(from.into(), to.into());
                path.ok_or_else(|| no_path([nodes.listed[from], nodes.listed[to]], topology, &at))
            };
            fits(spec, flow, &path(from, to)?, &at)?;
            if connects || flow.asks() {
                fits(spec, flow, &path(to, from)?, &at)?;
            }
        }
    }
    Ok(())
}

fn times(flow: &FlowSpec, duration: SimDuration, at: &Place<'_>) -> Result<(), SpecError> {
    if flow.start >= duration {
        let error = at.key("start").error("is not before the end of the sources");
        return Err(error.allowed(format!("a time below the duration, {duration}")));
    }
    if flow.stop.is_some_and(|stop| stop <= flow.start) {
        let error = at.key("stop").error("is not after the start");
        return Err(error.allowed(format!("a time above {}", flow.start)));
    }
    Ok(())
}

/// Refuses forecasts where there is nothing to foresee or nobody to tell, and answers to forecasts that never come.
fn forecast(spec: &ScenarioSpec, flow: &FlowSpec, at: &Place<'_>) -> Result<(), SpecError> {
    if flow.forecast.is_none() {
        if flow.transport.model().on_forecast().is_none() {
            return Ok(());
        }
        let transport = at.key("transport");
        let error =
            transport.key("on_forecast").error("reacts to forecasts, but the flow has none");
        return Err(error.allowed("a `forecast` for the flow, or no `on_forecast`"));
    }
    let at = at.key("forecast");
    cross_layer::adapts(flow, "forecast", &at)?;
    let timed = spec.handovers.iter().any(|(_, handover)| handover.is_timed());
    if spec.constellation.is_none() && !timed {
        let error = at.error("has no handovers to predict");
        return Err(error.allowed(
            "a link through a `constellation`, or `handovers` with `at`, `every` or `interval`",
        ));
    }
    Ok(())
}

/// Checks that the flow says in exactly one way what it sends.
fn traffic(flow: &FlowSpec, at: &Place<'_>) -> Result<(), SpecError> {
    let source = at.key("source");
    let ways = "either `source` with a number of `streams`, or an array of `streams` with a source each, or the \
                `objects` of a page, or a `video`, or a `call`";
    if flow.application == ApplicationSpec::Blocking && !flow.transport.model().connects() {
        let error =
            at.key("application").error("has no effect: the transport sends every message at once");
        return Err(error.allowed("`buffered`"));
    }
    match (&flow.streams, &flow.source) {
        (Streams::Dealt(_), None) => Err(source.error("is required but missing").allowed(ways)),
        (Streams::Each(_), Some(_)) => {
            Err(source.error("is given together with an array of streams").allowed(ways))
        }
        (Streams::Dealt(_), Some(_)) => Ok(()),
        (Streams::Each(_), None) => stream_names(&flow.streams, &at.key("streams")),
    }
}

/// Refuses a transfer without an end where it could never come to one.
fn endless(spec: &ScenarioSpec, flow: &FlowSpec, at: &Place<'_>) -> Result<(), SpecError> {
    for (stream, source) in flow.sources() {
        if !matches!(source, SourceSpec::Bulk(BulkSpec { size: None })) {
            continue;
        }
        let (problem, allowed) = if !flow.transport.model().connects() {
            ("is missing, but the transport sends the whole message at once", "a size")
        } else if spec.until == Until::Drained && !(flow.background && has_end(spec)) {
            (
                "is missing, but the run waits for the end of the transfer",
                "a size, or `until = \"time\"`",
            )
        } else {
            continue;
        };
        return Err(at_source(at, stream, |at| at.key("size").error(problem).allowed(allowed)));
    }
    Ok(())
}

/// Whether a flow comes to an end by itself: a run does not wait for transfers without one in the background.
fn has_end(spec: &ScenarioSpec) -> bool {
    spec.flows.iter().any(|(_, flow)| !flow.background && !flow.is_endless())
}

/// An error about a source of the flow `at`.
pub(super) fn at_source(
    at: &Place<'_>,
    stream: Option<usize>,
    error: impl FnOnce(&Place<'_>) -> SpecError,
) -> SpecError {
    match stream {
        None => error(&at.key("source")),
        Some(index) => error(&at.key("streams").index(index).key("source")),
    }
}

/// Refuses what takes streams on a transport that has a single one.
fn single(flow: &FlowSpec, at: &Place<'_>) -> Result<(), SpecError> {
    // The objects of a page share it.
    if flow.transport.model().has_streams() || flow.objects.is_some() {
        return Ok(());
    }
    let kind = flow.transport.kind();
    if flow.stream_count() > 1 {
        let error =
            at.key("streams").error(format!("a connection of `{kind}` has a single stream"));
        return Err(error.allowed("1, a separate flow for each stream, or the transport `quic`"));
    }
    Ok(())
}

/// Refuses streams in datagrams over a transport that has none.
fn datagrams(flow: &FlowSpec, at: &Place<'_>) -> Result<(), SpecError> {
    let Streams::Each(streams) = &flow.streams else { return Ok(()) };
    let carried = |stream: &StreamSpec| stream.carried == Carried::Datagrams;
    let Some(first) = streams.iter().position(carried) else { return Ok(()) };
    if flow.transport.model().datagram().is_some() {
        return Ok(());
    }
    let streams = at.key("streams");
    let stream = streams.index(first);
    let problem = format!("{} does not send messages in datagrams", stack_or_transport(flow));
    let error = stream.key("carried").error(problem);
    Err(error.allowed("`stream`, or the transport `udp`, or `quic` with the stack `own`"))
}

/// Refuses messages in streams of their own over a transport that has none.
fn message_streams(flow: &FlowSpec, at: &Place<'_>) -> Result<(), SpecError> {
    let Streams::Each(streams) = &flow.streams else { return Ok(()) };
    let carried = |stream: &StreamSpec| stream.carried == Carried::StreamPerMessage;
    let Some(first) = streams.iter().position(carried) else { return Ok(()) };
    if flow.transport.model().has_message_streams() {
        return Ok(());
    }
    let problem = format!("{} has no stream for each message", stack_or_transport(flow));
    let error = at.key("streams").index(first).key("carried").error(problem);
    Err(error.allowed("`stream`, or the transport `quic` with the stack `own`"))
}

/// The name of a flow's transport, or of its stack if it has several.
pub(super) fn stack_or_transport(flow: &FlowSpec) -> String {
    let kind = flow.transport.kind();
    match flow.transport.model().stack() {
        Some(stack) => format!("the stack `{stack}` of `{kind}`"),
        None => format!("`{kind}`"),
    }
}

/// Refuses a stream scheduler that cannot serve the flow's streams.
fn scheduler(flow: &FlowSpec, plugins: &Plugins, at: &Place<'_>) -> Result<(), SpecError> {
    let Some(scheduler) = flow.transport.model().scheduler() else { return Ok(()) };
    let checked = scheduler.model().check(flow.stream_count(), plugins);
    checked.map_err(|fault| at.fault(fault))
}

/// Refuses a congestion controller of the user's that cannot be built.
fn congestion(flow: &FlowSpec, plugins: &Plugins, at: &Place<'_>) -> Result<(), SpecError> {
    let Some(congestion) = flow.transport.model().congestion() else { return Ok(()) };
    congestion.model().check(plugins).map_err(|fault| at.fault(fault))
}

fn stream_names(streams: &Streams, array: &Place<'_>) -> Result<(), SpecError> {
    let mut seen = FxHashMap::default();
    for index in 0..streams.count() {
        let (at, name) = (array.index(index), streams.name(index));
        if !is_name(&name) {
            return Err(at.key("name").error("is not a valid name").allowed(NAME));
        }
        if let Some(first) = seen.get(&name) {
            let problem = format!("stream {first} is also named `{}`", cut(&name));
            return Err(at.key("name").error(problem).allowed("a different name for every stream"));
        }
        seen.insert(name, index);
    }
    Ok(())
}

/// Refuses a flow whose full packets do not fit the links that they take.
pub(super) fn fits(
    spec: &ScenarioSpec,
    flow: &FlowSpec,
    path: &[DirectionId],
    at: &Place<'_>,
) -> Result<(), SpecError> {
    let model = flow.transport.model();
    let (payload, headers) = (model.payload(), model.headers());
    for direction in path {
        let (name, link) = &spec.links[spec.direction(*direction).0];
        if payload + headers > link.mtu {
            let transport = at.key("transport");
            let most = link.mtu.saturating_sub(headers);
            let problem = format!(
                "and {headers} of {} and IPv4 headers exceed the MTU of link `{name}`, {}",
                if model.protocol() == Protocol::Tcp { "TCP" } else { "UDP" },
                link.mtu
            );
            let place = transport.key(model.payload_key());
            let written = place.value.cloned().unwrap_or_else(|| payload.write());
            let error = place.at.error(&written, problem);
            let least = model.least_payload();
            return Err(error.allowed(if most < least {
                format!(
                    "{least} or more, for which `links.{name}.mtu` is {} or more",
                    least + headers
                )
            } else {
                format!("at most {most}, or a larger `links.{name}.mtu`")
            }));
        }
    }
    Ok(())
}

fn no_path([from, to]: [&str; 2], topology: &StaticTopology<'_>, at: &Place<'_>) -> SpecError {
    let when = topology.moved().map_or(String::new(), |(node, link)| {
        format!(" while `{}` uses link `{}`", cut(node), cut(link))
    });
    let problem = format!("no links lead from `{}` to `{}`{when}", cut(from), cut(to));
    at.key("to").error(problem).allowed("a node that the links reach")
}
