//! Flows with a `count`.

use super::*;

fn names(text: &str, overrides: &[(&str, &str)]) -> Vec<String> {
    let scenario = load_text(text, overrides).unwrap();
    scenario.spec.flows.into_iter().map(|(name, _)| name).collect()
}

fn counted(count: &str) -> String {
    changed("[flows.main]", &format!("[flows.main]\ncount = {count}"))
}

#[test]
fn a_flow_with_a_count_is_as_many_equal_flows_in_its_place() {
    let other = "[flows.last]\ntransport = \"tcp\"\nfrom = \"client\"\nto = \"server\"\nsource = \"bulk\"\n";
    let text = format!("{}\n{other}", counted("3"));
    assert_eq!(names(&text, &[]), ["main-1", "main-2", "main-3", "last"]);
    let alone = load_text(BASE, &[]).unwrap().spec.flows[0].1.clone();
    let flows = load_text(&counted("3"), &[]).unwrap().spec.flows;
    assert!(flows.iter().all(|(_, flow)| *flow == alone), "they are equal");
    assert_eq!(names(&counted("1"), &[]), ["main-1"], "a swept count changes no other name");
    assert_eq!(names(BASE, &[("flows.main.count", "2")]), ["main-1", "main-2"]);
}

#[test]
fn one_of_the_flows_can_be_changed_by_its_name() {
    let starts = |overrides: &[(&str, &str)]| {
        let scenario = load_text(&counted("3"), overrides).unwrap();
        let starts =
            scenario.spec.flows.iter().map(|(_, flow)| flow.start.as_nanos() / 1_000_000_000);
        starts.collect::<Vec<_>>()
    };
    assert_eq!(starts(&[("flows.main.start", "1 s")]), [1, 1, 1]);
    assert_eq!(starts(&[("flows.main.start", "1 s"), ("flows.main-2.start", "2 s")]), [1, 2, 1]);
    let error = load_text(&counted("3"), &[("flows.main-4.start", "1 s")]).unwrap_err();
    assert!(error.contains("there is no `flows.main-4`"), "{error}");
}

#[test]
fn what_no_count_can_be_is_refused() {
    let refused = |text: &str, overrides: &[(&str, &str)]| load_text(text, overrides).unwrap_err();
    for count in ["0", "1001", "-1", "2.5", "\"many\""] {
        let error = refused(&counted(count), &[]);
        assert!(error.starts_with(&format!("t.toml: flows.main.count = {count}: is ")), "{error}");
        assert!(error.contains("a whole number from 1 to 1000"), "{error}");
    }
    let second = BASE.split_once("[flows.main]").unwrap().1;
    let text = format!("{}\n[flows.main-2]{second}", counted("3"));
    assert_eq!(
        refused(&text, &[]),
        "t.toml: flows.main.count = 3: makes a flow `main-2`, which is there already; allowed: names that differ"
    );
    let error = refused(&counted("2"), &[("flows.main.from", "nobody")]);
    assert!(error.starts_with("t.toml: flows.main.from = \"nobody\": no such node"), "{error}");
}

/// A fault that only the expanded flows show, in a key that is missing, and in a flow that was never counted.
#[test]
fn faults_are_where_the_file_has_them() {
    let error = |text: &str| load_text(text, &[]).unwrap_err();
    let counted = counted("3");
    let source = "source = { kind = \"cbr\", rate = \"1 Mbps\", size = \"1000 B\" }";
    let found = error(&counted.replace(source, ""));
    assert!(found.starts_with("t.toml: flows.main.source: is required but missing"), "{found}");
    let found = error(&counted.replace("from =", "start = \"11 s\"\nfrom ="));
    assert!(found.starts_with("t.toml: flows.main.start = \"11 s\": is not before"), "{found}");
    let second = BASE.split_once("[flows.main]").unwrap().1.replace("server", "nobody");
    let found = error(&format!("{counted}\n[flows.main-4]{second}"));
    assert!(found.starts_with("t.toml: flows.main-4.to = \"nobody\": no such node"), "{found}");
}
