//! Every kind of bad input, with the message it gets.

use leobench_link::ChannelSpec;
use leobench_transport::CongestionSpec;

use super::*;

/// Loads `BASE` with each `old` replaced by `new`, and compares the message.
pub(super) fn refused(cases: &[(&str, &str, &str)]) {
    for (old, new, message) in cases {
        match load_text(&changed(old, new), &[]) {
            Ok(_) => panic!("{new:?} is accepted"),
            Err(found) => assert_eq!(found, format!("t.toml: {message}"), "for {new:?}"),
        }
    }
}

const RATE: &str = "rate = \"10 Mbps\"";
pub(super) const SOURCE: &str = r#"source = { kind = "cbr", rate = "1 Mbps", size = "1000 B" }"#;
const NODES: &str = "[nodes.client]\n[nodes.server]\n";

#[test]
fn keys_and_words() {
    refused(&[
        (
            "duration = ",
            "druation = ",
            "druation = \"10 s\": unknown key; allowed: `name`, `description`, `seed`, `duration`, `until`, `drain_limit`, \
             `engine`, `real`, `warm_up`, `record`, `limits`, `competition`, `nodes`, `links`, `flows`, `traffic`, `handovers`, \
             `constellation`; did you mean `duration`?",
        ),
        (
            "duration = \"10 s\"",
            "",
            "duration: is required but missing; allowed: a time above zero (optional only if programs run instead of \
             flows)",
        ),
        (
            "duration = ",
            "sed = 3\nduration = ",
            "sed = 3: unknown key; allowed: `name`, `description`, `seed`, `duration`, `until`, `drain_limit`, \
             `engine`, `real`, `warm_up`, `record`, `limits`, `competition`, `nodes`, `links`, `flows`, `traffic`, `handovers`, `constellation`; did you mean `seed`?",
        ),
        (
            "duration = ",
            "until = \"drain\"\nduration = ",
            "until = \"drain\": unknown word; allowed: `time`, `drained`; did you mean `drained`?",
        ),
    ]);
}

/// The list of what is allowed is the registry's.
#[test]
fn models() {
    let words = |kinds: &[&str]| format!("`{}`", kinds.join("`, `"));
    let channel = format!(
        "links.wire.channel = \"steddy\": unknown kind; allowed: {}; did you mean `steady`?",
        words(ChannelSpec::KINDS)
    );
    let controller = format!(
        "flows.main.transport.congestion = \"cubik\": unknown kind; allowed: {}; did you mean `cubic`?",
        words(CongestionSpec::KINDS)
    );
    let transport = "transport = { kind = \"quic\", congestion = \"cubik\" }";
    refused(&[
        (RATE, "channel = \"steddy\"", &channel),
        ("transport = \"quic\"", transport, &controller),
    ]);
}

#[test]
fn names() {
    refused(&[
        (
            "[nodes.client]",
            "[nodes.\"a b\"]",
            "nodes.\"a b\" = {}: \"a b\" is not a valid name; allowed: letters from a to z, digits, `_` and `-`, up to 100 of them",
        ),
        (
            "name = \"test\"",
            "name = \"../test\"",
            "name = \"../test\": cannot name a result folder; allowed: letters from a to z, digits, `_`, `-` and `.`, \
             not starting with `-` or `.`",
        ),
        (
            "name = \"test\"",
            "name = \"\"",
            "name = \"\": cannot name a result folder; allowed: letters from a to z, digits, `_`, `-` and `.`, \
             not starting with `-` or `.`",
        ),
        (NODES, "nodes = {}", "nodes = {}: is empty; allowed: at least one node"),
    ]);
    let none = format!("name = \"n\"\nduration = \"1 s\"\n{NODES}[links]\n[flows]\n");
    assert_eq!(
        load_text(&none, &[]).unwrap_err(),
        "t.toml: links = {}: is empty; allowed: at least one link"
    );
    let twice = BASE.replace("[flows.main]", "[nodes.client]\n[flows.main]");
    assert_eq!(
        load_text(&twice, &[]).unwrap_err(),
        "t.toml:12:8: the name \"client\" is given twice; allowed: a different name for each; in the line \
         `[nodes.client]`"
    );
}

#[test]
fn nodes_that_are_not_there() {
    refused(&[
        (
            "between = [\"client\", \"server\"]",
            "between = [\"client\", \"servr\"]",
            "links.wire.between[1] = \"servr\": no such node; allowed: `client`, `server`; did you mean \
             `server`?",
        ),
        (
            "between = [\"client\", \"server\"]",
            "between = [\"client\", \"client\"]",
            "links.wire.between = [\"client\", \"client\"]: joins a node to itself; allowed: two different nodes",
        ),
        (
            "from = \"client\"",
            "from = \"clint\"",
            "flows.main.from = \"clint\": no such node; allowed: `client`, `server`; did you mean `client`?",
        ),
        (
            "to = \"server\"",
            "to = \"client\"",
            "flows.main.to = \"client\": is the node where the flow starts; allowed: another node",
        ),
    ]);
    let lonely = changed("[nodes.client]", "[nodes.client]\n[nodes.island]")
        .replace("to = \"server\"", "to = \"island\"");
    assert_eq!(
        load_text(&lonely, &[]).unwrap_err(),
        "t.toml: flows.main.to = \"island\": no links lead from `client` to `island`; allowed: a node that the links \
         reach"
    );
}

#[test]
fn quantities() {
    let rates = "allowed: a rate with its unit (bps, kbps, Mbps, Gbps), such as \"45 Mbps\"";
    refused(&[
        (
            RATE,
            "rate = \"45 Mb\"",
            &format!(
                "links.wire.rate = \"45 Mb\": has an unknown unit \"Mb\"; {rates}; did you mean `45 Mbps`?"
            ),
        ),
        (
            RATE,
            "rate = 45",
            &format!("links.wire.rate = 45: is a bare number without a unit; {rates}"),
        ),
        (RATE, "rate = \"45\"", &format!("links.wire.rate = \"45\": has no unit; {rates}")),
        (
            RATE,
            "rate = \"-1 Mbps\"",
            &format!("links.wire.rate = \"-1 Mbps\": is negative; {rates}"),
        ),
        (
            RATE,
            "rate = \"1 Mbps\"\noverhead = 14",
            "links.wire.overhead = 14: is a bare number without a unit; allowed: a size with its unit, negative or \
             not, such as \"14 B\" or \"-28 B\"",
        ),
        (
            RATE,
            "rate = \"1 Mbps\"\nloss = { kind = \"bernoulli\", probability = 1.5 }",
            "links.wire.loss.probability = 1.5: is out of range; allowed: a number from 0 to 1",
        ),
        (
            RATE,
            "rate = \"1 Mbps\"\nmtu = \"0 B\"",
            "links.wire.mtu = \"0 B\": is zero; allowed: a size above zero",
        ),
    ]);
}

#[test]
fn times() {
    let duration = "duration = \"10 s\"";
    let above = "is zero; allowed: a time above zero";
    refused(&[
        (duration, "duration = \"0 s\"", &format!("duration = \"0 s\": {above}")),
        (
            duration,
            "duration = \"10 s\"\nuntil = \"drained\"\ndrain_limit = \"0 s\"",
            &format!("drain_limit = \"0 s\": {above}"),
        ),
        (
            duration,
            "duration = \"10 s\"\nrecord = { interval = \"0 ms\" }",
            &format!("record.interval = \"0 ms\": {above}"),
        ),
        (
            duration,
            "duration = \"10 s\"\nwarm_up = \"10 s\"",
            "warm_up = \"10 s\": leaves no time for the summary; allowed: a time below the duration, 10 s",
        ),
        (
            SOURCE,
            &format!("{SOURCE}\nstart = \"10 s\""),
            "flows.main.start = \"10 s\": is not before the end of the sources; allowed: a time below the duration, 10 s",
        ),
        (
            SOURCE,
            &format!("{SOURCE}\nstart = \"2 s\"\nstop = \"2 s\""),
            "flows.main.stop = \"2 s\": is not after the start; allowed: a time above 2 s",
        ),
    ]);
}

#[test]
fn channels() {
    let rows = "matrix = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.2], [0.1, 0.1, 0.8]], slot = \"100 ms\"";
    let rates = "rates = [\"4 Mbps\", \"2 Mbps\", \"1 Mbps\"]";
    refused(&[
        (
            RATE,
            "",
            "links.wire.channel: is required but missing; allowed: either `channel` or `rate`",
        ),
        (
            RATE,
            "rate = \"1 Mbps\"\nchannel = { kind = \"lms\", preset = \"ka\" }",
            "links.wire.rate = \"1 Mbps\": is given together with `channel`; allowed: either `channel` or `rate`",
        ),
        (
            RATE,
            "rate = \"0 bps\"",
            "links.wire.rate = \"0 bps\": is zero, so the link is never up; allowed: a rate above zero",
        ),
        (
            RATE,
            "channel = { kind = \"schedule\", steps = [{ at = \"0 s\", rate = \"1 Mbps\", up = false }] }",
            "links.wire.channel.steps = [{ at = \"0 s\", rate = \"1 Mbps\", up = false }]: is never up; allowed: a row \
             with a rate above zero that is not down",
        ),
        (
            RATE,
            "channel = { kind = \"schedule\", steps = [{ at = \"0 s\", rate = \"1 Mbps\" }, { at = \"2 s\" }, { at = \
             \"1 s\" }] }",
            "links.wire.channel.steps[2].at = \"1 s\": is 1 s after 2 s; allowed: a time after that of the previous row",
        ),
        (
            RATE,
            &format!("channel = {{ kind = \"lms\", {rates}, {rows} }}"),
            "links.wire.channel.matrix[1] = [0.1, 0.8, 0.2]: sums to 1.100000; \
             allowed: probabilities that sum to 1 within 0.0001",
        ),
    ]);
}

#[test]
fn directions() {
    let own = "forward = { rate = \"1 Mbps\" }";
    refused(&[
        (
            RATE,
            "rate = \"1 Mbps\"\nforward = { rate = \"1 Mbps\", rate_scale = 0.5 }",
            "links.wire.forward.rate_scale = 0.5: is given together with the direction's own channel; allowed: a \
             factor on the rate of the link's channel",
        ),
        (
            RATE,
            "rate = \"1 Mbps\"\nforward = { rate_scale = 0.0 }",
            "links.wire.forward.rate_scale = 0.0: is out of range; allowed: a number above 0, or a ratio of two such as \
             \"20/150\"",
        ),
        (
            RATE,
            "rate = \"1 Mbps\"\nforward = { rate = \"1 Mbps\", channel = { kind = \"lms\", preset = \"s\" } }",
            "links.wire.forward.rate = \"1 Mbps\": is given together with `channel`; allowed: either `channel` or `rate`",
        ),
        (
            RATE,
            own,
            "links.wire.channel: is required but missing; allowed: either `channel` or `rate`",
        ),
        (
            RATE,
            &format!("rate = \"1 Mbps\"\n{own}\nback{}", own.replace("for", "")),
            "links.wire.rate = \"1 Mbps\": is unused: both directions have their own channel; allowed: no such \
             key, or only one direction with its own channel, or a `rate_scale` for a direction, such as \"20/150\", \
             instead of its own channel",
        ),
        (
            RATE,
            &format!("{own}\nbackward = {{ rate = \"0 bps\" }}"),
            "links.wire.backward.rate = \"0 bps\": is zero, so the link is never up; allowed: a rate above zero",
        ),
    ]);
    load_text(&changed(RATE, &format!("{own}\nback{}", own.replace("for", ""))), &[]).unwrap();
}

#[test]
fn traces() {
    let folder = tempdir().unwrap();
    file(&folder, "good", b"1\n2\n");
    file(&folder, "empty", b"");
    file(&folder, "falling", b"5\n4\n");
    file(&folder, "words", b"1\ntwo\n");
    file(&folder, "binary", b"1\n\xff\n");
    let trace = |name: &str| {
        let channel = format!("channel = {{ kind = \"trace\", file = \"{name}\" }}");
        load_in(folder.path(), &changed(RATE, &channel), &[])
    };
    trace("good").unwrap();
    let whole = "allowed: one whole number of milliseconds per line";
    let missing = folder.path().join("none");
    for (name, problem) in [
        (
            "none",
            format!(
                "there is no file {}; allowed: a file, by its path from the scenario's folder",
                missing.display()
            ),
        ),
        ("empty", format!("empty is empty; {whole}")),
        ("falling", "falling, line 2: 4 comes after 5; allowed: times that do not decrease".into()),
        ("words", format!("words, line 2: \"two\" is not a whole number of milliseconds; {whole}")),
        ("binary", "binary, line 2: is not text; allowed: a text file in UTF-8".into()),
    ] {
        let message = format!("t.toml: links.wire.channel.file = \"{name}\": {problem}");
        assert_eq!(trace(name).unwrap_err(), message);
    }
    let scaled = "channel = { kind = \"trace\", file = \"good\" }\nbackward = { rate_scale = 2 }";
    assert_eq!(
        load_in(folder.path(), &changed(RATE, scaled), &[]).unwrap_err(),
        "t.toml: links.wire.backward.rate_scale = 2: cannot scale a trace, which has no rate; allowed: a channel \
         that has a rate"
    );
}

#[test]
fn traffic() {
    let ways = "allowed: either `source` with a number of `streams`, or an array of `streams` with a source each, or the \
                `objects` of a page, or a `video`, or a `call`";
    let stream = r#"{ name = "a", source = { kind = "bulk", size = "1 kB" } }"#;
    refused(&[
        (SOURCE, "", &format!("flows.main.source: is required but missing; {ways}")),
        (
            SOURCE,
            "source = { kind = \"bulk\", size = \"1 kB\" }\nstreams = [{ source = { kind = \"bulk\", size = \"1 kB\" } }]",
            &format!(
                "flows.main.source = {{ kind = \"bulk\", size = \"1 kB\" }}: is given together with an array of streams; {ways}"
            ),
        ),
        (
            SOURCE,
            &format!("streams = [{stream}, {stream}]"),
            "flows.main.streams[1].name = \"a\": stream 0 is also named `a`; allowed: a different name for every stream",
        ),
        (
            SOURCE,
            &format!("streams = [{}]", stream.replace("\"a\"", "\"a/b\"")),
            "flows.main.streams[0].name = \"a/b\": is not a valid name; allowed: letters from a to z, digits, `_` and `-`, up to 100 of them",
        ),
        (
            SOURCE,
            "streams = 0",
            "flows.main.streams = 0: is not a number of streams; allowed: a number from 1 to 65535, or an array of tables with \
             `source`",
        ),
        (
            SOURCE,
            "streams = []",
            "flows.main.streams = []: is empty; allowed: a number from 1 to 65535, or an array of tables with `source`",
        ),
    ]);
}

#[test]
fn packets_that_do_not_fit() {
    let too_large = "and 28 B of UDP and IPv4 headers exceed the MTU of link `wire`";
    refused(&[
        (
            "transport = \"quic\"",
            "transport = { kind = \"quic\", payload = \"1473 B\" }",
            &format!(
                "flows.main.transport.payload = \"1473 B\": {too_large}, 1.5 kB; allowed: at most 1.472 kB, or a \
                 larger `links.wire.mtu`"
            ),
        ),
        (
            RATE,
            "rate = \"1 Mbps\"\nmtu = \"1279 B\"",
            &format!(
                "flows.main.transport.payload = \"1.252 kB\": {too_large}, 1.279 kB; allowed: at most 1.251 kB, or a \
                 larger `links.wire.mtu`"
            ),
        ),
        (
            RATE,
            "rate = \"1 Mbps\"\nmtu = \"1227 B\"",
            &format!(
                "flows.main.transport.payload = \"1.252 kB\": {too_large}, 1.227 kB; allowed: 1.2 kB or more, for \
                 which `links.wire.mtu` is 1.228 kB or more"
            ),
        ),
        (
            "transport = \"quic\"",
            "transport = { kind = \"tcp\", mss = \"1449 B\" }",
            "flows.main.transport.mss = \"1449 B\": and 52 B of TCP and IPv4 headers exceed the MTU of link `wire`, 1.5 kB; \
             allowed: at most 1.448 kB, or a larger `links.wire.mtu`",
        ),
        (
            "transport = \"quic\"",
            "transport = { kind = \"quic\", payload = \"1199 B\" }",
            "flows.main.transport.payload = \"1199 B\": is not a valid payload for QUIC; allowed: from 1.2 kB (RFC 9000 section \
             14.1) to 65.507 kB",
        ),
        (
            "transport = \"quic\"",
            "transport = \"udp\"\nopened_by = \"to\"",
            "flows.main.opened_by = \"to\": the transport opens no connection; allowed: `from`",
        ),
    ]);
    load_text(&changed(RATE, "rate = \"1 Mbps\"\nmtu = \"1280 B\""), &[]).unwrap();
}

/// A shorter way round with a small MTU is not on the flow's route, and does not matter.
#[test]
fn only_links_on_the_route_must_carry_the_packets() {
    let detour = r#"
        [nodes.narrow]
        [links.in]
        between = ["client", "narrow"]
        rate = "1 Mbps"
        delay = "10 ms"
        mtu = "600 B"
        [links.out]
        between = ["narrow", "server"]
        rate = "1 Mbps"
        mtu = "600 B"
    "#;
    let slow =
        |delay: &str| format!("{}{detour}", changed(RATE, &format!("{RATE}\ndelay = \"{delay}\"")));
    load_text(&slow("9 ms"), &[]).unwrap();
    load_text(&slow("10 ms"), &[]).unwrap();
    let message = load_text(&slow("11 ms"), &[]).unwrap_err();
    assert!(message.contains("exceed the MTU of link `in`, 600 B"), "{message}");
}

#[test]
fn competition() {
    let stated = |table: &str| format!("{NODES}[competition]\n{table}\n");
    let cases = [
        (
            "window = \"99 ms\"",
            "competition.window = \"99 ms\": is too short; allowed: 100 ms or more",
        ),
        (
            "tolerance = 1.0",
            "competition.tolerance = 1.0: is out of range; allowed: a number above 0 and below 1",
        ),
        (
            "reference = [\"mian\"]",
            "competition.reference[0] = \"mian\": no such flow; allowed: `main`; did you mean `main`?",
        ),
        (
            "reference = [\"main\", \"main\"]",
            "competition.reference[1] = \"main\": appears twice; allowed: every flow once",
        ),
    ];
    for (table, message) in cases {
        refused(&[(NODES, &stated(table), message)]);
    }
    let background = changed(SOURCE, &format!("{SOURCE}\nbackground = true"))
        .replace(NODES, &stated("reference = [\"main\"]"));
    let message = load_text(&background, &[]).unwrap_err();
    assert_eq!(
        message,
        "t.toml: competition.reference[0] = \"main\": no such flow that is not background; allowed: nothing"
    );
}
