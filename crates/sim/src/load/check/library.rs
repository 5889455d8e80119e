//! Checks of flows whose QUIC stack is a shared library.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use leobench_base::SimTime;
use leobench_base::spec::SpecError;
use leobench_transport::plugin::{PluginKind, StackSetup};
use leobench_transport::{Plugins, Role};

use super::Place;
use crate::scenario::{FlowSpec, HandoverKind, ScenarioSpec, TransportSpec};

/// Addresses for a stack that is made to find out whether it can be (RFC 5737).
const TRIAL: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 4_433);

/// Refuses a library that cannot be used, and forecasts, which its interface does not pass on.
pub(super) fn check(
    spec: &ScenarioSpec,
    flow: &FlowSpec,
    plugins: &Plugins,
    at: &Place<'_>,
) -> Result<(), SpecError> {
    let TransportSpec::Quic(quic) = &flow.transport else { return Ok(()) };
    let Some(library) = quic.stack.library() else { return Ok(()) };
    if flow.forecast.is_some() {
        let problem = format!("is not passed on to the stack `{}`", library.name());
        let error = at.key("forecast").error(problem);
        return Err(error.allowed("no `forecast`, or the stack `own`"));
    }
    let moves = spec.handovers.iter().any(|(_, handover)| {
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
    let transport = at.key("transport");
    let stack = transport.key("stack");
    checked.map_err(|fault| stack.key(&fault.field).error(fault.problem).allowed(fault.allowed))
}
