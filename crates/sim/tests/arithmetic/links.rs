//! Runs against arithmetic: what a link must carry, how long a packet must take, and when a run is over.

use std::fmt::Write as _;

use crate::common::{one_link, run, scenario, summary, table};
use leobench_sim::record::Table;

/// Share of a full packet of 1,252 bytes of UDP payload that is application data: less short header (1 + 8 + 2), tag
/// (16) and STREAM frame header (1 + 1 + 4), out of payload and 28 bytes of IPv4 and UDP headers.
const SHARE: f64 = (1_252 - 27 - 6) as f64 / (1_252 + 28) as f64;

#[test]
fn a_bulk_transfer_fills_a_steady_link() {
    let summary = summary(&one_link(
        r#"
        duration = "20 s"
        warm_up = "2 s"
        "#,
        r#"
        rate = "45 Mbps"
        delay = "20 ms"
        queue = { kind = "fifo", limit = "200 packets" }
        "#,
        r#"
        transport = "quic"
        source = { kind = "bulk", size = "1000 GB" }
        "#,
    ));
    let goodput = summary.flows[0].goodput_bps.unwrap();
    assert!((goodput / (45e6 * SHARE) - 1.0).abs() < 0.01, "goodput {goodput}");
    let link = &summary.links[0];
    let utilisation = link.utilisation.unwrap();
    // A packet counts when its transmission ends: the one on the wire at the end of the warm-up counts as a whole.
    let packet = 1_280.0 / (45e6 / 8.0 * 18.0);
    assert!((0.99..=1.0 + packet).contains(&utilisation), "utilisation {utilisation}");
    assert!((link.mean_rate_bps.unwrap() - 45e6).abs() < 1.0, "{:?}", link.mean_rate_bps);
    // What the sender missed is what the queue dropped: nothing else loses or reorders here.
    let flow = &summary.flows[0];
    assert_eq!((flow.timeouts, flow.spurious_losses), (0, 0));
    assert!(
        flow.lost_packets.abs_diff(link.dropped_packets.of("queue")) <= 400,
        "{flow:?} {link:?}"
    );
}

/// A message of `size` bytes from a to b over UDP, with these links; its delay in nanoseconds.
fn delay_of_one_packet(nodes: &str, links: &str, size: u64) -> i64 {
    let outcome = run(
        &scenario(&format!(
            r#"
            name = "one"
            duration = "1 s"
            until = "drained"
            nodes = {{ {nodes} }}
            {links}
            [flows.main]
            transport = "udp"
            from = "a"
            to = "b"
            start = "7 ms"
            source = {{ kind = "bulk", size = "{size} B" }}
            "#
        )),
        1,
    );
    let messages = table(&outcome, Table::Messages);
    assert_eq!(messages.integers("size_bytes"), [size as i64]);
    assert_eq!(messages.integers("created_ns"), [7_000_000]);
    assert_eq!(messages.integers("first_sent_ns"), [7_000_000]);
    let delivered = messages.integers("delivered_ns")[0];
    assert!((outcome.summary.virtual_s * 1e9 - delivered as f64).abs() < 0.5);
    assert_eq!(outcome.summary.packets, 1);
    delivered - 7_000_000
}

#[test]
fn a_packet_takes_its_serialisation_and_the_propagation() {
    let links = r#"links.path = { between = ["a", "b"], rate = "45 Mbps", delay = "20 ms" }"#;
    // (1,000 + 28) bytes at 45 Mbit/s are 182,755.6 ns; time is whole nanoseconds, rounded down.
    assert_eq!(delay_of_one_packet("a = {}, b = {}", links, 1_000), 20_182_755);
    let framed = r#"
    [links.path]
    between = ["b", "a"]
    rate = "8 Mbps"
    delay = "20 ms"
    backward = { delay = "5 ms" }
    overhead = "-28 B"
    "#;
    assert_eq!(delay_of_one_packet("a = {}, b = {}", framed, 1_000), 5_000_000 + 1_000_000);
}

#[test]
fn over_several_links_a_packet_is_stored_and_forwarded() {
    let links = r#"
    links.first = { between = ["a", "x"], rate = "10 Mbps", delay = "1 ms" }
    links.second = { between = ["x", "y"], rate = "1 Gbps", delay = "30 ms" }
    links.third = { between = ["b", "y"], rate = "2 Mbps", delay = "123 us", overhead = "14 B" }
    "#;
    let delay = delay_of_one_packet("a = {}, x = {}, y = {}, b = {}", links, 472);
    // 500 bytes on the first two links, 514 on the third.
    let serialisation = 400_000 + 4_000 + 2_056_000;
    assert_eq!(delay, serialisation + 1_000_000 + 30_000_000 + 123_000);
}

#[test]
fn packets_back_to_back_do_not_drift() {
    let outcome = run(
        &scenario(&one_link(
            r#"
            duration = "1 s"
            until = "drained"
            "#,
            r#"
            rate = "45 Mbps"
            delay = "20 ms"
            "#,
            r#"
            transport = { kind = "udp", payload = "1000 B" }
            source = { kind = "bulk", size = "1 MB" }
            "#,
        )),
        1,
    );
    let delivered = table(&outcome, Table::Messages).integers("delivered_ns");
    // 1,000 packets of 1,028 bytes at 45 Mbit/s: 182,755,555.6 ns, not 1,000 times 182,755.
    assert_eq!(delivered, [20_000_000 + 182_755_555]);
}

#[test]
fn a_saturated_trace_delivers_its_opportunities() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("uneven.mahimahi");
    // 5 opportunities in 4 ms, then a gap; the trace repeats every 20 ms.
    let mut text = String::new();
    for at in [1, 1, 2, 4, 4, 11, 13, 20] {
        writeln!(text, "{at}").unwrap();
    }
    std::fs::write(&file, text).unwrap();
    for (payload, opportunities) in [(1_472, 8 * 50), (500, 8 * 50)] {
        let summary = summary(&one_link(
            r#"duration = "1 s""#,
            &format!(
                r#"
                channel = {{ kind = "trace", file = "{}" }}
                queue = {{ kind = "fifo", limit = "20 packets" }}
                "#,
                file.display()
            ),
            &format!(
                r#"
                transport = {{ kind = "udp", payload = "{payload} B" }}
                source = {{ kind = "cbr", rate = "30 Mbps", size = "{payload} B" }}
                "#
            ),
        ));
        let link = &summary.links[0];
        let offered = opportunities * 1_500;
        let delivered = link.delivered_packets * (payload + 28);
        // Of the last opportunity a part may have gone into a packet that is not complete.
        assert!(
            (offered - payload - 28..=offered).contains(&delivered),
            "{delivered} of {offered}"
        );
        assert!((link.mean_rate_bps.unwrap() - offered as f64 * 8.0).abs() < 1.0, "{link:?}");
    }
}

/// A transfer of 10 kB over 50 ms each way at a rate that makes serialisation negligible; when the last byte arrived.
fn completion_of_a_short_transfer(opened_by: &str) -> f64 {
    completion_with(opened_by, "")
}

/// The same with more keys of the transport.
fn completion_with(opened_by: &str, keys: &str) -> f64 {
    let summary = summary(&one_link(
        r#"
        duration = "10 s"
        until = "drained"
        "#,
        r#"
        rate = "100 Gbps"
        delay = "50 ms"
        "#,
        &format!(
            r#"
            transport = {{ kind = "quic"{keys} }}
            opened_by = "{opened_by}"
            source = {{ kind = "bulk", size = "10 kB" }}
            "#
        ),
    ));
    let flow = &summary.flows[0];
    assert_eq!((flow.undelivered_messages, flow.lost_packets, flow.timeouts), (0, 0, 0));
    assert_eq!(Some(summary.virtual_s), flow.completion_s);
    flow.completion_s.unwrap()
}

#[test]
fn either_end_may_open_the_connection() {
    // 10 kB fit the initial window of 10 packets. A client that sends has its keys after a round trip and needs half
    // of one for the data; a server that sends waits for the client's Finished first, half a round trip more.
    assert!((completion_of_a_short_transfer("from") - 0.150).abs() < 0.001);
    assert!((completion_of_a_short_transfer("to") - 0.200).abs() < 0.001);
}

/// 0-RTT data saves the round trip of the handshake, and none if the server rejects it; a ticket alone saves none either.
#[test]
fn early_data_saves_a_round_trip() {
    for protection in ["null", "tls"] {
        for (zero_rtt, expected) in [("false", 0.150), ("true", 0.050), ("\"rejected\"", 0.150)] {
            let keys = format!(
                ", protection = \"{protection}\", resumption = true, zero_rtt = {zero_rtt}"
            );
            let took = completion_with("from", &keys);
            assert!((took - expected).abs() < 0.001, "{keys}: {took} s");
        }
    }
}

#[test]
fn a_transfer_ends_with_its_last_byte() {
    let outcome = run(
        &scenario(&one_link(
            r#"
            duration = "10 ms"
            until = "drained"
            "#,
            r#"
            rate = "20 Mbps"
            delay = "10 ms"
            queue = { kind = "fifo", limit = "40 packets" }
            "#,
            r#"
            transport = "quic"
            source = { kind = "bulk", size = "5 MB" }
            "#,
        )),
        1,
    );
    let flow = &outcome.summary.flows[0];
    assert_eq!(Some(outcome.summary.virtual_s), flow.completion_s);
    assert_eq!((flow.messages, flow.undelivered_messages), (1, 0));
    let delivered = table(&outcome, Table::Messages).integers("delivered_ns")[0];
    assert!((delivered as f64 / 1e9 - flow.completion_s.unwrap()).abs() < 1e-9);
    // Never faster than the link, and, after slow start, not much slower.
    let least = 5e6 * 8.0 / (20e6 * SHARE);
    let took = flow.completion_s.unwrap();
    assert!((least..1.15 * least).contains(&took), "{took} s, at least {least} s");
}

#[test]
fn a_run_that_cannot_drain_ends_at_its_limit() {
    let summary = summary(&one_link(
        r#"
        duration = "100 ms"
        until = "drained"
        drain_limit = "400 ms"
        "#,
        r#"
        rate = "1 Mbps"
        delay = "10 ms"
        "#,
        r#"
        transport = "quic"
        source = { kind = "bulk", size = "10 MB" }
        "#,
    ));
    assert!((summary.virtual_s - 0.5).abs() < 1e-12, "{}", summary.virtual_s);
    assert_eq!((summary.flows[0].undelivered_messages, summary.flows[0].completion_s), (1, None));
}

#[test]
fn the_warm_up_is_left_out() {
    // In the warm-up the link runs at 2 Mbit/s and the queue overflows; afterwards all is calm at 8.
    let summary = summary(&one_link(
        r#"
        duration = "10 s"
        warm_up = "5 s"
        "#,
        r#"
        channel = { kind = "schedule", steps = [{ at = "0 s", rate = "2 Mbps" }, { at = "4 s", rate = "8 Mbps" }] }
        delay = "5 ms"
        queue = { kind = "fifo", limit = "10 packets" }
        "#,
        r#"
        transport = "udp"
        source = { kind = "cbr", rate = "4 Mbps", size = "1000 B" }
        "#,
    ));
    let (flow, link) = (&summary.flows[0], &summary.links[0]);
    // 500 messages a second for 5 s, those created in the last 6 ms still under way.
    assert_eq!(flow.messages, 2_500);
    assert!((3..=4).contains(&flow.undelivered_messages), "{}", flow.undelivered_messages);
    assert!((flow.delay_ms.max.unwrap() - 6.028).abs() < 1e-6, "{:?}", flow.delay_ms);
    assert!((flow.goodput_bps.unwrap() / 4e6 - 1.0).abs() < 0.002, "{:?}", flow.goodput_bps);
    assert_eq!(flow.sent_packets, 2_500);
    assert_eq!(link.dropped_packets.of("queue"), 0);
    assert!((link.mean_rate_bps.unwrap() - 8e6).abs() < 1.0, "{link:?}");
    assert!((link.utilisation.unwrap() - 4.112 / 8.0).abs() < 0.001, "{link:?}");
    assert_eq!(link.queue_delay_ms.p95, Some(0.0));
}

#[test]
fn totals_of_a_connection_leave_the_warm_up_out() {
    let text = |warm_up: &str| {
        one_link(
            &format!(
                r#"
                duration = "4 s"
                warm_up = "{warm_up}"
                "#
            ),
            r#"
            channel = { kind = "schedule", steps = [{ at = "0 s", rate = "8 Mbps" },
            { at = "2 s", rate = "80 Mbps" }] }
            delay = "5 ms"
            queue = { kind = "fifo", limit = "20 packets" }
            "#,
            r#"
            transport = "quic"
            source = { kind = "cbr", rate = "20 Mbps", size = "1000 B" }
            "#,
        )
    };
    let whole = &summary(&text("0 s")).flows[0];
    let warm = &summary(&text("3 s")).flows[0];
    assert!(whole.lost_packets > 0 && whole.congestion_events > 0 && whole.retransmitted_bytes > 0);
    assert_eq!((warm.lost_packets, warm.congestion_events, warm.retransmitted_bytes), (0, 0, 0));
    assert!(0 < warm.sent_packets && 2 * warm.sent_packets < whole.sent_packets);
    assert_eq!(warm.paths[0].sent_packets, warm.sent_packets);
    assert_eq!(warm.paths[0].lost_packets, 0);
}

#[test]
fn a_flow_writes_between_its_start_and_its_stop() {
    let outcome = run(
        &scenario(
            r#"
            name = "times"
            duration = "5 s"
            nodes = { a = {}, b = {} }
            links.path = { between = ["a", "b"], rate = "10 Mbps", delay = "1 ms" }
            [flows.quic]
            transport = "quic"
            from = "a"
            to = "b"
            start = "1500 ms"
            stop = "2500 ms"
            source = { kind = "cbr", rate = "800 kbps", size = "1000 B" }
            [flows.udp]
            transport = "udp"
            from = "a"
            to = "b"
            start = "2 s"
            source = { kind = "cbr", rate = "800 kbps", size = "1000 B", offset = "3 ms" }
            "#,
        ),
        1,
    );
    let messages = table(&outcome, Table::Messages);
    let created = |flow| messages.of("flow", flow, "created_ns").into_iter().map(Option::unwrap);
    assert!(created("quic").eq((0..100).map(|k| 1_500_000_000 + k * 10_000_000)));
    assert!(created("udp").eq((0..300).map(|k| 2_003_000_000 + k * 10_000_000)));
    let packets = outcome.summary.flows[0].sent_packets;
    assert!((100..120).contains(&packets), "{packets} packets for 100 messages");
}

#[test]
fn messages_are_dealt_over_streams_in_turn() {
    let outcome = run(
        &scenario(&one_link(
            r#"
            duration = "1 s"
            until = "drained"
            "#,
            r#"
            rate = "10 Mbps"
            delay = "1 ms"
            "#,
            r#"
            transport = "quic"
            streams = 4
            source = { kind = "cbr", rate = "800 kbps", size = "1000 B" }
            "#,
        )),
        1,
    );
    let messages = table(&outcome, Table::Messages);
    for (index, stream) in ["s1", "s2", "s3", "s4"].into_iter().enumerate() {
        let created = messages.of("stream", stream, "created_ns");
        let expected = (0..25).map(|k| Some((4 * k + index as i64) * 10_000_000));
        assert!(created.into_iter().eq(expected), "{stream}");
    }
    let goodputs = outcome.summary.flows[0].streams.iter().map(|stream| stream.messages);
    assert!(goodputs.eq([25; 4]));
}

/// 20 kB at 100 Mbit/s and 20 ms round trip: the handshake takes 30 ms when the receiver opens, the first window leaves
/// at once, and the rest follows half a round trip and more later, paced by the round trip measured by then.
#[test]
fn a_short_transfer_is_not_paced_by_the_initial_guess() {
    let summary = summary(&one_link(
        r#"
        duration = "5 s"
        until = "drained"
        "#,
        r#"
        rate = "100 Mbps"
        delay = "10 ms"
        "#,
        r#"
        transport = "quic"
        opened_by = "to"
        source = { kind = "bulk", size = "20 kB" }
        "#,
    ));
    let completion = summary.flows[0].completion_s.unwrap();
    assert!((0.060..0.065).contains(&completion), "{completion} s");
}

#[test]
fn a_tcp_message_takes_a_handshake_and_what_its_segments_take() {
    // 45 Mbit/s, 20 ms: a SYN of 60 bytes with its IPv4 header (10,666.7 ns), its answer of as many, the third segment of 52
    // bytes (9,244.4 ns) and behind it the data, 52 bytes of headers each. Time is whole nanoseconds, the remainder of a
    // nanosecond carried while the link is busy.
    let delay = |transport: &str, size: u64| {
        let outcome = run(
            &scenario(&one_link(
                "duration = \"9 s\"\nuntil = \"drained\"",
                "rate = \"45 Mbps\"\ndelay = \"20 ms\"",
                &format!(
                    "transport = {transport}\nsource = {{ kind = \"bulk\", size = \"{size} B\" }}"
                ),
            )),
            1,
        );
        table(&outcome, Table::Messages).integers("delivered_ns")[0]
    };
    let nanos = |bytes: u64| bytes as f64 * 8.0 / 45e6 * 1e9;
    let expect = |found: i64, bytes: &[u64], propagations: f64| {
        let time: f64 = bytes.iter().map(|bytes| nanos(*bytes)).sum::<f64>() + propagations * 20e6;
        assert!((found as f64 - time).abs() <= bytes.len() as f64, "{found} ns, not {time}");
    };
    let tcp = "\"tcp\"";
    expect(delay(tcp, 1), &[60, 60, 52, 53], 3.0);
    expect(delay(tcp, 1_448), &[60, 60, 52, 1_500], 3.0);
    expect(delay(tcp, 14_480), &[60, 60, 52, 15_000], 3.0);
    // An eleventh segment waits for the first acknowledgement, of 52 bytes: another round trip.
    expect(delay(tcp, 14_481), &[60, 60, 52, 1_500, 52, 53], 5.0);
    // Without timestamps headers are 12 bytes shorter; the SYN is, too, but for padding.
    let bare = "{ kind = \"tcp\", timestamps = false }";
    expect(delay(bare, 100), &[52, 52, 40, 140], 3.0);
    // TLS: 305 bytes of ClientHello, its acknowledgement, 2,517 of the answer in two segments, its acknowledgement, and 58
    // of Finished in one segment with a record of 22 bytes more than the message.
    let tls = "{ kind = \"tcp\", tls = true }";
    let flights = [60, 60, 52, 52 + 305, 52, 2 * 52 + 2_517, 52, 52 + 58 + 122];
    expect(delay(tls, 100), &flights, 5.0);
}

#[test]
fn the_rate_of_links_is_known_of_a_run_that_ends_within_its_warm_up() {
    let summary = summary(&one_link(
        r#"
        duration = "20 s"
        warm_up = "10 s"
        until = "drained"
        "#,
        r#"
        rate = "8 Mbps"
        delay = "10 ms"
        "#,
        r#"
        transport = "udp"
        source = { kind = "bulk", size = "1000 B" }
        "#,
    ));
    assert!(summary.virtual_s < 10.0, "{}", summary.virtual_s);
    // Of so short a run, the bytes that fit into it are counted whole.
    let rate = summary.links[0].mean_rate_bps.unwrap();
    assert!((rate - 8e6).abs() < 8.0 / summary.virtual_s, "{rate}");
    assert_eq!(summary.links[0].delivered_packets, 1);
}
