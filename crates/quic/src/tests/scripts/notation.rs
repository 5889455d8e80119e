//! Frames in words, and words as frames:
//!
//! | words | frame |
//! |---|---|
//! | `ack 0-3 5 delay 10 ect 2 ce 1` | ACK of packets 0 to 3 and 5, with a delay in milliseconds and counts of ECT(0) and CE |
//! | `crypto 0-800`, `hello`, `flight`, `finished` | CRYPTO |
//! | `stream 2 0-1000 fin` | STREAM: ID, bytes from and to |
//! | `reset 2 7 1000`, `stop 2 7` | `RESET_STREAM` with code and final size, `STOP_SENDING` |
//! | `max-data 5`, `max-stream-data 2 5`, `max-streams uni 5` | limits |
//! | `data-blocked 5`, `stream-data-blocked 2 5`, `streams-blocked uni 5` | and what they hold back |
//! | `new-id 2 retire 1`, `retire-id 0` | `NEW_CONNECTION_ID`, `RETIRE_CONNECTION_ID` by sequence number |
//! | `challenge 5`, `response 5` | `PATH_CHALLENGE` (of this end: `challenge`), `PATH_RESPONSE` |
//! | `close PROTOCOL_VIOLATION`, `app-close 7` | `CONNECTION_CLOSE` |
//! | `ack-frequency 1` | `ACK_FREQUENCY` with its threshold, of this end only |
//! | `ping`, `pad 5`, `handshake-done`, `new-token` | the others |
//! | `hex 40 01` | whatever these bytes are |

use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::SplitWhitespace;

use bytes::Bytes as Payload;

use super::*;
use crate::wire::{
    Ack, AckRange, Close, ConnectionId, Directionality, EcnCounts, ErrorCode, Level,
    NewConnectionId, ResetToken,
};

/// Microseconds in a unit of the ACK Delay field (RFC 9000 section 18.2: an exponent of 3).
const DELAY_UNIT: f64 = 8.0;

/// The connection ID of the peer with a sequence number, and its reset token.
pub(super) fn peer_id(sequence: u64) -> ConnectionId {
    ConnectionId::new(&[0xb0 + sequence as u8; 8]).unwrap()
}

pub(super) fn peer_token(sequence: u64) -> ResetToken {
    ResetToken([0xe0 + sequence as u8; 16])
}

/// A level by its word.
pub(super) fn level(word: &str) -> Level {
    match word {
        "initial" => Level::Initial,
        "handshake" => Level::Handshake,
        "data" => Level::OneRtt,
        "early" => Level::ZeroRtt,
        other => panic!("no level: {other}"),
    }
}

fn level_word(level: Level) -> &'static str {
    match level {
        Level::Initial => "initial",
        Level::Handshake => "handshake",
        Level::OneRtt => "data",
        Level::ZeroRtt => "early",
    }
}

/// A level and a number, as scripts count.
pub(super) fn packet_word(level: Level, number: u64) -> String {
    format!("{} {number}", level_word(level))
}

/// A range `0-3` or a number `5`, both ends included.
fn range(word: &str) -> Option<(u64, u64)> {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// The words of a frame; numbers of packets it acknowledges count from `base`. `None` for padding.
pub(super) fn describe(frame: &Frame, message: Option<&str>, base: u64) -> Option<String> {
    let side = |kind: &Directionality| match kind {
        Directionality::Bidirectional => "bidi",
        Directionality::Unidirectional => "uni",
    };
    Some(match frame {
        Frame::Padding(_) => return None,
        Frame::Ping => "ping".to_owned(),
        Frame::Ack(ack) => describe_ack(ack, base),
        Frame::Crypto { offset, data } => match message {
            Some(name) => name.to_owned(),
            None => format!("crypto {offset}-{}", offset + data.len() as u64),
        },
        Frame::Stream { id, offset, len, fin, .. } => {
            let fin = if *fin { " fin" } else { "" };
            format!("stream {} {offset}-{}{fin}", id.0, offset + len)
        }
        Frame::ResetStream { id, code, final_size } => {
            format!("reset {} {code} {final_size}", id.0)
        }
        Frame::StopSending { id, code } => format!("stop {} {code}", id.0),
        Frame::MaxData(limit) => format!("max-data {limit}"),
        Frame::MaxStreamData { id, limit } => format!("max-stream-data {} {limit}", id.0),
        Frame::MaxStreams { kind, limit } => format!("max-streams {} {limit}", side(kind)),
        Frame::DataBlocked(limit) => format!("data-blocked {limit}"),
        Frame::StreamDataBlocked { id, limit } => format!("stream-data-blocked {} {limit}", id.0),
        Frame::StreamsBlocked { kind, limit } => format!("streams-blocked {} {limit}", side(kind)),
        Frame::NewConnectionId(new) if new.retire_prior_to == 0 => {
            format!("new-id {}", new.sequence)
        }
        Frame::NewConnectionId(new) => {
            format!("new-id {} retire {}", new.sequence, new.retire_prior_to)
        }
        Frame::RetireConnectionId(sequence) => format!("retire-id {sequence}"),
        // Its data is unpredictable.
        Frame::PathChallenge(_) => "challenge".to_owned(),
        Frame::PathResponse(data) => format!("response {data}"),
        Frame::ConnectionClose(close) if close.frame_type.is_some() => {
            format!("close {}", ErrorCode(close.code))
        }
        Frame::ConnectionClose(close) => format!("app-close {}", close.code),
        Frame::HandshakeDone => "handshake-done".to_owned(),
        Frame::AckFrequency { threshold, .. } => format!("ack-frequency {threshold}"),
        other => format!("{other:?}"),
    })
}

fn describe_ack(ack: &Ack, base: u64) -> String {
    let mut text = "ack".to_owned();
    for AckRange { smallest, largest } in ack.ranges.iter().rev() {
        let Some(largest) = largest.checked_sub(base) else { continue };
        let smallest = smallest.saturating_sub(base);
        if smallest == largest {
            write!(text, " {largest}").unwrap();
        } else {
            write!(text, " {smallest}-{largest}").unwrap();
        }
    }
    if ack.delay > 0 {
        write!(text, " delay {}", ack.delay as f64 * DELAY_UNIT / 1e3).unwrap();
    }
    if let Some(ecn) = &ack.ecn {
        write!(text, " ect {} ce {}", ecn.ect0, ecn.ce).unwrap();
    }
    text
}

/// The words of a frame.
struct Words<'a>(Peekable<SplitWhitespace<'a>>);

impl Words<'_> {
    fn number(&mut self) -> u64 {
        self.0.next().expect("a number").parse().unwrap()
    }

    fn flag(&mut self, name: &str) -> bool {
        self.0.next_if(|word| *word == name).is_some()
    }

    fn range(&mut self) -> Option<(u64, u64)> {
        self.0.next_if(|word| range(word).is_some()).and_then(range)
    }

    fn stream(&mut self) -> StreamId {
        StreamId(self.number())
    }

    fn kind(&mut self) -> Directionality {
        match self.0.next() {
            Some("uni") => Directionality::Unidirectional,
            Some("bidi") => Directionality::Bidirectional,
            other => panic!("no kind of streams: {other:?}"),
        }
    }

    fn ack(&mut self, base: u64) -> Ack {
        let mut ranges: Vec<_> = std::iter::from_fn(|| self.range()).collect();
        ranges.reverse();
        let range =
            |(first, last): &(u64, u64)| AckRange { smallest: base + first, largest: base + last };
        let ranges = ranges.iter().map(range).collect();
        let delay = if self.flag("delay") { self.number() as f64 * 1e3 / DELAY_UNIT } else { 0.0 };
        let ect0 = self.flag("ect").then(|| self.number());
        let ce = if self.flag("ce") { self.number() } else { 0 };
        let ecn = ect0.map(|ect0| Box::new(EcnCounts { ect0, ect1: 0, ce }));
        Ack { ranges, delay: delay as u64, ecn }
    }
}

/// The bytes of a frame that the peer sends; numbers it acknowledges count from `base`. CRYPTO data is that of `message`.
pub(super) fn encode(text: &str, message: &[u8], base: u64) -> Vec<u8> {
    let mut words = Words(text.split_whitespace().peekable());
    let name = words.0.next().expect("a frame");
    let crypto = |(start, end): (u64, u64)| Frame::Crypto {
        offset: start,
        data: Payload::copy_from_slice(&message[start as usize..end as usize]),
    };
    let frame = match name {
        "hex" => return words.0.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect(),
        "ping" => Frame::Ping,
        "pad" => Frame::Padding(words.number()),
        "ack" => Frame::Ack(words.ack(base)),
        "crypto" => crypto(words.range().expect("a range")),
        "hello" | "flight" | "finished" => crypto((0, message.len() as u64)),
        "stream" => {
            let (id, (offset, end)) = (words.stream(), words.range().expect("a range"));
            let fin = words.flag("fin");
            Frame::Stream { id, offset, len: end - offset, fin, explicit_len: true }
        }
        "reset" => Frame::ResetStream {
            id: words.stream(),
            code: words.number(),
            final_size: words.number(),
        },
        "stop" => Frame::StopSending { id: words.stream(), code: words.number() },
        "max-data" => Frame::MaxData(words.number()),
        "max-stream-data" => Frame::MaxStreamData { id: words.stream(), limit: words.number() },
        "max-streams" => Frame::MaxStreams { kind: words.kind(), limit: words.number() },
        "data-blocked" => Frame::DataBlocked(words.number()),
        "stream-data-blocked" => {
            Frame::StreamDataBlocked { id: words.stream(), limit: words.number() }
        }
        "streams-blocked" => Frame::StreamsBlocked { kind: words.kind(), limit: words.number() },
        "new-id" => {
            let sequence = words.number();
            let retire_prior_to = if words.flag("retire") { words.number() } else { 0 };
            let id = if words.flag("as") { words.number() } else { sequence };
            let (id, token) = (peer_id(id), peer_token(id));
            let new = NewConnectionId { sequence, retire_prior_to, id, token };
            Frame::NewConnectionId(Box::new(new))
        }
        "retire-id" => Frame::RetireConnectionId(words.number()),
        "challenge" => Frame::PathChallenge(words.number()),
        "response" => Frame::PathResponse(words.number()),
        "close" => Frame::ConnectionClose(Box::new(Close {
            code: code(words.0.next().expect("a code")),
            frame_type: Some(0),
            reason: Payload::new(),
        })),
        "app-close" => {
            let close = Close { code: words.number(), frame_type: None, reason: Payload::new() };
            Frame::ConnectionClose(Box::new(close))
        }
        "handshake-done" => Frame::HandshakeDone,
        "new-token" => Frame::NewToken(Payload::from_static(b"token")),
        other => panic!("no frame: {other}"),
    };
    assert_eq!(words.0.next(), None, "{text}");
    let mut out = BytesMut::new();
    frame.encode(&Zeros, &mut out);
    out.to_vec()
}

fn code(name: &str) -> u64 {
    (0..0x20).find(|code| ErrorCode(*code).name() == Some(name)).expect("an error code")
}
