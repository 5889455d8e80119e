//! The null handshake and transport parameters of ours against those of the reference stack.

use leobench_quic_noq::null_session;
use noq_proto::Side;
use noq_proto::crypto::Session;
use noq_proto::transport_parameters::TransportParameters as NoqParameters;

use super::*;
use crate::wire::TransportParameters;

/// Our parameters, each with a value that is not its default.
fn params(server: bool) -> TransportParameters {
    TransportParameters {
        max_idle_timeout: 30_000,
        max_udp_payload_size: 1_252,
        initial_max_data: 1 << 40,
        initial_max_stream_data_bidi_local: 1,
        initial_max_stream_data_bidi_remote: 64,
        initial_max_stream_data_uni: 16_384,
        initial_max_streams_bidi: 3,
        initial_max_streams_uni: 7,
        ack_delay_exponent: 4,
        max_ack_delay: 26,
        disable_active_migration: true,
        active_connection_id_limit: 5,
        initial_source: Some(id(if server { SERVER_ID } else { CLIENT_ID })),
        original_destination: server.then(|| id("8394c8f03e515708")),
        max_datagram_frame_size: 1_000,
        min_ack_delay: Some(1_000),
        ..TransportParameters::default()
    }
}

/// Whatever noq understood of some parameters, written by noq and read by us again.
fn through(side: Side, bytes: &[u8]) -> (NoqParameters, Vec<u8>) {
    let understood = NoqParameters::read(side, &mut &bytes[..]).unwrap();
    let mut written = Vec::new();
    understood.write(&mut written);
    (understood, written)
}

#[test]
fn noq_understands_our_parameters() {
    // The side is that of the reader.
    for (side, server) in [(Side::Server, false), (Side::Client, true)] {
        let ours = params(server);
        let mut bytes = Vec::new();
        ours.write(&mut bytes);
        let (_, written) = through(side, &bytes);
        let read =
            if server { TransportParameters::of_server } else { TransportParameters::of_client };
        assert_eq!(read(&written), Ok(ours));
    }
}

fn encoded(server: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    params(server).write(&mut bytes);
    bytes
}

/// Handshake messages that a session of noq has ready; noq does not name their level.
fn noq_flight(session: &mut dyn Session) -> Vec<Vec<u8>> {
    let mut flight = Vec::new();
    loop {
        let mut data = Vec::new();
        let keys = session.write_handshake(&mut data);
        let is_over = data.is_empty() && keys.is_none();
        if !data.is_empty() {
            flight.push(data);
        }
        if is_over {
            return flight;
        }
    }
}

fn parameters(session: &dyn Session) -> Vec<u8> {
    let mut bytes = Vec::new();
    session.transport_parameters().unwrap().unwrap().write(&mut bytes);
    bytes
}

#[test]
fn our_client_shakes_hands_with_noq() {
    let mut ours = End::new(&Crypto::Null(None), Role::Client, &encoded(false));
    let (noqs, _) = through(Side::Client, &encoded(true));
    let mut noq = null_session(Side::Server, &noqs);
    for (_, data) in ours.flight() {
        assert!(noq.read_handshake(&data).unwrap(), "the hello brings the parameters");
    }
    let levels = [Level::Initial, Level::Handshake];
    let flight: Vec<_> = levels.into_iter().zip(noq_flight(noq.as_mut())).collect();
    assert_eq!(flight.len(), 2);
    for (level, data) in ours.hear(&flight, usize::MAX).unwrap() {
        assert_eq!(level, Level::Handshake);
        noq.read_handshake(&data).unwrap();
    }
    assert!(ours.handshake.is_complete() && !noq.is_handshaking());
    assert_eq!(TransportParameters::of_client(&parameters(noq.as_ref())), Ok(params(false)));
    let theirs = ours.handshake.peer_params().unwrap();
    assert_eq!(TransportParameters::of_server(theirs), Ok(params(true)));
}

#[test]
fn our_server_shakes_hands_with_noq() {
    let mut ours = End::new(&Crypto::Null(None), Role::Server, &encoded(true));
    let (noqs, _) = through(Side::Server, &encoded(false));
    let mut noq = null_session(Side::Client, &noqs);
    let hello: Vec<_> =
        noq_flight(noq.as_mut()).into_iter().map(|data| (Level::Initial, data)).collect();
    let mut finished = Vec::new();
    for (_, data) in ours.hear(&hello, usize::MAX).unwrap() {
        noq.read_handshake(&data).unwrap();
        finished.extend(noq_flight(noq.as_mut()).into_iter().map(|data| (Level::Handshake, data)));
    }
    assert!(ours.hear(&finished, usize::MAX).unwrap().is_empty());
    assert!(ours.handshake.is_complete() && !noq.is_handshaking());
    assert_eq!(TransportParameters::of_server(&parameters(noq.as_ref())), Ok(params(true)));
    let theirs = ours.handshake.peer_params().unwrap();
    assert_eq!(TransportParameters::of_client(theirs), Ok(params(false)));
}
