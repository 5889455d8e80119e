//! Data over a pipe that does nothing wrong.

use leobench_base::SimDuration;
use leobench_base::spec::Window;
use leobench_base::{BitRate, Bytes};
use leobench_transport::Role;
use leobench_transport::testing::{RECEIVER, SENDER, ms};

use super::{Stack, connect, spec};

pub fn either_role_sends<S: Stack>() {
    for role in [Role::Client, Role::Server] {
        let mut pipe = connect::<S>(&spec(|_| ()), 1, role);
        pipe.write(0, 1_000_000);
        pipe.finish();
        pipe.deliver(1_000_000);
        // Until the last acknowledgements are in.
        pipe.run(ms(10_000), |_| false);
        let (sender, receiver) = (pipe.ends[SENDER].totals(), pipe.ends[RECEIVER].totals());
        let established = [SENDER, RECEIVER].map(|end| pipe.count(end, "established"));
        assert_eq!(established, [1, 1]);
        assert_eq!(sender.sent_packets, pipe.passed[SENDER].len() as u64);
        assert_eq!(
            sender.sent_bytes.get(),
            pipe.passed[SENDER].iter().map(|packet| S::sent(packet).size).sum::<u64>()
        );
        assert_eq!(receiver.received_packets, sender.sent_packets);
        assert_eq!(sender.received_packets, receiver.sent_packets);
        assert_eq!(
            (sender.lost_packets, sender.timeouts, sender.retransmitted_bytes.get()),
            (0, 0, 0)
        );
        assert_eq!((sender.congestion_events, sender.spurious_losses), (0, 0));
        assert!(
            (1_000_000..=sender.sent_bytes.get()).contains(&sender.acked_bytes.get()),
            "{sender:?}"
        );
        assert_eq!(pipe.path().in_flight, Some(Bytes::ZERO), "{role:?}");
    }
}

pub fn finishing_ends_every_stream_once<S: Stack>() {
    let mut pipe = connect::<S>(&spec(|_| ()), 3, Role::Client);
    pipe.write(0, 5_000);
    pipe.write(2, 10);
    pipe.run(ms(500), |_| false);
    pipe.write(2, 7_000);
    pipe.finish();
    pipe.run(ms(2_000), |_| false);
    assert_eq!(pipe.delivered, [5_000, 0, 7_010]);
    let frames = pipe.passed[SENDER].iter().flat_map(|packet| S::sent(packet).frames);
    let mut ends: Vec<_> =
        frames.filter(|(.., fin)| *fin).map(|(id, at, len, _)| (id, at + len)).collect();
    ends.sort_unstable();
    assert_eq!(ends, [(0, 5_000), (1, 0), (2, 7_010)]);
}

pub fn nothing_happens_on_an_idle_connection<S: Stack>() {
    let mut pipe = connect::<S>(&spec(|_| ()), 1, Role::Client);
    pipe.write(0, 50_000);
    pipe.deliver(50_000);
    pipe.run(ms(5_000), |_| false);
    let passed = pipe.passed.clone();
    pipe.run(ms(3_000_000), |_| false);
    assert_eq!(pipe.passed, passed);
}

pub fn the_same_seed_sends_the_same_packets<S: Stack>() {
    let run = || {
        let mut pipe = connect::<S>(&spec(|_| ()), 3, Role::Server);
        pipe.fate = Box::new(|_, number, _| (number % 50 != 49).then_some(SimDuration::ZERO));
        (0..3).for_each(|stream| pipe.write(stream, 300_000));
        pipe.deliver(900_000);
        pipe.passed
    };
    assert_eq!(run(), run());
}

pub fn a_thousand_streams<S: Stack>() {
    let mut pipe = connect::<S>(&spec(|_| ()), 1_000, Role::Client);
    for stream in 0..1_000 {
        pipe.write(stream, 1_000 + stream as u64);
    }
    pipe.finish();
    let bytes = (0..1_000).map(|stream| 1_000 + stream).sum();
    pipe.deliver(bytes);
    assert!(pipe.delivered.iter().zip(1_000..).all(|(delivered, size)| *delivered == size));
}

pub fn pacing_spreads_what_would_leave_at_once<S: Stack>() {
    let at_once = |pacing: bool| {
        let mut pipe = connect::<S>(&spec(|spec| spec.pacing = pacing), 1, Role::Client);
        pipe.rate = BitRate::from_bps(50_000_000);
        pipe.write(0, 3_000_000);
        pipe.deliver(3_000_000);
        let times: Vec<_> = pipe.passed[SENDER].iter().map(|packet| S::sent(packet).at).collect();
        times.chunk_by(|one, other| one == other).map(<[_]>::len).max().unwrap()
    };
    // RFC 9002 section 7.7: no burst beyond the initial window of 10 packets; without pacing every acknowledgement of
    // a window that leaves at once releases more at once.
    assert!(at_once(true) <= 10, "{} at once", at_once(true));
    assert!(at_once(false) >= 10, "{} at once", at_once(false));
}

pub fn flow_control_windows_are_kept_and_used<S: Stack>() {
    const WINDOW: u64 = 40_000;
    for (streams, connection) in
        [(1, Window::Unlimited), (4, Window::Unlimited), (4, Window::Bytes(Bytes::new(WINDOW)))]
    {
        let spec = spec(|spec| {
            spec.stream_window = Window::Bytes(Bytes::new(WINDOW));
            spec.connection_window = connection;
        });
        let mut pipe = connect::<S>(&spec, streams, Role::Client);
        (0..streams).for_each(|stream| pipe.write(stream, 4_000_000 / streams as u64));
        pipe.deliver(4_000_000);
        // A window is granted once it has been read, half a round trip later.
        let windows = if connection == Window::Unlimited { streams as u64 } else { 1 };
        let fastest = (windows * WINDOW) as f64 / 0.040;
        let rate = 4_000_000.0 / (pipe.now.as_secs_f64() - 0.040);
        assert!(
            (0.8..=1.02).contains(&(rate / fastest)),
            "{streams} {connection:?}: {rate} of {fastest}"
        );
        // Limited by flow control, the congestion window is not used and must not grow (RFC 9002 section 7.8).
        let window = pipe.path().cwnd.get();
        assert!(window < 3 * windows * WINDOW, "{streams} {connection:?}: window of {window}");
    }
}
