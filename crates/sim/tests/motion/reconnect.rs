//! TCP flows that replace a dead connection, in a network.

use crate::common::{one_link, run, scenario, table};
use leobench_sim::Outcome;
use leobench_sim::record::Table;

/// A transfer over a link that is down from 1 s to 11 s.
fn interrupted(flow: &str) -> Outcome {
    let link = r#"
        delay = "10 ms"
        queue = { kind = "fifo", limit = "50 packets" }
        channel = { kind = "schedule", steps = [{ at = "0 s", rate = "10 Mbps" },
            { at = "1 s", up = false }, { at = "11 s", up = true }] }
    "#;
    let run_keys = r#"
        duration = "20 s"
        until = "drained"
    "#;
    let flow = format!(
        r#"transport = "tcp"
           source = {{ kind = "bulk", size = "5 MB" }}
           {flow}"#
    );
    run(&scenario(&one_link(run_keys, link, &flow)), 1)
}

/// The times of one kind of events of an end, in seconds.
fn times(outcome: &Outcome, kind: &str, subject: &str) -> Vec<f64> {
    let events = table(outcome, Table::Events);
    let (kinds, subjects) = (events.texts("kind"), events.texts("subject"));
    let rows = kinds.iter().zip(&subjects).zip(events.integers("t_ns"));
    let rows = rows.filter(|((of, end), _)| *of == kind && *end == subject);
    rows.map(|(_, nanos)| nanos as f64 / 1e9).collect()
}

#[test]
fn a_sender_connects_anew_until_the_outage_ends() {
    for resume in [true, false] {
        let flow = format!(r#"reconnect = {{ after = "3 s", resume = {resume} }}"#);
        let outcome = interrupted(&flow);
        let flow = &outcome.summary.flows[0];
        assert_eq!((flow.undelivered_messages, &flow.lost), (0, &None));
        // The last acknowledgement is up to 0.2 s old when the link goes down; every handshake has 3 s.
        let lost = times(&outcome, "lost", "main/sender");
        assert_eq!(lost.len(), 3, "{lost:?}");
        for (at, expected) in lost.iter().zip([4.0, 7.0, 10.0]) {
            assert!((expected..expected + 0.3).contains(at), "{lost:?}");
        }
        assert_eq!(times(&outcome, "reconnecting", "main/sender"), lost);
        assert_eq!(times(&outcome, "established", "main/sender").len(), 2);
        assert_eq!(times(&outcome, "established", "main/receiver").len(), 2);
        let replaced = times(&outcome, "lost", "main/receiver");
        assert!(replaced.len() == 1 && replaced[0] > 11.0, "{replaced:?}");
        // 5 MB take 4 s, of which almost one had passed when the link went down.
        let rest = flow.completion_s.unwrap() - replaced[0];
        let expected = if resume { 3.1..3.6 } else { 4.1..4.6 };
        assert!(expected.contains(&rest), "{resume}: {rest}");
        let repeated = flow.retransmitted_bytes;
        assert_eq!(repeated > 500_000, !resume, "{repeated}");
    }
}

#[test]
fn a_receiver_that_opens_the_connection_does_not_notice_an_outage() {
    let outcome = interrupted("opened_by = \"to\"\nreconnect = { after = \"3 s\" }");
    assert!(times(&outcome, "lost", "main/receiver").is_empty());
    let plain = interrupted("opened_by = \"to\"");
    let completion = |outcome: &Outcome| outcome.summary.flows[0].completion_s.unwrap();
    assert!((completion(&outcome) - completion(&plain)).abs() < 1e-12);
}

#[test]
fn flows_that_reconnect_do_not_disturb_each_other() {
    let text = r#"
        name = "two"
        duration = "20 s"
        until = "drained"
        nodes = { a = {}, b = {} }
        [links.path]
        between = ["a", "b"]
        delay = "10 ms"
        channel = { kind = "schedule", steps = [{ at = "0 s", rate = "10 Mbps" },
            { at = "1 s", up = false }, { at = "11 s", up = true }] }
        [flows.one]
        transport = "tcp"
        from = "a"
        to = "b"
        source = { kind = "bulk", size = "3 MB" }
        reconnect = { after = "1 s" }
        [flows.two]
        transport = { kind = "tcp", tls = true }
        from = "a"
        to = "b"
        source = { kind = "bulk", size = "3 MB" }
        reconnect = { after = "1 s" }
    "#;
    let outcome = run(&scenario(text), 1);
    for flow in &outcome.summary.flows {
        assert_eq!(flow.undelivered_messages, 0, "{}", flow.name);
        let lost = times(&outcome, "lost", &format!("{}/sender", flow.name)).len();
        assert!((9..=11).contains(&lost), "{}: {lost}", flow.name);
    }
}
