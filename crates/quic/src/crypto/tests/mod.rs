//! Helpers that the tests of the cryptography share.

mod early;
mod examples;
mod handshakes;
mod noq;
mod packets;
mod updates;

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use leobench_base::{SimDuration, SimTime};
use leobench_transport::endpoint::PathId;

use super::*;
use crate::wire::{
    ConnectionId, Frame, Frames, Header, Level, LongHeader, Number, Packet, TransportError,
    TransportParameters, Zeros,
};

/// Bytes from their hexadecimal digits; other characters are skipped.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<_> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

fn id(text: &str) -> ConnectionId {
    ConnectionId::new(&hex(text)).unwrap()
}

fn settings() -> TlsSettings {
    TlsSettings {
        server_name: "leobench.test".to_owned(),
        certificate: Certificate::self_signed("leobench.test", &[7; 32]),
        protocols: vec![b"leobench".to_vec()],
        key_log: None,
        sessions: None,
    }
}

fn tls(settings: &TlsSettings) -> [Crypto; 2] {
    let server = TlsConfig::server(settings, &TransportParameters::default());
    [TlsConfig::client(settings).unwrap(), server.unwrap()].map(Crypto::Tls)
}

/// One end: a handshake, the keys it yielded, and how many bytes it wrote at each level.
struct End {
    handshake: Box<dyn Handshake>,
    protection: Protection,
    writing: Level,
    written: Vec<(Level, usize)>,
}

/// The path of packets, unless a test has several.
const PATH: PathId = PathId(0);
const CLIENT_ID: &str = "c1c1c1c1c1c1c1c1";
const SERVER_ID: &str = "5e5e5e5e5e5e5e5e";

impl End {
    fn new(crypto: &Crypto, role: Role, params: &[u8]) -> Self {
        Self {
            handshake: crypto.start(role, params.to_vec()).unwrap(),
            protection: Protection::new(crypto.cipher(), role, id("8394c8f03e515708")),
            writing: Level::Initial,
            written: Vec::new(),
        }
    }

    /// All that this end has to say, by level.
    fn flight(&mut self) -> Vec<(Level, Vec<u8>)> {
        let mut flight = Vec::new();
        loop {
            let mut data = Vec::new();
            let change = self.handshake.write(&mut data);
            let is_over = data.is_empty() && change.is_none();
            if !data.is_empty() {
                self.written.push((self.writing, data.len()));
                flight.push((self.writing, data));
            }
            if let Some(change) = change {
                self.writing = change.level;
                self.protection.install(change);
            }
            if is_over {
                return flight;
            }
        }
    }

    /// Takes the other end's bytes in pieces of `piece`; whether this end has more to say.
    fn hear(
        &mut self,
        flight: &[(Level, Vec<u8>)],
        piece: usize,
    ) -> Result<Vec<(Level, Vec<u8>)>, TransportError> {
        let mut answer = Vec::new();
        for (level, data) in flight {
            for part in data.chunks(piece) {
                self.handshake.read(*level, part)?;
                answer.extend(self.flight());
            }
        }
        if self.handshake.is_complete() {
            self.protection.on_complete();
        }
        Ok(answer)
    }
}

/// A whole handshake.
fn shake(cryptos: &[Crypto; 2], piece: usize) -> Result<[End; 2], TransportError> {
    let mut client = End::new(&cryptos[0], Role::Client, b"client's");
    let mut server = End::new(&cryptos[1], Role::Server, b"server's");
    let mut flight = client.flight();
    while !flight.is_empty() {
        let answer = server.hear(&flight, piece)?;
        flight = client.hear(&answer, piece)?;
    }
    Ok([client, server])
}

/// A packet of 8-byte connection IDs from this end of `level`.
fn packet(level: Level, from: Role, number: u64, key_phase: bool, frames: Frames) -> Packet {
    let (destination, source) = match from {
        Role::Client => (id(SERVER_ID), id(CLIENT_ID)),
        Role::Server => (id(CLIENT_ID), id(SERVER_ID)),
    };
    let number = Number { value: number, len: 3 };
    let long = || Box::new(LongHeader { destination, source, token: Bytes::new(), number });
    let header = match level {
        Level::Initial => Header::Initial(long()),
        Level::Handshake => Header::Handshake(long()),
        Level::ZeroRtt => Header::ZeroRtt(long()),
        Level::OneRtt => Header::OneRtt { destination, spin: false, key_phase, number },
    };
    Packet { header, frames }
}

fn ping() -> Frames {
    [Frame::Ping, Frame::Padding(20)].into_iter().collect()
}

fn receive(now: SimTime, largest: Option<u64>) -> Receive<'static> {
    Receive {
        path: PATH,
        now,
        pto: SimDuration::from_millis(100),
        id_len: 8,
        largest: [largest; 3],
        content: &Zeros,
    }
}

fn sealed(protection: &mut Protection, packet: &Packet) -> BytesMut {
    sealed_on(PATH, protection, packet)
}

fn sealed_on(path: PathId, protection: &mut Protection, packet: &Packet) -> BytesMut {
    let mut bytes = BytesMut::new();
    protection.seal(path, packet, &Zeros, &mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, packet.size());
    bytes
}

fn log() -> (KeyLog, Arc<std::sync::Mutex<Vec<String>>>) {
    let lines = Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = Arc::clone(&lines);
    (Arc::new(move |line: &str| sink.lock().unwrap().push(line.to_owned())), lines)
}
