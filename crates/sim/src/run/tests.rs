//! A queue discipline that the registry does not have: the causes it names reach the results without another edit.

use std::path::PathBuf;

use leobench_base::{BitRate, Bytes, Descriptor, DirectionId, RngTree, SimDuration};
use leobench_link::{
    Backlog, Cause, Causes, ChannelState, Dequeued, Fates, Link, LinkConfig, QueueDiscipline,
};

use super::*;
use crate::load::{Source, Syntax, load};
use crate::record::frame::Frame;
use crate::record::{MemorySink, Stored, Table};

/// Drops every tenth packet, and marks every other one that can be marked.
#[derive(Default)]
struct Tithe {
    waiting: Vec<Descriptor>,
    seen: u64,
}

const TITHE: Cause = Cause::new("tithe");
const STAMP: Cause = Cause::new("stamp");

impl QueueDiscipline for Tithe {
    fn enqueue(&mut self, _now: SimTime, mut packet: Descriptor, fates: &mut Fates) {
        self.seen += 1;
        if self.seen.is_multiple_of(10) {
            return fates.drop(packet, TITHE);
        }
        if self.seen.is_multiple_of(2) {
            fates.mark(&mut packet, STAMP);
        }
        self.waiting.push(packet);
    }

    fn dequeue(&mut self, _now: SimTime, _fates: &mut Fates) -> Dequeued {
        if self.waiting.is_empty() {
            Dequeued::Empty
        } else {
            Dequeued::Packet(self.waiting.remove(0))
        }
    }

    fn backlog(&self) -> Backlog {
        let bytes = self.waiting.iter().map(|packet| packet.meta.size).sum();
        Backlog { packets: self.waiting.len() as u64, bytes }
    }

    fn flush(&mut self, _now: SimTime, out: &mut Vec<Descriptor>) {
        out.append(&mut self.waiting);
    }

    fn withdraw(
        &mut self,
        _now: SimTime,
        leaves: &dyn Fn(&Descriptor) -> bool,
        out: &mut Vec<Descriptor>,
    ) {
        out.extend(self.waiting.extract_if(.., |packet| leaves(packet)));
    }

    fn causes(&self) -> Causes {
        Causes { drops: vec![TITHE], marks: vec![STAMP] }
    }
}

const SCENARIO: &str = r#"
    name = "tithe"
    duration = "20 s"
    warm_up = "1 s"
    nodes = { a = {}, b = {} }
    record = { packets = true }
    [links.path]
    between = ["a", "b"]
    rate = "8 Mbps"
    delay = "10 ms"
    [flows.main]
    from = "a"
    to = "b"
    transport = { kind = "tcp", ecn = true }
    source = "bulk"
"#;

#[test]
fn a_new_cause_is_counted_in_summary_and_tables() {
    let source =
        Source { file: "test.toml", text: SCENARIO, syntax: Syntax::Toml, folder: PathBuf::new() };
    let scenario = load(&source, &[]).unwrap_or_else(|error| panic!("{error}"));
    let sink = Box::new(MemorySink::new().unwrap());
    let mut run = Run::new(&scenario, 1, RunOptions::default(), sink).unwrap();
    let config = LinkConfig {
        queue: Box::new(Tithe::default()),
        loss: None,
        access: None,
        delay: SimDuration::from_millis(10),
        overhead: 0,
        mtu: Bytes::new(1500),
        overtaking: false,
        rate_scale: 1.0,
        rng: RngTree::new(1),
    };
    let state = ChannelState::at_rate(BitRate::from_bps(8_000_000), "steady");
    run.network.replace_direction(DirectionId::from(0), Link::new(config, &state));
    run.to_end().unwrap();
    let outcome = run.finish().unwrap();

    let Stored::Memory(bytes) = &outcome.tables[Table::Packets as usize].stored else {
        panic!("in memory")
    };
    let packets = Frame::read(bytes);
    let (times, links) = (packets.integers("t_ns"), packets.texts("link"));
    let (events, causes) = (packets.texts("event"), packets.texts("cause"));
    let rows = |event: &str, cause: &str| {
        let row = |row: &usize| {
            times[*row] >= 1_000_000_000
                && links[*row] == "path/a->b"
                && (events[*row].as_str(), causes[*row].as_str()) == (event, cause)
        };
        (0..times.len()).filter(row).count() as u64
    };
    let link = &outcome.summary.links[0];
    let (tithes, stamps) = (link.dropped_packets.of("tithe"), link.marked_packets.of("stamp"));
    assert!(tithes > 10 && stamps > 40, "{link:?}");
    assert_eq!((rows("drop", "tithe"), rows("mark", "stamp")), (tithes, stamps));
    assert_eq!((link.dropped_packets.total(), link.marked_packets.total()), (tithes, stamps));

    let summary = serde_json::to_string(&outcome.summary.links).unwrap();
    let drops =
        format!(r#""dropped_packets":{{"queue":0,"channel":0,"down":0,"mtu":0,"tithe":{tithes}}}"#);
    let marks = format!(r#""marked_packets":{{"stamp":{stamps}}}"#);
    assert!(summary.contains(&format!("{drops},{marks}")), "{summary}");
    // The way back has a queue that marks nothing, and its summary has no marks.
    assert_eq!(summary.matches("marked_packets").count(), 1);

    let Stored::Memory(bytes) = &outcome.tables[Table::Events as usize].stored else {
        panic!("in memory")
    };
    let events = Frame::read(bytes);
    let (kinds, details) = (events.texts("kind"), events.texts("detail"));
    let has = |kind: &str, cause: &str| {
        kinds
            .iter()
            .zip(&details)
            .any(|(k, d)| k == kind && d.starts_with(&format!("{cause}: packet ")))
    };
    assert!(has("drop", "tithe") && has("mark", "stamp"));
}
