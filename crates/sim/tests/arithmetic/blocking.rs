//! An application whose calls block against one with a buffer: the first is slowed down, the second falls behind.

use crate::common::{one_link, run, scenario, table};
use leobench_sim::Outcome;
use leobench_sim::record::Table;

/// Ten seconds of messages of 1,000 bytes at `rate` into a link of 5 Mbit/s and a round trip of 40 ms.
fn overload(application: &str, rate: &str) -> Outcome {
    let flow = format!(
        "transport = \"quic\"\napplication = \"{application}\"\n\
         source = {{ kind = \"cbr\", rate = \"{rate}\", size = \"1000 B\" }}"
    );
    let link = r#"
        rate = "5 Mbps"
        delay = "20 ms"
        queue = { kind = "fifo", limit = "40 packets" }"#;
    run(&scenario(&one_link("duration = \"10 s\"\nuntil = \"drained\"", link, &flow)), 1)
}

/// Most messages that waited at once with no byte of theirs sent, the one just written included.
fn most_waiting(outcome: &Outcome) -> usize {
    let messages = table(outcome, Table::Messages);
    let (created, sent) = (messages.integers("created_ns"), messages.integers("first_sent_ns"));
    let mut most = 0;
    let mut front = 0;
    for (number, now) in created.iter().enumerate() {
        while front < number && sent[front] <= *now {
            front += 1;
        }
        most = most.max(number + 1 - front);
    }
    most
}

#[test]
fn an_application_that_blocks_is_slowed_down_to_the_link() {
    let [blocking, buffered] =
        ["blocking", "buffered"].map(|application| overload(application, "20 Mbps"));
    let [one, other] = [&blocking, &buffered].map(|outcome| &outcome.summary.flows[0]);
    assert_eq!(other.messages, 25_000, "20 Mbit/s for 10 s");
    // A second packet's worth is never waiting, so packets may leave partly filled: at least 1,000 of the 1,219 bytes.
    let delivered = one.messages as f64 * 8_000.0 / 10.0;
    let (least, most) = (5e6 * 1_000.0 / 1_061.0, 5e6 * 1_219.0 / 1_280.0);
    assert!((0.98 * least..1.01 * most).contains(&delivered), "{delivered} bit/s");
    assert_eq!((one.undelivered_messages, other.undelivered_messages), (0, 0));
    // What is waiting: a packet's worth of 1,252 bytes at most, so one whole message at most, and the one being written.
    assert_eq!(most_waiting(&blocking), 2);
    assert!(most_waiting(&buffered) > 15_000);
    let longest = blocking.summary.flows[0].delay_ms.max.unwrap();
    assert!(longest < 400.0, "{longest} ms");
    assert!(other.delay_ms.max.unwrap() > 25_000.0, "15 MB more than the link carries in time");
}

#[test]
fn below_the_rate_of_the_link_nothing_blocks() {
    let [blocking, buffered] =
        ["blocking", "buffered"].map(|application| overload(application, "2 Mbps"));
    let steady = |outcome: &Outcome| {
        let created = table(outcome, Table::Messages).integers("created_ns");
        // Before the handshake is done, calls block: after it, every 4 ms to the nanosecond.
        let gaps = created.windows(2).skip(20).map(|pair| pair[1] - pair[0]);
        gaps.into_iter().all(|gap| gap == 4_000_000)
    };
    assert!(steady(&blocking) && steady(&buffered));
    let [one, other] = [&blocking, &buffered].map(|outcome| outcome.summary.flows[0].messages);
    // The handshake takes a round trip of 40 ms and its bytes: what would have been written meanwhile is not.
    assert_eq!(other, 2_500);
    assert!((2_480..2_495).contains(&one), "{one} messages");
}

/// Each stream's source is a thread of its own: one that is held up leaves the other alone.
#[test]
fn a_stream_that_blocks_does_not_hold_up_another() {
    let flow = r#"
        transport = "quic"
        application = "blocking"
        [[flows.main.streams]]
        name = "greedy"
        source = { kind = "cbr", rate = "50 Mbps", size = "1000 B" }
        [[flows.main.streams]]
        name = "modest"
        source = { kind = "cbr", rate = "80 kbps", size = "100 B" }
    "#;
    let link =
        "rate = \"5 Mbps\"\ndelay = \"5 ms\"\nqueue = { kind = \"fifo\", limit = \"20 packets\" }";
    let outcome = run(&scenario(&one_link("duration = \"10 s\"", link, flow)), 1);
    let [greedy, modest] = [0, 1].map(|stream| outcome.summary.flows[0].streams[stream].messages);
    assert_eq!(modest, 1_000, "one every 10 ms");
    assert!((4_500..6_000).contains(&greedy), "{greedy} of 62,500");
}
