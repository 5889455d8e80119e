//! One end of a flow: what it is, and where.

use std::net::SocketAddr;

use leobench_base::{RngTree, SimTime};
use leobench_transport::Role;
use leobench_transport::buffer::Attributes;
use leobench_transport::plugin::Plugins;

use super::QlogWriter;
use super::spec::QuicSpec;

/// How many messages a receiver lets travel at a time in streams of their own, as common stacks do.
pub const MESSAGE_STREAMS: u64 = 100;

/// The configuration of one end of a QUIC flow.
pub struct QuicConfig<'a> {
    /// The flow's QUIC parameters.
    pub spec: &'a QuicSpec,
    /// The role of this end: the client opens the connection.
    pub role: Role,
    /// The streams it sends on; none if it only receives.
    pub sends: &'a [Attributes],
    /// How many streams the other end sends on.
    pub receives: usize,
    /// Whether streams of the flow, at either end, travel in datagrams.
    pub datagrams: bool,
    /// How many messages of the flow may travel at a time in streams of their own, if those of either end do.
    pub message_streams: Option<u64>,
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
    /// The writer of the connection's qlog, if it has one.
    pub qlog: Option<QlogWriter>,
}
