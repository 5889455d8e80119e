//! Pipes with loss, delay and outages.

use super::*;

#[test]
fn what_is_lost_is_sent_again() {
    for (sack, timestamps) in [(true, true), (true, false), (false, true)] {
        for lossy in [SENDER, RECEIVER] {
            let spec = spec(|spec| (spec.sack, spec.timestamps) = (sack, timestamps));
            let mut pipe = connect(&spec, Role::Client);
            pipe.rate = BitRate::from_bps(20_000_000);
            pipe.fate = Box::new(move |end, number, _| {
                (end != lossy || number % 25 != 24).then_some(SimDuration::ZERO)
            });
            pipe.write(0, 2_000_000);
            pipe.finish();
            pipe.deliver(2_000_000);
            pipe.run(ms(700_000), |_| false);
            let totals = pipe.ends[SENDER].totals();
            let dropped = pipe.dropped[SENDER] as u64;
            if lossy == RECEIVER {
                assert_eq!((totals.retransmitted_bytes.get(), totals.congestion_events), (0, 0));
            } else if sack {
                // All that is declared lost was dropped, and all that was dropped is sent again.
                assert!(totals.lost_packets <= dropped, "{totals:?}, {dropped} dropped");
                assert!(totals.lost_packets + totals.timeouts >= dropped, "{totals:?}, {dropped}");
                assert_eq!((totals.spurious_losses, totals.undos), (0, 0));
                assert!(totals.congestion_events > 10, "{totals:?}");
            }
            assert_eq!(pipe.path().in_flight, Some(Bytes::ZERO));
        }
    }
}

#[test]
fn reordering_is_survived() {
    let mut pipe = connect(&spec(|_| ()), Role::Client);
    pipe.rate = BitRate::from_bps(20_000_000);
    pipe.fate = Box::new(|_, number, _| {
        Some(SimDuration::from_micros(((number * 7_919) % 13) as u64 * 500))
    });
    pipe.write(0, 3_000_000);
    pipe.deliver(3_000_000);
    pipe.run(pipe.now + SimDuration::from_secs(600), |_| false);
    let totals = pipe.ends[SENDER].totals();
    // RACK learns: after the first mistakes, a quarter of a round trip, 10 ms, covers 6 ms of reordering (RFC 8985
    // section 6.2, step 4), and what was reduced for them is taken back.
    assert!((1..20).contains(&totals.lost_packets), "{totals:?}");
    assert!(totals.undos >= 1, "{totals:?}");
    // Nothing was dropped.
    assert_eq!(totals.spurious_losses, totals.lost_packets);
    assert_eq!(totals.timeouts, 0);
}

#[test]
fn a_blackout_is_waited_out() {
    let mut pipe = connect(&spec(|_| ()), Role::Client);
    pipe.rate = BitRate::from_bps(20_000_000);
    pipe.fate =
        Box::new(|_, _, at| (!(ms(500)..ms(2_500)).contains(&at)).then_some(SimDuration::ZERO));
    pipe.write(0, 4_000_000);
    pipe.deliver(4_000_000);
    let totals = pipe.ends[SENDER].totals();
    // A tail loss probe, then timeouts near a quarter of a second and doubling: 2 s hold 3 to 5 of them.
    assert!((4..=6).contains(&totals.timeouts), "{totals:?}");
    assert!(pipe.now < ms(6_000), "it took until {}", pipe.now);
}

#[test]
fn the_handshake_survives_losses() {
    for role in [Role::Client, Role::Server] {
        for tls in [false, true] {
            for lost in 0..8 {
                let mut pipe = connect(&spec(|spec| spec.tls = tls), role);
                pipe.fate =
                    Box::new(move |_, number, _| (number != lost).then_some(SimDuration::ZERO));
                pipe.write(0, 20_000);
                pipe.deliver(20_000);
                assert!(pipe.now < ms(3_500), "{role:?}, the {lost}. lost: {}", pipe.now);
            }
        }
    }
}

#[test]
fn marks_are_answered_once_a_round_trip() {
    let mut pipe = connect(&spec(|spec| spec.ecn = true), Role::Client);
    pipe.rate = BitRate::from_bps(20_000_000);
    pipe.mark_after = Some(SimDuration::from_millis(10));
    pipe.write(0, 10_000_000);
    pipe.deliver(10_000_000);
    let totals = pipe.ends[SENDER].totals();
    assert_eq!((totals.lost_packets, totals.retransmitted_bytes.get()), (0, 0));
    assert!(totals.congestion_events >= 3, "{totals:?}");
    assert_eq!(totals.congestion_events, totals.ecn_marks);
    // Every reduction is told by one segment (RFC 3168 section 6.1.2), the SYN aside.
    let told = with(&pipe, SENDER, Flags::CWR).len() as u64 - 1;
    assert!(told == totals.congestion_events || told + 1 == totals.congestion_events, "{told}");
    assert!(with(&pipe, RECEIVER, Flags::ECE).len() > 3);
    let capable = pipe.passed[SENDER].iter().filter(|passed| passed.ecn == Ecn::Ect0);
    assert!(capable.clone().all(|passed| passed.segment.payload > 0) && capable.count() > 6_000);
}

#[test]
fn every_controller_gets_data_through() {
    for congestion in
        crate::CongestionSpec::built_in().into_iter().filter(|spec| !spec.is_coupled())
    {
        for pacing in [false, true] {
            let name = congestion.kind();
            let spec = spec(|spec| (spec.congestion, spec.pacing) = (congestion.clone(), pacing));
            let mut pipe = connect(&spec, Role::Client);
            pipe.rate = BitRate::from_bps(20_000_000);
            pipe.fate = Box::new(|end, number, _| {
                (end != SENDER || number % 100 != 99).then_some(SimDuration::ZERO)
            });
            pipe.write(0, 5_000_000);
            pipe.finish();
            pipe.deliver(5_000_000);
            pipe.run(pipe.now + SimDuration::from_secs(600), |_| false);
            let totals = pipe.ends[SENDER].totals();
            // Recovery by acknowledgements, but for the odd tail.
            assert!(totals.timeouts <= 3, "{name}, pacing {pacing}: {totals:?}");
            let dropped = pipe.dropped[SENDER] as u64;
            assert!(totals.lost_packets <= dropped, "{name}, pacing {pacing}: {totals:?}");
            assert_eq!(totals.spurious_losses, 0, "{name}, pacing {pacing}: {totals:?}");
            assert_eq!(pipe.path().in_flight, Some(Bytes::ZERO), "{name}, pacing {pacing}");
        }
    }
}
