//! Bad input to transports and schedulers.

use super::refusals::refused;
use super::{BASE, changed, load_text};

#[test]
fn acknowledgements() {
    let quic = "transport = \"quic\"";
    refused(&[
        (
            quic,
            "transport = { kind = \"quic\", ack_eliciting_threshold = -1 }",
            "flows.main.transport.ack_eliciting_threshold = -1: is not a valid number; allowed: a whole number from 0 to 65535",
        ),
        (
            quic,
            "transport = { kind = \"quic\", max_ack_delay = \"999 us\" }",
            "flows.main.transport.max_ack_delay = \"999 us\": is out of range; allowed: from 1 ms to below 16.384 s \
             (RFC 9000 section 18.2)",
        ),
        (
            quic,
            "transport = { kind = \"quic\", max_ack_delay = \"16384 ms\" }",
            "flows.main.transport.max_ack_delay = \"16384 ms\": is out of range; allowed: from 1 ms to below 16.384 s \
             (RFC 9000 section 18.2)",
        ),
        (
            quic,
            "transport = { kind = \"tcp\", ack_every = 0 }",
            "flows.main.transport.ack_every = 0: is not a valid number; allowed: a whole number from 1 to 65535",
        ),
    ]);
}

#[test]
fn several_paths() {
    let quic = "transport = \"quic\"";
    let over = |rest: &str| format!("transport = {{ kind = \"quic\", multipath = {{ {rest} }} }}");
    let at = "flows.main.transport.multipath";
    refused(&[
        (
            quic,
            &over("links = [\"wire\"]"),
            &format!(
                "{at}.links = [\"wire\"]: has too few links for several paths; allowed: two or more links of the node \
                 that opens the connection"
            ),
        ),
        (
            quic,
            &over("links = [\"wire\", \"wire\"]"),
            &format!(
                "{at}.links = [\"wire\", \"wire\"]: names a link more than once; allowed: each link once"
            ),
        ),
        (
            quic,
            &over("links = [\"wire\", \"radio\"]"),
            &format!(
                "{at}.links[1] = \"radio\": is not a link of `client`, which opens the connection; allowed: `wire`"
            ),
        ),
        (
            quic,
            &over("links = [\"wire\", \"radio\"], backup = [\"x\"]"),
            &format!(
                "{at}.backup = [\"x\"]: names a link that is not one of `links`; allowed: wire, radio"
            ),
        ),
        (
            quic,
            &over(
                "links = [\"wire\", \"wire2\"], scheduler = { kind = \"round_robin\", weights = [1, 2, 3] }",
            ),
            &format!(
                "{at}.scheduler.weights = [1, 2, 3]: has 3 weights, for 2 links; allowed: 2 whole numbers, one for each of \
                 `links`"
            ),
        ),
        (
            quic,
            &over("links = [\"wire\", \"wire2\"], manager = \"make_before_break\""),
            &format!(
                "{at}.manager = \"make_before_break\": needs forecasts of handovers; allowed: a flow with `forecast`, or \
                 `standby`"
            ),
        ),
        (
            quic,
            &over("links = [\"wire\", \"wire2\"], manager = \"full_mesh\""),
            &format!(
                "{at}.manager = \"full_mesh\": needs the addresses of the server; allowed: `peer_links` with links of the \
                 node that answers, or `per_interface`"
            ),
        ),
        (
            quic,
            &over("links = [\"a\", \"b\"], backup = [\"b\"], manager = \"standby\""),
            &format!(
                "{at}.backup = [\"b\"]: is not used by the path manager `standby`, which uses one path at a time; allowed: \
                 another order of `links`, and no `backup`"
            ),
        ),
        (
            quic,
            &over("links = [\"wire\", \"wire2\"], manager = { kind = \"standby\", after = 0 }"),
            &format!(
                "{at}.manager.after = 0: is not a valid number; allowed: a whole number from 1 to 100"
            ),
        ),
        (
            quic,
            "transport = { kind = \"quic\", stack = \"noq\", multipath = { links = [\"wire\", \"radio\"] } }",
            "flows.main.transport.multipath = { links = [\"wire\", \"radio\"] }: requires the stack `own`: `noq` \
             uses one path here; allowed: no `multipath`, or the stack `own`",
        ),
    ]);
}

/// A server with two links of its own, behind a router to which the client has two.
const MESH: &str = r#"
name = "mesh"
duration = "10 s"
nodes = { client = {}, router = {}, server = {} }
links.wire = { between = ["client", "router"], rate = "10 Mbps", delay = "5 ms" }
links.radio = { between = ["client", "router"], rate = "10 Mbps", delay = "15 ms" }
links.east = { between = ["router", "server"], rate = "50 Mbps", delay = "1 ms" }
links.west = { between = ["router", "server"], rate = "50 Mbps", delay = "2 ms" }
[flows.main]
transport = { kind = "quic", multipath = { links = ["wire", "radio"], peer_links = ["east", "west"], manager = "full_mesh" } }
from = "client"
to = "server"
source = "bulk"
"#;

#[test]
fn addresses_of_a_server() {
    assert!(load_text(MESH, &[]).is_ok());
    let at = "flows.main.transport.multipath.peer_links";
    for (from, to, problem) in [
        (
            "manager = \"full_mesh\"",
            "manager = \"per_interface\"",
            format!(
                "{at} = [\"east\", \"west\"]: is not used by the path manager `per_interface`; allowed: `full_mesh`, or no \
                 `peer_links`"
            ),
        ),
        (
            "[\"east\", \"west\"]",
            "[\"east\", \"radio\"]",
            format!(
                "{at}[1] = \"radio\": is not a link of `server`, which answers; allowed: `east`, `west`"
            ),
        ),
        (
            "[\"east\", \"west\"]",
            "[\"east\", \"east\"]",
            format!(
                "{at} = [\"east\", \"east\"]: names a link more than once; allowed: each link once"
            ),
        ),
    ] {
        let error = load_text(&MESH.replace(from, to), &[]).unwrap_err();
        assert!(error.contains(&problem), "{error}");
    }
}

#[test]
fn a_preferred_address() {
    let quic = "transport = \"quic\"";
    let key = "flows.main.transport.preferred_address";
    let prefers = |rest: &str| format!("transport = {{ kind = \"quic\", {rest} }}");
    refused(&[
        (
            quic,
            &prefers("preferred_address = \"radio\""),
            &format!(
                "{key} = \"radio\": is not a link of `server`, where the server is; allowed: `wire`"
            ),
        ),
        (
            quic,
            &prefers("preferred_address = \"wire\""),
            &format!(
                "{key} = \"wire\": is the only link of `server`; allowed: a server with two links, or no \
                 `preferred_address`"
            ),
        ),
        (
            quic,
            &prefers("preferred_address = \"wire\", multipath = { links = [\"wire\", \"radio\"] }"),
            &format!(
                "{key} = \"wire\": applies only to connections with one path; allowed: either `preferred_address` or \
                 `multipath`"
            ),
        ),
        (
            quic,
            &prefers("stack = \"noq\", preferred_address = \"wire\""),
            &format!(
                "{key} = \"wire\": requires the stack `own`: clients with `noq` do not migrate here; allowed: no \
                 `preferred_address`, or the stack `own`"
            ),
        ),
    ]);
}

#[test]
fn what_a_quic_stack_lacks() {
    let quic = "transport = \"quic\"";
    let own = |rest| format!("transport = {{ kind = \"quic\", stack = \"own\", {rest} }}");
    refused(&[
        (
            quic,
            "transport = { kind = \"quic\", stack = \"noq\", retry = true }",
            "flows.main.transport.retry = true: needs a Retry, which the stack `noq` does not send here; allowed: `false`, or the \
             stack `own`",
        ),
        (
            quic,
            "transport = { kind = \"quic\", stack = \"noq\", key_update = 1000 }",
            "flows.main.transport.key_update = 1000: requires the stack `own`: `noq` chooses its own times for key \
             updates; allowed: no `key_update`, or the stack `own`",
        ),
        (
            quic,
            "transport = { kind = \"quic\", stack = \"noq\", resumption = true, zero_rtt = true }",
            "flows.main.transport.resumption = true: requires the stack `own`: `noq` has no tickets here; allowed: `false`, or \
             the stack `own`",
        ),
        (
            quic,
            &own("zero_rtt = true"),
            "flows.main.transport.zero_rtt = true: requires `resumption`: only a client with a ticket has keys for 0-RTT data; \
             allowed: `false`, or `resumption = true`",
        ),
        (
            quic,
            &own("resumption = true, zero_rtt = \"refused\""),
            "flows.main.transport.zero_rtt = \"refused\": unknown word; allowed: `true`, `false` or `\"rejected\"`",
        ),
        (
            quic,
            &own("resumption = true, zero_rtt = 1"),
            "flows.main.transport.zero_rtt = 1: is an integer; allowed: `true`, `false` or `\"rejected\"`",
        ),
        (
            quic,
            &format!("{}\nopened_by = \"to\"", own("resumption = true, zero_rtt = true")),
            "flows.main.transport.zero_rtt = true: needs data of the end that opens the connection, which only answers here; \
             allowed: `false`, or `opened_by = \"from\"`",
        ),
        (
            quic,
            &own("key_update = 0"),
            "flows.main.transport.key_update = 0: is not a valid number; allowed: a whole number from 1 to 4294967295",
        ),
    ]);
    for keys in [
        "retry = true, key_update = 1000, zero_rtt = false",
        "resumption = true",
        "resumption = true, zero_rtt = true",
        "resumption = true, zero_rtt = \"rejected\", protection = \"tls\"",
    ] {
        load_text(&changed(quic, &own(keys)), &[]).unwrap();
    }
}

/// RFC 9959: what Careful Resume needs.
#[test]
fn careful_resumption() {
    let quic = "transport = \"quic\"";
    let place = "flows.main.transport";
    let case = |keys: &str, message: &str| {
        let flow = format!("transport = {{ kind = \"quic\", {keys} }}");
        refused(&[(quic, &flow, &format!("{place}.{message}"))]);
    };
    let after = "stack = \"own\", after_migration = \"careful_resume\"";
    let is = "after_migration = \"careful_resume\": is `careful_resume`, which";
    case(
        "stack = \"noq\", after_migration = \"careful_resume\"",
        &format!("{is} the stack `noq` lacks; allowed: `reset` or `keep`, or the stack `own`"),
    );
    case(
        &format!("{after}, pacing = false"),
        &format!("{is} needs pacing; allowed: `reset` or `keep`, or `pacing = true`"),
    );
    case(
        &format!("{after}, congestion = \"bbr\""),
        &format!(
            "{is} needs a congestion controller that sets its window from acknowledgements and losses; allowed: \
             `reset` or `keep`, or another `congestion` than `bbr`"
        ),
    );
    case(
        "stack = \"own\", careful_resume = { required = true }",
        "careful_resume = { required = true }: has no effect without `after_migration = \"careful_resume\"`; allowed: no \
         `careful_resume`, or `after_migration = \"careful_resume\"`",
    );
    case(
        &format!("{after}, careful_resume = {{ saved_cwnd = \"100 kB\" }}"),
        "careful_resume.saved_rtt: is missing; allowed: both `saved_cwnd` and `saved_rtt`, or neither",
    );
    case(
        &format!("{after}, careful_resume = {{ lifetime = \"0 s\" }}"),
        "careful_resume.lifetime = \"0 s\": is zero; allowed: a time above zero",
    );
    case(
        "stack = \"noq\", probe_after = 3",
        "probe_after = 3: requires the stack `own`: `noq` does not learn of other addresses here; allowed: no \
         `probe_after`, or the stack `own`",
    );
    let sound = format!(
        "transport = {{ kind = \"quic\", {after}, probe_after = 2, careful_resume = {{ saved_cwnd = \"100 kB\", saved_rtt = \"40 ms\", \
         max_jump = \"30 kB\", required = true }} }}"
    );
    load_text(&changed(quic, &sound), &[]).unwrap();
}

#[test]
fn initial_windows_have_an_upper_bound() {
    for controller in ["maco", "cubic", "bbr", "bbr3", "leocc"] {
        let value = format!("{{ kind = \"{controller}\", initial_window = 1048577 }}");
        let error = load_text(BASE, &[("flows.main.transport.congestion", &value)]).unwrap_err();
        assert!(error.contains("initial_window = 1048577: is not a valid number"), "{error}");
        assert!(error.ends_with(" to 1048576"), "{error}");
    }
}

#[test]
fn quic_of_our_own() {
    let quic = "transport = \"quic\"";
    let place = "flows.main.transport";
    let case = |key: &str, message: &str| {
        let flow = format!("transport = {{ kind = \"quic\", stack = \"own\", {key} }}");
        refused(&[(quic, &flow, message)]);
    };
    let payload = "is not a valid payload for QUIC; allowed: from 1.2 kB (RFC 9000 section 14.1) to 65.507 kB";
    for size in ["1199 B", "65508 B"] {
        let key = format!("payload = \"{size}\"");
        case(&key, &format!("{place}.{key}: {payload}"));
    }
    let window = "is zero, so nothing could be sent; allowed: a size above zero";
    for field in ["stream_window", "connection_window"] {
        let key = format!("{field} = \"0 B\"");
        case(&key, &format!("{place}.{key}: {window}"));
    }
    for (key, rest) in [
        ("protection = \"aes\"", "unknown word; allowed: `null`, `tls`; did you mean `tls`?"),
        ("initial_rtt = \"0 s\"", "is zero; allowed: a time above zero"),
        (
            "idle_timeout = \"0 s\"",
            "is zero; allowed: a time above zero, or no `idle_timeout` to disable it",
        ),
        (
            "ack_eliciting_threshold = 65536",
            "is not a valid number; allowed: a whole number from 0 to 65535",
        ),
        (
            "max_ack_delay = \"17 s\"",
            "is out of range; allowed: from 1 ms to below 16.384 s (RFC 9000 section 18.2)",
        ),
    ] {
        case(key, &format!("{place}.{key}: {rest}"));
    }
    let streams = "is not a number of streams; allowed: a number from 1 to 65535, or an array of tables with `source`";
    refused(&[
        (
            quic,
            "transport = { kind = \"quic\", stack = \"own\" }\nstreams = 65536",
            &format!("flows.main.streams = 65536: {streams}"),
        ),
        (
            quic,
            "transport = { kind = \"quic\", stack = \"quiche\" }",
            "flows.main.transport.stack = \"quiche\": unknown word; allowed: `own`, `noq`, or a table with `library`",
        ),
        (
            quic,
            "transport = { kind = \"quic\", stack = \"noq\", protection = \"tls\" }",
            "flows.main.transport.protection = \"tls\": is `tls`, which the stack `noq` lacks here; allowed: `null`, or the \
             stack `own`",
        ),
    ]);
}

#[test]
fn tcp() {
    let quic = "transport = \"quic\"";
    refused(&[
        (
            quic,
            "transport = \"tcp\"\nstreams = 3",
            "flows.main.streams = 3: a connection of `tcp` has a single stream; allowed: 1, a separate flow for \
             each stream, or the transport `quic`",
        ),
        (
            quic,
            "transport = { kind = \"tcp\", delayed_ack = \"500 ms\" }",
            "flows.main.transport.delayed_ack = \"500 ms\": is too long; allowed: a time below 500 ms",
        ),
        (
            quic,
            "transport = { kind = \"tcp\", min_rto = \"0 s\" }",
            "flows.main.transport.min_rto = \"0 s\": is zero; allowed: a time above zero",
        ),
        (
            quic,
            "transport = { kind = \"tcp\", receive_buffer = \"2 kB\" }",
            "flows.main.transport.receive_buffer = \"2 kB\": is too small; allowed: at least two segments, 2.896 kB",
        ),
        (
            quic,
            "transport = { kind = \"tcp\", send_buffer = \"1 kB\" }",
            "flows.main.transport.send_buffer = \"1 kB\": is too small; allowed: at least two segments, 2.896 kB",
        ),
        (
            quic,
            "transport = { kind = \"tcp\", notsent_lowat = \"1 B\" }",
            "flows.main.transport.notsent_lowat = \"1 B\": is too small; allowed: at least a segment, 1.448 kB",
        ),
    ]);
}

/// A coupled controller needs a transport that can have several paths; a connection that has one may use it.
#[test]
fn coupled_controllers() {
    let quic = "transport = \"quic\"";
    let place = "flows.main.transport.congestion";
    let alone = "`newreno`, `cubic`, `westwood`, `hybla`, `vegas`, `elastic`, `bbr`, `bbr3`";
    let others = format!("{alone}, `satcp`, `leocc`");
    for kind in ["lia", "olia", "balia", "wvegas"] {
        let is = format!("is `{kind}`, which couples the paths of a connection");
        refused(&[
            (
                quic,
                &format!("transport = {{ kind = \"tcp\", congestion = \"{kind}\" }}"),
                &format!(
                    "{place} = \"{kind}\": {is}: one of TCP has a single path; allowed: {others}, or the transport `quic`"
                ),
            ),
            (
                quic,
                &format!(
                    "transport = {{ kind = \"quic\", stack = \"noq\", congestion = {{ kind = \"{kind}\" }} }}"
                ),
                &format!(
                    "{place} = {{ kind = \"{kind}\" }}: {is}: `noq` uses one path here; allowed: {alone}, or the stack `own`"
                ),
            ),
        ]);
        let own = format!("transport = {{ kind = \"quic\", congestion = \"{kind}\" }}");
        load_text(&changed(quic, &own), &[]).unwrap();
    }
}

#[test]
fn controllers_that_use_forecasts() {
    let place = "flows.main.transport.congestion";
    refused(&[(
        "transport = \"quic\"",
        "transport = { kind = \"quic\", stack = \"noq\", congestion = \"leocc\" }",
        &format!(
            "{place} = \"leocc\": is `leocc`, which uses forecasts: `noq` does not pass them on here; allowed: `newreno`, `cubic`, \
             `westwood`, `hybla`, `vegas`, `elastic`, `bbr`, `bbr3`, or the stack `own`"
        ),
    )]);
    let grid =
        "transport = { kind = \"quic\", congestion = { kind = \"leocc\", offset = \"20 s\" } }";
    refused(&[(
        "transport = \"quic\"",
        grid,
        &format!("{place}.offset = \"20 s\": is too long; allowed: less than `every` (15 s)"),
    )]);
}

#[test]
fn schedulers() {
    let quic = "transport = \"quic\"";
    let flow = |scheduler: &str| {
        format!("transport = {{ kind = \"quic\", scheduler = {{ {scheduler} }} }}\nstreams = 2")
    };
    refused(&[
        (
            quic,
            &flow("kind = \"wfq\""),
            "flows.main.transport.scheduler.weights: is required but missing",
        ),
        (
            quic,
            &flow("kind = \"wfq\", weights = [1]"),
            "flows.main.transport.scheduler.weights = [1]: has 1 weight, for 2 streams; allowed: 2 numbers above 0",
        ),
        (
            quic,
            &flow("kind = \"wfq\", weights = [1, 0]"),
            "flows.main.transport.scheduler.weights[1] = 0: is out of range; allowed: a number above 0 up to 1000000000",
        ),
        (
            quic,
            &flow("kind = \"wfq\", weights = [1, -2]"),
            "flows.main.transport.scheduler.weights[1] = -2: is out of range; allowed: a number above 0 up to 1000000000",
        ),
        (
            quic,
            &flow("kind = \"stbp\", slot = \"50 ms\""),
            "flows.main.transport.scheduler.slot = \"50 ms\": applies only to batches; allowed: no `slot`, or `per = \
             \"batch\"`",
        ),
        (
            quic,
            &flow("kind = \"stbp\", per = \"batch\", slot = \"0 s\""),
            "flows.main.transport.scheduler.slot = \"0 s\": is zero; allowed: a time above zero",
        ),
    ]);
}

#[test]
fn reconnecting() {
    let tcp = |reconnect: &str| format!("transport = \"tcp\"\nreconnect = {reconnect}");
    let transport = "transport = \"quic\"";
    let only = "no `reconnect`, or the transport `tcp`";
    let place = "flows.main.reconnect";
    refused(&[
        (
            transport,
            "transport = \"quic\"\nreconnect = { after = \"3 s\" }",
            &format!(
                "{place} = {{ after = \"3 s\" }}: applies only to `tcp`: a QUIC connection survives a change of address; \
                 allowed: {only}"
            ),
        ),
        (
            transport,
            "transport = \"udp\"\nreconnect = { after = \"3 s\" }",
            &format!(
                "{place} = {{ after = \"3 s\" }}: applies only to `tcp`: `udp` has no connection; allowed: {only}"
            ),
        ),
        (transport, &tcp("{}"), &format!("{place}.after: is required but missing")),
        (
            transport,
            &tcp("{ after = \"0 s\" }"),
            &format!("{place}.after = \"0 s\": is zero; allowed: a time above zero"),
        ),
        (
            transport,
            &tcp("{ after = \"10 s\" }"),
            &format!("{place}.after = \"10 s\": is as long as the run; allowed: a time below 10 s"),
        ),
    ]);
    let drained = changed("duration = \"10 s\"", "duration = \"10 s\"\nuntil = \"drained\"");
    let drained = drained.replace(transport, &tcp("{ after = \"20 s\" }"));
    assert!(load_text(&drained, &[]).is_ok());
}
