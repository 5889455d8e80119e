//! Checks of flows: their ends, their times, what they send, and the way it goes.

use leobench_base::spec::{NAME, Spec, SpecError, cut, is_name};
use leobench_base::{DirectionId, NodeId, SimDuration};
use leobench_quic::{Protected, Stack, ZeroRtt};
use leobench_transport::buffer::Carried;
use leobench_transport::source::BulkSpec;
use leobench_transport::{Plugins, SourceSpec};
use rustc_hash::FxHashMap;

use super::{Names, Place, call, cross_layer, library, multipath, page, preferred, video};
use crate::scenario::{
    ApplicationSpec, FlowSpec, OpenedBy, Scenario, ScenarioSpec, StaticTopology, StreamSpec,
    Streams, TransportSpec, Until,
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
        reconnect(spec, flow, &at.key("reconnect"))?;
        stack(flow, &at)?;
        early(flow, &at)?;
        library::check(spec, flow, plugins, &at)?;
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
        let connects = flow.transport.model().connects();
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

/// Refuses a stack of QUIC, or its protection, that this build does not have.
fn stack(flow: &FlowSpec, at: &Place<'_>) -> Result<(), SpecError> {
    match &flow.transport {
        TransportSpec::Quic(quic) if quic.stack == Stack::Noq && cfg!(not(feature = "noq")) => {
            let error = at.key("transport").key("stack").error("is not part of this build");
            Err(error.allowed("`own`, or a build with the feature `noq`"))
        }
        TransportSpec::Quic(quic)
            if quic.protection == Protected::Tls && cfg!(not(feature = "tls")) =>
        {
            let error = at.key("transport").key("protection").error("is not part of this build");
            Err(error.allowed("`null`, or a build with the feature `tls`"))
        }
        _ => Ok(()),
    }
}

/// Refuses 0-RTT data of an end that only answers, and of one that has nothing but datagrams or a call, which wait for the handshake.
fn early(flow: &FlowSpec, at: &Place<'_>) -> Result<(), SpecError> {
    let TransportSpec::Quic(quic) = &flow.transport else { return Ok(()) };
    if quic.zero_rtt == ZeroRtt::Unused {
        return Ok(());
    }
    let in_datagrams =
        |streams: &[StreamSpec]| streams.iter().all(|stream| stream.carried == Carried::Datagrams);
    let only_datagrams = matches!(&flow.streams, Streams::Each(each) if in_datagrams(each));
    if flow.call.is_some() || only_datagrams {
        let problem = if only_datagrams {
            "its data travels in datagrams, which wait for the handshake"
        } else {
            "packets of a call wait for the handshake"
        };
        let error = at.key("transport").key("zero_rtt").error(problem);
        return Err(error.allowed("`false`, with `resumption = true` or without"));
    }
    let begins = if flow.asks() { OpenedBy::To } else { OpenedBy::From };
    if flow.opened_by == begins {
        return Ok(());
    }
    let problem = "needs data of the end that opens the connection, which only answers here";
    let word = if flow.asks() { "to" } else { "from" };
    let error = at.key("transport").key("zero_rtt").error(problem);
    Err(error.allowed(format!("`false`, or `opened_by = \"{word}\"`")))
}

/// Refuses forecasts where there is nothing to foresee or nobody to tell, and answers to forecasts that never come.
fn forecast(spec: &ScenarioSpec, flow: &FlowSpec, at: &Place<'_>) -> Result<(), SpecError> {
    if flow.forecast.is_none() {
        let heeds = match &flow.transport {
            TransportSpec::Quic(quic) => quic.on_forecast.is_some(),
            TransportSpec::Tcp(tcp) => tcp.on_forecast.is_some(),
            TransportSpec::Udp(_) => false,
        };
        if !heeds {
            return Ok(());
        }
        let transport = at.key("transport");
        let error =
            transport.key("on_forecast").error("reacts to forecasts, but the flow has none");
        return Err(error.allowed("a `forecast` for the flow, or no `on_forecast`"));
    }
    let at = at.key("forecast");
    if matches!(flow.transport, TransportSpec::Udp(_)) {
        let error = at.error(
            "applies only to senders that adapt their rate: `udp` sends as fast as its source",
        );
        return Err(error.allowed("no `forecast`, or the transport `quic` or `tcp`"));
    }
    let timed = spec.handovers.iter().any(|(_, handover)| handover.is_timed());
    if spec.constellation.is_none() && !timed {
        let error = at.error("has no handovers to predict");
        return Err(error.allowed(
            "a link through a `constellation`, or `handovers` with `at`, `every` or `interval`",
        ));
    }
    Ok(())
}

/// Refuses a new connection where it makes no sense, or could never come.
fn reconnect(spec: &ScenarioSpec, flow: &FlowSpec, at: &Place<'_>) -> Result<(), SpecError> {
    let Some(reconnect) = &flow.reconnect else { return Ok(()) };
    let problem = match flow.transport {
        TransportSpec::Tcp(_) => {
            let drain =
                if spec.until == Until::Drained { spec.drain_limit } else { SimDuration::ZERO };
            let longest = spec.production() + drain;
            if reconnect.after < longest {
                return Ok(());
            }
            let error = at.key("after").error("is as long as the run");
            return Err(error.allowed(format!("a time below {longest}")));
        }
        TransportSpec::Quic(_) => {
            "applies only to `tcp`: a QUIC connection survives a change of address"
        }
        TransportSpec::Udp(_) => "applies only to `tcp`: `udp` has no connection",
    };
    Err(at.error(problem).allowed("no `reconnect`, or the transport `tcp`"))
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
    if has_message_streams(flow) {
        return Ok(());
    }
    let problem = format!("{} has no stream for each message", stack_or_transport(flow));
    let error = at.key("streams").index(first).key("carried").error(problem);
    Err(error.allowed("`stream`, or the transport `quic` with the stack `own`"))
}

/// Whether the transport of a flow can give each message a stream of its own.
pub(super) fn has_message_streams(flow: &FlowSpec) -> bool {
    matches!(&flow.transport, TransportSpec::Quic(quic) if quic.stack == Stack::Own)
}

/// The name of a flow's transport, or of its stack of QUIC.
pub(super) fn stack_or_transport(flow: &FlowSpec) -> String {
    match &flow.transport {
        TransportSpec::Quic(quic) => format!("the stack `{}` of `quic`", quic.stack.name()),
        other => format!("`{}`", other.kind()),
    }
}

/// Refuses a stream scheduler that cannot serve the flow's streams.
fn scheduler(flow: &FlowSpec, plugins: &Plugins, at: &Place<'_>) -> Result<(), SpecError> {
    let Some(scheduler) = flow.transport.model().scheduler() else { return Ok(()) };
    let checked = scheduler.model().check(flow.stream_count(), plugins);
    checked.map_err(|fault| at.key(&fault.field).error(fault.problem).allowed(fault.allowed))
}

/// Refuses a congestion controller of the user's that cannot be built.
fn congestion(flow: &FlowSpec, plugins: &Plugins, at: &Place<'_>) -> Result<(), SpecError> {
    let congestion = match &flow.transport {
        TransportSpec::Quic(quic) => &quic.congestion,
        TransportSpec::Tcp(tcp) => &tcp.congestion,
        TransportSpec::Udp(_) => return Ok(()),
    };
    let checked = congestion.model().check(plugins);
    checked.map_err(|fault| at.key(&fault.field).error(fault.problem).allowed(fault.allowed))
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
                if matches!(flow.transport, TransportSpec::Tcp(_)) { "TCP" } else { "UDP" },
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
