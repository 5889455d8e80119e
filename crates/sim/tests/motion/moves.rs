//! Flows whose node moves from one link to another.

use std::collections::BTreeMap;

use crate::common::{run, scenario, table};
use leobench_sim::Outcome;
use leobench_sim::record::Table;
use proptest::prelude::*;

const FATES: [&str; 4] = ["deliver", "drain", "drop", "forward"];

/// A node that leaves the link `old` for the link `new`; times in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Move {
    /// The node that moves: the sender `a` or the receiver `b`.
    node: &'static str,
    at: u64,
    outage: u64,
    overlap: u64,
    fate: &'static str,
}

impl Move {
    fn table(&self, kind: &str) -> String {
        let Self { node, at, outage, overlap, fate } = self;
        format!(
            r#"[handovers.move]
               node = "{node}"
               links = ["old", "new"]
               kind = "{kind}"
               at = ["{at} ms"]
               outage = "{outage} ms"
               overlap = "{overlap} ms"
               old_packets = "{fate}"
            "#
        )
    }

    /// When the old link is left.
    fn left(&self) -> u64 {
        self.at + self.overlap
    }
}

/// How many packets came to what.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    delivered: usize,
    /// Packets that arrived after one that was sent later.
    overtaken: usize,
    handover: usize,
    no_route: usize,
}

mod datagrams {
    //! A datagram of 1,000 bytes every 10 ms, over links that are worked out by hand.

    use super::*;

    const PERIOD: u64 = 10;
    const PACKETS: u64 = 300;
    /// Rate and delay of the old link and of the new one: 1,028 bytes take 12.85 ms and 4.112 ms.
    const OLD: (u64, u64) = (640_000, 60);
    const NEW: (u64, u64) = (2_000_000, 20);
    const BITS: u64 = 8 * 1_028;

    /// Goes through the packets one by one, in microseconds.
    struct Fifo {
        link: (u64, u64),
        free: u64,
    }

    impl Fifo {
        /// Start of the transmission of a packet that comes at `at`, and its arrival.
        fn carry(&mut self, at: u64) -> (u64, u64) {
            let start = self.free.max(at);
            self.free = start + BITS * 1_000_000 / self.link.0;
            (start, self.free + 1_000 * self.link.1)
        }
    }

    fn expected(change: &Move) -> Count {
        let mut count = Count::default();
        let (mut old, mut new) = (Fifo { link: OLD, free: 0 }, Fifo { link: NEW, free: 0 });
        let left = 1_000 * change.left();
        let (begins, attached) = (1_000 * change.at, 1_000 * (change.at + change.outage));
        let (mut arrivals, mut forwarded, mut later) = (Vec::new(), Vec::new(), Vec::new());
        for packet in 0..PACKETS {
            let sent = 1_000 * PERIOD * packet;
            if sent >= attached {
                later.push((packet, sent));
            } else if sent >= begins {
                count.no_route += 1;
            } else {
                let (start, arrival) = old.carry(sent);
                match change.fate {
                    "deliver" | "drop" if start > left => count.handover += 1,
                    "forward" if start > left => forwarded.push((packet, left.max(attached))),
                    "drop" if arrival > left => count.handover += 1,
                    _ => arrivals.push((arrival, packet)),
                }
            }
        }
        forwarded.extend(later);
        // Packets that were forwarded come in where they wait, among those sent meanwhile.
        forwarded.sort_by_key(|(packet, at)| (*at, *packet));
        arrivals.extend(forwarded.into_iter().map(|(packet, at)| (new.carry(at).1, packet)));
        arrivals.sort_unstable();
        count.delivered = arrivals.len();
        count.overtaken = overtaken(arrivals.into_iter().map(|(_, packet)| packet));
        count
    }

    fn overtaken(packets: impl Iterator<Item = u64>) -> usize {
        let mut latest = None;
        packets
            .filter(|packet| {
                let behind = latest.is_some_and(|latest| *packet < latest);
                latest = latest.max(Some(*packet));
                behind
            })
            .count()
    }

    fn seen(outcome: &Outcome) -> Count {
        let packets = table(outcome, Table::Packets);
        let (events, causes) = (packets.texts("event"), packets.texts("cause"));
        let of = |event: &str, cause: &str| {
            let both = events.iter().zip(&causes);
            both.filter(|(e, c)| *e == event && (cause.is_empty() || *c == cause)).count()
        };
        let delivered = packets.integers("packet").into_iter().zip(&events);
        let delivered = delivered.filter(|(_, event)| *event == "deliver");
        Count {
            delivered: of("deliver", ""),
            overtaken: overtaken(delivered.map(|(packet, _)| packet as u64)),
            handover: of("drop", "handover"),
            no_route: of("drop", "no_route"),
        }
    }

    #[test]
    fn every_packet_is_where_arithmetic_says() {
        let spans = [(0, 0), (95, 0), (0, 95)];
        for fate in FATES {
            for node in ["a", "b"] {
                for (outage, overlap) in spans {
                    for at in [5, 995, 1_003] {
                        let change = Move { node, at, outage, overlap, fate };
                        let outcome = run(&scenario(&text(&change)), 1);
                        assert_eq!(seen(&outcome), expected(&change), "{change:?}");
                    }
                }
            }
        }
    }

    fn text(change: &Move) -> String {
        format!(
            r#"
            name = "datagrams"
            duration = "{} ms"
            until = "drained"
            record = {{ packets = true }}
            nodes = {{ a = {{}}, b = {{}} }}
            [links.old]
            between = ["a", "b"]
            rate = "{} bps"
            delay = "{} ms"
            [links.new]
            between = ["a", "b"]
            rate = "{} bps"
            delay = "{} ms"
            [flows.main]
            transport = {{ kind = "udp", payload = "1000 B" }}
            from = "a"
            to = "b"
            source = {{ kind = "cbr", size = "1000 B", rate = "800 kbps" }}
            {}
            "#,
            PERIOD * PACKETS,
            OLD.0,
            OLD.1,
            NEW.0,
            NEW.1,
            change.table("reroute"),
        )
    }
}

/// A device behind a van that moves, and an office; or a host that is the van itself.
fn journey_text(behind: bool, run: &str, flow: &str, handover: &str) -> String {
    let (nodes, bubble) = if behind {
        (
            "{ device = {}, a = {}, b = {} }",
            "[links.bubble]\nbetween = [\"device\", \"a\"]\nrate = \"300 Mbps\"\ndelay = \"5 ms\"",
        )
    } else {
        ("{ a = {}, b = {} }", "")
    };
    format!(
        r#"
        name = "journey"
        until = "drained"
        nodes = {nodes}
        {run}
        {bubble}
        [links.old]
        between = ["a", "b"]
        rate = "10 Mbps"
        delay = "10 ms"
        queue = {{ kind = "fifo", limit = "20 packets" }}
        [links.new]
        between = ["a", "b"]
        rate = "8 Mbps"
        delay = "40 ms"
        queue = {{ kind = "fifo", limit = "40 packets" }}
        [flows.main]
        {flow}
        {handover}
        "#
    )
}

/// All bytes arrived once; what the tables say of every packet fits together.
fn check(outcome: &Outcome, change: &Move, what: &str) {
    let flow = &outcome.summary.flows[0];
    assert_eq!((flow.undelivered_messages, &flow.lost), (0, &None), "{what}");
    let packets = table(outcome, Table::Packets);
    let [links, events, causes] = ["link", "event", "cause"].map(|name| packets.texts(name));
    let (times, numbers) = (packets.integers("t_ns"), packets.integers("packet"));
    let mut open: BTreeMap<i64, (&str, i64)> = BTreeMap::new();
    let left = 1_000_000 * change.left() as i64;
    for row in 0..times.len() {
        let (packet, at, link) = (numbers[row], times[row], links[row].as_str());
        match events[row].as_str() {
            "enqueue" => {
                let before = open.insert(packet, (link, at));
                let forwarded = before.is_some_and(|(link, _)| link.starts_with("old/"));
                let excuse = change.fate == "forward" && at >= left && forwarded;
                assert!(
                    before.is_none() || excuse,
                    "{what}: packet {packet} is twice in the network"
                );
                assert!(
                    at < left || !link.starts_with("old/"),
                    "{what}: {packet} takes the old link"
                );
            }
            "deliver" => {
                let over = open.remove(&packet).map(|(link, _)| link);
                assert_eq!(over, Some(link), "{what}: packet {packet}");
            }
            "mark" => {}
            _ => {
                open.remove(&packet);
                let cause = causes[row].as_str();
                assert!(
                    ["queue", "handover", "no_route", "no_port"].contains(&cause),
                    "{what}: {cause}"
                );
                let expected = cause != "handover" || at == left && link.starts_with("old/");
                assert!(expected, "{what}: {packet} is dropped at {at} on {link}");
                assert!(
                    cause != "handover" || ["drop", "deliver"].contains(&change.fate),
                    "{what}"
                );
            }
        }
    }
    // The run ends with the last byte, when acknowledgements and probes may still be on their way.
    let end = times.last().copied().unwrap_or_default();
    for (packet, (link, at)) in open {
        assert!(end - at < 200_000_000, "{what}: packet {packet} is nowhere since {at} on {link}");
    }
}

/// The transports: both QUIC stacks among them.
const TCP: &str = "{ kind = \"tcp\" }";
const NOQ: &str = "{ kind = \"quic\", stack = \"noq\" }";
const OWN: &str = "{ kind = \"quic\", stack = \"own\" }";
const CAREFUL: &str = "{ kind = \"quic\", stack = \"own\", after_migration = \"careful_resume\" }";

/// Every fate of the packets on the old link, outage and overlap.
fn moves(node: &'static str, at: u64) -> impl Iterator<Item = Move> {
    let spans = [(0, 0), (300, 0), (0, 300)];
    FATES.into_iter().flat_map(move |fate| {
        spans.map(|(outage, overlap)| Move { node, at, outage, overlap, fate })
    })
}

/// State of the transport when its node moves, the time of the move in ms, and the traffic: 12,000 bytes take 10 ms at 10 Mbit/s.
const STATES: [(&str, u64, &str); 5] = [
    ("handshake", 30, r#"source = { kind = "bulk", size = "200 kB" }"#),
    ("slow start", 150, r#"source = { kind = "bulk", size = "1 MB" }"#),
    ("recovery", 700, r#"source = { kind = "bulk", size = "2 MB" }"#),
    ("idle", 1_000, r#"source = { kind = "cbr", size = "20 kB", rate = "80 kbps" }"#),
    ("closing", 325, r#"source = { kind = "bulk", size = "300 kB" }"#),
];

fn run_moves(kind: &str, transport: &str, flow_keys: &str) {
    for (state, at, source) in STATES {
        // Behind a translation that has forgotten it, an end that only receives is out of reach until it sends something.
        for download in [false, true].into_iter().filter(|download| kind != "rebind" || !download) {
            // The reference stack's server moves no connection before its handshake is confirmed.
            if state == "handshake" && (kind, transport) == ("rebind", NOQ) {
                continue;
            }
            for change in moves("a", at) {
                let behind = kind == "rebind";
                let van = if behind { "device" } else { "a" };
                let (from, to, opened_by) =
                    if download { ("b", van, "to") } else { (van, "b", "from") };
                let flow = format!(
                    "transport = {transport}\nfrom = \"{from}\"\nto = \"{to}\"\n\
                     opened_by = \"{opened_by}\"\n{source}\n{flow_keys}"
                );
                let keys = "duration = \"5 s\"\nrecord = { packets = true, series = false }";
                let text = journey_text(behind, keys, &flow, &change.table(kind));
                let outcome = run(&scenario(&text), 1);
                check(
                    &outcome,
                    &change,
                    &format!("{kind} {transport} {state} {download} {change:?}"),
                );
            }
        }
    }
}

#[test]
fn tcp_is_rerouted_in_every_state() {
    run_moves("reroute", TCP, "");
}

#[test]
fn quic_is_rerouted_in_every_state() {
    run_moves("reroute", NOQ, "");
    run_moves("reroute", OWN, "");
}

#[test]
fn quic_is_rebound_in_every_state() {
    run_moves("rebind", NOQ, "");
    run_moves("rebind", OWN, "");
}

#[test]
fn quic_migrates_in_every_state() {
    run_moves("migrate", OWN, "");
}

#[test]
fn tcp_reconnects_after_a_migration_in_every_state() {
    run_moves("migrate", TCP, "reconnect = { after = \"500 ms\" }");
}

#[test]
fn tcp_reconnects_after_a_rebinding_in_every_state() {
    run_moves("rebind", TCP, "reconnect = { after = \"500 ms\" }");
}

/// Eight handovers in a row, of a flow of 3 MB.
#[derive(Clone, Debug)]
struct Journey {
    seed: u64,
    /// Kind of the handovers, and the transport.
    kind: (&'static str, &'static str),
    fate: &'static str,
    outage: u64,
    overlap: u64,
    /// Milliseconds until the first handover, which may fall into the handshake, and from one to the next.
    first: u64,
    period: u64,
    download: bool,
}

fn any_journey() -> impl Strategy<Value = Journey> {
    let kinds = [
        ("reroute", TCP),
        ("reroute", NOQ),
        ("reroute", OWN),
        ("migrate", TCP),
        ("migrate", OWN),
        ("migrate", CAREFUL),
        ("rebind", OWN),
    ];
    let spans = prop_oneof![
        Just((0u64, 0u64)),
        (0u64..10_000).prop_map(|outage| (outage, 0)),
        (0u64..2_000).prop_map(|overlap| (0, overlap)),
    ];
    let (kind, fate) = (prop::sample::select(kinds.to_vec()), prop::sample::select(FATES.to_vec()));
    let period = prop_oneof![50u64..500, 500u64..20_000];
    let first = prop_oneof![1u64..130, 130u64..2_000];
    let journey = (0u64..1_000_000, kind, fate, spans, (first, period), any::<bool>());
    journey.prop_map(|(seed, kind, fate, (outage, overlap), (first, pause), download)| {
        // A download behind a translation that forgot it stands still.
        let download = download && kind.0 != "rebind";
        // A scenario whose handovers cannot end before the next one is refused.
        let period = pause + outage + overlap;
        // QUIC needs a stable address in its handshake.
        let first = if kind.0 == "rebind" { first.max(130) } else { first };
        Journey { seed, kind, fate, outage, overlap, first, period, download }
    })
}

fn no_byte_is_lost_or_doubled(journey: &Journey) {
    let Journey { seed, kind: (kind, transport), fate, outage, overlap, first, period, download } =
        journey;
    let behind = *kind == "rebind";
    let van = if behind { "device" } else { "a" };
    let (from, to, opened_by) = if *download { ("b", van, "to") } else { (van, "b", "from") };
    let reconnects = (*kind, *transport) == ("migrate", TCP);
    let reconnect = if reconnects { "reconnect = { after = \"1 s\" }" } else { "" };
    let flow = format!(
        "transport = {transport}\nfrom = \"{from}\"\nto = \"{to}\"\nopened_by = \"{opened_by}\"\n\
         source = {{ kind = \"bulk\", size = \"3 MB\" }}\n{reconnect}"
    );
    let times: Vec<_> =
        (0..8).map(|number| format!("\"{} ms\"", first + number * period)).collect();
    let handover = format!(
        "[handovers.move]\nnode = \"a\"\nlinks = [\"old\", \"new\"]\nkind = \"{kind}\"\nold_packets = \"{fate}\"\n\
         at = [{}]\noutage = \"{outage} ms\"\noverlap = \"{overlap} ms\"",
        times.join(", ")
    );
    let keys = "duration = \"200 s\"\nrecord = { series = false }";
    let outcome = run(&scenario(&journey_text(behind, keys, &flow, &handover)), *seed);
    let flow = &outcome.summary.flows[0];
    assert_eq!((flow.undelivered_messages, &flow.lost), (0, &None), "{flow:?}");
}

/// The server has validated each address, but not that it carries large datagrams, when the client is gone for longer than a
/// validation may take.
#[test]
fn addresses_that_change_faster_than_they_are_validated_end_no_connection() {
    no_byte_is_lost_or_doubled(&Journey {
        seed: 0,
        kind: ("migrate", OWN),
        fate: "deliver",
        outage: 1_428,
        overlap: 0,
        first: 1_592,
        period: 1_572,
        download: false,
    });
}

/// The handshake over the slow link completes at the server when the client has begun another over the fast one.
#[test]
fn a_handshake_that_its_client_has_given_up_ends_no_newer_one() {
    no_byte_is_lost_or_doubled(&Journey {
        seed: 0,
        kind: ("migrate", OWN),
        fate: "deliver",
        outage: 0,
        overlap: 0,
        first: 1,
        period: 92,
        download: false,
    });
}

/// RFC 9000 section 9: QUIC relies on stable addresses during the handshake. A client behind a translation that changes them
/// again and again hears a bit of it, has nothing more to send (RFC 9002 section 6.2.2.1), and the server's packets go where
/// nobody is: the idle timeout ends that.
#[test]
fn a_client_rebound_often_in_its_handshake_times_out() {
    let transport = r#"{ kind = "quic", stack = "own", idle_timeout = "30 s" }"#;
    let flow = format!(
        "transport = {transport}\nfrom = \"device\"\nto = \"b\"\nsource = {{ kind = \"bulk\", size = \"3 MB\" }}"
    );
    let handover = "[handovers.move]\nnode = \"a\"\nlinks = [\"old\", \"new\"]\nkind = \"rebind\"\n\
        at = [\"6 ms\", \"396 ms\", \"786 ms\", \"1176 ms\", \"1566 ms\", \"1956 ms\"]";
    let outcome = run(&scenario(&journey_text(true, "duration = \"100 s\"", &flow, handover)), 0);
    let flow = &outcome.summary.flows[0];
    assert_eq!(flow.undelivered_messages, 1);
    let lost = flow.lost.as_ref().expect("the connection ends");
    assert_eq!(lost.reason, "timed out");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_byte_survives_random_handovers(journey in any_journey()) {
        no_byte_is_lost_or_doubled(&journey);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    #[ignore = "the long form of the test above"]
    fn every_byte_survives_a_thousand_random_handovers(journey in any_journey()) {
        no_byte_is_lost_or_doubled(&journey);
    }
}

#[test]
fn a_translating_host_gets_nothing_at_its_outside_addresses() {
    // Packets still arrive over the old link when its translation is forgotten. They are nobody's: QUIC would take their
    // destination for its own address, and send from that.
    let flow = "transport = \"quic\"\nfrom = \"a\"\nto = \"b\"\nsource = { kind = \"bulk\", size = \"2 MB\" }";
    let change = Move { node: "a", at: 500, outage: 200, overlap: 0, fate: "deliver" };
    let keys = "duration = \"20 s\"\nrecord = { series = false }";
    let outcome = run(&scenario(&journey_text(false, keys, flow, &change.table("rebind"))), 1);
    assert_eq!(outcome.summary.flows[0].undelivered_messages, 0);
    assert!(outcome.summary.flows[0].dropped_packets.of("no_port") > 0);
}
