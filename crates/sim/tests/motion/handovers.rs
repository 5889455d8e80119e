//! Effects of handovers on flows, worked out by hand, and losses as the network and the senders see them.

use crate::common::{one_link, run, scenario, table};
use leobench_sim::Outcome;
use leobench_sim::load::{Source, Syntax, load};
use leobench_sim::record::Table;
use leobench_sim::summary::{HandoverSummary, HandoversSummary};

/// A sender `a` that moves from one link of 100 Mbit/s to another; `old` and `new` are their delays.
fn moving(flow: &str, handover: &str, [old, new]: [&str; 2]) -> String {
    let link = |name: &str, delay: &str| {
        format!(
            "[links.{name}]\nbetween = [\"a\", \"b\"]\nrate = \"100 Mbps\"\ndelay = \"{delay}\"\n"
        )
    };
    format!(
        r#"
        name = "moving"
        duration = "4 s"
        record = {{ packets = true }}
        nodes = {{ a = {{}}, b = {{}} }}
        {}
        {}
        [handovers.move]
        node = "a"
        links = ["old", "new"]
        {handover}
        [flows.main]
        from = "a"
        to = "b"
        {flow}
        "#,
        link("old", old),
        link("new", new),
    )
}

/// A datagram of 1,000 bytes every millisecond.
const DATAGRAMS: &str = r#"transport = "udp"
       source = { kind = "cbr", rate = "8 Mbps", size = "1000 B" }"#;

fn handovers(outcome: &Outcome) -> &HandoversSummary {
    outcome.summary.flows[0].handovers.as_ref().unwrap()
}

fn only(outcome: &Outcome) -> &HandoverSummary {
    let handovers = handovers(outcome);
    assert_eq!(handovers.count, 1);
    &handovers.each[0]
}

#[test]
fn datagrams_see_exactly_the_outage() {
    let handover = "at = [\"2 s\"]\noutage = \"200 ms\"";
    let outcome = run(&scenario(&moving(DATAGRAMS, handover, ["10 ms", "10 ms"])), 1);
    let seen = only(&outcome);
    // The last datagram before it leaves at 1,999 ms, the first after it at 2,200 ms.
    assert_eq!(seen.outage_ms, Some(201.0));
    assert_eq!((seen.name.as_str(), seen.at_s), ("move-0", 2.0));
    // 200 datagrams have no way, of 1,028 bytes each.
    assert_eq!(seen.lost_bytes, 200 * 1_028);
    assert_eq!((seen.retransmitted_bytes, seen.retransmitted_in_vain_bytes), (0, 0));
    // Deliveries go on at 2,210.08 ms, so the first full step is that from 2,220 ms.
    assert_eq!(seen.recovery_ms, Some(220.0));
    // They end at 2,009.08 ms: nine tenths of the window up to 2,020 ms are full.
    assert_eq!((seen.dip_depth, seen.dip_ms), (Some(1.0), Some(200.0)));
    let flow = &outcome.summary.flows[0];
    assert_eq!(flow.dropped_packets.of("no_route"), 200);
    let losses = flow.losses.unwrap();
    assert_eq!(
        (losses.noticed_packets, losses.unnoticed_packets, losses.spurious_packets),
        (0, 200, 0)
    );
    let rows = table(&outcome, Table::Losses);
    assert_eq!(rows.rows(), 200);
    assert!(rows.texts("cause").iter().all(|cause| cause == "no_route"));
    assert!(rows.texts("place").iter().all(|place| place == "a"));
    assert!(rows.maybe_integers("declared_ns").iter().all(Option::is_none));
}

#[test]
fn a_handover_without_outage_is_not_noticed() {
    let outcome = run(&scenario(&moving(DATAGRAMS, "at = [\"2 s\"]", ["10 ms", "10 ms"])), 1);
    let seen = only(&outcome);
    assert_eq!((seen.outage_ms, seen.recovery_ms), (Some(1.0), Some(0.0)));
    assert_eq!((seen.dip_depth, seen.dip_ms), (Some(0.0), Some(0.0)));
    assert_eq!((seen.lost_bytes, seen.retransmitted_bytes), (0, 0));
}

#[test]
fn means_and_maxima_are_of_all_handovers() {
    let handover = "at = [\"1 s\", \"2 s\", \"3 s\"]\noutage = \"50 ms\"";
    let outcome = run(&scenario(&moving(DATAGRAMS, handover, ["10 ms", "30 ms"])), 1);
    let seen = handovers(&outcome);
    assert_eq!((seen.count, seen.recovered), (3, 3));
    // 20 ms longer to the new link, as much shorter back to the old one.
    let outages: Vec<_> = seen.each.iter().map(|each| each.outage_ms).collect();
    assert_eq!(outages, [Some(71.0), Some(31.0), Some(71.0)]);
    assert_eq!(seen.outage_ms.max, Some(71.0));
    assert_eq!(seen.outage_ms.mean, Some((71.0 + 31.0 + 71.0) / 3.0));
    assert_eq!(seen.lost_bytes.mean, Some(50.0 * 1_028.0));
}

#[test]
fn a_flow_that_stays_cut_off_has_a_gap_to_the_end() {
    let handover = "at = [\"3 s\"]\noutage = \"10 s\"";
    let outcome = run(&scenario(&moving(DATAGRAMS, handover, ["10 ms", "10 ms"])), 1);
    let seen = only(&outcome);
    // From the last delivery, at 3,009.08224 ms, to the loss of the last datagram, at 3,999 ms.
    assert_eq!(seen.outage_ms, Some(f64::from(3_999_000_000_u32 - 3_009_082_240) / 1e6));
    assert_eq!((seen.recovery_ms, seen.dip_ms), (None, None));
    assert_eq!(handovers(&outcome).recovered, 0);
}

#[test]
fn flows_that_do_not_take_the_link_are_not_concerned() {
    let text = moving(DATAGRAMS, "at = [\"2 s\"]\noutage = \"200 ms\"", ["10 ms", "10 ms"]);
    let aside = r#"
        [links.aside]
        between = ["a", "b"]
        rate = "100 Mbps"
        delay = "1 ms"
    "#;
    let outcome = run(&scenario(&format!("{text}{aside}")), 1);
    let seen = handovers(&outcome);
    assert_eq!((seen.count, seen.outage_ms.mean, seen.lost_bytes.max), (0, None, None));
    let still = one_link("duration = \"1 s\"", "rate = \"10 Mbps\"", DATAGRAMS);
    assert_eq!(run(&scenario(&still), 1).summary.flows[0].handovers, None);
}

/// Sizes of the packets from `a` that were dropped for a cause, by the table of packets.
fn dropped(outcome: &Outcome, cause: &str) -> Vec<u64> {
    let packets = table(outcome, Table::Packets);
    let (causes, places) = (packets.texts("cause"), packets.texts("link"));
    let sizes = packets.integers("size_bytes");
    let from_a = |place: &str| place.ends_with("a->b") || place == "a";
    (0..sizes.len())
        .filter(|row| causes[*row] == cause && from_a(&places[*row]))
        .map(|row| sizes[row] as u64)
        .collect()
}

#[test]
fn the_bytes_that_a_dropped_link_takes_along_are_repeated() {
    for transport in ["tcp", "quic"] {
        let flow = format!("transport = \"{transport}\"\nsource = \"bulk\"");
        let handover = "at = [\"1 s\"]\nold_packets = \"drop\"";
        let outcome = run(&scenario(&moving(&flow, handover, ["10 ms", "10 ms"])), 1);
        let seen = only(&outcome);
        let taken = dropped(&outcome, "handover");
        assert!(taken.len() > 50, "{transport}: {}", taken.len());
        assert_eq!(seen.lost_bytes, taken.iter().sum::<u64>(), "{transport}");
        let flow = &outcome.summary.flows[0];
        let losses = flow.losses.unwrap();
        assert_eq!(losses.noticed_packets + losses.unnoticed_packets, taken.len() as u64);
        // At most the packet that a probe repeated was never declared lost.
        assert!(losses.unnoticed_packets <= 1, "{transport}: {losses:?}");
        assert_eq!((losses.spurious_packets, seen.retransmitted_in_vain_bytes), (0, 0));
        let repeated = table(&outcome, Table::Losses).of("cause", "handover", "repeated_bytes");
        assert_eq!(repeated.iter().flatten().count(), taken.len(), "{transport}");
        if transport == "tcp" {
            // Each has a header of 52 bytes: IP, TCP and its timestamps.
            assert_eq!(seen.retransmitted_bytes, seen.lost_bytes - 52 * taken.len() as u64);
        }
        assert_eq!(seen.retransmitted_bytes, flow.retransmitted_bytes, "{transport}");
    }
}

#[test]
fn losses_are_paired_with_what_senders_know_themselves() {
    // The new link overtakes the old one by 10 ms: some 40 packets.
    let quic = "transport = \"quic\"\n\
                source = { kind = \"cbr\", rate = \"40 Mbps\", size = \"1000 B\" }";
    let handover = "at = [\"1 s\"]\nold_packets = \"drain\"";
    let outcome = run(&scenario(&moving(quic, handover, ["20 ms", "10 ms"])), 1);
    let flow = &outcome.summary.flows[0];
    assert!(flow.spurious_losses > 10, "{}", flow.spurious_losses);
    assert_eq!(flow.losses.unwrap().spurious_packets, flow.spurious_losses);
    assert_eq!(flow.losses.unwrap().noticed_packets, 0);
    assert!(only(&outcome).retransmitted_in_vain_bytes > 0);
    let lossy = "rate = \"10 Mbps\"\ndelay = \"20 ms\"\nloss = { kind = \"bernoulli\", probability = 0.01 }";
    for transport in ["tcp", "quic"] {
        let flow =
            format!("transport = \"{transport}\"\nsource = {{ kind = \"bulk\", size = \"5 MB\" }}");
        let text = one_link("duration = \"60 s\"\nuntil = \"drained\"", lossy, &flow);
        let outcome = run(&scenario(&text), 1);
        let flow = &outcome.summary.flows[0];
        let losses = flow.losses.unwrap();
        let rows = table(&outcome, Table::Losses);
        let (ends, places) = (rows.texts("end"), rows.texts("place"));
        let sent =
            (0..rows.rows()).filter(|row| ends[*row] == "sender" && !places[*row].is_empty());
        let sent = sent.count() as u64;
        assert!(losses.noticed_packets > 20, "{transport}: {losses:?}");
        assert_eq!(losses.noticed_packets + losses.unnoticed_packets, sent, "{transport}");
        let back = ends.iter().filter(|end| *end == "receiver").count() as u64;
        assert_eq!(sent + back, flow.dropped_packets.total(), "{transport}");
        let declared = losses.noticed_packets + losses.spurious_packets;
        assert_eq!(declared, flow.lost_packets, "{transport}");
        let evidence = rows.texts("evidence");
        assert!(evidence.iter().any(|evidence| evidence == "acks"), "{transport}");
    }
}

#[test]
fn a_path_without_a_way_has_a_row() {
    let handover = "at = [\"2 s\"]\noutage = \"200 ms\"";
    let outcome = run(&scenario(&moving(DATAGRAMS, handover, ["10 ms", "10 ms"])), 1);
    let rows = table(&outcome, Table::Paths);
    assert_eq!(rows.integers("t_ns"), [0, 2_000_000_000, 2_200_000_000]);
    let rtt = Some(20_000_000);
    assert_eq!(rows.maybe_integers("base_rtt_ns"), [rtt, None, rtt]);
    assert_eq!(rows.integers("bottleneck_bps"), [100_000_000, 0, 100_000_000]);
    let links = outcome.summary.links.iter();
    assert!(
        links.map(|link| &link.dropped_packets).all(|by| by.iter().any(|(c, _)| c == "handover"))
    );
}

#[test]
fn a_handover_that_the_next_one_interrupts_has_no_end() {
    let handover = "interval = { kind = \"exponential\", mean = \"500 ms\" }\noutage = \"400 ms\"";
    let outcome = run(&scenario(&moving(DATAGRAMS, handover, ["10 ms", "10 ms"])), 1);
    let rows = table(&outcome, Table::Handovers);
    let (times, stages) = (rows.integers("t_ns"), rows.texts("stage"));
    assert!(stages.iter().any(|stage| stage == "cut"));
    for pair in (0..times.len() - 1).filter(|row| stages[*row] == "begin") {
        let whole = times[pair + 1] - times[pair] == 400_000_000;
        assert_eq!(stages[pair + 1] == "end", whole, "{}", times[pair]);
    }
}

#[test]
fn queue_marks_count_for_their_flow() {
    let link = "rate = \"10 Mbps\"\ndelay = \"20 ms\"\nqueue = \"codel\"";
    let flow = "transport = { kind = \"tcp\", ecn = true }\nsource = \"bulk\"";
    let outcome = run(&scenario(&one_link("duration = \"20 s\"", link, flow)), 1);
    let links: u64 = outcome.summary.links.iter().map(|link| link.marked_packets.total()).sum();
    assert!(links > 0);
    assert_eq!(outcome.summary.flows[0].marked_packets, links);
}

#[test]
fn triggers_that_cannot_fire_are_refused() {
    let refused = |handover: &str, problem: &str| {
        let text = moving(DATAGRAMS, handover, ["10 ms", "10 ms"]);
        let folder = std::path::PathBuf::new();
        let source = Source { file: "test.toml", text: &text, syntax: Syntax::Toml, folder };
        let error = load(&source, &[]).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(problem), "{handover}: {error:?}");
    };
    refused("down_for = \"1 s\"", "never occurs: the channel of `old` is never down");
    refused("every = \"10 s\"", "first occurs at 10 s, after the end of the run");
    refused("every = \"10 s\"\nphase = \"5 s\"", "first occurs at 5 s, after the end of the run");
    refused("at = [\"4 s\"]", "is after the end of the run");
    refused("every = \"1 ns\"", "occurs more than 100000 times");
    refused("interval = \"1 us\"", "occurs more than 100000 times");
    refused("every = \"1 s\"\noutage = \"1 s\"", "is as long as the time between handovers, 1 s");
    refused("every = \"1 s\"\noverlap = \"2 s\"", "is as long as the time between handovers, 1 s");
    refused("at = [\"1 s\", \"1.1 s\"]\noutage = \"200 ms\"", "time between handovers, 100 ms");
    refused(
        "interval = \"1 s\"\noutage = \"1 s\"",
        "is as long as the time between handovers, 1 s",
    );
}
