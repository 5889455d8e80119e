//! Coupled congestion control in whole networks: scenario C of Khalili et al. 2013, with QUIC over several paths.
//!
//! `crates/transport/src/congestion/tests/khalili.rs` has the same without endpoints, and derives what is expected.

use std::fmt::Write as _;

use crate::common::{run, scenario, table};
use leobench_sim::record::Table;

/// Users of either kind, where `N1` is as many as `N2`.
const USERS: usize = 10;

/// Users with paths over both access points, `ratio` times as many as there are users of the second alone; the first
/// has `c1` times as much for each of its users as the second, which has 100 packets of 1,280 bytes per round trip of
/// 100 ms.
fn scenario_c(congestion: &str, (ratio, c1): (usize, f64), duration: u64) -> String {
    const PER_USER: f64 = 100.0 * 1_280.0 * 8.0 / 0.1;
    let queue = r#"queue = { kind = "red", min_threshold = "10 packets", max_threshold = "200 packets", max_probability = 0.002,
        weight = 0.0005, ecn = false }"#;
    let several = ratio * USERS;
    let ap1 = c1 * several as f64 * PER_USER;
    let ap2 = USERS as f64 * PER_USER;
    let mut text = format!(
        r#"
        name = "khalili-c"
        duration = "{duration} s"
        record = {{ messages = false, interval = "1 s" }}
        nodes.server = {{}}
        nodes.ap1 = {{}}
        nodes.ap2 = {{}}
        links.first = {{ between = ["ap1", "server"], rate = "{ap1} bps", delay = "49 ms", {queue} }}
        links.second = {{ between = ["ap2", "server"], rate = "{ap2} bps", delay = "49 ms", {queue} }}
        "#
    );
    let access = r#"rate = "10 Gbps", delay = "1 ms""#;
    for user in 0..several {
        let _ = writeln!(
            text,
            r#"
            nodes.u{user} = {{}}
            links.a{user} = {{ between = ["u{user}", "ap1"], {access} }}
            links.b{user} = {{ between = ["u{user}", "ap2"], {access} }}
            flows.u{user}.transport = {{ kind = "quic", congestion = "{congestion}", multipath = {{ links = ["a{user}", "b{user}"] }} }}
            flows.u{user}.from = "u{user}"
            flows.u{user}.to = "server"
            flows.u{user}.source = "bulk"
            flows.u{user}.start = "{} ms"
            "#,
            37 * user
        );
    }
    for user in 0..USERS {
        let _ = writeln!(
            text,
            r#"
            nodes.v{user} = {{}}
            links.v{user} = {{ between = ["v{user}", "ap2"], {access} }}
            flows.v{user}.transport = {{ kind = "quic", congestion = "newreno" }}
            flows.v{user}.from = "v{user}"
            flows.v{user}.to = "server"
            flows.v{user}.source = "bulk"
            flows.v{user}.start = "{} ms"
            "#,
            17 + 37 * user
        );
    }
    text
}

/// The packets of users of the second access point alone, as a share of all that it carries, from `settled` seconds to
/// `duration`.
fn share(congestion: &str, case: (usize, f64), [settled, duration]: [u64; 2]) -> f64 {
    let outcome = run(&scenario(&scenario_c(congestion, case, duration)), 1);
    let series = table(&outcome, Table::Transport);
    let (times, flows) = (series.integers("t_ns"), series.texts("flow"));
    let (paths, sent) = (series.integers("path"), series.integers("bytes_sent"));
    let last = *times.last().unwrap();
    let [mut several, mut alone] = [0; 2];
    for row in 0..times.len() {
        let sign = match times[row] {
            now if now == last => 1,
            now if now == settled as i64 * 1_000_000_000 => -1,
            _ => continue,
        };
        match (flows[row].starts_with('u'), paths[row]) {
            (true, 1) => several += sign * sent[row],
            (true, _) => {}
            (false, _) => alone += sign * sent[row],
        }
    }
    alone as f64 / (alone + several) as f64
}

/// Checks a share against theory, and returns both as text.
fn checked(
    congestion: &str,
    case: (usize, f64),
    expected: f64,
    tolerance: f64,
    times: [u64; 2],
) -> String {
    let share = share(congestion, case, times);
    let text = format!("{congestion}, {case:?}: {share:.3}, {expected:.3} in theory");
    assert!((share / expected - 1.0).abs() < tolerance, "{text}");
    text
}

/// 400 round trips, of which a window is correlated over some 70: a tenth is three standard errors of ten users.
#[test]
fn others_keep_their_share_beside_lia_but_not_beside_newreno() {
    println!("{}", checked("lia", (1, 1.0), 0.704, 0.1, [20, 60]));
    println!("{}", checked("newreno", (1, 1.0), 0.5, 0.1, [20, 60]));
}

/// All cases over 2,000 round trips, and OLIA beside the model in rounds: 5 % and 10 %.
#[test]
#[ignore = "takes minutes"]
fn shares_of_scenario_c_are_those_of_theory() {
    let cases = [(1, 1.0), (1, 2.0), (2, 1.0), (3, 1.0)];
    for (congestion, expected, tolerance) in [
        ("newreno", [0.5, 0.5, 0.333, 0.25], 0.05),
        ("lia", [0.704, 0.765, 0.567, 0.485], 0.05),
        ("olia", [0.783, 0.882, 0.681, 0.609], 0.1),
    ] {
        for (case, expected) in cases.into_iter().zip(expected) {
            println!("{}", checked(congestion, case, expected, tolerance, [50, 250]));
        }
    }
}
