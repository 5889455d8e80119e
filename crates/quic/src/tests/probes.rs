//! Frames that probes of the handshake carry.

use super::*;

/// RFC 9000 section 17.2.2: whichever probe of a client arrives first, a server can start with it.
#[test]
fn every_probe_of_a_first_flight_carries_it() {
    let mut pipe = connect(&spec(|_| ()), 1, Role::Client);
    pipe.fate =
        Box::new(|end, number, _| (end != SENDER || number >= 5).then_some(SimDuration::ZERO));
    pipe.write(0, 1_000);
    pipe.deliver(1_000);
    for passed in &pipe.passed[SENDER][..5] {
        let frames = &passed.packets[0].frames;
        let is_crypto = |frame: &Frame| matches!(frame, Frame::Crypto { offset: 0, .. });
        assert!(frames.iter().any(is_crypto), "{:?}", passed.packets);
    }
}
