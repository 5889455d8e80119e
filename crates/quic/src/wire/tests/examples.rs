//! The worked examples of RFC 9000 and RFC 9001.

use bytes::BytesMut;
use smallvec::smallvec;

use super::super::reader::Reader;
use super::*;

/// RFC 9000 appendix A.1.
#[test]
fn varints() {
    let cases = [
        ("c2197c5eff14e88c", 151_288_809_941_952_652),
        ("9d7f3e7d", 494_878_333),
        ("7bbd", 15_293),
        ("25", 37),
    ];
    for (bytes, value) in cases {
        let bytes = hex(bytes);
        assert_eq!(Reader::new(&bytes).varint(), Some(value));
        let mut out = BytesMut::new();
        write_varint(&mut out, value);
        assert_eq!((&out[..], varint_size(value)), (&bytes[..], bytes.len() as u64));
    }
    assert_eq!(Reader::new(&hex("4025")).varint(), Some(37), "a longer encoding than necessary");
    for truncated in ["", "40", "9d7f3e", "c2197c5eff14e8"] {
        assert_eq!(Reader::new(&hex(truncated)).varint(), None, "{truncated}");
    }
}

/// RFC 9000 appendix A.2.
#[test]
fn packet_numbers_are_truncated() {
    let acked = Some(0x00ab_e8b3);
    assert_eq!(Number::truncated(0x00ac_5c02, acked).len, 2);
    assert_eq!(Number::truncated(0x00ac_e8fe, acked).len, 3);
    assert_eq!(Number::truncated(0x00ac_5c02, acked).on_wire(), 0x5c02);
    // More than twice as many numbers as are unacknowledged can be told apart (section 17.1). The appendix's formula is
    // content with exactly twice as many.
    for (unacked, len) in
        [(1, 1), (0x7f, 1), (0x80, 2), (0x7fff, 2), (0x8000, 3), (0x7f_ffff, 3), (0x80_0000, 4)]
    {
        assert_eq!(Number::truncated(7_000_000_000 + unacked, Some(7_000_000_000)).len, len);
        assert_eq!(Number::truncated(unacked - 1, None).len, len, "none acknowledged yet");
    }
}

/// RFC 9000 appendix A.3.
#[test]
fn packet_numbers_are_expanded() {
    assert_eq!(Number::expanded(0x9b32, 2, Some(0xa82f_30ea)).value, 0xa82f_9b32);
    // By hand: the expected number is 256, and the window goes from 129 to 384.
    for (on_wire, value) in [(0x80, 384), (0x81, 129), (0xff, 255), (0x00, 256), (0x7f, 383)] {
        assert_eq!(Number::expanded(on_wire, 1, Some(255)).value, value, "{on_wire:#x}");
    }
    assert_eq!(Number::expanded(0xff, 1, None).value, 255, "no number lies below zero");
    assert_eq!(Number::expanded(0x00, 1, Some(MAX_VARINT - 2)).value, MAX_VARINT - 0xff);
}

/// The frames of RFC 9001 appendix A.3: an acknowledgement of packet 0, and a `ServerHello`.
#[test]
fn the_server_initial() {
    let hello = "020000560303eefce7f7b37ba1d1632e96677825ddf73988cfc79825df566dc5430b9a045a1200130100002e00\
                 330024001d00209d3c940d89690b84d08a60993c144eca684d1081287c834d5311bcf32bb9da1a002b00020304";
    let ack = Ack { ranges: smallvec![AckRange { smallest: 0, largest: 0 }], delay: 0, ecn: None };
    let packet = Packet {
        header: Header::Initial(Box::new(LongHeader {
            destination: ConnectionId::default(),
            source: ConnectionId::new(&hex("f067a5502a4262b5")).unwrap(),
            token: Bytes::new(),
            number: Number { value: 1, len: 2 },
        })),
        frames: smallvec![Frame::Ack(ack), Frame::Crypto { offset: 0, data: hex(hello).into() }],
    };
    let mut bytes = BytesMut::new();
    packet.encode(&Zeros, &mut bytes);
    let header = "c1000000010008f067a5502a4262b50040750001";
    let frames = format!("02000000000600405a{hello}");
    let expected = [hex(header), hex(&frames), null_tag(1).to_vec()].concat();
    assert_eq!(bytes, expected);
    assert_eq!(packet.size(), expected.len() as u64);
}

/// The unprotected first byte of RFC 9001 appendix A.5, with the spin and key phase bits by RFC 9000 figure 19.
#[test]
fn short_headers() {
    let number = Number { value: 654_360_564, len: 3 };
    for (spin, key_phase, expected) in
        [(false, false, "4200bff4"), (true, false, "6200bff4"), (false, true, "4600bff4")]
    {
        let destination = ConnectionId::default();
        let mut bytes = BytesMut::new();
        Header::OneRtt { destination, spin, key_phase, number }.encode(1, &mut bytes);
        assert_eq!(bytes, hex(expected));
    }
}

/// RFC 9001 appendix A.4, except for the four unused bits of the first byte, which are ones there and zeros here.
#[test]
fn retry() {
    let bytes = hex("ff000000010008f067a5502a4262b5746f6b656e04a265ba2eff4d829058fb3f0f2496ba");
    let source = ConnectionId::new(&hex("f067a5502a4262b5")).unwrap();
    let tag = hex("04a265ba2eff4d829058fb3f0f2496ba").try_into().unwrap();
    let (destination, token) = (ConnectionId::default(), Bytes::from_static(b"token"));
    let expected = Incoming::Retry { destination, source, token: token.clone(), tag };
    assert_eq!(Incoming::decode(&bytes, 8), Some(expected));
    let retry = Datagram::Retry { destination, source, token, tag };
    let mut out = BytesMut::new();
    retry.encode(&Zeros, &mut out);
    assert_eq!((out[0], &out[1..]), (0xf0, &bytes[1..]));
    assert_eq!(retry.size(), bytes.len() as u64);
}

/// Frames worked by hand from the figures of RFC 9000 section 19, RFC 9221 section 4 and
/// draft-ietf-quic-ack-frequency.
#[test]
fn frames_by_hand() {
    let stream = |offset, len, fin, explicit_len| Frame::Stream {
        id: StreamId(0x44),
        offset,
        len,
        fin,
        explicit_len,
    };
    let ranges = smallvec![
        AckRange { smallest: 98, largest: 100 },
        AckRange { smallest: 90, largest: 95 },
        AckRange { smallest: 7, largest: 7 }
    ];
    let ecn = Some(Box::new(EcnCounts { ect0: 1, ect1: 2, ce: 64 }));
    let reason = Bytes::from_static(b"no");
    let close = |frame_type| Box::new(Close { code: 0x0a, frame_type, reason: reason.clone() });
    let new_id = NewConnectionId {
        sequence: 3,
        retire_prior_to: 1,
        id: ConnectionId::new(&[9, 8]).unwrap(),
        token: ResetToken([7; 16]),
    };
    let bidirectional = Directionality::Bidirectional;
    let unidirectional = Directionality::Unidirectional;
    let cases = [
        (Frame::Padding(3), "000000"),
        (Frame::Ping, "01"),
        // Gaps: 98 - 95 - 2 = 1, and 90 - 7 - 2 = 81.
        (Frame::Ack(Ack { ranges, delay: 9, ecn }), "03 4064 09 02 02 01 05 4051 00 01 02 4040"),
        (stream(0, 2, false, true), "0a 4044 02 0000"),
        (stream(5, 1, true, true), "0f 4044 05 01 00"),
        (stream(5, 1, false, false), "0c 4044 05 00"),
        (stream(0, 0, true, false), "09 4044"),
        (Frame::MaxStreams { kind: bidirectional, limit: 1 }, "12 01"),
        (Frame::MaxStreams { kind: unidirectional, limit: 1 }, "13 01"),
        (Frame::StreamsBlocked { kind: bidirectional, limit: 1 }, "16 01"),
        (Frame::StreamsBlocked { kind: unidirectional, limit: 1 }, "17 01"),
        (
            Frame::NewConnectionId(Box::new(new_id)),
            "18 03 01 02 0908 07070707070707070707070707070707",
        ),
        (Frame::PathChallenge(0x0102_0304_0506_0708), "1a 0102030405060708"),
        (Frame::ConnectionClose(close(Some(0x06))), "1c 0a 06 02 6e6f"),
        (Frame::ConnectionClose(close(None)), "1d 0a 02 6e6f"),
        (Frame::Datagram { data: Bytes::from_static(b"no"), explicit_len: true }, "31 02 6e6f"),
        (Frame::Datagram { data: Bytes::from_static(b"no"), explicit_len: false }, "30 6e6f"),
        (
            Frame::AckFrequency { sequence: 1, threshold: 2, max_ack_delay: 3, reordering: 4 },
            "40af 01 02 03 04",
        ),
        (Frame::ImmediateAck, "1f"),
    ];
    check_encodings(&cases);
}

/// The figures of draft-ietf-quic-multipath section 4.
#[test]
fn frames_of_multipath_have_their_encodings() {
    let ranges = smallvec![AckRange { smallest: 98, largest: 100 }];
    let ecn = Some(Box::new(EcnCounts { ect0: 1, ect1: 2, ce: 64 }));
    let ack = |ecn| Ack { ranges: ranges.clone(), delay: 9, ecn };
    let new = Box::new(NewConnectionId {
        sequence: 3,
        retire_prior_to: 1,
        id: ConnectionId::new(&[9, 8]).unwrap(),
        token: ResetToken([7; 16]),
    });
    let path = 5;
    let frames = [
        (PathFrame::Abandon { path, code: 0x3e76 }, "7e75 05 7e76"),
        (PathFrame::Status { path, sequence: 2, backup: true }, "7e76 05 02"),
        (PathFrame::Status { path, sequence: 64, backup: false }, "7e77 05 4040"),
        (
            PathFrame::NewConnectionId { path, new },
            "7e78 05 03 01 02 0908 07070707070707070707070707070707",
        ),
        (PathFrame::RetireConnectionId { path, sequence: 1 }, "7e79 05 01"),
        (PathFrame::MaxPathId(u32::MAX), "7e7a c0000000ffffffff"),
        (PathFrame::PathsBlocked(64), "7e7b 4040"),
        (PathFrame::CidsBlocked { path, next: 4 }, "7e7c 05 04"),
    ];
    let mut cases: Vec<_> =
        frames.into_iter().map(|(frame, bytes)| (Frame::Path(frame), bytes)).collect();
    cases.push((Frame::PathAck { path, ack: ack(None) }, "3e 05 4064 09 00 02"));
    cases.push((Frame::PathAck { path, ack: ack(ecn) }, "3f 05 4064 09 00 02 01 02 4040"));
    check_encodings(&cases);
}

#[track_caller]
fn check_encodings(cases: &[(Frame, &str)]) {
    for (frame, expected) in cases {
        let mut out = BytesMut::new();
        frame.encode(&Zeros, &mut out);
        assert_eq!(out, hex(expected), "{frame:?}");
        assert_eq!(frame.size(), out.len() as u64, "{frame:?}");
        let decoded = decode_frames(&out, Level::OneRtt, &Zeros).unwrap();
        assert_eq!(decoded[..], *std::slice::from_ref(frame));
    }
}
