//! Checks for real time: refuses scenarios that only virtual time can run.

use leobench_base::Bytes;
use leobench_base::spec::{At, Spec, SpecError, Value};
use leobench_quic::Stack;
use leobench_transport::CongestionSpec;
use leobench_transport::congestion::SlowStartSpec;
use leobench_transport::tcp::TcpSpec;

use super::Place;
use crate::scenario::{Engine, FlowSpec, ScenarioSpec, TransportSpec};

/// The most hosts: their devices are files, of which a process may open so many.
const MOST_NODES: usize = 200;
/// Bytes of the longest packet that a host's devices take.
const LONGEST_PACKET: Bytes = Bytes::new(1_500);
/// Keys that the kernel's TCP supports. Other keys stay at their defaults, which match the kernel or come close to it.
const TOLD: [&str; 10] = [
    "congestion",
    "mss",
    "timestamps",
    "sack",
    "ecn",
    "receive_buffer",
    "send_buffer",
    "notsent_lowat",
    "pacing",
    "nagle",
];

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
    match &flow.transport {
        TransportSpec::Tcp(_) if flow.forecast.is_some() => {
            let error = at.key("forecast").error("cannot be passed to the kernel's TCP");
            Err(error.allowed("no `forecast`, or the transport `quic`, in real time"))
        }
        TransportSpec::Tcp(_) if flow.cross_layer.is_some() => {
            let error = at.key("cross_layer").error("cannot be passed to the kernel's TCP");
            Err(error.allowed("no `cross_layer`, or the transport `quic`, in real time"))
        }
        TransportSpec::Tcp(_) if flow.asks() => {
            let key = if flow.objects.is_some() { "objects" } else { "video" };
            let error = at.key(key).error("cannot be asked for over the kernel's TCP");
            Err(error.allowed("the transport `quic` in real time, or virtual time"))
        }
        TransportSpec::Tcp(tcp) => check_tcp(tcp, &transport),
        TransportSpec::Quic(quic) if quic.stack != Stack::Own => {
            Err(virtual_only(&transport.key("stack"), "`own`"))
        }
        TransportSpec::Udp(udp) if udp.ecn => Err(virtual_only(&transport.key("ecn"), "`false`")),
        TransportSpec::Quic(_) | TransportSpec::Udp(_) => Ok(()),
    }
}

/// Hosts have one setting each for all their connections, some of which both ends need.
fn alike(spec: &ScenarioSpec, flows: &Place<'_>) -> Result<(), SpecError> {
    let tcp = |flow: &FlowSpec| match &flow.transport {
        TransportSpec::Tcp(tcp) => Some(tcp.write()),
        TransportSpec::Quic(_) | TransportSpec::Udp(_) => None,
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

/// The kernel's TCP can be told little.
fn check_tcp(tcp: &TcpSpec, at: &Place<'_>) -> Result<(), SpecError> {
    if let Some((key, default)) = changed(&tcp.write(), &TcpSpec::default().write(), &TOLD) {
        return Err(not_the_kernel(&at.key(key), &default));
    }
    if tcp.congestion.is_plugin() {
        let name = tcp.congestion.name();
        let problem = format!("is `{name}`, which the kernel's TCP cannot run in real time");
        let allowed = "a controller of the kernel, or the transport `quic`";
        return Err(at.key("congestion").error(problem).allowed(allowed));
    }
    let given = tcp.congestion.write();
    let kind = Value::String(tcp.congestion.kind().to_owned());
    let default = CongestionSpec::read(&kind, &At::ROOT)?.write();
    // The kernel's CUBIC leaves slow start by HyStart and has one slope, whatever the scenario says of it.
    let told: &[_] = match &tcp.congestion {
        CongestionSpec::Cubic(cubic) if cubic.opening.slow_start == SlowStartSpec::HyStart => {
            &["slow_start", "full_reno_slope"]
        }
        CongestionSpec::Cubic(_) => &["full_reno_slope"],
        _ => &[],
    };
    match changed(&given, &default, told) {
        None => Ok(()),
        Some((key, default)) => Err(not_the_kernel(&at.key("congestion").key(key), &default)),
    }
}

fn not_the_kernel(at: &Place<'_>, default: &str) -> SpecError {
    let error = at.error("cannot be set for the kernel's TCP in real time");
    error.allowed(if default.is_empty() { "no such key".to_owned() } else { default.to_owned() })
}

/// The first key whose value is not the default, and the default; keys in `told` may have any.
fn changed<'v>(given: &'v Value, default: &Value, told: &[&str]) -> Option<(&'v str, String)> {
    let (Value::Table(given), Value::Table(default)) = (given, default) else { return None };
    let mut others = given.iter().filter(|(key, _)| !told.contains(key));
    let (key, _) = others.find(|(key, value)| default.get(key) != Some(*value))?;
    Some((key, default.get(key).map(Value::to_string).unwrap_or_default()))
}
