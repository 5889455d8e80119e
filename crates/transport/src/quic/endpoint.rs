//! One end of a QUIC flow as an [`Endpoint`].

use bytes::BytesMut;
use leobench_base::packet::IPV4_UDP_HEADER;
use leobench_base::quic::{
    ConnectionId, Datagram, Header, Incoming, Level, Packet as QuicPacket, ResetToken, Zeros,
};
use leobench_base::{Body, Bytes, LogHistogram, Meta, Packet, Protocol, SimTime};

use super::cids::ID_SIZE;
use super::config;
use super::connection::{Connection, Parts, Transmit};
use super::role::{QuicConfig, Role};
use crate::buffer::SendBuffer;
use crate::endpoint::{Endpoint, EndpointError, Input, Loss, Outbox, PathSample, Totals};

/// Datagrams whose first packet is a client's first are at least this large, or ignored (RFC 9000 section 14.1).
const SMALLEST_INITIAL: u64 = 1_200;

/// One end of a QUIC connection. Its packets travel as structs, or as bytes if they are encrypted.
pub struct QuicEndpoint {
    start: SimTime,
    stage: Stage,
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
        let start = config.start;
        let parts = config::parts(config)?;
        Ok(Self { start, stage: Stage::Waiting(Box::new(parts)), silent: false })
    }

    /// Puts another controller in the place of the one that the specification names, before the connection begins.
    #[cfg(test)]
    pub(crate) fn set_controller(&mut self, algorithm: Box<dyn crate::CongestionControl>) {
        if let Stage::Waiting(parts) = &mut self.stage {
            parts.control.replace(algorithm);
        }
    }

    /// Lets packets travel as bytes, as another implementation needs them.
    #[cfg(test)]
    pub(crate) fn send_bytes(&mut self) {
        if let Stage::Waiting(parts) = &mut self.stage {
            parts.as_bytes = true;
        }
    }

    /// Changes what the connection will be made of, before it begins.
    #[cfg(test)]
    pub(in crate::quic) fn prepare(&mut self, change: impl FnOnce(&mut Parts)) {
        if let Stage::Waiting(parts) = &mut self.stage {
            change(parts);
        }
    }

    /// The connection, which has begun.
    #[cfg(test)]
    pub(in crate::quic) fn connection_mut(&mut self) -> &mut Connection {
        match &mut self.stage {
            Stage::Connected(connection) => connection,
            Stage::Waiting(_) | Stage::Moving => panic!("no connection yet"),
        }
    }

    fn connection(&self) -> Option<&Connection> {
        match &self.stage {
            Stage::Connected(connection) => Some(connection),
            Stage::Waiting(_) | Stage::Moving => None,
        }
    }

    /// Begins the connection, with parts that `fit` completes.
    fn connect(&mut self, now: SimTime, fit: impl FnOnce(&mut Parts)) -> Result<(), EndpointError> {
        if let Stage::Waiting(mut parts) = std::mem::replace(&mut self.stage, Stage::Moving) {
            fit(&mut parts);
            let connection = Connection::new(*parts, now);
            let connection = connection
                .map_err(|error| EndpointError::Stack { at: now, problem: error.to_string() })?;
            self.stage = Stage::Connected(Box::new(connection));
        }
        Ok(())
    }

    fn receive(
        &mut self,
        now: SimTime,
        meta: &Meta,
        datagram: Datagram,
    ) -> Result<(), EndpointError> {
        let size = meta.size.get() - IPV4_UDP_HEADER.get();
        match datagram {
            Datagram::Packets(packets) => self.receive_packets(now, meta, size, &packets)?,
            Datagram::Retry { source, token, .. } => {
                if let Stage::Connected(connection) = &mut self.stage {
                    connection.on_retry(now, source, &token);
                }
            }
            Datagram::VersionNegotiation { versions, .. } => {
                if let Stage::Connected(connection) = &mut self.stage {
                    connection.on_version_negotiation(now, &versions);
                }
            }
            Datagram::Bytes(bytes) => self.receive_bytes(now, meta, bytes)?,
            Datagram::StatelessReset(bytes) => {
                if let (Stage::Connected(connection), Some(token)) =
                    (&mut self.stage, bytes.last_chunk())
                {
                    connection.on_stateless_reset(now, ResetToken(*token));
                }
            }
        }
        Ok(())
    }

    fn receive_packets(
        &mut self,
        now: SimTime,
        meta: &Meta,
        size: u64,
        packets: &[QuicPacket],
    ) -> Result<(), EndpointError> {
        if let Stage::Waiting(parts) = &self.stage {
            let Some(Header::Initial { destination, source, .. }) =
                packets.first().map(|packet| &packet.header)
            else {
                return Ok(());
            };
            if parts.role == Role::Client || size < SMALLEST_INITIAL {
                return Ok(());
            }
            let (destination, source) = (*destination, *source);
            self.connect(now, |parts| accept(parts, destination, source, meta))?;
        }
        let Stage::Connected(connection) = &mut self.stage else { return Ok(()) };
        connection.on_datagram(now, size);
        for packet in packets {
            connection.on_packet(now, meta.ecn, packet);
        }
        Ok(())
    }

    fn receive_bytes(
        &mut self,
        now: SimTime,
        meta: &Meta,
        bytes: BytesMut,
    ) -> Result<(), EndpointError> {
        if let Stage::Waiting(parts) = &self.stage {
            let Some(Incoming::Packet(header)) = Incoming::decode(&bytes, ID_SIZE) else {
                return Ok(());
            };
            let initial = header.level == Level::Initial && bytes.len() as u64 >= SMALLEST_INITIAL;
            if parts.role == Role::Client || !initial {
                return Ok(());
            }
            self.connect(now, |parts| accept(parts, header.destination, header.source, meta))?;
        }
        if let Stage::Connected(connection) = &mut self.stage {
            connection.on_bytes(now, meta.ecn, bytes, &Zeros);
        }
        Ok(())
    }

    fn step(
        &mut self,
        now: SimTime,
        outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        if let Stage::Waiting(parts) = &self.stage {
            if parts.role == Role::Server {
                return Ok(None);
            }
            if now < self.start {
                return Ok(Some(self.start));
            }
            self.connect(now, |_| ())?;
            if let Stage::Connected(connection) = &mut self.stage {
                connection.start(now);
            }
        }
        let Stage::Connected(connection) = &mut self.stage else { return Ok(None) };
        if connection.timer(now).is_some_and(|timer| timer <= now) {
            connection.on_timer(now);
        }
        while let Some(transmit) = connection.transmit(now)? {
            outbox.packets.extend(packet(now, connection, transmit));
        }
        connection.streams_mut().take_reports(&mut outbox.reports);
        connection.take_events(&mut outbox.events);
        outbox.verdicts.append(connection.verdicts_mut());
        if let Some(loss) = connection.lost().filter(|_| !self.silent) {
            outbox.events.push(loss.event());
            self.silent = true;
        }
        // A timer may lie at this very instant if what it waited for cannot be sent; time must move.
        let next = SimTime::from_nanos(now.as_nanos() + 1);
        Ok(connection.timer(now).map(|timer| timer.max(next)))
    }
}

/// Fits the parts of a server to a client's first packet.
fn accept(parts: &mut Parts, destination: ConnectionId, source: ConnectionId, meta: &Meta) {
    parts.original_destination = destination;
    parts.remote_id = source;
    parts.addresses = (meta.destination, meta.source);
}

/// The packet that carries a datagram; none if it cannot be protected any more.
fn packet(now: SimTime, connection: &mut Connection, transmit: Transmit) -> Option<Packet> {
    let Transmit { source, destination, ecn, size, transmission, packets } = transmit;
    let size = Bytes::new(size) + IPV4_UDP_HEADER;
    let meta = Meta::new(now, Protocol::Udp, source, destination, size).with_ecn(ecn);
    let meta = Meta { transmission, ..meta };
    let datagram = if connection.sends_bytes() {
        Datagram::Bytes(connection.seal(now, &packets, &Zeros)?)
    } else {
        for packet in &packets {
            connection.on_sent_unprotected(now, &packet.header);
        }
        Datagram::Packets(packets)
    };
    Some(Packet { meta, body: Body::Quic(Box::new(datagram)) })
}

impl Endpoint for QuicEndpoint {
    fn input(&mut self, now: SimTime, input: Input) -> Result<(), EndpointError> {
        let streams = match &mut self.stage {
            Stage::Connected(connection) => connection.streams_mut(),
            Stage::Waiting(parts) => &mut parts.streams,
            Stage::Moving => return Ok(()),
        };
        match input {
            Input::Message { stream, message } => streams.push(stream, message),
            Input::Finish => streams.finish(),
            Input::Packet(Packet { meta, body: Body::Quic(datagram) }) => {
                self.receive(now, &meta, *datagram)?;
            }
            // Nothing but QUIC is sent to a QUIC port; whatever else comes is dropped, as a host would.
            Input::Packet(_) | Input::Interface(_) => {}
            Input::Hint(hint) => {
                if let Stage::Connected(connection) = &mut self.stage {
                    connection.control_mut().on_hint(&hint);
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

    fn send_buffer(&self) -> Option<&SendBuffer> {
        match &self.stage {
            Stage::Connected(connection) => connection.streams().send_buffer(),
            Stage::Waiting(parts) => parts.streams.send_buffer(),
            Stage::Moving => None,
        }
    }

    fn totals(&self) -> Totals {
        self.connection().map_or_else(Totals::default, Connection::totals)
    }

    fn rtts(&self) -> LogHistogram {
        self.connection().map_or_else(LogHistogram::new, Connection::rtts)
    }

    fn lost(&self) -> Option<&Loss> {
        self.connection().and_then(Connection::lost)
    }

    fn finish(&mut self, now: SimTime) -> Result<(), EndpointError> {
        let Stage::Connected(connection) = &mut self.stage else { return Ok(()) };
        connection.finish();
        connection.check(now)
    }
}
