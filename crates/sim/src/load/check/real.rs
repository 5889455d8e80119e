//! Checks for real time: refuses scenarios that only virtual time can run.

use leobench_base::Bytes;
use leobench_base::spec::{Spec, SpecError, Value};

use super::Place;
use crate::scenario::{Engine, FlowSpec, HostSocket, ScenarioSpec};

/// The most hosts: their devices are files, of which a process may open so many.
const MOST_NODES: usize = 200;
/// Bytes of the longest packet that a host's devices take.
const LONGEST_PACKET: Bytes = Bytes::new(1_500);
/// Keys that the kernel sets for all connections of a host at once.
const OF_HOSTS: [&str; 5] = ["timestamps", "sack", "ecn", "receive_buffer", "send_buffer"];

/// Refuses what a run in real time could not do, if the scenario asks for one.
pub(super) fn check(spec: &ScenarioSpec, root: &Place<'_>) -> Result<(), SpecError> {
    if spec.engine == Engine::Virtual {
        return Ok(());
    }
    if spec.nodes.len() > MOST_NODES {
        let error = root.key("nodes").error("are too many for real time");
        return Err(error.allowed(format!("up to {MOST_NODES}")));
    }
    let flows = root.key("flows");
    for (name, flow) in &spec.flows {
        check_flow(flow, &flows.key(name))?;
    }
    alike(spec, &flows)?;
    Ok(())
}

fn check_flow(flow: &FlowSpec, at: &Place<'_>) -> Result<(), SpecError> {
    let transport = at.key("transport");
    if flow.reconnect.is_some() {
        return Err(virtual_only(&at.key("reconnect"), "no `reconnect`"));
    }
    if flow.call.is_some() {
        return Err(virtual_only(&at.key("call"), "no `call`"));
    }
    let model = flow.transport.model();
    let longest = LONGEST_PACKET - model.headers();
    if model.payload() > longest {
        let error =
            transport.key(model.payload_key()).error("is too large for the TUN devices of hosts");
        return Err(error.allowed(format!("up to {longest} in real time")));
    }
    model.check_real(flow).map_err(|fault| at.fault(fault))
}

/// Hosts have one setting each for all their connections, some of which both ends need.
fn alike(spec: &ScenarioSpec, flows: &Place<'_>) -> Result<(), SpecError> {
    let tcp = |flow: &FlowSpec| match flow.transport.model().host_socket() {
        HostSocket::KernelTcp(tcp) => Some(tcp.write()),
        HostSocket::Quic | HostSocket::Datagrams => None,
    };
    let mut written = spec.flows.iter().filter_map(|(name, flow)| Some((name, tcp(flow)?)));
    let Some((_, Value::Table(first))) = written.next() else { return Ok(()) };
    for (name, other) in written {
        let Value::Table(other) = other else { continue };
        let differs = |key: &&&str| first.get(key) != other.get(key);
        if let Some(key) = OF_HOSTS.iter().find(differs) {
            let at = flows.key(name);
            let transport = at.key("transport");
            let error = transport.key(key).error("differs from the value of another TCP flow");
            let allowed = first.get(key).map(Value::to_string).unwrap_or_default();
            return Err(error.allowed(format!("{allowed} for all flows in real time")));
        }
    }
    Ok(())
}

fn virtual_only(at: &Place<'_>, allowed: impl Into<String>) -> SpecError {
    at.error("works in virtual time only").allowed(allowed)
}
