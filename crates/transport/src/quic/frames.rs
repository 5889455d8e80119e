//! What really left the connection: the STREAM frames of every protected packet, read back from its plaintext
//! (RFC 9000 section 19).

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A log of sent packets, written where packets are protected and read by whoever feeds the connection.
#[derive(Debug, Default)]
pub(super) struct SentLog(Mutex<Sent>);

/// What the packets sent so far carried.
#[derive(Debug, Default)]
pub(super) struct Sent {
    /// Number after that of the last packet.
    pub(super) next_packet: u64,
    /// By stream number: one past the highest byte sent.
    pub(super) offsets: Vec<u64>,
    /// The sum of the offsets.
    pub(super) total: u64,
    /// Streams whose offset has grown since this was last emptied; a stream may stand here more than once.
    pub(super) advanced: Vec<usize>,
    /// Stream bytes sent more than once.
    pub(super) retransmitted: u64,
    /// A frame that could not be read; nothing behind it is known.
    pub(super) unreadable: Option<u64>,
}

impl SentLog {
    pub(super) fn new(streams: usize) -> Self {
        Self(Mutex::new(Sent { offsets: vec![0; streams], ..Sent::default() }))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Sent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the frames of a packet about to be sent.
    pub(super) fn note(&self, packet: u64, payload: &[u8]) {
        let mut sent = self.lock();
        sent.next_packet = packet + 1;
        let mut frames = Reader { rest: payload };
        while !frames.rest.is_empty() {
            match frames.next_frame() {
                Some(Frame::Stream { id, offset, len }) => sent.stream(id, offset, len),
                Some(Frame::Other) => {}
                Some(Frame::Unknown(kind)) => {
                    sent.unreadable = Some(kind);
                    return;
                }
                None => {
                    sent.unreadable = Some(u64::MAX);
                    return;
                }
            }
        }
    }
}

impl Sent {
    fn stream(&mut self, id: u64, offset: u64, len: u64) {
        // The two low bits of a stream ID are its type (RFC 9000 section 2.1).
        let stream = (id >> 2) as usize;
        if stream >= self.offsets.len() {
            self.offsets.resize(stream + 1, 0);
        }
        let sent = &mut self.offsets[stream];
        self.retransmitted += sent.saturating_sub(offset).min(len);
        let grown = (offset + len).saturating_sub(*sent);
        if grown > 0 {
            *sent += grown;
            self.total += grown;
            if self.advanced.last() != Some(&stream) {
                self.advanced.push(stream);
            }
        }
    }
}

enum Frame {
    Stream { id: u64, offset: u64, len: u64 },
    Other,
    Unknown(u64),
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn next_frame(&mut self) -> Option<Frame> {
        let kind = self.varint()?;
        match kind {
            // PADDING, PING, HANDSHAKE_DONE, and IMMEDIATE_ACK of draft-ietf-quic-ack-frequency.
            0x00 | 0x01 | 0x1e | 0x1f => {}
            0x02 | 0x03 => self.ack(kind == 0x03)?,
            0x08..=0x0f => return self.stream(kind),
            // RESET_STREAM has three fields; STOP_SENDING, MAX_STREAM_DATA, STREAM_DATA_BLOCKED two; MAX_DATA,
            // MAX_STREAMS, DATA_BLOCKED, STREAMS_BLOCKED, RETIRE_CONNECTION_ID one; ACK_FREQUENCY four.
            0x04 => self.varints(3)?,
            0x05 | 0x11 | 0x15 => self.varints(2)?,
            0x10 | 0x12..=0x14 | 0x16 | 0x17 | 0x19 => self.varints(1)?,
            0xaf => self.varints(4)?,
            // CRYPTO and NEW_TOKEN carry their length.
            0x06 => {
                self.varints(1)?;
                self.sized()?;
            }
            0x07 => self.sized()?,
            0x18 => self.new_connection_id()?,
            // PATH_CHALLENGE and PATH_RESPONSE.
            0x1a | 0x1b => self.skip(8)?,
            0x1c => {
                self.varints(2)?;
                self.sized()?;
            }
            0x1d => {
                self.varints(1)?;
                self.sized()?;
            }
            other => return Some(Frame::Unknown(other)),
        }
        Some(Frame::Other)
    }

    fn stream(&mut self, kind: u64) -> Option<Frame> {
        let id = self.varint()?;
        let offset = if kind & 0x04 != 0 { self.varint()? } else { 0 };
        let len = if kind & 0x02 != 0 { self.varint()? } else { self.rest.len() as u64 };
        self.skip(len as usize)?;
        Some(Frame::Stream { id, offset, len })
    }

    fn ack(&mut self, with_ecn: bool) -> Option<()> {
        self.varints(2)?;
        let ranges = self.varint()?;
        self.varints(1 + 2 * ranges + if with_ecn { 3 } else { 0 })
    }

    fn new_connection_id(&mut self) -> Option<()> {
        const RESET_TOKEN: usize = 16;
        self.varints(2)?;
        let len = usize::from(*self.rest.first()?);
        self.skip(1 + len + RESET_TOKEN)
    }

    fn sized(&mut self) -> Option<()> {
        let len = self.varint()?;
        self.skip(len as usize)
    }

    fn varints(&mut self, count: u64) -> Option<()> {
        (0..count).try_for_each(|_| self.varint().map(drop))
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.rest = self.rest.get(bytes..)?;
        Some(())
    }

    /// A variable-length integer (RFC 9000 section 16).
    fn varint(&mut self) -> Option<u64> {
        let first = *self.rest.first()?;
        let len = 1usize << (first >> 6);
        let bytes = self.rest.get(..len)?;
        let value = bytes.iter().fold(0, |value, byte| (value << 8) | u64::from(*byte));
        self.rest = &self.rest[len..];
        Some(value & (u64::MAX >> (66 - 8 * len as u32)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variable_length_integers_as_in_the_rfc() {
        // RFC 9000 appendix A.1.
        for (bytes, value) in [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c][..], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
        ] {
            assert_eq!(Reader { rest: bytes }.varint(), Some(value));
        }
    }

    #[test]
    fn stream_ranges_are_read_past_other_frames_and_told_apart_from_retransmissions() {
        let log = SentLog::new(1);
        // ACK of 5 with delay 1 and one further range; STREAM 2 with offset 16 and length 3; STREAM 6 to the end.
        let packet = [
            &[0x02, 5, 1, 1, 0, 0, 0][..],
            &[0x0e, 2, 16, 3, 9, 9, 9],
            &[0x08, 6, 1, 2, 3, 4],
        ]
        .concat();
        log.note(7, &packet);
        assert_eq!(log.lock().offsets, [19, 4]);
        assert_eq!(log.lock().next_packet, 8);
        log.note(8, &[0x0e, 2, 17, 4, 9, 9, 9, 9]);
        let sent = log.lock();
        assert_eq!((sent.offsets[0], sent.retransmitted, sent.unreadable), (21, 2, None));
    }

    #[test]
    fn a_frame_that_cannot_be_read_is_told() {
        let log = SentLog::new(1);
        log.note(0, &[0x40, 0x99]);
        assert_eq!(log.lock().unreadable, Some(0x99));
        let log = SentLog::new(1);
        log.note(0, &[0x0e, 2, 0, 9, 1]);
        assert_eq!(log.lock().unreadable, Some(u64::MAX));
    }
}
