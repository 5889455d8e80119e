//! Violations by the peer, each with the error code that RFC 9000 names.

use super::*;

const VIOLATION: &str = "PROTOCOL_VIOLATION";
const ENCODING: &str = "FRAME_ENCODING_ERROR";
const STATE: &str = "STREAM_STATE_ERROR";

/// Every row: who is under test, the frames of the packet that it receives, and its answer.
fn check(rows: &[(Role, &str, &str)]) {
    for (role, frames, code) in rows {
        let found = answer(*role, |_| (), &[&format!("data: {frames}")]);
        assert_eq!(found.as_deref(), Some(*code), "{role:?}: {frames}");
    }
}

/// RFC 9000 section 13.1: an ACK of a packet that was never sent. The close tells which rule was broken, once.
#[test]
fn an_ack_of_an_unsent_packet_closes() {
    client(
        "0    write 1000 x3
         0    > data 0-2: stream 2 0-3000
         100  < data: ack 0-3
         100  ! lost
         100  > data 3: close PROTOCOL_VIOLATION
         200  write 1000",
    );
}

/// RFC 9000 sections 12.4 and 17.3.1.
#[test]
fn packets_without_frames_and_with_reserved_bits_close() {
    let closes = |datagram: &str| answer(Role::Client, |_| (), &[datagram]);
    assert_eq!(closes("data:").as_deref(), Some(VIOLATION));
    assert_eq!(closes("data reserved: ping").as_deref(), Some(VIOLATION));
}

/// RFC 9000 sections 12.4 and 19.
#[test]
fn malformed_frames_close() {
    check(&[
        (Role::Client, "hex 21", ENCODING),
        (Role::Client, "hex 40 01", VIOLATION),
        (Role::Client, "hex 02 05 00 00 06", ENCODING),
        (Role::Client, "hex 07 00", ENCODING),
        (Role::Client, "hex 1a 00 00", ENCODING),
        (Role::Client, "hex 12 d0 00 00 00 00 00 00 01", ENCODING),
        (Role::Client, "hex 16 d0 00 00 00 00 00 00 01", ENCODING),
        (Role::Client, "hex 06 ff ff ff ff ff ff ff ff 01 00", ENCODING),
    ]);
}

/// RFC 9000 sections 19.4, 19.5, 19.8, 19.10 and 19.13. A client sends on stream 2 and a server on stream 3; the server has
/// not opened stream 1 or 3, nor the client stream 0.
#[test]
fn frames_for_the_wrong_stream_close() {
    check(&[
        (Role::Client, "stream 2 0-1", STATE),
        (Role::Client, "reset 2 0 0", STATE),
        (Role::Client, "stream-data-blocked 2 0", STATE),
        (Role::Client, "stop 3 0", STATE),
        (Role::Client, "max-stream-data 3 9", STATE),
        (Role::Client, "stream 0 0-1", STATE),
        (Role::Client, "stop 0 0", STATE),
        (Role::Client, "max-stream-data 0 9", STATE),
        (Role::Client, "stop 6 0", STATE),
        (Role::Server, "stream 3 0-1", STATE),
        (Role::Server, "stop 2 0", STATE),
        (Role::Server, "max-stream-data 2 9", STATE),
    ]);
}

/// RFC 9000 sections 19.7 and 19.20: frames that only servers send.
#[test]
fn frames_of_servers_close_when_a_client_sends_them() {
    check(&[(Role::Server, "handshake-done", VIOLATION), (Role::Server, "new-token", VIOLATION)]);
    assert_eq!(answer(Role::Client, |_| (), &["data: new-token"]), None);
    assert_eq!(answer(Role::Client, |_| (), &["data: handshake-done"]), None);
}

/// RFC 9000 sections 12.4, 12.5 and 17.2.4, table 3.
#[test]
fn frames_of_another_level_close() {
    let frames = [
        "stream 3 0-1",
        "reset 3 0 0",
        "stop 2 0",
        "max-data 9",
        "max-stream-data 2 9",
        "max-streams uni 9",
        "data-blocked 9",
        "stream-data-blocked 3 9",
        "streams-blocked uni 9",
        "new-id 1",
        "retire-id 0",
        "challenge 1",
        "response 1",
        "app-close 1",
        "handshake-done",
        "new-token",
    ];
    for frame in frames {
        let initial = format!("initial: ack 0, {frame}");
        let player = || Player::new(&Setup::new(Role::Client));
        assert_eq!(player().answer(&[&initial]).as_deref(), Some(VIOLATION), "{frame}");
        let handshake = format!("handshake: {frame}");
        let found = player().answer(&["initial: ack 0, hello", &handshake]);
        assert_eq!(found.as_deref(), Some(VIOLATION), "{frame}");
    }
}

/// RFC 9000 section 7.5: at least 4,096 bytes of CRYPTO data out of order are kept; ours, 65,536.
#[test]
fn crypto_data_far_out_of_order_closes() {
    let closes = |frames: &str| answer(Role::Client, |_| (), &[&format!("data: {frames}")]);
    assert_eq!(closes("crypto 3096-4096"), None);
    assert_eq!(closes("crypto 65500-65537").as_deref(), Some("CRYPTO_BUFFER_EXCEEDED"));
}

/// RFC 9000 section 8.2.2: a challenge is answered at once, once, in 1,200 bytes. Section 13.3: not again when lost.
#[test]
fn a_challenge_is_answered_once_in_a_large_datagram() {
    client(
        "0    < data: challenge 5
         0    > data 0: ack 0, response 5 [1200]
         275  ! timeout
         275  > data 1: ping
         275  > data 2: ping",
    );
}

/// RFC 9001 section 4.1.3: TLS reads 1-RTT CRYPTO frames after the handshake, too. The null handshake has no message for then.
#[test]
fn handshake_data_after_the_handshake_is_read() {
    for role in [Role::Client, Role::Server] {
        let found = answer(role, |_| (), &["data: ping", "data: crypto 0-800"]);
        assert_eq!(found.as_deref(), Some(VIOLATION), "{role:?}");
    }
}
