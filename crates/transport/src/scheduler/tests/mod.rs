//! Conformance tests that run on every stream scheduler.

mod queueing;
mod reference;
mod starvation;

use leobench_base::spec::{At, Spec, Table, Value};
use leobench_base::varint::varint_size;
use leobench_base::{Bytes, SimDuration, StreamIndex};
use proptest::prelude::*;

use super::packet::frame_header;
use super::*;
use crate::buffer::{Attributes, Message};

/// The scheduler of a scenario text.
pub(super) fn spec(text: &str) -> SchedulerSpec {
    let mut table = Table::new();
    let mut words = text.split_whitespace();
    table.insert("kind", Value::String(words.next().unwrap().into()));
    for (key, value) in words.map(|word| word.split_once('=').unwrap()) {
        let number = |text: &str| Value::Float(text.parse().unwrap());
        let value = match key {
            "slot" => Value::String(value.replace('s', " s")),
            "weights" => Value::Array(value.split(',').map(number).collect()),
            _ => Value::String(value.into()),
        };
        table.insert(key, value);
    }
    SchedulerSpec::read(&Value::Table(table), &At::ROOT).unwrap()
}

/// Every scheduler in every variant, for a flow of `streams` streams.
fn all(streams: usize) -> Vec<SchedulerSpec> {
    let mut specs = SchedulerSpec::examples();
    specs.extend(["fq surplus=none", "wfq weights=1 surplus=none", "stbp per=batch"].map(spec));
    let weight = |stream: usize| Value::Float([2.0, 1.0, 3.5, 0.01][stream % 4]);
    let weights = Value::Array((0..streams).map(weight).collect());
    for one in &mut specs {
        let Value::Table(mut table) = one.write() else { unreachable!() };
        if table.get("weights").is_some() {
            table.insert("weights", weights.clone());
            *one = SchedulerSpec::read(&Value::Table(table), &At::ROOT).unwrap();
        }
    }
    specs
}

/// Whether a scheduler fills the packet as long as bytes are waiting.
fn is_work_conserving(spec: &SchedulerSpec, streams: usize) -> bool {
    let (rng, plugins) = (&RngTree::new(1), &crate::testing::in_order());
    spec.model().build(&SchedulerContext { streams, rng, plugins }).unwrap().fills_packets()
}

/// Streams of several urgencies, of both kinds, with and without deadlines.
fn attributes(streams: usize) -> Vec<Attributes> {
    let stream = |index: usize| Attributes {
        urgency: (index % 3) as u8,
        incremental: index.is_multiple_of(2),
        deadline: (!index.is_multiple_of(4)).then(|| SimDuration::from_nanos(10 * index as u64)),
        ..Attributes::default()
    };
    (0..streams).map(stream).collect()
}

#[derive(Clone, Debug)]
enum Operation {
    Write(usize, u64),
    Hold(usize, bool),
    /// The room of a packet, and whether flow control stops the last of its streams halfway.
    Send(u64, bool),
    Wait(u64),
}

fn any_operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => (0usize..70, 1u64..4_000).prop_map(|(stream, size)| Operation::Write(stream, size)),
        2 => (0usize..70, 1u64..40).prop_map(|(stream, size)| Operation::Write(stream, size)),
        1 => (0usize..70, any::<bool>()).prop_map(|(stream, held)| Operation::Hold(stream, held)),
        8 => (100u64..1_500, prop::bool::weighted(0.1)).prop_map(|(room, stop)| Operation::Send(room, stop)),
        2 => (1u64..1_000).prop_map(Operation::Wait),
    ]
}

/// A multiplexer that executes operations; each takes an additional nanosecond.
pub(super) struct Harness {
    pub(super) streams: Multiplexer,
    count: usize,
    now: SimTime,
}

/// A packet's room and its shares.
type Packet = (u64, Vec<Share>);

impl Harness {
    pub(super) fn new(spec: &SchedulerSpec, attributes: &[Attributes], seed: u64) -> Self {
        Self::with_costs(spec, attributes, seed, FrameCosts::Exact)
    }

    fn with_costs(
        spec: &SchedulerSpec,
        attributes: &[Attributes],
        seed: u64,
        costs: FrameCosts,
    ) -> Self {
        let plugins = crate::testing::in_order();
        let streams = Multiplexer::new(spec, attributes, &RngTree::new(seed), &plugins).unwrap();
        let streams = streams.with_costs(costs);
        Self { streams, count: attributes.len(), now: SimTime::ZERO }
    }

    /// Executes an operation and returns the packet it sent; `before` is called while its bytes are still waiting.
    fn follow(
        &mut self,
        operation: &Operation,
        before: impl FnOnce(SimTime, &SendBuffer, &Packet),
    ) -> Option<Packet> {
        self.now += SimDuration::from_nanos(1);
        match *operation {
            Operation::Write(stream, size) => {
                self.streams.push(
                    (stream % self.count).into(),
                    Message { size: Bytes::new(size), created: self.now },
                );
            }
            Operation::Hold(stream, held) => self.streams.hold((stream % self.count).into(), held),
            Operation::Wait(nanos) => self.now += SimDuration::from_nanos(nanos),
            Operation::Send(room, stop) if self.streams.buffer().has_occupied() => {
                self.streams.schedule(self.now, room).unwrap();
                let packet = (room, self.streams.shares().to_vec());
                before(self.now, self.streams.buffer(), &packet);
                for (index, share) in packet.1.iter().enumerate() {
                    let stop = stop && index + 1 == packet.1.len();
                    self.streams
                        .take(share.stream, if stop { share.bytes / 2 } else { share.bytes });
                    if stop {
                        self.streams.hold(share.stream, true);
                    }
                }
                return Some(packet);
            }
            Operation::Send(..) => {}
        }
        None
    }

    pub(super) fn write(&mut self, stream: usize, size: u64) {
        self.streams.push(stream.into(), Message { size: Bytes::new(size), created: self.now });
    }

    /// Sends a packet; returns its streams and bytes.
    pub(super) fn send(&mut self, room: u64) -> Vec<(usize, u64)> {
        let packet = self.follow(&Operation::Send(room, false), |_, _, _| ()).unwrap();
        packet.1.iter().map(|share| (share.stream.index(), share.bytes)).collect()
    }
}

/// Bytes of the frames of a packet, the last without a length if it fills the packet (RFC 9000 section 19.8).
fn frames(buffer: &SendBuffer, room: u64, shares: &[Share]) -> u64 {
    let mut used = 0;
    for share in shares {
        let offset = buffer.streams()[share.stream].taken();
        let header = frame_header(share.stream, offset);
        let fills = used + header + share.bytes == room;
        used += header + share.bytes + if fills { 0 } else { varint_size(share.bytes) };
    }
    used
}

fn check(spec: &SchedulerSpec, costs: FrameCosts, buffer: &SendBuffer, (room, shares): &Packet) {
    let name = spec.name();
    assert!(!shares.is_empty(), "{name} leaves a packet empty");
    let mut served = 0;
    for (index, share) in shares.iter().enumerate() {
        let waiting = buffer.streams()[share.stream].backlog();
        assert!((1..=waiting).contains(&share.bytes), "{name}: {share:?} of {waiting} waiting");
        assert!(buffer.is_occupied(share.stream), "{name} serves {share:?}, held");
        assert!(shares[..index].iter().all(|other| other.stream != share.stream), "{shares:?}");
        served += share.bytes;
    }
    let used = frames(buffer, *room, shares);
    assert!(used <= *room, "{name}: {used} bytes in a packet of {room}: {shares:?}");
    // Work-conserving: while bytes wait, only room too small for a frame stays empty.
    let waiting = |stream: StreamIndex| buffer.streams()[stream].backlog();
    let occupied = buffer.streams().keys().filter(|stream| buffer.is_occupied(*stream));
    let all = served == occupied.map(waiting).sum::<u64>();
    let empty = room - used;
    let full = empty <= costs.most_unusable();
    assert!(
        all || full || !is_work_conserving(spec, buffer.streams().len()),
        "{name}: {empty} empty of {room}: {shares:?}"
    );
}

proptest! {
    #[test]
    fn every_scheduler_fills_packets_with_what_waits(
        streams in 1usize..70,
        operations in prop::collection::vec(any_operation(), 1..150),
    ) {
        for spec in all(streams) {
            let attributes = attributes(streams);
            for costs in [FrameCosts::Exact, FrameCosts::Noq] {
                let mut once = Harness::with_costs(&spec, &attributes, 1, costs);
                let mut again = Harness::with_costs(&spec, &attributes, 1, costs);
                for operation in &operations {
                    let packet = once.follow(operation, |_, buffer, packet| check(&spec, costs, buffer, packet));
                    prop_assert_eq!(packet, again.follow(operation, |_, _, _| ()), "{}", spec.name());
                }
            }
        }
    }

    #[test]
    fn a_packet_leaves_as_long_as_something_waits(streams in 1usize..40, size in 1u64..3_000) {
        for spec in all(streams) {
            let mut harness = Harness::new(&spec, &attributes(streams), 1);
            for stream in 0..streams {
                harness.write(stream, size);
            }
            while harness.streams.buffer().backlog() > 0 {
                harness.send(1_200);
            }
            let served = harness.streams.buffer().streams();
            prop_assert!(served.iter().all(|stream| stream.taken() == size));
        }
    }
}

#[test]
fn every_scheduler_reads_back_what_it_writes() {
    for spec in all(3) {
        assert_eq!(SchedulerSpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
    }
}

fn refusal(text: &str) -> String {
    let (kind, weights) = text.split_once(' ').unwrap_or((text, ""));
    let mut table = Table::new();
    table.insert("kind", Value::String(kind.into()));
    if !weights.is_empty() {
        let numbers = weights.split(',').map(|weight| Value::Float(weight.parse().unwrap()));
        table.insert("weights", Value::Array(numbers.collect()));
    }
    SchedulerSpec::read(&Value::Table(table), &At::ROOT).unwrap_err().to_string()
}

#[test]
fn weights_are_checked() {
    assert_eq!(refusal("wfq"), "weights: is required but missing");
    assert_eq!(
        refusal("wfq 2,0"),
        "weights[1] = 0.0: is out of range; allowed: a number above 0 up to 1000000000"
    );
    assert!(refusal("wfq -2,1").starts_with("weights[0] = -2.0: is out of range"));
    assert!(refusal("wfq 1,inf").starts_with("weights[1] = inf: is not finite"));
    let fault = |text, streams| {
        let fault = spec(text).model().check(streams, Plugins::NONE).unwrap_err();
        format!("{} {}; {}", fault.field, fault.problem, fault.allowed)
    };
    assert_eq!(
        fault("wfq weights=2,1,1", 2),
        "weights has 3 weights, for 2 streams; 2 numbers above 0"
    );
    assert_eq!(fault("wfq weights=2", 4), "weights has 1 weight, for 4 streams; 4 numbers above 0");
    assert!(spec("wfq weights=2,1").model().check(2, Plugins::NONE).is_ok());
    let context = SchedulerContext { streams: 3, rng: &RngTree::new(1), plugins: Plugins::NONE };
    let built = spec("wfq weights=2,1").model().build(&context);
    assert_eq!(built.err().unwrap(), "weights has 2 weights, for 3 streams");
}

#[test]
fn round_robin_goes_around_and_passes_over_the_idle() {
    let mut harness = Harness::new(&spec("rr"), &[Attributes::default(); 5], 1);
    for stream in [0, 1, 3] {
        harness.write(stream, 10_000);
    }
    let served: Vec<_> =
        (0..7).flat_map(|_| harness.send(1_000)).map(|(stream, _)| stream).collect();
    assert_eq!(served, [0, 1, 3, 0, 1, 3, 0]);
}

#[test]
fn what_one_stream_leaves_goes_to_the_next() {
    let mut harness = Harness::new(&spec("rr"), &[Attributes::default(); 3], 1);
    for (stream, size) in [(0, 100), (1, 200), (2, 5_000)] {
        harness.write(stream, size);
    }
    // 2 + 2 bytes of header with a length of two bytes (at offset 0), 2 + 2 again, 2 for the frame that fills.
    assert_eq!(harness.send(1_000), [(0, 100), (1, 200), (2, 1_000 - 104 - 204 - 2)]);
}

#[test]
fn urgent_streams_go_first_and_incremental_ones_take_turns() {
    let stream =
        |urgency, incremental| Attributes { urgency, incremental, ..Attributes::default() };
    let streams = [
        stream(3, true),
        stream(3, false),
        stream(0, false),
        stream(3, true),
        stream(3, false),
        stream(7, false),
    ];
    let mut harness = Harness::new(&spec("priority"), &streams, 1);
    for (number, size) in [(0, 2_900), (1, 1_400), (2, 1_500), (3, 2_900), (4, 2_500), (5, 100)] {
        harness.write(number, size);
    }
    let mut first = Vec::new();
    let mut last = Vec::new();
    while harness.streams.buffer().backlog() > 0 {
        let packet = harness.send(1_000);
        first.push(packet[0].0);
        last.push(packet[packet.len() - 1].0);
    }
    // The urgent stream first. Then the sequential streams in their order, stream 0 and stream 3 take turns, one packet
    // per turn. Room that a stream leaves goes to the next turn.
    assert_eq!(first, [2, 2, 0, 3, 1, 0, 3, 4, 0, 3, 4, 4]);
    assert_eq!(last, [2, 1, 0, 3, 4, 0, 3, 4, 3, 4, 4, 5]);
}

#[test]
fn earliest_deadlines_go_first_and_none_at_all_last() {
    let stream = |deadline| Attributes { deadline, ..Attributes::default() };
    let deadline = |nanos| stream(Some(SimDuration::from_nanos(nanos)));
    let streams = [stream(None), deadline(100), deadline(10), stream(None)];
    let mut harness = Harness::new(&spec("edf"), &streams, 1);
    for number in [3, 0, 1] {
        harness.write(number, 100);
        harness.follow(&Operation::Wait(20), |_, _, _| ());
    }
    harness.write(2, 100);
    let order: Vec<_> = harness.send(1_000).iter().map(|(stream, _)| *stream).collect();
    assert_eq!(order, [2, 1, 3, 0]);
}
