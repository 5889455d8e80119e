//! Random networks with random traffic: nothing is lost, doubled or made up, and the numbers agree with each other.

use std::collections::BTreeMap;

use crate::common::frame::Frame;
use crate::common::random::{Case, any_case};
use crate::common::{run, scenario, table};
use leobench_sim::Outcome;
use leobench_sim::record::Table;
use proptest::prelude::*;

/// Rows of the `packets` table about one packet, in order.
type Life = Vec<Step>;

struct Step {
    at: i64,
    link: String,
    event: String,
    cause: String,
    flow: String,
}

fn lives(packets: &Frame) -> BTreeMap<i64, Life> {
    let mut lives = BTreeMap::<_, Life>::new();
    let texts = ["link", "event", "cause", "flow"].map(|column| packets.texts(column));
    let numbers = packets.integers("packet").into_iter().zip(packets.integers("t_ns"));
    for (row, (packet, at)) in numbers.enumerate() {
        let [link, event, cause, flow] =
            [0, 1, 2, 3].map(|column: usize| texts[column][row].clone());
        lives.entry(packet).or_default().push(Step { at, link, event, cause, flow });
    }
    lives
}

/// The nodes that a direction `name/a->b` leads from and to.
fn ends(link: &str) -> (&str, &str) {
    link.split_once('/').unwrap().1.split_once("->").unwrap()
}

/// A packet goes from one end of its flow to the other, link by link, and has one fate.
fn check_life(case: &Case, packet: i64, life: &Life) {
    let flow: usize = life[0].flow[1..].parse().unwrap();
    let [from, to] = case.flows[flow].ends.map(|node| format!("n{node}"));
    let mut at = ends(&life[0].link).0;
    let (mut node_time, end) = (life[0].at, if at == from { &to } else { &from });
    assert!(
        at == from || case.flows[flow].transport != "udp" && at == to,
        "packet {packet} starts at {at}"
    );
    for steps in life.chunks(2) {
        let enqueued = &steps[0];
        assert_eq!(
            (enqueued.event.as_str(), enqueued.at),
            ("enqueue", node_time),
            "packet {packet}"
        );
        assert_eq!(ends(&enqueued.link).0, at, "packet {packet}");
        let Some(next) = steps.get(1) else { return };
        assert_eq!((&next.link, &next.flow), (&enqueued.link, &enqueued.flow), "packet {packet}");
        if next.event == "drop" {
            assert!(
                std::ptr::eq(next, life.last().unwrap()),
                "packet {packet} lives after its drop"
            );
            assert!(["queue", "channel", "down"].contains(&next.cause.as_str()), "{}", next.cause);
            return;
        }
        assert_eq!(next.event, "deliver", "packet {packet}");
        (at, node_time) = (ends(&next.link).1, next.at);
    }
    assert_eq!(at, end, "packet {packet} was forgotten on its way");
}

fn check_links(outcome: &Outcome, lives: &BTreeMap<i64, Life>) {
    for link in &outcome.summary.links {
        let count = |event: &str, cause: &str| {
            let steps = lives.values().flatten().filter(|step| step.link == link.name);
            steps.filter(|step| step.event == event && step.cause == cause).count() as u64
        };
        assert_eq!(link.delivered_packets, count("deliver", ""), "{}", link.name);
        for (event, packets) in [("drop", &link.dropped_packets), ("mark", &link.marked_packets)] {
            for (cause, packets) in packets.iter() {
                assert_eq!(packets, count(event, cause), "{}: {event} {cause}", link.name);
            }
        }
    }
}

/// The rows of a stream's messages by number: created, first sent, delivered.
type Messages = BTreeMap<i64, (i64, Option<i64>, Option<i64>, i64)>;

fn messages(frame: &Frame) -> BTreeMap<(String, String), Messages> {
    let (flows, streams) = (frame.texts("flow"), frame.texts("stream"));
    let (created, sizes) = (frame.integers("created_ns"), frame.integers("size_bytes"));
    let [sent, delivered] =
        ["first_sent_ns", "delivered_ns"].map(|name| frame.maybe_integers(name));
    let mut messages = BTreeMap::<_, Messages>::new();
    for (row, number) in frame.integers("message").into_iter().enumerate() {
        let key = (flows[row].clone(), streams[row].clone());
        let value = (created[row], sent[row], delivered[row], sizes[row]);
        let doubled = messages.entry(key).or_default().insert(number, value);
        assert_eq!(doubled, None, "message {number} has two rows");
    }
    messages
}

fn check_messages(case: &Case, outcome: &Outcome) {
    let messages = messages(&table(outcome, Table::Messages));
    let drained = outcome.summary.virtual_s < 61.0 && case.text.contains("drained");
    for ((flow, stream), rows) in &messages {
        let reliable = case.flows[flow[1..].parse::<usize>().unwrap()].transport != "udp";
        assert!(
            rows.keys().copied().eq(0..rows.len() as i64),
            "{flow} {stream} leaves messages out"
        );
        let (mut last_created, mut last_delivered) = (0, 0);
        for (number, (created, sent, delivered, _)) in rows {
            assert!(*created >= last_created, "{flow} {stream} {number}");
            last_created = *created;
            assert!(sent.is_none_or(|sent| sent >= *created), "{flow} {stream} {number}");
            if let Some(delivered) = delivered {
                assert!(sent.is_some_and(|sent| sent < *delivered), "{flow} {stream} {number}");
                assert!(!reliable || *delivered >= last_delivered, "{flow} {stream} {number}");
                last_delivered = *delivered;
            } else {
                assert!(
                    !(reliable && drained),
                    "{flow} {stream} {number} of a drained run is missing"
                );
            }
        }
    }
    for flow in &outcome.summary.flows {
        let rows = messages
            .iter()
            .filter(|((name, _), _)| *name == flow.name)
            .flat_map(|(_, r)| r.values());
        let rows: Vec<_> = rows.collect();
        let arrived: Vec<_> = rows.iter().filter_map(|row| Some((row.2?, *row))).collect();
        assert_eq!(flow.messages, rows.len() as u64);
        assert_eq!(flow.undelivered_messages, (rows.len() - arrived.len()) as u64);
        let largest = arrived.iter().map(|(at, row)| at - row.0).max();
        assert_eq!(flow.delay_ms.max, largest.map(|nanos| nanos as f64 / 1e6));
        if let (Some(completion), Some(goodput)) = (flow.completion_s, flow.goodput_bps) {
            let first = rows.iter().map(|row| row.0).min().unwrap();
            let bits = rows.iter().map(|row| row.3 * 8).sum::<i64>() as f64;
            let expected = bits / (completion - first as f64 / 1e9);
            assert!(
                (goodput / expected - 1.0).abs() < 1e-9,
                "{}: {goodput}, {expected}",
                flow.name
            );
        }
    }
}

/// Whether nothing of a flow was dropped before both ends had established the connection.
fn handshake_was_clean(outcome: &Outcome, lives: &BTreeMap<i64, Life>, flow: &str) -> bool {
    let events = table(outcome, Table::Events);
    let rows = events.texts("kind").into_iter().zip(events.texts("subject"));
    let rows = rows.zip(events.integers("t_ns"));
    let established = rows.filter(|((kind, subject), _)| kind == "established" && subject == flow);
    let Some(established) = established.map(|(_, at)| at).nth(1) else { return false };
    let steps = lives.values().flatten().filter(|step| step.flow == flow && step.event == "drop");
    steps.map(|step| step.at).min().is_none_or(|first| first > established)
}

/// Checks the senders' counts against the fates of their packets.
fn check_senders(case: &Case, outcome: &Outcome, lives: &BTreeMap<i64, Life>) {
    let (paths, samples) = (table(outcome, Table::Paths), table(outcome, Table::Transport));
    for (index, flow) in outcome.summary.flows.iter().enumerate() {
        let from = format!("n{}", case.flows[index].ends[0]);
        let own = lives.values().filter(|life| life[0].flow == flow.name);
        let sent = own.filter(|life| ends(&life[0].link).0 == from);
        let (mut packets, mut dropped) = (0, 0);
        for life in sent {
            packets += 1;
            dropped += u64::from(life.last().unwrap().event == "drop");
        }
        assert_eq!(flow.sent_packets, packets, "{}", flow.name);
        let transport = case.flows[index].transport;
        if transport == "udp" {
            continue;
        }
        // Links that keep the order leave nothing to take for a loss but a loss. During the handshake a datagram may
        // carry several packets, and what comes before the keys to read it is lost as well.
        let in_order = case.links.iter().all(|link| !link.overtaking);
        if transport == "quic" && in_order && handshake_was_clean(outcome, lives, &flow.name) {
            assert!(flow.lost_packets <= dropped, "{flow:?}, {dropped} dropped");
            assert_eq!(flow.spurious_losses, 0, "{flow:?}");
        }
        let again = (flow.lost_packets + 2 * flow.timeouts) * 1_448;
        assert!(flow.retransmitted_bytes <= again, "{flow:?}");
        let base = paths.of("flow", &flow.name, "base_rtt_ns").into_iter().flatten().min().unwrap();
        let rtts = samples.of("flow", &flow.name, "latest_rtt_ns").into_iter().flatten();
        // TCP measures what it sent twice by timestamps of a millisecond.
        let tick = if transport == "tcp" { 1_000_000 } else { 0 };
        assert!(rtts.min().is_none_or(|least| least + tick >= base), "{flow:?}: base {base} ns");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_packet_and_every_byte_is_accounted_for(case in any_case()) {
        let outcome = run(&scenario(&case.text), case.seed);
        let lives = lives(&table(&outcome, Table::Packets));
        let sent = outcome.summary.packets as i64;
        prop_assert!(lives.keys().copied().eq(0..sent), "a packet without a life, or one too many");
        for (packet, life) in &lives {
            check_life(&case, *packet, life);
        }
        check_links(&outcome, &lives);
        check_messages(&case, &outcome);
        check_senders(&case, &outcome, &lives);
    }
}
