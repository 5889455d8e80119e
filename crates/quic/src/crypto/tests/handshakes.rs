//! Whole handshakes between two ends of ours.

use leobench_transport::handshake_sizes::{
    CLIENT_FINISHED, CLIENT_HELLO, SERVER_FLIGHT, SERVER_HELLO,
};
use rustls::client::verify_server_name;
use rustls::pki_types::ServerName;
use rustls::server::ParsedCertificate;

use super::*;
use crate::wire::ErrorCode;

/// Both ends are complete, know each other's parameters, and read each other's packets at all levels.
fn check([mut client, mut server]: [End; 2]) {
    assert!(client.handshake.is_complete() && server.handshake.is_complete());
    assert_eq!(client.handshake.peer_params(), Some(&b"server's"[..]));
    assert_eq!(server.handshake.peer_params(), Some(&b"client's"[..]));
    for level in [Level::Initial, Level::Handshake, Level::OneRtt] {
        exchange(level, Role::Client, &mut client.protection, &mut server.protection);
        exchange(level, Role::Server, &mut server.protection, &mut client.protection);
    }
}

fn exchange(level: Level, role: Role, from: &mut Protection, to: &mut Protection) {
    let packet = packet(level, role, 70_000, false, ping());
    let mut bytes = sealed(from, &packet);
    let opened = to.open(&mut bytes, &receive(SimTime::ZERO, Some(69_000)));
    assert_eq!(opened, Ok(Some(Opened::Packet(packet))), "{level:?} from {role:?}");
}

#[test]
fn null() {
    let cryptos = [Crypto::Null(None), Crypto::Null(None)];
    let ends = shake(&cryptos, usize::MAX).unwrap();
    let [client, server] = &ends;
    let initial = (Level::Initial, CLIENT_HELLO);
    assert_eq!(client.written, [initial, (Level::Handshake, CLIENT_FINISHED)]);
    assert_eq!(server.written, [(Level::Initial, SERVER_HELLO), (Level::Handshake, SERVER_FLIGHT)]);
    check(ends);
    check(shake(&cryptos, 7).unwrap());
}

#[test]
fn tls() {
    let cryptos = super::tls(&settings());
    let ends = shake(&cryptos, usize::MAX).unwrap();
    let levels = |end: &End| end.written.iter().map(|(level, _)| *level).collect::<Vec<_>>();
    for end in &ends {
        assert_eq!(levels(end), [Level::Initial, Level::Handshake]);
    }
    check(ends);
    check(shake(&cryptos, 7).unwrap());
}

/// Random keys leave the sizes alone, so that a run with TLS takes the same time whatever its keys.
#[test]
fn flights_of_tls_have_fixed_sizes() {
    let cryptos = super::tls(&settings());
    let sizes = |_| shake(&cryptos, usize::MAX).unwrap().map(|end| end.written);
    let [first, second, third] = [0, 1, 2].map(sizes);
    assert_eq!(first, second);
    assert_eq!(first, third);
}

#[test]
fn secrets_are_logged() {
    let (key_log, lines) = log();
    let settings = TlsSettings { key_log: Some(key_log), ..settings() };
    shake(&super::tls(&settings), usize::MAX).unwrap();
    let lines = lines.lock().unwrap();
    for label in [
        "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
        "SERVER_HANDSHAKE_TRAFFIC_SECRET",
        "CLIENT_TRAFFIC_SECRET_0",
        "SERVER_TRAFFIC_SECRET_0",
    ] {
        let of_label: Vec<_> = lines.iter().filter(|line| line.starts_with(label)).collect();
        assert_eq!(of_label.len(), 2, "{label}: of each end");
        assert_eq!(of_label[0], of_label[1]);
        let fields: Vec<_> = of_label[0].split(' ').collect();
        // A client random, and a secret of SHA-256: 32 bytes each.
        assert_eq!((hex(fields[1]).len(), hex(fields[2]).len(), fields.len()), (32, 32, 3));
    }
}

#[track_caller]
fn failure(cryptos: &[Crypto; 2]) -> ErrorCode {
    shake(cryptos, usize::MAX).err().unwrap().code
}

#[test]
fn tls_alerts_become_errors() {
    let ours = settings();
    let client = |settings: &TlsSettings| Crypto::Tls(TlsConfig::client(settings).unwrap());
    let server = || Crypto::Tls(TlsConfig::server(&ours, &TransportParameters::default()).unwrap());
    let other = TlsSettings { protocols: vec![b"other".to_vec()], ..ours.clone() };
    let no_protocol = ErrorCode::crypto(120);
    assert_eq!(failure(&[client(&other), server()]), no_protocol, "no protocol in common");
    let none = TlsSettings { protocols: vec![], ..ours.clone() };
    assert_eq!(failure(&[client(&none), server()]), no_protocol, "no protocol asked for");
    let certificate = Certificate::self_signed("leobench.test", &[8; 32]);
    let other = TlsSettings { certificate, ..ours.clone() };
    // unknown_ca (RFC 8446 section 6.2).
    assert_eq!(failure(&[client(&other), server()]), ErrorCode::crypto(48), "another certificate");
    let mut end = End::new(&server(), Role::Server, b"");
    let garbage = [(Level::Initial, vec![0x55; 40])];
    let code = end.hear(&garbage, 40).map_err(|error| error.code);
    assert_eq!(code, Err(ErrorCode::crypto(50)), "decode_error");
}

#[test]
fn settings_that_cannot_work_are_rejected() {
    let ours = settings();
    let unnamed = TlsSettings { server_name: "two words".to_owned(), ..ours.clone() };
    let message = TlsConfig::client(&unnamed).err().unwrap();
    assert!(message.starts_with("server name \"two words\" is invalid"), "{message}");
    let mut broken = ours;
    broken.certificate.key = vec![1, 2, 3];
    let message = TlsConfig::server(&broken, &TransportParameters::default()).err().unwrap();
    assert!(message.starts_with("the certificate or its key is invalid"), "{message}");
}

/// RFC 9001 section 4.1.3: bytes of a level that is over, and of one that has not begun.
#[test]
fn bytes_of_another_level_are_rejected() {
    for cryptos in [[Crypto::Null(None), Crypto::Null(None)], super::tls(&settings())] {
        let [mut client, _] = shake(&cryptos, usize::MAX).unwrap();
        for level in [Level::Initial, Level::Handshake] {
            let code = client.handshake.read(level, &[0]).map_err(|error| error.code);
            assert_eq!(code, Err(ErrorCode::PROTOCOL_VIOLATION));
        }
        let mut fresh = End::new(&cryptos[1], Role::Server, b"");
        let code = fresh.handshake.read(Level::Handshake, &[0]).map_err(|error| error.code);
        assert_eq!(code, Err(ErrorCode::PROTOCOL_VIOLATION));
    }
}

#[test]
fn malformed_null_messages_are_rejected() {
    let read = |bytes: &[u8]| {
        let mut end = NullHandshake::new(Role::Server, Vec::new());
        end.read(Level::Initial, bytes).map_err(|error| error.code)
    };
    let violation = Err(ErrorCode::PROTOCOL_VIOLATION);
    assert_eq!(read(&hex("00000007 00000000")), violation, "shorter than its prefix");
    assert_eq!(read(&hex("00000009 00000002 00")), violation, "parameters longer than the message");
    assert_eq!(read(&hex("00010001 00000000")), violation, "endless");
    assert_eq!(read(&hex("00000008 ffffffff")), violation);
    assert_eq!(read(&hex("0000000a 00000002 0000 00000008 00000000")), violation, "two hellos");
    assert_eq!(read(&hex("0000000a 00000002 00")), Ok(()), "not all there yet");
}

/// By the rules of RFC 5280 and RFC 6125, as webpki reads them.
#[test]
fn certificates_are_valid_for_their_name_only() {
    let chain = settings().certificate.chain();
    let parsed = ParsedCertificate::try_from(&chain[0]).unwrap();
    let is_for = |name| verify_server_name(&parsed, &ServerName::try_from(name).unwrap()).is_ok();
    assert!(is_for("leobench.test"));
    assert!(!is_for("other.test"));
}

#[test]
fn certificates_depend_on_their_seed_only() {
    let of = |seed| Certificate::self_signed("leobench.test", &[seed; 32]);
    assert_eq!(of(1), of(1));
    assert_ne!(of(1).certificate, of(2).certificate);
}

/// The extensions of a client's first message (RFC 8446 section 4.1.2).
fn extensions(hello: &[u8]) -> Vec<u16> {
    let mut rest = &hello[4 + 2 + 32..];
    let mut skip = |len_size: usize| {
        let (len, after) = rest.split_at(len_size);
        let len = len.iter().fold(0, |len, byte| len << 8 | usize::from(*byte));
        let (field, after) = after.split_at(len);
        rest = after;
        field
    };
    let [_, _, _, mut extensions] = [skip(1), skip(2), skip(1), skip(2)];
    let mut kinds = Vec::new();
    while let [a, b, c, d, after @ ..] = extensions {
        kinds.push(u16::from_be_bytes([*a, *b]));
        extensions = &after[usize::from(u16::from_be_bytes([*c, *d]))..];
    }
    kinds
}

/// RFC 8446 section 4.2.10 and 4.2.11: `early_data` and `pre_shared_key`.
#[test]
fn early_data_is_not_offered() {
    let [client, _] = super::tls(&settings());
    let mut client = End::new(&client, Role::Client, b"client's");
    let (_, hello) = client.flight().swap_remove(0);
    let kinds = extensions(&hello);
    // `quic_transport_parameters` (RFC 9001 section 8.2).
    assert!(kinds.contains(&57), "{kinds:?}");
    assert!(!kinds.contains(&42) && !kinds.contains(&41), "{kinds:?}");
}
