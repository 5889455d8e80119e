//! Forecasts: what senders are told ahead comes true, but for the errors; what they do about it; and nobody else notices.

use crate::common::{VAN_SKY, bytes, run, scenario, table};
use leobench_sim::Outcome;
use leobench_sim::load::{Source, Syntax, load};
use leobench_sim::record::Table;

/// A van under a shell of 1,584 satellites; handovers at the seconds 12, 27, 42, ... drop what is under way.
fn starlink(transport: &str, flow: &str) -> String {
    format!(
        r#"
        name = "forecast"
        duration = "60 s"
        nodes = {{ van = {{}}, office = {{}} }}
        [constellation]
        {VAN_SKY}
        outage = "40 ms"
        old_packets = "drop"
        [links.sky]
        between = ["van", "office"]
        constellation = {{ terminal = "van" }}
        rate = "20 Mbps"
        delay = "5 ms"
        queue = {{ kind = "fifo", limit = "100 kB" }}
        [flows.main]
        transport = {transport}
        from = "van"
        to = "office"
        source = "bulk"
        {flow}
        "#
    )
}

const QUIC: &str = r#"{ kind = "quic" }"#;
const HOLD: &str = r#"{ kind = "quic", on_forecast = { hold = "60 ms" } }"#;

fn outcome(transport: &str, flow: &str) -> Outcome {
    run(&scenario(&starlink(transport, flow)), 1)
}

fn lost_to_handovers(outcome: &Outcome) -> u64 {
    outcome.summary.flows[0].dropped_packets.of("handover")
}

/// The details of the forecasts, with the times at which they were made, in seconds.
fn told(outcome: &Outcome) -> Vec<(f64, String)> {
    let events = table(outcome, Table::Events);
    let (times, kinds, details) =
        (events.integers("t_ns"), events.texts("kind"), events.texts("detail"));
    let all = times.iter().zip(&kinds).zip(&details);
    all.filter(|((_, kind), _)| *kind == "forecast")
        .map(|((time, _), detail)| (*time as f64 / 1e9, detail.clone()))
        .collect()
}

/// The text between two others.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let rest = text.split_once(from)?.1;
    Some(rest.split_once(to).map_or(rest, |(inside, _)| inside))
}

/// When handovers of a run began, in seconds.
fn begins(outcome: &Outcome) -> Vec<f64> {
    let rows = table(outcome, Table::Handovers);
    let (times, stages) = (rows.integers("t_ns"), rows.texts("stage"));
    let begins = times.iter().zip(&stages).filter(|(_, stage)| *stage == "begin");
    begins.map(|(time, _)| *time as f64 / 1e9).collect()
}

/// A time of a forecast, such as `12.04 s`, in seconds.
fn seconds(text: &str) -> f64 {
    let (number, unit) = text.trim().split_once(' ').unwrap_or_else(|| panic!("{text}"));
    let number: f64 = number.parse().unwrap();
    match unit {
        "s" => number,
        "ms" => number / 1e3,
        other => panic!("{other}"),
    }
}

#[test]
fn forecasts_without_error_come_true() {
    let outcome = outcome(QUIC, "forecast = { horizon = \"10 s\" }");
    let (told, begins) = (told(&outcome), begins(&outcome));
    assert_eq!(told.len(), 61, "every second, the first and the last included");
    let paths = table(&outcome, Table::Paths);
    let (times, rtts) = (paths.integers("t_ns"), paths.integers("base_rtt_ns"));
    for (at, detail) in &told {
        // The next handover within ten seconds, one under way excluded: none begins at a whole second but those due then.
        let next = begins.iter().find(|begin| **begin >= *at && **begin <= at + 10.0);
        let from = between(detail, "handover from ", " to ").map(seconds);
        assert_eq!(from.is_some(), next.is_some(), "at {at}: {detail}; {begins:?}");
        if let (Some(from), Some(next)) = (from, next) {
            assert!((from - next).abs() < 1e-9, "at {at}: {detail}");
        }
        // The round trip of the path ten seconds later.
        if at + 10.0 < 60.0 {
            let then = ((at + 10.0) * 1e9).round() as i64;
            let row = times.iter().rposition(|time| *time <= then).unwrap();
            let rtt = between(detail, "bps, ", ";").map(seconds);
            let rtt = rtt.unwrap_or_else(|| panic!("{detail}"));
            assert!((rtt - rtts[row] as f64 / 1e9).abs() < 1e-8, "at {at}: {detail}");
        }
    }
}

/// A forecast is no more than a row among the events if nobody acts on it.
#[test]
fn forecasts_change_nothing_by_themselves() {
    let (without, with) = (outcome(QUIC, ""), outcome(QUIC, "forecast = {}"));
    for (one, other) in without.tables.iter().zip(&with.tables) {
        if one.table != Table::Events {
            assert_eq!(bytes(one), bytes(other), "{}", one.table.name());
        }
    }
    assert_eq!(
        serde_json::to_value(&without.summary).unwrap(),
        serde_json::to_value(&with.summary).unwrap()
    );
    assert_eq!(told(&without).len(), 0);
}

/// Packets sent within a one-way delay before a handover are lost with the old satellite; a sender with forecasts waits.
#[test]
fn a_sender_that_knows_loses_nothing_to_handovers() {
    let blind = outcome(QUIC, "");
    let count = begins(&blind).len() as u64;
    assert!(count >= 3 && lost_to_handovers(&blind) > 10 * count, "{}", lost_to_handovers(&blind));
    for transport in [HOLD, r#"{ kind = "tcp", on_forecast = { hold = "60 ms" } }"#] {
        let knowing = outcome(transport, "forecast = {}");
        assert_eq!(lost_to_handovers(&knowing), 0, "{transport}");
        assert!(knowing.summary.flows[0].goodput_bps > blind.summary.flows[0].goodput_bps);
    }
}

/// A forecast that is a second off holds the sender at the wrong time, and loses what a blind one does.
#[test]
fn a_wrong_time_is_of_no_use() {
    let wrong = outcome(HOLD, "forecast = { time_error = \"1 s\" }");
    assert!(lost_to_handovers(&wrong) > 100, "{}", lost_to_handovers(&wrong));
    // The forecasts of one handover agree with each other.
    let times: Vec<_> = told(&wrong)
        .iter()
        .filter_map(|(_, detail)| between(detail, "handover from ", " to ").map(str::to_owned))
        .collect();
    let mut distinct = times.clone();
    distinct.dedup();
    assert!(
        distinct.len() <= begins(&wrong).len() + 1 && times.len() > 2 * distinct.len(),
        "{times:?}"
    );
}

/// A window of 1.25 times what the path holds keeps the queue short; with a rate that is wrong, it is another one.
#[test]
fn a_window_of_the_forecast_keeps_the_queue_short() {
    let window = r#"{ kind = "quic", on_forecast = { window = 1.25 } }"#;
    let rtt = |outcome: &Outcome| outcome.summary.flows[0].rtt_ms.mean.unwrap();
    let blind = outcome(QUIC, "");
    let known = outcome(window, "forecast = {}");
    assert!(rtt(&known) < 0.75 * rtt(&blind), "{} {}", rtt(&known), rtt(&blind));
    let wrong = outcome(window, "forecast = { rate_error = 0.1 }");
    assert!((rtt(&wrong) - rtt(&known)).abs() > 0.1, "{} {}", rtt(&wrong), rtt(&known));
    assert_ne!(wrong.summary.flows[0].goodput_bps, known.summary.flows[0].goodput_bps);
}

/// The logarithms of the errors have the standard deviation that the scenario says, times the root of the horizon.
#[test]
fn errors_grow_with_the_horizon() {
    for horizon in [1.0f64, 16.0] {
        let keys = format!(
            "forecast = {{ every = \"100 ms\", horizon = \"{horizon} s\", rate_error = 0.05 }}"
        );
        let outcome = outcome(QUIC, &keys);
        let rates = told(&outcome).into_iter().filter_map(|(_, detail)| {
            let (number, unit) = between(&detail, ": ", ",")?.split_once(' ')?;
            (unit == "Mbps").then(|| number.parse::<f64>().unwrap())
        });
        let errors: Vec<_> = rates.map(|rate| libm::log(rate / 20.0)).collect();
        assert!(errors.len() > 550, "{}", errors.len());
        let variance = errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64;
        let (seen, expected) = (variance.sqrt(), 0.05 * horizon.sqrt());
        // The standard error of a standard deviation is its 1/sqrt(2 n).
        let tolerance = 4.0 * expected / (2.0 * errors.len() as f64).sqrt();
        assert!((seen - expected).abs() < tolerance, "{seen} {expected}");
    }
}

/// A node whose handovers are timed, or that leaves a link when that is down.
fn two_links(when: &str, transport: &str, flow: &str) -> String {
    format!(
        r#"
        name = "timed"
        duration = "10 s"
        nodes = {{ client = {{}}, server = {{}} }}
        links.a = {{ between = ["client", "server"], rate = "20 Mbps", delay = "10 ms", queue = {{ kind = "fifo", limit = "50 kB" }} }}
        links.b = {{ between = ["client", "server"], rate = "20 Mbps", delay = "15 ms" }}
        handovers.h = {{ node = "client", links = ["a", "b"], {when}, outage = "50 ms", old_packets = "drop" }}
        [flows.main]
        transport = {transport}
        from = "client"
        to = "server"
        source = "bulk"
        {flow}
        "#
    )
}

/// A handover from a timetable is known ahead, too, and rate and round trip only up to it.
#[test]
fn timed_handovers_are_foreseen() {
    let text = two_links("at = [\"4500 ms\"]", HOLD, "forecast = { horizon = \"3 s\" }");
    let outcome = run(&scenario(&text), 1);
    let told = told(&outcome);
    let detail = |at: usize| told[at].1.as_str();
    assert_eq!(detail(1), "path 0 at 4.000000000 s: 20 Mbps, 20 ms; no handover");
    assert_eq!(
        detail(2),
        "path 0 at 5.000000000 s: unknown; handover from 4.500000000 s to 4.550000000 s"
    );
    assert_eq!(detail(5), "path 0 at 8.000000000 s: 20 Mbps, 30 ms; no handover");
    // Probes go on: one falls into the outage.
    assert!(lost_to_handovers(&outcome) <= 2, "{}", lost_to_handovers(&outcome));
    let blind = run(&scenario(&two_links("at = [\"4500 ms\"]", QUIC, "")), 1);
    assert!(lost_to_handovers(&blind) > 10);
}

#[test]
fn forecasts_that_cannot_be_are_refused() {
    let refused = |when: &str, transport: &str, flow: &str| {
        let mut text = two_links(when, transport, flow);
        if when.is_empty() {
            text = text
                .lines()
                .filter(|line| !line.contains("handovers.h"))
                .fold(String::new(), |all, line| all + line + "\n");
        }
        let folder = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let source = Source { file: "test.toml", text: &text, syntax: Syntax::Toml, folder };
        load(&source, &[]).unwrap_err().to_string()
    };
    let timed = "every = \"3 s\"";
    let cases = [
        (refused("", QUIC, "forecast = {}"), "flows.main.forecast", "no handovers to predict"),
        (refused(timed, HOLD, ""), "flows.main.transport.on_forecast", "but the flow has none"),
        (refused(timed, "\"udp\"", "forecast = {}"), "flows.main.forecast", "`udp`"),
        (
            refused(
                timed,
                r#"{ kind = "quic", stack = "noq", on_forecast = { hold = "1 ms" } }"#,
                "forecast = {}",
            ),
            "on_forecast",
            "stack `own`",
        ),
        (
            refused(timed, r#"{ kind = "quic", on_forecast = {} }"#, "forecast = {}"),
            "on_forecast",
            "says nothing",
        ),
        (
            refused(timed, QUIC, "forecast = { every = \"2 s\", horizon = \"1 s\" }"),
            "horizon",
            "next forecast",
        ),
        (refused(timed, QUIC, "forecast = { every = \"1 us\" }"), "every", "1 ms or more"),
        (refused(timed, QUIC, "forecast = { rate_error = 1.5 }"), "rate_error", "from 0 to 1"),
    ];
    for (message, place, problem) in cases {
        assert!(message.contains(place) && message.contains(problem), "{message}");
        assert!(!message.contains('\n'), "{message}");
    }
}
