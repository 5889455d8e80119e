//! Satellites with one queue and one transmitter per direction, shared by all links that they serve.

use std::fmt::Write as _;

use crate::common::{VAN_SKY, run, scenario, summary, table};
use leobench_sim::Outcome;
use leobench_sim::record::Table;
use leobench_sim::summary::{LinkSummary, SatelliteSummary, Summary};

const SECOND: i64 = 1_000_000_000;
/// Until then the second link of the chain has no satellite (R1/v).
const FIRST_PAIR: i64 = 15 * SECOND;
/// From then on both links use the same one, for 15 s: d1/v = 25.357 s later.
const SHARED: i64 = FIRST_PAIR + 25_357_142_857;

/// Two links over the chain, to a server each, at 10 Mbit/s; datagrams of 1,000 bytes on both.
fn chain(sky: &str, [first, second]: [&str; 2]) -> String {
    let mut text = format!(
        r#"
        name = "chain"
        duration = "80 s"
        until = "drained"
        nodes = {{ terminal = {{}}, one = {{}}, two = {{}} }}
        [constellation]
        satellites = {{ chain = "printed", spacing = "105 km" }}
        start = "2026-01-01T00:00:00Z"
        terminals.ground = {{ latitude = "0 deg", longitude = "0 deg" }}
        {sky}
        "#
    );
    let links = [("first", "one", 0, first), ("second", "two", 1, second)];
    for (link, server, subflow, source) in links {
        write!(
            text,
            r#"
            [links.{link}]
            between = ["terminal", "{server}"]
            constellation = {{ terminal = "ground", subflow = {subflow} }}
            rate = "10 Mbps"
            delay = "20 ms"
            [flows.{link}]
            transport = "udp"
            from = "terminal"
            to = "{server}"
            source = {{ kind = "cbr", size = "972 B", {source} }}
            "#
        )
        .unwrap();
    }
    text
}

const FULL: [&str; 2] = ["rate = \"12 Mbps\"", "rate = \"12 Mbps\", offset = \"321 us\""];
const QUEUE: &str = "satellite.queue = { kind = \"fifo\", limit = \"50 packets\" }";

/// Packets of a flow that arrived between two times.
fn arrived(outcome: &Outcome, flow: &str, from: i64, to: i64) -> usize {
    let rows = table(outcome, Table::Messages);
    let times = rows.of("flow", flow, "delivered_ns");
    times.into_iter().flatten().filter(|at| (from..to).contains(at)).count()
}

fn link<'a>(summary: &'a Summary, name: &str) -> &'a LinkSummary {
    summary.links.iter().find(|link| link.name.starts_with(name)).unwrap()
}

fn satellite<'a>(summary: &'a Summary, name: &str) -> &'a SatelliteSummary {
    summary.satellites.iter().find(|satellite| satellite.name == name).unwrap()
}

/// Each packet that a flow sent was delivered or dropped by the end, by its link and by the satellites.
#[track_caller]
fn assert_accounted(summary: &Summary) {
    let dropped = |link: &LinkSummary| link.dropped_packets.iter().map(|(_, n)| n).sum::<u64>();
    for flow in &summary.flows {
        let link = link(summary, &format!("{}/terminal->", flow.name));
        assert_eq!(flow.sent_packets, link.delivered_packets + dropped(link), "{}", flow.name);
        assert_eq!(flow.undelivered_messages, dropped(link), "{}", flow.name);
    }
    let mut sent = 0;
    for satellite in &summary.satellites {
        let refused: u64 = satellite.dropped_packets.iter().map(|(_, n)| n).sum();
        let gone = satellite.sent_packets + satellite.withdrawn_packets + refused;
        assert_eq!(satellite.queued_packets, gone, "{}", satellite.name);
        sent += satellite.sent_packets;
    }
    let lost: u64 = summary.links.iter().map(|link| link.dropped_packets.of("channel")).sum();
    let delivered: u64 = summary.links.iter().map(|link| link.delivered_packets).sum();
    let flying: u64 = sent - delivered - lost;
    let moved: u64 = summary.links.iter().map(|link| link.dropped_packets.of("handover")).sum();
    assert!(flying <= moved, "{flying} were sent and did not arrive");
}

/// s1: one link has the whole satellite. s2: each has one, 2 C together. s3: both share one, C together.
#[test]
fn links_get_2c_over_two_satellites_and_c_over_one() {
    let outcome = run(&scenario(&chain(QUEUE, FULL)), 1);
    // 10 Mbit/s are 1,250 packets per second; a packet takes 0.8 ms.
    let both = |from, to| ["first", "second"].map(|flow| arrived(&outcome, flow, from, to));
    assert_eq!(both(SECOND, FIRST_PAIR), [14 * 1_250, 0]);
    assert_eq!(both(16 * SECOND, 40 * SECOND), [24 * 1_250; 2]);
    let shared = both(41 * SECOND, 55 * SECOND);
    assert_eq!(shared[0] + shared[1], 14 * 1_250);
    assert!(shared.iter().all(|packets| *packets > 1_000), "{shared:?}");
    assert_eq!(both(56 * SECOND, 79 * SECOND), [23 * 1_250; 2]);
    assert_accounted(&outcome.summary);
    // Satellite 1 serves from 15 s to 80 s and is never idle; satellite 0 until 40.36 s.
    let [zero, one] = ["chain-0/there", "chain-1/there"];
    let busy = satellite(&outcome.summary, one);
    assert!((busy.served_s - 65.0).abs() < 1.0 && busy.utilisation.unwrap() > 0.999, "{busy:?}");
    assert!((satellite(&outcome.summary, zero).served_s - 40.357).abs() < 0.001);
    assert_eq!(satellite(&outcome.summary, "chain-1/back").sent_packets, 0);
}

/// Without the key, the links divide the rate, used or not.
#[test]
fn a_link_alone_on_a_shared_satellite_gets_all_of_it() {
    let alone = ["rate = \"12 Mbps\"", "rate = \"8 kbps\""];
    let divided = run(&scenario(&chain("", alone)), 1);
    let shared = run(&scenario(&chain(QUEUE, alone)), 1);
    let packets = |outcome, flow| arrived(outcome, flow, 41 * SECOND, 55 * SECOND);
    assert_eq!(packets(&divided, "first"), 14 * 625);
    // The other link offers a packet a second, which is dropped if it finds the queue full.
    let other = packets(&shared, "second");
    assert!(other <= 15);
    assert_eq!(packets(&shared, "first") + other, 14 * 1_250);
    let rate = |outcome: &Outcome| link(&outcome.summary, "first/terminal").mean_rate_bps.unwrap();
    assert!(rate(&shared) > 0.999e7 && rate(&divided) < 0.95e7);
}

#[test]
fn fair_queues_share_equally_whatever_links_offer() {
    let queue = "satellite.queue = { kind = \"fq_codel\", limit = \"200 packets\" }";
    let outcome = run(&scenario(&chain(queue, ["rate = \"30 Mbps\"", "rate = \"6 Mbps\""])), 1);
    let packets = ["first", "second"].map(|flow| arrived(&outcome, flow, 42 * SECOND, 55 * SECOND));
    for packets in packets {
        assert!((13 * 625 - 10..=13 * 625 + 10).contains(&packets), "{packets}");
    }
    assert_accounted(&outcome.summary);
    assert!(satellite(&outcome.summary, "chain-1/there").dropped_packets.of("codel") > 0);
}

/// First come, first served: each packet at the rate of its own link, its own delay behind.
#[test]
fn packets_take_the_rate_and_delay_of_their_link() {
    let text = chain(QUEUE, ["rate = \"7776 bps\"", "rate = \"7776 bps\", offset = \"500 us\""])
        .replacen(
            "rate = \"10 Mbps\"\n            delay = \"20 ms\"",
            "rate = \"4 Mbps\"\n            delay = \"30 ms\"",
            1,
        );
    let outcome = run(&scenario(&text), 1);
    let rows = table(&outcome, Table::Messages);
    let delay = |flow: &str, second: i64| {
        let created = rows.of("flow", flow, "created_ns").into_iter().flatten();
        let mut each = created.zip(rows.of("flow", flow, "delivered_ns"));
        let found = each.find(|(at, _)| at / SECOND == second).unwrap();
        found.1.unwrap() - found.0
    };
    let channel = table(&outcome, Table::Channel);
    let path = |flow: &str, second: i64| {
        let name = if flow == "first" { "first/terminal->one" } else { "second/terminal->two" };
        let times = channel.of("link", name, "t_ns").into_iter().flatten();
        let delays = channel.of("link", name, "delay_ns").into_iter().flatten();
        times
            .zip(delays)
            .take_while(|(at, _)| at / SECOND < second || at % SECOND == 0)
            .last()
            .unwrap()
            .1
    };
    // Over two satellites, 2 ms and 0.8 ms; over one, the second waits for 1.5 of the 2 ms of the first.
    for (second, waits) in [(20, 0), (30, 0), (45, 1_500_000), (50, 1_500_000)] {
        assert!((delay("first", second) - path("first", second) - 2_000_000).abs() < 50_000);
        let expected = path("second", second) + 800_000 + waits;
        assert!((delay("second", second) - expected).abs() < 50_000, "{second}");
    }
}

/// M/D/1 over orbits: two links at one satellite, each with a Poisson process of a third of its capacity. The mean wait is
/// rho / (2 (1 - rho)) services (Kleinrock, "Queueing Systems", volume 1, equation 5.71).
#[test]
fn waits_at_a_satellite_are_those_of_one_server() {
    let mut text = format!(
        "name = \"md1\"\nduration = \"300 s\"\nwarm_up = \"5 s\"\nrecord = {{ series = false, messages = false }}\n\
         nodes = {{ van = {{}}, one = {{}}, two = {{}} }}\n\
         [constellation]\n{VAN_SKY}\npolicy = \"longest\"\nsatellite.queue = \"fifo\"\n"
    );
    for (link, server) in [("first", "one"), ("second", "two")] {
        writeln!(
            text,
            "[links.{link}]\nbetween = [\"van\", \"{server}\"]\nconstellation.terminal = \"van\"\nrate = \"8 Mbps\"\n\
             [flows.{link}]\ntransport = \"udp\"\nfrom = \"{server}\"\nto = \"van\"\n\
             source = {{ kind = \"poisson\", rate = \"2721600 bps\", size = \"972 B\" }}"
        )
        .unwrap();
    }
    // 350 packets of 1 ms per second and link: rho = 0.7.
    let summary = run(&scenario(&text), 3).summary;
    let expected = 0.7 / (2.0 * 0.3);
    for name in ["first/one->van", "second/two->van"] {
        let mean = link(&summary, name).queue_delay_ms.mean.unwrap();
        // Three standard errors of 10 batches of a run of 200,000 packets are 3.1 % of the mean.
        assert!((mean / expected - 1.0).abs() < 0.035, "{name}: {mean} ms, not {expected}");
    }
    let waits = summary.satellites.iter().filter(|satellite| satellite.sent_packets > 0);
    assert!(waits.clone().all(|satellite| satellite.name.ends_with("/back")));
    let packets: u64 = waits.map(|satellite| satellite.sent_packets).sum();
    // Some were on their way at the end of the warm-up, others at the end.
    let delivered: u64 = summary.links.iter().map(|link| link.delivered_packets).sum();
    assert!(packets.abs_diff(delivered) < 30, "{packets} sent, {delivered} delivered");
}

/// At 55.36 s the second link leaves the satellite that it shares with the first, whose queue is full.
fn moved(left: &str, more: &str) -> Outcome {
    let sky = format!("{QUEUE}\nold_packets = \"{left}\"\n{more}");
    let outcome = run(&scenario(&chain(&sky, FULL)), 1);
    assert_accounted(&outcome.summary);
    outcome
}

const MOVE: i64 = SHARED + 15 * SECOND;

/// Packets dropped for handovers from a time on, by flow.
fn handover_drops(outcome: &Outcome, from: i64) -> [usize; 2] {
    let rows = table(outcome, Table::Losses);
    let (flows, causes) = (rows.texts("flow"), rows.texts("cause"));
    let times = rows.maybe_integers("dropped_ns");
    ["first", "second"].map(|flow| {
        let all = flows.iter().zip(&causes).zip(&times);
        all.filter(|((name, cause), at)| {
            *name == flow && *cause == "handover" && at.is_some_and(|at| at >= from)
        })
        .count()
    })
}

#[test]
fn packets_of_a_link_that_leaves_are_left_as_told_and_others_stay() {
    // Those of the first link at the second move: none, whatever becomes of the second's.
    let deliver = handover_drops(&moved("deliver", ""), MOVE);
    assert!(deliver[0] == 0 && (15..=35).contains(&deliver[1]), "{deliver:?}");
    let drop = handover_drops(&moved("drop", ""), MOVE);
    // And what propagates for 20 ms and 2 ms at half of 10 Mbit/s: 14.
    assert_eq!(drop[0], 0);
    assert!((deliver[1] + 12..=deliver[1] + 16).contains(&drop[1]), "{drop:?}, {deliver:?}");
    for left in ["drain", "forward"] {
        assert_eq!(handover_drops(&moved(left, ""), 0), [0, 0], "{left}");
    }
    // Drained packets leave over the old satellite, forwarded ones over the new one.
    let withdrawn = |left| satellite(&moved(left, "").summary, "chain-1/there").withdrawn_packets;
    assert_eq!(withdrawn("drain"), 0);
    assert_eq!(withdrawn("forward"), withdrawn("deliver"));
}

/// A drained link's packets keep the satellite busy for the one that stays; forwarded ones do not.
#[test]
fn drained_packets_are_sent_by_the_old_satellite() {
    let after = |left: &str, flow: &str| {
        let rows = table(&moved(left, ""), Table::Messages);
        let created = rows.of("flow", flow, "created_ns").into_iter().flatten();
        let each = created.zip(rows.of("flow", flow, "delivered_ns"));
        // Of the packets from before the move that come after it.
        each.filter(|(at, to)| *at < MOVE && to.is_some_and(|to| to >= MOVE))
            .filter_map(|(_, to)| to)
            .max()
            .unwrap()
    };
    // 50 packets take 40 ms; alone, those of the second take about 20 ms, as do those of the first without them.
    let millis = |left, flow| (after(left, flow) - MOVE) / 1_000_000;
    assert!((55..=66).contains(&millis("drain", "first")), "{}", millis("drain", "first"));
    assert!((55..=66).contains(&millis("drain", "second")), "{}", millis("drain", "second"));
    assert!((35..=48).contains(&millis("forward", "first")), "{}", millis("forward", "first"));
    assert!((35..=48).contains(&millis("forward", "second")), "{}", millis("forward", "second"));
}

/// A link in an outage waits by itself: packets of the other one pass.
#[test]
fn an_outage_of_one_link_does_not_hold_up_the_other() {
    let sky = format!("{QUEUE}\noutage = \"200 ms\"");
    let outcome = run(&scenario(&chain(&sky, ["rate = \"4 Mbps\""; 2])), 1);
    assert_accounted(&outcome.summary);
    let rows = table(&outcome, Table::Messages);
    let delays = |flow: &str, from: i64, to: i64| {
        let created = rows.of("flow", flow, "created_ns").into_iter().flatten();
        let each = created.zip(rows.of("flow", flow, "delivered_ns"));
        let within = each.filter(move |(at, _)| (from..to).contains(at));
        within.filter_map(|(at, to)| Some(to? - at)).collect::<Vec<_>>()
    };
    // The first link moves to the second's satellite, and cannot use it for 200 ms.
    let outage = SHARED + 200_000_000;
    let before = delays("second", SHARED - SECOND, SHARED);
    let during = delays("second", SHARED, outage);
    let longest = |delays: &[i64]| *delays.iter().max().unwrap();
    assert!(during.len() > 100 && longest(&during) - longest(&before) < 10_000);
    let waited = delays("first", SHARED, outage);
    assert!(longest(&waited) > 200_000_000 && waited.iter().all(|delay| *delay > 20_000_000));
    // 4 Mbit/s for 200 ms are 102 packets, 50 of which have room.
    assert!((50..=51).contains(&waited.len()), "{}", waited.len());
}

#[test]
fn queues_appear_under_the_names_of_satellites_that_serve() {
    let outcome = run(&scenario(&chain(QUEUE, FULL)), 1);
    let rows = table(&outcome, Table::Queues);
    let backlog = |name: &str, second: i64| {
        let times = rows.of("link", name, "t_ns").into_iter().flatten();
        let mut each = times.zip(rows.of("link", name, "backlog_packets"));
        each.find(|(at, _)| *at == second * SECOND).and_then(|(_, packets)| packets)
    };
    for second in [10, 20, 30] {
        assert!(backlog("chain-0/there", second) >= Some(48));
    }
    assert_eq!(backlog("chain-0/there", 45), None, "it serves nobody any more");
    assert_eq!(backlog("chain-3/there", 45), None, "nor yet");
    // The shared queue is what both links have in it.
    let [one, two] = ["first/terminal->one", "second/terminal->two"];
    let both = backlog(one, 45).unwrap() + backlog(two, 45).unwrap();
    assert_eq!(backlog("chain-1/there", 45), Some(both));
    assert!(both >= 48);
}

/// The rate of a path that forecasts tell is that of its link, undivided.
#[test]
fn the_bottleneck_is_what_one_link_alone_would_get() {
    for (sky, rate) in [(QUEUE, 10_000_000), ("", 5_000_000)] {
        let outcome = run(&scenario(&chain(sky, ["rate = \"1 Mbps\""; 2])), 1);
        let rows = table(&outcome, Table::Paths);
        let times = rows.of("flow", "first", "t_ns").into_iter().flatten();
        let rates = times.zip(rows.of("flow", "first", "bottleneck_bps"));
        let during = rates.filter(|(at, _)| (41 * SECOND..55 * SECOND).contains(at));
        assert!(during.clone().count() > 100);
        assert!(during.into_iter().all(|(_, bps)| bps == Some(rate)));
    }
}

/// Over seeds, handovers at random times and of every kind: every packet is delivered or dropped once.
#[test]
fn nothing_is_lost_or_doubled_over_random_handovers() {
    let queues = [
        "\"fifo\"",
        "{ kind = \"fifo\", limit = \"9 packets\" }",
        "{ kind = \"cake\", limit = \"30 kB\" }",
        "{ kind = \"fq_codel\", limit = \"40 packets\" }",
        "{ kind = \"red\", limit = \"60 kB\" }",
    ];
    let gaps = ["", "outage = \"70 ms\"", "overlap = \"90 ms\"", "outage = \"900 ms\""];
    let lefts = ["deliver", "drain", "drop", "forward"];
    let policies = ["starlink", "highest", "closest", "least_loaded"];
    for seed in 0..48usize {
        let (queue, gap) = (queues[seed % 5], gaps[seed % 4]);
        let (left, policy) = (lefts[(seed / 4) % 4], policies[(seed / 3) % 4]);
        let every = if policy == "starlink" { "" } else { "reconfigure_every = \"3 s\"" };
        let mut text = format!(
            "name = \"random\"\nduration = \"35 s\"\nuntil = \"drained\"\n\
             nodes = {{ terminal = {{}}, a = {{}}, b = {{}}, c = {{}} }}\n[constellation]\n{}\npolicy = \"{policy}\"\n\
             old_packets = \"{left}\"\n{gap}\n{every}\nsatellite.queue = {queue}\n",
            VAN_SKY.replace("terminals.van", "terminals.other = { latitude = \"46 deg\", longitude = \"9 deg\" }\n    terminals.van")
        );
        for (index, server) in ["a", "b", "c"].into_iter().enumerate() {
            let terminal = if index == 2 { "other" } else { "van" };
            writeln!(
                text,
                "[links.{server}]\nbetween = [\"terminal\", \"{server}\"]\nconstellation.terminal = \"{terminal}\"\n\
                 rate = \"{} Mbps\"\ndelay = \"{} ms\"\nloss = {{ kind = \"bernoulli\", probability = 0.01 }}\n\
                 [flows.{server}]\ntransport = \"udp\"\nfrom = \"terminal\"\nto = \"{server}\"\n\
                 source = {{ kind = \"poisson\", rate = \"2 Mbps\", size = \"600 B\" }}",
                3 + index, 5 * index
            )
            .unwrap();
        }
        let summary = run(&scenario(&text), seed as u64).summary;
        assert_accounted(&summary);
        assert!(summary.satellites.iter().filter(|it| it.sent_packets > 0).count() >= 2, "{text}");
    }
}

/// Rates far apart, a tiny queue, and other transports over it.
#[test]
fn connections_complete_over_shared_satellites() {
    let text = chain("satellite.queue = { kind = \"fifo\", limit = \"30 packets\" }\nold_packets = \"forward\"\noutage = \"30 ms\"", FULL)
        .replace("transport = \"udp\"", "transport = \"quic\"")
        .replace("source = { kind = \"cbr\", size = \"972 B\", rate = \"12 Mbps\"", "source = { kind = \"bulk\", size = \"20 MB\"")
        .replace(", offset = \"321 us\"", "");
    let summary = summary(
        &text.replace("duration = \"80 s\"", "duration = \"80 s\"\ndrain_limit = \"100 s\""),
    );
    for flow in &summary.flows {
        assert!(flow.completion_s.is_some(), "{}", flow.name);
    }
    assert!(
        satellite(&summary, "chain-1/back").sent_packets > 1_000,
        "acknowledgements share it too"
    );
}

/// Two links of a van: together they get C, as both choose the highest satellite, or 2 C apart.
#[test]
fn links_apart_get_a_satellite_each() {
    let both = |apart: &str| {
        let mut text = format!(
            "name = \"apart\"\nduration = \"30 s\"\nnodes = {{ van = {{}}, one = {{}}, two = {{}} }}\n\
             [constellation]\n{}\npolicy = \"highest\"\n{QUEUE}\nold_packets = \"forward\"\n",
            VAN_SKY.replace("\"11.343 deg\" }", &format!("\"11.343 deg\"{apart} }}"))
        );
        for server in ["one", "two"] {
            writeln!(
                text,
                "[links.{server}]\nbetween = [\"van\", \"{server}\"]\nconstellation.terminal = \"van\"\n\
                 rate = \"10 Mbps\"\n[flows.{server}]\ntransport = \"udp\"\nfrom = \"van\"\nto = \"{server}\"\n\
                 source = {{ kind = \"cbr\", size = \"972 B\", rate = \"12 Mbps\" }}"
            )
            .unwrap();
        }
        let outcome = run(&scenario(&text), 1);
        let flows = ["one", "two"].map(|flow| arrived(&outcome, flow, SECOND, 30 * SECOND));
        flows[0] + flows[1]
    };
    // Packets that a satellite left behind go to the next one. Delays over satellites differ by some ms.
    assert!(both("").abs_diff(29 * 1_250) < 20, "{}", both(""));
    assert!(both(", apart = true").abs_diff(2 * 29 * 1_250) < 20, "{}", both(", apart = true"));
}
