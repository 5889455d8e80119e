//! How far the handshake has come.

use bytes::Bytes as Payload;
use leobench_base::SimDuration;
use leobench_transport::Role;
use leobench_transport::endpoint::PathId;

use super::crypto_stream::CryptoStream;
use super::early::EarlyData;
use crate::connection::{Parts, violation};
use crate::crypto::Handshake;
use crate::paths::PathSet;
use crate::space::AckState;
use crate::wire::{Ack, ConnectionId, Level, Space, TransportError, TransportParameters};

/// Progress of the handshake.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Handshaking {
    pub(crate) tls: Box<dyn Handshake>,
    /// The level at which handshake data is written.
    pub(super) writing: Level,
    /// Whether the handshake is complete (RFC 9001 section 4.1.1), and confirmed (section 4.1.2).
    pub(crate) complete: bool,
    pub(crate) confirmed: bool,
    /// The handshake's data, by space.
    pub(in crate::connection) streams: [CryptoStream; 3],
    /// Acknowledgements and probes of the Initial and the Handshake space; each path has its own of the Data space.
    pub(crate) acks: [AckState; 2],
    pub(crate) original_destination: ConnectionId,
    pub(crate) retry_source: Option<ConnectionId>,
    /// Whether a packet of the peer was processed.
    pub(crate) heard: bool,
    /// Whether a client has sent a Handshake packet, and is to discard its Initial keys (RFC 9001 section 4.9.1).
    pub(crate) leaves_initial: bool,
    /// The token to put into Initial packets.
    pub(crate) token: Payload,
    /// The peer's transport parameters, once they are known.
    pub(crate) peer: Option<TransportParameters>,
    /// Whether `HANDSHAKE_DONE` is to be sent.
    pub(crate) announces_confirmation: bool,
    pub(super) early: EarlyData,
    /// The number of a client's first packet that is no 0-RTT packet.
    pub(super) early_end: u64,
    /// The server's parameters in the earlier connection, while this end sends 0-RTT data.
    pub(super) remembered: Option<Box<TransportParameters>>,
    /// Whether data may be sent: the handshake is complete, or there is 0-RTT data.
    pub(crate) writes_data: bool,
}

impl Handshaking {
    /// A handshake that has not begun.
    pub(crate) fn new(parts: &Parts, tls: Box<dyn Handshake>) -> Self {
        Self {
            tls,
            writing: Level::Initial,
            complete: false,
            confirmed: false,
            streams: std::array::from_fn(|_| CryptoStream::default()),
            acks: [Space::Initial, Space::Handshake].map(AckState::new),
            original_destination: parts.original_destination,
            retry_source: parts.retry_source,
            heard: parts.role == Role::Server,
            leaves_initial: false,
            token: Payload::new(),
            peer: None,
            announces_confirmation: false,
            early: EarlyData::None,
            early_end: 0,
            remembered: None,
            writes_data: false,
        }
    }

    /// The ID that a client's latest first packet went to.
    pub(crate) fn first_destination(&self) -> ConnectionId {
        self.retry_source.unwrap_or(self.original_destination)
    }

    /// Whether an ID is one that the client's first packets went to.
    pub(crate) fn began_with(&self, id: ConnectionId) -> bool {
        id == self.original_destination || self.retry_source == Some(id)
    }

    /// The spaces that may be in use: once the handshake is confirmed, only one is (RFC 9001 section 4.9).
    #[inline]
    pub(crate) fn spaces(&self) -> &'static [Space] {
        if self.confirmed { &[Space::Data] } else { &Space::ALL }
    }

    /// Acknowledgements and probes of a space; each path has its own of the Data space.
    #[inline]
    pub(crate) fn acks<'a>(&'a self, paths: &'a PathSet, id: PathId, space: Space) -> &'a AckState {
        match space {
            Space::Data => &paths[id].acks,
            space => &self.acks[space as usize],
        }
    }

    /// The same, to change them.
    #[inline]
    pub(crate) fn acks_mut<'a>(
        &'a mut self,
        paths: &'a mut PathSet,
        id: PathId,
        space: Space,
    ) -> &'a mut AckState {
        match space {
            Space::Data => &mut paths[id].acks,
            space => &mut self.acks[space as usize],
        }
    }

    #[inline]
    pub(in crate::connection) fn stream_mut(&mut self, space: Space) -> &mut CryptoStream {
        &mut self.streams[space as usize]
    }

    /// A server sends no 1-RTT data before the handshake is complete, for the client is not authenticated and its keys are
    /// not in place. With 0-RTT data, either end may: the secret of an earlier connection authenticates the client.
    pub(crate) fn may_write(&self, space: Space) -> bool {
        space != Space::Data || self.writes_data
    }

    /// Why a client may not use another address, if it may not: RFC 9000 section 9, and section 18.2.
    pub(crate) fn may_not_move(&self) -> Option<&'static str> {
        if self.peer.as_ref().is_some_and(|peer| peer.disable_active_migration) {
            return Some("its address went away, and the peer forbids another");
        }
        (!self.confirmed).then_some("its address went away before the handshake was confirmed")
    }

    /// The peer's delay of an acknowledgement (RFC 9002 section 5.3).
    pub(crate) fn ack_delay(&self, space: Space, encoded: u64) -> SimDuration {
        let Some(peer) = self.peer.as_ref().filter(|_| space == Space::Data) else {
            return SimDuration::ZERO;
        };
        let micros = encoded.checked_shl(peer.ack_delay_exponent as u32).unwrap_or(u64::MAX);
        SimDuration::from_micros(micros.min(u64::MAX / 1_000))
    }

    /// Whether the packets of the Data space are 0-RTT packets.
    #[inline]
    pub(crate) fn sends_early(&self) -> bool {
        self.early == EarlyData::Offered
    }

    /// Whether a packet that this end sent was a 0-RTT packet, or may have been one.
    #[inline]
    pub(crate) fn is_early(&self, id: PathId, space: Space, number: u64) -> bool {
        (id, space) == (PathSet::FIRST, Space::Data) && number < self.early_end
    }

    /// Checks that an acknowledgement of 1-RTT packets is not about 0-RTT packets that the server has rejected.
    ///
    /// RFC 9001 section 4.6.2: "a client SHOULD treat receipt of an acknowledgment for a 0-RTT packet as a connection error of
    /// type `PROTOCOL_VIOLATION`".
    #[inline]
    pub(crate) fn check_early_ack(&self, id: PathId, ack: &Ack) -> Result<(), TransportError> {
        if self.early == EarlyData::Rejected
            && ack.ranges.last().is_some_and(|it| self.is_early(id, Space::Data, it.smallest))
        {
            return Err(violation("an acknowledgement of 0-RTT packets that were rejected"));
        }
        Ok(())
    }

    /// Whether 0-RTT data, of this end or its client, was accepted; none if there was none, or that is not known yet.
    pub(crate) fn early_data(&self) -> Option<bool> {
        match self.early {
            EarlyData::None | EarlyData::Offered => None,
            EarlyData::Accepted => Some(true),
            EarlyData::Rejected => Some(false),
        }
    }
}
