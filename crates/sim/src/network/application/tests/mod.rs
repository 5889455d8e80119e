mod datagrams;

use std::collections::BTreeSet;

use leobench_base::spec::{At, Spec, Value};
use leobench_base::{Bytes, SimDuration};
use proptest::prelude::*;

use super::*;
use crate::scenario::{BlocksUntil, ObjectSpec};

fn ms(millis: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_millis(millis)
}

/// A source that produces messages of given sizes at given times, in milliseconds from the start of its flow.
struct Script {
    messages: Vec<(u64, u64)>,
    keeps_time: bool,
}

impl TrafficSource for Script {
    fn next(&self) -> Option<SimDuration> {
        self.messages.first().map(|(at, _)| SimDuration::from_millis(*at))
    }

    fn produce(&mut self) -> Option<Bytes> {
        self.next()?;
        Some(Bytes::new(self.messages.remove(0).1))
    }

    fn keeps_time(&self) -> bool {
        self.keeps_time
    }
}

/// A blocking application that starts at 100 ms with one source dealt over `streams`, and packets of 1,000 bytes.
fn blocking(script: &[(u64, u64)], streams: usize, stop: u64) -> Blocking {
    paced(script, streams, stop, false)
}

/// The same, with a source whose clock may run on during calls.
fn paced(script: &[(u64, u64)], streams: usize, stop: u64, keeps_time: bool) -> Blocking {
    let source = Box::new(Script { messages: script.to_vec(), keeps_time });
    let feed = Feed { source, first_stream: 0, streams, dealt: 0 };
    let until = BlocksUntil::Unsent(Bytes::new(1_000));
    Blocking::new(vec![feed], ms(100), ms(stop), until)
}

/// Returns the writes of an application at `now`: stream, size in bytes, time of the call in ms.
fn writes(application: &mut dyn Application, now: u64) -> Vec<(usize, u64, u64)> {
    let mut actions = Vec::new();
    application.advance(ms(now), &mut actions).unwrap();
    let written = actions.iter().filter_map(|action| match action {
        Action::Write { stream, message, .. } => {
            let created = message.created.as_nanos() / 1_000_000;
            Some((stream.index(), message.size.get(), created))
        }
        Action::Create { .. }
        | Action::Cancel { .. }
        | Action::Datagram { .. }
        | Action::Open { .. }
        | Action::Finish { .. } => None,
    });
    written.collect()
}

fn finishes(application: &mut dyn Application, now: u64) -> Vec<End> {
    let mut actions = Vec::new();
    application.advance(ms(now), &mut actions).unwrap();
    let ends = actions.iter().filter_map(|action| match action {
        Action::Finish { end } => Some(*end),
        Action::Create { .. }
        | Action::Cancel { .. }
        | Action::Datagram { .. }
        | Action::Open { .. }
        | Action::Write { .. } => None,
    });
    ends.collect()
}

fn sent(application: &mut dyn Application, now: u64, stream: usize, offset: u64) -> bool {
    application.on_report(ms(now), End::Sender, Report::Sent { stream: stream.into(), offset })
}

#[test]
fn a_call_returns_when_a_packets_worth_is_left_and_the_clock_goes_on_from_there() {
    let mut application = blocking(&[(0, 600), (10, 600), (20, 600), (30, 600)], 1, 1_000);
    assert_eq!(application.next_wake(), Some(ms(100)));
    assert_eq!(writes(&mut application, 100), [(0, 600, 100)]);
    assert_eq!(application.next_wake(), Some(ms(110)), "600 bytes fit a packet");
    assert_eq!(writes(&mut application, 110), [(0, 600, 110)]);
    assert_eq!(application.next_wake(), Some(ms(1_000)), "1,200 do not: the call blocks");
    assert!(!sent(&mut application, 115, 0, 199), "1,001 bytes are left");
    assert_eq!(writes(&mut application, 120), [], "the third message is not even produced");
    assert!(sent(&mut application, 137, 0, 200));
    assert_eq!(application.next_wake(), Some(ms(147)), "the interval counts from the return");
    assert_eq!(writes(&mut application, 147), [(0, 600, 147)]);
    assert!(sent(&mut application, 150, 0, 1_800));
    assert_eq!(application.next_wake(), Some(ms(160)), "27 ms late, and 3 more");
    assert_eq!(writes(&mut application, 160), [(0, 600, 160)]);
    assert!(application.is_finished());
}

#[test]
fn messages_of_one_instant_are_calls_one_after_the_other() {
    let mut application = blocking(&[(0, 900), (0, 900), (0, 900), (50, 900)], 1, 1_000);
    assert_eq!(writes(&mut application, 100), [(0, 900, 100), (0, 900, 100)]);
    assert!(sent(&mut application, 120, 0, 900));
    assert_eq!(application.next_wake(), Some(ms(120)));
    assert_eq!(writes(&mut application, 120), [(0, 900, 120)]);
    assert!(sent(&mut application, 130, 0, 1_800));
    assert_eq!(application.next_wake(), Some(ms(180)));
}

/// Buffered, or blocking with packets that nothing fills.
fn applications(script: &[(u64, u64)]) -> [Box<dyn Application>; 2] {
    let feed = || {
        let source = Box::new(Script { messages: script.to_vec(), keeps_time: false });
        vec![Feed { source, first_stream: 0, streams: 2, dealt: 0 }]
    };
    let until = BlocksUntil::Unsent(Bytes::new(1_000_000));
    [
        Box::new(Buffered::new(feed(), ms(100), ms(1_000))),
        Box::new(Blocking::new(feed(), ms(100), ms(1_000), until)),
    ]
}

#[test]
fn what_is_due_at_once_is_written_in_pieces_that_are_due_at_the_same_instant() {
    let script: Vec<_> = (0..250).map(|number| (10, number + 1)).collect();
    for mut application in applications(&script) {
        let mut written = Vec::new();
        for piece in [100, 100, 50] {
            assert_eq!(application.next_wake(), Some(ms(110)));
            assert!(!application.is_finished());
            let calls = writes(&mut *application, 110);
            assert_eq!(calls.len(), piece);
            written.extend(calls);
        }
        assert!(application.is_finished());
        let whole = (0..250).map(|number| (number as usize % 2, number + 1, 110));
        assert!(written.into_iter().eq(whole), "in order, and dealt in turn");
    }
}

#[test]
fn one_thread_that_deals_over_streams_is_held_up_by_any_of_them() {
    let mut application = blocking(&[(0, 3_000), (10, 100), (20, 100)], 2, 1_000);
    assert_eq!(writes(&mut application, 100), [(0, 3_000, 100)]);
    assert_eq!(
        writes(&mut application, 110),
        [],
        "the second stream is empty, but its turn has not come"
    );
    assert!(sent(&mut application, 140, 0, 2_000));
    assert_eq!(writes(&mut application, 150), [(1, 100, 150)]);
    assert!(!sent(&mut application, 155, 1, 100), "no call waits for it");
}

#[test]
fn a_call_that_lasts_until_the_stop_is_the_last() {
    let mut application = blocking(&[(0, 2_000), (10, 100)], 1, 150);
    assert_eq!(writes(&mut application, 100), [(0, 2_000, 100)]);
    assert!(!application.is_finished());
    assert_eq!(application.next_wake(), Some(ms(150)));
    assert_eq!(finishes(&mut application, 150), [End::Sender]);
    assert!(application.is_finished());
    sent(&mut application, 160, 0, 2_000);
    assert_eq!(application.next_wake(), None);
    assert_eq!(writes(&mut application, 170), []);
}

#[test]
fn a_source_that_is_done_need_not_wait_for_its_last_call() {
    let mut application = blocking(&[(0, 5_000)], 1, 1_000);
    assert_eq!(finishes(&mut application, 100), [End::Sender]);
    assert!(application.is_finished());
}

/// A page that starts at 100 ms, from an array of tables in TOML.
fn page(objects: &str) -> Page {
    let tree: Value = toml::from_str(&format!("objects = {objects}")).unwrap();
    let Value::Table(table) = &tree else { panic!("a table") };
    let objects = table.get("objects").unwrap();
    Page::new(&Vec::<ObjectSpec>::read(objects, &At::ROOT).unwrap(), ms(100))
}

fn delivered(page: &mut Page, now: u64, end: End, stream: usize, offset: u64) -> bool {
    page.on_report(ms(now), end, Report::Delivered { stream: stream.into(), offset })
}

#[test]
fn an_object_is_answered_when_its_request_has_arrived_whole() {
    let mut page = page(r#"[{ name = "a", size = "70 B", request = "80 B", think = "5 ms" }]"#);
    let mut actions = Vec::new();
    page.advance(ms(100), &mut actions).unwrap();
    let message = |size, at| Message { size: Bytes::new(size), created: ms(at) };
    let (sender, receiver) = (End::Sender, End::Receiver);
    let asked = [
        Action::Create { stream: 0.into(), message: message(70, 100) },
        Action::Write { end: receiver, stream: 0.into(), message: message(80, 100) },
        Action::Finish { end: receiver },
    ];
    assert_eq!(actions, asked);
    assert_eq!(page.next_wake(), None);
    assert!(!delivered(&mut page, 119, sender, 0, 70), "a part of the request");
    assert!(delivered(&mut page, 120, sender, 0, 80));
    assert_eq!(page.next_wake(), Some(ms(125)));
    actions.clear();
    page.advance(ms(125), &mut actions).unwrap();
    let answered = [
        Action::Write { end: sender, stream: 0.into(), message: message(70, 125) },
        Action::Finish { end: sender },
    ];
    assert_eq!(actions, answered);
    assert!(!delivered(&mut page, 130, receiver, 0, 14));
    assert!(!delivered(&mut page, 144, receiver, 0, 69));
    assert!(!page.is_finished());
    assert!(delivered(&mut page, 145, receiver, 0, 70));
    assert!(page.is_finished());
    let (requested, first_byte, delivered) = (Some(ms(100)), Some(ms(130)), Some(ms(145)));
    let objects = vec![ObjectTimes { requested, first_byte, delivered }];
    // 14 bytes after 30 ms, 55 after 44 ms, and one after 45 ms.
    let waited = (14 * 30 + 55 * 44 + 45) * 1_000_000;
    assert_eq!(page.page(), Some(PageTimes { objects, bytes: 70, waited }));
}

#[test]
fn objects_wait_for_all_that_they_come_after() {
    let mut page = page(
        r#"[{ name = "last", size = "1 B", after = ["one", "some"], delay = "7 ms" },
            { name = "one", size = "1 B" }, { name = "some", size = "1 B", count = 2, at = "30 ms" }]"#,
    );
    assert_eq!(writes(&mut page, 100), [(1, 400, 100)]);
    assert_eq!(page.next_wake(), Some(ms(130)));
    assert_eq!(writes(&mut page, 130), [(2, 400, 130), (3, 400, 130)]);
    for (now, stream) in [(150, 3), (160, 1)] {
        delivered(&mut page, now, End::Receiver, stream, 1);
        assert_eq!(page.next_wake(), None, "one of `some` is missing");
    }
    delivered(&mut page, 170, End::Receiver, 2, 1);
    assert_eq!(page.next_wake(), Some(ms(177)));
    assert_eq!(writes(&mut page, 177), [(0, 400, 177)]);
    assert!(!page.is_finished());
    delivered(&mut page, 190, End::Receiver, 0, 1);
    assert!(page.is_finished());
}

/// Groups of objects: how many, the numbers of earlier groups that they come after, and their delay or time.
type Groups = Vec<(u32, Vec<usize>, u64)>;

fn any_groups() -> impl Strategy<Value = Groups> {
    let group = (1u32..4, prop::collection::vec(any::<prop::sample::Index>(), 0..4), 0u64..50);
    prop::collection::vec(group, 1..8).prop_map(|groups| {
        let earlier = |number: usize, others: Vec<prop::sample::Index>| match number {
            0 => Vec::new(),
            _ => others.into_iter().map(|other| other.index(number)).collect(),
        };
        let numbered = groups.into_iter().enumerate();
        numbered.map(|(number, (count, others, at))| (count, earlier(number, others), at)).collect()
    })
}

fn written(groups: &Groups) -> String {
    let group = |(number, (count, after, at)): (usize, &(u32, Vec<usize>, u64))| {
        let key = if after.is_empty() { "at" } else { "delay" };
        let after: Vec<_> = after.iter().map(|other| format!("\"g{other}\"")).collect();
        format!(
            "{{ name = \"g{number}\", size = \"9 B\", count = {count}, after = [{}], {key} = \"{at} ms\" }}",
            after.join(", ")
        )
    };
    let groups: Vec<_> = groups.iter().enumerate().map(group).collect();
    format!("[{}]", groups.join(", "))
}

/// Lets requests and answers travel for times drawn from `seed`, until nothing happens any more.
fn load(page: &mut Page, seed: u64) -> Vec<Action> {
    let mut rng = RngTree::new(seed).rng();
    let mut flights: BTreeSet<(SimTime, bool, usize)> = BTreeSet::new();
    let (mut done, mut actions) = (Vec::new(), Vec::new());
    loop {
        let arrives = flights.first().map(|(at, ..)| *at);
        let Some(now) = arrives.into_iter().chain(page.next_wake()).min() else { return done };
        if arrives == Some(now) {
            let (_, asks, stream) = flights.pop_first().unwrap();
            let (end, offset) = if asks { (End::Sender, 400) } else { (End::Receiver, 9) };
            assert!(page.on_report(now, end, Report::Delivered { stream: stream.into(), offset }));
            continue;
        }
        page.advance(now, &mut actions).unwrap();
        for action in &actions {
            if let Action::Write { end, stream, .. } = action {
                let travels = SimDuration::from_millis(1 + rng.below(30));
                flights.insert((now + travels, *end == End::Receiver, stream.index()));
            }
        }
        done.append(&mut actions);
    }
}

proptest! {
    #[test]
    fn every_object_comes_once_and_after_what_it_waits_for(groups in any_groups(), seed: u64) {
        let mut page = page(&written(&groups));
        let actions = load(&mut page, seed);
        prop_assert!(page.is_finished());
        let times = page.page().unwrap().objects;
        let count = |wanted: fn(&Action) -> bool| actions.iter().filter(|action| wanted(action)).count();
        prop_assert_eq!(count(|action| matches!(action, Action::Create { .. })), times.len());
        prop_assert_eq!(count(|action| matches!(action, Action::Write { .. })), 2 * times.len());
        prop_assert_eq!(count(|action| matches!(action, Action::Finish { .. })), 2);
        let mut arrived: Vec<SimTime> = Vec::new();
        let mut next = times.iter();
        for (count, after, at) in &groups {
            let from = after.iter().map(|other| arrived[*other]).max().unwrap_or(ms(100));
            let group: Vec<_> = next.by_ref().take(*count as usize).collect();
            for object in &group {
                prop_assert_eq!(object.requested, Some(from + SimDuration::from_millis(*at)));
            }
            arrived.push(group.iter().filter_map(|object| object.delivered).max().unwrap());
        }
    }
}

#[test]
fn what_a_timer_brings_during_a_call_is_written_when_it_returns() {
    let script = [(0, 600), (0, 600), (10, 600), (20, 600), (60, 600)];
    let mut application = paced(&script, 1, 1_000, true);
    assert_eq!(writes(&mut application, 100), [(0, 600, 100), (0, 600, 100)], "the second blocks");
    assert_eq!(application.next_wake(), Some(ms(1_000)));
    assert!(sent(&mut application, 137, 0, 1_200));
    assert_eq!(application.next_wake(), Some(ms(137)), "two slots have begun");
    assert_eq!(writes(&mut application, 137), [(0, 600, 137), (0, 600, 137)]);
    assert!(sent(&mut application, 150, 0, 2_400));
    assert_eq!(application.next_wake(), Some(ms(160)), "the clock ran on");
}
