//! Calls over a bottleneck.

mod bottleneck;

use bottleneck::{Call, Path, run};
use leobench_base::spec::{At, Spec, Value};
use leobench_base::{SimDuration, SimTime};
use leobench_media::call::CallSpec;

fn spec(json: &str) -> CallSpec {
    let table = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}"));
    CallSpec::read(&Value::Table(table), &At::ROOT).unwrap_or_else(|error| panic!("{error}"))
}

fn seconds(value: f64) -> SimTime {
    SimTime::ZERO + SimDuration::from_secs_f64(value)
}

fn adaptive(kind: &str, length: u64) -> CallSpec {
    spec(&format!(
        r#"{{"length": "{length} s", "video": {{"start": "1 Mbps", "most": "8 Mbps"}}, "audio": {{}},
             "rate_control": "{kind}"}}"#
    ))
}

/// Without a rate control that adapts, every time is known. A voice packet is captured in 20 ms, heard 6.5 ms ahead, and on the
/// way for 25 ms and the 0.8 ms that 100 B take at 1 Mbit/s. It waits for 60 ms: 112.3 ms from mouth to ear.
#[test]
fn the_delay_of_a_voice_is_the_sum_of_its_parts() {
    let call = spec(
        r#"{"length": "10 s", "audio": {}, "rate_control": "fixed",
            "jitter_buffer": {"kind": "fixed", "delay": "60 ms"}}"#,
    );
    let done = run(&call, &Path::of(1.0));
    let heard = done.receiver.heard().unwrap();
    // The 500th would be full after 10.0065 s.
    assert_eq!((heard.due, heard.lost, heard.late), (499, 0, 0));
    let delays = heard.delays.digest().unwrap();
    assert!((delays.mean - 112.3e6).abs() < 1.0, "{delays:?}");
    assert!(heard.mos.unwrap() > 4.2);
}

/// A frame of 1,250 B at 300 kbit/s and 30 frames a second is two packets of 645 B: 5.16 ms each at 1 Mbit/s. The pacer sends the
/// second after 645 B at 750 kbit/s, 6.88 ms: complete after 6.88 + 5.16 + 25 ms, and rendered 60 ms later than the first
/// frame, a key frame of four times the size, took: 5,000 B in five packets of 1,020 B, of which the last leaves after 4 x 10.88
/// ms, is 8.16 ms on the link, and 25 ms on the way.
#[test]
fn the_delay_of_a_picture_is_that_of_its_first_frame() {
    let call = spec(
        r#"{"length": "10 s", "video": {}, "rate_control": "fixed",
            "jitter_buffer": {"kind": "fixed", "delay": "60 ms"}}"#,
    );
    let done = run(&call, &Path::of(1.0));
    let seen = done.receiver.seen(seconds(10.0)).unwrap();
    assert_eq!((seen.rendered, seen.late, seen.dropped), (300, 0, 0));
    let delays = seen.delays.digest().unwrap();
    let first = 4.0 * 10.88 + 8.16 + 25.0;
    assert!((delays.mean / 1e6 - first - 60.0).abs() < 0.001, "{delays:?}");
    let frame = done.receiver.frames()[290];
    let transit = frame.completed.unwrap() - frame.header.captured;
    // Of the bits that the first frame had beyond the target, nothing is left to pay back.
    assert!((transit.as_millis_f64() - 37.04).abs() < 0.001, "{transit}");
    assert_eq!(seen.freezes.count(), 0);
}

/// One packet in 200 of a constant rate is lost, which is one frame in 48. Without repair, each freezes the picture for the third
/// of a second until a key frame that is asked for comes. A parity for every packet, or sending it again, keeps all frames.
#[test]
fn repairs_keep_the_picture_moving() {
    let with = |keys: &str| {
        let json = format!(
            r#"{{"length": "20 s", "video": {{"start": "1 Mbps", {keys}}}, "rate_control": "fixed",
                 "jitter_buffer": {{"kind": "fixed", "delay": "200 ms"}}}}"#
        );
        let path = Path { loses: |packet| packet % 200 == 0, ..Path::of(8.0) };
        let done = run(&spec(&json), &path);
        let seen = done.receiver.seen(seconds(20.0)).unwrap();
        (seen.rendered, seen.freezes.total().as_secs_f64())
    };
    let (none, frozen) = with(r#""retransmission": "0 s", "patience": "0 s""#);
    assert!((400..550).contains(&none) && (3.0..8.0).contains(&frozen), "{none}, {frozen} s");
    for repair in [r#""retransmission": "0 s", "fec": 1.0"#, r#""retransmission": "500 ms""#] {
        assert_eq!(with(repair), (600, 0.0), "{repair}");
    }
}

fn steps(rates: &[(f64, f64)]) -> Path {
    let rates = rates.iter().map(|(time, mbps)| (seconds(*time), mbps * 1e6)).collect();
    Path { rates, ..Path::of(1.0) }
}

/// 4 Mbit/s, 2 Mbit/s from 60 s on, and 4 Mbit/s again from 120 s on.
fn stepped(kind: &str) -> Call {
    run(&adaptive(kind, 200), &steps(&[(0.0, 4.0), (60.0, 2.0), (120.0, 4.0)]))
}

#[test]
fn gcc_follows_the_capacity_with_a_short_queue() {
    let call = stepped("gcc");
    let rates = [(40.0, 60.0), (65.0, 120.0), (170.0, 200.0)].map(|(a, b)| call.mean_target(a, b));
    for (rate, capacity) in rates.into_iter().zip([4.0, 2.0, 4.0]) {
        assert!((0.7..1.05).contains(&(rate / capacity)), "{rate} of {capacity} Mbit/s");
    }
    let queues = [(0.0, 60.0), (65.0, 200.0)].map(|(a, b)| call.mean_queue_ms(a, b));
    assert!(queues.iter().all(|queue| *queue < 20.0), "{queues:?} ms");
    let reaction = call.mean_target(61.0, 62.0);
    assert!(reaction < 2.0, "a second after the step, the target is {reaction} Mbit/s");
}

/// A fall by half fills a queue of 400 ms, 100 kB, which is more than the target sends in 400 ms: a sixth of the frames of the next
/// two seconds is dropped at least, and none later.
#[test]
fn gcc_drops_frames_after_a_fall() {
    let queue = SimDuration::from_millis(400);
    let call = run(&adaptive("gcc", 60), &Path { queue, ..steps(&[(0.0, 4.0), (30.0, 2.0)]) });
    let made = |from: f64, to: f64| {
        let captured = call.receiver.frames().iter().map(|frame| frame.header.captured);
        captured.filter(|time| (seconds(from)..seconds(to)).contains(time)).count()
    };
    assert!((30..50).contains(&made(30.5, 32.5)), "{}", made(30.5, 32.5));
    assert_eq!((made(20.0, 30.0), made(40.0, 50.0)), (300, 300));
}

#[test]
fn scream_follows_the_capacity() {
    let call = stepped("scream");
    let rates = [(40.0, 60.0), (70.0, 120.0), (170.0, 200.0)].map(|(a, b)| call.mean_target(a, b));
    for (rate, capacity) in rates.into_iter().zip([4.0, 2.0, 4.0]) {
        assert!((0.6..1.05).contains(&(rate / capacity)), "{rate} of {capacity} Mbit/s");
    }
    let queue = call.mean_queue_ms(70.0, 200.0);
    assert!(queue < 150.0, "{queue} ms");
}

/// Bursts of padding show within a second that the path carries 4 Mbit/s and not the 1 Mbit/s of the start, or all that the call may
/// use: 8 Mbit/s of picture, and the voice.
#[test]
fn gcc_probes_for_the_capacity_at_the_start() {
    for (capacity, expected) in [(4.0, 3.0..4.0), (20.0, 7.5..8.1)] {
        let call = run(&adaptive("gcc", 10), &Path::of(capacity));
        let found = call.mean_target(1.0, 3.0);
        assert!(expected.contains(&found), "{found} of {capacity} Mbit/s");
        assert!(call.mean_queue_ms(1.0, 10.0) < 20.0);
    }
}

/// A path that loses all for a second freezes the picture for about as long, and silences the voice; packets sent again and
/// adaptive jitter buffers may delay it further.
#[test]
fn an_outage_freezes_the_picture() {
    for kind in ["gcc", "scream", "fixed"] {
        let path = steps(&[(0.0, 10.0), (20.0, 0.0), (21.0, 10.0)]);
        let done = run(&adaptive(kind, 40), &path);
        let seen = done.receiver.seen(seconds(40.0)).unwrap();
        let longest = seen.freezes.longest().as_secs_f64();
        assert!((0.9..3.0).contains(&longest), "{kind}: {longest} s");
        assert!(seen.rendered > 35 * 30, "{kind}: {} frames", seen.rendered);
        let heard = done.receiver.heard().unwrap();
        assert!((49..=120).contains(&heard.lost), "{kind}: {} of the voice lost", heard.lost);
    }
}

/// Once the window is closed by losses, a packet leaves every 200 ms until feedback opens it.
#[test]
fn scream_survives_an_outage_of_ten_seconds() {
    let path = steps(&[(0.0, 4.0), (10.0, 0.0), (20.0, 4.0)]);
    let done = run(&adaptive("scream", 60), &path);
    let times = done.receiver.frames();
    let late = times.iter().filter(|frame| frame.rendered.is_some_and(|at| at > seconds(30.0)));
    assert!(late.count() > 25 * 30);
}

#[test]
fn a_call_repeats() {
    let call = || run(&adaptive("gcc", 20), &Path::of(1.5)).receiver.frames().to_vec();
    assert_eq!(call(), call());
}
