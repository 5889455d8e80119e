//! QUIC: leobench's own stack, the stack `noq`, or a library.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use leobench_base::spec::Fault;
use leobench_base::{Bytes, SimTime};
use leobench_media::call::MOST_STREAMS;
pub use leobench_quic::QuicSpec;
use leobench_quic::{
    MESSAGE_STREAMS, MultipathSpec, Protected, QuicConfig, QuicEndpoint, Stack, ZeroRtt,
};
use leobench_transport::buffer::{Attributes, Carried};
use leobench_transport::library::LibrarySpec;
use leobench_transport::on_forecast::OnForecastSpec;
use leobench_transport::plugin::{Plugin, PluginKind, StackSetup};
use leobench_transport::{CongestionSpec, Endpoint, EndpointError, Role, SchedulerSpec};

use super::{
    BlocksUntil, EndpointContext, EndpointFault, FlowCheck, HostSocket, MovedFlow, TransportModel,
    TransportSpec, no_reconnect, virtual_only,
};
use crate::scenario::{FlowSpec, HandoverKind, OpenedBy, StreamSpec, Streams};

/// Addresses for a stack that is made to find out whether it can be (RFC 5737).
const TRIAL: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 4_433);

impl TransportModel for QuicSpec {
    fn payload(&self) -> Bytes {
        self.payload
    }

    fn least_payload(&self) -> Bytes {
        Self::SMALLEST_PAYLOAD
    }

    fn datagram(&self) -> Option<Bytes> {
        self.largest_datagram()
    }

    fn has_message_streams(&self) -> bool {
        self.stack == Stack::Own
    }

    fn blocks_until(&self) -> BlocksUntil {
        match self.stack {
            Stack::Own | Stack::Noq => BlocksUntil::Unsent(self.payload),
            Stack::Library(_) => BlocksUntil::Taken,
        }
    }

    fn connects(&self) -> bool {
        true
    }

    fn stack(&self) -> Option<&str> {
        Some(self.stack.name())
    }

    fn is_foreign(&self) -> bool {
        self.stack.library().is_some()
    }

    fn congestion(&self) -> Option<&CongestionSpec> {
        Some(&self.congestion)
    }

    fn scheduler(&self) -> Option<&SchedulerSpec> {
        Some(&self.scheduler)
    }

    fn on_forecast(&self) -> Option<&OnForecastSpec> {
        self.on_forecast.as_ref()
    }

    fn takes_reports(&self) -> bool {
        self.stack == Stack::Own
    }

    fn multipath(&self) -> Option<&MultipathSpec> {
        self.multipath.as_ref()
    }

    fn preferred_address(&self) -> Option<&str> {
        self.preferred_address.as_deref()
    }

    fn check(&self, check: FlowCheck<'_>) -> Result<(), Fault> {
        no_reconnect(check.flow, "a QUIC connection survives a change of address")?;
        check_build(self)?;
        check_early(self, check.flow)?;
        check_library(self, check)
    }

    fn check_migration(&self, moved: MovedFlow<'_>) -> Result<(), Fault> {
        if !moved.opens {
            return Err(moved.not_opened(", and only clients migrate (RFC 9000 section 9)"));
        }
        if self.stack == Stack::Noq {
            let problem = format!(
                "flow `{}` uses the QUIC stack `noq`, which does not learn of new addresses here",
                moved.name
            );
            return Err(Fault::new("", problem, "`reroute` or `rebind`, or the stack `own`"));
        }
        Ok(())
    }

    fn check_real(&self, _: &FlowSpec) -> Result<(), Fault> {
        if self.stack == Stack::Own {
            Ok(())
        } else {
            Err(virtual_only("transport.stack", "`own`"))
        }
    }

    fn in_real_time(&self) -> Option<TransportSpec> {
        Some(TransportSpec::Quic(Self { protection: Protected::Tls, ..self.clone() }))
    }

    fn host_socket(&self) -> HostSocket<'_> {
        HostSocket::Quic
    }

    fn endpoint(&self, context: EndpointContext<'_>) -> Result<Box<dyn Endpoint>, EndpointFault> {
        let streams = context.flow.attributes();
        if let Some(library) = self.stack.library() {
            return library_endpoint(self, library, &context, &streams);
        }
        let qlog = context.network.qlog()?;
        let carries = |way| streams.iter().any(|stream| stream.carried == way);
        let most = if context.flow.call.is_some() { MOST_STREAMS } else { MESSAGE_STREAMS };
        let mut config = QuicConfig {
            spec: self,
            role: context.role(),
            sends: sent(&context, &streams),
            receives: received(&context, &streams),
            datagrams: carries(Carried::Datagrams),
            message_streams: carries(Carried::StreamPerMessage).then_some(most),
            local: context.local,
            remote: context.remote,
            start: context.start(),
            rng: context.rng,
            plugins: context.plugins,
            qlog,
        };
        #[cfg(feature = "noq")]
        if self.stack == Stack::Noq {
            return Ok(Box::new(leobench_quic_noq::NoqEndpoint::new(config)?));
        }
        let qlog = config.qlog.take();
        let mut endpoint = QuicEndpoint::new(&config)?;
        place(self, &mut endpoint, &context)?;
        if let Some(writer) = qlog {
            endpoint.write_qlog(writer);
        }
        // Both ends know the same secrets.
        if self.protection == Protected::Tls
            && context.role() == Role::Client
            && let Some(log) = context.network.key_log()?
        {
            endpoint.log_secrets(log);
        }
        Ok(Box::new(endpoint))
    }
}

/// Refuses a stack, or its protection, that this build does not have.
fn check_build(quic: &QuicSpec) -> Result<(), Fault> {
    let problem = "is not part of this build";
    if quic.stack == Stack::Noq && cfg!(not(feature = "noq")) {
        let allowed = "`own`, or a build with the feature `noq`";
        return Err(Fault::new("transport.stack", problem, allowed));
    }
    if quic.protection == Protected::Tls && cfg!(not(feature = "tls")) {
        let allowed = "`null`, or a build with the feature `tls`";
        return Err(Fault::new("transport.protection", problem, allowed));
    }
    Ok(())
}

/// Refuses 0-RTT data of an end that only answers, and of one that has nothing but datagrams or a call, which wait for the handshake.
fn check_early(quic: &QuicSpec, flow: &FlowSpec) -> Result<(), Fault> {
    if quic.zero_rtt == ZeroRtt::Unused {
        return Ok(());
    }
    let key = "transport.zero_rtt";
    let in_datagrams =
        |streams: &[StreamSpec]| streams.iter().all(|stream| stream.carried == Carried::Datagrams);
    let only_datagrams = matches!(&flow.streams, Streams::Each(each) if in_datagrams(each));
    if flow.call.is_some() || only_datagrams {
        let problem = if only_datagrams {
            "its data travels in datagrams, which wait for the handshake"
        } else {
            "packets of a call wait for the handshake"
        };
        return Err(Fault::new(key, problem, "`false`, with `resumption = true` or without"));
    }
    let begins = if flow.asks() { OpenedBy::To } else { OpenedBy::From };
    if flow.opened_by == begins {
        return Ok(());
    }
    let problem = "needs data of the end that opens the connection, which only answers here";
    let word = if flow.asks() { "to" } else { "from" };
    Err(Fault::new(key, problem, format!("`false`, or `opened_by = \"{word}\"`")))
}

/// Refuses a library that cannot be used, and forecasts, which its interface does not pass on.
fn check_library(quic: &QuicSpec, check: FlowCheck<'_>) -> Result<(), Fault> {
    let Some(library) = quic.stack.library() else { return Ok(()) };
    let FlowCheck { scenario, flow, plugins } = check;
    if flow.forecast.is_some() {
        let problem = format!("is not passed on to the stack `{}`", library.name());
        return Err(Fault::new("forecast", problem, "no `forecast`, or the stack `own`"));
    }
    let moves = scenario.handovers.iter().any(|(_, handover)| {
        handover.kind == HandoverKind::Migrate && handover.node == flow.opener()
    });
    let setup = StackSetup {
        role: Role::Client,
        sends: flow.attributes(),
        receives: flow.stream_count(),
        local: TRIAL,
        remote: TRIAL,
        start: SimTime::ZERO + flow.start,
        payload: quic.payload,
        ecn: quic.ecn,
        moves,
    };
    let checked = plugins.check(&PluginKind::QuicStack(setup), library.class());
    checked.map_err(|fault| fault.within("transport.stack"))
}

/// The streams that an end sends on.
fn sent<'s>(context: &EndpointContext<'_>, streams: &'s [Attributes]) -> &'s [Attributes] {
    if context.sends_data() || context.flow.asks() { streams } else { &[] }
}

/// Number of the streams that the other end sends on.
fn received(context: &EndpointContext<'_>, streams: &[Attributes]) -> usize {
    if context.sends_data() && !context.flow.asks() { 0 } else { streams.len() }
}

/// An end whose stack is a library.
fn library_endpoint(
    quic: &QuicSpec,
    library: &LibrarySpec,
    context: &EndpointContext<'_>,
    streams: &[Attributes],
) -> Result<Box<dyn Endpoint>, EndpointFault> {
    let at = context.start();
    let setup = StackSetup {
        role: context.role(),
        sends: sent(context, streams).to_vec(),
        receives: received(context, streams),
        local: context.local,
        remote: context.remote,
        start: at,
        payload: quic.payload,
        ecn: quic.ecn,
        moves: false,
    };
    let kind = PluginKind::QuicStack(setup);
    let problem = match context.plugins.build(&kind, library.class(), context.rng) {
        Ok(Plugin::QuicStack(endpoint)) => return Ok(endpoint),
        Ok(_) => "was built as another kind of plug-in".to_owned(),
        Err(problem) => format!("`{}` {problem}", library.name()),
    };
    Err(EndpointError::Stack { at, problem }.into())
}

/// Tells an end of leobench's own stack the addresses that it may use beside its first one.
fn place(
    quic: &QuicSpec,
    endpoint: &mut QuicEndpoint,
    context: &EndpointContext<'_>,
) -> Result<(), EndpointFault> {
    if context.role() == Role::Client {
        endpoint.use_addresses(context.paths);
        endpoint.use_peers(context.peers, context.pairs);
        if quic.probe_after.is_some() {
            endpoint.know_addresses(&context.network.other_interfaces()?);
        }
    } else if let Some(link) = &quic.preferred_address {
        let address = context.network.answerer_address(link)?;
        endpoint.prefer_address(SocketAddr::new(address, context.local.port()));
    }
    Ok(())
}
