//! Which segments belong to the connection, what happens to others, and what outlives a connection.

use std::net::SocketAddr;

use leobench_base::segment::Segment;
use leobench_base::{Ecn, Meta, SimTime};

use super::{State, TcpEndpoint};
use crate::buffer::SendBuffer;
use crate::endpoint::{AccessReport, Loss};
use crate::interfaces::Interfaces;
use crate::tcp::endpoint::handshake::Handshake;
use crate::tcp::receiver::Receiver;
use crate::tcp::sender::Agreed;
use crate::tcp::unmatched::{self, NoConnection};

/// State that a connection takes over from earlier ones of its flow.
#[derive(Debug, Default)]
pub(in crate::tcp) struct Earlier {
    /// The application's messages that were not delivered, if it sends.
    pub(in crate::tcp) buffer: Option<SendBuffer>,
    /// Whether the two applications resume the transfer with an exchange.
    pub(in crate::tcp) resumes: bool,
    /// How far the application's data was reported as sent and delivered, and how far it could be written.
    pub(in crate::tcp) sent: u64,
    pub(in crate::tcp) delivered: u64,
    pub(in crate::tcp) room: u64,
    /// The latest report on its access link.
    pub(in crate::tcp) access: Option<AccessReport>,
}

impl TcpEndpoint {
    /// Whether a packet between two addresses belongs to the connection.
    #[inline]
    pub(in crate::tcp) fn matches(&self, meta: &Meta) -> bool {
        let connected = !matches!(self.state, State::Closed | State::Listen | State::Lost);
        connected && (meta.source, meta.destination) == (self.remote, self.local)
    }

    /// Whether the end takes a segment. A server takes another SYN until the handshake is complete, as its listening socket
    /// would.
    #[inline]
    pub(super) fn accepts(&self, meta: &Meta, segment: &Segment) -> bool {
        match self.state {
            State::Listen => true,
            State::SynReceived => self.matches(meta) || unmatched::opens(segment),
            _ => self.matches(meta),
        }
    }

    /// Answers a segment that belongs to no connection (RFC 9293 section 3.10.7.1).
    #[cold]
    pub(super) fn reject(&mut self, now: SimTime, meta: &Meta, segment: &Segment) {
        if self.spec.no_connection == NoConnection::Silence {
            return;
        }
        if let Some(reset) = unmatched::reset(segment) {
            self.emit_between(now, meta.destination, meta.source, reset, Ecn::NotEct);
        }
    }

    /// A segment arrived that belongs to no connection of the flow.
    pub(in crate::tcp) fn stray(&mut self, now: SimTime, meta: &Meta, segment: &Segment) {
        self.received_packets += 1;
        self.reject(now, meta, segment);
    }

    /// Loses the connection: from now on the end sends and reports nothing.
    #[cold]
    pub(in crate::tcp) fn lose(&mut self, now: SimTime, reason: &str) {
        self.state = State::Lost;
        let loss = Loss { at: now, reason: reason.to_owned() };
        self.events.push(loss.event());
        self.loss = Some(loss);
    }

    /// Forgets a handshake that is not complete (RFC 9293 section 3.10.7.4: "return this connection to the LISTEN state").
    pub(super) fn relisten(&mut self) {
        self.state = State::Listen;
        self.handshake = Handshake::new(self.spec.initial_rto);
        self.receiver = Receiver::new(&self.spec);
        self.agreed = Agreed::nothing(self.spec.mss.get());
        (self.their_scale, self.our_scale) = (0, self.receiver.scale());
    }

    /// Sets its number among the connections of the flow, from 0.
    pub(in crate::tcp) fn set_number(&mut self, number: u64) {
        self.sender.control.connection = number;
    }

    /// Continues earlier connections of the flow.
    pub(in crate::tcp) fn inherit(&mut self, earlier: Earlier) {
        let Earlier { buffer, resumes, sent, delivered, room, access } = earlier;
        let acknowledged = buffer.as_ref().map_or(delivered, SendBuffer::taken);
        if resumes {
            self.exchange.resume(acknowledged);
        }
        if let Some(buffer) = buffer {
            self.outgoing.inherit(buffer);
        }
        (self.reported_sent, self.reported_delivered, self.reported_room) = (sent, delivered, room);
        self.sent_before = sent;
        if let Some(report) = access {
            self.sender.on_access(&report);
        }
    }

    /// The state that the next connection of the flow takes over, except the messages.
    pub(in crate::tcp) fn bequeath(&self) -> Earlier {
        Earlier {
            buffer: None,
            resumes: false,
            sent: self.reported_sent,
            delivered: self.delivered().max(self.reported_delivered),
            room: self.reported_room,
            access: self.sender.access().copied(),
        }
    }

    /// Sets when a client opens the connection, which has not done so yet.
    pub(in crate::tcp) fn open_at(&mut self, start: SimTime) {
        self.start = start;
    }

    /// How far the application was told it may write.
    pub(in crate::tcp) fn room(&self) -> u64 {
        self.reported_room
    }

    /// Whether a client waits for its start, or for an address, and a server for the first SYN.
    pub(in crate::tcp) fn is_waiting(&self) -> bool {
        matches!(self.state, State::Closed | State::Listen)
    }

    /// Whether the three-way handshake is complete.
    pub(in crate::tcp) fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// Whether application data may be sent: after the handshakes, and the exchange with which a transfer resumes.
    pub(in crate::tcp) fn may_send(&self) -> bool {
        self.outgoing.is_open()
    }

    /// Whether the other end owes an answer: in a handshake, or before it resumes a transfer.
    pub(in crate::tcp) fn awaits(&self) -> bool {
        !self.outgoing.is_open() || self.exchange.awaits(&self.receiver)
    }

    /// Whether all data of the other end has arrived.
    pub(in crate::tcp) fn has_all(&self) -> bool {
        self.receiver.is_finished()
    }

    /// Whether the host can use the connection's address.
    pub(in crate::tcp) fn has_address(&self) -> bool {
        self.interfaces.has(self.local.ip())
    }

    /// The connection's own address.
    pub(in crate::tcp) fn local(&self) -> SocketAddr {
        self.local
    }

    /// Nobody knows yet that the end can be reached at its address.
    pub(in crate::tcp) fn set_unreachable(&mut self) {
        self.reachable = None;
    }

    /// The addresses of the host.
    pub(in crate::tcp) fn interfaces(&mut self) -> &mut Interfaces {
        &mut self.interfaces
    }

    /// Application data that the other end is known to have read.
    pub(in crate::tcp) fn acknowledged(&self) -> u64 {
        self.outgoing.acknowledged(self.sender.una())
    }

    /// A number that grows whenever the other end acknowledges or sends something new.
    pub(in crate::tcp) fn progress(&self) -> u64 {
        let acked = self.sender.control.totals.acked_bytes.get();
        self.sender.una() + acked + self.receiver.next() + u64::from(self.is_open())
    }
}
