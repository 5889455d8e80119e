//! Recorded pages: the objects that their entries become, and every kind of bad ones.

use leobench_base::SimDuration;
use serde_json::{Map, Value as Json, json};

use super::refusals::SOURCE;
use super::*;

const PRIORITIES: [(&str, u32); 5] =
    [("VeryHigh", 0), ("High", 1), ("Medium", 2), ("Low", 3), ("VeryLow", 4)];

/// An entry that began so many milliseconds after noon and took `took`.
fn entry(url: &str, start: u32, took: u32) -> Json {
    json!({
        "startedDateTime": format!("2026-03-20T12:00:{:02}.{:03}Z", start / 1000, start % 1000),
        "time": took,
        "request": {"method": "GET", "url": url, "headersSize": 700, "bodySize": 0},
        "response": {"status": 200, "headersSize": 300, "bodySize": 1000, "_transferSize": 5000},
        "timings": {"dns": -1, "connect": -1, "send": 0, "wait": 40, "receive": 10},
    })
}

/// The same with other values at places such as `response/_transferSize`.
fn with(mut entry: Json, changes: &[(&str, Json)]) -> Json {
    for (place, value) in changes {
        let mut at = &mut entry;
        for step in place.split('/') {
            at = &mut at[step];
        }
        *at = value.clone();
    }
    entry
}

fn archive(entries: &[Json]) -> String {
    json!({"log": {"version": "1.2", "creator": {}, "entries": entries}}).to_string()
}

/// Loads a scenario with a page from an archive of this text.
fn loaded(text: &str, flow: &str) -> Result<Scenario, String> {
    let folder = tempdir().unwrap();
    file(&folder, "page.har", text.as_bytes());
    let scenario = changed(SOURCE, &format!("har = \"page.har\"\n{flow}"));
    let loaded = load_in(folder.path(), &scenario, &[]);
    loaded.map_err(|error| error.replace(&format!("{}/", folder.path().display()), ""))
}

fn objects_of(entries: &[Json]) -> Vec<ObjectSpec> {
    let scenario = loaded(&archive(entries), "").unwrap();
    let flow = &scenario.spec.flows[0].1;
    assert_eq!(flow.har, None, "results have the objects, and need no file");
    flow.objects.clone().unwrap()
}

fn refusal(entries: &[Json]) -> String {
    let message = loaded(&archive(entries), "").unwrap_err();
    let start = "t.toml: flows.main.har = \"page.har\": ";
    message.strip_prefix(start).unwrap_or_else(|| panic!("{message}")).to_owned()
}

const HTML: &str = "https://a.example/";
const SCRIPT: &str = "https://a.example/js/app.js?v=1";
const IMAGE: &str = "https://b.example/hero.jpg";

#[test]
fn a_request_waits_for_its_initiator() {
    let script = [("_initiator", json!({"type": "parser", "url": HTML, "lineNumber": 3}))];
    let called = json!({"type": "script", "stack": {"callFrames": [],
        "parent": {"callFrames": [{"url": ""}, {"url": SCRIPT}]}}});
    let found = objects_of(&[
        entry(HTML, 100, 80),
        with(entry(SCRIPT, 200, 50), &script),
        with(entry(IMAGE, 320, 90), &[("_initiator", called)]),
        // Requested while the script arrived: it waits for all of it, and for no gap.
        with(entry("https://a.example/#top", 230, 5), &[("_initiator", json!(SCRIPT))]),
    ]);
    let seen: Vec<_> = found
        .iter()
        .map(|object| {
            (object.name.as_str(), object.after.join(","), object.delay.as_nanos() / 1_000_000)
        })
        .collect();
    let expected = [
        ("0-a_example", "", 0),
        ("1-app_js", "0-a_example", 20),
        ("3-a_example", "1-app_js", 0),
        ("2-hero_jpg", "1-app_js", 70),
    ];
    assert_eq!(seen, expected.map(|(name, after, delay)| (name, after.to_owned(), delay)));
    assert_eq!(found[0].at, Some(SimDuration::ZERO));
    assert_eq!(found[0].think, SimDuration::from_millis(40));
    assert_eq!((found[0].size.get(), found[0].request.get()), (5_000, 400));
}

#[test]
fn a_request_without_an_initiator_waits_for_the_last_that_had_ended() {
    let found = objects_of(&[
        entry(HTML, 0, 100),
        entry(SCRIPT, 100, 30),
        entry("https://a.example/c", 40, 80),
        entry(IMAGE, 150, 10),
    ]);
    let seen: Vec<_> = found.iter().map(|object| (object.at, object.after.join(","))).collect();
    let at = |millis| Some(SimDuration::from_millis(millis));
    let expected = [
        (at(0), String::new()),
        (at(40), String::new()),
        (None, "0-a_example".to_owned()),
        (None, "1-app_js".to_owned()),
    ];
    assert_eq!(seen, expected);
    assert_eq!(found[3].delay, SimDuration::from_millis(20), "from 130 ms to 150 ms");
}

/// The image that a script adds in a callback is ascribed to the parser, 30 ms after the document was parsed.
#[test]
fn the_parser_causes_nothing_once_the_document_is_parsed() {
    let parser = [("_initiator", json!({"type": "parser", "url": HTML}))];
    let entries = [
        entry(HTML, 100, 80),
        with(entry(SCRIPT, 200, 50), &parser),
        with(entry(IMAGE, 320, 90), &parser),
    ];
    for (parsed, cause) in [(190.0, "1-app_js"), (220.0, "0-a_example"), (-1.0, "0-a_example")] {
        let page = json!({"startedDateTime": "2026-03-20T12:00:00.100Z",
            "pageTimings": {"onContentLoad": parsed}});
        let text = json!({"log": {"pages": [page], "entries": entries}}).to_string();
        let scenario = loaded(&text, "").unwrap();
        let found = scenario.spec.flows[0].1.objects.clone().unwrap();
        assert_eq!(found[1].after, ["0-a_example"], "parsed after {parsed} ms");
        assert_eq!(found[2].after, [cause], "parsed after {parsed} ms");
    }
}

#[test]
fn the_first_request_of_a_host_looks_its_name_up() {
    let dns = |millis: f64| [("timings/dns", json!(millis))];
    let found = objects_of(&[
        with(entry(HTML, 0, 100), &dns(30.5)),
        with(entry(SCRIPT, 100, 10), &dns(7.0)),
        with(entry(IMAGE, 120, 10), &dns(12.0)),
    ]);
    assert_eq!(found[0].at.unwrap().as_nanos(), 30_500_000);
    assert_eq!(found[1].delay, SimDuration::ZERO, "the name is known");
    assert_eq!(found[2].delay, SimDuration::from_millis(10 + 12));
}

#[test]
fn sizes_priorities_and_time_zones() {
    let of = |size: f64, body: f64, headers: f64| {
        let sizes = [("_transferSize", size), ("bodySize", body), ("headersSize", headers)];
        let response = sizes.map(|(key, size)| (key.to_owned(), json!(size)));
        let response: Map<_, _> =
            response.into_iter().chain([("status".into(), json!(200))]).collect();
        objects_of(&[with(entry(HTML, 0, 9), &[("response", Json::Object(response))])])[0]
            .size
            .get()
    };
    assert_eq!(of(777.0, 5.0, 6.0), 777);
    assert_eq!([of(-1.0, 5.0, 6.0), of(0.0, 5.0, 6.0)], [11, 11]);
    assert_eq!([of(-1.0, 5.0, -1.0), of(-1.0, 0.0, 6.0)], [5, 6]);
    for (name, urgency) in PRIORITIES {
        let found = objects_of(&[with(entry(HTML, 0, 9), &[("_priority", json!(name))])]);
        assert_eq!(found[0].urgency.get(), urgency);
    }
    let begun = |text: &str| ("startedDateTime", json!(text));
    let found = objects_of(&[
        with(entry(HTML, 0, 60_000), &[begun("2026-03-20T14:00:00.25+02:00")]),
        with(entry(SCRIPT, 0, 9), &[begun("2026-03-20T07:30:00.75-0430")]),
    ]);
    assert_eq!(found[1].at, Some(SimDuration::from_millis(500)));
    let posted = objects_of(&[with(entry(HTML, 0, 9), &[("request/bodySize", json!(50))])]);
    assert_eq!(posted[0].request.get(), 450);
}

#[test]
fn only_responses_over_the_network_are_objects() {
    let found = objects_of(&[
        entry(HTML, 0, 100),
        entry("data:image/png;base64,AAAA", 100, 0),
        with(entry(SCRIPT, 100, 1), &[("_fromCache", json!("disk"))]),
        with(entry(IMAGE, 100, 1), &[("response/status", json!(0))]),
    ]);
    assert_eq!(found.len(), 1);
}

#[test]
fn bad_entries_are_refused_by_name() {
    let html = || entry(HTML, 0, 100);
    let at = "log.entries[0], https://a.example/,";
    for (changes, message) in [
        (
            vec![("response", json!({"status": 200, "_transferSize": -1, "bodySize": -1}))],
            "has no size; allowed: _transferSize above 0, or bodySize and headersSize of the response",
        ),
        (
            vec![("_priority", json!("Urgent"))],
            "has an unknown _priority: Urgent; allowed: `VeryHigh`, `High`, `Medium`, `Low`, `VeryLow`",
        ),
        (
            vec![("startedDateTime", json!("noon"))],
            "has no valid startedDateTime: noon; allowed: a time in ISO 8601, such as 2026-03-20T10:39:26.123Z",
        ),
        (vec![("time", json!(-1))], "has a time of -1 ms; allowed: from 0 to 1000000000 ms"),
    ] {
        assert_eq!(refusal(&[with(html(), &changes)]), format!("{at} {message}"));
    }
    let script = with(entry(SCRIPT, 50, 1), &[("_initiator", json!({"url": HTML}))]);
    let circle = [with(html(), &[("_initiator", json!({"url": SCRIPT}))]), script];
    assert_eq!(
        refusal(&circle),
        format!(
            "{at} waits for itself: {HTML} after {SCRIPT} after {HTML}; allowed: initiators that do not wait for each \
             other"
        )
    );
    assert_eq!(
        refusal(&[]),
        "log.entries has no response that crossed the network; allowed: an archive of a page that a browser has loaded"
    );
}

#[test]
fn bad_archives_are_refused() {
    let refused = |text: &str| loaded(text, "").unwrap_err();
    let is_none = "t.toml: flows.main.har = \"page.har\": page.har is no HTTP Archive: ";
    for text in ["", "[]", "{\"log\": {}}", "<html>"] {
        let message = refused(text);
        assert!(message.starts_with(is_none), "{message}");
        assert!(
            message.ends_with("; allowed: JSON by the specification of HTTP Archive 1.2"),
            "{message}"
        );
    }
    let two = json!({"log": {"pages": [{}, {}], "entries": [entry(HTML, 0, 1)]}}).to_string();
    assert_eq!(
        refused(&two),
        "t.toml: flows.main.har = \"page.har\": log.pages has 2 pages; allowed: an archive of one page"
    );
    let both =
        loaded(&archive(&[entry(HTML, 0, 1)]), "objects = [{ name = \"a\", size = \"1 B\" }]");
    assert_eq!(
        both.unwrap_err(),
        "t.toml: flows.main.har = \"page.har\": is given together with `objects`; allowed: either `har` or `objects`"
    );
    let missing = changed(SOURCE, "har = \"none.har\"");
    assert_eq!(
        load_text(&missing, &[]).unwrap_err(),
        "t.toml: flows.main.har = \"none.har\": there is no file ./none.har; allowed: a file, by its path from the \
         scenario's folder"
    );
}
