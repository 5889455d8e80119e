//! A handshake that keeps the flights and sizes of TLS 1.3 and protects nothing.

use leobench_transport::Role;
use leobench_transport::handshake_sizes::{
    CLIENT_FINISHED, CLIENT_HELLO, EARLY_DATA, RESUMED_FLIGHT, SERVER_FLIGHT, SERVER_HELLO,
    TICKET_CHOICE, TICKET_OFFER,
};

use super::early::{Earlier, EarlyKeys};
use super::handshake::{Handshake, KeyChange, check_level, reading};
use super::keys::{Directional, Keys, Next};
use crate::wire::{ErrorCode, Level, TransportError};

/// Bytes in front of every message: its length and the length of the transport parameters in it, four bytes each. The first byte
/// of them has flags.
const PREFIX: usize = 8;
/// Longest message that is accepted; our own are shorter unless the transport parameters are absurd.
const MAX_MESSAGE: usize = 1 << 16;

/// The client offers a ticket, or the server has chosen it.
const RESUMES: u8 = 1;
/// The client offers 0-RTT data, or the server accepts it.
const EARLY: u8 = 2;

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
    earlier: Option<Earlier>,
    /// The agreement of both ends, as flags.
    agreed: u8,
    /// Whether the keys of 0-RTT packets were yielded.
    yielded: bool,
}

impl NullHandshake {
    /// The end in this role, with its encoded transport parameters.
    pub const fn new(role: Role, params: Vec<u8>) -> Self {
        Self::after(role, params, None)
    }

    /// The same after an earlier connection, which the client asks to resume.
    pub(crate) const fn after(role: Role, params: Vec<u8>, earlier: Option<Earlier>) -> Self {
        Self {
            role,
            step: Step::Hello,
            params,
            incoming: Vec::new(),
            peer_params: None,
            earlier,
            agreed: 0,
            yielded: false,
        }
    }

    /// The offer of a client, or the willingness of a server, as flags.
    fn willing(&self) -> u8 {
        self.earlier
            .as_ref()
            .map_or(0, |earlier| if earlier.early { RESUMES | EARLY } else { RESUMES })
    }

    fn has_handshake_keys(&self) -> bool {
        match (self.role, self.step) {
            (_, Step::Hello | Step::ServerHello) | (Role::Client, Step::Keys) => false,
            (_, Step::Keys | Step::Flight | Step::Finished | Step::Done) => true,
        }
    }

    /// Appends a message of `size` bytes (more if it must) with flags that carries the transport parameters or nothing.
    fn write_message(&self, out: &mut Vec<u8>, (size, flags): (usize, u8), with_params: bool) {
        let params: &[u8] = if with_params { &self.params } else { &[] };
        let size = size.max(PREFIX + params.len());
        let end = out.len() + size;
        out.extend_from_slice(&(size as u32 | u32::from(flags) << 24).to_be_bytes());
        out.extend_from_slice(&(params.len() as u32).to_be_bytes());
        out.extend_from_slice(params);
        out.resize(end, 0);
    }

    /// Takes the next whole message out of the received bytes; its flags, and the transport parameters in it.
    fn read_message(&mut self) -> Result<Option<(u8, Vec<u8>)>, String> {
        let Some((flags, [size, params], rest)) = split_prefix(&self.incoming) else {
            return Ok(None);
        };
        if size > MAX_MESSAGE || PREFIX + params > size {
            return Err(format!("a null handshake message of {size} bytes with {params} in it"));
        }
        let Some(message) = rest.get(..size - PREFIX) else { return Ok(None) };
        let params = message[..params].to_vec();
        self.incoming.drain(..size);
        Ok(Some((flags, params)))
    }

    /// Takes in bytes of the peer, in any pieces. Returns whether the peer's transport parameters have arrived in them.
    ///
    /// # Errors
    /// A message for people if they break the protocol.
    pub fn receive(&mut self, data: &[u8]) -> Result<bool, String> {
        self.incoming.extend_from_slice(data);
        let had_params = self.peer_params.is_some();
        while let Some((flags, params)) = self.read_message()? {
            self.step = match (self.role, self.step) {
                (Role::Server, Step::Hello) => {
                    self.agreed = flags & self.willing();
                    self.peer_params = Some(params);
                    Step::ServerHello
                }
                (Role::Client, Step::ServerHello) => Step::Keys,
                (Role::Client, Step::Flight) => {
                    if flags & !self.willing() != 0 {
                        return Err("a null handshake that accepts what was not offered".to_owned());
                    }
                    self.agreed = flags;
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
                let flags = self.willing();
                let size = CLIENT_HELLO + extra(flags, TICKET_OFFER);
                self.write_message(out, (size, flags), true);
                self.step = Step::ServerHello;
                None
            }
            (Role::Server, Step::ServerHello) => {
                let choice = extra(self.agreed & RESUMES, TICKET_CHOICE);
                self.write_message(out, (SERVER_HELLO + choice, self.agreed), false);
                self.step = Step::Keys;
                Some(NullKeys::Handshake)
            }
            (Role::Client, Step::Keys) => {
                self.step = Step::Flight;
                Some(NullKeys::Handshake)
            }
            (Role::Server, Step::Keys) => {
                let resumed = self.agreed & RESUMES != 0;
                let rest = if resumed { RESUMED_FLIGHT } else { SERVER_FLIGHT };
                let size = rest + extra(self.agreed & EARLY, 0);
                self.write_message(out, (size, self.agreed), true);
                self.step = Step::Flight;
                Some(NullKeys::OneRtt)
            }
            (Role::Client, Step::Finished) => {
                self.write_message(out, (CLIENT_FINISHED, 0), false);
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

/// Bytes that flags add to a message, of which the one about a ticket adds so many.
const fn extra(flags: u8, ticket: usize) -> usize {
    let early = if flags & EARLY != 0 { EARLY_DATA } else { 0 };
    early + if flags & RESUMES != 0 { ticket } else { 0 }
}

/// The flags and the two numbers in front of a message, and what follows them.
fn split_prefix(bytes: &[u8]) -> Option<(u8, [usize; 2], &[u8])> {
    let ([flags, size @ ..], rest) = bytes.split_first_chunk::<4>()?;
    let (params, rest) = rest.split_first_chunk()?;
    let [high, middle, low] = *size;
    let numbers = [[0, high, middle, low], *params];
    Some((*flags, numbers.map(|number| u32::from_be_bytes(number) as usize), rest))
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

    fn early_keys(&mut self) -> Option<EarlyKeys> {
        let has_keys = self.step != Step::Hello
            && match self.role {
                Role::Client => self.willing() & EARLY != 0,
                Role::Server => self.agreed & EARLY != 0,
            };
        let yields = has_keys && !std::mem::replace(&mut self.yielded, has_keys);
        yields.then(|| EarlyKeys::new(Directional::NULL))
    }

    fn remembered_params(&self) -> Option<&[u8]> {
        let earlier = self.earlier.as_ref().filter(|_| self.role == Role::Client)?;
        earlier.early.then_some(&earlier.params)
    }

    fn accepts_early(&self) -> bool {
        self.agreed & EARLY != 0
    }
}
