use std::sync::mpsc::{channel, sync_channel};

use bytes::Bytes;
use etherparse::PacketBuilder;
use leobench_base::{Bytes as Size, Packet, SimDuration, wire};
use leobench_link::Cause;
use leobench_sim::capture::Passage;
use leobench_sim::network::PacketTrace as _;
use leobench_sim::record::{Location, Names, PacketEvent};

use super::*;

fn at(micros: u64) -> SimTime {
    SimTime::from_nanos(micros * 1_000)
}

fn row(packet: u64, event: PacketEvent, queued: Option<u64>) -> PacketRow {
    let queued = queued.map(SimDuration::from_micros);
    let location = Location::Link(DirectionId::from(0));
    PacketRow { packet, location, event, size: Size::new(100), flow: None, queued }
}

fn names() -> Event {
    Event::Names { directions: vec!["path/a->b".into()], nodes: vec!["a".into(), "b".into()] }
}

fn entered(micros: u64, packet: u64) -> Event {
    let copy = Copied { size: 100, kept: 1 };
    Event::Entered { at: at(micros), packet, port: Some(PortId::from(0)), copy }
}

fn left(micros: u64, packet: u64) -> Event {
    let copy = Copied { size: 100, kept: 1 };
    Event::Left { at: at(micros), packet, port: PortId::from(1), copy }
}

fn chunk(events: Vec<Event>) -> Chunk {
    let count = events.iter().filter(|event| !matches!(event, Event::Names { .. })).count();
    Chunk { events, bytes: (0..count as u8).collect(), follows_gap: false }
}

fn told(ways: impl Iterator<Item = Written>) -> Vec<(u64, usize, String)> {
    let tell =
        |written: Written| (written.at.as_nanos() / 1_000, written.port.index(), written.comment);
    ways.map(tell).collect()
}

fn event(micros: u64, row: PacketRow) -> Event {
    Event::Row { at: at(micros), row }
}

fn state(micros: u64, label: &str) -> Event {
    let direction = DirectionId::from(0);
    Event::Channel { at: at(micros), direction, label: label.into() }
}

/// The state is that at the beginning of the transmission, and not that at the end of the way.
#[test]
fn a_comment_tells_the_queue_the_link_the_state_and_the_end() {
    let mut ways = Ways::new(MOST_HELD);
    ways.take(&chunk(vec![
        names(),
        state(0, "good"),
        entered(100, 7),
        event(100, row(7, PacketEvent::Enqueue, None)),
        event(150, row(7, PacketEvent::Mark(Cause::new("pie")), Some(50))),
        state(400, "bad"),
        entered(500, 8),
        event(500, row(8, PacketEvent::Enqueue, None)),
        event(900, row(7, PacketEvent::Deliver, Some(250))),
        left(900, 7),
        event(950, row(8, PacketEvent::Drop(Cause::new("codel")), Some(450))),
    ]));
    let seven =
        "packet 7; path/a->b: queue 0.250 ms, link 0.550 ms, channel good, marked (pie), delivered";
    let eight = "packet 8; path/a->b: queue 0.450 ms, channel bad, dropped (codel)";
    let all = [(100, 0, seven), (500, 0, eight), (900, 1, seven)];
    let all: Vec<_> = all.map(|(at, port, text)| (at, port, text.to_owned())).into();
    assert_eq!(told(ways.settled()), all);
    assert_eq!(told(ways.finish()), []);
}

/// Each link's times begin where the packet enters it, and a mark is told where it was made only.
#[test]
fn a_comment_tells_each_link_and_a_node_that_drops() {
    let mut ways = Ways::new(MOST_HELD);
    let second = Location::Link(DirectionId::from(1));
    let on_second = |event, queued| PacketRow { location: second, ..row(7, event, queued) };
    let directions = vec!["up/a->b".into(), "down/b->c".into()];
    ways.take(&chunk(vec![
        Event::Names { directions, nodes: ["a", "b", "c"].map(str::to_owned).into() },
        entered(100, 7),
        event(100, row(7, PacketEvent::Enqueue, None)),
        event(100, row(7, PacketEvent::Mark(Cause::new("red")), Some(0))),
        event(900, row(7, PacketEvent::Deliver, Some(250))),
        event(900, on_second(PacketEvent::Enqueue, None)),
        event(2_000, on_second(PacketEvent::Deliver, Some(100))),
        event(
            2_000,
            PacketRow {
                location: Location::Node(2.into()),
                ..row(7, PacketEvent::Drop(Cause::NO_PORT), None)
            },
        ),
    ]));
    let comment = "packet 7; up/a->b: queue 0.250 ms, link 0.550 ms, marked (red), delivered; \
                   down/b->c: queue 0.100 ms, link 1.000 ms, delivered; c: dropped (no_port)";
    assert_eq!(told(ways.settled()), [(100, 0, comment.to_owned())]);
}

/// The first packet is done last; what came in before it goes first, and the rest waits.
#[test]
fn captures_wait_for_packets_that_came_in_before_them() {
    let mut ways = Ways::new(MOST_HELD);
    ways.take(&chunk(vec![
        names(),
        entered(1, 1),
        entered(2, 2),
        left(3, 1),
        entered(4, 3),
        left(5, 3),
    ]));
    let times =
        |told: Vec<(u64, usize, String)>| told.iter().map(|(at, ..)| *at).collect::<Vec<_>>();
    assert_eq!(times(told(ways.settled())), [1]);
    ways.take(&chunk(vec![left(6, 2)]));
    assert_eq!(times(told(ways.settled())), [2, 3, 4, 5, 6]);
    assert_eq!(ways.held, 0);
}

#[test]
fn packets_in_the_network_at_the_end_are_written_and_told_apart() {
    let mut ways = Ways::new(MOST_HELD);
    ways.take(&chunk(vec![names(), entered(1, 1)]));
    let written: Vec<_> = ways.finish().collect();
    assert_eq!(written.len(), 1);
    assert!(!written[0].is_finished);
    assert_eq!(written[0].passage, Passage::Outbound);
    assert_eq!(written[0].comment, "packet 1; still in the network at the end");
}

/// The oldest packet blocks all others until they take too much.
#[test]
fn memory_is_limited_where_one_packet_stays() {
    let mut ways = Ways::new(1_000);
    ways.take(&chunk(vec![names(), entered(1, 1)]));
    for number in 2..50 {
        ways.take(&chunk(vec![entered(number, number), left(number, number)]));
        let _: Vec<_> = ways.settled().collect();
        assert!(ways.held <= 1_500, "{}", ways.held);
    }
    let late = chunk(vec![left(60, 1)]);
    ways.take(&late);
    let last: Vec<_> = ways.settled().collect();
    assert_eq!(last[0].comment, "packet 1; its way was not recorded");
    assert!(!last[0].is_finished);
}

fn packet(id: u64) -> Packet {
    let mut bytes = Vec::new();
    let builder = PacketBuilder::ipv4([172, 16, 0, 1], [172, 16, 0, 2], 64);
    builder.udp(1, 9).write_to_vec(&mut bytes, &[7; 100]).unwrap();
    wire::parse(Bytes::from(bytes), id, SimTime::ZERO).unwrap()
}

/// A thread that does not come to work gets what was handed over first, and a gap.
#[test]
fn packets_that_find_no_room_are_counted_and_the_driver_goes_on() {
    let (full, chunks) = sync_channel(2);
    let (_give_back, empty) = channel();
    let left_out = Arc::<AtomicU64>::default();
    let mut tap = Tap::new(64, full, empty, Arc::clone(&left_out));
    tap.begin(&Names::default());
    let port = PortId::from(0);
    for number in 0..30_000 {
        tap.entered(SimTime::from_nanos(number), Some(port), &packet(number));
    }
    assert!(left_out.load(Ordering::Relaxed) > 0);
    let first = [chunks.recv().unwrap(), chunks.recv().unwrap()];
    assert!(first.iter().all(|chunk| !chunk.follows_gap));
    drop(tap);
    let last = chunks.recv().unwrap();
    assert!(last.follows_gap);
    let entered = |chunk: &Chunk| {
        chunk.events.iter().filter(|event| matches!(event, Event::Entered { .. })).count() as u64
    };
    let kept: u64 = first.iter().chain([&last]).map(entered).sum();
    assert_eq!(kept + left_out.load(Ordering::Relaxed), 30_000);
    let mut ways = Ways::new(MOST_HELD);
    ways.take(&first[0]);
    ways.take(&last);
    let written: Vec<_> = ways.settled().collect();
    assert_eq!(written.len() as u64, entered(&first[0]), "those before the gap are given up");
    assert!(written.iter().all(|written| !written.is_finished && written.bytes.len() == 64));
    assert_eq!(written[0].size, 128);
    assert_eq!(written[0].comment, "packet 0; the rest of its way was not recorded");
}
