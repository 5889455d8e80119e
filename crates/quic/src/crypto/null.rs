//! A handshake that keeps the flights and sizes of TLS 1.3 and protects nothing.

use leobench_transport::Role;
use leobench_transport::handshake_sizes::{
    CLIENT_FINISHED, CLIENT_HELLO, SERVER_FLIGHT, SERVER_HELLO,
};

use super::handshake::{Handshake, KeyChange, check_level, reading};
use super::keys::{Keys, Next};
use crate::wire::{ErrorCode, Level, TransportError};

/// Bytes in front of every message: its length and the length of the transport parameters in it, four bytes each.
const PREFIX: usize = 8;
/// Longest message that is accepted; our own are shorter unless the transport parameters are absurd.
const MAX_MESSAGE: usize = 1 << 16;

/// How far an end has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Client: to send its hello. Server: to receive it.
    Hello,
    /// Client: to receive the server's hello. Server: to send its own.
    ServerHello,
    /// Client: to yield Handshake keys. Server: to send the rest of its flight.
    Keys,
    /// Client: to receive the server's flight. Server: to receive the client's Finished.
    Flight,
    /// Client: to send Finished.
    Finished,
    /// Nothing left to do.
    Done,
}

/// Keys that a step of the handshake yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NullKeys {
    /// Those of Handshake packets.
    Handshake,
    /// Those of 1-RTT packets.
    OneRtt,
}

/// One end of a null handshake, for any QUIC stack.
#[derive(Debug)]
pub struct NullHandshake {
    role: Role,
    step: Step,
    params: Vec<u8>,
    incoming: Vec<u8>,
    peer_params: Option<Vec<u8>>,
}

impl NullHandshake {
    /// The end in this role, with its encoded transport parameters.
    pub const fn new(role: Role, params: Vec<u8>) -> Self {
        Self { role, step: Step::Hello, params, incoming: Vec::new(), peer_params: None }
    }

    fn has_handshake_keys(&self) -> bool {
        match (self.role, self.step) {
            (_, Step::Hello | Step::ServerHello) | (Role::Client, Step::Keys) => false,
            (_, Step::Keys | Step::Flight | Step::Finished | Step::Done) => true,
        }
    }

    /// Appends a message of `size` bytes (more if it must) that carries the transport parameters or nothing.
    fn write_message(&self, out: &mut Vec<u8>, size: usize, with_params: bool) {
        let params: &[u8] = if with_params { &self.params } else { &[] };
        let size = size.max(PREFIX + params.len());
        let end = out.len() + size;
        out.extend_from_slice(&(size as u32).to_be_bytes());
        out.extend_from_slice(&(params.len() as u32).to_be_bytes());
        out.extend_from_slice(params);
        out.resize(end, 0);
    }

    /// Takes the next whole message out of the received bytes; the transport parameters in it.
    fn read_message(&mut self) -> Result<Option<Vec<u8>>, String> {
        let Some(([size, params], rest)) = split_prefix(&self.incoming) else { return Ok(None) };
        if size > MAX_MESSAGE || PREFIX + params > size {
            return Err(format!("a null handshake message of {size} bytes with {params} in it"));
        }
        let Some(message) = rest.get(..size - PREFIX) else { return Ok(None) };
        let params = message[..params].to_vec();
        self.incoming.drain(..size);
        Ok(Some(params))
    }

    /// Takes in bytes of the peer, in any pieces. Returns whether the peer's transport parameters have arrived in them.
    ///
    /// # Errors
    /// A message for people if they break the protocol.
    pub fn receive(&mut self, data: &[u8]) -> Result<bool, String> {
        self.incoming.extend_from_slice(data);
        let had_params = self.peer_params.is_some();
        while let Some(params) = self.read_message()? {
            self.step = match (self.role, self.step) {
                (Role::Server, Step::Hello) => {
                    self.peer_params = Some(params);
                    Step::ServerHello
                }
                (Role::Client, Step::ServerHello) => Step::Keys,
                (Role::Client, Step::Flight) => {
                    self.peer_params = Some(params);
                    Step::Finished
                }
                (Role::Server, Step::Flight) => Step::Done,
                (_, step) => return Err(format!("handshake message out of place: {step:?}")),
            };
        }
        Ok(!had_params && self.peer_params.is_some())
    }

    /// Appends what this end has to say at the present level, and says which keys the bytes after it are sent with, if others.
    /// To be called until it does nothing.
    pub fn send(&mut self, out: &mut Vec<u8>) -> Option<NullKeys> {
        match (self.role, self.step) {
            (Role::Client, Step::Hello) => {
                self.write_message(out, CLIENT_HELLO, true);
                self.step = Step::ServerHello;
                None
            }
            (Role::Server, Step::ServerHello) => {
                self.write_message(out, SERVER_HELLO, false);
                self.step = Step::Keys;
                Some(NullKeys::Handshake)
            }
            (Role::Client, Step::Keys) => {
                self.step = Step::Flight;
                Some(NullKeys::Handshake)
            }
            (Role::Server, Step::Keys) => {
                self.write_message(out, SERVER_FLIGHT, true);
                self.step = Step::Flight;
                Some(NullKeys::OneRtt)
            }
            (Role::Client, Step::Finished) => {
                self.write_message(out, CLIENT_FINISHED, false);
                self.step = Step::Done;
                Some(NullKeys::OneRtt)
            }
            _ => None,
        }
    }

    /// The peer's encoded transport parameters, once they have arrived.
    pub fn received_params(&self) -> Option<&[u8]> {
        self.peer_params.as_deref()
    }

    /// Whether nothing is left to do.
    pub fn is_done(&self) -> bool {
        self.step == Step::Done
    }
}

/// The two numbers in front of a message, and what follows them.
fn split_prefix(bytes: &[u8]) -> Option<([usize; 2], &[u8])> {
    let (size, rest) = bytes.split_first_chunk()?;
    let (params, rest) = rest.split_first_chunk()?;
    Some(([*size, *params].map(|number| u32::from_be_bytes(number) as usize), rest))
}

impl Handshake for NullHandshake {
    fn read(&mut self, level: Level, data: &[u8]) -> Result<(), TransportError> {
        check_level(level, reading(self.has_handshake_keys(), self.is_done()))?;
        let received = self.receive(data);
        received
            .map(|_| ())
            .map_err(|reason| TransportError::new(ErrorCode::PROTOCOL_VIOLATION, reason))
    }

    fn write(&mut self, out: &mut Vec<u8>) -> Option<KeyChange> {
        Some(match self.send(out)? {
            NullKeys::Handshake => {
                KeyChange { level: Level::Handshake, keys: Keys::null(Next::Never) }
            }
            NullKeys::OneRtt => KeyChange { level: Level::OneRtt, keys: Keys::null(Next::Null) },
        })
    }

    fn peer_params(&self) -> Option<&[u8]> {
        self.received_params()
    }

    fn is_complete(&self) -> bool {
        self.is_done()
    }
}
