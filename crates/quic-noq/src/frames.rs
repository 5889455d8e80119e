//! Reading the frames of a packet from its plaintext (RFC 9000 section 19).

/// A frame, as far as anybody here wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame<'a> {
    /// Bytes of a stream.
    Stream { id: u64, offset: u64, len: u64, fin: bool },
    /// An acknowledgement: the largest packet number, the encoded delay, and the encoded ranges after the first.
    Ack { largest: u64, delay: u64, first_range: u64, more: &'a [u8] },
    /// Handshake bytes.
    Crypto { offset: u64, len: u64 },
    /// A frame known by its type alone, with its first two fields where it has them.
    Other { kind: u64, fields: [u64; 2] },
    /// A frame of a type that cannot be skipped, because its length is not known.
    Unknown(u64),
}

/// Walks through the frames of a packet; ends early, with `None`, where the packet is malformed.
pub(super) struct Frames<'a> {
    rest: &'a [u8],
}

impl<'a> Frames<'a> {
    pub(super) fn new(payload: &'a [u8]) -> Self {
        Self { rest: payload }
    }

    /// Whether everything has been read.
    pub(super) fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next frame; `None` if the packet ends within it.
    pub(super) fn next_frame(&mut self) -> Option<Frame<'a>> {
        let kind = self.varint()?;
        let fields = match kind {
            // PADDING, PING, HANDSHAKE_DONE, and IMMEDIATE_ACK of draft-ietf-quic-ack-frequency.
            0x00 | 0x01 | 0x1e | 0x1f => [0; 2],
            0x02 | 0x03 => return self.ack(kind == 0x03),
            0x06 => return self.crypto(),
            0x08..=0x0f => return self.stream(kind),
            // RESET_STREAM has three fields; STOP_SENDING, MAX_STREAM_DATA, STREAM_DATA_BLOCKED two; MAX_DATA,
            // MAX_STREAMS, DATA_BLOCKED, STREAMS_BLOCKED, RETIRE_CONNECTION_ID one; ACK_FREQUENCY four.
            0x04 => self.fields(3)?,
            0x05 | 0x11 | 0x15 => self.fields(2)?,
            0x10 | 0x12..=0x14 | 0x16 | 0x17 | 0x19 => self.fields(1)?,
            0xaf => self.fields(4)?,
            0x07 => self.sized([0; 2])?,
            0x18 => self.new_connection_id()?,
            // PATH_CHALLENGE and PATH_RESPONSE.
            0x1a | 0x1b => self.skip(8).map(|()| [0; 2])?,
            // CONNECTION_CLOSE of the transport and of the application.
            0x1c => self.fields(2).and_then(|fields| self.sized(fields))?,
            0x1d => self.fields(1).and_then(|fields| self.sized(fields))?,
            other => return Some(Frame::Unknown(other)),
        };
        Some(Frame::Other { kind, fields })
    }

    fn stream(&mut self, kind: u64) -> Option<Frame<'a>> {
        let id = self.varint()?;
        let offset = if kind & 0x04 != 0 { self.varint()? } else { 0 };
        let len = if kind & 0x02 != 0 { self.varint()? } else { self.rest.len() as u64 };
        self.skip(len as usize)?;
        Some(Frame::Stream { id, offset, len, fin: kind & 0x01 != 0 })
    }

    fn crypto(&mut self) -> Option<Frame<'a>> {
        let (offset, len) = (self.varint()?, self.varint()?);
        self.skip(len as usize)?;
        Some(Frame::Crypto { offset, len })
    }

    fn ack(&mut self, with_ecn: bool) -> Option<Frame<'a>> {
        let (largest, delay, ranges) = (self.varint()?, self.varint()?, self.varint()?);
        let first_range = self.varint()?;
        let start = self.rest;
        self.fields(2 * ranges)?;
        let more = &start[..start.len() - self.rest.len()];
        if with_ecn {
            self.fields(3)?;
        }
        Some(Frame::Ack { largest, delay, first_range, more })
    }

    fn new_connection_id(&mut self) -> Option<[u64; 2]> {
        const RESET_TOKEN: usize = 16;
        let fields = self.fields(2)?;
        let len = usize::from(*self.rest.first()?);
        self.skip(1 + len + RESET_TOKEN).map(|()| fields)
    }

    fn sized(&mut self, fields: [u64; 2]) -> Option<[u64; 2]> {
        let len = self.varint()?;
        self.skip(len as usize).map(|()| fields)
    }

    /// Reads `count` integers and keeps the first two.
    fn fields(&mut self, count: u64) -> Option<[u64; 2]> {
        let mut kept = [0; 2];
        for index in 0..count as usize {
            let field = self.varint()?;
            if let Some(slot) = kept.get_mut(index) {
                *slot = field;
            }
        }
        Some(kept)
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.rest = self.rest.get(bytes..)?;
        Some(())
    }

    /// A variable-length integer (RFC 9000 section 16).
    pub(super) fn varint(&mut self) -> Option<u64> {
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
            assert_eq!(Frames::new(bytes).varint(), Some(value));
        }
    }

    #[test]
    fn frames_follow_one_another() {
        // ACK of 5 down to 4 and of 1; PADDING; STREAM 2 with offset 16 and length 3; STREAM 6 to the end, with FIN.
        let packet = [
            &[0x02, 5, 1, 1, 1, 1, 0][..],
            &[0x00],
            &[0x0e, 2, 16, 3, 9, 9, 9],
            &[0x09, 6, 1, 2, 3, 4],
        ]
        .concat();
        let mut frames = Frames::new(&packet);
        let mut next = || frames.next_frame();
        let ack = Frame::Ack { largest: 5, delay: 1, first_range: 1, more: &[1, 0] };
        assert_eq!(next(), Some(ack));
        assert_eq!(next(), Some(Frame::Other { kind: 0, fields: [0; 2] }));
        assert_eq!(next(), Some(Frame::Stream { id: 2, offset: 16, len: 3, fin: false }));
        assert_eq!(next(), Some(Frame::Stream { id: 6, offset: 0, len: 4, fin: true }));
        assert!(frames.is_done());
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        assert_eq!(Frames::new(&[0x40, 0x99]).next_frame(), Some(Frame::Unknown(0x99)));
        assert_eq!(Frames::new(&[0x0e, 2, 0, 9, 1]).next_frame(), None);
    }
}
