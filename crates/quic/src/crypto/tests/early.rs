//! Resumption of a session, and keys of 0-RTT packets.

use leobench_transport::handshake_sizes::{
    CLIENT_HELLO, EARLY_DATA, RESUMED_FLIGHT, SERVER_FLIGHT, SERVER_HELLO, TICKET_CHOICE,
    TICKET_OFFER,
};

use super::*;

/// Ends that share sessions, which allow 0-RTT data or not.
fn ends(sessions: [&Sessions; 2], params: &TransportParameters) -> [Crypto; 2] {
    let [client, server] =
        sessions.map(|sessions| TlsSettings { sessions: Some(sessions.clone()), ..settings() });
    let server = TlsConfig::server(&server, params);
    [TlsConfig::client(&client).unwrap(), server.unwrap()].map(Crypto::Tls)
}

/// Shakes hands; the sizes of the hello of each end and of the server's flight, and the client's view of 0-RTT data.
fn again(cryptos: &[Crypto; 2], params: &TransportParameters) -> ([usize; 3], Option<bool>) {
    let mut encoded = Vec::new();
    params.write(&mut encoded);
    let mut client = End::new(&cryptos[0], Role::Client, b"client's");
    let mut server = End::new(&cryptos[1], Role::Server, &encoded);
    let mut flight = client.flight();
    let offers = client.handshake.early_keys().is_some();
    while !flight.is_empty() {
        let answer = server.hear(&flight, usize::MAX).unwrap();
        flight = client.hear(&answer, usize::MAX).unwrap();
    }
    let accepted = client.handshake.accepts_early();
    assert_eq!(server.handshake.early_keys().is_some(), accepted);
    assert!(server.handshake.early_keys().is_none(), "yielded once");
    assert_eq!(client.handshake.peer_params(), Some(&encoded[..]));
    let sizes = [client.written[0].1, server.written[0].1, server.written[1].1];
    (sizes, offers.then_some(accepted))
}

fn limits(data: u64) -> TransportParameters {
    TransportParameters { initial_max_data: data, ..TransportParameters::default() }
}

/// The sizes by which rustls's messages differ with a ticket are those of the null handshake, and those of RFC 8446: a
/// `Certificate` of one has 13 bytes beside it, and a `CertificateVerify` with Ed25519 72. The empty extension `server_name`, of
/// 4 bytes, confirms a name only in whole handshakes (RFC 6066 section 3).
#[test]
fn sizes_of_resumed_handshakes() {
    let (sessions, params) = (Sessions::new(true), limits(1_000));
    let cryptos = ends([&sessions, &sessions], &params);
    let (full, offered) = again(&cryptos, &params);
    assert_eq!(offered, None);
    let (short, offered) = again(&cryptos, &params);
    assert_eq!(offered, Some(true));
    assert_eq!(short[0], full[0] + TICKET_OFFER + EARLY_DATA);
    assert_eq!(short[1], full[1] + TICKET_CHOICE);
    let proof = settings().certificate.certificate.len() + 13 + 72 + 4;
    assert_eq!(short[2] + proof, full[2] + EARLY_DATA);
    let earlier = Earlier { early: true, params: Vec::new() };
    let null = |earlier: &Option<Earlier>| Crypto::Null(earlier.clone().map(Box::new));
    let sizes = |earlier| again(&[null(&earlier), null(&earlier)], &params).0;
    assert_eq!(sizes(None), [CLIENT_HELLO, SERVER_HELLO, SERVER_FLIGHT]);
    let hello = CLIENT_HELLO + TICKET_OFFER + EARLY_DATA;
    let rest = RESUMED_FLIGHT + EARLY_DATA;
    assert_eq!(sizes(Some(earlier)), [hello, SERVER_HELLO + TICKET_CHOICE, rest]);
}

/// RFC 8446 sections 8.1 and C.4: neither end uses a ticket twice.
#[test]
fn a_ticket_serves_once() {
    let (sessions, params) = (Sessions::new(true), limits(1_000));
    let cryptos = ends([&sessions, &sessions], &params);
    let first = again(&cryptos, &params);
    // The ticket of the server that the client would use next has been used.
    let mut client = End::new(&cryptos[0], Role::Client, b"client's");
    let hello = client.flight();
    let server = || {
        let mut server = End::new(&cryptos[1], Role::Server, b"server's");
        let sent: usize =
            server.hear(&hello, usize::MAX).unwrap().iter().map(|(_, data)| data.len()).sum();
        (server.handshake.accepts_early() || server.handshake.early_keys().is_some(), sent)
    };
    let (accepted, short) = server();
    let (replayed, full) = server();
    assert!(accepted && !replayed, "a replayed hello gets no 0-RTT keys");
    assert!(full > short + 200, "and a whole handshake: {full} after {short}");
    assert_eq!(first.1, None);
}

/// RFC 9000 section 7.4.1: a server whose limits have become smaller takes no 0-RTT data, nor one that never does.
#[test]
fn smaller_limits_reject_early_data() {
    for (then, now, accepts, expected) in [
        (1_000, 1_000, true, true),
        (1_000, 1_001, true, true),
        (1_000, 999, true, false),
        (1_000, 1_000, false, false),
    ] {
        let sessions = Sessions::new(true);
        let [then, now] = [then, now].map(limits);
        assert_eq!(again(&ends([&sessions, &sessions], &then), &then).1, None);
        let server = sessions.with_early(accepts);
        let (_, accepted) = again(&ends([&sessions, &server], &now), &now);
        assert_eq!(accepted, Some(expected), "{then:?} {now:?} {accepts}");
    }
}

/// RFC 9001 section 4.9.3, and section 5.7 on roles: a client cannot read 0-RTT packets.
#[test]
fn early_keys_expire() {
    let at = |millis| SimTime::ZERO + SimDuration::from_millis(millis);
    let (sessions, params) = (Sessions::new(true), limits(1_000));
    let cryptos = ends([&sessions, &sessions], &params);
    again(&cryptos, &params);
    let mut client = End::new(&cryptos[0], Role::Client, b"client's");
    let mut server = End::new(&cryptos[1], Role::Server, b"server's");
    let flight = client.flight();
    server.hear(&flight, usize::MAX).unwrap();
    let early = [&mut client, &mut server].map(|end| {
        let keys = end.handshake.early_keys().unwrap();
        end.protection.install_early(keys);
        [end.protection.can_send(Level::ZeroRtt), end.protection.can_receive(Level::ZeroRtt)]
    });
    assert_eq!(early, [[true, false], [false, true]]);
    let packet = packet(Level::ZeroRtt, Role::Client, 3, false, ping());
    let bytes = sealed(&mut client.protection, &packet);
    let opens = |server: &mut End, millis| {
        let opened = server.protection.open(&mut bytes.clone(), &receive(at(millis), None));
        matches!(opened, Ok(Some(Opened::Packet(read))) if read == packet)
    };
    assert!(opens(&mut server, 1_000));
    server.protection.expire_early(at(1_300));
    assert!(opens(&mut server, 1_299));
    assert!(!opens(&mut server, 1_300));
    client.protection.discard(Level::ZeroRtt);
    assert!(!client.protection.can_send(Level::ZeroRtt));
}

/// The earlier connection of a simulated pair is the same wherever an end is made.
#[test]
fn simulated_ends_need_not_share_memory() {
    let params = limits(1_000);
    let earlier = Earlier { early: true, params: Vec::new() };
    let end = |role| Crypto::Tls(TlsConfig::simulated(role, &params, Some(&earlier)).unwrap());
    let cryptos = [end(Role::Client), end(Role::Server)];
    assert_eq!(again(&cryptos, &params).1, Some(true));
    assert_eq!(again(&cryptos, &params).1, None, "there was one ticket");
}
