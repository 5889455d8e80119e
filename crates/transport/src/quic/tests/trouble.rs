//! Pipes that lose, delay and fall silent.

use leobench_base::BitRate;

use super::*;

#[test]
fn what_is_lost_is_sent_again() {
    for streams in [1, 4] {
        for lossy in [SENDER, RECEIVER] {
            let mut pipe = connect(&spec(|_| ()), streams, Role::Client);
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
            let packets = pipe.passed[SENDER].iter();
            let data =
                packets.filter(|packet| packet.streams().next().is_some() && packet.backlog > 0);
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
                // Only a probe repeats anything (RFC 9002 section 6.2.4).
                assert!(totals.retransmitted_bytes.get() <= 1_252 * 2 * totals.timeouts);
                assert_eq!(totals.congestion_events, 0);
            } else {
                assert!(totals.congestion_events > 10, "{totals:?}");
            }
        }
    }
}

#[test]
fn reordering_is_survived() {
    let mut pipe = connect(&spec(|_| ()), 3, Role::Client);
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

#[test]
fn packets_that_overtake_by_little_are_no_losses() {
    let mut pipe = connect(&spec(|_| ()), 1, Role::Client);
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

#[test]
fn a_blackout_is_probed_and_survived() {
    let mut pipe = connect(&spec(|_| ()), 2, Role::Client);
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

#[test]
fn the_handshake_survives_losses() {
    for role in [Role::Client, Role::Server] {
        for lost in 0..8 {
            let mut pipe = connect(&spec(|_| ()), 1, role);
            pipe.fate = Box::new(move |_, number, _| (number != lost).then_some(SimDuration::ZERO));
            pipe.write(0, 20_000);
            pipe.deliver(20_000);
            assert!(pipe.now < ms(3_500), "{role:?}, the {lost}. lost: {}", pipe.now);
        }
    }
}

#[test]
fn a_lost_connection_is_an_outcome_and_the_end_falls_silent() {
    let mut pipe = connect(&spec(|_| ()), 1, Role::Client);
    pipe.rate = BitRate::from_bps(10_000_000);
    pipe.write(0, 3_000_000);
    pipe.run(ms(500), |_| false);
    // An acknowledgement of a packet that was never sent is a connection error (RFC 9000 section 13.1).
    let broken = pipe.flying.values_mut().find_map(|(end, packet)| match &mut packet.body {
        Body::Quic(datagram) if *end == SENDER => match &mut **datagram {
            Datagram::Packets(packets) => Some(&mut packets[0]),
            _ => None,
        },
        _ => None,
    });
    let frames = &mut broken.expect("an acknowledgement in flight").frames;
    let ack = frames.iter_mut().find_map(|frame| match frame {
        Frame::Ack(ack) => Some(ack),
        _ => None,
    });
    ack.expect("an acknowledgement").ranges[0].largest += 1_000_000;
    pipe.run(ms(600), |pipe| pipe.ends[SENDER].lost().is_some());
    let loss = pipe.ends[SENDER].lost().unwrap().clone();
    assert!(loss.at == pipe.now && !loss.reason.is_empty(), "{loss:?}");
    let passed = pipe.passed[SENDER].len();
    let backlog = pipe.ends[SENDER].send_buffer().unwrap().backlog();
    pipe.write(0, 1_000);
    pipe.finish();
    pipe.run(ms(60_000), |_| false);
    let silent = pipe.passed[SENDER].len() - passed;
    assert!(silent <= 8, "a lost end says no more than that it is lost: {silent}");
    assert_eq!(pipe.ends[SENDER].send_buffer().unwrap().backlog(), backlog + 1_000);
    assert_eq!(pipe.count(SENDER, "lost"), 1);
    let told = pipe.ends[RECEIVER].lost().expect("the other end is told");
    assert!(told.reason.contains("0xa"), "{told:?}");
}
