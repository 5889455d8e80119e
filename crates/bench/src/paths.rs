//! The cost of several paths: one connection of the own QUIC stack over one, two and eight links, and over two with coupled
//! congestion control.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::fmt::Write as _;

use crate::Measured;
use crate::engine::measure;

/// How often each is measured; the fastest counts.
const ROUNDS: usize = 5;
/// Numbers of paths, and how many times what one costs they may cost.
const PATHS: [(usize, f64); 3] = [(1, 1.0), (2, 1.25), (8, 1.6)];
/// Controllers that couple two paths, beside those that do the same on each, and how many times what these cost they may cost.
const COUPLED: [(&str, &str); 4] =
    [("lia", "newreno"), ("olia", "newreno"), ("balia", "newreno"), ("wvegas", "vegas")];
const MOST_COUPLED: f64 = 1.10;
/// MACO by measurements alone, as the links here have no link layer that reports, and how many times what one path costs eight
/// may cost under it.
const MACO: &str = r#"{ kind = "maco", store = false }"#;
const MOST_MACO: f64 = 2.0;
/// Schedulers that look at all paths, and how many times what `min_rtt` costs they may cost.
const SCHEDULERS: [&str; 3] = ["blest", "ecf", "earliest_arrival"];
const MOST_SCHEDULED: f64 = 1.05;
/// Rate of all links together.
const RATE: usize = 48_000_000;

/// Prints the cost of a packet by number of paths.
pub(crate) fn compare() {
    println!(
        "QUIC over several paths, 48 Mbit/s in all, 20 virtual seconds, fastest of {ROUNDS} rounds: ns per packet (how many times"
    );
    println!("that of one path, and how many times it may be).\n");
    let mut nanos = [f64::INFINITY; PATHS.len()];
    for _ in 0..ROUNDS {
        for (best, (paths, _)) in nanos.iter_mut().zip(PATHS) {
            *best = best.min(run(paths).nanos_per_packet());
        }
    }
    for ((paths, most), own) in PATHS.into_iter().zip(nanos) {
        println!("{paths:>2} {own:>10.0} ({:>5.2}, at most {most})", own / nanos[0]);
    }
    compare_coupled();
    compare_maco();
    compare_schedulers();
}

/// Prints the cost of a packet of one and eight paths under MACO.
fn compare_maco() {
    println!(
        "\nOne and eight paths under maco: ns per packet (how many times, and how many times it may be).\n"
    );
    let mut nanos = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        for (best, paths) in nanos.iter_mut().zip([1, 8]) {
            *best = best.min(run_under(MACO, paths).nanos_per_packet());
        }
    }
    let [one, eight] = nanos;
    println!("maco{one:>10.0} {eight:>14.0} ({:>5.2}, at most {MOST_MACO:.2})", eight / one);
}

/// Prints the cost of a packet of two paths under coupled controllers.
fn compare_coupled() {
    println!(
        "\nTwo paths, coupled and not: ns per packet, either way (how many times as much, and how many times it may be).\n"
    );
    for (coupled, uncoupled) in COUPLED {
        let mut nanos = [f64::INFINITY; 2];
        for _ in 0..ROUNDS {
            for (best, controller) in nanos.iter_mut().zip([coupled, uncoupled]) {
                let controller = format!("\"{controller}\"");
                *best = best.min(run_under(&controller, 2).nanos_per_packet());
            }
        }
        let [own, other] = nanos;
        let ratio = own / other;
        println!(
            "{coupled:<8}{own:>6.0} {uncoupled:>8}{other:>6.0} ({ratio:>5.2}, at most {MOST_COUPLED:.2})"
        );
    }
}

/// Prints the cost of a packet of two paths under path schedulers that look at all of them.
fn compare_schedulers() {
    println!(
        "\nTwo paths by scheduler: ns per packet (how many times that of min_rtt, and how many times it may be).\n"
    );
    let mut nanos = [f64::INFINITY; SCHEDULERS.len() + 1];
    for _ in 0..ROUNDS {
        let all = std::iter::once("min_rtt").chain(SCHEDULERS);
        for (best, scheduler) in nanos.iter_mut().zip(all) {
            *best = best.min(run_as("\"cubic\"", scheduler, 2).nanos_per_packet());
        }
    }
    for (scheduler, own) in SCHEDULERS.into_iter().zip(&nanos[1..]) {
        let ratio = own / nanos[0];
        println!("{scheduler:<18}{own:>6.0} ({ratio:>5.2}, at most {MOST_SCHEDULED:.2})");
    }
}

/// One run over so many paths.
pub(crate) fn run(paths: usize) -> Measured {
    run_under("\"cubic\"", paths)
}

/// One run over so many paths under a controller, written as in a scenario.
fn run_under(controller: &str, paths: usize) -> Measured {
    run_as(controller, "min_rtt", paths)
}

/// The same under a path scheduler.
fn run_as(controller: &str, scheduler: &str, paths: usize) -> Measured {
    let mut links = String::new();
    let rate = RATE / paths;
    for link in 0..paths {
        let _ = writeln!(
            links,
            "links.l{link} = {{ between = [\"a\", \"b\"], rate = \"{rate} bps\", delay = \"20 ms\" }}"
        );
    }
    let names: Vec<_> = (0..paths).map(|link| format!("l{link}")).collect();
    let transport = match paths {
        1 => format!("{{ kind = \"quic\", congestion = {controller} }}"),
        _ => format!(
            "{{ kind = \"quic\", congestion = {controller}, multipath = {{ links = {names:?}, scheduler = \"{scheduler}\" }} }}"
        ),
    };
    let text = format!(
        r#"
        name = "paths"
        duration = "20 s"
        nodes = {{ a = {{}}, b = {{}} }}
        {links}
        record = {{ messages = false, series = false }}
        [flows.main]
        transport = {transport}
        from = "a"
        to = "b"
        source = "bulk"
        "#
    );
    measure(&text)
}
