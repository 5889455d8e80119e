//! Pages: what the objects mean together, and every kind of bad ones.

use leobench_base::SimDuration;

use super::refusals::{SOURCE, refused};
use super::*;

#[test]
fn objects_are_streams() {
    let objects = r#"objects = [{ name = "html", size = "1 B", urgency = 0 },
        { name = "image", size = "1 B", count = 3, incremental = true, deadline = "2 s" }]"#;
    let flow = &load_text(&changed(SOURCE, objects), &[]).unwrap().spec.flows[0].1;
    assert_eq!(flow.stream_names(), ["html", "image-1", "image-2", "image-3"]);
    let attributes = flow.attributes();
    assert_eq!((flow.stream_count(), attributes.len()), (4, 4));
    assert_eq!((attributes[0].urgency, attributes[0].incremental), (0, false));
    let image = attributes[3];
    assert_eq!((image.urgency, image.incremental), (3, true));
    assert_eq!(image.deadline.map(SimDuration::as_nanos), Some(2_000_000_000));
}

#[test]
fn pages() {
    let circle = r#"objects = [{ name = "a", size = "1 B", after = ["d"] }, { name = "b", size = "1 B", after = ["c"] },
        { name = "c", size = "1 B", after = ["e", "d"] }, { name = "d", size = "1 B", after = ["b"] },
        { name = "e", size = "1 B" }]"#;
    refused(&[
        (SOURCE, "objects = []", "flows.main.objects = []: is empty; allowed: at least one object"),
        (
            SOURCE,
            r#"objects = [{ name = "html", size = "1 B" }, { name = "a", size = "1 B", after = ["html", "htlm"] }]"#,
            "flows.main.objects[1].after[1] = \"htlm\": no such object; allowed: `html`, `a`; did you mean \
             `html`?",
        ),
        (
            SOURCE,
            circle,
            "flows.main.objects[1].after = [\"c\"]: waits for itself: `b` after `c` after `d` after `b`; allowed: \
             objects that do not wait for each other",
        ),
        (
            SOURCE,
            r#"objects = [{ name = "a", size = "1 B", after = ["a"] }]"#,
            "flows.main.objects[0].after = [\"a\"]: waits for itself: `a` after `a`; allowed: objects that do not wait \
             for each other",
        ),
        (
            SOURCE,
            r#"objects = [{ name = "a-2", size = "1 B" }, { name = "a", size = "1 B", count = 3 }]"#,
            "flows.main.objects[1].name = \"a\": object 0 is also named `a-2`; allowed: a different name for every \
             object",
        ),
        (
            SOURCE,
            r#"objects = [{ name = "a", size = "1 B" }, { name = "a", size = "1 B", count = 3 }]"#,
            "flows.main.objects[1].name = \"a\": object 0 is also named `a`; allowed: a different name for every object",
        ),
        (
            SOURCE,
            r#"objects = [{ name = "a b", size = "1 B" }]"#,
            "flows.main.objects[0].name = \"a b\": is not a valid name; allowed: letters from a to z, digits, `_` and `-`, up to 100 of them",
        ),
        (
            SOURCE,
            r#"objects = [{ name = "a", size = "1 B", count = 65000 }, { name = "b", size = "1 B", count = 536 }]"#,
            "flows.main.objects[1].count = 536: makes 65536 objects; allowed: at most 65535 in all",
        ),
    ]);
}

#[test]
fn objects() {
    let object = |lines: &str| format!(r#"objects = [{{ name = "a", {lines} }}]"#);
    let at = "flows.main.objects[0]";
    for (lines, message) in [
        ("request = \"1 B\"", "size: is required but missing"),
        ("size = \"0 B\"", "size = \"0 B\": is zero; allowed: from 1 B to 1000 GB"),
        (
            "size = \"1 B\", request = \"2000 GB\"",
            "request = \"2000 GB\": is too large; allowed: from 1 B to 1000 GB",
        ),
        (
            "size = \"1 B\", headers = \"20 kB\"",
            "headers = \"20 kB\": is too large; allowed: at most 16384 B, which a frame of HTTP/2 takes",
        ),
        (
            "size = \"1 B\", count = 0",
            "count = 0: is not a valid number; allowed: a whole number from 1 to 65535",
        ),
        (
            "size = \"1 B\", delay = \"1 s\"",
            "delay = \"1 s\": counts from the arrival of other objects, but `after` names none; allowed: `at` \
             instead, or also `after`",
        ),
        (
            "size = \"1 B\", at = \"1 s\", after = [\"a\"]",
            "at = \"1 s\": is given together with `after`; allowed: either `at` or `after`",
        ),
        (
            "size = \"1 B\", urgency = 8",
            "urgency = 8: is not a valid number; allowed: a whole number from 0 to 7",
        ),
        (
            "size = \"1 B\", deadline = \"0 s\"",
            "deadline = \"0 s\": is zero; allowed: a time above zero",
        ),
    ] {
        refused(&[(SOURCE, &object(lines), &format!("{at}.{message}"))]);
    }
}

#[test]
fn what_stands_beside_a_page() {
    let objects = r#"objects = [{ name = "a", size = "1 B" }]"#;
    let beside = "is given together with `objects`; allowed:";
    for (lines, message) in [
        (
            SOURCE,
            format!(
                "source = {{ kind = \"cbr\", rate = \"1 Mbps\", size = \"1000 B\" }}: {beside} either `objects`, or sources"
            ),
        ),
        ("streams = 2", format!("streams = 2: {beside} either `objects`, or sources")),
        (
            "application = \"blocking\"",
            format!(
                "application = \"blocking\": {beside} no `application`: objects are requested, not written"
            ),
        ),
        (
            "stop = \"5 s\"",
            format!("stop = \"5 s\": {beside} no `stop`: a page ends with its last object"),
        ),
    ] {
        refused(&[(SOURCE, &format!("{objects}\n{lines}"), &format!("flows.main.{message}"))]);
    }
    let udp = changed("transport = \"quic\"", "transport = \"udp\"");
    assert_eq!(
        load_text(&udp.replace(SOURCE, objects), &[]).unwrap_err(),
        "t.toml: flows.main.transport = \"udp\": has no connections, which a page needs; allowed: a transport with \
         connections, such as `quic`, or no `objects`"
    );
    let blocking = format!("{SOURCE}\napplication = \"blocking\"");
    assert_eq!(
        load_text(&udp.replace(SOURCE, &blocking), &[]).unwrap_err(),
        "t.toml: flows.main.application = \"blocking\": has no effect: the transport sends every message at once; \
         allowed: `buffered`"
    );
}

/// Over TCP, HTTP/2 puts all objects on one byte stream.
#[test]
fn objects_may_share_a_connection_of_tcp() {
    let tcp = changed("transport = \"quic\"", "transport = \"tcp\"");
    let objects = r#"objects = [{ name = "a", size = "1 B", count = 3 }]"#;
    let flow = &load_text(&tcp.replace(SOURCE, objects), &[]).unwrap().spec.flows[0].1;
    assert_eq!(flow.stream_names(), ["a-1", "a-2", "a-3"]);
    let anew = format!("{objects}\nreconnect = {{ after = \"1 s\" }}");
    assert_eq!(
        load_text(&tcp.replace(SOURCE, &anew), &[]).unwrap_err(),
        "t.toml: flows.main.reconnect = { after = \"1 s\" }: is given together with `objects`; allowed: no `reconnect`: \
         a page keeps its connection"
    );
    let real =
        tcp.replace(SOURCE, objects).replace("[nodes.client]", "engine = \"real\"\n[nodes.client]");
    let message = load_text(&real, &[]).unwrap_err();
    let end = ": cannot be asked for over the kernel's TCP; allowed: the transport `quic` in real time, or virtual time";
    assert!(
        message.starts_with("t.toml: flows.main.objects = ") && message.ends_with(end),
        "{message}"
    );
}

/// Versions of HTTP, and the scenarios that cannot have them.
#[test]
fn versions_of_http() {
    const OBJECTS: &str = r#"objects = [{ name = "a", size = "1 B", count = 3 }]"#;
    let load = |transport: &str, lines: &str| {
        let text = changed("transport = \"quic\"", &format!("transport = \"{transport}\""));
        load_text(&text.replace(SOURCE, lines), &[])
    };
    let counts = |lines: &str| {
        let spec = load("tcp", &format!("{OBJECTS}\nopened_by = \"to\"\n{lines}")).unwrap().spec;
        spec.flows[0].1.connections()
    };
    assert_eq!(counts(""), 1);
    assert_eq!(counts("http = \"2\""), 1);
    assert_eq!(counts("http = \"1.1\""), 6);
    assert_eq!(counts("http = \"1.1\"\nconnections = 2"), 2);
    assert_eq!([counts("http = 1.1"), counts("http = 2")], [6, 1]);
    let first = format!("{OBJECTS}\nopened_by = \"to\"\nhttp = \"1.1\"");
    let second = format!("{OBJECTS}\nhttp = \"2\"");
    for (transport, lines, message) in [
        (
            "quic",
            &first,
            "http = \"1.1\": applies only to `tcp`: pages over `quic` use HTTP/3; allowed: the transport `tcp`, or no `http`",
        ),
        (
            "quic",
            &second,
            "http = \"2\": applies only to `tcp`: pages over `quic` use HTTP/3; allowed: the transport `tcp`, or no `http`",
        ),
        (
            "tcp",
            &format!("{SOURCE}\nhttp = \"2\""),
            "http = \"2\": applies only to a page; allowed: `objects` or `har`, or no `http`",
        ),
        (
            "tcp",
            &format!("{OBJECTS}\nhttp = \"1.1\""),
            "http = \"1.1\": has the end that requests the page open connections, but the end that sends it opens them; \
             allowed: `opened_by = \"to\"`, or HTTP/2, `\"2\"`",
        ),
        (
            "tcp",
            &format!("{second}\nconnections = 2"),
            "connections = 2: applies only to HTTP/1.1; allowed: `http = \"1.1\"`, or no `connections`",
        ),
        (
            "tcp",
            &format!("{SOURCE}\nconnections = 2"),
            "connections = 2: applies only to HTTP/1.1; allowed: `http = \"1.1\"`, or no `connections`",
        ),
        (
            "tcp",
            &format!("{first}\nconnections = 0"),
            "connections = 0: is not a valid number; allowed: a whole number from 1 to 64",
        ),
        (
            "tcp",
            &format!("{first}\nconnections = 65"),
            "connections = 65: is not a valid number; allowed: a whole number from 1 to 64",
        ),
        (
            "tcp",
            &format!("{OBJECTS}\nhttp = \"3\""),
            "http = \"3\": is not a version of HTTP over TCP; allowed: `\"1.1\"` or `\"2\"`; for HTTP/3, the transport `quic`",
        ),
        (
            "tcp",
            &format!("{OBJECTS}\nhttp = 1.0"),
            "http = 1.0: is not a version of HTTP over TCP; allowed: `\"1.1\"` or `\"2\"`; for HTTP/3, the transport `quic`",
        ),
    ] {
        let refused = load(transport, lines).unwrap_err();
        assert_eq!(refused, format!("t.toml: flows.main.{message}"), "for {lines:?}");
    }
}
