//! Controllers under both transports: what they make of doubtful round trips, random losses and idle times, and what is
//! recorded of them.

use crate::common::{one_link, run, scenario, summary, table};
use leobench_sim::record::Table;
use leobench_transport::CongestionSpec;

const BULK: &str = r#"source = { kind = "bulk", size = "1000 GB" }"#;

/// Goodput in Mbit/s over `link` for `seconds` but the first three, of a bulk transfer over `transport`.
fn goodput(link: &str, transport: &str, seconds: u32) -> f64 {
    let run = format!("duration = \"{seconds} s\"\nwarm_up = \"3 s\"");
    let text = one_link(&run, link, &format!("transport = {transport}\n{BULK}"));
    summary(&text).flows[0].goodput_bps.unwrap() / 1e6
}

/// Segments held back for about a retransmission timeout are acknowledged just after they were sent again. Taken for a
/// round trip, that would be the shortest for ten seconds (Karn's rule).
#[test]
fn an_outage_about_as_long_as_the_timeout_leaves_bbr_its_round_trip_time() {
    let link = r#"
        delay = "20 ms"
        queue = { kind = "fifo", limit = "200 packets" }
        forward.channel = { kind = "schedule", steps = [{ at = "0 s", rate = "20 Mbps" },
            { at = "5 s", rate = "0 bps" }, { at = "5370 ms", rate = "20 Mbps" }] }
        backward.rate = "20 Mbps"
    "#;
    for controller in ["bbr", "bbr3"] {
        for timestamps in [true, false] {
            let tcp = format!(
                r#"{{ kind = "tcp", congestion = "{controller}", timestamps = {timestamps} }}"#
            );
            let goodput = goodput(link, &tcp, 14);
            println!("{controller}, timestamps {timestamps}: {goodput:.2} Mbit/s");
            assert!(goodput > 17.0, "{tcp}: {goodput}");
        }
    }
}

/// The same where a path that shortens by 8 ms reorders, and segments are sent again for nothing.
#[test]
fn reordering_leaves_bbr_its_round_trip_time() {
    let link = r#"
        overtaking = true
        queue = { kind = "fifo", limit = "200 packets" }
        forward.channel = { kind = "schedule", repeat = "1 s", steps = [{ at = "0 s", rate = "20 Mbps", delay = "30 ms" },
            { at = "500 ms", delay = "22 ms" }] }
        backward.channel = { kind = "steady", rate = "20 Mbps" }
        backward.delay = "22 ms"
    "#;
    for controller in ["bbr", "bbr3"] {
        let tcp = format!(r#"{{ kind = "tcp", congestion = "{controller}" }}"#);
        let goodput = goodput(link, &tcp, 14);
        println!("{controller}: {goodput:.2} Mbit/s");
        assert!(goodput > 16.5, "{tcp}: {goodput}");
    }
}

/// Cardwell et al., "BBR: Congestion-based congestion control", CACM 60 (2), 2017, figure 8: near the full rate up to a loss of
/// 5 %, where CUBIC has collapsed.
#[test]
fn random_losses_leave_bbr_the_link() {
    for (loss, least) in [(0.02, 0.85), (0.1, 0.65)] {
        let link = format!(
            r#"
            rate = "20 Mbps"
            delay = "50 ms"
            queue = {{ kind = "fifo", limit = "1000 packets" }}
            forward.loss = {{ kind = "bernoulli", probability = {loss} }}
            "#
        );
        for transport in
            [r#"{ kind = "tcp", congestion = "bbr" }"#, r#"{ kind = "quic", congestion = "bbr" }"#]
        {
            let goodput = goodput(&link, transport, 23);
            println!("{loss} lost, {transport}: {goodput:.2} Mbit/s");
            assert!(goodput > least * 20.0, "{loss} lost, {transport}: {goodput}");
        }
    }
}

/// A message of 250 kB every two seconds: 40 ms to send at 50 Mbit/s and 50 ms to arrive, where the sender does not start
/// slowly again.
#[test]
fn idle_times_leave_bbr_its_rate() {
    for kind in ["tcp", "quic"] {
        for controller in ["bbr", "bbr3"] {
            let outcome = run(
                &scenario(&one_link(
                    "duration = \"30 s\"",
                    r#"
                    rate = "50 Mbps"
                    delay = "50 ms"
                    queue = { kind = "fifo", limit = "1000 packets" }
                    "#,
                    &format!(
                        r#"
                        transport = {{ kind = "{kind}", congestion = "{controller}" }}
                        source = {{ kind = "cbr", rate = "1 Mbps", size = "250 kB" }}
                        "#
                    ),
                )),
                1,
            );
            let messages = table(&outcome, Table::Messages);
            let delays: Vec<_> = messages
                .integers("created_ns")
                .into_iter()
                .zip(messages.maybe_integers("delivered_ns"))
                .filter_map(|(created, delivered)| Some((delivered? - created) as f64 / 1e6))
                .collect();
            let late = &delays[delays.len() - 5..];
            let mean = late.iter().sum::<f64>() / late.len() as f64;
            println!("{kind}, {controller}: {mean:.0} ms");
            assert!(mean < 150.0, "{kind}, {controller}: {delays:?}");
        }
    }
}

/// A path that loses at random, fails for two seconds, and then reorders, and whose sender is idle now and then.
fn eventful(kind: &str, controller: &str) -> leobench_sim::Outcome {
    run(
        &scenario(&one_link(
            "duration = \"25 s\"",
            r#"
            overtaking = true
            queue = { kind = "fifo", limit = "60 packets" }
            forward.loss = { kind = "bernoulli", probability = 0.005 }
            forward.channel = { kind = "schedule", steps = [{ at = "0 s", rate = "10 Mbps", delay = "30 ms" },
                { at = "8 s", up = false }, { at = "10 s", up = true }, { at = "15 s", delay = "10 ms" },
                { at = "16 s", delay = "40 ms" }, { at = "17 s", delay = "20 ms" }] }
            backward.rate = "10 Mbps"
            backward.delay = "20 ms"
            "#,
            &format!(
                r#"
                transport = {{ kind = "{kind}", congestion = "{controller}" }}
                source = {{ kind = "on_off", rate = "14 Mbps", size = "5000 B", on = "5 s", off = "1 s" }}
                "#
            ),
        )),
        3,
    )
}

/// The controllers that a transport can use here: TCP has no paths to couple, and nobody forecasts or reports anything.
fn controllers(kind: &str) -> Vec<&'static str> {
    let specs = CongestionSpec::built_in().into_iter();
    let specs = specs.filter(|spec| kind == "quic" || !spec.is_coupled());
    let needs =
        |spec: &CongestionSpec| spec.model().needs_forecast() || spec.model().needs_access();
    specs.filter(|spec| !needs(spec)).map(|spec| spec.kind()).collect()
}

#[test]
fn every_change_of_phase_is_an_event_and_every_congestion_event_too() {
    for kind in ["tcp", "quic"] {
        for controller in controllers(kind) {
            let outcome = eventful(kind, controller);
            let what = format!("{kind}, {controller}");
            let (events, transport) =
                (table(&outcome, Table::Events), table(&outcome, Table::Transport));
            let kinds = events.texts("kind");
            let details = events.texts("detail");
            let times = events.integers("t_ns");
            let changes: Vec<_> = (0..kinds.len())
                .filter(|row| kinds[*row] == "phase")
                .map(|row| {
                    let (from, rest) = details[row].split_once(" -> ").unwrap();
                    (times[row], from.to_owned(), rest.split(':').next().unwrap().to_owned())
                })
                .collect();
            assert!(changes.len() > 3, "{what}: {changes:?}");
            for pair in changes.windows(2) {
                assert_eq!(pair[0].2, pair[1].1, "{what}");
            }
            let phases = transport.texts("phase");
            for (at, phase) in transport.integers("t_ns").into_iter().zip(&phases) {
                let next = changes.partition_point(|(time, ..)| *time < at);
                let last = next.checked_sub(1).map_or(&changes[0].1, |last| &changes[last].2);
                // What changes at the very instant of a sample may be in it or not.
                let same = changes[next..].iter().take_while(|(time, ..)| *time == at);
                assert!(
                    phase == last
                        || same.into_iter().any(|(.., to)| to == phase)
                        || phase == "closed",
                    "{what} at {at}: {phase}, not {last}"
                );
            }
            let counted = outcome.summary.flows[0].congestion_events as usize;
            let rows = kinds.iter().filter(|kind| kind.ends_with("congestion")).count();
            assert_eq!(rows, counted, "{what}");
            println!("{what}: {counted} congestion events");
        }
    }
}

/// At most one in a round trip, and about as many for every controller and transport as there are round trips with losses.
#[test]
fn congestion_events_are_counted_alike_for_all_controllers() {
    for kind in ["tcp", "quic"] {
        for controller in controllers(kind) {
            let summary = summary(&one_link(
                "duration = \"20 s\"\nwarm_up = \"5 s\"",
                r#"
                rate = "50 Mbps"
                delay = "20 ms"
                forward.loss = { kind = "bernoulli", probability = 0.02 }
                "#,
                &format!(
                    r#"
                    transport = {{ kind = "{kind}", congestion = "{controller}" }}
                    source = {{ kind = "cbr", rate = "1200 kbps", size = "1200 B" }}
                    "#
                ),
            ));
            let flow = &summary.flows[0];
            // 125 messages a second, five in a round trip: a packet lost is hardly ever followed by another within one.
            let share = flow.congestion_events as f64 / flow.lost_packets as f64;
            println!("{kind}, {controller}: {} of {}", flow.congestion_events, flow.lost_packets);
            assert!((0.7..=1.0).contains(&share), "{kind}, {controller}: {flow:?}");
        }
    }
}
