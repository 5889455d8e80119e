use leobench_base::spec::{At, Spec, Value};
use leobench_base::{Bytes, SimDuration, SimTime};

use super::*;

fn ms(millis: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_millis(millis)
}

/// A page from an array of tables in TOML, over up to `count` connections.
fn loading(objects: &str, count: usize) -> Http1 {
    let tree: Value = toml::from_str(&format!("objects = {objects}")).unwrap();
    let Value::Table(table) = &tree else { panic!("a table") };
    let objects = Vec::<ObjectSpec>::read(table.get("objects").unwrap(), &At::ROOT).unwrap();
    Http1::new(Page::new(&objects, ms(0)), &objects, count)
}

fn act(http: &mut Http1) -> Vec<Action> {
    let mut actions = Vec::new();
    http.advance(ms(0), &mut actions).unwrap();
    actions.retain(|action| !matches!(action, Action::Create { .. }));
    actions
}

/// Reports about objects that come of one about a connection, after which the page is told of them.
fn told(http: &mut Http1, end: End, report: Report) -> Vec<Report> {
    let mut reports = vec![report];
    http.demultiplex(ms(0), end, &mut reports);
    for report in &reports {
        http.on_report(ms(0), end, *report);
    }
    reports
}

fn opens(http: &mut Http1, stream: usize) {
    let reports = told(http, End::Receiver, Report::Room { stream: stream.into(), offset: 9 });
    assert!(reports.is_empty(), "connections are no objects");
}

fn write(end: End, stream: usize, bytes: u64) -> Action {
    let message = Message { size: Bytes::new(bytes), created: ms(0) };
    Action::Write { end, stream: stream.into(), message }
}

fn open(stream: usize) -> Action {
    Action::Open { end: End::Receiver, stream: stream.into() }
}

fn delivered(stream: usize, offset: u64) -> Report {
    Report::Delivered { stream: stream.into(), offset }
}

#[test]
fn connections_open_as_requests_wait() {
    let mut http = loading(
        r#"[{ name = "html", size = "9 B" }, { name = "a", size = "9 B", count = 3, after = ["html"] }]"#,
        3,
    );
    assert_eq!(act(&mut http), [], "the first opens by itself, and one request waits");
    opens(&mut http, 0);
    assert_eq!(act(&mut http), [write(End::Receiver, 0, 400)]);
    told(&mut http, End::Sender, delivered(0, 400));
    assert_eq!(act(&mut http), [write(End::Sender, 0, 9)]);
    told(&mut http, End::Receiver, delivered(0, 9));
    // One of three takes the connection that is there, the others need one each.
    assert_eq!(act(&mut http), [write(End::Receiver, 0, 400), open(1), open(2)]);
    // The first that is free takes the next, whatever it was opened for.
    opens(&mut http, 2);
    assert_eq!(act(&mut http), [write(End::Receiver, 2, 400)]);
    told(&mut http, End::Sender, delivered(0, 800));
    assert_eq!(act(&mut http), [write(End::Sender, 0, 9)]);
    told(&mut http, End::Receiver, delivered(0, 18));
    assert_eq!(act(&mut http), [write(End::Receiver, 0, 400)]);
    opens(&mut http, 1);
    assert_eq!(act(&mut http), []);
}

#[test]
fn no_more_connections_open_than_allowed_or_needed() {
    let page = |count: u32, most| {
        let mut http =
            loading(&format!(r#"[{{ name = "a", size = "9 B", count = {count} }}]"#), most);
        act(&mut http).into_iter().filter(|action| matches!(action, Action::Open { .. })).count()
    };
    assert_eq!([page(1, 6), page(2, 6), page(6, 6), page(7, 6), page(100, 6)], [0, 1, 5, 5, 5]);
    assert_eq!([page(100, 1), page(100, 64)], [0, 63]);
}

/// The most urgent request goes first, among equals the oldest.
#[test]
fn requests_wait_by_urgency() {
    let mut http = loading(
        r#"[{ name = "late", size = "9 B", urgency = 5, request = "5 B" },
            { name = "one", size = "9 B", request = "1 B" },
            { name = "two", size = "9 B", request = "2 B" },
            { name = "first", size = "9 B", urgency = 0, request = "7 B" }]"#,
        1,
    );
    act(&mut http);
    opens(&mut http, 0);
    let (mut asked, mut answered) = (0, 0);
    for (request, object) in [(7, 3), (1, 1), (2, 2), (5, 0)] {
        assert_eq!(act(&mut http)[..1], [write(End::Receiver, 0, request)]);
        asked += request;
        assert_eq!(told(&mut http, End::Sender, delivered(0, asked)), [delivered(object, request)]);
        act(&mut http);
        // Offsets of a connection become those of its object.
        let sent = Report::Sent { stream: 0.into(), offset: answered + 4 };
        let expected = Report::Sent { stream: object.into(), offset: 4 };
        assert_eq!(told(&mut http, End::Sender, sent), [expected]);
        assert_eq!(http.send_buffer().unwrap().streams()[StreamIndex::from(object)].backlog(), 5);
        for bytes in [3, 9] {
            let report = told(&mut http, End::Receiver, delivered(0, answered + bytes));
            assert_eq!(report, [delivered(object, bytes)]);
        }
        answered += 9;
    }
    assert!(http.is_finished());
}

/// The connection whose window has grown last is used before others.
#[test]
fn the_connection_that_became_idle_last_is_used_first() {
    let mut http = loading(
        r#"[{ name = "a", size = "9 B", count = 2 }, { name = "b", size = "9 B", after = ["a"] }]"#,
        2,
    );
    act(&mut http);
    opens(&mut http, 0);
    opens(&mut http, 1);
    let requests = act(&mut http);
    assert_eq!(requests, [write(End::Receiver, 1, 400), write(End::Receiver, 0, 400)]);
    for stream in [0, 1] {
        told(&mut http, End::Sender, delivered(stream, 400));
        act(&mut http);
    }
    told(&mut http, End::Receiver, delivered(1, 9));
    told(&mut http, End::Receiver, delivered(0, 9));
    assert_eq!(act(&mut http)[0], write(End::Receiver, 0, 400));
}
