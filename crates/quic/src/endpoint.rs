//! One end of a QUIC flow as an [`Endpoint`].

mod addresses;
mod answers;
mod attempts;
mod first;

use bytes::BytesMut;
use leobench_base::packet::IPV4_UDP_HEADER;
use leobench_base::{Body, Bytes, LogHistogram, Meta, Packet, Protocol, SimTime};
use leobench_transport::Role;
use leobench_transport::buffer::SendBuffer;
use leobench_transport::endpoint::{
    Endpoint, EndpointError, Input, Loss, Outbox, PathAddresses, PathId, PathSample, Totals,
};

use self::attempts::step_attempts;
pub(super) use self::first::client_of;
use self::first::long_destination;
use super::QlogWriter;
use super::config;
use super::connection::{Connection, Parts, Transmit, short_destination};
use super::crypto::KeyLog;
use super::flow::QuicConfig;
use super::qlog::Trace;
use super::route::{FourTuple, RecvMeta};
use super::stateless::{First, Stateless, version_negotiation};
use crate::wire::{Datagram, Header, Level, LongHeader, Packet as QuicPacket, ResetToken, Zeros};

/// One end of a QUIC connection. Its packets travel as structs, or as bytes if they are encrypted.
pub struct QuicEndpoint {
    start: SimTime,
    role: Role,
    stage: Stage,
    /// The source of answers without a connection, the answers yet to leave, and totals of these and of dropped attempts.
    stateless: Box<Stateless>,
    answers: Vec<Packet>,
    totals: Totals,
    /// Other connections that the client has begun since, until one is complete.
    attempts: Vec<Connection>,
    /// Whether this end, a client, has begun anew.
    has_restarted: bool,
    /// The writer of the qlog, until the connection begins.
    qlog: Option<QlogWriter>,
    /// Whether the loss of the connection has been reported.
    silent: bool,
}

/// How far an end has come.
enum Stage {
    /// A client before its start, or a server before the first packet; what it was told in the meantime is in the parts.
    Waiting(Box<Parts>),
    /// It has a connection.
    Connected(Box<Connection>),
    /// Between the two.
    Moving,
}

impl QuicEndpoint {
    /// An endpoint that has done nothing yet.
    ///
    /// # Errors
    /// If its scheduler is a plug-in that cannot be built.
    pub fn new(config: &QuicConfig<'_>) -> Result<Self, EndpointError> {
        let QuicConfig { start, role, .. } = *config;
        let parts = config::parts(config)?;
        let stateless = Stateless::new(config.rng, parts.crypto.cipher(), config.spec.retry);
        Ok(Self {
            start,
            role,
            stage: Stage::Waiting(Box::new(parts)),
            stateless: Box::new(stateless),
            answers: Vec::new(),
            totals: Totals::default(),
            attempts: Vec::new(),
            has_restarted: false,
            qlog: None,
            silent: false,
        })
    }

    /// Writes a qlog of the connection, which has not begun.
    pub fn write_qlog(&mut self, writer: QlogWriter) {
        self.qlog = Some(writer);
    }

    /// Logs the secrets of TLS, if packets are encrypted and the connection has not begun.
    pub fn log_secrets(&mut self, log: KeyLog) {
        if let Stage::Waiting(parts) = &mut self.stage {
            parts.crypto.log_secrets(log);
        }
    }

    /// Puts another controller in the place of the one that the specification names, before the connection begins.
    #[cfg(test)]
    pub(crate) fn set_controller(
        &mut self,
        algorithm: Box<dyn leobench_transport::CongestionControl>,
    ) {
        if let Stage::Waiting(parts) = &mut self.stage {
            parts.control.replace(algorithm);
        }
    }

    /// Lets packets travel as bytes, as another implementation needs them.
    #[cfg(any(test, feature = "testing"))]
    pub fn send_bytes(&mut self) {
        if let Stage::Waiting(parts) = &mut self.stage {
            parts.as_bytes = true;
        }
    }

    /// Changes what the connection will be made of, before it begins.
    #[cfg(test)]
    pub(crate) fn prepare(&mut self, change: impl FnOnce(&mut Parts)) {
        if let Stage::Waiting(parts) = &mut self.stage {
            change(parts);
        }
    }

    /// The connection, which has begun.
    #[cfg(test)]
    pub(crate) fn connection_mut(&mut self) -> &mut Connection {
        match &mut self.stage {
            Stage::Connected(connection) => connection,
            Stage::Waiting(_) | Stage::Moving => panic!("no connection yet"),
        }
    }

    /// The application closes the connection with an error code.
    #[cfg(test)]
    pub(crate) fn close(&mut self, now: SimTime, code: u64) {
        if let Stage::Connected(connection) = &mut self.stage {
            connection.close(now, code, "");
        }
    }

    pub(crate) fn connection(&self) -> Option<&Connection> {
        match &self.stage {
            Stage::Connected(connection) => Some(connection),
            Stage::Waiting(_) | Stage::Moving => None,
        }
    }

    /// Begins the connection, with parts that `fit` completes.
    #[cold]
    fn connect(&mut self, now: SimTime, fit: impl FnOnce(&mut Parts)) -> Result<(), EndpointError> {
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

    fn receive(
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
        if let (Stage::Waiting(_), Header::Initial(long)) = (&self.stage, header) {
            let LongHeader { destination, source, token, .. } = (**long).clone();
            self.on_first(now, meta, &First { destination, source, token })?;
        }
        let is_short = header.level() == Level::OneRtt;
        if !is_short && self.is_for_another(header.destination()) {
            return self.receive_attempt(now, meta, size, packets);
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

    #[inline(never)]
    fn receive_bytes(
        &mut self,
        now: SimTime,
        meta: &Meta,
        bytes: BytesMut,
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
            return self.receive_attempt_bytes(now, meta, id, bytes);
        }
        let short = short_destination(&bytes);
        let size = bytes.len() as u64;
        let Some(connection) = self.current() else {
            let token = bytes.last_chunk().copied().map(ResetToken);
            if let Some(id) = short.filter(|_| !self.is_reset_by(now, token)) {
                self.on_stray(now, meta, id, size);
            }
            return Ok(());
        };
        let stray = short.filter(|id| !connection.is_addressed_by(*id));
        let Some(id) = stray else {
            connection.on_bytes(now, &received(meta), bytes, &Zeros);
            return Ok(());
        };
        connection.on_datagram(now, &received(meta), None);
        if !self.is_reset_by(now, bytes.last_chunk().copied().map(ResetToken)) {
            self.on_stray(now, meta, id, size);
        }
        Ok(())
    }

    /// The connection, unless it has not begun or is forgotten.
    fn current(&mut self) -> Option<&mut Connection> {
        match &mut self.stage {
            Stage::Connected(connection) if !connection.is_closed() => Some(connection),
            Stage::Connected(_) | Stage::Waiting(_) | Stage::Moving => None,
        }
    }

    fn step(
        &mut self,
        now: SimTime,
        outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        if !self.answers.is_empty() {
            outbox.packets.append(&mut self.answers);
        }
        if let Stage::Waiting(parts) = &self.stage {
            if parts.role == Role::Server {
                return Ok(None);
            }
            if now < self.start {
                return Ok(Some(self.start));
            }
            self.connect(now, |parts| {
                let local = &mut parts.addresses.local;
                if let Some(address) = parts.interfaces.choose(local.ip()) {
                    local.set_ip(address);
                }
            })?;
            if let Stage::Connected(connection) = &mut self.stage {
                connection.start(now);
            }
        }
        let Stage::Connected(connection) = &mut self.stage else { return Ok(None) };
        connection.begin_holds(now);
        connection.on_timer(now);
        while let Some(transmit) = connection.transmit(now)? {
            if let Some(packet) = packet(now, connection, transmit) {
                outbox.packets.push(packet);
            }
        }
        let timer = connection.timer(now);
        let attempts = if self.attempts.is_empty() {
            None
        } else {
            step_attempts(&mut self.attempts, now, outbox)?
        };
        connection.log_recovery(now);
        connection.take_outcomes(outbox);
        if let Some(loss) = connection.lost().filter(|_| !self.silent) {
            outbox.events.push(loss.event());
            self.silent = true;
        }
        // A timer may lie at this very instant if what it waited for cannot be sent; time must move.
        let next = SimTime::from_nanos(now.as_nanos() + 1);
        let timer = match (timer, attempts) {
            (Some(timer), Some(other)) => Some(timer.min(other)),
            (timer, other) => timer.or(other),
        };
        Ok(timer.map(|timer| timer.max(next)))
    }
}

/// The route that a packet came over.
fn route(meta: &Meta) -> FourTuple {
    FourTuple { local: meta.destination, remote: meta.source }
}

/// The datagram in a packet, but for its payload.
fn received(meta: &Meta) -> RecvMeta {
    let size = meta.size.get() - IPV4_UDP_HEADER.get();
    RecvMeta { tuple: route(meta), size, ecn: meta.ecn }
}

/// The packet that carries a datagram; none if it cannot be protected any more.
#[inline]
fn packet(now: SimTime, connection: &mut Connection, transmit: Transmit) -> Option<Packet> {
    let Transmit { source, destination, ecn, size, transmission, datagram } = transmit;
    let size = Bytes::new(size) + IPV4_UDP_HEADER;
    let meta = Meta::new(now, Protocol::Udp, source, destination, size).with_ecn(ecn);
    let meta = Meta { transmission, ..meta };
    if let Datagram::Packets(packets) = &*datagram {
        if connection.sends_bytes() {
            let body = Body::UdpBytes(connection.seal(now, packets, &Zeros)?);
            return Some(Packet { meta, body });
        }
        for packet in packets {
            connection.on_sent_unprotected(now, &packet.header);
        }
    }
    Some(Packet { meta, body: Body::Udp(datagram) })
}

impl Endpoint for QuicEndpoint {
    fn input(&mut self, now: SimTime, input: Input<'_>) -> Result<(), EndpointError> {
        let streams = match &mut self.stage {
            Stage::Connected(connection) => connection.streams_mut(),
            Stage::Waiting(parts) => &mut parts.streams,
            Stage::Moving => return Ok(()),
        };
        match input {
            Input::Message { stream, message } => streams.push(stream, message),
            Input::Finish => streams.finish(),
            // Nothing but QUIC is sent to a QUIC port; whatever else comes is dropped, as a host would.
            Input::Packet(Packet { meta, body }) => match std::mem::replace(body, Body::Filler) {
                Body::Udp(payload) => {
                    if let Some(datagram) = Datagram::from_payload(payload) {
                        self.receive(now, meta, datagram)?;
                    }
                }
                Body::UdpBytes(bytes) => {
                    let known = self.connection();
                    if !known.is_some_and(|connection| connection.ignores(meta.source)) {
                        self.receive_bytes(now, meta, bytes)?;
                    }
                }
                Body::Tcp(_) | Body::Datagram(_) | Body::Raw(_) | Body::Filler => {}
            },
            Input::Interface(change) => match &mut self.stage {
                Stage::Connected(connection) => {
                    connection.on_interface(now, change);
                    self.restart(now)?;
                }
                Stage::Waiting(parts) => parts.interfaces.change(change),
                Stage::Moving => {}
            },
            Input::Forecast(forecast) => {
                if let Stage::Connected(connection) = &mut self.stage {
                    connection.on_forecast(now, &forecast);
                }
            }
        }
        Ok(())
    }

    fn poll(
        &mut self,
        now: SimTime,
        outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        let wake = self.step(now, outbox);
        if let Stage::Connected(connection) = &mut self.stage {
            connection.check(now)?;
        }
        wake
    }

    fn sample_paths(&self, _now: SimTime, samples: &mut Vec<PathSample>) {
        if let Some(connection) = self.connection().filter(|connection| connection.lost().is_none())
        {
            connection.sample_paths(samples);
        }
    }

    fn sample_former_paths(&self, samples: &mut Vec<PathSample>) {
        if let Some(connection) = self.connection().filter(|connection| connection.lost().is_none())
        {
            connection.sample_former_paths(samples);
        }
    }

    fn paths(&self, paths: &mut Vec<PathAddresses>) {
        self.list_paths(paths);
    }

    fn send_buffer(&self) -> Option<&SendBuffer> {
        match &self.stage {
            Stage::Connected(connection) => connection.streams().send_buffer(),
            Stage::Waiting(parts) => parts.streams.send_buffer(),
            Stage::Moving => None,
        }
    }

    fn totals(&self) -> Totals {
        let mut totals = self.connection().map_or_else(Totals::default, Connection::totals);
        totals += self.totals;
        self.attempts.iter().for_each(|attempt| totals += attempt.totals());
        totals
    }

    fn rtts(&self) -> LogHistogram {
        self.connection().map_or_else(LogHistogram::new, Connection::rtts)
    }

    fn lost(&self) -> Option<&Loss> {
        self.connection().and_then(Connection::lost)
    }

    fn finish(&mut self, now: SimTime) -> Result<(), EndpointError> {
        if let Some(writer) = self.qlog.take() {
            // The connection never began: its trace is empty.
            let trace = Trace::new(writer, self.role, PathId::default(), None).flush();
            trace.map_err(|error| EndpointError::Qlog(error.to_string()))?;
        }
        let Stage::Connected(connection) = &mut self.stage else { return Ok(()) };
        connection.finish();
        connection.finish_qlog()?;
        connection.check(now)
    }
}
