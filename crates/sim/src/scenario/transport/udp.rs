//! Datagrams over UDP, without a connection.

use leobench_base::Bytes;
use leobench_base::spec::Fault;
use leobench_transport::udp::UdpEndpoint;
pub use leobench_transport::udp::UdpSpec;
use leobench_transport::{CongestionSpec, Endpoint, SchedulerSpec};

use super::{
    EndpointContext, EndpointFault, FlowCheck, HostSocket, MovedFlow, TransportModel, no_reconnect,
    virtual_only,
};
use crate::scenario::FlowSpec;

impl TransportModel for UdpSpec {
    fn payload(&self) -> Bytes {
        self.payload
    }

    fn least_payload(&self) -> Bytes {
        Bytes::new(1)
    }

    fn datagram(&self) -> Option<Bytes> {
        Some(self.payload)
    }

    fn connects(&self) -> bool {
        false
    }

    fn congestion(&self) -> Option<&CongestionSpec> {
        None
    }

    fn scheduler(&self) -> Option<&SchedulerSpec> {
        None
    }

    fn takes_reports(&self) -> bool {
        false
    }

    fn requests_marks(&self) -> bool {
        self.ecn
    }

    fn check(&self, check: FlowCheck<'_>) -> Result<(), Fault> {
        no_reconnect(check.flow, "`udp` has no connection")
    }

    fn check_migration(&self, moved: MovedFlow<'_>) -> Result<(), Fault> {
        let problem = format!(
            "flow `{}` keeps its addresses, because UDP has no connection that could migrate",
            moved.name
        );
        Err(Fault::new("", problem, "`reroute` or `rebind`"))
    }

    fn check_real(&self, _: &FlowSpec) -> Result<(), Fault> {
        if self.ecn { Err(virtual_only("transport.ecn", "`false`")) } else { Ok(()) }
    }

    fn host_socket(&self) -> HostSocket<'_> {
        HostSocket::Datagrams
    }

    fn endpoint(&self, context: EndpointContext<'_>) -> Result<Box<dyn Endpoint>, EndpointFault> {
        let EndpointContext { flow, end, local, remote, .. } = context;
        let streams = flow.stream_count();
        Ok(Box::new(UdpEndpoint::new(end, [local, remote], streams, self.clone())))
    }
}
