//! Malformed input gives the error that RFC 9000 names, and nothing panics.

use bytes::BytesMut;

use super::*;

#[track_caller]
fn error(bytes: &str, level: Level) -> (ErrorCode, Option<u64>) {
    let error = decode_frames(&hex(bytes), level, &Zeros).unwrap_err();
    (error.code, error.frame_type)
}

#[test]
fn frames() {
    let encoding = ErrorCode::FRAME_ENCODING_ERROR;
    let violation = ErrorCode::PROTOCOL_VIOLATION;
    let max_streams = "d000000000000001";
    let cases = [
        ("section 12.4: no frame", String::new(), violation, None),
        ("section 12.4: unknown type", "21".into(), encoding, Some(0x21)),
        ("a reserved type", "5b9c".into(), encoding, Some(0x1b9c)),
        ("section 12.4: type too long", "4001".into(), violation, Some(1)),
        ("a type cut off", "40".into(), encoding, None),
        ("19.3.1: first range below zero", "02 05 00 00 06".into(), encoding, Some(2)),
        ("19.3.1: gap below zero", "02 05 00 01 00 04 00".into(), encoding, Some(2)),
        ("19.3.1: range below zero", "02 05 00 01 00 01 03".into(), encoding, Some(2)),
        ("19.3: ranges cut off", "02 05 00 01 00".into(), encoding, Some(2)),
        ("19.3: more ranges than bytes", "02 05 00 ffffffffffffffff 00".into(), encoding, Some(2)),
        ("19.3.2: counts cut off", "03 05 00 00 00 01 01".into(), encoding, Some(3)),
        ("19.6: beyond the last offset", "06 ffffffffffffffff 01 00".into(), encoding, Some(6)),
        ("19.6: data cut off", "06 00 02 00".into(), encoding, Some(6)),
        ("19.7: empty token", "07 00".into(), encoding, Some(7)),
        ("19.8: beyond the last offset", "0c 00 ffffffffffffffff 00".into(), encoding, Some(0x0c)),
        ("19.8: data cut off", "0a 00 02 00".into(), encoding, Some(0x0a)),
        ("19.11: too many streams", format!("12 {max_streams}"), encoding, Some(0x12)),
        ("19.14: too many streams", format!("17 {max_streams}"), encoding, Some(0x17)),
        (
            "19.15: retires itself",
            format!("18 01 02 01 00 {}", "00".repeat(16)),
            encoding,
            Some(0x18),
        ),
        ("19.15: empty ID", format!("18 01 01 00 {}", "00".repeat(16)), encoding, Some(0x18)),
        ("19.15: 21 bytes of ID", format!("18 01 01 15 {}", "00".repeat(37)), encoding, Some(0x18)),
        ("19.17: data cut off", "1a 00000000000000".into(), encoding, Some(0x1a)),
        ("19.19: reason cut off", "1c 00 00 02 00".into(), encoding, Some(0x1c)),
        ("multipath: a path cut off", "7e75".into(), encoding, Some(0x3e75)),
        ("multipath: a path of 2^32", "3e c000000100000000".into(), violation, Some(0x3e)),
        ("multipath: a limit of 2^32", "7e7a c000000100000000".into(), violation, Some(0x3e7a)),
        ("multipath: the type after the last", "7e7d 00".into(), encoding, Some(0x3e7d)),
        (
            "multipath: an ID that retires itself",
            format!("7e78 00 01 02 01 00 {}", "00".repeat(16)),
            encoding,
            Some(0x3e78),
        ),
    ];
    for (what, bytes, code, frame_type) in cases {
        assert_eq!(error(&bytes, Level::OneRtt), (code, frame_type), "{what}");
    }
    let largest = hex("12 d000000000000000");
    assert!(decode_frames(&largest, Level::OneRtt, &Zeros).is_ok(), "2^60 streams exist");
}

/// The first bytes of frames that 0-RTT packets cannot carry (RFC 9000 section 12.5): ACK, CRYPTO, `NEW_TOKEN`,
/// `RETIRE_CONNECTION_ID`, `PATH_RESPONSE` and `HANDSHAKE_DONE`; and those of several paths, on which nobody has agreed yet.
const LATE: [&str; 10] = ["02", "03", "06", "07", "19", "1b", "1e", "3e", "3f", "7e"];

/// Every frame in one encoding, and the levels of table 3 of RFC 9000 beside 1-RTT. DATAGRAM belongs to 0-RTT and 1-RTT
/// (RFC 9221 section 4).
#[test]
fn levels() {
    let token = "00".repeat(16);
    let anywhere =
        ["00", "01", "02 00 00 00 00", "03 00 00 00 00 00 00 00", "06 00 00", "1c 00 00 00"];
    let cases: Vec<(String, bool)> = anywhere
        .iter()
        .map(|bytes| ((*bytes).to_owned(), true))
        .chain(
            [
                "04 00 00 00",
                "05 00 00",
                "07 01 00",
                "08 00",
                "0f 00 00 00",
                "10 00",
                "11 00 00",
                "12 00",
                "13 00",
                "14 00",
                "15 00 00",
                "16 00",
                "17 00",
                "19 00",
                "1a 0000000000000000",
                "1b 0000000000000000",
                "1d 00 00",
                "1e",
                "1f",
                "30",
                "31 00",
                "40af 00 00 00 00",
                "3e 00 00 00 00 00",
                "3f 00 00 00 00 00 00 00 00",
                "7e75 00 00",
                "7e76 00 00",
                "7e77 00 00",
                "7e79 00 00",
                "7e7a 00",
                "7e7b 00",
                "7e7c 00 00",
            ]
            .iter()
            .map(|bytes| ((*bytes).to_owned(), false)),
        )
        .chain([(format!("18 00 00 01 00 {token}"), false)])
        .chain([(format!("7e78 00 00 00 01 00 {token}"), false)])
        .collect();
    for (bytes, is_allowed) in cases {
        let frame = decode_frames(&hex(&bytes), Level::OneRtt, &Zeros).unwrap();
        for level in [Level::Initial, Level::Handshake, Level::ZeroRtt] {
            let read = decode_frames(&hex(&bytes), level, &Zeros);
            let is_early = !LATE.contains(&&bytes[..2]);
            let is_allowed = if level == Level::ZeroRtt { is_early } else { is_allowed };
            assert_eq!(read.is_ok(), is_allowed, "{frame:?} at {level:?}");
            if !is_allowed {
                let expected = (ErrorCode::PROTOCOL_VIOLATION, Some(frame[0].frame_type()));
                assert_eq!(error(&bytes, level), expected);
            }
        }
    }
}

#[test]
fn headers() {
    let id = "08 0102030405060708";
    let discarded = [
        ("nothing", String::new()),
        ("a short header without the fixed bit", format!("00 {id} {id} {id}")),
        ("a short header shorter than its connection ID", "40 01020304050607".to_owned()),
        ("a long header without the fixed bit", format!("80 00000001 {id} {id} 00 4001 00")),
        (
            "a connection ID of 21 bytes",
            format!("c0 00000001 15 {} 00 00 4001 00", "00".repeat(21)),
        ),
        ("a length beyond the datagram", format!("e0 00000001 {id} {id} 4002 00")),
        ("a token beyond the datagram", format!("c0 00000001 {id} {id} 05 00")),
        ("Version Negotiation without versions", format!("c0 00000000 {id} {id}")),
        ("Version Negotiation with half a version", format!("c0 00000000 {id} {id} 0000")),
        ("Retry without a token", format!("f0 00000001 {id} {id} {}", "00".repeat(16))),
        ("Retry shorter than its tag", format!("f0 00000001 {id} {id} {}", "00".repeat(15))),
    ];
    for (what, bytes) in discarded {
        assert_eq!(Incoming::decode(&hex(&bytes), 8), None, "{what}");
    }
    let id = ConnectionId::new(&[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    let text = "08 0102030405060708";
    let other = Incoming::OtherVersion { destination: id, source: id, version: 0x6b33_43cf };
    assert_eq!(Incoming::decode(&hex(&format!("80 6b3343cf {text} {text} 77")), 8), Some(other));
    let zero_rtt = Incoming::Packet(ProtectedHeader {
        level: Level::ZeroRtt,
        destination: id,
        source: id,
        token: bytes::Bytes::new(),
        number_offset: 25,
        size: 26,
    });
    let bytes = format!("d0 00000001 {text} {text} 4001 77 99");
    assert_eq!(Incoming::decode(&hex(&bytes), 8), Some(zero_rtt));
}

/// RFC 9000 sections 17.2.1 and 17.2.5.
#[test]
fn unused_bits_are_ignored() {
    let ids = "08 0102030405060708 08 0102030405060708";
    let read = |first: u8, rest: &str| {
        let incoming = Incoming::decode(&hex(&format!("{first:02x} {rest}")), 8);
        assert!(incoming.is_some(), "{first:#x} {rest}");
        incoming
    };
    let versions = format!("00000000 {ids} 00000001");
    let retry = format!("00000001 {ids} 746f6b656e {}", "00".repeat(16));
    for bits in 0..0x80 {
        assert_eq!(read(0x80 | bits, &versions), read(0x80, &versions));
    }
    for bits in 0..0x10 {
        assert_eq!(read(0xf0 | bits, &retry), read(0xf0, &retry));
    }
}

#[test]
fn reserved_bits() {
    for (first, level, is_ok) in [
        (0x40, Level::OneRtt, true),
        (0x48, Level::OneRtt, false),
        (0x50, Level::OneRtt, false),
        (0xc0, Level::Initial, true),
        (0xc4, Level::Initial, false),
        (0xe8, Level::Handshake, false),
    ] {
        let header = ProtectedHeader {
            level,
            destination: ConnectionId::default(),
            source: ConnectionId::default(),
            token: Bytes::new(),
            number_offset: 0,
            size: 0,
        };
        let complete = header.complete(first, Number { value: 0, len: 1 });
        let code = complete.err().map(|error| error.code);
        assert_eq!(code, (!is_ok).then_some(ErrorCode::PROTOCOL_VIOLATION), "{first:#x}");
    }
}

/// Whatever decodes is decoded to the same frames after it was encoded again.
fn check_frames(bytes: &Bytes, level: Level) {
    let Ok(frames) = decode_frames(bytes, level, &Zeros) else { return };
    let mut again = BytesMut::new();
    for frame in &frames {
        frame.encode(&Zeros, &mut again);
    }
    let size: u64 = frames.iter().map(Frame::size).sum();
    assert_eq!(size, again.len() as u64);
    assert!(size <= bytes.len() as u64, "our encoding is the shortest");
    assert_eq!(decode_frames(&again, level, &Zeros), Ok(frames));
}

fn level() -> impl Strategy<Value = Level> {
    prop_oneof![Just(Level::Initial), Just(Level::Handshake), Just(Level::OneRtt)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_as_frames(bytes in content(200), level in level()) {
        check_frames(&bytes, level);
    }

    #[test]
    fn damaged_frames_are_read(
        frames in super::frames(Level::OneRtt),
        cut in any::<prop::sample::Index>(),
        flips in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let mut bytes = BytesMut::new();
        for frame in &frames {
            frame.encode(&Zeros, &mut bytes);
        }
        for (at, flip) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
        }
        let whole = bytes.freeze();
        check_frames(&whole, Level::OneRtt);
        check_frames(&whole.slice(..cut.index(whole.len())), Level::OneRtt);
    }

    #[test]
    fn any_bytes_are_read_as_packets(first in any::<u8>(), version in 0..3_u32, bytes in content(100), id_len in 0..=20_usize) {
        let bytes = [&[first], &version.to_be_bytes()[..], &bytes[..]].concat();
        if let Some(Incoming::Packet(header)) = Incoming::decode(&bytes, id_len) {
            prop_assert!(header.number_offset <= header.size && header.size <= bytes.len());
        }
    }

    #[test]
    fn any_bytes_are_read_as_parameters(bytes in content(200)) {
        if let Ok(params) = TransportParameters::of_server(&bytes) {
            let mut again = Vec::new();
            params.write(&mut again);
            prop_assert_eq!(TransportParameters::of_server(&again), Ok(params));
        }
    }
}
