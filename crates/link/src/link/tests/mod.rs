mod conservation;
mod held;
mod managed;
mod overlap;
mod service;
mod theory;
mod trace;

use leobench_base::spec::Limit;
use leobench_base::{BitRate, Bytes, Descriptor, RngTree, SimDuration, SimTime};

use super::{Link, LinkConfig, LinkOutput};
use crate::channel::ChannelState;
use crate::queue::fifo::FifoSpec;
use crate::queue::{Capacity, Cause, QueueModel};
use crate::testing::packet;

const MS: u64 = 1_000_000;

/// A link without loss, delay, overhead or limit.
fn plain() -> LinkConfig {
    with_queue(&Limit::Unlimited)
}

fn with_queue(limit: &Limit) -> LinkConfig {
    let rng = RngTree::new(1);
    LinkConfig {
        queue: FifoSpec { limit: limit.clone() }.build(Capacity::of(limit).unwrap(), &rng),
        loss: None,
        access: None,
        delay: SimDuration::ZERO,
        overhead: 0,
        mtu: Bytes::new(u64::MAX),
        overtaking: false,
        rate_scale: 1.0,
        rng,
    }
}

fn mbps(rate: u64) -> ChannelState {
    ChannelState::at_rate(BitRate::from_bps(rate * 1_000_000), "test")
}

fn at(nanos: u64) -> SimTime {
    SimTime::from_nanos(nanos)
}

/// A link driven at its own wake-ups, and what came out of it: packets by id and nanosecond.
struct Bench {
    link: Link,
    out: LinkOutput,
    arrivals: Vec<(u64, u64)>,
    drops: Vec<(u64, Cause)>,
    marks: Vec<(u64, Cause)>,
}

impl Bench {
    fn new(config: LinkConfig, state: &ChannelState) -> Self {
        let link = Link::new(config, state);
        Self {
            link,
            out: LinkOutput::default(),
            arrivals: Vec::new(),
            drops: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// Wakes the link whenever it asks to be, up to and including `nanos`.
    fn run(&mut self, nanos: u64) {
        while let Some(wake) = self.link.next_wake().filter(|wake| *wake <= at(nanos)) {
            self.link.advance(wake, &mut self.out);
            self.collect(wake);
            assert!(self.link.next_wake().is_none_or(|next| next > wake), "woken for nothing");
        }
    }

    fn send(&mut self, nanos: u64, id: u64, size: u64) {
        self.send_packet(nanos, packet(id, size));
    }

    fn send_packet(&mut self, nanos: u64, packet: Descriptor) {
        self.run(nanos);
        self.link.enqueue(at(nanos), packet, &mut self.out);
        self.collect(at(nanos));
    }

    fn change(&mut self, nanos: u64, state: &ChannelState) {
        self.run(nanos - 1);
        self.link.set_channel(at(nanos), state, &mut self.out);
        self.collect(at(nanos));
    }

    fn collect(&mut self, now: SimTime) {
        for packet in self.out.arrivals.drain(..) {
            self.arrivals.push((packet.meta.id, now.as_nanos()));
        }
        for drop in self.out.fates.drops.drain(..) {
            self.drops.push((drop.packet.meta.id, drop.cause));
        }
        for mark in self.out.fates.marks.drain(..) {
            self.marks.push((mark.meta.id, mark.cause));
        }
    }
}

/// Sends packets of `size` bytes with ids from 0 at the given nanoseconds; when they arrive.
fn arrivals(config: LinkConfig, state: &ChannelState, size: u64, sent: &[u64]) -> Vec<u64> {
    let mut bench = Bench::new(config, state);
    for (id, nanos) in (0..).zip(sent) {
        bench.send(*nanos, id, size);
    }
    bench.run(u64::MAX - 1);
    bench.arrivals.into_iter().map(|(_, nanos)| nanos).collect()
}
