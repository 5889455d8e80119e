//! Scenarios for programs: without flows, or with flows that they leave out.

use leobench_transport::Plugins;

use super::super::file::load_with;
use super::*;

/// `BASE` up to its flow, with a second link and a client that migrates.
fn migrating(flows: &str) -> String {
    let base = BASE.split_once("[flows.main]").unwrap().0;
    format!(
        "{base}
[links.other]
between = [\"client\", \"server\"]
rate = \"10 Mbps\"

[handovers.move]
node = \"client\"
links = [\"wire\", \"other\"]
at = [\"1 s\"]
kind = \"migrate\"
{flows}"
    )
}

const TCP: &str = r#"
[flows.main]
transport = "tcp"
from = "client"
to = "server"
source = "bulk"
"#;

fn loaded(text: &str, flows: FlowUse) -> Result<Scenario, String> {
    let source = Source { file: "t.toml", text, syntax: Syntax::Toml, folder: ".".into() };
    load_with(&source, &[], Plugins::NONE, flows).map_err(|error| error.to_string())
}

#[test]
fn flows_may_be_left_out_where_none_run() {
    for flows in [FlowUse::Optional, FlowUse::Unused] {
        assert_eq!(loaded(&migrating(""), flows).unwrap().spec.flows, []);
    }
    let allowed = "allowed: at least one flow, or programs instead of flows (`leobench emulate`)";
    assert_eq!(
        loaded(&migrating(""), FlowUse::Required).unwrap_err(),
        format!("t.toml: flows: is required but missing; {allowed}")
    );
    assert_eq!(
        loaded(&migrating("[flows]"), FlowUse::Required).unwrap_err(),
        format!("t.toml: flows = {{}}: is empty; {allowed}")
    );
}

#[test]
fn flows_that_are_unused_need_not_suit_the_network() {
    let text = migrating(TCP);
    for flows in [FlowUse::Required, FlowUse::Optional] {
        let error = loaded(&text, flows).unwrap_err();
        assert!(error.contains("flow `main` loses its connection"), "{error}");
    }
    let scenario = loaded(&text, FlowUse::Unused).unwrap();
    assert_eq!(scenario.spec.flows.len(), 1, "it says what the file says");
    let reference = format!("competition = {{ reference = [\"main\"] }}\n{text}");
    loaded(&reference, FlowUse::Unused).unwrap();
}

#[test]
fn what_is_wrong_in_itself_is_refused_for_programs_too() {
    let unknown = migrating(&TCP.replace("source", "sauce"));
    let error = loaded(&unknown, FlowUse::Unused).unwrap_err();
    assert!(error.starts_with("t.toml: flows.main.sauce"), "{error}");
    let link = migrating("").replace("[\"wire\", \"other\"]", "[\"wire\"]");
    let error = loaded(&link, FlowUse::Unused).unwrap_err();
    assert!(error.starts_with("t.toml: handovers.move.links"), "{error}");
}

#[test]
fn only_programs_run_without_a_duration() {
    let endless = |more: &str| migrating(more).replace("duration = \"10 s\"", "");
    for flows in [FlowUse::Optional, FlowUse::Unused] {
        assert_eq!(loaded(&endless(""), flows).unwrap().spec.duration, None);
    }
    loaded(&endless(TCP), FlowUse::Unused).unwrap();
    for flows in [FlowUse::Required, FlowUse::Optional] {
        assert_eq!(
            loaded(&endless(TCP), flows).unwrap_err(),
            "t.toml: duration: is required but missing; allowed: a time above zero (optional only if programs run \
             instead of flows)"
        );
    }
}

#[test]
fn nothing_comes_too_late_without_an_end() {
    let late = migrating("").replace("at = [\"1 s\"]", "at = [\"48 h\"]");
    let late = late.replace("duration", "warm_up = \"5 h\"\nduration");
    let error = loaded(&late, FlowUse::Unused).unwrap_err();
    assert!(error.contains("a time below the duration, 10 s"), "{error}");
    loaded(&late.replace("duration = \"10 s\"", ""), FlowUse::Unused).unwrap();
}
