//! Probe timeouts (RFC 9002 section 6.2).

use super::*;

const SMOOTHED: u64 = 40;
/// 40 + 4 * 20 + 25.
const PTO: u64 = 145;

/// A path after the handshake with one sample of 40 ms, at 40 ms.
fn sampled() -> Bench {
    let mut bench = Bench::confirmed();
    bench.send(at(0));
    bench.ack(at(SMOOTHED), &[(0, 0)]);
    assert_eq!(bench.recovery.timer(), None, "nothing is in flight");
    bench
}

/// Section 6.2.1: from the last packet that asks for an acknowledgement, doubled with each expiry.
#[test]
fn probes_are_due_a_timeout_after_the_last_packet_and_back_off() {
    let mut bench = sampled();
    bench.send(at(100));
    bench.send(at(103));
    bench.send_silent(at(104));
    assert_eq!(bench.recovery.timer(), Some(at(103 + PTO)));
    let probe = Some(Probe { space: Space::Data, packets: 2 });
    assert_eq!(bench.expire(), (at(248), probe, vec![]));
    assert_eq!(bench.recovery.timer(), Some(at(103 + 2 * PTO)), "even if nothing is sent");
    bench.send(at(248));
    bench.send(at(248));
    for (due, timeout) in [(248 + 2 * PTO, 4), (538 + 4 * PTO, 8), (1_118 + 8 * PTO, 16)] {
        assert_eq!(bench.expire(), (at(due), probe, vec![]));
        bench.send(at(due));
        assert_eq!(bench.recovery.timer(), Some(at(due + timeout * PTO)));
    }
    assert_eq!(bench.recovery.pto_count(), 4);
    // An acknowledgement ends the backoff, and finds the losses.
    let now = at(2_278 + SMOOTHED);
    assert_eq!(bench.ack(now, &[(8, 8)]).1, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(bench.recovery.pto_count(), 0);
}

#[test]
fn nothing_is_due_early() {
    let mut bench = sampled();
    bench.send(at(100));
    assert_eq!(bench.expire_at(at(100 + PTO - 1)), (None, vec![]));
    assert_eq!(bench.recovery.pto_count(), 0);
}

/// The backoff doubles up to 2^16 times the probe timeout, and then stays there.
#[test]
fn the_backoff_ends_at_sixteen_doublings() {
    let mut bench = sampled();
    for count in 0..100 {
        bench.send(at(100));
        assert!(bench.expire().1.is_some(), "{count}");
        let wait = bench.recovery.probe_timeout(Space::Data) * (1 << (count + 1).min(16));
        assert_eq!(bench.recovery.timer(), Some(at(100) + wait), "{count}");
    }
}

/// Section 6.2.1: `max_ack_delay` counts in the application's space only, which waits for the handshake to be confirmed.
#[test]
fn each_space_has_its_own_timeout() {
    let mut bench = Bench::new(Role::Server);
    bench.recovery.set_max_ack_delay(ms(25));
    bench.send_in(at(0), Space::Initial);
    bench.send_in(at(10), Space::Handshake);
    bench.send(at(11));
    assert_eq!(bench.recovery.timer(), Some(at(999)));
    let probe = Some(Probe { space: Space::Initial, packets: 2 });
    assert_eq!(bench.expire(), (at(999), probe, vec![]));
    bench.ack_in(at(1_010), Space::Initial, &[(0, 0)]);
    // 1,010 ms give a timeout of 3,030 ms.
    let probe = Some(Probe { space: Space::Handshake, packets: 2 });
    assert_eq!(bench.expire(), (at(10 + 3_030), probe, vec![]));
    bench.ack_in(at(3_100), Space::Handshake, &[(0, 0)]);
    assert_eq!(bench.recovery.timer(), None, "not confirmed");
    let confirmed = HandshakeState { confirmed: true, ..HandshakeState::default() };
    bench.recovery.set_handshake(at(3_100), confirmed);
    let timeout = bench.recovery.rtt().probe_timeout() + ms(25);
    assert_eq!(bench.recovery.timer(), Some(at(11) + timeout));
    assert_eq!(bench.recovery.probe_timeout(Space::Data), timeout);
}

/// Section 6.2.2.1: a client goes on probing as long as the server may be waiting for permission to send.
#[test]
fn a_client_without_packets_in_flight_guards_against_deadlock() {
    let mut bench = Bench::new(Role::Client);
    assert_eq!(bench.recovery.timer(), None, "nothing was sent");
    bench.send_in(at(0), Space::Initial);
    bench.ack_in(at(100), Space::Initial, &[(0, 0)]);
    // 100 + 4 * 50 from now on.
    assert_eq!(bench.recovery.timer(), Some(at(400)));
    let initial = Some(Probe { space: Space::Initial, packets: 1 });
    assert_eq!(bench.expire(), (at(400), initial, vec![]));
    bench.send_in(at(400), Space::Initial);
    bench.ack_in(at(500), Space::Initial, &[(1, 1)]);
    assert_eq!(bench.recovery.pto_count(), 1, "the server need not have validated the address");
    let keys = HandshakeState { has_handshake_keys: true, ..HandshakeState::default() };
    bench.recovery.set_handshake(at(500), keys);
    // 100 + 4 * 37.5, doubled.
    let handshake = Some(Probe { space: Space::Handshake, packets: 1 });
    assert_eq!(bench.expire(), (at(1_000), handshake, vec![]));
    bench.send_in(at(1_000), Space::Handshake);
    bench.ack_in(at(1_100), Space::Handshake, &[(0, 0)]);
    assert_eq!((bench.recovery.pto_count(), bench.recovery.timer()), (0, None));
}

/// A server needs no such guard.
#[test]
fn a_server_without_packets_in_flight_waits() {
    let mut bench = Bench::new(Role::Server);
    bench.send_in(at(0), Space::Initial);
    bench.expire();
    bench.ack_in(at(1_100), Space::Initial, &[(0, 0)]);
    assert_eq!((bench.recovery.pto_count(), bench.recovery.timer()), (0, None));
}

/// Section 6.2.2.1: at its amplification limit a server cannot send; what was due meanwhile is due as soon as it can.
#[test]
fn a_limited_server_has_no_timer() {
    let mut bench = Bench::new(Role::Server);
    let limited = HandshakeState { amplification_limited: true, ..HandshakeState::default() };
    bench.send_in(at(0), Space::Initial);
    bench.recovery.set_handshake(at(1), limited);
    assert_eq!(bench.recovery.timer(), None);
    assert_eq!(bench.expire_at(at(999)), (None, vec![]));
    bench.recovery.set_handshake(at(2_000), HandshakeState::default());
    assert_eq!(bench.recovery.timer(), Some(at(999)));
    let probe = Some(Probe { space: Space::Initial, packets: 2 });
    assert_eq!(bench.expire_at(at(2_000)), (probe, vec![]));
}

/// Section 6.2.1: the timer for losses comes first.
#[test]
fn losses_are_found_before_probes_are_sent() {
    let mut bench = sampled();
    bench.send(at(100));
    bench.send(at(101));
    bench.send(at(139));
    bench.ack(at(141), &[(2, 2)]);
    // 9/8 of 40 ms after 100.
    assert_eq!(bench.expire(), (at(145), None, vec![1]));
    assert_eq!(bench.recovery.pto_count(), 0);
    // 40 + 4 * 15 + 25 after the last one.
    let probe = Some(Probe { space: Space::Data, packets: 2 });
    assert_eq!(bench.expire(), (at(139 + 125), probe, vec![]));
}
