//! Transport parameters (RFC 9000 section 18).

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};

use super::connection_id::{ConnectionId, ResetToken};
use super::decode::MAX_STREAMS;
use super::error::{ErrorCode, TransportError};
use super::reader::Reader;
use super::{varint_size, write_varint};

/// Identifiers (RFC 9000 section 18.2, RFC 9221 section 3, draft-ietf-quic-ack-frequency section 3,
/// draft-ietf-quic-multipath section 2.1).
mod ids {
    pub(super) const ORIGINAL_DESTINATION: u64 = 0x00;
    pub(super) const MAX_IDLE_TIMEOUT: u64 = 0x01;
    pub(super) const STATELESS_RESET_TOKEN: u64 = 0x02;
    pub(super) const MAX_UDP_PAYLOAD_SIZE: u64 = 0x03;
    pub(super) const INITIAL_MAX_DATA: u64 = 0x04;
    pub(super) const INITIAL_MAX_STREAM_DATA_BIDI_LOCAL: u64 = 0x05;
    pub(super) const INITIAL_MAX_STREAM_DATA_BIDI_REMOTE: u64 = 0x06;
    pub(super) const INITIAL_MAX_STREAM_DATA_UNI: u64 = 0x07;
    pub(super) const INITIAL_MAX_STREAMS_BIDI: u64 = 0x08;
    pub(super) const INITIAL_MAX_STREAMS_UNI: u64 = 0x09;
    pub(super) const ACK_DELAY_EXPONENT: u64 = 0x0a;
    pub(super) const MAX_ACK_DELAY: u64 = 0x0b;
    pub(super) const DISABLE_ACTIVE_MIGRATION: u64 = 0x0c;
    pub(super) const PREFERRED_ADDRESS: u64 = 0x0d;
    pub(super) const ACTIVE_CONNECTION_ID_LIMIT: u64 = 0x0e;
    pub(super) const INITIAL_SOURCE: u64 = 0x0f;
    pub(super) const RETRY_SOURCE: u64 = 0x10;
    pub(super) const MAX_DATAGRAM_FRAME_SIZE: u64 = 0x20;
    pub(super) const INITIAL_MAX_PATH_ID: u64 = 0x3e;
    pub(super) const MIN_ACK_DELAY: u64 = 0xff04_de1b;
}

/// The transport parameters of one end. The default is that of an end that sends none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransportParameters {
    /// Destination connection ID of the client's first Initial packet. Servers only.
    pub original_destination: Option<ConnectionId>,
    /// Idle timeout in milliseconds; zero disables it.
    pub max_idle_timeout: u64,
    /// Token of stateless resets for the connection ID of the handshake. Servers only.
    pub stateless_reset_token: Option<ResetToken>,
    /// Largest UDP payload that this end receives, in bytes.
    pub max_udp_payload_size: u64,
    /// Initial flow-control limit of the connection, in bytes.
    pub initial_max_data: u64,
    /// Initial limit of bidirectional streams that this end opens, in bytes.
    pub initial_max_stream_data_bidi_local: u64,
    /// Initial limit of bidirectional streams that the peer opens, in bytes.
    pub initial_max_stream_data_bidi_remote: u64,
    /// Initial limit of unidirectional streams, in bytes.
    pub initial_max_stream_data_uni: u64,
    /// Bidirectional streams that the peer may open.
    pub initial_max_streams_bidi: u64,
    /// Unidirectional streams that the peer may open.
    pub initial_max_streams_uni: u64,
    /// Exponent of the ACK Delay field.
    pub ack_delay_exponent: u64,
    /// Longest delay of an acknowledgement, in milliseconds.
    pub max_ack_delay: u64,
    /// Whether the peer must not migrate from the address of the handshake.
    pub disable_active_migration: bool,
    /// Address that the server prefers after the handshake. Servers only.
    pub preferred_address: Option<PreferredAddress>,
    /// Connection IDs of the peer that this end stores.
    pub active_connection_id_limit: u64,
    /// Source connection ID of this end's first Initial packet.
    pub initial_source: Option<ConnectionId>,
    /// Source connection ID of the server's Retry packet. Servers only.
    pub retry_source: Option<ConnectionId>,
    /// Largest DATAGRAM frame that this end receives, in bytes; zero for none (RFC 9221).
    pub max_datagram_frame_size: u64,
    /// Shortest delay of acknowledgements that this end grants, in microseconds, if it understands `ACK_FREQUENCY`.
    pub min_ack_delay: Option<u64>,
    /// Largest path ID that the peer may use, if this end offers several paths.
    pub initial_max_path_id: Option<u32>,
}

/// A server's preferred address (RFC 9000 section 18.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreferredAddress {
    /// Its IPv4 address; all zeros for none.
    pub v4: SocketAddrV4,
    /// Its IPv6 address; all zeros for none.
    pub v6: SocketAddrV6,
    /// The connection ID to use there, with sequence number 1.
    pub id: ConnectionId,
    /// Its stateless reset token.
    pub token: ResetToken,
}

impl Default for TransportParameters {
    fn default() -> Self {
        Self {
            original_destination: None,
            max_idle_timeout: 0,
            stateless_reset_token: None,
            max_udp_payload_size: 65_527,
            initial_max_data: 0,
            initial_max_stream_data_bidi_local: 0,
            initial_max_stream_data_bidi_remote: 0,
            initial_max_stream_data_uni: 0,
            initial_max_streams_bidi: 0,
            initial_max_streams_uni: 0,
            ack_delay_exponent: 3,
            max_ack_delay: 25,
            disable_active_migration: false,
            preferred_address: None,
            active_connection_id_limit: 2,
            initial_source: None,
            retry_source: None,
            max_datagram_frame_size: 0,
            min_ack_delay: None,
            initial_max_path_id: None,
        }
    }
}

/// The connection IDs of a handshake, as its packets showed them (RFC 9000 section 7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandshakeIds {
    /// Source connection ID of the peer's first Initial packet.
    pub initial_source: ConnectionId,
    /// Connection IDs that the server must repeat. Known to clients only.
    pub server: Option<ServerIds>,
}

/// The connection IDs that a server must repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerIds {
    /// Destination connection ID of the client's first Initial packet.
    pub original_destination: ConnectionId,
    /// Source connection ID of the Retry packet, if there was one.
    pub retry_source: Option<ConnectionId>,
}

fn error(reason: impl Into<std::borrow::Cow<'static, str>>) -> TransportError {
    TransportError::new(ErrorCode::TRANSPORT_PARAMETER_ERROR, reason)
}

impl TransportParameters {
    /// The parameters that are plain numbers with a default, by identifier.
    fn numbers(&mut self) -> [(u64, &mut u64); 12] {
        [
            (ids::MAX_IDLE_TIMEOUT, &mut self.max_idle_timeout),
            (ids::MAX_UDP_PAYLOAD_SIZE, &mut self.max_udp_payload_size),
            (ids::INITIAL_MAX_DATA, &mut self.initial_max_data),
            (ids::INITIAL_MAX_STREAM_DATA_BIDI_LOCAL, &mut self.initial_max_stream_data_bidi_local),
            (
                ids::INITIAL_MAX_STREAM_DATA_BIDI_REMOTE,
                &mut self.initial_max_stream_data_bidi_remote,
            ),
            (ids::INITIAL_MAX_STREAM_DATA_UNI, &mut self.initial_max_stream_data_uni),
            (ids::INITIAL_MAX_STREAMS_BIDI, &mut self.initial_max_streams_bidi),
            (ids::INITIAL_MAX_STREAMS_UNI, &mut self.initial_max_streams_uni),
            (ids::ACK_DELAY_EXPONENT, &mut self.ack_delay_exponent),
            (ids::MAX_ACK_DELAY, &mut self.max_ack_delay),
            (ids::ACTIVE_CONNECTION_ID_LIMIT, &mut self.active_connection_id_limit),
            (ids::MAX_DATAGRAM_FRAME_SIZE, &mut self.max_datagram_frame_size),
        ]
    }

    /// Appends the extension's content. Parameters with their default value are left out.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut put = |id: u64, value: &[u8]| {
            write_varint(out, id);
            write_varint(out, value.len() as u64);
            out.extend_from_slice(value);
        };
        let connection_ids = [
            (ids::ORIGINAL_DESTINATION, self.original_destination),
            (ids::INITIAL_SOURCE, self.initial_source),
            (ids::RETRY_SOURCE, self.retry_source),
        ];
        for (id, value) in connection_ids {
            if let Some(value) = value {
                put(id, value.as_slice());
            }
        }
        if let Some(token) = self.stateless_reset_token {
            put(ids::STATELESS_RESET_TOKEN, &token.0);
        }
        if self.disable_active_migration {
            put(ids::DISABLE_ACTIVE_MIGRATION, &[]);
        }
        if let Some(address) = self.preferred_address {
            put(ids::PREFERRED_ADDRESS, &address.bytes());
        }
        let (mut own, mut defaults) = (self.clone(), Self::default());
        for ((id, value), (_, default)) in own.numbers().into_iter().zip(defaults.numbers()) {
            if value != default {
                write_number(out, id, *value);
            }
        }
        if let Some(delay) = self.min_ack_delay {
            write_number(out, ids::MIN_ACK_DELAY, delay);
        }
        if let Some(path) = self.initial_max_path_id {
            write_number(out, ids::INITIAL_MAX_PATH_ID, path.into());
        }
    }

    /// Reads the parameters that a client sent.
    ///
    /// # Errors
    /// `TRANSPORT_PARAMETER_ERROR` for malformed, repeated and invalid parameters, and for those of servers only.
    pub fn of_client(bytes: &[u8]) -> Result<Self, TransportError> {
        let params = Self::of_server(bytes)?;
        let of_servers = params.original_destination.is_some()
            || params.stateless_reset_token.is_some()
            || params.preferred_address.is_some()
            || params.retry_source.is_some();
        if of_servers {
            return Err(error("a client sent a parameter that only servers may send"));
        }
        Ok(params)
    }

    /// Reads the parameters that a server sent.
    ///
    /// # Errors
    /// `TRANSPORT_PARAMETER_ERROR` for malformed, repeated and invalid parameters.
    pub fn of_server(bytes: &[u8]) -> Result<Self, TransportError> {
        let mut params = Self::default();
        let mut seen = Vec::new();
        let mut reader = Reader::new(bytes);
        while !reader.is_empty() {
            let (Some(id), Some(value)) = (reader.varint(), reader.prefixed()) else {
                return Err(error("the parameters end within one"));
            };
            if seen.contains(&id) {
                return Err(error(format!("parameter {id:#x} twice")));
            }
            if params.set(id, Reader::new(value))? {
                seen.push(id);
            }
        }
        params.check()?;
        Ok(params)
    }

    /// Takes one parameter; whether it is known (others are ignored, RFC 9000 section 7.4.2).
    fn set(&mut self, id: u64, mut value: Reader<'_>) -> Result<bool, TransportError> {
        let malformed = || error(format!("parameter {id:#x} is malformed"));
        if let Some((_, number)) = self.numbers().into_iter().find(|(known, _)| *known == id) {
            *number = value.varint().ok_or_else(malformed)?;
        } else {
            let connection_id = |value: &mut Reader<'_>| {
                let bytes = value.take(value.remaining())?;
                ConnectionId::new(bytes)
            };
            match id {
                ids::ORIGINAL_DESTINATION => {
                    self.original_destination =
                        Some(connection_id(&mut value).ok_or_else(malformed)?);
                }
                ids::INITIAL_SOURCE => {
                    self.initial_source = Some(connection_id(&mut value).ok_or_else(malformed)?);
                }
                ids::RETRY_SOURCE => {
                    self.retry_source = Some(connection_id(&mut value).ok_or_else(malformed)?);
                }
                ids::STATELESS_RESET_TOKEN => {
                    self.stateless_reset_token =
                        Some(ResetToken(value.array().ok_or_else(malformed)?));
                }
                ids::DISABLE_ACTIVE_MIGRATION => self.disable_active_migration = true,
                ids::PREFERRED_ADDRESS => {
                    self.preferred_address =
                        Some(PreferredAddress::read(&mut value).ok_or_else(malformed)?);
                }
                ids::MIN_ACK_DELAY => {
                    self.min_ack_delay = Some(value.varint().ok_or_else(malformed)?);
                }
                ids::INITIAL_MAX_PATH_ID => {
                    let path = value.varint().ok_or_else(malformed)?;
                    self.initial_max_path_id = Some(path.try_into().map_err(|_| malformed())?);
                }
                _ => return Ok(false),
            }
        }
        if value.is_empty() { Ok(true) } else { Err(malformed()) }
    }

    /// The limits of RFC 9000 section 18.2 and draft-ietf-quic-ack-frequency section 3.
    fn check(&self) -> Result<(), TransportError> {
        let invalid =
            |name: &str, value: u64| Err(error(format!("{name} of {value} is out of range")));
        if self.max_udp_payload_size < 1_200 {
            return invalid("max_udp_payload_size", self.max_udp_payload_size);
        }
        for (name, streams) in [
            ("initial_max_streams_bidi", self.initial_max_streams_bidi),
            ("initial_max_streams_uni", self.initial_max_streams_uni),
        ] {
            if streams > MAX_STREAMS {
                return invalid(name, streams);
            }
        }
        if self.ack_delay_exponent > 20 {
            return invalid("ack_delay_exponent", self.ack_delay_exponent);
        }
        if self.max_ack_delay >= 1 << 14 {
            return invalid("max_ack_delay", self.max_ack_delay);
        }
        if self.active_connection_id_limit < 2 {
            return invalid("active_connection_id_limit", self.active_connection_id_limit);
        }
        if let Some(delay) = self.min_ack_delay
            && delay > self.max_ack_delay * 1_000
        {
            return invalid("min_ack_delay", delay);
        }
        if self.preferred_address.is_some_and(|address| address.id.size() == 0) {
            return Err(error("a preferred address without a connection ID"));
        }
        Ok(())
    }

    /// Checks the connection IDs in the peer's parameters against those of its packets (RFC 9000 section 7.3).
    ///
    /// # Errors
    /// `TRANSPORT_PARAMETER_ERROR` if one is absent, different, or there without cause.
    pub fn authenticate(&self, ids: &HandshakeIds) -> Result<(), TransportError> {
        if self.initial_source != Some(ids.initial_source) {
            return Err(error("initial_source_connection_id is not that of the packets"));
        }
        let Some(server) = &ids.server else { return Ok(()) };
        if self.original_destination != Some(server.original_destination) {
            return Err(error("original_destination_connection_id is not that of the packets"));
        }
        if self.retry_source != server.retry_source {
            return Err(error("retry_source_connection_id is not that of the packets"));
        }
        Ok(())
    }

    /// Whether a limit is smaller than it was, although 0-RTT data may have used it up (RFC 9000 section 7.4.1).
    pub(crate) fn reduces(&self, remembered: &Self) -> bool {
        let limits = |params: &Self| {
            [
                params.active_connection_id_limit,
                params.initial_max_data,
                params.initial_max_stream_data_bidi_local,
                params.initial_max_stream_data_bidi_remote,
                params.initial_max_stream_data_uni,
                params.initial_max_streams_bidi,
                params.initial_max_streams_uni,
                params.max_datagram_frame_size,
            ]
        };
        limits(self).into_iter().zip(limits(remembered)).any(|(now, then)| now < then)
    }
}

fn write_number(out: &mut Vec<u8>, id: u64, value: u64) {
    write_varint(out, id);
    write_varint(out, varint_size(value));
    write_varint(out, value);
}

impl PreferredAddress {
    fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(61);
        out.extend_from_slice(&self.v4.ip().octets());
        out.extend_from_slice(&self.v4.port().to_be_bytes());
        out.extend_from_slice(&self.v6.ip().octets());
        out.extend_from_slice(&self.v6.port().to_be_bytes());
        out.push(self.id.size() as u8);
        out.extend_from_slice(self.id.as_slice());
        out.extend_from_slice(&self.token.0);
        out
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let v4 = SocketAddrV4::new(Ipv4Addr::from(reader.u32()?), reader.u16()?);
        let v6 = SocketAddrV6::new(Ipv6Addr::from(reader.array::<16>()?), reader.u16()?, 0, 0);
        let len = usize::from(reader.u8()?);
        let id = ConnectionId::new(reader.take(len)?)?;
        Some(Self { v4, v6, id, token: ResetToken(reader.array()?) })
    }
}
