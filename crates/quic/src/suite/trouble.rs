//! Pipes that lose, delay and fall silent.

use leobench_base::BitRate;
use leobench_base::{Body, SimDuration};
use leobench_transport::Role;
use leobench_transport::testing::{RECEIVER, SENDER, ms};

use super::{Stack, connect, spec};

pub fn what_is_lost_is_sent_again<S: Stack>() {
    for streams in [1, 4] {
        for lossy in [SENDER, RECEIVER] {
            let mut pipe = connect::<S>(&spec(|_| ()), streams, Role::Client);
            pipe.rate = BitRate::from_bps(20_000_000);
            pipe.fate = Box::new(move |end, number, _| {
                (end != lossy || number % 25 != 24).then_some(SimDuration::ZERO)
            });
            (0..streams).for_each(|stream| pipe.write(stream, 2_000_000 / streams as u64));
            pipe.finish();
            pipe.deliver(2_000_000);
            pipe.run(ms(700_000), |_| false);
            let totals = pipe.ends[SENDER].totals();
            // With several streams, a packet is chosen for only when what was lost has left: the end of that may leave
            // a packet short, but never more than one for a loss.
            let packets = pipe.passed[SENDER].iter().map(S::sent);
            let data = packets.filter(|packet| !packet.frames.is_empty() && packet.backlog > 0);
            let short = data.filter(|packet| packet.size < 1_200).count();
            let dropped = pipe.dropped[SENDER];
            let allowed = if streams == 1 { 0 } else { dropped / 4 };
            assert!(short <= 2 + allowed, "{short} short packets, {dropped} dropped");
            // All that is declared lost was dropped, and all that was dropped is declared lost in the end.
            assert_eq!(totals.lost_packets, pipe.dropped[SENDER] as u64, "{streams}");
            let lost = totals.lost_bytes.get() + 1_252 * 2 * totals.timeouts;
            assert!(totals.retransmitted_bytes.get() <= lost, "{totals:?}");
            assert_eq!((totals.spurious_losses, totals.undos), (0, 0));
            if lossy == RECEIVER {
                let most = if S::PROBES_REPEAT { 1_252 * 2 * totals.timeouts } else { 0 };
                assert!(totals.retransmitted_bytes.get() <= most);
                assert_eq!(totals.congestion_events, 0);
            } else {
                assert!(totals.congestion_events > 10, "{totals:?}");
            }
        }
    }
}

pub fn reordering_is_survived<S: Stack>() {
    let mut pipe = connect::<S>(&spec(|_| ()), 3, Role::Client);
    pipe.rate = BitRate::from_bps(20_000_000);
    pipe.fate = Box::new(|_, number, _| {
        Some(SimDuration::from_micros(((number * 7_919) % 13) as u64 * 500))
    });
    (0..3).for_each(|stream| pipe.write(stream, 500_000));
    pipe.deliver(1_500_000);
    pipe.run(ms(600_000), |_| false);
    let totals = pipe.ends[SENDER].totals();
    // A packet that more than three overtake is declared lost (RFC 9002 section 6.1.1). The pipe drops nothing; one packet
    // overtakes the handshake, and the receiver has no keys for it yet.
    assert!(totals.lost_packets > 0 && totals.undos > 0, "{totals:?}");
    assert_eq!(totals.spurious_losses + 1, totals.lost_packets);
}

pub fn packets_that_overtake_by_little_are_no_losses<S: Stack>() {
    let mut pipe = connect::<S>(&spec(|_| ()), 1, Role::Client);
    pipe.rate = BitRate::from_bps(20_000_000);
    // A packet takes 0.5 ms; every other one is 1 ms late, and falls behind two.
    pipe.fate = Box::new(|end, number, _| {
        Some(SimDuration::from_micros(if end == SENDER && number % 2 == 0 { 900 } else { 0 }))
    });
    pipe.write(0, 1_000_000);
    pipe.deliver(1_000_000);
    let totals = pipe.ends[SENDER].totals();
    assert_eq!((totals.lost_packets, totals.retransmitted_bytes.get(), totals.timeouts), (0, 0, 0));
}

pub fn a_blackout_is_probed_and_survived<S: Stack>() {
    let mut pipe = connect::<S>(&spec(|_| ()), 2, Role::Client);
    pipe.rate = BitRate::from_bps(20_000_000);
    pipe.fate =
        Box::new(|_, _, at| (!(ms(500)..ms(2_500)).contains(&at)).then_some(SimDuration::ZERO));
    (0..2).for_each(|stream| pipe.write(stream, 2_000_000));
    pipe.deliver(4_000_000);
    let totals = pipe.ends[SENDER].totals();
    // The probe timeout starts near three round trips (RFC 9002 section 6.2.1) and doubles: 2 s hold 3 to 5 of them.
    assert!((3..=6).contains(&totals.timeouts), "{totals:?}");
    assert!(pipe.now < ms(6_000), "it took until {}", pipe.now);
}

pub fn the_handshake_survives_losses<S: Stack>() {
    for role in [Role::Client, Role::Server] {
        for lost in 0..8 {
            let mut pipe = connect::<S>(&spec(|_| ()), 1, role);
            pipe.fate = Box::new(move |_, number, _| (number != lost).then_some(SimDuration::ZERO));
            pipe.write(0, 20_000);
            pipe.deliver(20_000);
            assert!(pipe.now < ms(3_500), "{role:?}, the {lost}. lost: {}", pipe.now);
        }
    }
}

pub fn a_lost_connection_is_an_outcome_and_the_end_falls_silent<S: Stack>() {
    let mut pipe = connect::<S>(&spec(|_| ()), 1, Role::Client);
    pipe.rate = BitRate::from_bps(10_000_000);
    pipe.write(0, 3_000_000);
    pipe.run(ms(500), |_| false);
    let mut flying = pipe.flying.values_mut();
    let broken = flying.find_map(|(end, packet)| match &mut packet.body {
        body @ (Body::Udp(_) | Body::UdpBytes(_)) if *end == SENDER => Some(body),
        _ => None,
    });
    S::forge(broken.expect("an acknowledgement in flight"));
    pipe.run(ms(600), |pipe| pipe.ends[SENDER].lost().is_some());
    let loss = pipe.ends[SENDER].lost().unwrap().clone();
    assert!(loss.at == pipe.now && !loss.reason.is_empty(), "{loss:?}");
    let passed = pipe.passed[SENDER].len();
    let backlog = pipe.ends[SENDER].send_buffer().unwrap().backlog();
    pipe.write(0, 1_000);
    pipe.finish();
    pipe.run(ms(60_000), |_| false);
    let said = pipe.passed[SENDER].len() - passed;
    assert!(said <= S::LAST_WORDS, "a lost end says no more than that it is lost: {said}");
    assert_eq!(pipe.ends[SENDER].send_buffer().unwrap().backlog(), backlog + 1_000);
    assert_eq!(pipe.count(SENDER, "lost"), 1);
    let told = pipe.ends[RECEIVER].lost().map(|loss| loss.reason.contains("0xa"));
    assert_eq!(told, (S::LAST_WORDS > 0).then_some(true), "{:?}", pipe.ends[RECEIVER].lost());
}
