//! Protected packets: what opens, what does not, and why.

use proptest::prelude::*;

use super::*;
use crate::wire::{ErrorCode, ResetToken};

fn pairs() -> [[End; 2]; 2] {
    [[Crypto::Null(None), Crypto::Null(None)], tls(&settings())]
        .map(|cryptos| shake(&cryptos, usize::MAX).unwrap())
}

#[test]
fn coalesced_packets_open_one_by_one() {
    for [mut client, mut server] in pairs() {
        let levels = [Level::Initial, Level::Handshake, Level::OneRtt];
        let packets = levels.map(|level| packet(level, Role::Client, 5, false, ping()));
        let mut bytes = BytesMut::new();
        for packet in &packets {
            client.protection.seal(PATH, packet, &Zeros, &mut bytes).unwrap();
        }
        for packet in packets {
            let opened = server.protection.open(&mut bytes, &receive(SimTime::ZERO, Some(4)));
            assert_eq!(opened, Ok(Some(Opened::Packet(packet))));
        }
        assert_eq!(server.protection.open(&mut bytes, &receive(SimTime::ZERO, None)), Ok(None));
    }
}

#[test]
fn packets_wait_for_their_keys() {
    for [mut client, mut server] in pairs() {
        let packet = packet(Level::Handshake, Role::Client, 0, false, ping());
        let bytes = sealed(&mut client.protection, &packet);
        let mut fresh = Protection::new(server.protection.cipher, Role::Server, id(SERVER_ID));
        let waiting = fresh.open(&mut bytes.clone(), &receive(SimTime::ZERO, None));
        assert_eq!(waiting, Ok(Some(Opened::NoKeys)));
        let mut kept = bytes.clone();
        let opened = server.protection.open(&mut kept, &receive(SimTime::ZERO, None)).unwrap();
        assert!(matches!(opened, Some(Opened::Packet(_))));
        server.protection.discard(Level::Handshake);
        assert!(!server.protection.can_send(Level::Handshake));
        let late = server.protection.open(&mut bytes.clone(), &receive(SimTime::ZERO, None));
        assert_eq!(late, Ok(Some(Opened::NoKeys)));
    }
}

/// RFC 9001 section 5.7.
#[test]
fn one_rtt_packets_wait_for_the_end_of_the_handshake() {
    for [mut client, mut server] in pairs() {
        server.protection.is_complete = false;
        let packet = packet(Level::OneRtt, Role::Client, 0, false, ping());
        let bytes = sealed(&mut client.protection, &packet);
        let early = server.protection.open(&mut bytes.clone(), &receive(SimTime::ZERO, None));
        assert!(matches!(early, Ok(Some(Opened::NoKeys))));
        let as_struct = |server: &mut Protection| {
            server.on_received(SimTime::ZERO, SimDuration::ZERO, PATH, &packet.header)
        };
        assert_eq!(as_struct(&mut server.protection), Ok(false));
        assert!(server.protection.can_send(Level::OneRtt), "the server may send already");
        server.protection.on_complete();
        assert_eq!(as_struct(&mut server.protection), Ok(true));
        let opened = server.protection.open(&mut bytes.clone(), &receive(SimTime::ZERO, None));
        assert!(matches!(opened, Ok(Some(Opened::Packet(_)))));
    }
}

#[test]
fn a_damaged_byte_anywhere_is_noticed() {
    let [mut client, mut server] = shake(&tls(&settings()), usize::MAX).unwrap();
    let packet = packet(Level::OneRtt, Role::Client, 9, false, ping());
    let bytes = sealed(&mut client.protection, &packet);
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        let opened =
            server.protection.open(&mut damaged, &receive(SimTime::ZERO, Some(8))).unwrap();
        assert!(!matches!(opened, Some(Opened::Packet(_))), "byte {at}");
    }
    assert_eq!(server.protection.failed, bytes.len() as u64);
}

/// RFC 9000 section 10.3: the tail of a packet that does not open may be a token.
#[test]
fn the_tail_of_a_packet_that_fails_is_kept() {
    for [_, mut server] in pairs() {
        let mut bytes = BytesMut::new();
        bytes.extend_from_slice(&[0x41; 30]);
        bytes.extend_from_slice(&[0xee; 16]);
        let opened = server.protection.open(&mut bytes, &receive(SimTime::ZERO, None));
        assert_eq!(opened, Ok(Some(Opened::Failed(ResetToken([0xee; 16])))));
    }
}

/// RFC 9001 section 6.6: AES-GCM allows 2^52 packets that fail.
#[test]
fn too_many_failures_close_the_connection() {
    let [_, mut server] = shake(&tls(&settings()), usize::MAX).unwrap();
    server.protection.failed = (1 << 52) - 1;
    let mut open = || {
        let mut bytes = BytesMut::from(&[0x41; 60][..]);
        server.protection.open(&mut bytes, &receive(SimTime::ZERO, None))
    };
    assert!(open().is_ok());
    assert_eq!(open().unwrap_err().code, ErrorCode::AEAD_LIMIT_REACHED);
}

#[test]
fn authentic_nonsense_closes_the_connection() {
    for [mut client, mut server] in pairs() {
        // RFC 9000 section 19.7: a token is not empty.
        let frames = [Frame::NewToken(Bytes::new()), Frame::Padding(20)].into_iter().collect();
        let packet = packet(Level::OneRtt, Role::Client, 0, false, frames);
        let mut bytes = sealed(&mut client.protection, &packet);
        let opened = server.protection.open(&mut bytes, &receive(SimTime::ZERO, None));
        let error = opened.unwrap_err();
        assert_eq!((error.code, error.frame_type), (ErrorCode::FRAME_ENCODING_ERROR, Some(0x07)));
    }
}

#[test]
fn packets_without_keys_or_too_short_are_not_sealed() {
    let mut protection = Protection::new(Cipher::Null, Role::Client, id(SERVER_ID));
    let mut seal = |packet: &Packet| {
        let mut out = BytesMut::new();
        protection.seal(PATH, packet, &Zeros, &mut out).map_err(|error| error.code)
    };
    let internal = Err(ErrorCode::INTERNAL_ERROR);
    assert_eq!(seal(&packet(Level::Handshake, Role::Client, 0, false, ping())), internal);
    assert_eq!(seal(&packet(Level::OneRtt, Role::Client, 0, false, ping())), internal);
    let mut short =
        packet(Level::Initial, Role::Client, 0, false, [Frame::Ping].into_iter().collect());
    assert_eq!(seal(&short), Ok(()));
    if let Header::Initial(long) = &mut short.header {
        long.number.len = 2;
    }
    assert_eq!(seal(&short), internal, "header protection lacks a byte of its sample");
}

proptest! {
    #[test]
    fn any_bytes_are_opened(
        first in any::<u8>(),
        is_version_1 in any::<bool>(),
        mut bytes in prop::collection::vec(any::<u8>(), 0..120),
        null in any::<bool>(),
    ) {
        bytes.insert(0, first);
        if is_version_1 && bytes.len() > 6 {
            bytes[1..6].copy_from_slice(&[0, 0, 0, 1, 4]);
        }
        let cipher = if null { Cipher::Null } else { Cipher::Tls };
        let mut server = Protection::new(cipher, Role::Server, id(SERVER_ID));
        for level in [Level::Handshake, Level::OneRtt] {
            let keys = Keys::initial(cipher, Role::Server, id(SERVER_ID));
            server.install(KeyChange { level, keys });
        }
        server.on_complete();
        let mut rest = BytesMut::from(&bytes[..]);
        while let Ok(Some(_)) = server.open(&mut rest, &receive(SimTime::ZERO, None)) {}
    }
}
