//! A handshake and packet protection that keep every size of TLS 1.3 (RFC 8446) and QUIC-TLS (RFC 9001) and leave
//! the content alone, so that a run is repeatable bit for bit and costs no cipher.

use std::any::Any;
use std::sync::Arc;

use bytes::BytesMut;
use leobench_quic::wire::{TAG_SIZE, null_tag};
use leobench_quic::{NullHandshake, NullKeys};
use leobench_transport::Role;
use noq_proto::crypto::{
    ClientConfig, CryptoError, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey,
    ServerConfig, Session, UnsupportedVersion,
};
use noq_proto::transport_parameters::TransportParameters;
use noq_proto::{ConnectError, ConnectionId, PathId, Side, TransportError, TransportErrorCode};

use super::level::Level;
use super::tap::Tap;

/// Configuration of either side; whatever is protected or unprotected is shown to `tap`.
#[derive(Debug)]
pub(super) struct NullTls {
    pub(super) tap: Arc<Tap>,
}

impl NullTls {
    fn session(&self, side: Side, params: &TransportParameters) -> Box<dyn Session> {
        let mut written = Vec::new();
        params.write(&mut written);
        let role = match side {
            Side::Client => Role::Client,
            Side::Server => Role::Server,
        };
        let handshake = NullHandshake::new(role, written);
        Box::new(NullSession { side, handshake, tap: Arc::clone(&self.tap) })
    }
}

impl ClientConfig for NullTls {
    fn start_session(
        &self,
        _version: u32,
        _server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(self.session(Side::Client, params))
    }
}

impl ServerConfig for NullTls {
    fn initial_keys(&self, _: u32, _: ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys(&self.tap, Level::Initial))
    }

    fn retry_tag(&self, _: u32, _: ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(&self, _version: u32, params: &TransportParameters) -> Box<dyn Session> {
        self.session(Side::Server, params)
    }
}

/// A session outside of any connection, for the tests of stacks that speak to this one.
#[cfg(any(test, feature = "testing"))]
pub fn null_session(side: Side, params: &TransportParameters) -> Box<dyn Session> {
    NullTls { tap: Arc::new(Tap::new(0, None)) }.session(side, params)
}

struct NullSession {
    side: Side,
    handshake: NullHandshake,
    tap: Arc<Tap>,
}

impl Session for NullSession {
    fn initial_keys(&self, _: ConnectionId, _: Side) -> Keys {
        keys(&self.tap, Level::Initial)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        !self.handshake.is_done()
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        let violation = TransportErrorCode::PROTOCOL_VIOLATION;
        self.handshake.receive(buf).map_err(|reason| TransportError::new(violation, reason))
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let Some(mut params) = self.handshake.received_params() else { return Ok(None) };
        let read = TransportParameters::read(self.side, &mut params);
        read.map(Some).map_err(|error| {
            TransportError::new(TransportErrorCode::TRANSPORT_PARAMETER_ERROR, error.to_string())
        })
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let level = match self.handshake.send(buf)? {
            NullKeys::Handshake => Level::Handshake,
            NullKeys::OneRtt => Level::OneRtt,
        };
        Some(keys(&self.tap, level))
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(keys(&self.tap, Level::OneRtt).packet)
    }

    fn is_valid_retry(&self, _: ConnectionId, _: &[u8], _: &[u8]) -> bool {
        true
    }

    fn export_keying_material(
        &self,
        _: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

fn keys(tap: &Arc<Tap>, level: Level) -> Keys {
    let packet = || Box::new(NullPacketKey { tap: Arc::clone(tap), level });
    Keys {
        header: KeyPair { local: Box::new(NullHeaderKey), remote: Box::new(NullHeaderKey) },
        packet: KeyPair { local: packet(), remote: packet() },
    }
}

struct NullPacketKey {
    tap: Arc<Tap>,
    level: Level,
}

impl PacketKey for NullPacketKey {
    fn encrypt(&self, _path: PathId, packet: u64, buf: &mut [u8], header_len: usize) {
        let end = buf.len() - TAG_SIZE as usize;
        self.tap.on_sent(self.level, packet, buf.len(), &buf[header_len..end]);
        buf[end..].copy_from_slice(&null_tag(packet));
    }

    fn decrypt(
        &self,
        _path: PathId,
        packet: u64,
        header: &[u8],
        payload: &mut BytesMut,
    ) -> Result<(), CryptoError> {
        let size = header.len() + payload.len();
        let (content, tag) = payload.split_last_chunk().ok_or(CryptoError)?;
        let end = content.len();
        if *tag != null_tag(packet) {
            return Err(CryptoError);
        }
        payload.truncate(end);
        self.tap.on_received(self.level, packet, size, payload);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG_SIZE as usize
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

struct NullHeaderKey;

impl HeaderKey for NullHeaderKey {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    /// As AES and `ChaCha20` header protection sample (RFC 9001 section 5.4.2).
    fn sample_size(&self) -> usize {
        16
    }
}
