//! A call over a bottleneck: a rate that changes at given times, a drop-tail queue before it, and a constant delay each way.

use std::collections::BTreeMap;

use leobench_base::{RngTree, SimDuration, SimTime};
use leobench_media::call::{CallSpec, Message, Packet, Receiver, Sender};

/// A way between the ends of a call.
pub struct Path {
    /// From when on it has which rate in bit/s. A rate of zero loses all.
    pub rates: Vec<(SimTime, f64)>,
    /// The longest time that a packet waits before the bottleneck: it is dropped if it would wait longer.
    pub queue: SimDuration,
    /// Delay each way.
    pub delay: SimDuration,
    /// Which packets are lost, by their order.
    pub loses: fn(u64) -> bool,
}

impl Path {
    /// A constant rate in Mbit/s, a delay of 25 ms each way, and a queue of 300 ms.
    pub fn of(mbps: f64) -> Self {
        Self {
            rates: vec![(SimTime::ZERO, mbps * 1e6)],
            queue: SimDuration::from_millis(300),
            delay: SimDuration::from_millis(25),
            loses: |_| false,
        }
    }

    fn rate(&self, now: SimTime) -> f64 {
        self.rates.iter().rev().find(|(from, _)| *from <= now).map_or(0.0, |(_, rate)| *rate)
    }
}

/// A sample of a call.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub time: SimTime,
    /// Target in bit/s.
    pub target: f64,
    /// Time that a packet waits before the bottleneck, in milliseconds.
    pub queue_ms: f64,
}

/// A call at its end.
pub struct Call {
    pub receiver: Receiver,
    /// A sample every 100 ms.
    pub samples: Vec<Sample>,
}

impl Call {
    /// The mean target between two times in seconds, in Mbit/s.
    pub fn mean_target(&self, from: f64, to: f64) -> f64 {
        self.mean(from, to, |sample| sample.target) / 1e6
    }

    /// The mean queueing delay between two times in seconds, in milliseconds.
    pub fn mean_queue_ms(&self, from: f64, to: f64) -> f64 {
        self.mean(from, to, |sample| sample.queue_ms)
    }

    fn mean(&self, from: f64, to: f64, value: fn(&Sample) -> f64) -> f64 {
        let is_within = |sample: &&Sample| (from..to).contains(&sample.time.as_secs_f64());
        let values: Vec<_> = self.samples.iter().filter(is_within).map(value).collect();
        values.iter().sum::<f64>() / values.len() as f64
    }
}

enum Event {
    Packet(Packet),
    Message(Message),
    Sample,
}

#[derive(Default)]
struct Agenda {
    events: BTreeMap<(SimTime, u64), Event>,
    count: u64,
}

impl Agenda {
    fn add(&mut self, time: SimTime, event: Event) {
        self.count += 1;
        self.events.insert((time, self.count), event);
    }
}

/// Runs a call to its end and a second longer.
pub fn run(spec: &CallSpec, path: &Path) -> Call {
    let start = SimTime::ZERO;
    let end = start + spec.length + SimDuration::from_secs(1);
    let mut sender = Sender::new(spec, start, &RngTree::new(1));
    let mut receiver = Receiver::new(spec);
    let (mut agenda, mut samples) = (Agenda::default(), Vec::new());
    let (mut free, mut sent) = (start, 0);
    agenda.add(start, Event::Sample);
    loop {
        let event = agenda.events.first_key_value().map(|((time, _), _)| *time);
        let wakes = [event, sender.next_wake(), receiver.next_wake()];
        let Some(now) = wakes.into_iter().flatten().min().filter(|now| *now <= end) else { break };
        let now = now.max(samples.last().map_or(start, |sample: &Sample| sample.time));
        if let Some(entry) = agenda.events.first_entry().filter(|entry| entry.key().0 <= now) {
            match entry.remove() {
                Event::Packet(packet) => receiver.on_packet(now, &packet, false),
                Event::Message(message) => sender.on_message(now, &message),
                Event::Sample => {
                    let queue_ms = free.saturating_since(now).as_millis_f64();
                    samples.push(Sample { time: now, target: sender.target(), queue_ms });
                    agenda.add(now + SimDuration::from_millis(100), Event::Sample);
                }
            }
        }
        let (mut packets, mut messages) = (Vec::new(), Vec::new());
        sender.advance(now, &mut packets);
        receiver.advance(now, &mut messages);
        for packet in packets {
            sent += 1;
            let rate = path.rate(now);
            let waits = free.saturating_since(now);
            if rate == 0.0 || waits > path.queue || (path.loses)(sent) {
                continue;
            }
            let time = SimDuration::from_secs_f64(packet.bytes.bits() as f64 / rate);
            free = free.max(now) + time;
            agenda.add(free + path.delay, Event::Packet(packet));
        }
        for message in messages {
            agenda.add(now + path.delay, Event::Message(message));
        }
    }
    Call { receiver, samples }
}
