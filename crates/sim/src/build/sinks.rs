//! Outputs of a run, and the sockets that its flows may have.

use std::io;
use std::net::SocketAddr;

use leobench_base::{End, FlowId};
use leobench_quic::QlogWriter;
use leobench_transport::Endpoint;

use crate::capture::Captures;
use crate::network::PacketTrace;
use crate::record::TableSink;
use crate::scenario::FlowSpec;

/// Opens the qlog of one end (`sender` or `receiver`) of the flow of a name; none if nobody wants it.
pub type OpenQlog<'a> = dyn FnMut(&str, &str) -> io::Result<Option<QlogWriter>> + 'a;

/// Outputs of a network: tables, captures, qlogs, and packets that leave at ports.
pub struct Sinks<'a> {
    /// The tables.
    pub tables: Box<dyn TableSink>,
    /// The packet captures.
    pub captures: Option<Captures>,
    /// The trace of packets of the world outside.
    pub trace: Option<Box<dyn PacketTrace>>,
    /// The qlogs.
    pub qlogs: &'a mut OpenQlog<'a>,
    /// The names of nodes where packets leave that no endpoint there takes. Ports are numbered in this order.
    pub ports: Vec<String>,
    /// Puts the ends of flows on sockets outside, if they go there.
    pub sockets: Option<Box<dyn Sockets>>,
}

/// Puts the ends of flows on sockets outside the network.
pub trait Sockets {
    /// Opens a socket for an end of a flow; `inside` is what it would be inside the network.
    ///
    /// # Errors
    /// If there is no such socket.
    fn open(
        &mut self,
        request: &SocketRequest<'_>,
        inside: Box<dyn Endpoint>,
    ) -> io::Result<Box<dyn Endpoint>>;
}

/// An end of a flow for which a socket is needed.
#[derive(Clone, Copy, Debug)]
pub struct SocketRequest<'a> {
    /// The flow.
    pub flow: FlowId,
    /// The flow's specification in the scenario.
    pub spec: &'a FlowSpec,
    /// Which end.
    pub end: End,
    /// Name of its node.
    pub node: &'a str,
    /// Its own address and the other end's.
    pub addresses: [SocketAddr; 2],
}

impl SocketRequest<'_> {
    /// Whether this end opens the connection.
    pub fn opens(&self) -> bool {
        self.spec.opener_end() == self.end
    }
}
