//! The cost of a client's move, and its effect on congestion control: `reset`, `keep` and `careful_resume`; a client whose path
//! fails; both paths failing.

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;

use leobench_base::spec::Whole;
use leobench_base::{BitRate, Bytes};
use leobench_transport::congestion::{CongestionSpec, NewRenoSpec};
use leobench_transport::endpoint::{Input, InterfaceChange};

use super::migration::{client_of, frames, is_challenge, outside, transfer};
use super::*;
use crate::spec::{AfterMigration, CarefulResumeSpec};

const MOVE: u64 = 500;
/// 1,252 bytes with IP and UDP headers take 1.024 ms at 10 Mbit/s.
const PACKET_NANOS: u64 = 1_280 * 8 * 100;

fn inside(end: usize) -> SocketAddr {
    ([10, 0, 0, 1 + end as u8], 4_433).into()
}

/// Only what goes to or comes from the client's address of the moment passes: `addresses` lists them with the times, in ms, from
/// which they hold.
fn script(pipe: &mut Pipe<QuicEndpoint>, client: usize, addresses: Vec<(u64, SocketAddr)>) {
    pipe.translate = Box::new(move |end, now, packet| {
        let address = if end == client { packet.meta.source } else { packet.meta.destination };
        addresses.iter().rev().find(|(from, _)| now >= ms(*from)).unwrap().1 == address
    });
}

/// The client loses one address and has another at once.
fn hand_over(pipe: &mut Pipe<QuicEndpoint>, client: usize, at: u64, [old, new]: [SocketAddr; 2]) {
    pipe.run(ms(at), |_| false);
    for (address, up) in [(old.ip(), false), (new.ip(), true)] {
        pipe.input_at(client, Input::Interface(InterfaceChange { address, up }));
    }
}

/// `NewReno` without pacing, so that everything can be worked out by hand.
fn plain(after: AfterMigration) -> QuicSpec {
    spec(|spec| {
        (spec.after_migration, spec.pacing, spec.ecn) = (after, false, false);
        spec.congestion = CongestionSpec::NewReno(NewRenoSpec::default());
    })
}

/// An upload whose client moves at 500 ms from a path of 40 Mbit/s to one of 10 Mbit/s, both with a round trip of 40 ms and queues
/// without limit. A packet is lost at 200 ms, so that slow start is over. Also how long the new queue is, in nanoseconds.
fn upload(spec: &QuicSpec) -> (Pipe<QuicEndpoint>, Rc<Cell<u64>>) {
    let mut pipe = transfer(spec, Role::Client);
    pipe.rate = BitRate::from_bps(u64::MAX / 2);
    pipe.write(0, 12_000_000);
    let backlog = Rc::new(Cell::new(0));
    let (told, mut free, mut is_lost) = (backlog.clone(), [0, 0], false);
    pipe.fate = Box::new(move |end, _, now| {
        if end != SENDER {
            return Some(SimDuration::ZERO);
        }
        if now >= ms(200) && !std::mem::replace(&mut is_lost, now >= ms(200)) {
            return None;
        }
        let path = usize::from(now >= ms(MOVE));
        let now = now.as_nanos();
        free[path] = now.max(free[path]) + PACKET_NANOS / [4, 1][path];
        told.set(free[path] - now);
        Some(SimDuration::from_nanos(free[path] - now))
    });
    // What is on its way to the old address is lost.
    pipe.translate = Box::new(move |end, now, packet| {
        let (old, new) = (inside(SENDER), outside(9, 4_433));
        match end {
            SENDER => packet.meta.source == if now < ms(MOVE) { old } else { new },
            _ if now + SimDuration::from_millis(20) < ms(MOVE) => true,
            _ => packet.meta.destination == new,
        }
    });
    hand_over(&mut pipe, SENDER, MOVE, [inside(SENDER), outside(9, 4_433)]);
    (pipe, backlog)
}

fn is_near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 0.1 * expected
}

/// With `reset` the path is full when the window has 10 Mbit/s * 40 ms = 50,000 bytes: 40 packets of 1,280 bytes, of which the
/// window counts 1,252. The initial window of 10 packets leaves at once. The first packet over a new route is acknowledged at once,
/// then every second one: nine of them from 41.0 to 40 + 9 * 1.024 = 49.2 ms, and the tenth 25 ms late, at 40 + 10.24 + 25 = 75.2
/// ms. Each lets two more leave. Eighteen keep the link busy from 41.0 to 59.5 ms, and are acknowledged by 99.5 ms; the last two are
/// acknowledged at 75.2 + 2 * 1.024 + 40 = 117.3 ms, when the window has 10 + 10 + 20 packets.
#[test]
fn after_a_reset_the_path_is_full_when_slow_start_says() {
    let (mut pipe, _) = upload(&plain(AfterMigration::Reset));
    assert!(pipe.path().cwnd.get() <= 10 * 1_252, "{}", pipe.path().cwnd);
    let mut history = vec![];
    let mut last = 0;
    for step in 0..=1_000 {
        pipe.run(ms(MOVE) + SimDuration::from_micros(200 * step), |_| false);
        let cwnd = pipe.path().cwnd.get() / 1_252;
        if cwnd != last {
            last = cwnd;
            history.push((step as f64 * 0.2, cwnd));
        }
    }
    let took = history.iter().find(|(_, cwnd)| *cwnd >= 40).unwrap().0;
    assert!(is_near(took, 117.3), "{history:?}");
}

/// With `keep` the window stays. A round trip after the move one acknowledgement tells of everything that was in flight, and the
/// whole window leaves into the new queue at once: it is a window long. The window is far larger than the 50,000 bytes that the
/// new path holds, and the rest stays in the queue: the window's time at 10 Mbit/s less 40 ms.
#[test]
fn what_is_kept_overshoots_into_the_new_queue() {
    let (mut pipe, backlog) = upload(&plain(AfterMigration::Keep));
    let packets = pipe.path().cwnd.get() / 1_252;
    assert!(packets > 60, "{packets} packets are more than 50,000 bytes");
    let mut most = 0;
    for step in 0..60 {
        pipe.run(ms(MOVE + 30 + step), |_| false);
        most = most.max(backlog.get());
    }
    let window = packets as f64 * 1.024;
    assert!(is_near(most as f64 / 1e6, window), "{most} ns for {window} ms");
    // Two windows later it is the window that is acknowledged, and the queue is as long as it stays.
    pipe.run(ms(MOVE + 40 + 2 * window as u64), |_| false);
    let (rtt, window) =
        (pipe.path().latest_rtt.unwrap(), pipe.path().cwnd.get() as f64 / 1_252.0 * 1.024);
    assert!(is_near(rtt.as_nanos() as f64 / 1e6, window), "{rtt} for {window} ms");
    let (standing, overshoot) = (backlog.get() as f64 / 1e6, window - 40.0);
    assert!(is_near(standing, overshoot), "{standing} ms of queue for {overshoot}");
}

/// There and back again, with the sender at either end. The way back resumes what the first path carried: at 20 Mbit/s and 40 ms
/// there are 100,000 bytes, and the jump is to half of what was in flight, which the queue makes more.
#[test]
fn a_path_is_resumed_carefully_when_the_client_comes_back() {
    for sender in [Role::Client, Role::Server] {
        let spec = spec(|spec| spec.after_migration = AfterMigration::CarefulResume);
        let mut pipe = transfer(&spec, sender);
        pipe.write(0, 6_000_000);
        let client = client_of(sender);
        let (home, abroad) = (inside(client), outside(9, 4_433));
        script(&mut pipe, client, vec![(0, home), (MOVE, abroad), (900, home)]);
        hand_over(&mut pipe, client, MOVE, [home, abroad]);
        hand_over(&mut pipe, client, 900, [abroad, home]);
        pipe.deliver(9_000_000);
        let told: Vec<_> = pipe.events[SENDER]
            .iter()
            .filter(|(_, event)| event.kind == "careful-resume")
            .map(|(_, event)| event.detail.as_str())
            .collect();
        let at = |what: &str| told.iter().position(|detail| detail.starts_with(what));
        let order =
            ["saved", "acts as `reset`: nothing is saved", "resumes", "unvalidated"].map(at);
        assert!(order.is_sorted() && order.iter().all(Option::is_some), "{sender:?}: {told:?}");
        assert!(at("ends").is_some(), "{told:?}");
        // Both ends keep books.
        assert!(pipe.count(1 - SENDER, "careful-resume") >= 2);
        let windows = |from: u64, to: u64| {
            let phases =
                pipe.events[SENDER].iter().filter(|(at, _)| (ms(from)..ms(to)).contains(at));
            phases.filter(|(_, event)| event.kind == "phase").count()
        };
        assert!(windows(900, 2_000) >= 2);
    }
}

/// Saved parameters in the scenario replace an observation of the path; a scenario that requires them fails without either.
#[test]
fn a_scenario_may_give_what_is_saved_and_may_require_it() {
    for given in [false, true] {
        let spec = spec(|spec| {
            spec.after_migration = AfterMigration::CarefulResume;
            spec.careful_resume = Some(CarefulResumeSpec {
                saved_cwnd: given.then_some(Bytes::new(100_000)),
                saved_rtt: given.then_some(SimDuration::from_millis(40)),
                required: true,
                ..CarefulResumeSpec::default()
            });
        });
        let mut pipe = transfer(&spec, Role::Client);
        pipe.may_fail = true;
        script(&mut pipe, SENDER, vec![(0, inside(SENDER)), (MOVE, outside(9, 4_433))]);
        hand_over(&mut pipe, SENDER, MOVE, [inside(SENDER), outside(9, 4_433)]);
        pipe.run(ms(5_000), |pipe| pipe.failed.is_some());
        let failure = pipe.failed.as_ref().map(ToString::to_string);
        if given {
            assert_eq!((failure, pipe.delivered[0]), (None, 3_000_000));
            continue;
        }
        let failure = failure.unwrap();
        assert!(failure.starts_with("`careful_resume` requires saved parameters"), "{failure}");
        assert!(failure.contains("192.0.2.9 to 10.0.0.2") && !failure.contains('\n'), "{failure}");
    }
}

/// Section 9.1: after three probe timeouts without an answer the client probes its other address, with another connection ID and in
/// datagrams of 1,200 bytes, and moves when the server has answered; the server follows, and all arrives.
#[test]
fn a_client_whose_path_fails_moves_once_another_answers() {
    for answers in [true, false] {
        let spec = spec(|spec| spec.probe_after = Some(Whole::nearest(3)));
        let mut pipe = transfer(&spec, Role::Client);
        let (old, new) = (inside(SENDER), outside(9, 4_433));
        pipe.translate = Box::new(move |end, now, packet| {
            let address = if end == SENDER { packet.meta.source } else { packet.meta.destination };
            let failed = (ms(MOVE)..ms(20_000)).contains(&now);
            if address == old { !failed } else { answers }
        });
        pipe.input_at(SENDER, Input::Interface(InterfaceChange { address: new.ip(), up: true }));
        pipe.run(ms(60_000), |pipe| pipe.delivered[0] >= 3_000_000);
        assert_eq!(pipe.delivered, [3_000_000]);
        let probes: Vec<_> =
            pipe.passed[SENDER].iter().filter(|passed| passed.source == new).collect();
        let first = probes[0];
        let timeouts = pipe.events[SENDER].iter().filter(|(_, event)| event.kind == "timeout");
        assert_eq!(timeouts.filter(|(at, _)| *at <= first.at).count(), 3);
        assert!(
            frames(first).any(is_challenge) && frames(first).all(Frame::is_probing),
            "{first:?}"
        );
        assert!(first.size >= 1_200);
        let id = |passed: &Passed| passed.packets[0].header.destination();
        assert_ne!(id(first), id(&pipe.passed[SENDER][0]));
        let olds = pipe.passed[SENDER]
            .iter()
            .filter(|passed| passed.source == old && !passed.packets.is_empty());
        assert!(olds.clone().all(|passed| id(passed) != id(first)), "one ID from two addresses");
        if answers {
            assert!(
                olds.clone().all(|passed| passed.at < first.at + SimDuration::from_millis(100))
            );
            assert!(pipe.now < ms(10_000), "{:?}", pipe.now);
        } else {
            // It asked again and again, and found the old path back.
            assert!(
                probes.len() > 3 && probes.iter().all(|passed| frames(passed).any(is_challenge))
            );
            assert!(pipe.now > ms(20_000));
        }
    }
}

/// A short failure: the path is back before the other one has answered, and the client stays.
#[test]
fn a_path_that_comes_back_is_not_left() {
    let spec = spec(|spec| spec.probe_after = Some(Whole::nearest(1)));
    let mut pipe = transfer(&spec, Role::Client);
    let (old, new) = (inside(SENDER), outside(9, 4_433));
    pipe.translate = Box::new(move |end, now, packet| {
        let address = if end == SENDER { packet.meta.source } else { packet.meta.destination };
        // The old path fails for 400 ms. The new one carries the probe a little later.
        if address == old {
            !(ms(MOVE)..ms(MOVE + 400)).contains(&now)
        } else {
            now > ms(MOVE + 700)
        }
    });
    pipe.input_at(SENDER, Input::Interface(InterfaceChange { address: new.ip(), up: true }));
    pipe.deliver(3_000_000);
    pipe.run(ms(20_000), |_| false);
    assert!(pipe.passed[SENDER].iter().any(|passed| passed.source == new), "it was probed");
    let moved = pipe.events[SENDER].iter().filter(|(_, event)| event.detail.starts_with("moved"));
    assert_eq!(moved.count(), 0);
}

/// RFC 9000 section 10.1: both paths are down for longer than the idle timeout.
#[test]
fn without_any_path_the_connection_times_out() {
    for sender in [Role::Client, Role::Server] {
        let spec = spec(|spec| spec.idle_timeout = Some(SimDuration::from_secs(5)));
        let mut pipe = transfer(&spec, sender);
        let client = client_of(sender);
        pipe.translate = Box::new(|_, now, _| now < ms(MOVE));
        pipe.run(ms(MOVE), |_| false);
        let gone = InterfaceChange { address: inside(client).ip(), up: false };
        pipe.input_at(client, Input::Interface(gone));
        pipe.run(ms(2_000), |_| false);
        let come = InterfaceChange { address: outside(9, 4_433).ip(), up: true };
        pipe.input_at(client, Input::Interface(come));
        pipe.run(ms(60_000), |_| false);
        for end in [SENDER, RECEIVER] {
            let lost = pipe.ends[end].lost().unwrap();
            assert_eq!(lost.reason, "timed out", "{sender:?}");
            assert!((ms(MOVE + 4_900)..ms(MOVE + 10_000)).contains(&lost.at), "{:?}", lost.at);
        }
    }
}
