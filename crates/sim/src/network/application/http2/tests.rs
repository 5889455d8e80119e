use leobench_base::spec::{At, Spec, Value};
use leobench_base::{SimDuration, SimTime};
use proptest::prelude::*;

use super::*;

fn ms(millis: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_millis(millis)
}

/// A page from an array of tables in TOML, all of whose requests have arrived at once; the server has written what its socket
/// took at first.
fn answering(objects: &str) -> (Http2, Vec<u64>) {
    let tree: Value = toml::from_str(&format!("objects = {objects}")).unwrap();
    let Value::Table(table) = &tree else { panic!("a table") };
    let objects = Vec::<ObjectSpec>::read(table.get("objects").unwrap(), &At::ROOT).unwrap();
    let mut http = Http2::new(Page::new(&objects, ms(0)), &objects);
    let requests = writes(&mut http, 0, End::Receiver).into_iter().sum();
    let arrived =
        told(&mut http, End::Sender, Report::Delivered { stream: 0.into(), offset: requests });
    for report in arrived {
        assert!(http.on_report(ms(0), End::Sender, report));
    }
    let first = writes(&mut http, 0, End::Sender);
    (http, first)
}

/// Sizes of the writes of an end at `now`.
fn writes(http: &mut Http2, now: u64, at: End) -> Vec<u64> {
    let mut actions = Vec::new();
    http.advance(ms(now), &mut actions).unwrap();
    let written = actions.iter().filter_map(|action| match action {
        Action::Write { end, stream: STREAM, message } if *end == at => Some(message.size.get()),
        _ => None,
    });
    written.collect()
}

/// Reports about objects that come of one about the connection.
fn told(http: &mut Http2, end: End, report: Report) -> Vec<Report> {
    let mut reports = vec![report];
    http.demultiplex(ms(1), end, &mut reports);
    reports
}

/// The objects of the frames from now on, with the bytes of their contents, when the socket always has room for one more.
fn frames(http: &mut Http2) -> Vec<(usize, u64)> {
    let mut frames = Vec::new();
    while !http.responses.streams().iter().all(|stream| stream.backlog() == 0) {
        let before = http.answered.waiting.len();
        let offset = http.answered.written;
        told(http, End::Sender, Report::Room { stream: 0.into(), offset });
        assert_eq!(http.next_wake(), Some(ms(1)), "there is room for a frame");
        assert_eq!(writes(http, 1, End::Sender).len(), 1, "and for no more");
        let written = http.answered.waiting.iter().skip(before);
        frames.extend(written.map(|frame| (frame.object.index(), frame.content)));
    }
    frames
}

/// RFC 9113 sections 4.1 and 4.2.
#[test]
fn responses_are_cut_into_frames() {
    let (mut http, first) = answering(r#"[{ name = "a", size = "40000 B", headers = "100 B" }]"#);
    assert_eq!(first, [9 + 100 + 9 + 16_384]);
    assert_eq!(frames(&mut http), [(0, 16_384), (0, 40_000 - 2 * 16_384)]);
    assert_eq!(http.answered.written, 4 * 9 + 100 + 40_000);
}

#[test]
fn nothing_is_written_without_room() {
    let (mut http, first) = answering(r#"[{ name = "a", size = "100 kB" }]"#);
    assert_eq!(first, [18 + 16_384]);
    assert_eq!(http.next_wake(), None);
    told(&mut http, End::Sender, Report::Room { stream: 0.into(), offset: first[0] - 1 });
    assert_eq!(http.next_wake(), None, "the first frame is not in the socket");
    told(&mut http, End::Sender, Report::Room { stream: 0.into(), offset: first[0] + 20_000 });
    assert_eq!(http.next_wake(), Some(ms(1)));
    assert_eq!(writes(&mut http, 1, End::Sender), [16_393, 16_393]);
    assert_eq!(http.next_wake(), None);
}

/// RFC 9218 section 10: by urgency; in order where a part is of no use, in turns where it is.
#[test]
fn responses_are_sent_by_priority() {
    let size = "size = \"30000 B\"";
    let objects = format!(
        "[{{ name = \"late\", {size}, urgency = 5 }}, {{ name = \"whole\", count = 2, {size} }},
          {{ name = \"part\", count = 2, {size}, urgency = 4, incremental = true }},
          {{ name = \"first\", {size}, urgency = 0 }}]"
    );
    let (mut http, first) = answering(&objects);
    let rest = 30_000 - 16_384;
    assert_eq!(first, [18 + 16_384]);
    let whole = |object| [(object, 0), (object, 16_384), (object, rest)];
    let mut expected = vec![(5, rest)];
    expected.extend(whole(1).into_iter().chain(whole(2)));
    expected.extend([(3, 0), (3, 16_384), (4, 0), (4, 16_384), (3, rest), (4, rest)]);
    expected.extend(whole(0));
    assert_eq!(frames(&mut http), expected);
}

/// The end of the connection follows the last frame, not the last answer.
#[test]
fn the_last_frame_ends_the_connection() {
    let (mut http, first) = answering(r#"[{ name = "a", size = "20 kB" }]"#);
    let finishes = |http: &mut Http2| {
        let mut actions = Vec::new();
        http.advance(ms(1), &mut actions).unwrap();
        actions.contains(&Action::Finish { end: End::Sender })
    };
    assert!(!finishes(&mut http));
    told(&mut http, End::Sender, Report::Room { stream: 0.into(), offset: first[0] });
    assert!(finishes(&mut http));
    assert!(!finishes(&mut http), "once");
}

#[test]
fn a_long_request_takes_several_frames() {
    let tree: Value = toml::from_str(
        r#"objects = [{ name = "a", size = "1 B", request = "40000 B" }, { name = "b", size = "1 B" }]"#,
    )
    .unwrap();
    let Value::Table(table) = &tree else { panic!("a table") };
    let objects = Vec::<ObjectSpec>::read(table.get("objects").unwrap(), &At::ROOT).unwrap();
    let mut http = Http2::new(Page::new(&objects, ms(0)), &objects);
    assert_eq!(writes(&mut http, 0, End::Receiver), [3 * 9 + 40_000, 9 + 400]);
    let arrived = |offset| Report::Delivered { stream: 0.into(), offset };
    assert_eq!(told(&mut http, End::Sender, arrived(27)), []);
    let whole = |stream, offset| Report::Delivered { stream, offset };
    assert_eq!(told(&mut http, End::Sender, arrived(40_027)), [whole(0.into(), 40_000)]);
    assert_eq!(told(&mut http, End::Sender, arrived(40_436)), [whole(1.into(), 400)]);
}

proptest! {
    /// However the byte stream is cut, all bytes of all objects are reported once and in order, and none before it is there.
    #[test]
    fn every_byte_belongs_to_an_object(
        contents in prop::collection::vec((0usize..3, 0u64..50), 1..20),
        cuts in prop::collection::vec(1u64..60, 0..40),
    ) {
        let (mut frames, mut ends, mut bytes) = (Frames::default(), [0; 3], Vec::new());
        for (object, content) in contents {
            ends[object] += content;
            frames.write(object.into(), FRAME_HEADER, content, ends[object]);
            bytes.extend(std::iter::repeat_n(None, 9));
            bytes.extend(std::iter::repeat_n(Some(object), content as usize));
        }
        let cuts = cuts.into_iter().scan(0, |at, cut| { *at += cut; Some(*at) });
        let all = bytes.len() as u64;
        let offsets: Vec<u64> = cuts.take_while(|at| *at < all).chain([all]).collect();
        let (mut sent, mut arrived) = ([0; 3], [0; 3]);
        for offset in offsets {
            let mut expected = [0; 3];
            for object in bytes[..offset as usize].iter().flatten() {
                expected[*object] += 1;
            }
            frames.sent(offset, |object, reached| sent[object.index()] = reached);
            prop_assert_eq!(sent, expected);
            frames.arrived(offset, |object, reached| {
                let known = &mut arrived[object.index()];
                assert!(reached > *known, "reported once");
                *known = reached;
            });
            prop_assert_eq!(arrived, expected);
        }
        prop_assert!(frames.waiting.is_empty());
    }
}
