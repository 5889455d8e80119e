//! A connection (RFC 9000): a state machine that takes packets and the time, and hands back packets. It sees no bytes but
//! those of the handshake.
//!
//! Order of calls at an instant: [`Connection::on_timer`] if a timer is due, any number of arrivals, then
//! [`Connection::transmit`] until it returns false, then [`Connection::timer`].

mod close;
mod datagrams;
mod handshake;
mod keys;
mod outcomes;
mod parts;
mod paths;
mod receive;
mod sealing;
mod settle;
mod timers;
mod trace;
mod transmit;

use std::net::SocketAddr;

use bytes::{Bytes as Payload, BytesMut};
use leobench_base::{Bytes, RngTree, SimDuration, SimRng, SimTime};
use leobench_transport::Role;
use leobench_transport::endpoint::{EndpointError, Event, Loss, LossVerdict, MoveStep, PathId};
use leobench_transport::interfaces::Interfaces;

use self::close::State;
pub(super) use self::handshake::Opening;
use self::handshake::{CryptoStream, EarlyData};
pub(super) use self::parts::{Parts, Settings};
pub(super) use self::paths::Offer;
use self::paths::{Cargo, Multipath, Preferred};
use super::cids::{LocalIds, RemoteIds, random_id};
use super::crypto::{Crypto, Handshake, Protection};
use super::datagrams::Datagrams;
use super::paths::{FourTuple, Ids, Path, PathSet};
use super::qlog::Trace;
use super::recovery::{Control, Outcome, Recovery, RecoveryConfig};
use super::space::{AckState, FrequencyState};
use super::streams::Streams;
use super::token_key::ResetKey;
use crate::wire::{
    Close, ConnectionId, Datagram, ErrorCode, Level, Space, TransportError, TransportParameters,
};
pub(super) use sealing::short_destination;
pub(super) use transmit::Output;

/// Packet number spaces, in order.
static SPACES: [Space; 3] = [Space::Initial, Space::Handshake, Space::Data];

/// One end of a connection. It owns its parts, and orders their calls.
pub(super) struct Connection {
    role: Role,
    settings: Settings,
    state: State,
    idle: Idle,
    keys: KeyState,
    handshake: Handshaking,
    paths: PathSet,
    offered: Offered,
    /// Several paths, if both ends have agreed on them.
    multipath: Option<Box<Multipath>>,
    mobility: Mobility,
    ack_control: AckControl,
    control: Control,
    streams: Streams,
    datagrams: Datagrams,
    /// Packets that the last call of recovery settled.
    outcome: Outcome,
    reports: Reports,
    lineage: Lineage,
    qlog: Option<Box<Trace>>,
    buffers: Buffers,
}

/// Packet protection.
struct KeyState {
    /// The source of keys, from which another connection can be made.
    crypto: Crypto,
    protection: Protection,
    /// The key phase that was last looked at.
    phase: bool,
    as_bytes: bool,
}

/// Progress of the handshake.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Handshaking {
    tls: Box<dyn Handshake>,
    /// The level at which handshake data is written.
    writing: Level,
    /// Whether the handshake is complete (RFC 9001 section 4.1.1), and confirmed (section 4.1.2).
    complete: bool,
    confirmed: bool,
    /// The handshake's data, by space.
    streams: [CryptoStream; 3],
    /// Acknowledgements and probes of the Initial and the Handshake space; each path has its own of the Data space.
    acks: [AckState; 2],
    original_destination: ConnectionId,
    retry_source: Option<ConnectionId>,
    /// Whether a packet of the peer was processed.
    heard: bool,
    /// Whether a client has sent a Handshake packet, and is to discard its Initial keys (RFC 9001 section 4.9.1).
    leaves_initial: bool,
    /// The token to put into Initial packets.
    token: Payload,
    /// The peer's transport parameters, once they are known.
    peer: Option<TransportParameters>,
    /// Whether `HANDSHAKE_DONE` is to be sent.
    announces_confirmation: bool,
    early: EarlyData,
    /// The number of a client's first packet that is no 0-RTT packet.
    early_end: u64,
    /// The server's parameters in the earlier connection, while this end sends 0-RTT data.
    remembered: Option<Box<TransportParameters>>,
    /// Whether data may be sent: the handshake is complete, or there is 0-RTT data.
    writes_data: bool,
}

/// Offers of this end in the handshake.
struct Offered {
    /// Several paths.
    paths: Option<Box<Offer>>,
    /// The addresses of both ends, if this one offers several paths and the peer does not.
    alone: Option<[SocketAddr; 2]>,
}

/// Addresses other than those in use.
struct Mobility {
    /// Addresses of our host.
    interfaces: Interfaces,
    /// The server's preferred address, if it has one.
    preferred: Option<Preferred>,
    /// The route that this end probes: nobody answers over the present one, or the server prefers it.
    candidate: Option<FourTuple>,
    /// Random stream of path challenges.
    challenges: SimRng,
}

/// How often acknowledgements are sent and asked for.
struct AckControl {
    /// How often to acknowledge 1-RTT packets.
    frequency: FrequencyState,
    request: AckRequest,
    /// When a packet may ask again that acknowledgements be acknowledged.
    next_ask: SimTime,
}

/// Reports to the endpoint that have not been taken.
#[derive(Default)]
struct Reports {
    verdicts: Vec<LossVerdict>,
    events: Vec<Event>,
    moves: Vec<MoveStep>,
    lost: Option<Loss>,
    /// The error if the scenario requires saved parameters that the connection lacks.
    missing: Option<EndpointError>,
    /// The frame by which the peer closed the connection, if it did before this end.
    peer_close: Option<Close>,
}

/// The connection's place among the connections of its endpoint.
struct Lineage {
    rng: RngTree,
    /// How many connections were made from this one.
    restarts: u64,
    /// The addresses of another connection that a client has to open, because this one may not move before its handshake is
    /// confirmed.
    restart: Option<FourTuple>,
    /// Whether it has no streams yet, because another connection of the same client has them.
    awaits_streams: bool,
}

/// Memory that is used again.
#[derive(Default)]
struct Buffers {
    scratch: Vec<u8>,
    /// Boxes of datagrams that were taken in or have become bytes, for those to send.
    #[expect(clippy::vec_box, reason = "it is the boxes that are used again")]
    spares: Vec<Box<Datagram>>,
    /// Room for the next datagrams that leave as bytes.
    sealed: BytesMut,
}

/// The request about the peer's acknowledgements (draft-ietf-quic-ack-frequency section 4).
#[derive(Clone, Copy, Debug, Default)]
struct AckRequest {
    pending: bool,
    sequence: u64,
}

/// The idle timeout (RFC 9000 section 10.1).
#[derive(Clone, Copy, Debug, Default)]
struct Idle {
    timeout: Option<SimDuration>,
    since: SimTime,
    /// Whether an ack-eliciting packet was sent since the last arrival.
    sent: bool,
}

impl Connection {
    /// A connection that has sent and received nothing.
    ///
    /// # Errors
    /// `INTERNAL_ERROR` if TLS cannot start.
    pub(super) fn new(parts: Parts, now: SimTime) -> Result<Self, TransportError> {
        let Parts { role, addresses, crypto, streams, mut control, settings, .. } = parts;
        let initial_rtt = settings.initial_rtt;
        let config = RecoveryConfig { role, initial_rtt, ecn: settings.ecn };
        let ids = parts.rng.child("connection-ids").rng();
        let mut local_ids = LocalIds::new(parts.local_id, ids, ResetKey::new(&parts.rng));
        let preferred = parts.preferred.map(Preferred::of_server);
        let mut params = settings.params.clone();
        params.initial_source = Some(parts.local_id);
        params.initial_max_path_id = parts.offer.as_ref().map(|offer| offer.max_path_id);
        if role == Role::Server {
            params.original_destination = Some(parts.original_destination);
            params.retry_source = parts.retry_source;
            params.stateless_reset_token = local_ids.first_token();
            params.preferred_address = preferred.and_then(|it| it.parameter(&mut local_ids));
        }
        let mut encoded = Vec::new();
        params.write(&mut encoded);
        let handshake = crypto.start(role, encoded)?;
        let first_destination = parts.retry_source.unwrap_or(parts.original_destination);
        let mut protection = Protection::new(crypto.cipher(), role, first_destination);
        protection.update_after(settings.key_update.unwrap_or(u64::MAX));
        let frequency = FrequencyState::new(
            SimDuration::from_millis(params.max_ack_delay),
            SimDuration::from_micros(params.min_ack_delay.unwrap_or_default()),
        );
        let id = PathSet::FIRST;
        control.open(id, now, Bytes::new(settings.mtu));
        let ids = Ids { local: local_ids, remote: RemoteIds::new(parts.remote_id) };
        let recovery = Recovery::new(id, &config);
        let mut path = Path::new(id, addresses, recovery, ids, settings.mtu, settings.paced);
        path.choose_spin(settings.spin, &parts.rng);
        if role == Role::Client || parts.retry_source.is_some() {
            path.validate();
        }
        let idle = Idle { timeout: settings.idle_timeout, since: now, sent: false };
        let acks = [Space::Initial, Space::Handshake].map(AckState::new);
        Ok(Self {
            role,
            settings,
            state: State::Open,
            idle,
            keys: KeyState { crypto, protection, phase: false, as_bytes: parts.as_bytes },
            handshake: Handshaking {
                tls: handshake,
                writing: Level::Initial,
                complete: false,
                confirmed: false,
                streams: std::array::from_fn(|_| CryptoStream::default()),
                acks,
                original_destination: parts.original_destination,
                retry_source: parts.retry_source,
                heard: role == Role::Server,
                leaves_initial: false,
                token: Payload::new(),
                peer: None,
                announces_confirmation: false,
                early: EarlyData::None,
                early_end: 0,
                remembered: None,
                writes_data: false,
            },
            paths: PathSet::new(path),
            offered: Offered { paths: parts.offer, alone: None },
            multipath: None,
            mobility: Mobility {
                interfaces: parts.interfaces,
                preferred,
                candidate: None,
                challenges: parts.rng.child("path-challenges").rng(),
            },
            ack_control: AckControl {
                frequency,
                request: AckRequest::default(),
                next_ask: SimTime::ZERO,
            },
            control,
            datagrams: Datagrams::new(params.max_datagram_frame_size, streams.keeps_events()),
            streams,
            outcome: Outcome::default(),
            reports: Reports::default(),
            lineage: Lineage { rng: parts.rng, restarts: 0, restart: None, awaits_streams: false },
            qlog: None,
            buffers: Buffers::default(),
        })
    }

    /// A first connection ID.
    pub(super) fn first_id(rng: &RngTree, name: &str) -> ConnectionId {
        random_id(&mut rng.child(name).rng())
    }

    /// Acknowledgements and probes of a space; each path has its own of the Data space.
    #[inline]
    fn acks(&self, id: PathId, space: Space) -> &AckState {
        match space {
            Space::Data => &self.paths[id].acks,
            space => &self.handshake.acks[space as usize],
        }
    }

    #[inline]
    fn acks_mut(&mut self, id: PathId, space: Space) -> &mut AckState {
        match space {
            Space::Data => &mut self.paths[id].acks,
            space => &mut self.handshake.acks[space as usize],
        }
    }

    #[inline]
    fn crypto_mut(&mut self, space: Space) -> &mut CryptoStream {
        &mut self.handshake.streams[space as usize]
    }

    /// The streams, for the application.
    pub(super) fn streams(&self) -> &Streams {
        &self.streams
    }

    /// The streams, for the application.
    pub(super) fn streams_mut(&mut self) -> &mut Streams {
        &mut self.streams
    }

    /// When and why the connection was lost, if it was.
    pub(super) fn lost(&self) -> Option<&Loss> {
        self.reports.lost.as_ref()
    }

    /// The `CONNECTION_CLOSE` of the peer, if it closed the connection before this end.
    pub(super) fn peer_close(&self) -> Option<&Close> {
        self.reports.peer_close.as_ref()
    }

    /// Whether the handshake is complete (RFC 9001 section 4.1.1).
    pub(super) fn is_complete(&self) -> bool {
        self.handshake.complete
    }

    /// Whether packets travel as bytes.
    pub(super) fn sends_bytes(&self) -> bool {
        self.keys.as_bytes
    }

    /// Whether a datagram to this ID belongs to the connection.
    #[inline]
    pub(super) fn is_addressed_by(&self, id: ConnectionId) -> bool {
        self.paths.first().ids.local.is_latest(id) || self.has_issued(id)
    }

    /// The same for any other ID than the last one used.
    #[cold]
    fn has_issued(&self, id: ConnectionId) -> bool {
        let first = self.handshake.retry_source.unwrap_or(self.handshake.original_destination);
        self.paths.iter().any(|path| path.ids.local.contains(id))
            || self.role == Role::Server && id == first
    }

    /// The spaces that may be in use: once the handshake is confirmed, only one is (RFC 9001 section 4.9).
    #[inline]
    fn spaces(&self) -> &'static [Space] {
        const LAST: &[Space] = &[Space::Data];
        if self.handshake.confirmed { LAST } else { &SPACES }
    }

    /// Whether packets can be sent in a space.
    #[inline]
    fn can_send(&self, space: Space) -> bool {
        let protection = &self.keys.protection;
        let early = space == Space::Data && protection.can_send(Level::ZeroRtt);
        protection.can_send(level_of(space)) || early
    }

    /// Fails if the controller cannot go on, or the scenario requires what the connection lacks.
    ///
    /// # Errors
    /// The failure.
    pub(super) fn check(&mut self, now: SimTime) -> Result<(), EndpointError> {
        if self.reports.missing.is_some() || self.offered.alone.is_some() {
            return self.refuse(now);
        }
        self.control.check(now)
    }

    #[cold]
    fn refuse(&mut self, now: SimTime) -> Result<(), EndpointError> {
        match (self.reports.missing.take(), self.offered.alone.take()) {
            (Some(missing), _) => Err(missing),
            (None, Some([local, remote])) => Err(EndpointError::OnePath { at: now, local, remote }),
            (None, None) => Ok(()),
        }
    }
}

/// The encryption level of the packets that are sent in a space.
const fn level_of(space: Space) -> Level {
    match space {
        Space::Initial => Level::Initial,
        Space::Handshake => Level::Handshake,
        Space::Data => Level::OneRtt,
    }
}

/// The peer broke a rule that has no error code of its own.
#[cold]
fn violation(reason: &'static str) -> TransportError {
    TransportError::new(ErrorCode::PROTOCOL_VIOLATION, reason)
}
