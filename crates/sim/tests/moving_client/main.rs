//! TCP connections of a client whose address changes: by a move of its host, or behind a NAT.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod changes;
mod sequences;
mod tap;
mod world;

use std::net::SocketAddr;

use leobench_base::segment::Flags;
use leobench_base::{RngTree, SimDuration, SimTime};
use leobench_transport::buffer::Attributes;
use leobench_transport::tcp::{
    NoConnection, Ports, ReconnectSpec, ReconnectingTcp, Role, TcpConfig, TcpEndpoint, TcpSpec,
};
use leobench_transport::{Endpoint, Plugins};
use tap::Sighted;
use world::{World, place};

const CLIENT: usize = 0;
const SERVER: usize = 1;

fn ms(millis: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_millis(millis)
}

/// An event of the script.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The sending application writes, or has no more.
    Write(u64),
    Finish,
    /// The client's host gets an address, or loses it.
    Up(usize),
    Down(usize),
    /// A NAT forgets its mappings and makes new ones, from another address.
    Rebind,
}

/// How the flow is set up.
#[derive(Clone, Copy, Debug)]
struct Setup {
    /// Whether the client sends, or else the server.
    upload: bool,
    tls: bool,
    no_connection: NoConnection,
    /// The client's patience in milliseconds and whether transfers are resumed, if it connects anew.
    reconnect: Option<(u64, bool)>,
    seed: u64,
}

const UPLOAD: Setup = Setup {
    upload: true,
    tls: false,
    no_connection: NoConnection::Reset,
    reconnect: Some((1_000, true)),
    seed: 1,
};

const DOWNLOAD: Setup = Setup { upload: false, ..UPLOAD };

impl Setup {
    /// One end of the flow, at the first of these addresses by end.
    fn end(self, end: usize, addresses: [SocketAddr; 2]) -> Box<dyn Endpoint> {
        let (tls, no_connection) = (self.tls, self.no_connection);
        let config = TcpConfig {
            spec: &TcpSpec { tls, no_connection, ..TcpSpec::default() },
            role: if end == CLIENT { Role::Client } else { Role::Server },
            sends: (self.sender() == end).then(Attributes::default),
            receives: self.sender() != end,
            local: addresses[end],
            remote: addresses[1 - end],
            start: SimTime::ZERO,
            rng: &RngTree::new(self.seed).child(if end == CLIENT { "client" } else { "server" }),
            plugins: Plugins::NONE,
        };
        let Some((after, resume)) = self.reconnect else {
            return Box::new(TcpEndpoint::new(config));
        };
        let reconnect = ReconnectSpec { after: SimDuration::from_millis(after), resume };
        let ports = Ports { first: addresses[CLIENT].port(), last: 49_999, step: 7 };
        Box::new(ReconnectingTcp::new(config, reconnect, ports))
    }

    fn sender(self) -> usize {
        if self.upload { CLIENT } else { SERVER }
    }
}
