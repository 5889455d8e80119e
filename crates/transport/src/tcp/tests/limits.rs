//! Limits other than the congestion window: too little data, and the receiver.

use leobench_base::spec::Window;

use super::script::play;
use super::*;

#[test]
fn the_window_does_not_grow_while_nagle_holds_what_there_is() {
    // 600 bytes wait for an acknowledgement, the window is open: of ten segments then, as at first.
    play(
        true,
        |_| (),
        "0    write 1500
         0    > 0-1500
         10   write 600
         100  < ack 1500
         100  > 1500-2100
         110  write 50000
         110  > 2100-11100",
    );
}

#[test]
fn a_source_of_small_messages_keeps_its_window_small() {
    let mut pipe = connect(&spec(|_| ()), Role::Client);
    pipe.rate = BitRate::from_bps(20_000_000);
    let every = SimDuration::from_micros(1_600);
    for _ in 0..5_000 {
        pipe.write(0, 1_000);
        pipe.run(pipe.now + every, |_| false);
    }
    // 5 Mbit/s over 40 ms are 25 kB, delayed acknowledgements add up to 25 kB.
    let (window, flying) = (pipe.path().cwnd.get(), pipe.path().in_flight.unwrap().get());
    assert!((15_000..=60_000).contains(&flying), "{flying} bytes in flight");
    assert!(window <= 100_000, "a window of {window}, {flying} bytes in flight");
}

#[test]
fn the_receive_window_is_no_want_of_data() {
    // Of two BBRs whose rates stop growing, the one that is held by the receiver leaves Startup, as its path could carry
    // no more; a loss-based window stays.
    let held = |congestion: crate::CongestionSpec| {
        let window = Window::Bytes(Bytes::new(60_000));
        let spec = spec(|spec| (spec.congestion, spec.receive_buffer) = (congestion, window));
        let mut pipe = connect(&spec, Role::Client);
        pipe.rate = BitRate::from_bps(100_000_000);
        pipe.write(0, 100_000_000);
        pipe.run(ms(3_000), |_| false);
        pipe.path()
    };
    for congestion in [
        crate::CongestionSpec::Bbr(crate::congestion::BbrSpec::default()),
        crate::CongestionSpec::Bbr3(crate::congestion::Bbr3Spec::default()),
    ] {
        let path = held(congestion);
        assert!(path.phase.to_lowercase() != "startup", "{}", path.phase);
    }
    let path = held(crate::CongestionSpec::NewReno(crate::congestion::NewRenoSpec::default()));
    assert!(path.cwnd.get() < 130_000, "{}", path.cwnd);
}

#[test]
fn the_receive_buffer_grows_with_jumbo_segments_too() {
    for mss in [1_448, 4_096, 8_948, 16_000, 60_000] {
        let mut pipe = connect(&spec(|spec| spec.mss = Bytes::new(mss)), Role::Client);
        pipe.rate = BitRate::from_bps(100_000_000);
        pipe.write(0, 10_000_000);
        pipe.deliver(10_000_000);
        // 0.8 s at the rate of the path; 64 KiB in every round trip would take 6 s.
        assert!(pipe.now < ms(1_500), "mss {mss}: it took until {}", pipe.now);
    }
}

#[test]
fn the_offered_edge_never_moves_back() {
    // Less than a segment does not move it (RFC 9293 section 3.8.6.2.2), and is no multiple of the window's unit.
    for buffer in [6 << 20, 1 << 30, 3_000, 70_000] {
        let window = Window::Bytes(Bytes::new(buffer));
        let spec = spec(|spec| (spec.nagle, spec.receive_buffer) = (false, window));
        let mut pipe = connect(&spec, Role::Client);
        pipe.fate = Box::new(|end, number, _| {
            (end != SENDER || number % 101 != 99).then_some(SimDuration::ZERO)
        });
        for _ in 0..2_000 {
            pipe.write(0, 1_000);
            pipe.run(pipe.now + SimDuration::from_millis(1), |_| false);
        }
        pipe.deliver(2_000_000);
        let answer = &pipe.passed[RECEIVER][0].segment;
        let scale = answer.options.window_scale.unwrap();
        let first = pipe.passed[SENDER][0].segment.seq.wrapping_add(1);
        let mut edge = u64::from(answer.window);
        for Passed { segment, .. } in &pipe.passed[RECEIVER][1..] {
            let next = u64::from(segment.ack.wrapping_sub(first));
            let told = next + (u64::from(segment.window) << scale);
            assert!(told >= edge, "buffer of {buffer}: from {edge} to {told}");
            edge = told;
        }
    }
}

#[test]
fn a_window_that_opens_does_not_shorten_the_timeout() {
    // The path has become longer than the timeout. What was sent again gives no sample, so the timeout of 300 ms, which has
    // doubled twice, stays at 1,200 ms for the next segment (RFC 6298 section 5.5), though the receiver has little room.
    play(
        true,
        |spec| spec.sack = false,
        "0    < ack 0 win 1500
         1    write 10000
         1    > 0-1000
         301  ! timeout
         301  ! congestion
         301  > 0-1000
         901  ! timeout
         901  > 0-1000
         1500 < ack 1000 win 1500
         1500 > 1000-2000
         2700 ! timeout
         2700 ! congestion
         2700 > 1000-2000",
    );
}

/// A path of 100 Mbit/s and 200 ms holds 2.5 MB; a send buffer of 500 kB lets a fifth of that fly.
#[test]
fn the_send_buffer_limits_what_is_in_flight() {
    let limited = |send_buffer| {
        let spec = spec(|spec| {
            spec.send_buffer = send_buffer;
            spec.receive_buffer = Window::Unlimited;
        });
        let mut pipe = connect(&spec, Role::Client);
        pipe.delay = SimDuration::from_millis(100);
        pipe.rate = BitRate::from_bps(100_000_000);
        pipe.write(0, 50_000_000);
        pipe.run(ms(3_000), |_| false);
        let before = pipe.delivered[0];
        pipe.run(ms(5_000), |_| false);
        (pipe.delivered[0] - before) as f64 * 8.0 / 2.0
    };
    let goodput = limited(Window::Bytes(Bytes::new(500_000)));
    // At least two thirds of the buffer are always full: the writer wakes when a third is free.
    let full = 500_000.0 * 8.0 / 0.2;
    assert!((0.66 * full..=1.01 * full).contains(&goodput), "{goodput} of {full}");
    assert!(limited(Window::Unlimited) > 90e6);
}

/// A call returns as soon as the buffer takes its message, long before it is sent, until the buffer is full.
#[test]
fn writes_return_while_the_send_buffer_has_room() {
    let mut pipe = connect(&spec(|_| ()), Role::Client);
    pipe.rate = BitRate::from_bps(10_000_000);
    pipe.run(ms(1), |_| false);
    assert_eq!(pipe.room[0], 87_040, "room for two initial windows");
    pipe.write(0, 200_000);
    pipe.run(ms(30), |_| false);
    assert_eq!(pipe.room[0], 87_040, "nothing is acknowledged yet");
    pipe.run(ms(10_000), |pipe| pipe.room[0] >= 200_000);
    assert!(pipe.sent[0] < 200_000 && pipe.delivered[0] < pipe.sent[0]);
    // Two windows of segments, each with its share of overhead.
    let window = pipe.path().cwnd.get() / 1_448;
    let una = pipe.room[0].saturating_sub(2 * window.max(10) * 4_352);
    assert!(una <= pipe.delivered[0], "{una} of {}", pipe.delivered[0]);
    pipe.deliver(200_000);
}
