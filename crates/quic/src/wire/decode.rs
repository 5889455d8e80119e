//! Frames from the payload of a packet (RFC 9000 section 19).

use bytes::Bytes;
use smallvec::SmallVec;

use super::MAX_VARINT;
use super::ack::{Ack, AckRange, EcnCounts};
use super::connection_id::{ConnectionId, ResetToken};
use super::content::Content;
use super::error::{ErrorCode, TransportError};
use super::frame::{Close, Directionality, Frame, NewConnectionId, StreamId};
use super::kind::{stream_bits, types};
use super::multipath::PathFrame;
use super::packet::{Frames, Level};
use super::reader::Reader;
use super::varint_size;

/// Most streams of a kind that IDs can number (RFC 9000 section 4.6).
pub const MAX_STREAMS: u64 = 1 << 60;

/// Reads the frames of a packet's payload, after protection is removed. CRYPTO, token and DATAGRAM contents are copied, so
/// that no frame holds the memory of its datagram; STREAM contents are shown to `content`.
///
/// # Errors
/// `FRAME_ENCODING_ERROR` for malformed and unknown frames; `PROTOCOL_VIOLATION` for a payload without frames (RFC 9000
/// section 12.4), a frame that this level does not allow, and a type in more bytes than needed; `INTERNAL_ERROR` if
/// `content` expects other bytes.
pub fn decode_frames(
    payload: &[u8],
    level: Level,
    content: &dyn Content,
) -> Result<Frames, TransportError> {
    let mut decoder = Decoder { reader: Reader::new(payload), content };
    if payload.is_empty() {
        let reason = "a packet without frames";
        return Err(TransportError::new(ErrorCode::PROTOCOL_VIOLATION, reason));
    }
    let mut frames = Frames::new();
    while !decoder.reader.is_empty() {
        let frame = decoder.frame()?;
        if !frame.is_allowed_in(level) {
            let reason = format!("a frame that packets of the {level:?} level cannot carry");
            return Err(TransportError::new(ErrorCode::PROTOCOL_VIOLATION, reason)
                .in_frame(frame.frame_type()));
        }
        frames.push(frame);
    }
    Ok(frames)
}

struct Decoder<'a> {
    reader: Reader<'a>,
    content: &'a dyn Content,
}

/// Why a frame cannot be read.
enum Fault {
    /// The packet ends within the frame.
    Truncated,
    /// A field has a forbidden value.
    Invalid(&'static str),
    /// Any other.
    Other(ErrorCode, &'static str),
}

type Decoded<T> = Result<T, Fault>;

impl Decoder<'_> {
    fn frame(&mut self) -> Result<Frame, TransportError> {
        let available = self.reader.remaining();
        let Some(frame_type) = self.reader.varint() else {
            let reason = "the packet ends within a frame type";
            return Err(TransportError::new(ErrorCode::FRAME_ENCODING_ERROR, reason));
        };
        let type_size = (available - self.reader.remaining()) as u64;
        let read = if type_size > varint_size(frame_type) {
            // RFC 9000 section 12.4 allows this error for a type that is not in its shortest form.
            Err(Fault::Other(ErrorCode::PROTOCOL_VIOLATION, "a frame type in too many bytes"))
        } else {
            self.fields(frame_type)
        };
        read.map_err(|fault| {
            let (code, reason) = match fault {
                Fault::Truncated => {
                    (ErrorCode::FRAME_ENCODING_ERROR, "the packet ends within a frame")
                }
                Fault::Invalid(reason) => (ErrorCode::FRAME_ENCODING_ERROR, reason),
                Fault::Other(code, reason) => (code, reason),
            };
            TransportError::new(code, reason).in_frame(frame_type)
        })
    }

    fn fields(&mut self, frame_type: u64) -> Decoded<Frame> {
        Ok(match frame_type {
            types::PADDING => Frame::Padding(1 + self.reader.skip_zeros() as u64),
            types::STREAM..=types::STREAM_LAST => self.stream(frame_type)?,
            types::ACK | types::ACK_ECN => Frame::Ack(self.ack(frame_type == types::ACK_ECN)?),
            types::PING => Frame::Ping,
            types::RESET_STREAM => Frame::ResetStream {
                id: self.stream_id()?,
                code: self.varint()?,
                final_size: self.varint()?,
            },
            types::STOP_SENDING => {
                Frame::StopSending { id: self.stream_id()?, code: self.varint()? }
            }
            types::CRYPTO => self.crypto()?,
            types::NEW_TOKEN => self.new_token()?,
            types::MAX_DATA => Frame::MaxData(self.varint()?),
            types::MAX_STREAM_DATA => {
                Frame::MaxStreamData { id: self.stream_id()?, limit: self.varint()? }
            }
            types::MAX_STREAMS_BIDI | types::MAX_STREAMS_UNI => Frame::MaxStreams {
                kind: kind(frame_type == types::MAX_STREAMS_UNI),
                limit: self.streams()?,
            },
            types::DATA_BLOCKED => Frame::DataBlocked(self.varint()?),
            types::STREAM_DATA_BLOCKED => {
                Frame::StreamDataBlocked { id: self.stream_id()?, limit: self.varint()? }
            }
            types::STREAMS_BLOCKED_BIDI | types::STREAMS_BLOCKED_UNI => Frame::StreamsBlocked {
                kind: kind(frame_type == types::STREAMS_BLOCKED_UNI),
                limit: self.streams()?,
            },
            types::NEW_CONNECTION_ID => Frame::NewConnectionId(Box::new(self.new_connection_id()?)),
            types::RETIRE_CONNECTION_ID => Frame::RetireConnectionId(self.varint()?),
            types::PATH_CHALLENGE => Frame::PathChallenge(whole(self.reader.u64())?),
            types::PATH_RESPONSE => Frame::PathResponse(whole(self.reader.u64())?),
            types::CONNECTION_CLOSE => {
                let (code, frame_type) = (self.varint()?, Some(self.varint()?));
                let reason = self.prefixed()?;
                Frame::ConnectionClose(Box::new(Close { code, frame_type, reason }))
            }
            types::APPLICATION_CLOSE => {
                let code = self.varint()?;
                let reason = self.prefixed()?;
                Frame::ConnectionClose(Box::new(Close { code, frame_type: None, reason }))
            }
            types::HANDSHAKE_DONE => Frame::HandshakeDone,
            types::DATAGRAM => {
                let data = whole(self.reader.take(self.reader.remaining()))?;
                Frame::Datagram { data: Bytes::copy_from_slice(data), explicit_len: false }
            }
            types::DATAGRAM_LEN => Frame::Datagram { data: self.prefixed()?, explicit_len: true },
            types::ACK_FREQUENCY => Frame::AckFrequency {
                sequence: self.varint()?,
                threshold: self.varint()?,
                max_ack_delay: self.varint()?,
                reordering: self.varint()?,
            },
            types::IMMEDIATE_ACK => Frame::ImmediateAck,
            types::PATH_ACK | types::PATH_ACK_ECN => Frame::PathAck {
                path: self.path()?,
                ack: self.ack(frame_type == types::PATH_ACK_ECN)?,
            },
            types::PATH_ABANDON..=types::PATH_CIDS_BLOCKED => {
                Frame::Path(self.path_frame(frame_type)?)
            }
            _ => return Err(Fault::Invalid("an unknown frame type")),
        })
    }

    fn path_frame(&mut self, frame_type: u64) -> Decoded<PathFrame> {
        let path = self.path()?;
        Ok(match frame_type {
            types::PATH_ABANDON => PathFrame::Abandon { path, code: self.varint()? },
            types::PATH_STATUS_BACKUP | types::PATH_STATUS_AVAILABLE => {
                let backup = frame_type == types::PATH_STATUS_BACKUP;
                PathFrame::Status { path, sequence: self.varint()?, backup }
            }
            types::PATH_NEW_CONNECTION_ID => {
                PathFrame::NewConnectionId { path, new: Box::new(self.new_connection_id()?) }
            }
            types::PATH_RETIRE_CONNECTION_ID => {
                PathFrame::RetireConnectionId { path, sequence: self.varint()? }
            }
            types::MAX_PATH_ID => PathFrame::MaxPathId(path),
            types::PATHS_BLOCKED => PathFrame::PathsBlocked(path),
            _ => PathFrame::CidsBlocked { path, next: self.varint()? },
        })
    }

    /// A path ID. Larger ones than the nonce has room for are beyond every limit (draft-ietf-quic-multipath section 4).
    fn path(&mut self) -> Decoded<u32> {
        let path = u32::try_from(self.varint()?);
        path.map_err(|_| Fault::Other(ErrorCode::PROTOCOL_VIOLATION, "a path ID of 2^32 or more"))
    }

    fn varint(&mut self) -> Decoded<u64> {
        whole(self.reader.varint())
    }

    fn stream_id(&mut self) -> Decoded<StreamId> {
        self.varint().map(StreamId)
    }

    fn prefixed(&mut self) -> Decoded<Bytes> {
        whole(self.reader.prefixed()).map(Bytes::copy_from_slice)
    }

    fn crypto(&mut self) -> Decoded<Frame> {
        let (offset, data) = (self.varint()?, self.prefixed()?);
        check_end(offset, data.len() as u64)?;
        Ok(Frame::Crypto { offset, data })
    }

    fn new_token(&mut self) -> Decoded<Frame> {
        let token = self.prefixed()?;
        if token.is_empty() {
            return Err(Fault::Invalid("an empty token"));
        }
        Ok(Frame::NewToken(token))
    }

    fn streams(&mut self) -> Decoded<u64> {
        let limit = self.varint()?;
        if limit > MAX_STREAMS {
            return Err(Fault::Invalid("more streams than IDs can number"));
        }
        Ok(limit)
    }

    fn stream(&mut self, frame_type: u64) -> Decoded<Frame> {
        let id = self.stream_id()?;
        let offset = if frame_type & stream_bits::OFF == 0 { 0 } else { self.varint()? };
        let explicit_len = frame_type & stream_bits::LEN != 0;
        let data = if explicit_len {
            whole(self.reader.prefixed())?
        } else {
            whole(self.reader.take(self.reader.remaining()))?
        };
        let len = data.len() as u64;
        check_end(offset, len)?;
        if !self.content.check(id, offset, data) {
            return Err(Fault::Other(ErrorCode::INTERNAL_ERROR, "unexpected stream content"));
        }
        let fin = frame_type & stream_bits::FIN != 0;
        Ok(Frame::Stream { id, offset, len, fin, explicit_len })
    }

    fn ack(&mut self, with_ecn: bool) -> Decoded<Ack> {
        const BELOW_ZERO: Fault = Fault::Invalid("a range of packets below number zero");
        let largest = self.varint()?;
        let delay = self.varint()?;
        let more = self.varint()?;
        let smallest = largest.checked_sub(self.varint()?).ok_or(BELOW_ZERO)?;
        let mut last = AckRange { smallest, largest };
        let mut ranges = SmallVec::new();
        ranges.push(last);
        for _ in 0..more {
            // RFC 9000 section 19.3.1: a gap of zero is one packet.
            let largest = last.smallest.checked_sub(self.varint()? + 2).ok_or(BELOW_ZERO)?;
            let smallest = largest.checked_sub(self.varint()?).ok_or(BELOW_ZERO)?;
            last = AckRange { smallest, largest };
            ranges.push(last);
        }
        let ecn = if with_ecn {
            let (ect0, ect1, ce) = (self.varint()?, self.varint()?, self.varint()?);
            Some(Box::new(EcnCounts { ect0, ect1, ce }))
        } else {
            None
        };
        Ok(Ack { ranges, delay, ecn })
    }

    fn new_connection_id(&mut self) -> Decoded<NewConnectionId> {
        let sequence = self.varint()?;
        let retire_prior_to = self.varint()?;
        if retire_prior_to > sequence {
            return Err(Fault::Invalid("a connection ID that retires itself"));
        }
        let len = whole(self.reader.u8())?;
        if len == 0 || usize::from(len) > ConnectionId::MAX_SIZE {
            return Err(Fault::Invalid("a connection ID that is not of 1 to 20 bytes"));
        }
        let id = whole(self.reader.take(usize::from(len)).and_then(ConnectionId::new))?;
        let token = ResetToken(whole(self.reader.array())?);
        Ok(NewConnectionId { sequence, retire_prior_to, id, token })
    }
}

fn whole<T>(read: Option<T>) -> Decoded<T> {
    read.ok_or(Fault::Truncated)
}

const fn kind(unidirectional: bool) -> Directionality {
    if unidirectional { Directionality::Unidirectional } else { Directionality::Bidirectional }
}

/// RFC 9000 sections 19.6 and 19.8: no byte of a stream lies beyond the largest offset.
fn check_end(offset: u64, len: u64) -> Decoded<()> {
    if offset + len > MAX_VARINT {
        return Err(Fault::Invalid("data beyond the largest offset"));
    }
    Ok(())
}
