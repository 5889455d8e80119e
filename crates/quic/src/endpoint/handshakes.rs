//! Handshakes that begin anew: a client whose address goes away before its handshake is confirmed opens another connection from the
//! next one, and a server gives the first one up when the other is complete.

use bytes::BytesMut;
use leobench_base::{Meta, SimTime};
use leobench_transport::Role;
use leobench_transport::endpoint::{EndpointError, Outbox};

use super::first::{first_in, first_of};
use super::listener::{Listener, Stage, received, route};
use super::stateless::{Decision, First};
use crate::MINIMUM_DATAGRAM;
use crate::connection::{Connection, Opening, Output};
use crate::wire::{ConnectionId, Content, Packet as QuicPacket, Zeros};

/// Handshakes that go on beside the present connection at most: a client has one at a time, and late packets begin others.
const MOST_HANDSHAKES: usize = 4;

/// Lets the other connections do what is due, and says when something is next.
pub(super) fn step_handshakes(
    handshakes: &mut [Connection],
    now: SimTime,
    outbox: &mut Outbox,
) -> Result<Option<SimTime>, EndpointError> {
    for handshake in handshakes.iter_mut() {
        handshake.on_timer(now);
        let mut out = Output { content: &Zeros, packets: &mut outbox.packets };
        while handshake.transmit(now, &mut out)? {}
    }
    Ok(handshakes.iter_mut().filter_map(|handshake| handshake.timer(now)).min())
}

impl Listener {
    /// A client begins anew if it has to.
    pub(super) fn restart(&mut self, now: SimTime) -> Result<(), EndpointError> {
        let Stage::Connected(connection) = &mut self.stage else { return Ok(()) };
        let Some(addresses) = connection.take_restart() else { return Ok(()) };
        let opening = connection.opening(addresses);
        let next = connection.restarted(now, opening);
        let mut next = next.map_err(|error| stack_error(now, &error))?;
        next.inherit(connection, now);
        next.start(now);
        **connection = next;
        self.has_restarted = true;
        Ok(())
    }

    /// Whether a packet with a long header is for another connection than the present one, which goes on.
    pub(super) fn is_for_another(&self, id: ConnectionId) -> bool {
        let follows = self.role == Role::Server && self.follows_restarts;
        let Some(connection) = self.connection().filter(|_| follows) else {
            return false;
        };
        connection.is_open()
            && !connection.is_addressed_by(id)
            && !connection.handshake().began_with(id)
    }

    /// The place among the handshakes of the one that a packet is for, if it is for one.
    pub(super) fn handshake_of(&self, id: ConnectionId) -> Option<usize> {
        self.handshakes.iter().position(|handshake| handshake.is_addressed_by(id))
    }

    /// Takes in packets for another connection than the present one.
    #[cold]
    pub(super) fn receive_handshake(
        &mut self,
        now: SimTime,
        meta: &Meta,
        size: u64,
        packets: &[QuicPacket],
    ) -> Result<(), EndpointError> {
        let header = &packets[0].header;
        if let Some(first) = first_in(header) {
            self.begin_handshake(now, meta, size, &first)?;
        }
        let id = header.destination();
        let Some(at) = self.handshake_of(id) else { return Ok(()) };
        let received = received(meta);
        self.handshakes[at].on_datagram(now, &received, None);
        let mut adopted = false;
        for packet in packets {
            if adopted {
                if let Some(connection) = self.current() {
                    connection.on_packet(now, &received, packet);
                }
            } else {
                self.handshakes[at].on_packet(now, &received, packet);
                adopted = self.adopt(now, at);
            }
        }
        Ok(())
    }

    /// The same for bytes. 1-RTT packets behind the one that completes the handshake are dropped, and sent again by the client.
    #[cold]
    pub(super) fn receive_handshake_bytes(
        &mut self,
        now: SimTime,
        meta: &Meta,
        id: ConnectionId,
        bytes: BytesMut,
        content: &dyn Content,
    ) -> Result<(), EndpointError> {
        if self.handshake_of(id).is_none()
            && let Some(first) = first_of(self.stateless.cipher(), &bytes)
        {
            self.begin_handshake(now, meta, bytes.len() as u64, &first)?;
        }
        if let Some(at) = self.handshake_of(id) {
            self.handshakes[at].on_bytes(now, &received(meta), None, bytes, content);
            self.adopt(now, at);
        }
        Ok(())
    }

    /// A client's first packet reached a server that has a connection.
    fn begin_handshake(
        &mut self,
        now: SimTime,
        meta: &Meta,
        size: u64,
        first: &First,
    ) -> Result<(), EndpointError> {
        if size < MINIMUM_DATAGRAM || self.handshake_of(first.destination).is_some() {
            return Ok(());
        }
        match self.stateless.decide(now, meta.source, first) {
            Decision::Accept { original, retry_source } => {
                let Stage::Connected(connection) = &mut self.stage else { return Ok(()) };
                let opening = Opening {
                    addresses: route(meta),
                    remote_id: first.source,
                    original_destination: original,
                    retry_source,
                };
                let handshake = connection.restarted(now, opening);
                let handshake = handshake.map_err(|error| stack_error(now, &error))?;
                if self.handshakes.len() == MOST_HANDSHAKES {
                    self.totals += self.handshakes.remove(0).totals();
                }
                self.handshakes.push(handshake);
                Ok(())
            }
            Decision::Retry(_) | Decision::Refuse(_) => self.on_first(now, meta, first),
        }
    }

    /// Puts a connection whose handshake is complete in the place of the present one. Returns whether it is.
    fn adopt(&mut self, now: SimTime, at: usize) -> bool {
        let Stage::Connected(connection) = &mut self.stage else { return false };
        if !self.handshakes[at].handshake().complete {
            return false;
        }
        // Those that began later are the client's newer ones, and go on: it has given this one up already.
        let newer = self.handshakes.split_off(at + 1);
        let mut older = std::mem::replace(&mut self.handshakes, newer);
        let Some(mut next) = older.pop() else { return false };
        next.inherit(connection, now);
        **connection = next;
        for handshake in older {
            self.totals += handshake.totals();
        }
        true
    }
}

fn stack_error(now: SimTime, error: &crate::wire::TransportError) -> EndpointError {
    EndpointError::Stack { at: now, problem: error.to_string() }
}
