//! A connection (RFC 9000): a state machine that takes packets and the time, and hands back packets. They are structs, or
//! protected bytes.
//!
//! Order of calls at an instant: [`Connection::on_timer`] if a timer is due, any number of arrivals, then
//! [`Connection::transmit`] until it returns false, then [`Connection::timer`].

mod ack_control;
mod close;
mod datagrams;
mod forecasts;
mod handshake;
mod keys;
mod open;
mod parts;
mod paths;
mod receive;
mod reports;
mod seal;
mod settle;
#[cfg(test)]
mod testing;
mod timers;
mod trace;
#[expect(
    clippy::inline_always,
    reason = "every packet takes these steps, from one place that matters"
)]
mod transmit;

use bytes::BytesMut;
use leobench_base::{Bytes, SimTime};
use leobench_transport::Role;

use self::ack_control::AckControl;
use self::close::State;
pub(super) use self::handshake::Opening;
use self::handshake::{Handshaking, Lineage};
use self::keys::KeyState;
pub(super) use self::open::short_destination;
pub(super) use self::parts::{Parts, Settings};
pub(super) use self::paths::Offer;
use self::paths::{Mobility, Multipath, Preferred};
use self::reports::Reports;
use self::timers::Idle;
use self::trace::Qlog;
pub(super) use self::transmit::Output;
use super::cids::{LocalIds, RemoteIds};
use super::crypto::Protection;
use super::datagrams::Datagrams;
use super::paths::{Ids, Path, PathSet};
use super::recovery::{Control, Outcome, Recovery};
use super::streams::Streams;
use super::token_key::ResetKey;
use crate::wire::{ConnectionId, Datagram, ErrorCode, TransportError};

/// One end of a connection. It owns its parts, and orders their calls.
pub(super) struct Connection {
    role: Role,
    settings: Settings,
    state: State,
    idle: Idle,
    keys: KeyState,
    handshake: Handshaking,
    paths: PathSet,
    /// Several paths, if this end offers them.
    offer: Option<Box<Offer>>,
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
    qlog: Qlog,
    buffers: Buffers,
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

impl Connection {
    /// A connection that has sent and received nothing.
    ///
    /// # Errors
    /// `INTERNAL_ERROR` if TLS cannot start.
    pub(super) fn new(mut parts: Parts, now: SimTime) -> Result<Self, TransportError> {
        let (role, mtu) = (parts.role, parts.settings.mtu);
        let ids = parts.rng.child("connection-ids").rng();
        let mut local = LocalIds::new(parts.local_id, ids, ResetKey::new(&parts.rng));
        let preferred = parts.preferred.map(Preferred::of_server);
        let params = parts.params(preferred, &mut local);
        let mut encoded = Vec::new();
        params.write(&mut encoded);
        let handshake = Handshaking::new(&parts, parts.crypto.start(role, encoded)?);
        let first_destination = handshake.first_destination();
        let mut protection = Protection::new(parts.crypto.cipher(), role, first_destination);
        protection.update_after(parts.settings.key_update.unwrap_or(u64::MAX));
        let id = PathSet::FIRST;
        parts.control.open(id, now, Bytes::new(mtu));
        let ids = Ids { local, remote: RemoteIds::new(parts.remote_id) };
        let recovery = Recovery::new(id, &parts.settings.recovery(role));
        let mut path = Path::new(id, parts.addresses, recovery, ids, mtu, parts.settings.paces);
        path.choose_spin(parts.settings.spin, &parts.rng);
        if role == Role::Client || parts.retry_source.is_some() {
            path.validate();
        }
        let keeps_events = parts.streams.keeps_events();
        Ok(Self {
            role,
            state: State::Open,
            idle: Idle::new(now, parts.settings.idle_timeout),
            keys: KeyState {
                crypto: parts.crypto,
                protection,
                phase: false,
                as_bytes: parts.as_bytes,
            },
            handshake,
            paths: PathSet::new(path),
            offer: parts.offer,
            multipath: None,
            mobility: Mobility::new(parts.interfaces, preferred, &parts.rng),
            ack_control: AckControl::new(&params),
            control: parts.control,
            datagrams: Datagrams::new(params.max_datagram_frame_size, keeps_events),
            streams: parts.streams,
            outcome: Outcome::default(),
            reports: Reports::default(),
            lineage: Lineage::new(parts.rng),
            qlog: Qlog::default(),
            buffers: Buffers::default(),
            settings: parts.settings,
        })
    }

    /// The streams, for the application.
    pub(super) fn streams(&self) -> &Streams {
        &self.streams
    }

    /// The streams, for the application.
    pub(super) fn streams_mut(&mut self) -> &mut Streams {
        &mut self.streams
    }

    /// How far the handshake has come.
    pub(super) fn handshake(&self) -> &Handshaking {
        &self.handshake
    }

    /// Whether a datagram to this ID belongs to the connection.
    #[inline]
    pub(super) fn is_addressed_by(&self, id: ConnectionId) -> bool {
        self.paths.first().ids.local.is_latest(id) || self.has_issued(id)
    }

    /// The same for any other ID than the last one used.
    #[cold]
    fn has_issued(&self, id: ConnectionId) -> bool {
        self.paths.iter().any(|path| path.ids.local.contains(id))
            || self.role == Role::Server && id == self.handshake.first_destination()
    }
}

/// The peer broke a rule that has no error code of its own.
#[cold]
fn violation(reason: &'static str) -> TransportError {
    TransportError::new(ErrorCode::PROTOCOL_VIOLATION, reason)
}
