//! A handshake of the flights and sizes of TLS 1.3 that protects nothing, so that runs repeat bit for bit and cost no cipher.
//! A stack with its own TLS has no such file.

use std::any::Any;
use std::sync::Arc;

use bytes::BytesMut;
use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey,
    HmacKey, KeyPair, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};

/// Bytes of an AEAD's tag.
const TAG: usize = 16;
/// Bytes of the four messages, as of TLS 1.3 with a short certificate chain.
const CLIENT_HELLO: usize = 300;
const SERVER_HELLO: usize = 90;
const SERVER_FLIGHT: usize = 2_400;
const CLIENT_FINISHED: usize = 36;

/// The configuration of either side, and all its keys.
pub struct NullTls;

impl NullTls {
    fn session(side: Side, parameters: &TransportParameters) -> Box<dyn Session> {
        let mut written = Vec::new();
        parameters.write(&mut written);
        Box::new(NullSession { side, step: 0, own: written, incoming: Vec::new(), peer: None })
    }
}

impl ClientConfig for NullTls {
    fn start_session(
        self: Arc<Self>,
        _: u32,
        _: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Self::session(Side::Client, parameters))
    }
}

impl ServerConfig for NullTls {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(
        self: Arc<Self>,
        _: u32,
        parameters: &TransportParameters,
    ) -> Box<dyn Session> {
        Self::session(Side::Server, parameters)
    }
}

/// One side of a handshake. The client's steps: hello, wait, Handshake keys, wait, Finished. The server's: wait, hello, flight, wait.
struct NullSession {
    side: Side,
    /// Steps done.
    step: u8,
    own: Vec<u8>,
    incoming: Vec<u8>,
    peer: Option<Vec<u8>>,
}

impl NullSession {
    /// Appends a message: its length, the length of the transport parameters in it, those, and zeroes.
    fn write(&self, buffer: &mut Vec<u8>, size: usize, parameters: &[u8]) {
        let end = buffer.len() + size.max(8 + parameters.len());
        buffer.extend_from_slice(&((end - buffer.len()) as u32).to_be_bytes());
        buffer.extend_from_slice(&(parameters.len() as u32).to_be_bytes());
        buffer.extend_from_slice(parameters);
        buffer.resize(end, 0);
    }

    /// Takes out the next whole message; the transport parameters in it.
    fn read(&mut self) -> Option<Vec<u8>> {
        let number = |at: usize| {
            let bytes = self.incoming.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_be_bytes(bytes) as usize)
        };
        let (size, length) = (number(0)?, number(4)?);
        let message = self.incoming.get(..size)?.get(8..8 + length)?.to_vec();
        self.incoming.drain(..size);
        Some(message)
    }

    fn is_done(&self) -> bool {
        self.step == if self.side.is_client() { 5 } else { 4 }
    }
}

impl Session for NullSession {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
        keys()
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
        !self.is_done()
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        self.incoming.extend_from_slice(bytes);
        while let Some(parameters) = self.read() {
            match (self.side, self.step) {
                (Side::Server, 0) | (Side::Client, 3) => self.peer = Some(parameters),
                (Side::Server, 3) | (Side::Client, 1) => {}
                _ => return Err(TransportErrorCode::PROTOCOL_VIOLATION.into()),
            }
            self.step += 1;
        }
        Ok(false)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let Some(peer) = &self.peer else { return Ok(None) };
        let read = TransportParameters::read(self.side, &mut &peer[..]);
        read.map(Some).map_err(|_| TransportErrorCode::TRANSPORT_PARAMETER_ERROR.into())
    }

    fn write_handshake(&mut self, buffer: &mut Vec<u8>) -> Option<Keys> {
        let new_keys = match (self.side, self.step) {
            (Side::Client, 0) => {
                self.write(buffer, CLIENT_HELLO, &self.own);
                false
            }
            (Side::Client, 2) => true,
            (Side::Client, 4) => {
                self.write(buffer, CLIENT_FINISHED, &[]);
                true
            }
            (Side::Server, 1) => {
                self.write(buffer, SERVER_HELLO, &[]);
                true
            }
            (Side::Server, 2) => {
                self.write(buffer, SERVER_FLIGHT, &self.own);
                true
            }
            _ => return None,
        };
        self.step += 1;
        new_keys.then(keys)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(keys().packet)
    }

    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
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

fn keys() -> Keys {
    Keys {
        header: KeyPair { local: Box::new(NullTls), remote: Box::new(NullTls) },
        packet: KeyPair { local: Box::new(NullTls), remote: Box::new(NullTls) },
    }
}

impl PacketKey for NullTls {
    fn encrypt(&self, packet: u64, buffer: &mut [u8], _header: usize) {
        let end = buffer.len() - TAG;
        buffer[end..].copy_from_slice(&tag(packet));
    }

    fn decrypt(&self, packet: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let end = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        if payload[end..] != tag(packet) {
            return Err(CryptoError);
        }
        payload.truncate(end);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

/// The number of a packet, by which a wrongly guessed one is told.
fn tag(packet: u64) -> [u8; TAG] {
    u128::from(packet).to_be_bytes()
}

impl HeaderKey for NullTls {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        16
    }
}

/// Signs stateless resets and tokens with a number of its own.
pub struct NullKey(pub u64);

impl HmacKey for NullKey {
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        let hash = data.iter().fold(self.0, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3) // FNV-1a.
        });
        for (out, byte) in signature.iter_mut().zip(hash.to_be_bytes().iter().cycle()) {
            *out = *byte;
        }
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut expected = vec![0; signature.len()];
        self.sign(data, &mut expected);
        if expected == signature { Ok(()) } else { Err(CryptoError) }
    }
}

impl HandshakeTokenKey for NullKey {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Self(self.0))
    }
}

impl AeadKey for NullKey {
    fn seal(&self, _: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        Ok(data)
    }
}
