//! Queues that hold packets back, that mark them, and that are emptied.

use leobench_base::Ecn;

use super::*;
use crate::queue::{Backlog, Causes, Dequeued, Fates, QueueDiscipline, Tally};

/// Lets one packet go in every period, marks ECN-capable ones, and drops those of 13 bytes.
struct Turnstile {
    period: u64,
    next: u64,
    waiting: Vec<Descriptor>,
}

const UNLUCKY: Cause = Cause::new("unlucky");
const TURNED: Cause = Cause::new("turned");

impl QueueDiscipline for Turnstile {
    fn enqueue(&mut self, _now: SimTime, packet: Descriptor, fates: &mut Fates) {
        if packet.meta.size == Bytes::new(13) {
            fates.drop(packet, UNLUCKY);
        } else {
            self.waiting.push(packet);
        }
    }

    fn dequeue(&mut self, now: SimTime, fates: &mut Fates) -> Dequeued {
        if self.waiting.is_empty() {
            return Dequeued::Empty;
        }
        if now < at(self.next) {
            return Dequeued::NotBefore(at(self.next));
        }
        self.next = now.as_nanos() + self.period;
        let mut packet = self.waiting.remove(0);
        fates.mark(&mut packet, TURNED);
        Dequeued::Packet(packet)
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
        Causes { drops: vec![UNLUCKY], marks: vec![TURNED] }
    }
}

fn turnstile(period: u64) -> LinkConfig {
    LinkConfig { queue: Box::new(Turnstile { period, next: 0, waiting: Vec::new() }), ..plain() }
}

#[test]
fn a_link_wakes_when_its_queue_lets_the_next_packet_go() {
    // 1,000 bytes at 8 Mbit/s take 1 ms; one packet in 5 ms, whatever comes in between.
    let sent = [0, 0, MS, 6 * MS, 30 * MS];
    let arrived = arrivals(turnstile(5 * MS), &mbps(8), 1000, &sent);
    assert_eq!(arrived, [MS, 6 * MS, 11 * MS, 16 * MS, 31 * MS]);
    // A turnstile faster than the link changes nothing.
    let back_to_back = arrivals(turnstile(MS / 2), &mbps(8), 1000, &sent);
    assert_eq!(back_to_back, [MS, 2 * MS, 3 * MS, 7 * MS, 31 * MS]);
}

#[test]
fn packets_held_back_wait_for_the_channel_too() {
    let mut bench = Bench::new(turnstile(5 * MS), &mbps(8));
    let down = ChannelState { up: false, ..mbps(8) };
    bench.send(0, 0, 1000);
    bench.send(0, 1, 1000);
    bench.change(3 * MS, &down);
    assert_eq!(bench.link.next_wake(), None, "nothing is due while the link is down");
    bench.change(20 * MS, &mbps(8));
    bench.change(21 * MS, &down);
    bench.send(21 * MS, 2, 1000);
    bench.run(u64::MAX - 1);
    assert_eq!(bench.arrivals, [(0, MS), (1, 21 * MS)]);
    assert_eq!(bench.drops, [(2, Cause::DOWN)]);
}

#[test]
fn a_queue_let_go_just_as_the_channel_changes_sees_the_new_state() {
    let mut bench = Bench::new(turnstile(5 * MS), &mbps(8));
    bench.send(0, 0, 1000);
    bench.send(0, 1, 1000);
    bench.change(5 * MS, &mbps(80));
    bench.run(u64::MAX - 1);
    assert_eq!(bench.arrivals, [(0, MS), (1, 5 * MS + MS / 10)]);
}

#[test]
fn drops_and_marks_count_by_the_causes_that_the_queue_names() {
    let mut bench = Bench::new(turnstile(MS), &mbps(8));
    for (id, size, ecn) in [
        (0, 1000, Ecn::NotEct),
        (1, 13, Ecn::Ect0),
        (2, 500, Ecn::Ect0),
        (3, 400, Ecn::Ect1),
        (4, 300, Ecn::Ce),
    ] {
        let mut packet = packet(id, size);
        packet.meta.ecn = ecn;
        bench.send_packet(id, packet);
    }
    bench.run(u64::MAX - 1);
    let counters = bench.link.counters(at(10 * MS));
    let tally = |packets, bytes| Tally { packets, bytes: Bytes::new(bytes) };
    let none = tally(0, 0);
    let dropped: Vec<_> = counters.dropped.iter().map(|(cause, it)| (cause.name(), it)).collect();
    let names = ["queue", "channel", "down", "mtu", "unlucky"];
    assert!(dropped.into_iter().eq(names.into_iter().zip([none, none, none, none, tally(1, 13)])));
    // What arrives with a mark keeps it, and is not marked again.
    assert_eq!(counters.marked.iter().collect::<Vec<_>>(), [(TURNED, tally(2, 900))]);
    let marked: Vec<_> = bench.marks.iter().map(|(id, cause)| (*id, cause.name())).collect();
    assert_eq!(marked, [(2, "turned"), (3, "turned")]);
}

#[test]
fn a_link_that_is_emptied_hands_out_what_waits_and_finishes_what_it_sends() {
    let mut bench = Bench::new(turnstile(5 * MS), &mbps(8));
    for id in 0..4 {
        bench.send(id, id, 1000);
    }
    let mut taken = Vec::new();
    bench.link.flush(at(MS / 2), &mut taken, &mut bench.out);
    assert!(taken.iter().map(|packet| packet.meta.id).eq([1, 2, 3]));
    bench.run(u64::MAX - 1);
    assert_eq!((bench.arrivals.clone(), bench.link.next_wake()), (vec![(0, MS)], None));
    let counters = bench.link.counters(at(MS));
    assert_eq!(counters.flushed, Tally { packets: 3, bytes: Bytes::new(3000) });
    assert_eq!(counters.enqueued.packets, counters.delivered.packets + counters.flushed.packets);
    // What is due before comes first: at 5 ms the next packet is on the wire already.
    let mut bench = Bench::new(turnstile(5 * MS), &mbps(8));
    for id in 0..3 {
        bench.send(id, id, 1000);
    }
    bench.link.flush(at(5 * MS), &mut taken, &mut bench.out);
    assert!(taken.iter().map(|packet| packet.meta.id).eq([1, 2, 3, 2]));
    bench.run(u64::MAX - 1);
    // The first arrived unseen at 1 ms.
    assert_eq!(bench.arrivals, [(0, 6 * MS), (1, 6 * MS)]);
}
