//! Key updates (RFC 9001 section 6), and the spin bit (RFC 9000 section 17.4).

use leobench_base::BitRate;
use leobench_base::spec::Whole;

use super::addresses::{MODES, Mode, pipe};
use super::*;
use crate::wire::Header;

/// The bits of the 1-RTT packets of an end, by number: key phase and spin bit.
fn bits(pipe: &Pipe<QuicEndpoint>, end: usize) -> Vec<(SimTime, bool, bool)> {
    let passed = pipe.passed[end].iter();
    let packets = passed.flat_map(|passed| passed.packets.iter().map(|packet| (passed.at, packet)));
    let bits = packets.filter_map(|(at, packet)| match packet.header {
        Header::OneRtt { key_phase, spin, .. } => Some((at, key_phase, spin)),
        _ => None,
    });
    bits.collect()
}

#[test]
fn keys_are_updated_by_the_number_of_packets() {
    for mode in MODES {
        let mut pipe = pipe(mode, |spec| spec.key_update = Some(Whole::nearest(200)));
        pipe.rate = BitRate::from_bps(10_000_000);
        pipe.fate = Box::new(|_, number, _| (number % 40 != 39).then_some(SimDuration::ZERO));
        pipe.write(0, 2_000_000);
        pipe.finish();
        pipe.deliver(2_000_000);
        pipe.run(pipe.now + SimDuration::from_millis(500), |_| false);
        let updates = [SENDER, RECEIVER].map(|end| pipe.count(end, "key-update"));
        // 2,000,000 bytes are at least 1,600 packets; both ends go through the same phases.
        assert!((7..=9).contains(&updates[0]) && updates[0] == updates[1], "{mode:?}: {updates:?}");
        assert!([SENDER, RECEIVER].iter().all(|end| pipe.ends[*end].lost().is_none()), "{mode:?}");
        if mode == Mode::Structs {
            let sent = bits(&pipe, SENDER);
            let phases: Vec<_> =
                sent.chunk_by(|one, next| one.1 == next.1).map(<[_]>::len).collect();
            assert!(phases[..updates[0]].iter().all(|packets| *packets == 200), "{phases:?}");
        }
        let by_peer = |end: usize| {
            let details = pipe.events[end].iter().filter(|(_, event)| event.kind == "key-update");
            details.filter(|(_, event)| event.detail.starts_with("by the peer")).count()
        };
        assert_eq!([by_peer(SENDER), by_peer(RECEIVER)], [0, updates[1]], "{mode:?}");
    }
}

#[test]
fn an_update_waits_for_the_one_before() {
    for mode in MODES {
        let mut pipe = pipe(mode, |_| ());
        pipe.write(0, 10_000);
        pipe.run(ms(42), |_| false);
        let update = |pipe: &mut Pipe<QuicEndpoint>| {
            pipe.ends[SENDER].connection_mut().update_keys(pipe.now)
        };
        assert!(!update(&mut pipe), "the handshake is not confirmed");
        pipe.run(ms(500), |_| false);
        assert!(update(&mut pipe));
        assert!(!update(&mut pipe), "nothing was sent with the new keys");
        pipe.write(0, 10_000);
        pipe.run(ms(520), |_| false);
        assert!(!update(&mut pipe), "nothing was acknowledged");
        pipe.run(ms(545), |_| false);
        assert!(!update(&mut pipe), "the old keys may still be needed");
        pipe.run(ms(2_000), |_| false);
        assert!(update(&mut pipe));
        pipe.write(0, 10_000);
        pipe.run(ms(4_000), |_| false);
        // What the receiver sends is not acknowledged, for it is acknowledgements only.
        assert!(!pipe.ends[RECEIVER].connection_mut().update_keys(pipe.now));
        let updates = [SENDER, RECEIVER].map(|end| pipe.count(end, "key-update"));
        assert_eq!(updates, [2, 2], "{mode:?}");
    }
}

#[test]
fn a_receiver_may_update_too() {
    for mode in MODES {
        let mut pipe = pipe(mode, |_| ());
        pipe.run(ms(500), |_| false);
        assert!(pipe.ends[RECEIVER].connection_mut().update_keys(pipe.now));
        pipe.write(0, 20_000);
        pipe.deliver(20_000);
        pipe.run(ms(2_000), |_| false);
        let details = [SENDER, RECEIVER].map(|end| {
            let events = pipe.events[end].iter().filter(|(_, event)| event.kind == "key-update");
            events.map(|(_, event)| event.detail.clone()).collect::<Vec<_>>()
        });
        let expected = ["by the peer: key phase 1", "by this end: key phase 1"];
        assert_eq!(details, expected.map(|detail| vec![detail.to_owned()]), "{mode:?}");
    }
}

#[test]
fn updating_as_often_as_allowed_loses_nothing() {
    for mode in MODES {
        let mut pipe = pipe(mode, |spec| spec.key_update = Some(Whole::nearest(1)));
        pipe.rate = BitRate::from_bps(10_000_000);
        pipe.fate = Box::new(|_, number, _| {
            let late = SimDuration::from_micros(((number * 7_919) % 13) as u64 * 500);
            (number % 40 != 39).then_some(late)
        });
        pipe.write(0, 1_000_000);
        pipe.finish();
        pipe.deliver(1_000_000);
        assert!([SENDER, RECEIVER].iter().all(|end| pipe.ends[*end].lost().is_none()), "{mode:?}");
        assert!(pipe.count(SENDER, "key-update") > 3, "{mode:?}");
    }
}

/// Keys that are worn out while they cannot be updated close the connection (RFC 9001 section 6.6).
#[test]
fn worn_keys_are_updated_or_close_the_connection() {
    for (mode, updates) in
        [(Mode::Structs, true), (Mode::Tls, true), (Mode::Structs, false), (Mode::Tls, false)]
    {
        let mut pipe = pipe(mode, |_| ());
        pipe.rate = BitRate::from_bps(10_000_000);
        pipe.write(0, 1_000_000);
        pipe.run(ms(300), |_| false);
        let sender = pipe.ends[SENDER].connection_mut();
        if updates {
            // Many packets before the limit.
            sender.wear_out_keys(400);
        } else {
            assert!(sender.update_keys(pipe.now));
            sender.wear_out_keys(8);
        }
        pipe.run(ms(9_000), |pipe| pipe.delivered[0] == 1_000_000);
        let lost = pipe.ends[SENDER].lost().map(|lost| lost.reason.clone());
        assert_eq!(lost.is_none(), updates, "{mode:?}: {lost:?}");
        let closing = "closed by an error of this end: AEAD_LIMIT_REACHED";
        assert!(lost.is_none_or(|lost| lost.starts_with(closing)));
        assert_eq!(pipe.count(SENDER, "key-update"), 1);
    }
}

#[test]
fn the_spin_bit_changes_once_a_round_trip() {
    let mut pipe = pipe(Mode::Structs, |_| ());
    pipe.rate = BitRate::from_bps(10_000_000);
    pipe.write(0, 1_500_000);
    pipe.deliver(1_500_000);
    for end in [SENDER, RECEIVER] {
        let sent = bits(&pipe, end);
        let changes = sent.windows(2).filter(|pair| pair[0].2 != pair[1].2);
        let times: Vec<_> = changes.map(|pair| pair[1].0).collect();
        let spans = times.windows(2).map(|pair| pair[1].saturating_since(pair[0]).as_millis_f64());
        let (spans, rtt) = (spans.collect::<Vec<_>>(), pipe.path().smoothed_rtt.unwrap());
        let mean = spans.iter().sum::<f64>() / spans.len() as f64;
        assert!(spans.len() > 3 && spans[0] >= 40.0, "{end}: {spans:?}");
        assert!(mean <= 1.5 * rtt.as_millis_f64().max(60.0), "{end}: {mean} ms, {rtt}");
    }
}

/// Of 1,600 connections 100 are expected; 29 are three standard deviations.
#[test]
fn the_spin_bit_rests_on_one_connection_in_sixteen() {
    let mut resting = 0;
    for seed in 0..1_600 {
        let mut pipe = pipe(Mode::Structs, |_| ());
        pipe.ends[SENDER].prepare(|parts| parts.rng = RngTree::new(seed));
        pipe.run(SimTime::from_nanos(1), |_| false);
        resting += usize::from(!pipe.ends[SENDER].connection_mut().spins());
    }
    assert!((71..=129).contains(&resting), "{resting}");
}

/// RFC 9000 section 17.4.
#[test]
fn administrators_turn_the_spin_bit_off() {
    for seed in 0..50 {
        let mut pipe = pipe(Mode::Structs, |spec| spec.spin = false);
        pipe.ends[SENDER].prepare(|parts| parts.rng = RngTree::new(seed));
        pipe.run(SimTime::from_nanos(1), |_| false);
        assert!(!pipe.ends[SENDER].connection_mut().spins());
    }
}
