mod cake;
mod codel;
mod device;
mod fq_codel;
mod pie;
mod red;

use std::collections::BTreeSet;

use leobench_base::spec::{At, Spec};
use leobench_base::{Ecn, SimDuration, Tag};
use proptest::prelude::*;

use super::*;
use crate::testing::{assert_refused, packet, packet_between, packet_of, read};

fn build(spec: &QueueSpec) -> Box<dyn QueueDiscipline> {
    let model = spec.model();
    model.build(Capacity::of(model.limit()).unwrap(), &RngTree::new(1))
}

/// A discipline that is handed packets and asked for them one by one, times in microseconds.
struct Probe {
    queue: Box<dyn QueueDiscipline>,
    fates: Fates,
}

impl Probe {
    fn new(json: &str) -> Self {
        Self { queue: build(&read(json).unwrap()), fates: Fates::default() }
    }

    /// Enqueues a packet of `size` bytes of a flow.
    fn offer(&mut self, micros: u64, id: u64, size: u64, flow: u16) {
        self.offer_packet(micros, packet_of(id, size, flow));
    }

    fn offer_packet(&mut self, micros: u64, mut packet: Descriptor) {
        packet.meta.arrival = at(micros);
        self.queue.enqueue(at(micros), packet, &mut self.fates);
    }

    /// The id of the next packet.
    fn take(&mut self, micros: u64) -> Option<u64> {
        self.take_packet(micros).map(|packet| packet.meta.id)
    }

    fn take_packet(&mut self, micros: u64) -> Option<Descriptor> {
        self.queue.dequeue(at(micros), &mut self.fates).packet()
    }

    /// The ids of the packets dropped so far.
    fn dropped(&self) -> Vec<u64> {
        self.fates.drops.iter().map(|drop| drop.packet.meta.id).collect()
    }
}

fn at(micros: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_micros(micros)
}

#[derive(Clone, Debug)]
enum Operation {
    Enqueue { size: u64, flow: u16, ecn: Ecn },
    Dequeue,
    Flush,
    Withdraw { flow: u16 },
}

fn any_operation() -> impl Strategy<Value = Operation> {
    let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ect1), Just(Ecn::Ce)];
    prop_oneof![
        60 => (1u64..3000, 0u16..5, ecn)
            .prop_map(|(size, flow, ecn)| Operation::Enqueue { size, flow, ecn }),
        40 => Just(Operation::Dequeue),
        1 => Just(Operation::Flush),
        2 => (0u16..5).prop_map(|flow| Operation::Withdraw { flow }),
    ]
}

/// A discipline under test, and everything that went in and came out.
struct Bench {
    kind: &'static str,
    queue: Box<dyn QueueDiscipline>,
    now: SimTime,
    entered: Vec<(Bytes, Ecn)>,
    left: Vec<Descriptor>,
    flushed: Vec<Descriptor>,
    fates: Fates,
}

impl Bench {
    fn new(spec: &QueueSpec) -> Self {
        Self {
            kind: spec.kind(),
            queue: build(spec),
            now: SimTime::ZERO,
            entered: Vec::new(),
            left: Vec::new(),
            flushed: Vec::new(),
            fates: Fates::default(),
        }
    }

    fn run(&mut self, operation: &Operation) {
        match operation {
            Operation::Enqueue { size, flow, ecn } => {
                let mut packet = packet_of(self.entered.len() as u64, *size, *flow);
                packet.tag = Tag(u32::from(*flow));
                packet.meta.arrival = self.now;
                packet.meta.ecn = *ecn;
                self.entered.push((packet.meta.size, *ecn));
                self.queue.enqueue(self.now, packet, &mut self.fates);
            }
            Operation::Dequeue => {
                self.dequeue();
            }
            Operation::Flush => {
                let first = self.flushed.len();
                self.queue.flush(self.now, &mut self.flushed);
                let times = self.flushed[first..].iter();
                assert!(times.map(|packet| packet.meta.arrival).is_sorted(), "{}", self.kind);
                assert_eq!(self.queue.backlog(), Backlog::default(), "{}", self.kind);
            }
            Operation::Withdraw { flow } => self.withdraw(Tag(u32::from(*flow))),
        }
        self.assert_conserved();
    }

    /// Takes all packets of a tag out: in order of arrival, and no other packet.
    fn withdraw(&mut self, tag: Tag) {
        let first = self.flushed.len();
        self.queue.withdraw(self.now, &|packet| packet.tag == tag, &mut self.flushed);
        let taken = &self.flushed[first..];
        assert!(taken.iter().all(|packet| packet.tag == tag), "{}: another flow's", self.kind);
        assert!(taken.is_sorted_by_key(|packet| packet.meta.arrival), "{}", self.kind);
        let mut left = Vec::new();
        self.queue.withdraw(self.now, &|packet| packet.tag == tag, &mut left);
        assert_eq!(left, [], "{}: some stayed", self.kind);
    }

    /// Asks for a packet; when to ask again, if the discipline holds packets back.
    fn dequeue(&mut self) -> Option<SimTime> {
        let waiting = self.queue.backlog().packets;
        match self.queue.dequeue(self.now, &mut self.fates) {
            Dequeued::Packet(packet) => {
                assert!(waiting > 0, "{}: a packet from nowhere", self.kind);
                self.left.push(packet);
                None
            }
            Dequeued::Empty => {
                assert_eq!(self.queue.backlog(), Backlog::default(), "{} stalls", self.kind);
                None
            }
            Dequeued::NotBefore(time) => {
                assert!(time > self.now, "{}: {time} is not after {}", self.kind, self.now);
                assert!(self.queue.backlog().packets > 0, "{} holds nothing back", self.kind);
                Some(time)
            }
        }
    }

    fn gone(&self) -> impl Iterator<Item = &Descriptor> {
        let dropped = self.fates.drops.iter().map(|drop| &drop.packet);
        self.left.iter().chain(&self.flushed).chain(dropped)
    }

    fn assert_conserved(&self) {
        let Backlog { packets, bytes } = self.queue.backlog();
        let gone_bytes: Bytes = self.gone().map(|packet| packet.meta.size).sum();
        let entered_bytes: Bytes = self.entered.iter().map(|(size, _)| *size).sum();
        assert_eq!(
            self.gone().count() as u64 + packets,
            self.entered.len() as u64,
            "{}",
            self.kind
        );
        assert_eq!(gone_bytes + bytes, entered_bytes, "{}", self.kind);
    }

    /// Takes everything out, waiting when told to. Every wait ends with a packet sent or dropped.
    fn drain(&mut self) {
        while self.queue.backlog().packets > 0 {
            let Some(time) = self.dequeue() else { continue };
            self.now = time;
            let before = self.gone().count();
            self.dequeue();
            assert!(self.gone().count() > before, "{}: waited for nothing", self.kind);
        }
        self.assert_conserved();
        let mut ids: Vec<u64> = self.gone().map(|packet| packet.meta.id).collect();
        ids.sort_unstable();
        assert!(ids.into_iter().eq(0..self.entered.len() as u64), "{}: lost or doubled", self.kind);
    }

    /// Only packets that can be marked are, and every cause was declared.
    fn assert_declared(&self) {
        let causes = self.queue.causes();
        for Drop { cause, .. } in &self.fates.drops {
            let declared = *cause == Cause::QUEUE || causes.drops.contains(cause);
            assert!(declared, "{} drops for `{}`", self.kind, cause.name());
        }
        let mut marked = BTreeSet::new();
        for Mark { meta, cause, .. } in &self.fates.marks {
            assert!(causes.marks.contains(cause), "{} marks for `{}`", self.kind, cause.name());
            assert!(marked.insert(meta.id), "{} marks a packet twice", self.kind);
        }
        for packet in self.gone() {
            let came = self.entered[packet.meta.id as usize].1;
            let marked = marked.contains(&packet.meta.id);
            let expected = if marked { Ecn::Ce } else { came };
            assert!(!marked || matches!(came, Ecn::Ect0 | Ecn::Ect1), "{}: {came:?}", self.kind);
            assert_eq!(packet.meta.ecn, expected, "{}", self.kind);
        }
    }
}

fn any_operations() -> impl Strategy<Value = Vec<(u64, Operation)>> {
    let gap = prop_oneof![Just(0u64), 0u64..100_000, 0u64..5_000_000, 0u64..500_000_000];
    prop::collection::vec((gap, any_operation()), 0..300)
}

proptest! {
    /// Each packet is delivered once, dropped once, flushed once, or still waits; and none waits for ever.
    #[test]
    fn every_discipline_conserves_packets_and_never_stalls(operations in any_operations()) {
        for spec in QueueSpec::examples() {
            let mut bench = Bench::new(&spec);
            for (gap, operation) in &operations {
                bench.now += SimDuration::from_nanos(*gap);
                bench.run(operation);
            }
            bench.drain();
            bench.assert_declared();
        }
    }

    /// The same packets at the same times meet the same fate.
    #[test]
    fn every_discipline_repeats_itself(operations in any_operations()) {
        for spec in QueueSpec::examples() {
            let [first, second] = [(); 2].map(|()| {
                let mut bench = Bench::new(&spec);
                for (gap, operation) in &operations {
                    bench.now += SimDuration::from_nanos(*gap);
                    bench.run(operation);
                }
                bench.gone().map(|packet| packet.meta).collect::<Vec<_>>()
            });
            prop_assert_eq!(first, second);
        }
    }
}

#[test]
fn causes_have_names_of_their_own() {
    for spec in QueueSpec::examples() {
        let causes = build(&spec).causes();
        for cause in causes.drops.iter().chain(&causes.marks) {
            let name = cause.name();
            let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(!name.is_empty() && name.chars().all(letter), "{}: `{name}`", spec.kind());
            assert!(
                !Cause::OF_LINKS[1..].contains(cause),
                "{}: `{name}` is the link's",
                spec.kind()
            );
        }
    }
}

#[test]
fn a_summary_has_the_declared_causes_first() {
    let (early, late) = (Cause::new("early"), Cause::new("late"));
    let mut tallies = Tallies::new([Cause::QUEUE, early, early]);
    tallies.count(late, Bytes::new(10));
    tallies.count(early, Bytes::new(20));
    tallies.count(late, Bytes::new(30));
    let tally = |packets, bytes| Tally { packets, bytes: Bytes::new(bytes) };
    let expected = [(Cause::QUEUE, tally(0, 0)), (early, tally(1, 20)), (late, tally(2, 40))];
    assert_eq!(tallies.iter().collect::<Vec<_>>(), expected);
    assert_eq!((tallies.of(late), tallies.packets()), (tally(2, 40), 3));
    assert_eq!(tallies.of(Cause::MTU), tally(0, 0));
}

#[test]
fn specifications_read_back_what_they_write() {
    for spec in QueueSpec::examples() {
        assert_eq!(QueueSpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
    }
}

/// Enqueues packets of the given sizes; the sizes that went in and those that were dropped.
fn fill(limit: Limit, sizes: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let mut queue = build(&QueueSpec::Fifo(super::fifo::FifoSpec { limit }));
    let mut fates = Fates::default();
    for (id, size) in (0..).zip(sizes) {
        queue.enqueue(SimTime::ZERO, packet(id, *size), &mut fates);
    }
    let dropped = fates.drops.iter().map(|drop| drop.packet.meta.size.get()).collect();
    let kept = std::iter::from_fn(|| queue.dequeue(SimTime::ZERO, &mut fates).packet());
    (kept.map(|packet| packet.meta.size.get()).collect(), dropped)
}

#[test]
fn a_fifo_drops_what_would_exceed_its_limit() {
    let sizes = [1000, 700, 900, 300, 1];
    assert_eq!(fill(Limit::Unlimited, &sizes), (vec![1000, 700, 900, 300, 1], vec![]));
    assert_eq!(fill(Limit::Packets(2), &sizes), (vec![1000, 700], vec![900, 300, 1]));
    // The limit itself is still within it, and a smaller packet may fit where a larger one did not.
    assert_eq!(fill(Limit::Bytes(Bytes::new(2000)), &sizes), (vec![1000, 700, 300], vec![900, 1]));
}

#[test]
fn limits_read_as_packets_bytes_or_none() {
    let limit =
        |text: &str| read::<fifo::FifoSpec>(&format!(r#"{{"limit": "{text}"}}"#)).unwrap().limit;
    assert_eq!(limit("7 packets"), Limit::Packets(7));
    assert_eq!(limit("30 kB"), Limit::Bytes(Bytes::new(30_000)));
    assert_eq!(limit("unlimited"), Limit::Unlimited);
    assert_eq!(
        read::<QueueSpec>(r#""fifo""#).unwrap(),
        read(r#"{"kind": "fifo", "limit": "unlimited"}"#).unwrap()
    );
    assert_refused::<QueueSpec>(r#"{"kind": "fifo", "limit": "0 packets"}"#, "limit", "zero");
    assert_refused::<QueueSpec>(r#"{"kind": "fifo", "limit": "0 B"}"#, "limit", "zero");
    assert_refused::<QueueSpec>(r#"{"kind": "fifo", "limit": "30 KB"}"#, "limit", "unknown unit");
}
