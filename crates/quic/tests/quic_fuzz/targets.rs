//! The codec: frames, headers and transport parameters.

use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::BytesMut;
use leobench_quic::wire::{
    ErrorCode, Frame, Incoming, Level, TransportParameters, Zeros, decode_frames,
};

/// A number for anything.
pub(crate) fn hash(outcome: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    outcome.hash(&mut hasher);
    hasher.finish()
}

/// The first byte is the level, the others are the payload of a packet. What is decoded is encoded and decoded again.
pub(crate) fn frames(input: &[u8]) -> u64 {
    let Some((level, payload)) = input.split_first() else { return 0 };
    let level = [Level::Initial, Level::Handshake, Level::OneRtt][usize::from(level % 3)];
    match decode_frames(payload, level, &Zeros) {
        Ok(frames) => {
            let mut again = BytesMut::new();
            frames.iter().for_each(|frame| frame.encode(&Zeros, &mut again));
            let size: u64 = frames.iter().map(Frame::size).sum();
            assert_eq!(size, again.len() as u64);
            assert_eq!(decode_frames(&again, level, &Zeros).as_ref(), Ok(&frames));
            let types: Vec<u64> = frames.iter().map(Frame::frame_type).take(4).collect();
            hash((level, types))
        }
        Err(error) => {
            let expected = [ErrorCode::FRAME_ENCODING_ERROR, ErrorCode::PROTOCOL_VIOLATION];
            assert!(expected.contains(&error.code), "{error}");
            hash((level, error.code, error.frame_type, error.reason))
        }
    }
}

/// The first byte is the size of connection IDs, the others are a datagram.
pub(crate) fn headers(input: &[u8]) -> u64 {
    let Some((id_len, datagram)) = input.split_first() else { return 0 };
    let mut rest = datagram;
    let mut kinds = Vec::new();
    while let Some(incoming) = Incoming::decode(rest, usize::from(id_len % 21)) {
        let (kind, size) = match incoming {
            Incoming::Packet(header) => {
                assert!(header.number_offset <= header.size);
                (header.level as u8, header.size)
            }
            Incoming::Retry { .. } => (4, rest.len()),
            Incoming::VersionNegotiation { .. } => (5, rest.len()),
            Incoming::OtherVersion { .. } => (6, rest.len()),
        };
        assert!((1..=rest.len()).contains(&size), "{size} of {}", rest.len());
        kinds.push(kind);
        rest = &rest[size..];
    }
    kinds.truncate(6);
    hash((kinds, rest.is_empty()))
}

/// The parameters of a server. What is read is written and read again.
pub(crate) fn parameters(input: &[u8]) -> u64 {
    match TransportParameters::of_server(input) {
        Ok(params) => {
            let mut again = Vec::new();
            params.write(&mut again);
            assert_eq!(TransportParameters::of_server(&again).as_ref(), Ok(&params));
            let is_of_client = TransportParameters::of_client(input).is_ok();
            hash((is_of_client, again.len()))
        }
        Err(error) => {
            assert_eq!(error.code, ErrorCode::TRANSPORT_PARAMETER_ERROR, "{error}");
            hash(error.reason)
        }
    }
}
