//! A flow with two paths, each over a link of its own through a constellation.

use crate::common::{VAN_SKY, run, scenario, shipped, table};
use leobench_sim::Outcome;
use leobench_sim::record::Table;

/// A van with two terminals under a shell of 1,584 satellites; `sky` and `second` say more about the constellation and the
/// second link.
fn two_terminals(sky: &str, second: &str) -> String {
    format!(
        r#"
        name = "two-terminals"
        duration = "60 s"
        nodes = {{ van = {{}}, office = {{}} }}
        [constellation]
        {VAN_SKY}
        {sky}
        [links.first]
        between = ["van", "office"]
        constellation = {{ terminal = "van" }}
        rate = "8 Mbps"
        queue = {{ kind = "fifo", limit = "60 kB" }}
        [links.second]
        between = ["van", "office"]
        constellation = {{ terminal = "van", {second} }}
        rate = "8 Mbps"
        queue = {{ kind = "fifo", limit = "60 kB" }}
        delay = "2 ms"
        [flows.main]
        transport = {{ kind = "quic", multipath = {{ links = ["first", "second"] }} }}
        from = "van"
        to = "office"
        source = "bulk"
        "#
    )
}

#[test]
fn handovers_of_the_second_path_count() {
    let outcome = run(&scenario(&two_terminals("outage = \"40 ms\"", "")), 1);
    let rows = table(&outcome, Table::Handovers);
    let flow = &outcome.summary.flows[0];
    let seen = flow.handovers.as_ref().unwrap();
    let begins = rows.texts("stage").iter().filter(|stage| *stage == "begin").count();
    assert_eq!(seen.count as usize, begins);
    let of = |path| seen.each.iter().filter(move |handover| handover.path == Some(path));
    assert!(of(0).count() >= 2 && of(1).count() >= 2, "{:?}", seen.each);
    // Both terminals choose at the same seconds. No handover of one path ends what is measured of the other.
    let together =
        of(0).filter(|one| of(1).any(|other| (other.at_s - one.at_s).abs() < 1e-9)).count();
    assert!(together >= 1, "{:?}", seen.each);
    assert!(seen.each.iter().all(|handover| handover.phases.no_way_ms == Some(40.0)));
    assert_eq!(seen.recovered, seen.count);
}

/// Drops on the link of a path count for the handover of that path.
#[test]
fn drops_count_for_the_path_that_moves() {
    let text = two_terminals("outage = \"40 ms\"\nold_packets = \"drop\"", "policy = \"sticky\"");
    let outcome = run(&scenario(&text), 1);
    let flow = &outcome.summary.flows[0];
    let seen = flow.handovers.as_ref().unwrap();
    assert!(seen.count >= 2 && seen.each.iter().all(|handover| handover.path == Some(0)));
    let lost: u64 = seen.each.iter().map(|handover| handover.lost_bytes).sum();
    assert!(lost > 0 && seen.each.iter().all(|handover| handover.lost_bytes > 0), "{seen:?}");
    assert!(
        seen.each.iter().all(|handover| handover.phases.retransmission_ms.is_some()),
        "{seen:#?}"
    );
}

/// A sender that is told of both paths keeps off the one that is about to move, and sends on over the other.
#[test]
fn a_path_that_is_about_to_move_is_left_alone() {
    let sky = "outage = \"40 ms\"\nold_packets = \"drop\"";
    let blind = two_terminals(sky, "policy = \"sticky\"");
    let knowing = blind
        .replace("multipath = {", "on_forecast = { hold = \"150 ms\" }, multipath = {")
        .replace("source = \"bulk\"", "source = \"bulk\"\nforecast = {}");
    let [blind, knowing] = [blind, knowing].map(|text| run(&scenario(&text), 1));
    let dropped = |outcome: &Outcome| outcome.summary.flows[0].dropped_packets.of("handover");
    assert!(dropped(&blind) > 20, "{}", dropped(&blind));
    assert_eq!(dropped(&knowing), 0);
    let details = table(&knowing, Table::Events).texts("detail");
    for path in ["path 0 at ", "path 1 at "] {
        assert_eq!(
            details.iter().filter(|detail| detail.starts_with(path)).count(),
            61 - usize::from(path.contains('1'))
        );
    }
}

/// A feeder is a link of its own behind the gateway: flows of two terminals meet in its queue.
#[test]
fn terminals_share_the_feeder_behind_a_gateway() {
    let flow = |name: &str, van: &str| {
        format!(
            "[flows.{name}]\ntransport = \"quic\"\nfrom = \"{van}\"\nto = \"pop\"\nsource = \"bulk\"\n"
        )
    };
    let text = two_terminals("outage = \"40 ms\"", "policy = \"sticky\"");
    let (head, _) = text.split_once("[flows.main]").unwrap();
    let head = head
        .replace(
            "nodes = { van = {}, office = {} }",
            "nodes = { van = {}, car = {}, office = {}, pop = {} }",
        )
        .replace(
            "[links.second]\n        between = [\"van\"",
            "[links.second]\n        between = [\"car\"",
        );
    let feeder = "[links.feeder]\nbetween = [\"office\", \"pop\"]\nrate = \"10 Mbps\"\nqueue = { kind = \"fifo\", limit = \"60 kB\" }\n";
    let text = format!("{head}{feeder}{}{}", flow("one", "van"), flow("other", "car"));
    let outcome = run(&scenario(&text), 1);
    let goodputs: Vec<_> =
        outcome.summary.flows.iter().map(|flow| flow.goodput_bps.unwrap()).collect();
    let total = goodputs.iter().sum::<f64>();
    assert!((9e6..10e6).contains(&total), "{goodputs:?}");
    assert!(goodputs.iter().all(|goodput| *goodput > 2e6), "{goodputs:?}");
    let dropped = |name: &str| {
        let links = outcome.summary.links.iter().filter(|link| link.name.starts_with(name));
        links.map(|link| link.dropped_packets.of("queue")).sum::<u64>()
    };
    assert!(dropped("feeder") > 0, "the queue builds at the feeder");
}

/// The second subflow of the shipped chain has no satellite for 15 s. Its path opens the moment that one rises, is validated a round
/// trip later, and stays the only one over that link.
#[test]
fn a_path_over_a_rising_satellite_is_usable_a_round_trip_later() {
    let outcome = run(&shipped("maco-chain.toml", &[("duration", "40 s")]), 1);
    let events = table(&outcome, Table::Events);
    let kinds = events.texts("kind");
    let rows = kinds.iter().zip(events.texts("detail")).zip(events.integers("t_ns"));
    let paths: Vec<_> = rows.filter(|((kind, _), _)| *kind == "path").collect();
    let opened: Vec<_> = paths.iter().filter(|((_, text), _)| text.contains("opened")).collect();
    assert_eq!(opened.len(), 1, "{opened:?}");
    let at = opened[0].1;
    assert_eq!(at, 15_000_000_000);
    let usable = paths.iter().find(|((_, text), _)| text.starts_with("validated")).unwrap().1;
    // 20 ms and half of what light takes to the satellite and back, each way.
    assert!((44_000_000..46_000_000).contains(&(usable - at)), "{}", usable - at);
}
