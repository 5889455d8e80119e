//! Round trips through the codec: random packets, frames and datagrams are encoded and decoded again.

use bytes::BytesMut;
use smallvec::SmallVec;

use super::*;

/// The first packet of a datagram without protection, and what follows it.
fn decode(mut bytes: Bytes, id_len: usize, largest: Option<u64>) -> (Packet, Bytes) {
    let Some(Incoming::Packet(header)) = Incoming::decode(&bytes, id_len) else {
        panic!("no packet with frames: {bytes:?}")
    };
    let rest = bytes.split_off(header.size);
    let len = (bytes[0] & 0x03) + 1;
    let start = header.number_offset + usize::from(len);
    let on_wire = bytes[header.number_offset..start].iter().fold(0, |v, b| v << 8 | u32::from(*b));
    let level = header.level;
    let header = header.complete(bytes[0], Number::expanded(on_wire, len, largest)).unwrap();
    let payload = bytes.slice(start..bytes.len() - TAG_SIZE as usize);
    (Packet { header, frames: decode_frames(&payload, level, &Zeros).unwrap() }, rest)
}

/// The largest number received before `number`, if all went well.
fn before(number: Number) -> Option<u64> {
    number.value.checked_sub(1)
}

/// Content that tells every byte of every stream from every other near it.
struct Pattern;

impl Content for Pattern {
    fn fill(&self, id: StreamId, offset: u64, out: &mut [u8]) {
        for (at, byte) in (offset..).zip(out) {
            *byte = (id.0.wrapping_mul(31) ^ at ^ at >> 8) as u8;
        }
    }

    fn check(&self, id: StreamId, offset: u64, data: &[u8]) -> bool {
        let mut expected = vec![0; data.len()];
        self.fill(id, offset, &mut expected);
        expected == data
    }
}

proptest! {
    #[test]
    fn a_packet_survives_and_has_its_size(packet in packet()) {
        let mut bytes = BytesMut::new();
        let header_len = packet.encode(&Zeros, &mut bytes);
        prop_assert_eq!(bytes.len() as u64, packet.size());
        prop_assert_eq!(header_len as u64, packet.header.size(packet.payload_size()));
        let id_len = packet.header.destination().size() as usize;
        let (decoded, rest) = decode(bytes.freeze(), id_len, before(packet.header.number()));
        prop_assert_eq!(decoded, packet);
        prop_assert!(rest.is_empty());
    }

    #[test]
    fn a_frame_has_its_size(frame in frame()) {
        let mut bytes = BytesMut::new();
        frame.encode(&Zeros, &mut bytes);
        prop_assert_eq!(bytes.len() as u64, frame.size());
    }

    #[test]
    fn coalesced_packets_are_split(mut packets in prop::collection::vec(packet(), 1..4)) {
        // Only the last packet of a datagram may be without a length (RFC 9000 section 12.2).
        packets.sort_by_key(|packet| packet.header.level());
        let first_short = packets.iter().position(|packet| packet.header.level() == Level::OneRtt);
        packets.truncate(first_short.map_or(packets.len(), |at| at + 1));
        let id_len = packets.last().map_or(0, |packet| packet.header.destination().size() as usize);
        let datagram = Datagram::Packets(SmallVec::from_vec(packets.clone()));
        let mut bytes = BytesMut::new();
        datagram.encode(&Zeros, &mut bytes);
        prop_assert_eq!(bytes.len() as u64, datagram.size());
        let mut rest = bytes.freeze();
        for packet in packets {
            let (decoded, more) = decode(rest, id_len, before(packet.header.number()));
            prop_assert_eq!(decoded, packet);
            rest = more;
        }
        prop_assert!(rest.is_empty());
    }

    #[test]
    fn datagrams_without_frames_survive(
        destination in connection_id(0),
        source in connection_id(0),
        versions in prop::collection::vec(any::<u32>(), 1..9),
        token in content(100),
        tag in any::<[u8; 16]>(),
    ) {
        let negotiation = Datagram::VersionNegotiation { destination, source, versions: versions.clone() };
        let retry = Datagram::Retry { destination, source, token: token.clone(), tag };
        let read = |datagram: &Datagram| {
            let mut bytes = BytesMut::new();
            datagram.encode(&Zeros, &mut bytes);
            assert_eq!(bytes.len() as u64, datagram.size());
            Incoming::decode(&bytes, 8)
        };
        let expected = Incoming::VersionNegotiation { destination, source, versions };
        prop_assert_eq!(read(&negotiation), Some(expected));
        let has_token = !token.is_empty();
        let expected = has_token.then_some(Incoming::Retry { destination, source, token, tag });
        prop_assert_eq!(read(&retry), expected);
    }

    #[test]
    fn truncated_numbers_are_recovered(acked in varint(), unacked in 1..1_u64 << 31, lag in 0..1_u64 << 31) {
        // The receiver has seen something from the largest acknowledged packet up to the one before this.
        let value = acked.saturating_add(unacked).min(MAX_VARINT);
        prop_assume!(value > acked);
        let number = Number::truncated(value, Some(acked));
        let received = acked + lag % (value - acked);
        prop_assert_eq!(Number::expanded(number.on_wire(), number.len, Some(received)), number);
    }

    #[test]
    fn stream_content_is_written_and_checked(id in 0..100_u64, offset in 0..10_000_u64, len in 1..2_000_u64) {
        let frame = Frame::Stream { id: StreamId(id), offset, len, fin: false, explicit_len: true };
        let mut bytes = BytesMut::new();
        frame.encode(&Pattern, &mut bytes);
        let (mut other, frame) = (bytes.clone(), [frame]);
        let read = decode_frames(&bytes, Level::OneRtt, &Pattern);
        prop_assert_eq!(&read.unwrap()[..], &frame[..]);
        let last = other.len() - 1;
        other[last] ^= 1;
        let error = decode_frames(&other, Level::OneRtt, &Pattern).unwrap_err();
        prop_assert_eq!((error.code, error.frame_type), (ErrorCode::INTERNAL_ERROR, Some(frame[0].frame_type())));
    }
}

#[test]
fn long_packets_have_a_longer_length_field() {
    let packet = |payload| Packet {
        header: Header::Handshake(Box::new(LongHeader {
            destination: ConnectionId::default(),
            source: ConnectionId::default(),
            token: Bytes::new(),
            number: Number { value: 0, len: 1 },
        })),
        frames: [Frame::Padding(payload)].into_iter().collect(),
    };
    // Length counts the packet number, the frames and the tag: 1 + 16_366 + 16 is the largest number of two bytes.
    for (payload, header) in [(16_366, 7 + 2 + 1), (16_367, 7 + 4 + 1)] {
        let packet = packet(payload);
        assert_eq!(packet.size(), header + payload + 16);
        let mut bytes = BytesMut::new();
        packet.encode(&Zeros, &mut bytes);
        assert_eq!(bytes.len() as u64, packet.size());
        assert_eq!(decode(bytes.freeze(), 0, None).0, packet);
    }
}

#[test]
fn the_sample_of_header_protection_needs_four_bytes() {
    for (len, missing) in [(1, 2), (2, 1), (3, 0), (4, 0)] {
        let number = Number { value: 0, len };
        let destination = ConnectionId::default();
        let header = Header::OneRtt { destination, spin: false, key_phase: false, number };
        let packet = Packet { header, frames: [Frame::Ping].into_iter().collect() };
        assert_eq!(packet.missing_padding(), missing, "a number of {len} bytes and one of PING");
    }
}
