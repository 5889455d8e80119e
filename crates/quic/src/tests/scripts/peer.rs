//! The scripted peer: it makes and reads packets with null protection, without the stack under test.

use std::collections::BTreeMap;

use leobench_transport::handshake_sizes::{
    CLIENT_FINISHED, CLIENT_HELLO, SERVER_FLIGHT, SERVER_HELLO,
};

use super::notation::{self, peer_id, peer_token};
use super::*;
use crate::wire::{ConnectionId, Header, Level, Number, Space, null_tag};

const TAG: usize = 16;
/// The smallest packet: a byte, an ID of eight, and 20 bytes so that there is a sample (RFC 9001 section 5.4.2).
const SMALLEST: usize = 1 + 8 + 20;
/// Datagrams with Initial packets have this size at least (RFC 9000 section 14.1).
const PADDED: usize = 1_200;

/// Connection IDs that the peer may announce.
const PEER_IDS: u64 = 25;

pub(super) struct Peer {
    /// The role of the end under test.
    role: Role,
    params: TransportParameters,
    more_params: Vec<u8>,
    omits_ids: bool,
    /// The next numbers by space.
    next: [u64; 3],
    /// The numbers from which scripts count 1-RTT packets: of the peer, and of the end under test.
    pub(super) bases: [u64; 2],
    /// The first destination of a client under test, and the connection IDs of the end by sequence number.
    original: ConnectionId,
    ids: BTreeMap<u64, ConnectionId>,
    largest: [Option<u64>; 3],
    /// Destination connection IDs of the packets of the end.
    pub(super) destinations: Vec<ConnectionId>,
    /// The first handshake message of the end.
    pub(super) hello: Vec<u8>,
}

/// A packet of the end under test.
pub(super) struct Read {
    pub(super) packet: QuicPacket,
    /// The peer's ID that it is sent to; 0 also for the one that a client makes up.
    pub(super) to: u64,
}

/// The words in front of the colon.
struct Head {
    level: Level,
    number: Option<u64>,
    times: usize,
    flags: Vec<String>,
    from: ConnectionId,
    to: u64,
}

impl Head {
    fn read(text: &str) -> Self {
        let mut words = text.split_whitespace();
        let level = notation::level(words.next().expect("a level"));
        let mut head =
            Self { level, number: None, times: 1, flags: Vec::new(), from: peer_id(0), to: 0 };
        while let Some(word) = words.next() {
            let mut number = || words.next().unwrap().parse().unwrap();
            match word {
                "from" => head.from = peer_id(number()),
                "to" => head.to = number(),
                _ if word.starts_with('x') => head.times = word[1..].parse().unwrap(),
                _ => match word.parse() {
                    Ok(number) => head.number = Some(number),
                    Err(_) => head.flags.push(word.to_owned()),
                },
            }
        }
        head
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|other| other == flag)
    }
}

impl Peer {
    pub(super) fn new(setup: &Setup) -> Self {
        Self {
            role: setup.role,
            params: setup.params.clone(),
            more_params: setup.more_params.clone(),
            omits_ids: setup.omits_ids,
            next: [0; 3],
            bases: [0; 2],
            original: ConnectionId::new(&[0xcd; 8]).unwrap(),
            ids: BTreeMap::new(),
            largest: [None; 3],
            destinations: Vec::new(),
            hello: Vec::new(),
        }
    }

    /// Lets scripts count 1-RTT packets from here.
    pub(super) fn begin(&mut self) {
        let largest = self.largest[Space::Data as usize];
        self.bases = [self.next[Space::Data as usize], largest.map_or(0, |largest| largest + 1)];
    }

    /// The handshake message of a level that this peer sends, in the form of the null handshake: its size, the size of the
    /// transport parameters, they themselves, and zeros.
    fn message(&self, level: Level) -> Vec<u8> {
        let (size, has_params) = match (level, self.role) {
            (Level::Initial, Role::Server) => (CLIENT_HELLO, true),
            (Level::Initial, Role::Client) => (SERVER_HELLO, false),
            (Level::Handshake, Role::Server) => (CLIENT_FINISHED, false),
            (Level::Handshake, Role::Client) => (SERVER_FLIGHT, true),
            (Level::OneRtt | Level::ZeroRtt, _) => return vec![0; 1 << 17],
        };
        let mut params = Vec::new();
        if has_params {
            let mut all = self.params.clone();
            if !self.omits_ids {
                all.initial_source.get_or_insert(peer_id(0));
                if self.role == Role::Client {
                    all.original_destination.get_or_insert(self.original);
                    all.stateless_reset_token.get_or_insert(peer_token(0));
                }
            }
            all.write(&mut params);
            params.extend_from_slice(&self.more_params);
        }
        let mut message = (size as u32).to_be_bytes().to_vec();
        message.extend_from_slice(&(params.len() as u32).to_be_bytes());
        message.extend_from_slice(&params);
        message.resize(size, 0);
        message
    }

    /// The name of the message that is whole in a CRYPTO frame of the end under test.
    fn message_name(&self, level: Level, frame: &Frame) -> Option<&'static str> {
        let Frame::Crypto { offset: 0, data } = frame else { return None };
        let (size, name) = match (level, self.role) {
            (Level::Initial, Role::Client) => (CLIENT_HELLO, "hello"),
            (Level::Initial, Role::Server) => (SERVER_HELLO, "hello"),
            (Level::Handshake, Role::Client) => (CLIENT_FINISHED, "finished"),
            (Level::Handshake, Role::Server) => (SERVER_FLIGHT, "flight"),
            (Level::OneRtt | Level::ZeroRtt, _) => return None,
        };
        (data.len() == size).then_some(name)
    }

    /// The datagrams of a line.
    pub(super) fn send(&mut self, text: &str) -> Vec<Vec<u8>> {
        let (text, size) = match text.split_once('[') {
            Some((text, size)) => (text, Some(size.trim_end_matches(']').parse().unwrap())),
            None => (text, None),
        };
        let packets: Vec<&str> = text.split('|').map(str::trim).collect();
        let head = packets[0].split(':').next().expect("a packet");
        let times = if packets.len() == 1 { Head::read(head).times } else { 1 };
        (0..times).map(|_| self.datagram(&packets, size)).collect()
    }

    fn datagram(&mut self, packets: &[&str], size: Option<usize>) -> Vec<u8> {
        let is_padded = packets.iter().any(|packet| packet.starts_with("initial"));
        let size = size.unwrap_or(if is_padded { PADDED } else { 0 });
        let mut out = Vec::new();
        for (index, packet) in packets.iter().enumerate() {
            let (head, frames) = packet.split_once(':').expect("a colon");
            let head = Head::read(head);
            let mut payload = self.payload(head.level, frames);
            let start = out.len();
            if index + 1 == packets.len() {
                let overhead = self.packet(&head, &[]).len();
                payload.resize(payload.len().max(size.saturating_sub(start + overhead)), 0);
            }
            let packet = self.packet(&head, &payload);
            let space = head.level.space() as usize;
            self.next[space] = self.next[space].max(self.number(&head) + 1);
            out.extend_from_slice(&packet);
        }
        out
    }

    fn payload(&self, level: Level, frames: &str) -> Vec<u8> {
        let message = self.message(level);
        let base = if level == Level::OneRtt { self.bases[1] } else { 0 };
        let frames = frames.split(',').map(str::trim).filter(|frame| !frame.is_empty());
        frames.flat_map(|frame| notation::encode(frame, &message, base)).collect()
    }

    fn number(&self, head: &Head) -> u64 {
        let base = if head.level == Level::OneRtt { self.bases[0] } else { 0 };
        head.number.map_or(self.next[head.level.space() as usize], |number| base + number)
    }

    /// A packet by hand, after RFC 9000 section 17, with four bytes of packet number and the null tag.
    fn packet(&self, head: &Head, payload: &[u8]) -> Vec<u8> {
        let to = self.ids.get(&head.to).copied().unwrap_or(self.original);
        let (reserved, fixed) = (head.has("reserved"), !head.has("unfixed"));
        let number = (self.number(head) as u32).to_be_bytes();
        let first = |form: u8, reserved_bits: u8| {
            form | 0x03 | if fixed { 0x40 } else { 0 } | if reserved { reserved_bits } else { 0 }
        };
        let mut out = Vec::new();
        if head.level == Level::OneRtt {
            out.push(first(if head.has("phase") { 0x04 } else { 0 }, 0x18));
            out.extend_from_slice(to.as_slice());
        } else {
            let kind = match head.level {
                Level::Initial => 0x00,
                Level::ZeroRtt => 0x10,
                Level::Handshake | Level::OneRtt => 0x20,
            };
            out.push(first(0x80 | kind, 0x0c));
            out.extend_from_slice(&if head.has("version") { [9; 4] } else { [0, 0, 0, 1] });
            for id in [to, head.from] {
                out.push(id.size() as u8);
                out.extend_from_slice(id.as_slice());
            }
            if head.level == Level::Initial {
                out.extend_from_slice(if head.has("token") { &[2, 7, 7][..] } else { &[0] });
            }
            let length = (number.len() + payload.len() + TAG) as u16 | 0x4000;
            out.extend_from_slice(&length.to_be_bytes());
        }
        out.extend_from_slice(&number);
        out.extend_from_slice(payload);
        let mut tag = null_tag(self.number(head));
        tag[0] = u8::from(head.has("corrupt"));
        out.extend_from_slice(&tag);
        if head.has("cut") {
            out.truncate(SMALLEST - 1);
        }
        out
    }

    /// A Retry with a source connection ID and a token; its tag is zeros with null protection.
    pub(super) fn retry(&self, source: u64, is_corrupt: bool) -> Vec<u8> {
        let to = self.ids[&0];
        let mut out = vec![0xf0, 0, 0, 0, 1];
        for id in [to, peer_id(source)] {
            out.push(id.size() as u8);
            out.extend_from_slice(id.as_slice());
        }
        out.extend_from_slice(b"token");
        out.extend_from_slice(&[u8::from(is_corrupt); TAG]);
        out
    }

    /// A stateless reset with the token of a connection ID, as a packet with a short header or of another version.
    pub(super) fn reset(sequence: u64, is_long: bool) -> Vec<u8> {
        let mut out = vec![if is_long { 0xda } else { 0x5a }];
        out.extend_from_slice(&[9, 9, 9, 9, 2, 1, 1, 2, 1, 1, 0, 0, 0, 0]);
        out.extend_from_slice(&peer_token(sequence).0);
        out
    }

    /// Whether a datagram of the end under test is a stateless reset: it looks like a 1-RTT packet to nobody.
    pub(super) fn is_reset(bytes: &[u8]) -> bool {
        bytes[0] & 0x80 == 0
            && (0..PEER_IDS).all(|sequence| &bytes[1..9] != peer_id(sequence).as_slice())
    }

    /// Reads a datagram of the end under test.
    pub(super) fn read(&mut self, mut bytes: &[u8]) -> Vec<Read> {
        let mut packets = Vec::new();
        while !bytes.is_empty() {
            let Some(Incoming::Packet(header)) = Incoming::decode(bytes, 8) else {
                panic!("no packet: {bytes:?}");
            };
            let (first, level, size) = (bytes[0], header.level, header.size);
            if !header.source.as_slice().is_empty() {
                let before = self.ids.insert(0, header.source);
                assert!(before.is_none_or(|id| id == header.source), "another source ID");
            }
            self.destinations.push(header.destination);
            let together = &self.destinations[self.destinations.len() - 1 - packets.len()..];
            assert!(together.iter().all(|id| *id == header.destination), "{together:?}");
            let to = (0..PEER_IDS).find(|sequence| peer_id(*sequence) == header.destination);
            if level == Level::Initial && to.is_none() && self.role == Role::Client {
                self.original = header.destination;
            }
            let len = (first & 0x03) + 1;
            let start = header.number_offset + usize::from(len);
            let wire = bytes[header.number_offset..start].iter();
            let wire = wire.fold(0, |value, byte| value << 8 | u32::from(*byte));
            let largest = &mut self.largest[level.space() as usize];
            let number = Number::expanded(wire, len, *largest);
            *largest = (*largest).max(Some(number.value));
            let frames = decode_frames(&bytes[start..size - TAG], level, &Zeros).unwrap();
            for frame in &frames {
                match frame {
                    Frame::NewConnectionId(new) => {
                        self.ids.insert(new.sequence, new.id);
                    }
                    Frame::Crypto { offset: 0, data } if level == Level::Initial => {
                        assert!(self.hello.is_empty() || self.hello == *data, "another hello");
                        self.hello = data.to_vec();
                    }
                    _ => {}
                }
            }
            let header = header.complete(first, number).unwrap();
            packets.push(Read { packet: QuicPacket { header, frames }, to: to.unwrap_or(0) });
            bytes = &bytes[size..];
        }
        packets
    }

    /// The words of a packet.
    pub(super) fn describe(&self, read: &Read) -> String {
        let header = &read.packet.header;
        let level = header.level();
        let (base, acked) = match level {
            Level::OneRtt => (self.bases[1], self.bases[0]),
            _ => (0, 0),
        };
        let mut text = notation::packet_word(level, header.number().value - base);
        if read.to > 0 {
            text = format!("{text} to {}", read.to);
        }
        match header {
            Header::OneRtt { key_phase: true, .. } => text.push_str(" phase"),
            Header::Initial(long) if !long.token.is_empty() => text.push_str(" token"),
            _ => {}
        }
        let frames =
            read.packet.frames.iter().filter_map(|frame| {
                notation::describe(frame, self.message_name(level, frame), acked)
            });
        format!("{text}: {}", frames.collect::<Vec<_>>().join(", "))
    }
}
