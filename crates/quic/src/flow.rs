//! One end of a flow: what it is, and where.

use std::net::SocketAddr;

use leobench_base::{RngTree, SimTime};
use leobench_transport::Role;
use leobench_transport::buffer::Attributes;
use leobench_transport::plugin::Plugins;

use super::QlogWriter;
use super::spec::QuicSpec;

/// What an endpoint is and where.
pub struct QuicConfig<'a> {
    /// The flow's QUIC parameters.
    pub spec: &'a QuicSpec,
    /// Who speaks first.
    pub role: Role,
    /// The streams it sends on; none if it only receives.
    pub sends: &'a [Attributes],
    /// How many streams the other end sends on.
    pub receives: usize,
    /// This end's address.
    pub local: SocketAddr,
    /// The other end's address.
    pub remote: SocketAddr,
    /// When the client opens the connection.
    pub start: SimTime,
    /// Random streams of this end.
    pub rng: &'a RngTree,
    /// The host of plug-ins.
    pub plugins: &'a Plugins,
    /// Where to write the connection's qlog, if anywhere.
    pub qlog: Option<QlogWriter>,
}
