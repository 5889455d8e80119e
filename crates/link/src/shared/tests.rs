use leobench_base::spec::{At, Spec};
use leobench_base::{RngTree, Tag};
use proptest::prelude::*;

use super::*;
use crate::queue::{Capacity, QueueSpec};
use crate::testing::{packet_of, read};

/// A shared transmitter, driven at its own wake-ups, and the packets that came out, by id and nanosecond.
struct Bench {
    shared: SharedTransmitter,
    rates: Vec<u64>,
    out: SharedOutput,
    sent: Vec<(u64, u64)>,
    entered: u64,
}

impl Bench {
    fn new(queue: &QueueSpec, rates: &[u64]) -> Self {
        let model = queue.model();
        let capacity = Capacity::of(model.limit()).unwrap();
        let shared =
            SharedTransmitter::new(model.build(capacity, &RngTree::new(1)), &Causes::default());
        let (out, sent) = (SharedOutput::default(), Vec::new());
        Self { shared, rates: rates.to_vec(), out, sent, entered: 0 }
    }

    fn service(rates: &[u64]) -> impl Fn(&Descriptor) -> PacketService {
        |packet| PacketService {
            rate: BitRate::from_bps(rates[packet.tag.0 as usize]),
            wire_size: packet.meta.size,
        }
    }

    fn until(&mut self, nanos: u64) {
        let now = SimTime::from_nanos(nanos);
        while let Some(at) = self.shared.next_wake().filter(|at| *at <= now) {
            self.shared.advance(at, Self::service(&self.rates), &mut self.out);
        }
        let sent = self.out.sent.drain(..);
        self.sent.extend(sent.map(|(at, packet)| (packet.meta.id, at.as_nanos())));
    }

    /// A packet of a link, which is also a flow.
    fn offer(&mut self, nanos: u64, link: u16, size: u64) {
        self.until(nanos);
        let now = SimTime::from_nanos(nanos);
        let mut packet = packet_of(self.entered, size, link);
        (packet.tag, packet.meta.arrival) = (Tag(u32::from(link)), now);
        self.entered += 1;
        self.shared.enqueue(now, packet, Self::service(&self.rates), &mut self.out);
        self.until(nanos);
    }

    fn assert_conserved(&self) {
        let SharedCounters { enqueued, sent, withdrawn, dropped, .. } = self.shared.counters();
        let on_wire = u64::from(self.shared.wire.is_some());
        let waiting = self.shared.backlog().packets;
        let gone = sent.packets + withdrawn.packets + dropped.packets();
        assert_eq!(enqueued.packets, gone + waiting + on_wire);
        assert_eq!(enqueued.packets, self.entered);
    }
}

fn fifo() -> QueueSpec {
    read(r#""fifo""#).unwrap()
}

#[test]
fn each_packet_takes_the_rate_of_its_link() {
    // 1,000 bytes take 1 ms over the first link, 2 ms over the second.
    let mut bench = Bench::new(&fifo(), &[8_000_000, 4_000_000]);
    for (micros, link) in [(0, 0), (500, 1), (600, 0), (3_000, 1), (9_000, 0)] {
        bench.offer(micros * 1_000, link, 1_000);
    }
    bench.until(1_000_000_000);
    let expected = [1, 3, 4, 6, 10].map(|millis| millis * 1_000_000);
    assert_eq!(bench.sent, (0..).zip(expected).collect::<Vec<_>>());
    let counters = bench.shared.counters();
    assert_eq!(counters.busy.as_nanos(), 7_000_000);
    // They wait for 0, 0.5, 2.4, 1 and 0 ms.
    assert_eq!((counters.wait.0, counters.wait.1.as_nanos()), (3_900_000, 2_400_000));
}

#[test]
fn back_to_back_packets_take_as_long_as_their_bits() {
    let mut bench = Bench::new(&fifo(), &[7_000_001, 7_000_001]);
    for packet in 0..10_000 {
        bench.offer(0, packet % 2, 1_237);
    }
    bench.until(u64::MAX / 2);
    let (_, last) = bench.sent.last().unwrap();
    assert_eq!(*last, 10_000 * 1_237 * 8 * 1_000_000_000 / 7_000_001);
}

#[test]
fn packets_of_a_link_that_leaves_are_taken_out() {
    let mut bench = Bench::new(&fifo(), &[8_000_000, 8_000_000]);
    for link in [0, 1, 0, 1] {
        bench.offer(0, link, 1_000);
    }
    let (now, mut taken) = (SimTime::from_nanos(500_000), Vec::new());
    bench.shared.withdraw(now, &|packet| packet.tag == Tag(0), &mut taken);
    assert_eq!(taken.iter().map(|packet| packet.meta.id).collect::<Vec<_>>(), [2]);
    assert!(bench.shared.cut(now, |packet| packet.tag == Tag(1)).is_none());
    assert_eq!(bench.shared.cut(now, |packet| packet.tag == Tag(0)).unwrap().meta.id, 0);
    // The next one follows at once.
    bench.shared.resume(now, Bench::service(&bench.rates), &mut bench.out);
    bench.until(10_000_000);
    assert_eq!(bench.sent, [(1, 1_500_000), (3, 2_500_000)]);
    bench.assert_conserved();
}

#[test]
fn fair_queues_serve_links_in_turn() {
    // The first link's packets all come before those of the second.
    let queue = read(r#"{"kind": "fq_codel", "limit": "1000 packets"}"#).unwrap();
    let mut bench = Bench::new(&queue, &[80_000_000; 2]);
    for link in [0, 1] {
        for _ in 0..40 {
            bench.offer(0, link, 1_000);
        }
    }
    // Of the first 40 packets, each link has half but for a turn of 1,514 bytes.
    bench.until(40 * 100_000);
    let first = bench.sent.iter().filter(|(id, _)| *id < 40).count();
    assert!((19..=21).contains(&first), "{first} of 40 are of the first link");
}

proptest! {
    #[test]
    fn nothing_is_lost_or_doubled(
        queue in prop::sample::select(QueueSpec::examples()),
        operations in prop::collection::vec((0u64..3_000_000, 0u16..4, 1u64..3_000, 0u8..10), 1..150),
    ) {
        let queue = QueueSpec::read(&queue.write(), &At::ROOT).unwrap();
        let mut bench = Bench::new(&queue, &[1_000_000, 7_000_003, 20_000_000, 20_000_000]);
        let (mut now, mut taken) = (0, Vec::new());
        for (gap, link, size, kind) in operations {
            now += gap;
            let at = SimTime::from_nanos(now);
            let tag = Tag(u32::from(link));
            bench.until(now);
            match kind {
                0 => {
                    bench.shared.withdraw(at, &|packet| packet.tag == tag, &mut taken);
                    taken.extend(bench.shared.cut(at, |packet| packet.tag == tag));
                    bench.shared.resume(at, Bench::service(&bench.rates), &mut bench.out);
                }
                1 => bench.rates[link as usize] = 500_000 * (1 + size),
                _ => bench.offer(now, link, size),
            }
            bench.assert_conserved();
        }
        bench.until(u64::MAX / 2);
        prop_assert!(bench.shared.is_idle());
        bench.assert_conserved();
        let dropped = bench.out.fates.drops.iter().map(|drop| drop.packet.meta.id);
        let mut ids: Vec<_> = bench.sent.iter().map(|(id, _)| *id).chain(dropped).collect();
        ids.extend(taken.iter().map(|packet| packet.meta.id));
        ids.sort_unstable();
        prop_assert!(ids.into_iter().eq(0..bench.entered));
    }
}
