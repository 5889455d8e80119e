//! Transport parameters.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};

use super::*;

fn written(params: &TransportParameters) -> Vec<u8> {
    let mut out = Vec::new();
    params.write(&mut out);
    out
}

/// A client's parameters, each with a value that is not its default.
fn of_client() -> TransportParameters {
    TransportParameters {
        max_idle_timeout: 30_000,
        max_udp_payload_size: 1_252,
        initial_max_data: MAX_VARINT,
        initial_max_stream_data_bidi_local: 1,
        initial_max_stream_data_bidi_remote: 64,
        initial_max_stream_data_uni: 16_384,
        initial_max_streams_bidi: MAX_STREAMS,
        initial_max_streams_uni: 7,
        ack_delay_exponent: 20,
        max_ack_delay: (1 << 14) - 1,
        disable_active_migration: true,
        active_connection_id_limit: 8,
        initial_source: ConnectionId::new(&[1, 2, 3]),
        max_datagram_frame_size: 65_535,
        min_ack_delay: Some(1_000),
        initial_max_path_id: Some(u32::MAX),
        ..TransportParameters::default()
    }
}

fn of_server() -> TransportParameters {
    TransportParameters {
        original_destination: ConnectionId::new(&[4; 20]),
        stateless_reset_token: Some(ResetToken([5; 16])),
        preferred_address: Some(PreferredAddress {
            v4: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), 443),
            v6: SocketAddrV6::new(Ipv6Addr::LOCALHOST, 444, 0, 0),
            id: ConnectionId::new(&[6; 5]).unwrap(),
            token: ResetToken([7; 16]),
        }),
        retry_source: ConnectionId::new(&[]),
        ..of_client()
    }
}

#[test]
fn both_ends_parameters_survive() {
    let (client, server) = (of_client(), of_server());
    assert_eq!(TransportParameters::of_client(&written(&client)), Ok(client));
    assert_eq!(TransportParameters::of_server(&written(&server)), Ok(server));
}

/// The parameters in the `ClientHello` of RFC 9001 appendix A.2.
#[test]
fn the_parameters_of_the_client_initial() {
    let bytes = hex("0408ffffffffffffffff05048000ffff07048000ffff080110010480007530090110\
                     0f088394c8f03e51570806048000ffff");
    let params = TransportParameters {
        initial_max_data: MAX_VARINT,
        initial_max_stream_data_bidi_local: 65_535,
        initial_max_stream_data_bidi_remote: 65_535,
        initial_max_stream_data_uni: 65_535,
        initial_max_streams_bidi: 16,
        initial_max_streams_uni: 16,
        max_idle_timeout: 30_000,
        initial_source: ConnectionId::new(&hex("8394c8f03e515708")),
        ..TransportParameters::default()
    };
    assert_eq!(TransportParameters::of_client(&bytes), Ok(params));
}

#[test]
fn defaults_are_left_out_and_unknown_parameters_skipped() {
    assert!(written(&TransportParameters::default()).is_empty());
    // The reserved identifier 31 * 2 + 27 (RFC 9000 section 18.1), twice.
    let bytes = hex("4059 03 aabbcc 4059 00");
    assert_eq!(TransportParameters::of_client(&bytes), Ok(TransportParameters::default()));
}

#[test]
fn invalid_parameters_are_rejected() {
    let cases = [
        ("cut off", "04"),
        ("value cut off", "04 02 00"),
        ("twice", "04 01 01 04 01 01"),
        ("integer longer than its field", "04 01 40"),
        ("integer shorter than its field", "04 02 01 00"),
        ("max_udp_payload_size of 1,199", "03 02 44af"),
        ("2^60 + 1 bidirectional streams", "08 08 d000000000000001"),
        ("2^60 + 1 unidirectional streams", "09 08 d000000000000001"),
        ("ack_delay_exponent of 21", "0a 01 15"),
        ("max_ack_delay of 2^14", "0b 04 80004000"),
        ("active_connection_id_limit of 1", "0e 01 01"),
        ("min_ack_delay above max_ack_delay of 25 ms", "c0000000ff04de1b 04 800061a9"),
        ("disable_active_migration with a value", "0c 01 00"),
        ("initial_max_path_id of 2^32", "3e 08 c000000100000000"),
        ("stateless_reset_token of 15 bytes", "02 0f 000000000000000000000000000000"),
        ("connection ID of 21 bytes", "0f 15 000000000000000000000000000000000000000000"),
        (
            "preferred address without a connection ID",
            "0d 29 00000000 0000 00000000000000000000000000000000 0000 00 00000000000000000000000000000000",
        ),
    ];
    for (what, bytes) in cases {
        let code = TransportParameters::of_server(&hex(bytes)).map_err(|error| error.code);
        assert_eq!(code, Err(ErrorCode::TRANSPORT_PARAMETER_ERROR), "{what}");
    }
    let allowed = [
        "03 02 44b0",
        "0a 01 14",
        "0b 02 7fff",
        "0e 01 02",
        "c0000000ff04de1b 04 800061a8",
        "3e 01 00",
    ];
    for bytes in allowed {
        assert!(TransportParameters::of_server(&hex(bytes)).is_ok(), "{bytes}");
    }
}

#[test]
fn clients_may_not_send_what_is_the_servers() {
    let server = of_server();
    let empty = TransportParameters::default;
    for params in [
        TransportParameters { original_destination: server.original_destination, ..empty() },
        TransportParameters { stateless_reset_token: server.stateless_reset_token, ..empty() },
        TransportParameters { preferred_address: server.preferred_address, ..empty() },
        TransportParameters { retry_source: server.retry_source, ..empty() },
    ] {
        let bytes = written(&params);
        let code = TransportParameters::of_client(&bytes).map_err(|error| error.code);
        assert_eq!(code, Err(ErrorCode::TRANSPORT_PARAMETER_ERROR));
        assert_eq!(TransportParameters::of_server(&bytes), Ok(params));
    }
}

/// RFC 9000 section 7.3.
#[test]
fn connection_ids_are_authenticated() {
    let id = |byte| ConnectionId::new(&[byte; 8]).unwrap();
    let server = |retry_source| {
        let original_destination = id(2);
        Some(ServerIds { original_destination, retry_source })
    };
    let params = TransportParameters {
        initial_source: Some(id(1)),
        original_destination: Some(id(2)),
        ..TransportParameters::default()
    };
    let check = |params: &TransportParameters, initial_source, server| {
        params.authenticate(&HandshakeIds { initial_source, server }).is_ok()
    };
    assert!(check(&params, id(1), None));
    assert!(!check(&params, id(9), None));
    assert!(!check(&TransportParameters::default(), id(1), None), "absent");
    assert!(check(&params, id(1), server(None)));
    assert!(!check(&params, id(1), server(Some(id(3)))), "there was a Retry packet");
    let other = TransportParameters { original_destination: Some(id(9)), ..params.clone() };
    assert!(!check(&other, id(1), server(None)));
    let retried = TransportParameters { retry_source: Some(id(3)), ..params };
    assert!(check(&retried, id(1), server(Some(id(3)))));
    assert!(!check(&retried, id(1), server(None)), "there was no Retry packet");
}
