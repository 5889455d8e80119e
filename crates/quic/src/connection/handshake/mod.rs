//! The handshake (RFC 9000 section 7, RFC 9001 section 4).

mod crypto_stream;
mod early;
mod restart;
mod state;

use bytes::Bytes as Payload;
use leobench_base::{SimDuration, SimTime};
use leobench_transport::Role;
use leobench_transport::endpoint::PathId;

use self::crypto_stream::CryptoStream;
pub(super) use self::restart::Lineage;
pub(crate) use self::restart::Opening;
pub(crate) use self::state::Handshaking;
use super::{Connection, violation};
use crate::paths::PathSet;
use crate::recovery::HandshakeState;
use crate::space::AckState;
use crate::wire::{
    ConnectionId, ErrorCode, HandshakeIds, ServerIds, Space, TransportError, TransportParameters,
};

/// The alert for a missing extension (RFC 8446 section 6.2; RFC 9001 section 8.2).
const MISSING_EXTENSION: u8 = 109;

impl Connection {
    /// The client's first flight.
    pub(crate) fn start(&mut self, now: SimTime) {
        if let Err(error) = self.advance_handshake(now, PathSet::FIRST) {
            self.fail(now, PathSet::FIRST, &error);
        }
    }

    /// Passes handshake data between the packets, the last of which came on a path, and TLS.
    #[cold]
    pub(super) fn advance_handshake(
        &mut self,
        now: SimTime,
        id: PathId,
    ) -> Result<(), TransportError> {
        for space in Space::ALL {
            while let Some(data) = self.handshake.stream_mut(space).read() {
                self.handshake.tls.read(space.level(), &data)?;
            }
        }
        let mut scratch = std::mem::take(&mut self.buffers.scratch);
        loop {
            scratch.clear();
            let keys = self.handshake.tls.write(&mut scratch);
            self.handshake.stream_mut(self.handshake.writing.space()).write(&scratch);
            match keys {
                Some(change) => {
                    self.handshake.writing = change.level;
                    self.qlog.keys_installed(now, change.level);
                    self.keys.protection.install(change);
                }
                None if scratch.is_empty() => break,
                None => {}
            }
        }
        self.buffers.scratch = scratch;
        self.take_peer_params(now)?;
        self.begin_early(now)?;
        if !self.handshake.complete && self.handshake.tls.is_complete() {
            self.on_complete(now)?;
        }
        self.update_handshake_state(now, id);
        Ok(())
    }

    fn take_peer_params(&mut self, now: SimTime) -> Result<(), TransportError> {
        if self.handshake.peer.is_some() {
            return Ok(());
        }
        let Some(encoded) = self.handshake.tls.peer_params() else { return Ok(()) };
        let params = match self.role {
            Role::Client => TransportParameters::of_server(encoded)?,
            Role::Server => TransportParameters::of_client(encoded)?,
        };
        params.authenticate(&HandshakeIds {
            initial_source: self.paths.first().ids.remote.first(),
            server: (self.role == Role::Client).then_some(ServerIds {
                original_destination: self.handshake.original_destination,
                retry_source: self.handshake.retry_source,
            }),
        })?;
        if let Some(token) = params.stateless_reset_token {
            self.paths.first_mut().ids.remote.set_first_token(token);
        }
        self.take_preferred(&params)?;
        self.paths.first_mut().ids.local.set_limit(params.active_connection_id_limit);
        if self.handshake.sends_early() {
            self.settle_early(now, &params)?;
        } else {
            self.streams.on_peer_params(&params);
        }
        self.datagrams.on_peer_params(params.max_datagram_frame_size);
        let path = self.paths.first_mut();
        path.mtu = path.mtu.min(params.max_udp_payload_size);
        path.recovery.set_max_ack_delay(SimDuration::from_millis(params.max_ack_delay));
        self.idle.timeout = effective_idle(self.settings.idle_timeout, params.max_idle_timeout);
        self.handshake.peer = Some(params);
        Ok(())
    }

    fn on_complete(&mut self, now: SimTime) -> Result<(), TransportError> {
        let Some(peer) = &self.handshake.peer else {
            let code = ErrorCode::crypto(MISSING_EXTENSION);
            return Err(TransportError::new(code, "no transport parameters"));
        };
        let min_ack_delay = peer.min_ack_delay;
        (self.handshake.complete, self.handshake.writes_data) = (true, true);
        self.keys.protection.on_complete();
        self.end_early(now);
        self.agree_on_paths(now);
        self.reports.note("established", "");
        self.establish_streams(now);
        if let (Some((threshold, delay)), Some(_)) = (self.settings.ack_frequency, min_ack_delay) {
            self.ack_control.ask(threshold, delay);
            let detail =
                format!("asks for an acknowledgement after {} packets, or {delay}", threshold + 1);
            self.reports.note("ack-frequency", detail);
            self.paths.first_mut().recovery.set_max_ack_delay(delay);
        }
        if self.role == Role::Server {
            self.handshake.announces_confirmation = true;
            self.confirm(now);
        }
        Ok(())
    }

    /// The handshake is complete: streams may be opened, and datagrams sent if the peer takes them.
    pub(super) fn establish_streams(&mut self, now: SimTime) {
        self.streams.set_largest_datagram(self.largest_datagram());
        self.streams.on_established(now);
    }

    #[cold]
    pub(super) fn on_handshake_done(&mut self, now: SimTime) -> Result<(), TransportError> {
        if self.role == Role::Server {
            return Err(violation("HANDSHAKE_DONE from a client"));
        }
        self.confirm(now);
        Ok(())
    }

    #[cold]
    pub(super) fn confirm(&mut self, now: SimTime) {
        if !self.handshake.confirmed {
            self.handshake.confirmed = true;
            self.discard(now, Space::Handshake);
            self.update_handshake_state(now, PathSet::FIRST);
            self.manage_paths(now);
            self.prefer(now, PathSet::FIRST);
        }
    }

    /// Drops the keys of a level (RFC 9001 section 4.9).
    #[cold]
    pub(super) fn discard(&mut self, now: SimTime, space: Space) {
        if !self.keys.can_send(space) {
            return;
        }
        self.keys.protection.discard(space.level());
        self.handshake.streams[space as usize] = CryptoStream::default();
        self.handshake.acks[space as usize] = AckState::new(space);
        self.paths.first_mut().recovery.discard(now, space);
        self.update_handshake_state(now, PathSet::FIRST);
    }

    /// Tells the recovery of a path how far the handshake is, which decides about its probes (RFC 9002 section 6.2.2.1).
    pub(super) fn update_handshake_state(&mut self, now: SimTime, id: PathId) {
        let state = HandshakeState {
            has_handshake_keys: self.keys.can_send(Space::Handshake),
            confirmed: self.handshake.confirmed,
            amplification_limited: self.paths[id].is_amplification_limited(),
        };
        self.paths[id].recovery.set_handshake(now, state);
    }

    /// The server demands that the client shows that it receives at its address (RFC 9000 section 8.1.2). Returns whether the
    /// client starts anew: it answers one Retry, and none after another packet of the server.
    pub(crate) fn on_retry(
        &mut self,
        now: SimTime,
        [destination, source]: [ConnectionId; 2],
        token: &Payload,
    ) -> bool {
        if self.role == Role::Server
            || destination != self.paths.first().ids.local.first()
            // RFC 9000 section 17.2.5.1.
            || source == self.paths.first().ids.remote.current()
            || self.handshake.heard
            || self.handshake.retry_source.is_some()
            || token.is_empty()
            || !self.is_open()
        {
            return false;
        }
        self.qlog.retry(now, [destination, source], token);
        self.handshake.retry_source = Some(source);
        self.paths.first_mut().ids.remote.replace_first(source);
        self.handshake.token = token.clone();
        self.keys.protection.on_retry(source);
        let recovery = &mut self.paths.first_mut().recovery;
        recovery.give_up(now, Space::Initial, &mut self.outcome);
        self.settle_outcome(PathSet::FIRST);
        if self.handshake.sends_early() {
            // The server has dropped these packets, but does not reject 0-RTT data (RFC 9001 section 4.6.2).
            self.give_up_early(now, false);
        }
        true
    }

    /// The server knows other versions only (RFC 9000 section 6.2).
    pub(crate) fn on_version_negotiation(
        &mut self,
        now: SimTime,
        [destination, source]: [ConnectionId; 2],
        versions: &[u32],
    ) {
        let ours = versions.contains(&crate::wire::VERSION_1);
        // RFC 9000 section 17.2.1: the IDs of the client's packet show that the server received it.
        let ids = &self.paths.first().ids;
        let echoed = destination == ids.local.first() && source == ids.remote.current();
        let first = !self.handshake.heard && self.handshake.retry_source.is_none();
        if self.role == Role::Client && self.is_open() && first && echoed && !ours {
            let reason = "the server does not know QUIC version 1";
            self.abandon(now, reason, "version_mismatch");
        }
    }
}

/// The smaller of both ends' timeouts; zero is none (RFC 9000 section 10.1).
fn effective_idle(ours: Option<SimDuration>, peer_millis: u64) -> Option<SimDuration> {
    let peer_nanos = peer_millis.saturating_mul(1_000_000);
    let peer = (peer_millis > 0).then(|| SimDuration::from_nanos(peer_nanos));
    match (ours, peer) {
        (Some(ours), Some(peer)) => Some(ours.min(peer)),
        (ours, peer) => ours.or(peer),
    }
}
