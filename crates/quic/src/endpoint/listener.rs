//! One end of QUIC connections: who a datagram is for, what answers it without a connection, and which connection goes on when
//! a client begins anew. The simulator's endpoint and the connection of programs are adapters of it.

use bytes::BytesMut;
use leobench_base::packet::IPV4_UDP_HEADER;
use leobench_base::{Meta, Packet, SimTime};
use leobench_transport::Role;
use leobench_transport::endpoint::{EndpointError, Totals};

use super::first::{client_of, first_in, long_destination};
use super::stateless::{Stateless, version_negotiation};
use crate::QlogWriter;
use crate::connection::{Connection, Parts, short_destination};
use crate::paths::{FourTuple, RecvMeta};
use crate::wire::{Content, Datagram, Level, Packet as QuicPacket, ResetToken};

/// One end: a client, or a server of one client at a time.
pub(crate) struct Listener {
    pub(super) role: Role,
    pub(super) stage: Stage,
    /// The source of answers without a connection, the answers yet to leave, and totals of these and of dropped handshakes.
    pub(super) stateless: Box<Stateless>,
    pub(crate) answers: Vec<Packet>,
    pub(super) totals: Totals,
    /// Other connections that the client has begun since, until one is complete.
    pub(super) handshakes: Vec<Connection>,
    /// Whether a server lets its client begin anew.
    pub(super) follows_restarts: bool,
    /// Whether this end, a client, has begun anew.
    pub(super) has_restarted: bool,
    /// The writer of the qlog, until the connection begins.
    pub(super) qlog: Option<QlogWriter>,
}

/// How far an end has come.
pub(super) enum Stage {
    /// A client before its start, or a server before the first packet; what it was told in the meantime is in the parts.
    Waiting(Box<Parts>),
    /// It has a connection.
    Connected(Box<Connection>),
    /// Between the two.
    Moving,
}

impl Listener {
    /// An end that has done nothing yet. A server that does not follow restarts has the client of the first connection only.
    pub(crate) fn new(parts: Parts, retry: bool, follows_restarts: bool) -> Self {
        let stateless = Stateless::new(&parts.rng, parts.crypto.cipher(), retry);
        Self {
            role: parts.role,
            stage: Stage::Waiting(Box::new(parts)),
            stateless: Box::new(stateless),
            answers: Vec::new(),
            totals: Totals::default(),
            handshakes: Vec::new(),
            follows_restarts,
            has_restarted: false,
            qlog: None,
        }
    }

    pub(crate) fn connection(&self) -> Option<&Connection> {
        match &self.stage {
            Stage::Connected(connection) => Some(connection),
            Stage::Waiting(_) | Stage::Moving => None,
        }
    }

    /// The connection, to change it.
    #[inline]
    pub(crate) fn connection_mut(&mut self) -> Option<&mut Connection> {
        match &mut self.stage {
            Stage::Connected(connection) => Some(connection),
            Stage::Waiting(_) | Stage::Moving => None,
        }
    }

    /// Begins the connection, with parts that `fit` completes.
    #[cold]
    pub(crate) fn connect(
        &mut self,
        now: SimTime,
        fit: impl FnOnce(&mut Parts),
    ) -> Result<(), EndpointError> {
        if let Stage::Waiting(mut parts) = std::mem::replace(&mut self.stage, Stage::Moving) {
            fit(&mut parts);
            let connection = Connection::new(*parts, now);
            let mut connection = connection
                .map_err(|error| EndpointError::Stack { at: now, problem: error.to_string() })?;
            if let Some(writer) = self.qlog.take() {
                connection.write_qlog(now, writer);
            }
            self.stage = Stage::Connected(Box::new(connection));
        }
        Ok(())
    }

    /// Totals of all connections and answers.
    pub(super) fn totals(&self) -> Totals {
        let mut totals = self.connection().map_or_else(Totals::default, Connection::totals);
        totals += self.totals;
        self.handshakes.iter().for_each(|handshake| totals += handshake.totals());
        totals
    }

    /// A datagram arrived as a struct.
    pub(super) fn receive(
        &mut self,
        now: SimTime,
        meta: &Meta,
        datagram: Box<Datagram>,
    ) -> Result<(), EndpointError> {
        if self.connection().is_some_and(|connection| connection.ignores(meta.source)) {
            return Ok(());
        }
        match &*datagram {
            Datagram::Packets(packets) => {
                let size = meta.size.get() - IPV4_UDP_HEADER.get();
                self.receive_packets(now, meta, size, packets)?;
            }
            other => self.receive_other(now, other),
        }
        if let Stage::Connected(connection) = &mut self.stage {
            connection.keep_box(datagram);
        }
        Ok(())
    }

    /// Takes in a datagram without packets that carry frames.
    #[cold]
    fn receive_other(&mut self, now: SimTime, datagram: &Datagram) {
        match datagram {
            Datagram::Packets(_) => {}
            Datagram::Retry { .. } => {
                if let Stage::Connected(connection) = &mut self.stage {
                    connection.on_unprotected_retry(now, datagram);
                }
            }
            Datagram::VersionNegotiation { destination, source, versions } => {
                if let Stage::Connected(connection) = &mut self.stage {
                    connection.on_version_negotiation(now, [*destination, *source], versions);
                }
            }
            Datagram::StatelessReset(bytes) => {
                if let (Stage::Connected(connection), Some(token)) =
                    (&mut self.stage, bytes.last_chunk())
                {
                    connection.on_stateless_reset(now, ResetToken(*token));
                }
            }
        }
    }

    fn receive_packets(
        &mut self,
        now: SimTime,
        meta: &Meta,
        size: u64,
        packets: &[QuicPacket],
    ) -> Result<(), EndpointError> {
        let Some(QuicPacket { header, .. }) = packets.first() else { return Ok(()) };
        if let Stage::Waiting(_) = &self.stage
            && let Some(first) = first_in(header)
        {
            self.on_first(now, meta, &first)?;
        }
        let is_short = header.level() == Level::OneRtt;
        if !is_short && self.is_for_another(header.destination()) {
            return self.receive_handshake(now, meta, size, packets);
        }
        let Some(connection) = self.current() else {
            if is_short {
                self.on_stray(now, meta, header.destination(), size);
            }
            return Ok(());
        };
        let destination = is_short.then(|| header.destination());
        let received = received(meta);
        connection.on_datagram(now, &received, destination);
        let mut stray = false;
        for packet in packets {
            stray |= !connection.on_packet(now, &received, packet);
        }
        if stray && is_short {
            self.on_stray(now, meta, header.destination(), size);
        }
        Ok(())
    }

    /// A datagram arrived as bytes, whose streams have this content.
    ///
    /// # Errors
    /// If TLS cannot start.
    #[inline(never)]
    pub(crate) fn receive_bytes(
        &mut self,
        now: SimTime,
        meta: &Meta,
        bytes: BytesMut,
        content: &dyn Content,
    ) -> Result<(), EndpointError> {
        let Some(id) = short_destination(&bytes) else {
            return self.receive_long(now, meta, bytes, content);
        };
        if let Some(connection) = self.current() {
            if connection.is_addressed_by(id) {
                connection.on_bytes(now, &received(meta), Some(id), bytes, content);
                return Ok(());
            }
            connection.on_datagram(now, &received(meta), None);
        }
        if !self.is_reset_by(now, bytes.last_chunk().copied().map(ResetToken)) {
            self.on_stray(now, meta, id, bytes.len() as u64);
        }
        Ok(())
    }

    /// Takes in a datagram whose first packet has a long header, or that is none of QUIC.
    #[cold]
    fn receive_long(
        &mut self,
        now: SimTime,
        meta: &Meta,
        bytes: BytesMut,
        content: &dyn Content,
    ) -> Result<(), EndpointError> {
        if self.role == Role::Server
            && let Some(answer) = version_negotiation(&bytes)
        {
            self.answer_bytes(now, meta, answer);
            return Ok(());
        }
        if let Stage::Waiting(parts) = &self.stage
            && let Some(first) = client_of(parts, &bytes)
        {
            self.on_first(now, meta, &first)?;
        }
        if let Some(id) = long_destination(&bytes).filter(|id| self.is_for_another(*id)) {
            return self.receive_handshake_bytes(now, meta, id, bytes, content);
        }
        if let Some(connection) = self.current() {
            connection.on_bytes(now, &received(meta), None, bytes, content);
        }
        Ok(())
    }

    /// The connection, unless it has not begun or is forgotten.
    pub(super) fn current(&mut self) -> Option<&mut Connection> {
        match &mut self.stage {
            Stage::Connected(connection) if !connection.is_closed() => Some(connection),
            Stage::Connected(_) | Stage::Waiting(_) | Stage::Moving => None,
        }
    }
}

/// The route that a packet came over.
pub(super) fn route(meta: &Meta) -> FourTuple {
    FourTuple { local: meta.destination, remote: meta.source }
}

/// The datagram in a packet, but for its payload.
pub(super) fn received(meta: &Meta) -> RecvMeta {
    let size = meta.size.get() - IPV4_UDP_HEADER.get();
    RecvMeta { tuple: route(meta), size, ecn: meta.ecn }
}
