//! When reports come: a path has one before it carries data.

use leobench_base::SimTime;
use leobench_transport::endpoint::PathId;

use super::{DOWNLOAD, Note, UPLOAD, chain, notes, van};

/// The position of the first report on a path.
fn first_report(notes: &[(SimTime, Note)], path: u32) -> usize {
    let is_it = |note: &Note| matches!(note, Note::Access(report) if report.path == PathId(path));
    notes.iter().position(|(_, note)| is_it(note)).expect("a report")
}

/// The position of the first event of a path that says `what`.
fn first_event(notes: &[(SimTime, Note)], what: &str) -> usize {
    let is_it = |note: &Note| matches!(note, Note::Event(event) if event.kind == "path" && event.detail.contains(what));
    notes.iter().position(|(_, note)| is_it(note)).expect("an event")
}

#[test]
fn the_first_report_comes_before_the_first_data() {
    let tcp = |flow: &str| flow.replace("quic", "tcp");
    let server = |flow: &str| format!("{flow}\nopened_by = \"to\"");
    let late = |flow: &str| format!("{flow}\nstart = \"1234567 us\"");
    let flows = [
        UPLOAD.to_owned(),
        DOWNLOAD.to_owned(),
        server(UPLOAD),
        server(DOWNLOAD),
        tcp(UPLOAD),
        server(&tcp(UPLOAD)),
        late(UPLOAD),
        late(&server(UPLOAD)),
    ];
    for flow in flows {
        let keys = [("duration", "5 s"), ("flows.main.cross_layer", r#"{ every = "1 s" }"#)];
        let notes = notes(&van(&flow, &keys));
        let sent = notes.iter().position(|(_, note)| *note == Note::Sent).expect("data");
        assert!(first_report(&notes, 0) < sent, "{flow}: {notes:?}");
    }
}

/// The second path of the chain opens at 15 s, when its satellite rises. It has a report at that instant, although one is due every
/// 4 s only, and before it is validated, whichever end opens it.
#[test]
fn a_new_path_has_a_report_before_it_is_validated() {
    for (opened_by, begins) in [("from", "opened"), ("to", "accepted")] {
        let overrides = [("flows.upload.opened_by", opened_by)];
        let notes = notes(&chain(r#"{ every = "4 s" }"#, &overrides));
        let (report, opened) = (first_report(&notes, 1), first_event(&notes, begins));
        // A server accepts the path half a round trip later, and has been told of it by then.
        assert_eq!(notes[report].0.as_nanos(), 15_000_000_000, "opened by {opened_by}");
        assert_eq!(report < opened, opened_by == "to");
        assert!(report < first_event(&notes, "validated"), "opened by {opened_by}");
        let Note::Access(told) = &notes[report].1 else { unreachable!() };
        assert!(told.service.is_some());
        // No other path is told of at that instant.
        let then = notes.iter().filter(|(at, _)| *at == notes[report].0);
        let told = then.filter(|(_, note)| matches!(note, Note::Access(_))).count();
        assert_eq!(told, 1, "opened by {opened_by}");
    }
}

/// Reports keep to their clock, whatever comes between.
#[test]
fn regular_reports_keep_to_their_clock() {
    let notes = notes(&chain(r#"{ every = "700 ms" }"#, &[("flows.upload.start", "50 ms")]));
    let times: Vec<_> = notes
        .iter()
        .filter_map(|(at, note)| match note {
            Note::Access(report) if report.path == PathId(0) => Some(at.as_nanos()),
            _ => None,
        })
        .collect();
    let expected: Vec<_> = (0..58).map(|turn| 50_000_000 + 700_000_000 * turn).collect();
    assert_eq!(times, expected);
}

/// A node that leaves the sky for a cable: a last report says that nothing serves, and the first one after its return comes at once.
#[test]
fn a_path_that_leaves_its_access_link_is_told_so() {
    let flow = format!(
        r#"{UPLOAD}
        [links.cable]
        between = ["van", "office"]
        rate = "10 Mbps"
        delay = "3 ms"
        [handovers.h]
        node = "van"
        links = ["sky", "cable"]
        at = ["3 s", "5 s"]
        old_packets = "drop""#
    );
    let overrides = [("duration", "8 s"), ("flows.main.cross_layer", r#"{ every = "2200 ms" }"#)];
    let told: Vec<_> = notes(&van(&flow, &overrides))
        .into_iter()
        .filter_map(|(at, note)| match note {
            Note::Access(report) => Some((at.as_nanos() / 1_000_000, report.service.is_some())),
            _ => None,
        })
        .collect();
    assert_eq!(told, [(0, true), (2_200, true), (3_000, false), (5_000, true), (6_600, true)]);
}
