//! TCP, leobench's own in virtual time and the kernel's in real time.

use leobench_base::packet::IPV4_HEADER;
use leobench_base::spec::{At, Fault, Spec, SpecError, Value};
use leobench_base::{Bytes, End, Protocol, SimDuration};
use leobench_transport::congestion::SlowStartSpec;
use leobench_transport::on_forecast::OnForecastSpec;
pub use leobench_transport::tcp::TcpSpec;
use leobench_transport::tcp::{ReconnectingTcp, TcpConfig, TcpEndpoint, TcpPool};
use leobench_transport::{CongestionSpec, Endpoint, Role, SchedulerSpec};

use super::{
    BlocksUntil, EndpointContext, EndpointFault, FlowCheck, HostSocket, MovedFlow, TransportModel,
};
use crate::scenario::{FlowSpec, HttpVersion, Until, browser_socket, server_socket};

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

impl TransportModel for TcpSpec {
    fn payload(&self) -> Bytes {
        self.mss
    }

    fn payload_key(&self) -> &'static str {
        "mss"
    }

    fn least_payload(&self) -> Bytes {
        Self::SMALLEST_MSS
    }

    fn headers(&self) -> Bytes {
        self.header() + IPV4_HEADER
    }

    fn protocol(&self) -> Protocol {
        Protocol::Tcp
    }

    fn has_streams(&self) -> bool {
        false
    }

    fn blocks_until(&self) -> BlocksUntil {
        BlocksUntil::Taken
    }

    fn connects(&self) -> bool {
        true
    }

    fn chooses_http(&self) -> bool {
        true
    }

    fn congestion(&self) -> Option<&CongestionSpec> {
        Some(&self.congestion)
    }

    fn scheduler(&self) -> Option<&SchedulerSpec> {
        None
    }

    fn on_forecast(&self) -> Option<&OnForecastSpec> {
        self.on_forecast.as_ref()
    }

    /// Refuses a new connection that could never come.
    fn check(&self, FlowCheck { scenario, flow, .. }: FlowCheck<'_>) -> Result<(), Fault> {
        let Some(reconnect) = &flow.reconnect else { return Ok(()) };
        let drain =
            if scenario.until == Until::Drained { scenario.drain_limit } else { SimDuration::ZERO };
        let longest = scenario.production() + drain;
        if reconnect.after < longest {
            return Ok(());
        }
        let allowed = format!("a time below {longest}");
        Err(Fault::new("reconnect.after", "is as long as the run", allowed))
    }

    fn check_migration(&self, moved: MovedFlow<'_>) -> Result<(), Fault> {
        let name = moved.name;
        if !moved.opens {
            return Err(moved.not_opened(" and does not learn the new address"));
        }
        if moved.flow.reconnect.is_none() {
            let problem = format!(
                "flow `{name}` loses its connection when the address changes and does not reconnect"
            );
            let allowed = format!("`flows.{name}.reconnect`, or `reroute` or `rebind`");
            return Err(Fault::new("", problem, allowed));
        }
        Ok(())
    }

    fn check_real(&self, flow: &FlowSpec) -> Result<(), Fault> {
        let told =
            [("forecast", flow.forecast.is_some()), ("cross_layer", flow.cross_layer.is_some())];
        if let Some((key, _)) = told.into_iter().find(|(_, given)| *given) {
            let allowed = format!("no `{key}`, or the transport `quic`, in real time");
            return Err(Fault::new(key, "cannot be passed to the kernel's TCP", allowed));
        }
        if flow.asks() {
            let key = if flow.objects.is_some() { "objects" } else { "video" };
            let allowed = "the transport `quic` in real time, or virtual time";
            return Err(Fault::new(key, "cannot be asked for over the kernel's TCP", allowed));
        }
        check_kernel(self)
    }

    fn host_socket(&self) -> HostSocket<'_> {
        HostSocket::KernelTcp(self)
    }

    fn endpoint(&self, context: EndpointContext<'_>) -> Result<Box<dyn Endpoint>, EndpointFault> {
        let (flow, role, sends) = (context.flow, context.role(), context.sends_data());
        let pooled = flow.http == Some(HttpVersion::Http1);
        let socket = match (pooled, sends) {
            (true, false) => Some(browser_socket(self)),
            (false, true) if flow.objects.is_some() => Some(server_socket(self)),
            _ => None,
        };
        let config = TcpConfig {
            spec: socket.as_ref().unwrap_or(self),
            role,
            sends: flow.attributes().first().copied().filter(|_| sends || flow.asks()),
            receives: !sends || flow.asks(),
            local: context.local,
            remote: context.remote,
            start: context.start(),
            rng: context.rng,
            plugins: context.plugins,
        };
        if pooled {
            let count = flow.connections();
            let of = if sends == (role == Role::Client) { End::Sender } else { End::Receiver };
            let ports = context.network.ports(of, count)?;
            return Ok(Box::new(TcpPool::new(config, count, ports)));
        }
        Ok(match flow.reconnect {
            // Two ports at least: a new connection is told from the old one by its port.
            Some(reconnect) => {
                let ports = context.network.ports(context.end, 2)?;
                Box::new(ReconnectingTcp::new(config, reconnect, ports))
            }
            None => Box::new(TcpEndpoint::new(config)),
        })
    }
}

/// Refuses parameters that the kernel's TCP lacks.
fn check_kernel(tcp: &TcpSpec) -> Result<(), Fault> {
    if let Some((key, default)) = changed(&tcp.write(), &TcpSpec::default().write(), &TOLD) {
        return Err(not_the_kernel(key, &default));
    }
    if tcp.congestion.is_plugin() {
        let name = tcp.congestion.name();
        let problem = format!("is `{name}`, which the kernel's TCP cannot run in real time");
        let allowed = "a controller of the kernel, or the transport `quic`";
        return Err(Fault::new("transport.congestion", problem, allowed));
    }
    let given = tcp.congestion.write();
    let default = default_of(tcp.congestion.kind()).map_err(|error| {
        Fault::new("transport.congestion", error.problem, error.allowed.unwrap_or_default())
    })?;
    // The kernel's CUBIC leaves slow start by HyStart and has one slope, whatever the scenario says of it.
    let told: &[_] = match &tcp.congestion {
        CongestionSpec::Cubic(cubic) if cubic.opening.slow_start == SlowStartSpec::HyStart => {
            &["slow_start", "full_reno_slope"]
        }
        CongestionSpec::Cubic(_) => &["full_reno_slope"],
        _ => &[],
    };
    match changed(&given, &default.write(), told) {
        None => Ok(()),
        Some((key, default)) => Err(not_the_kernel(&format!("congestion.{key}"), &default)),
    }
}

/// The controller of a kind with the defaults of all its parameters.
fn default_of(kind: &str) -> Result<CongestionSpec, SpecError> {
    CongestionSpec::read(&Value::String(kind.to_owned()), &At::ROOT)
}

fn not_the_kernel(key: &str, default: &str) -> Fault {
    let allowed = if default.is_empty() { "no such key" } else { default };
    Fault::new(
        format!("transport.{key}"),
        "cannot be set for the kernel's TCP in real time",
        allowed,
    )
}

/// The first key whose value is not the default, and the default; keys in `told` may have any.
fn changed<'v>(given: &'v Value, default: &Value, told: &[&str]) -> Option<(&'v str, String)> {
    let (Value::Table(given), Value::Table(default)) = (given, default) else { return None };
    let mut others = given.iter().filter(|(key, _)| !told.contains(key));
    let (key, _) = others.find(|(key, value)| default.get(key) != Some(*value))?;
    Some((key, default.get(key).map(Value::to_string).unwrap_or_default()))
}
