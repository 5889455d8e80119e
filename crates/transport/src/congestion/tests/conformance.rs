//! Rules for every controller of the registry.

use leobench_base::RngTree;
use leobench_base::spec::{At, Spec, Table, Value};

use super::flow::{DATAGRAM, Flow, Link, PATH};
use super::*;

const RTT: SimDuration = SimDuration::from_millis(40);

fn minimum() -> u64 {
    2 * DATAGRAM.get()
}

/// The algorithms that behave in a certain way.
pub fn examples_where(behave: impl Fn(&Behaviour) -> bool) -> Vec<CongestionSpec> {
    let mut examples = CongestionSpec::built_in();
    examples.retain(|spec| behave(&spec.model().behaviour()));
    assert!(!examples.is_empty());
    examples
}

/// Those that reduce the window by a constant factor, once per recovery period.
fn decreasing() -> Vec<CongestionSpec> {
    examples_where(|behaviour| behaviour.multiplicative_decrease)
}

/// Those whose window every loss reduces.
fn reduced_by_loss() -> Vec<CongestionSpec> {
    examples_where(|behaviour| behaviour.every_loss_counts)
}

/// Those whose window grows with what is acknowledged for as long as nothing is lost.
fn loss_based() -> Vec<CongestionSpec> {
    examples_where(|behaviour| !behaviour.model_based)
}

fn grown(spec: &CongestionSpec) -> Flow {
    let mut path = Flow::open(spec.model(), RTT);
    for _ in 0..5 {
        path.round();
    }
    path
}

fn loss(path: &Flow, sent: SimTime, persistent: bool) -> Congestion {
    Congestion::new(path.now, sent, DATAGRAM, persistent)
}

/// A path under random losses, marks and undos; the windows after every step.
pub fn random_windows(spec: &CongestionSpec, seed: u64) -> Vec<u64> {
    let mut rng = RngTree::new(seed).rng();
    let mut path = Flow::open(spec.model(), RTT);
    let mut windows = Vec::new();
    for _ in 0..20_000 {
        let draw = rng.below(1_000);
        let sent = path.now - SimDuration::from_nanos(rng.below(2 * RTT.as_nanos()));
        match draw {
            0..5 => path.controller.on_ecn(PATH, &loss(&path, sent, false)),
            5..8 => path.controller.on_loss(PATH, &loss(&path, sent, true)),
            8..12 => path.controller.on_spurious_loss(PATH),
            12..14 => path.idle(SimDuration::from_millis(rng.below(5_000))),
            14..20 => path.app_limited = !path.app_limited,
            _ => path.step_return(|number| number % 200 == draw % 200),
        }
        windows.push(path.window());
    }
    windows
}

#[test]
fn windows_stay_above_the_minimum_and_repeat() {
    for spec in CongestionSpec::built_in() {
        for seed in 0..20 {
            let windows = random_windows(&spec, seed);
            assert!(windows.iter().all(|window| *window >= minimum()), "{}", spec.kind());
            assert_eq!(windows, random_windows(&spec, seed), "{}", spec.kind());
        }
    }
}

#[test]
fn an_application_limited_window_does_not_grow() {
    for spec in loss_based() {
        let mut path = grown(&spec);
        for reduce in [false, true] {
            if reduce {
                path.lose();
            }
            path.round();
            path.app_limited = true;
            let before = path.window();
            for _ in 0..20 {
                path.round();
            }
            assert_eq!(path.window(), before, "{}", spec.kind());
            path.app_limited = false;
            path.round();
            assert!(path.window() > before, "{}", spec.kind());
        }
    }
}

#[test]
fn a_recovery_period_has_one_reduction() {
    for spec in decreasing() {
        let mut path = grown(&spec);
        let (first, before) = (path.now, path.window());
        path.now += RTT;
        let (second, start) = (first + SimDuration::from_millis(1), path.now);
        path.controller.on_loss(PATH, &loss(&path, first, false));
        let reduced = path.window();
        assert!(reduced < before && reduced > before / 3, "{}", spec.kind());
        assert_eq!(path.controller.phase(PATH), "recovery");
        assert_eq!(path.controller.ssthresh(PATH), Some(Bytes::new(reduced)));
        path.now += SimDuration::from_millis(5);
        path.controller.on_loss(PATH, &loss(&path, second, false));
        path.controller.on_ecn(PATH, &loss(&path, start, false));
        assert_eq!(path.window(), reduced, "{}", spec.kind());
        path.now += RTT;
        path.controller.on_loss(PATH, &loss(&path, start + SimDuration::from_nanos(1), false));
        assert!(path.window() < reduced, "{}", spec.kind());
    }
}

#[test]
fn the_window_does_not_grow_in_recovery() {
    for spec in reduced_by_loss() {
        let mut path = grown(&spec);
        path.step_return(|_| true);
        let reduced = path.window();
        let end = path.now + RTT * 2;
        while path.controller.phase(PATH) == "recovery" {
            assert_eq!(path.window(), reduced, "{}", spec.kind());
            path.step_return(|_| false);
        }
        assert!(path.now <= end, "{}: recovery lasts a round trip", spec.kind());
        assert_eq!(path.controller.phase(PATH), "avoidance", "{}", spec.kind());
    }
}

#[test]
fn a_mark_counts_as_a_loss_but_cannot_be_undone() {
    for spec in reduced_by_loss() {
        let (mut lost, mut marked) = (grown(&spec), grown(&spec));
        let event = loss(&lost, lost.now, false);
        lost.controller.on_loss(PATH, &event);
        marked.controller.on_ecn(PATH, &event);
        let reduced = lost.window();
        assert_eq!(marked.window(), reduced, "{}", spec.kind());
        assert_eq!(marked.controller.ssthresh(PATH), lost.controller.ssthresh(PATH));
        marked.controller.on_spurious_loss(PATH);
        lost.controller.on_ecn(PATH, &event);
        lost.controller.on_spurious_loss(PATH);
        assert_eq!((marked.window(), lost.window()), (reduced, reduced), "{}", spec.kind());
    }
}

#[test]
fn an_undone_reduction_leaves_no_trace() {
    for spec in decreasing() {
        for persistent in [false, true] {
            let (mut plain, mut reverted) = (grown(&spec), grown(&spec));
            plain.step_return(|_| true);
            reverted.step_return(|_| true);
            for path in [&mut plain, &mut reverted] {
                path.round();
                path.round();
            }
            let before = reverted.window();
            reverted.controller.on_loss(PATH, &loss(&reverted, reverted.now, persistent));
            assert!(reverted.window() < before, "{}", spec.kind());
            reverted.controller.on_spurious_loss(PATH);
            assert_eq!(reverted.window(), before, "{}", spec.kind());
            assert_eq!(reverted.controller.ssthresh(PATH), plain.controller.ssthresh(PATH));
            if persistent {
                // How the window grows after the silence is up to the algorithm.
                continue;
            }
            reverted.controller.on_spurious_loss(PATH);
            for path in [&mut plain, &mut reverted] {
                path.round();
                path.round();
            }
            assert_eq!(reverted.window(), plain.window(), "{}", spec.kind());
            assert_eq!(reverted.controller.ssthresh(PATH), plain.controller.ssthresh(PATH));
        }
    }
}

#[test]
fn an_undo_never_lowers_the_window() {
    for spec in loss_based() {
        let mut path = grown(&spec);
        let before = path.window();
        path.step_return(|_| true);
        while path.window() <= before {
            path.step_return(|_| false);
        }
        let later = path.window();
        path.controller.on_spurious_loss(PATH);
        assert_eq!(path.window(), later, "{}", spec.kind());
    }
}

#[test]
fn persistent_congestion_collapses_the_window_and_slow_start_follows() {
    for spec in examples_where(|behaviour| {
        behaviour.multiplicative_decrease && behaviour.standard_slow_start
    }) {
        let mut path = grown(&spec);
        path.controller.on_loss(PATH, &loss(&path, path.now, true));
        assert_eq!(path.window(), minimum(), "{}", spec.kind());
        assert_eq!(path.controller.phase(PATH), "slow-start");
        let ssthresh = path.controller.ssthresh(PATH).unwrap().get();
        assert!(ssthresh > 2 * minimum(), "{}", spec.kind());
        path.idle(SimDuration::ZERO);
        path.round();
        assert_eq!(path.window(), 2 * minimum(), "{}", spec.kind());
        while path.controller.phase(PATH) == "slow-start" {
            path.round();
        }
        let before = path.window();
        path.round();
        let gained = path.window() - before;
        // Slow start would double it.
        assert!(gained < before / 4, "{}: {gained} bytes at once", spec.kind());
    }
}

#[test]
fn windows_of_a_fast_long_path_do_not_overflow() {
    // 100 Gbit/s over a second: 12.5 GB, in acknowledgements of 10 MB.
    let (rtt, size) = (SimDuration::from_secs(1), Bytes::new(10_000_000));
    for spec in CongestionSpec::built_in() {
        // Hybla: 65,535 packets at most in slow start, and then 1,600 in a round trip.
        let Behaviour { model_based, standard_slow_start, .. } = spec.model().behaviour();
        let bounded = model_based || standard_slow_start;
        let mut path = Flow::open(spec.model(), rtt);
        let mut acked_bytes = path.window();
        let mut largest = 0;
        for number in 0..200_000 {
            let in_flight = Bytes::new(size.get() * (number + 1).min(1_001));
            path.now += SimDuration::from_millis(1);
            let now = path.now;
            path.controller.on_sent(PATH, &Sent::new(now, size, in_flight, number));
            let Some(returned) = number.checked_sub(1_000) else { continue };
            let sent = now - rtt;
            let acked = Acked { sent, size, packet_number: returned, in_flight, ..acked(now, rtt) };
            path.controller.on_ack(PATH, &acked);
            path.controller.on_ack_end(PATH, &AckEnd::new(now, in_flight - size));
            acked_bytes += size.get();
            assert!(!bounded || path.window() <= acked_bytes, "{}", spec.kind());
            if path.window() > 12_500_000_000 && number % 50_000 == 10_000 {
                path.controller.on_loss(PATH, &Congestion::new(now, sent, size, false));
                assert!(path.window() > 6_000_000_000, "{}", spec.kind());
            }
            largest = largest.max(path.window());
        }
        let enough = if bounded { 6_000_000_000 } else { 300_000_000 };
        assert!(largest > enough, "{}: {largest}", spec.kind());
    }
}

/// The windows of a path with a queue, after every step. With `beside`, packets return on another path, too, or are lost: they are
/// ten in flight, and wait in a queue there after a while.
fn windows_beside(spec: &CongestionSpec, beside: bool) -> Vec<u64> {
    let mut path = Flow::new(spec.model(), Link::new(20_000_000, 30, 60), false, 1);
    let (second, mut rng) = (PathId(1), RngTree::new(3).rng());
    if beside {
        path.controller.open(second, SimTime::ZERO, DATAGRAM);
    }
    let mut windows = Vec::new();
    for number in 0..50_000 {
        path.step();
        windows.push(path.window());
        if !beside {
            continue;
        }
        let (now, size, in_flight) = (path.now, DATAGRAM, Bytes::new(10 * DATAGRAM.get()));
        path.controller.on_sent(second, &Sent::new(now, size, in_flight, number));
        let Some(packet_number) = number.checked_sub(10) else { continue };
        let rtt = if number < 100 { RTT / 10 } else { RTT / 5 };
        if rng.below(10_000) == 0 {
            let congestion = loss(&path, now - rtt, false);
            path.controller.on_packet_lost(second, &Lost::new(now, size, packet_number));
            path.controller.on_loss(second, &congestion);
        } else {
            let acked = Acked { size, packet_number, in_flight, ..acked(now, rtt) };
            path.controller.on_ack(second, &acked);
        }
        path.controller.on_ack_end(second, &AckEnd::new(now, in_flight - size));
    }
    windows
}

#[test]
fn what_happens_on_other_paths_matters_if_coupling_is_declared_only() {
    for spec in CongestionSpec::built_in() {
        let same = windows_beside(&spec, false) == windows_beside(&spec, true);
        assert_eq!(same, !spec.is_coupled(), "{}", spec.kind());
    }
}

/// Coupled or not: a path opens as if it were alone, and reports about one path leave the windows of the others alone. Coupling
/// shows when those grow.
#[test]
fn paths_are_apart_and_closed_ones_are_silent() {
    for spec in CongestionSpec::built_in() {
        let mut path = Flow::open(spec.model(), RTT);
        let (second, window) = (PathId(3), path.window());
        assert_eq!(path.controller.window(second), Bytes::ZERO, "{}", spec.kind());
        path.controller.open(second, SimTime::ZERO, Bytes::new(1_000));
        let standard = spec.model().behaviour().standard_initial_window;
        let initial = Bytes::new(if standard { 10_000 } else { 4_000 });
        assert_eq!(path.controller.window(second), initial, "{}", spec.kind());
        path.controller.on_loss(second, &Congestion::new(path.now, path.now, DATAGRAM, true));
        // MACO starts again as at first.
        let collapsed = if standard { Bytes::new(2_000) } else { initial };
        assert_eq!(path.controller.window(second), collapsed, "{}", spec.kind());
        assert_eq!(path.window(), window, "{}", spec.kind());
        path.controller.close(second);
        path.controller.on_ecn(second, &Congestion::new(path.now, path.now, DATAGRAM, false));
        assert_eq!(path.controller.window(second), Bytes::ZERO, "{}", spec.kind());
        path.controller.open(second, SimTime::ZERO, Bytes::new(1_000));
        assert_eq!(path.controller.window(second), initial, "{}", spec.kind());
    }
}

#[test]
fn specifications_read_back_and_refuse_what_cannot_be() {
    for spec in CongestionSpec::built_in() {
        assert_eq!(CongestionSpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
        let word = Value::String(spec.kind().into());
        assert_eq!(CongestionSpec::read(&word, &At::ROOT).unwrap(), spec);
    }
    let (number, integer) = (Value::Float, Value::Integer);
    let word = |word: &str| Value::String(word.into());
    for (kind, key, value) in [
        ("newreno", "loss_reduction", number(1.0)),
        ("newreno", "initial_window", integer(1)),
        ("cubic", "beta", number(0.0)),
        ("cubic", "c", number(-0.4)),
        ("cubic", "minimum_window", integer(0)),
        ("cubic", "slow_start", word("hystart+")),
        ("hybla", "reference_rtt", word("0 ms")),
        ("hybla", "initial_threshold", integer(1)),
        ("hybla", "loss_reduction", number(f64::NAN)),
        ("westwood", "memory", number(1.0)),
        ("vegas", "alpha", number(0.0)),
        ("vegas", "beta", number(1.0)),
        ("vegas", "gamma", number(f64::INFINITY)),
        ("bbr", "high_gain", number(1.0)),
        ("bbr", "window_gain", number(1e9)),
        ("bbr", "bandwidth_rounds", integer(0)),
        ("bbr", "rtt_window", word("0 s")),
        ("bbr", "initial_window", integer(1)),
        ("bbr3", "loss_threshold", number(0.0)),
        ("bbr3", "headroom", number(1.0)),
        ("bbr3", "beta", number(1.5)),
        ("elastic", "loss_reduction", number(0.0)),
        ("lia", "loss_reduction", number(1.0)),
        ("olia", "minimum_window", integer(0)),
        ("balia", "linux_rounding", integer(1)),
        ("wvegas", "total_alpha", number(0.0)),
        ("wvegas", "initial_alpha", number(11.0)),
        ("wvegas", "gamma", number(-1.0)),
        ("satcp", "duration", word("0 s")),
        ("satcp", "k_divisor", number(0.9)),
        ("satcp", "beta", number(1.0)),
        ("leocc", "every", word("0 s")),
        ("leocc", "offset", word("15 s")),
        ("leocc", "lead", word("20 s")),
        ("leocc", "rtt_window", word("0 s")),
        ("leocc", "measurement_noise", number(0.0)),
        ("leocc", "process_noise", number(-1.0)),
        ("leocc", "probe_rtt_share", number(1.5)),
        ("leocc", "filtered_probe_gain", number(0.9)),
        ("maco", "gamma", number(0.0)),
        ("maco", "sampling", word("0 s")),
        ("maco", "filter_window", integer(7)),
        ("maco", "growth_ceiling", number(0.5)),
        ("maco", "history", integer(0)),
        ("maco", "max_scope", word("x2")),
    ] {
        let mut table = Table::new();
        table.insert("kind", Value::String(kind.into()));
        table.insert(key, value);
        let error = CongestionSpec::read(&Value::Table(table), &At::ROOT).unwrap_err();
        assert_eq!(error.place, key, "{kind}");
        assert!(error.allowed.is_some(), "{kind}.{key} says what is allowed");
    }
}

#[test]
fn no_schema_offers_a_window_of_nothing() {
    let hybla = HyblaSpec::schema();
    for key in ["initial_window", "minimum_window", "initial_threshold"] {
        assert_eq!(hybla["properties"][key]["minimum"], 1, "{key}");
    }
    assert_eq!(BbrSpec::schema()["properties"]["initial_window"]["minimum"], 2);
}

#[test]
fn the_nearest_controller_is_named() {
    for (word, nearest) in [
        ("bbr2", "bbr"),
        ("vega", "vegas"),
        ("westwood+", "westwood"),
        ("new_reno", "newreno"),
        ("bali", "balia"),
    ] {
        let error = CongestionSpec::read(&Value::String(word.into()), &At::ROOT).unwrap_err();
        assert_eq!(error.nearest.as_deref(), Some(nearest), "{word}");
    }
}

/// Five packets every 100 ms over a path of 40 ms: what is measured of that sets the bound, and not what is acknowledged.
#[test]
fn an_application_limited_model_does_not_grow() {
    for spec in examples_where(|behaviour| behaviour.model_based) {
        let mut path = Flow::open(spec.model(), RTT);
        let mut windows = Vec::new();
        for burst in 0..200 {
            let sent = path.now;
            for index in 0..5 {
                let in_flight = Bytes::new(DATAGRAM.get() * (index + 1));
                let packet = Sent::new(sent, DATAGRAM, in_flight, burst * 5 + index);
                path.controller.on_sent(PATH, &packet.app_limited(burst > 0));
            }
            path.now = sent + RTT;
            for index in 0..5 {
                let acked = Acked {
                    sent,
                    size: DATAGRAM,
                    packet_number: burst * 5 + index,
                    in_flight: Bytes::new(DATAGRAM.get() * (5 - index)),
                    app_limited: true,
                    cwnd_limited: false,
                    ..acked(path.now, RTT)
                };
                path.controller.on_ack(PATH, &acked);
            }
            path.controller.on_ack_end(PATH, &AckEnd::new(path.now, Bytes::ZERO));
            path.now = sent + SimDuration::from_millis(100);
            windows.push(path.window());
        }
        let largest = windows.iter().max().unwrap() / DATAGRAM.get();
        assert!(largest <= 30, "{}: {largest} packets", spec.kind());
        assert!(windows[20..].iter().all(|window| *window == windows[20]), "{}", spec.kind());
    }
}
