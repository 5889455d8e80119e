//! A handshake and packet protection that keep every size of TLS 1.3 (RFC 8446) and QUIC-TLS (RFC 9001) and leave
//! the content alone, so that a run is repeatable bit for bit and costs no cipher.

use std::any::Any;
use std::sync::Arc;

use bytes::{Buf, BytesMut};
use leobench_quic::wire::{TAG_SIZE, null_tag};
use leobench_transport::handshake_sizes::{
    CLIENT_FINISHED, CLIENT_HELLO, SERVER_FLIGHT, SERVER_HELLO,
};
use noq_proto::crypto::{
    ClientConfig, CryptoError, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey,
    ServerConfig, Session, UnsupportedVersion,
};
use noq_proto::transport_parameters::TransportParameters;
use noq_proto::{ConnectError, ConnectionId, PathId, Side, TransportError, TransportErrorCode};

use super::level::Level;
use super::tap::Tap;

/// Bytes in front of every message, ours: its length and the length of the transport parameters in it, four bytes each.
const PREFIX: usize = 8;

/// Configuration of either side; whatever is protected or unprotected is shown to `tap`.
#[derive(Debug)]
pub(super) struct NullTls {
    pub(super) tap: Arc<Tap>,
}

impl NullTls {
    fn session(&self, side: Side, params: &TransportParameters) -> Box<dyn Session> {
        let mut written = Vec::new();
        params.write(&mut written);
        Box::new(NullSession {
            side,
            step: Step::Hello,
            params: written,
            incoming: BytesMut::new(),
            peer_params: None,
            tap: Arc::clone(&self.tap),
        })
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

/// How far a side has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Client: to send its hello. Server: to receive it.
    Hello,
    /// Client: to receive the server's hello. Server: to send its own.
    ServerHello,
    /// Client: to take up handshake keys. Server: to send the rest of its flight.
    Keys,
    /// Client: to receive the server's flight. Server: to receive the client's Finished.
    Flight,
    /// Client: to send Finished.
    Finished,
    /// Nothing left to do.
    Done,
}

struct NullSession {
    side: Side,
    step: Step,
    params: Vec<u8>,
    incoming: BytesMut,
    peer_params: Option<Vec<u8>>,
    tap: Arc<Tap>,
}

impl NullSession {
    /// Appends a message of `size` bytes (more if it must) that carries the transport parameters or nothing.
    fn write_message(&self, buf: &mut Vec<u8>, size: usize, with_params: bool) {
        let params: &[u8] = if with_params { &self.params } else { &[] };
        let size = size.max(PREFIX + params.len());
        let end = buf.len() + size;
        buf.extend_from_slice(&(size as u32).to_be_bytes());
        buf.extend_from_slice(&(params.len() as u32).to_be_bytes());
        buf.extend_from_slice(params);
        buf.resize(end, 0);
    }

    /// Takes the next whole message out of what came in; its transport parameters.
    fn read_message(&mut self) -> Option<Vec<u8>> {
        let prefix = self.incoming.get(..PREFIX)?;
        let size = u32::from_be_bytes(prefix[..4].try_into().ok()?) as usize;
        let params = u32::from_be_bytes(prefix[4..].try_into().ok()?) as usize;
        if self.incoming.len() < size {
            return None;
        }
        let mut message = self.incoming.split_to(size);
        message.advance(PREFIX);
        Some(message.get(..params)?.to_vec())
    }
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
        self.step != Step::Done
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.incoming.extend_from_slice(buf);
        let mut ready = false;
        while let Some(params) = self.read_message() {
            self.step = match (self.side, self.step) {
                (Side::Server, Step::Hello) => {
                    self.peer_params = Some(params);
                    ready = true;
                    Step::ServerHello
                }
                (Side::Client, Step::ServerHello) => Step::Keys,
                (Side::Client, Step::Flight) => {
                    self.peer_params = Some(params);
                    ready = true;
                    Step::Finished
                }
                (Side::Server, Step::Flight) => Step::Done,
                (_, step) => {
                    let reason = format!("handshake message out of place: {step:?}");
                    return Err(TransportError::new(
                        TransportErrorCode::PROTOCOL_VIOLATION,
                        reason,
                    ));
                }
            };
        }
        Ok(ready)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let Some(params) = &self.peer_params else { return Ok(None) };
        let read = TransportParameters::read(self.side, &mut params.as_slice());
        read.map(Some).map_err(|error| {
            TransportError::new(TransportErrorCode::TRANSPORT_PARAMETER_ERROR, error.to_string())
        })
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        match (self.side, self.step) {
            (Side::Client, Step::Hello) => {
                self.write_message(buf, CLIENT_HELLO, true);
                self.step = Step::ServerHello;
                None
            }
            (Side::Server, Step::ServerHello) => {
                self.write_message(buf, SERVER_HELLO, false);
                self.step = Step::Keys;
                Some(keys(&self.tap, Level::Handshake))
            }
            (Side::Client, Step::Keys) => {
                self.step = Step::Flight;
                Some(keys(&self.tap, Level::Handshake))
            }
            (Side::Server, Step::Keys) => {
                self.write_message(buf, SERVER_FLIGHT, true);
                self.step = Step::Flight;
                Some(keys(&self.tap, Level::OneRtt))
            }
            (Side::Client, Step::Finished) => {
                self.write_message(buf, CLIENT_FINISHED, false);
                self.step = Step::Done;
                Some(keys(&self.tap, Level::OneRtt))
            }
            _ => None,
        }
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
