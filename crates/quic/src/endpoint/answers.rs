//! Handles datagrams that belong to no connection, and sends the answers.

use bytes::BytesMut;
use leobench_base::packet::IPV4_UDP_HEADER;
use leobench_base::{Body, Bytes, Meta, Packet, Protocol, SimTime};
use leobench_transport::Role;
use leobench_transport::endpoint::{EndpointError, PathId};

use super::listener::{Listener, Stage, route};
use super::stateless::{Decision, First};
use crate::MINIMUM_DATAGRAM;
use crate::crypto::Protection;
use crate::wire::{ConnectionId, Datagram, ResetToken, Zeros};

impl Listener {
    /// A client's first packet reached an end without a connection.
    pub(super) fn on_first(
        &mut self,
        now: SimTime,
        meta: &Meta,
        first: &First,
    ) -> Result<(), EndpointError> {
        let size = meta.size.get() - IPV4_UDP_HEADER.get();
        if self.role == Role::Client || size < MINIMUM_DATAGRAM {
            return Ok(());
        }
        match self.stateless.decide(now, meta.source, first) {
            Decision::Accept { original, retry_source } => self.connect(now, |parts| {
                parts.original_destination = original;
                parts.retry_source = retry_source;
                parts.remote_id = first.source;
                parts.addresses = route(meta);
            }),
            Decision::Retry(retry) => {
                self.answer(now, meta, retry);
                Ok(())
            }
            Decision::Refuse(close) => {
                let cipher = self.stateless.cipher();
                let mut keys = Protection::new(cipher, Role::Server, first.destination);
                let mut bytes = BytesMut::new();
                if self.sends_bytes() {
                    let sealed = keys.seal(PathId(0), &close, &Zeros, &mut bytes);
                    sealed.map_err(|error| EndpointError::Stack {
                        at: now,
                        problem: error.to_string(),
                    })?;
                    self.answer_bytes(now, meta, bytes);
                } else {
                    self.answer(now, meta, Datagram::Packets([close].into()));
                }
                Ok(())
            }
        }
    }

    /// A packet with a short header arrived for no connection (RFC 9000 section 10.3).
    pub(super) fn on_stray(&mut self, now: SimTime, meta: &Meta, id: ConnectionId, size: u64) {
        // A connection that is not complete reads no such packet yet. A client has one connection only, whose end the packets of a
        // former one do not mean.
        let is_ours = self.handshake_of(id).is_some() || self.has_restarted;
        if let Some(reset) = self.stateless.reset(id, size).filter(|_| !is_ours) {
            self.answer(now, meta, reset);
        }
    }

    /// Whether a datagram that ends with this token resets the connection.
    pub(super) fn is_reset_by(&mut self, now: SimTime, token: Option<ResetToken>) -> bool {
        match (&mut self.stage, token) {
            (Stage::Connected(connection), Some(token)) => {
                connection.on_stateless_reset(now, token)
            }
            _ => false,
        }
    }

    fn sends_bytes(&self) -> bool {
        match &self.stage {
            Stage::Waiting(parts) => parts.as_bytes,
            Stage::Connected(connection) => connection.sends_bytes(),
            Stage::Moving => false,
        }
    }

    /// Answers a datagram without a connection.
    pub(super) fn answer(&mut self, now: SimTime, meta: &Meta, answer: Datagram) {
        if self.sends_bytes() {
            let mut bytes = BytesMut::new();
            answer.encode(&Zeros, &mut bytes);
            self.answer_bytes(now, meta, bytes);
        } else {
            self.send_answer(now, meta, answer.size(), Body::Udp(Box::new(answer)));
        }
    }

    /// Answers a datagram with bytes, without a connection.
    pub(super) fn answer_bytes(&mut self, now: SimTime, meta: &Meta, answer: BytesMut) {
        self.send_answer(now, meta, answer.len() as u64, Body::UdpBytes(answer));
    }

    fn send_answer(&mut self, now: SimTime, meta: &Meta, size: u64, body: Body) {
        let size = Bytes::new(size);
        if self.current().is_none() {
            self.totals.received_packets += 1;
        }
        self.totals.sent_packets += 1;
        self.totals.sent_bytes += size;
        let (from, to) = (meta.destination, meta.source);
        let meta = Meta::new(now, Protocol::Udp, from, to, size + IPV4_UDP_HEADER);
        self.answers.push(Packet { meta, body });
    }
}
