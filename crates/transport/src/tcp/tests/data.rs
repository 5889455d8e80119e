//! Data over a pipe without faults.

use leobench_base::spec::Window;

use super::*;

#[test]
fn either_role_sends() {
    for (role, tls, timestamps, sack) in [
        (Role::Client, false, true, true),
        (Role::Server, false, true, true),
        (Role::Client, true, true, true),
        (Role::Server, true, false, true),
        (Role::Client, false, false, false),
    ] {
        let spec = spec(|spec| (spec.tls, spec.timestamps, spec.sack) = (tls, timestamps, sack));
        let mut pipe = connect(&spec, role);
        pipe.write(0, 1_000_000);
        pipe.finish();
        pipe.deliver(1_000_000);
        // Until the last acknowledgements are in.
        pipe.run(ms(100_000), |_| false);
        let (sender, receiver) = (pipe.ends[SENDER].totals(), pipe.ends[RECEIVER].totals());
        let sizes = pipe.passed[SENDER].iter().map(|passed| passed.segment.len());
        assert_eq!(sender.sent_packets, pipe.passed[SENDER].len() as u64);
        assert_eq!(sender.sent_bytes.get(), sizes.sum::<u64>());
        assert_eq!(receiver.received_packets, sender.sent_packets);
        assert_eq!(sender.received_packets, receiver.sent_packets);
        assert_eq!(
            (sender.lost_packets, sender.timeouts, sender.retransmitted_bytes.get()),
            (0, 0, 0)
        );
        assert_eq!((sender.congestion_events, sender.spurious_losses), (0, 0));
        assert_eq!(pipe.path().in_flight, Some(Bytes::ZERO), "{role:?}");
        // A FIN each way, and its acknowledgement.
        for end in [SENDER, RECEIVER] {
            assert_eq!(with(&pipe, end, Flags::FIN).len(), 1, "{role:?} {end}");
        }
        let established = pipe.events.iter().flatten().filter(|(_, e)| e.kind == "established");
        assert_eq!(established.count(), 2);
    }
}

#[test]
fn the_handshake_takes_a_round_trip_and_tls_another() {
    for (role, tls, first) in [
        (Role::Client, false, 40),
        // The server waits for the third segment.
        (Role::Server, false, 60),
        (Role::Client, true, 80),
        // The server waits for Finished.
        (Role::Server, true, 100),
    ] {
        let mut pipe = connect(&spec(|spec| spec.tls = tls), role);
        pipe.write(0, 1_000);
        pipe.deliver(1_000);
        assert_eq!(pipe.now, ms(first + 20), "{role:?} {tls}");
    }
}

#[test]
fn the_first_segments_say_what_linux_would() {
    let mut pipe = connect(&spec(|_| ()), Role::Client);
    pipe.write(0, 100_000);
    pipe.deliver(100_000);
    let syn = &pipe.passed[SENDER][0].segment;
    assert_eq!(syn.flags, Flags::SYN);
    assert_eq!((syn.options.mss, syn.options.window_scale), (Some(1_460), Some(7)));
    assert!(syn.options.sack_permitted && syn.len() == 40);
    let answer = &pipe.passed[RECEIVER][0].segment;
    assert_eq!(answer.flags, Flags::SYN.with(Flags::ACK));
    assert_eq!(answer.ack, syn.seq.wrapping_add(1));
    assert_eq!(answer.options.timestamps.unwrap().echo, syn.options.timestamps.unwrap().value);
    // The third segment of the handshake, then ten of data (RFC 6928).
    let burst = pipe.passed[SENDER].iter().filter(|passed| passed.at == ms(40));
    assert_eq!(burst.map(|passed| passed.segment.payload).collect::<Vec<_>>(), {
        let mut sizes = vec![1_448; 11];
        sizes[0] = 0;
        sizes
    });
}

#[test]
fn every_second_segment_is_acknowledged_after_the_first_sixteen() {
    // With a window that does not grow.
    let constant = spec(|spec| spec.receive_buffer = Window::Bytes(Bytes::new(64 << 10)));
    let mut pipe = connect(&constant, Role::Client);
    pipe.rate = BitRate::from_bps(50_000_000);
    pipe.write(0, 1_448 * 1_000);
    pipe.deliver(1_448 * 1_000);
    let acks = pipe.passed[RECEIVER].len() - 1;
    assert!((16 + 980 / 2..=16 + 988 / 2 + 2).contains(&acks), "{acks}");
    // A single segment waits 40 ms for another (the link is quiet for less than a timeout).
    let now = pipe.now;
    pipe.run(now + SimDuration::from_millis(100), |_| false);
    pipe.write(0, 1_000);
    let before = pipe.passed[RECEIVER].len();
    let sent = pipe.now;
    pipe.run(sent + SimDuration::from_millis(100), |_| false);
    assert_eq!(pipe.passed[RECEIVER].len(), before + 1);
    let (span, _) = pipe.rate.serialise(Bytes::new(1_052), 0).unwrap();
    let ack = pipe.passed[RECEIVER][before].at;
    assert_eq!(ack, sent + span + SimDuration::from_millis(20 + 40));
}

#[test]
fn records_wrap_the_data_and_arrive_whole() {
    let mut pipe = connect(&spec(|spec| spec.tls = true), Role::Client);
    pipe.rate = BitRate::from_bps(50_000_000);
    pipe.write(0, 16_384 * 10 + 5);
    pipe.finish();
    let mut seen = Vec::new();
    while pipe.delivered[0] < 16_384 * 10 + 5 {
        let before = pipe.delivered[0];
        pipe.run(ms(10_000), |pipe| pipe.delivered[0] > before);
        seen.push(pipe.delivered[0]);
    }
    // The last segment ends two records.
    assert!(seen[..9].iter().all(|delivered| delivered % 16_384 == 0), "{seen:?}");
    let data = pipe.passed[SENDER].iter().map(|passed| u64::from(passed.segment.payload));
    let handshake = 5 + 300 + 22 + 36;
    assert_eq!(data.sum::<u64>(), handshake + 10 * (16_384 + 22) + 5 + 22);
}

#[test]
fn nothing_happens_on_an_idle_connection() {
    let mut pipe = connect(&spec(|_| ()), Role::Client);
    pipe.write(0, 50_000);
    pipe.deliver(50_000);
    pipe.run(ms(5_000), |_| false);
    let passed = pipe.passed.clone();
    pipe.run(ms(3_000_000), |_| false);
    assert_eq!(pipe.passed, passed);
}

#[test]
fn the_same_seed_sends_the_same_segments() {
    let run = || {
        let mut pipe = connect(&spec(|_| ()), Role::Server);
        pipe.fate = Box::new(|_, number, _| (number % 50 != 49).then_some(SimDuration::ZERO));
        pipe.write(0, 900_000);
        pipe.deliver(900_000);
        pipe.passed
    };
    assert_eq!(run(), run());
}

#[test]
fn pacing_spreads_what_would_leave_at_once() {
    let at_once = |pacing: bool| {
        let mut pipe = connect(&spec(|spec| spec.pacing = pacing), Role::Client);
        pipe.rate = BitRate::from_bps(50_000_000);
        pipe.write(0, 3_000_000);
        pipe.deliver(3_000_000);
        let data = pipe.passed[SENDER].iter().filter(|passed| passed.segment.payload > 0);
        let times = data.map(|passed| passed.at).collect::<Vec<_>>();
        times.chunk_by(|one, other| one == other).map(<[_]>::len).max().unwrap()
    };
    assert!(at_once(true) <= 10, "{} at once", at_once(true));
    assert!(at_once(false) >= 10, "{} at once", at_once(false));
}

#[test]
fn the_receive_buffer_is_kept_and_used() {
    const WINDOW: u64 = 40_000;
    let spec = spec(|spec| spec.receive_buffer = Window::Bytes(Bytes::new(WINDOW)));
    let mut pipe = connect(&spec, Role::Client);
    pipe.write(0, 4_000_000);
    pipe.deliver(4_000_000);
    let fastest = WINDOW as f64 / 0.040;
    let rate = 4_000_000.0 / (pipe.now.as_secs_f64() - 0.040);
    assert!((0.8..=1.02).contains(&(rate / fastest)), "{rate} of {fastest}");
    // Limited by the receiver, the congestion window is not used and must not grow.
    let window = pipe.path().cwnd.get();
    assert!(window < 3 * WINDOW, "window of {window}");
}

#[test]
fn the_receive_buffer_grows_ahead_of_the_window() {
    let time = |receive_buffer| {
        let spec = spec(|spec| spec.receive_buffer = receive_buffer);
        let mut pipe = connect(&spec, Role::Client);
        pipe.write(0, 5_000_000);
        pipe.deliver(5_000_000);
        pipe.now
    };
    let grown = time(Window::Bytes(Bytes::new(6 << 20)));
    assert_eq!(grown, time(Window::Unlimited), "slow start never waits for the receiver");
}

#[test]
fn small_segments_wait_for_an_earlier_one_unless_told_not_to() {
    let segments = |nagle: bool| {
        let mut pipe = connect(&spec(|spec| spec.nagle = nagle), Role::Client);
        pipe.run(ms(100), |_| false);
        for message in 0..10 {
            pipe.run(ms(100 + message), |_| false);
            pipe.write(0, 100);
        }
        pipe.deliver(1_000);
        pipe.passed[SENDER].iter().filter(|passed| passed.segment.payload > 0).count()
    };
    assert_eq!((segments(true), segments(false)), (2, 10));
}
