//! Connections on a scriptable pipe, and ends against scripts.

mod controllers;
mod corners;
mod data;
mod doubts;
mod limits;
mod pool;
mod resets;
mod script;
mod trouble;

use std::net::SocketAddr;

use leobench_base::segment::{Flags, Segment};
use leobench_base::{BitRate, Body, Bytes, Ecn, Packet, RngTree, SimDuration, SimTime};

use super::{Role, TcpConfig, TcpEndpoint, TcpSpec};
use crate::buffer::{Attributes, Message};
use crate::endpoint::{Endpoint, Event, Input, Outbox};
use crate::plugin::Plugins;
use crate::testing::{Observed, Pipe, RECEIVER, SENDER, ms};

/// Parameters with a test's changes.
pub(crate) fn spec(change: impl FnOnce(&mut TcpSpec)) -> TcpSpec {
    let mut spec = TcpSpec::default();
    change(&mut spec);
    spec
}

/// The address of an end.
fn address(end: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1 + end as u8], 4_433))
}

fn endpoint(spec: &TcpSpec, end: usize, role: Role, start: SimTime) -> TcpEndpoint {
    TcpEndpoint::new(TcpConfig {
        spec,
        role,
        sends: (end == SENDER).then(Attributes::default),
        receives: end != SENDER,
        local: address(end),
        remote: address(1 - end),
        start,
        rng: &RngTree::new(1).child(if end == SENDER { "sender" } else { "receiver" }),
        plugins: Plugins::NONE,
    })
}

/// A segment in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    at: SimTime,
    segment: Segment,
    ecn: Ecn,
}

impl Observed for TcpEndpoint {
    type Passed = Passed;

    const REPORTS_ROOM: bool = true;

    fn observe(pipe: &Pipe<Self>, _end: usize, packet: &Packet) -> Passed {
        let Body::Tcp(segment) = packet.body else { panic!("no TCP segment") };
        assert_eq!(packet.meta.size, Bytes::new(20 + segment.len()));
        Passed { at: pipe.now, segment, ecn: packet.meta.ecn }
    }
}

/// A pipe between a sender of this role and a receiver.
pub(crate) fn connect(spec: &TcpSpec, sender: Role) -> Pipe<TcpEndpoint> {
    let receiver = if sender == Role::Client { Role::Server } else { Role::Client };
    let ends = [(SENDER, sender), (RECEIVER, receiver)];
    Pipe::new(ends.map(|(end, role)| endpoint(spec, end, role, SimTime::ZERO)), 1)
}

/// Segments of one end with all of these bits set.
fn with(pipe: &Pipe<TcpEndpoint>, end: usize, flags: Flags) -> Vec<&Passed> {
    pipe.passed[end].iter().filter(|passed| passed.segment.flags.contains(flags)).collect()
}
