//! Stateless resets (RFC 9000 section 10.3).

use super::addresses::{MODES, Mode, as_struct, hand, payload, pipe};
use super::*;
use crate::wire::ConnectionId;

#[test]
fn a_server_that_forgot_resets_the_connection() {
    for mode in MODES {
        let mut pipe = pipe(mode, |_| ());
        pipe.write(0, 20_000);
        pipe.deliver(20_000);
        pipe.run(ms(1_000), |_| false);
        // The server starts anew, with the same keys for resets.
        let fresh = super::addresses::pipe(mode, |_| ());
        let [_, server] = fresh.ends;
        pipe.ends[RECEIVER] = server;
        pipe.write(0, 20_000);
        pipe.run(ms(1_030), |_| false);
        assert!(pipe.ends[SENDER].lost().is_none());
        pipe.run(ms(1_050), |_| false);
        let lost = pipe.ends[SENDER].lost().expect("reset").clone();
        assert_eq!(lost.reason, "reset by the peer", "{mode:?}");
        // It sends nothing any more.
        let passed = pipe.passed[SENDER].len();
        pipe.run(ms(60_000), |_| false);
        assert_eq!(pipe.passed[SENDER].len(), passed);
    }
}

#[test]
fn an_end_that_timed_out_resets_the_connection() {
    for mode in MODES {
        let mut pipe = pipe(mode, |_| ());
        // The server's timeout, which the client does not know of.
        pipe.ends[RECEIVER].prepare(|parts| {
            parts.settings.idle_timeout = Some(SimDuration::from_millis(500));
        });
        pipe.write(0, 20_000);
        pipe.deliver(20_000);
        pipe.run(ms(2_000), |_| false);
        assert_eq!(pipe.ends[RECEIVER].lost().unwrap().reason, "timed out");
        let sent = pipe.passed[RECEIVER].len();
        pipe.write(0, 1_000);
        pipe.run(ms(2_050), |_| false);
        assert_eq!(
            pipe.ends[SENDER].lost().expect("reset").reason,
            "reset by the peer",
            "{mode:?}"
        );
        assert_eq!(pipe.passed[RECEIVER].len(), sent + 1);
        assert_eq!(pipe.passed[RECEIVER][sent].size, 43);
    }
}

#[test]
fn packets_of_no_connection_are_answered_and_change_nothing() {
    for mode in [Mode::Bytes, Mode::Tls] {
        let mut pipe = pipe(mode, |_| ());
        pipe.run(ms(500), |_| false);
        for end in [SENDER, RECEIVER] {
            let unknown = |size| Body::UdpBytes(BytesMut::from(&vec![0x45; size][..]));
            let answers = hand(&mut pipe, end, unknown(100));
            let [Body::UdpBytes(answer)] = &answers[..] else { panic!("{answers:?}") };
            assert_eq!(answer.len(), 43);
            assert_eq!(payload(&hand(&mut pipe, end, unknown(30))[0]), 29);
            assert!(hand(&mut pipe, end, unknown(21)).is_empty());
            // A packet with the peer's ID that cannot be opened may be late, and is not answered.
            assert!(hand(&mut pipe, end, damaged(pipe_id(end, mode))).is_empty());
        }
        pipe.write(0, 20_000);
        pipe.deliver(20_000);
        assert!([SENDER, RECEIVER].iter().all(|end| pipe.ends[*end].lost().is_none()), "{mode:?}");
    }
}

/// The ID by which the other end addresses an end: the same seed yields the same one.
fn pipe_id(end: usize, mode: Mode) -> ConnectionId {
    let mut pipe = pipe(mode, |_| ());
    let mut id = ConnectionId::default();
    pipe.ends[end].prepare(|parts| id = parts.local_id);
    id
}

fn damaged(id: ConnectionId) -> Body {
    let mut bytes = BytesMut::from(&[0x45][..]);
    bytes.extend_from_slice(id.as_slice());
    bytes.resize(100, 0x33);
    Body::UdpBytes(bytes)
}

#[test]
fn a_token_of_another_id_resets_nothing() {
    let mut pipe = pipe(Mode::Structs, |_| ());
    pipe.run(ms(500), |_| false);
    let reset = Datagram::StatelessReset(vec![0x45; 43].into());
    assert!(hand(&mut pipe, SENDER, as_struct(reset)).is_empty());
    assert!(pipe.ends[SENDER].lost().is_none());
}
