//! Hints at where a scenario may have what stands in the wrong place.

use super::*;

/// The last words of the message on `BASE` with a value put in.
fn hint(place: &str, value: &str) -> String {
    let message = load_text(BASE, &[(place, value)]).expect_err(place);
    let (_, hint) = message.rsplit_once("; ").expect("a message has several parts");
    hint.to_owned()
}

#[test]
fn a_key_of_a_table_below_is_named() {
    let meant = "did you mean `flows.main.transport.congestion`?";
    assert_eq!(hint("flows.main.congestion", "cubic"), meant);
    assert_eq!(hint("flows.main.size", "1 MB"), "did you mean `flows.main.source.size`?");
    // The queue stands in no file that leaves it to its default.
    assert_eq!(hint("links.wire.limit", "15 packets"), "did you mean `links.wire.queue.limit`?");
    // A table of another kind has no such key.
    let udp = changed("transport = \"quic\"", "transport = \"udp\"\ncongestion = \"cubic\"");
    assert!(!load_text(&udp, &[]).unwrap_err().contains("`flows.main.transport"));
}

#[test]
fn an_override_of_nothing_is_told_where_there_is_something() {
    let meant = "did you mean `flows.main.transport.congestion`?";
    assert_eq!(hint("flows.main.congestion", ""), meant);
    assert_eq!(
        hint("flows.main.congestion.kind", "cubic"),
        "did you mean `flows.main.transport.congestion.kind`?"
    );
    assert_eq!(hint("links.lan.limit", "15 packets"), "allowed: `wire`");
}

#[test]
fn a_key_of_a_table_around_or_beside_is_named() {
    assert_eq!(
        hint("links.wire.queue", "{ kind = \"fifo\", mtu = \"1 kB\" }"),
        "did you mean `links.wire.mtu`?"
    );
    assert_eq!(
        hint("flows.main.source.scheduler", "rr"),
        "did you mean `flows.main.transport.scheduler`?"
    );
    // A word that is spelt alike in the same table comes first.
    assert_eq!(hint("links.wire.forward.rates", "1 Mbps"), "did you mean `rate`?");
    let below = BASE
        .replace("duration = \"10 s\"\n", "")
        .replace("[nodes.client]", "[nodes.client]\nduration = \"10 s\"");
    let message = load_text(&below, &[]).unwrap_err();
    let meant = "nodes.client.duration = \"10 s\": unknown key here; `duration` belongs above the first table of the file";
    assert!(message.contains(meant) && !message.contains("did you mean"), "{message}");
}

#[test]
fn a_python_class_is_told_where_it_may_be() {
    for class in [r#"{ python = "m:C" }"#, r#"{ kind = "python", python = "m:C" }"#] {
        let message = load_text(BASE, &[("links.wire.queue", class)]).expect_err(class);
        let start = format!(
            "t.toml: links.wire.queue = {class}: is a Python class, which is not allowed here"
        );
        assert!(message.starts_with(&start), "{message}");
        let end = "; Python classes are allowed only as `flows.NAME.transport.congestion`, \
                   `flows.NAME.transport.scheduler`, `flows.NAME.transport.multipath.scheduler`, \
                   `flows.NAME.video.adaptation`, `traffic.transport.congestion`, `traffic.transport.scheduler`, \
                   `traffic.transport.multipath.scheduler`, `traffic.mix.NAME.transport.congestion`, \
                   `traffic.mix.NAME.transport.scheduler`, `traffic.mix.NAME.transport.multipath.scheduler`";
        assert!(message.contains("`codel`") && message.ends_with(end), "{message}");
    }
}
