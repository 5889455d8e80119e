//! Handovers that cannot be.

use super::*;

const MOVING: &str = r#"
name = "moving"
duration = "10 s"
nodes = { phone = {}, van = {}, office = {}, elsewhere = {} }

[links]
bubble = { between = ["phone", "van"], rate = "100 Mbps", delay = "1 ms" }
ground = { between = ["van", "office"], rate = "10 Mbps", delay = "10 ms" }
leo = { between = ["van", "office"], rate = "10 Mbps", delay = "40 ms" }
away = { between = ["van", "elsewhere"], rate = "10 Mbps" }

[handovers.backhaul]
node = "van"
links = ["ground", "leo"]
at = ["2 s", "5 s"]

[flows.main]
transport = "tcp"
from = "phone"
to = "office"
source = { kind = "bulk", size = "1 MB" }
"#;

/// Asserts the error of the scenario with `old` replaced by `new`.
#[track_caller]
fn refused(old: &str, new: &str, expected: &str) {
    assert_eq!(MOVING.matches(old).count(), 1, "{old:?} stands once in the scenario");
    let error = load_text(&MOVING.replace(old, new), &[]).expect_err(new);
    assert_eq!(error, format!("t.toml: {expected}"));
}

#[test]
fn a_sound_one_loads() {
    let scenario = load_text(MOVING, &[]).unwrap();
    assert_eq!(scenario.spec.handovers[0].1.kind, HandoverKind::Reroute);
    assert_eq!(scenario.spec.topologies().count(), 2);
}

#[test]
fn links_that_are_not_there_or_not_the_nodes() {
    refused(
        r#"["ground", "leo"]"#,
        r#"["ground", "lio"]"#,
        "handovers.backhaul.links[1] = \"lio\": no such link; allowed: `bubble`, `ground`, `leo`, `away`; \
         did you mean `leo`?",
    );
    refused(
        r#"["ground", "leo"]"#,
        r#"["ground", "leo", "away"]"#,
        "flows.main.to = \"office\": no links lead from `phone` to `office` while `van` uses link `away`; allowed: a node \
         that the links reach",
    );
    refused(
        r#"node = "van"
links = ["ground", "leo"]"#,
        r#"node = "phone"
links = ["bubble", "leo"]"#,
        "handovers.backhaul.links[1] = \"leo\": is not attached to `phone`; allowed: `bubble`",
    );
    refused(
        r#"["ground", "leo"]"#,
        r#"["ground", "leo", "leo"]"#,
        "handovers.backhaul.links[1] = \"leo\": is followed by itself (the first link follows the last); allowed: \
         another link next",
    );
    refused(
        r#"["ground", "leo"]"#,
        r#"["ground"]"#,
        "handovers.backhaul.links = [\"ground\"]: has no link to move to; allowed: two or more links",
    );
    refused(
        "[flows.main]",
        "[handovers.again]\nnode = \"van\"\nlinks = [\"ground\", \"leo\"]\nevery = \"3 s\"\n[flows.main]",
        "handovers.again.node = \"van\": `handovers.backhaul` already moves this node; allowed: one table of \
         handovers per node",
    );
}

#[test]
fn times_that_cannot_be() {
    let at = r#"at = ["2 s", "5 s"]"#;
    refused(
        at,
        r#"at = ["2 s", "2 s"]"#,
        "handovers.backhaul.at[1] = \"2 s\": is not after the previous one, 2 s; allowed: times in order, one \
         handover at a time",
    );
    refused(
        at,
        r#"at = ["2 s", "10 s"]"#,
        "handovers.backhaul.at[1] = \"10 s\": is after the end of the run; allowed: a time below 10 s",
    );
    refused(
        at,
        "every = \"1 ns\"",
        "handovers.backhaul.every = \"1 ns\": occurs more than 100000 times in the run; allowed: a longer time",
    );
    refused(at, "at = []", "handovers.backhaul.at = []: is empty; allowed: at least one time");
    let when = "one of `at`, `every`, `interval` and `down_for`";
    refused(at, "", &format!("handovers.backhaul.at: is required but missing; allowed: {when}"));
    refused(
        at,
        "every = \"2 s\"\ndown_for = \"1 s\"",
        &format!(
            "handovers.backhaul.every = \"2 s\": is given together with `down_for`; allowed: {when}"
        ),
    );
    refused(
        at,
        "every = \"2 s\"\nup_for = \"1 s\"",
        "handovers.backhaul.up_for = \"1 s\": is given without `down_for`; allowed: `up_for` only with `down_for`",
    );
    refused(
        at,
        "every = \"2 s\"\noutage = \"1 s\"\noverlap = \"1 s\"",
        "handovers.backhaul.overlap = \"1 s\": is given together with `outage`; allowed: either `outage` (break \
         before make) or `overlap` (make before break)",
    );
}

#[test]
fn connections_that_cannot_follow() {
    refused(
        "[handovers.backhaul]",
        "[handovers.backhaul]\nkind = \"migrate\"",
        "handovers.backhaul.kind = \"migrate\": no flow starts or ends at `van`, so no connection would migrate; \
         allowed: `reroute`, or `rebind` for a node that translates addresses",
    );
    let from = r#"transport = "tcp"
from = "phone""#;
    let moved = |transport: &str, rest: &str| {
        let text =
            MOVING.replace("[handovers.backhaul]", "[handovers.backhaul]\nkind = \"migrate\"");
        let flow = format!("transport = {transport}\n{rest}\nfrom = \"van\"");
        load_text(&text.replace(from, &flow), &[]).map(drop)
    };
    let said = |transport: &str, rest: &str| moved(transport, rest).unwrap_err();
    assert_eq!(
        said("\"tcp\"", ""),
        "t.toml: handovers.backhaul.kind = \"migrate\": flow `main` loses its connection when the address changes \
         and does not reconnect; allowed: `flows.main.reconnect`, or `reroute` or `rebind`"
    );
    let noq = said("{ kind = \"quic\", stack = \"noq\" }", "");
    assert!(noq.contains("flow `main` uses the QUIC stack `noq`, which does not learn"), "{noq}");
    let server = said("\"quic\"", "opened_by = \"to\"");
    assert!(server.contains("only clients migrate"), "{server}");
    let opened = said("\"tcp\"", "opened_by = \"to\"");
    assert!(opened.contains("the other end of flow `main` opens the connection"), "{opened}");
    assert!(
        said("\"udp\"", "").contains("UDP has no connection that could migrate"),
        "{}",
        said("\"udp\"", "")
    );
    assert_eq!(moved("\"tcp\"", "reconnect = { after = \"1 s\" }"), Ok(()));
    let behind = MOVING.replace("[handovers.backhaul]", "[handovers.backhaul]\nkind = \"rebind\"");
    assert_eq!(load_text(&behind, &[]).map(drop), Ok(()));
    let outside = behind.replace("source =", "opened_by = \"to\"\nsource =");
    let error = load_text(&outside, &[]).unwrap_err();
    assert!(error.contains("flow `main` is opened from outside"), "{error}");
    let several = r#"transport = { kind = "quic", multipath = { links = ["ground", "leo"] } }
from = "van""#;
    assert_eq!(
        load_text(&behind.replace(from, several), &[]).unwrap_err(),
        "t.toml: handovers.backhaul.kind = \"rebind\": flow `main` uses the addresses of several links of `van`, which \
         translates them; allowed: `reroute` or `migrate`, or flows that are opened behind the node"
    );
}
