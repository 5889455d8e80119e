//! The cost of a scheduler itself, without a transport, and its growth with the number of streams.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::time::Duration;

use leobench_base::spec::Weight;
use leobench_base::{Bytes, RngTree, SimDuration, SimRng, SimTime, StreamIndex};
use leobench_transport::buffer::{Attributes, Message};
use leobench_transport::scheduler::Multiplexer;
use leobench_transport::{EndpointError, Plugins, SchedulerSpec};

use crate::timed;

/// Streams of a connection, few and many.
const STREAMS: [usize; 2] = [10, 1_000];
/// Packets per measurement.
const PACKETS: u64 = 1_000;
/// How often each is measured, by turns; the fastest counts, as it was disturbed the least.
const ROUNDS: usize = 300;
/// Room of a packet and size of a message, in bytes.
const ROOM: u64 = 1_200;
/// Messages that wait on every stream when all are backlogged.
const BACKLOG: u64 = 4;

/// Prints what pushing, scheduling and taking cost per packet.
pub(crate) fn compare() {
    println!(
        "Schedulers alone: ns per packet of {ROOM} bytes for the messages pushed, the choice, and the bytes taken out, with"
    );
    println!(
        "{} and {} streams measured by turns, fastest of {ROUNDS} rounds of {PACKETS} packets. All backlogged: every stream",
        STREAMS[0], STREAMS[1]
    );
    println!(
        "always has bytes waiting. Light load: two messages at a time on streams drawn at random.\n"
    );
    println!("{:24}{:>30}{:>30}", "scheduler", "all backlogged", "light load");
    for name in SchedulerSpec::KINDS.iter().copied().filter(|name| *name != "python") {
        print!("{name:24}");
        for light in [false, true] {
            match cost(name, light) {
                Ok([few, many]) => print!("{few:>10.0}{many:>10.0} ({:>5.2})  ", many / few),
                Err(error) => print!("{error:>30}"),
            }
        }
        println!();
    }
}

fn cost(name: &str, light: bool) -> Result<[f64; 2], EndpointError> {
    let mut loads = Vec::new();
    for streams in STREAMS {
        loads.push(Load::new(name, streams, light)?);
    }
    let mut best = [Duration::MAX; STREAMS.len()];
    for _ in 0..ROUNDS {
        for (load, best) in loads.iter_mut().zip(&mut best) {
            let (wall, done) = timed(|| load.run());
            done?;
            *best = wall.min(*best);
        }
    }
    Ok(best.map(|wall| wall.as_nanos() as f64 / PACKETS as f64))
}

/// Streams under load.
struct Load {
    streams: Multiplexer,
    count: usize,
    light: bool,
    rng: SimRng,
    now: SimTime,
}

impl Load {
    fn new(name: &str, count: usize, light: bool) -> Result<Self, EndpointError> {
        let attribute = |stream: usize| Attributes {
            urgency: (stream % 8) as u8,
            incremental: stream.is_multiple_of(2),
            deadline: Some(SimDuration::from_millis(10 + stream as u64 % 7)),
            ..Attributes::default()
        };
        let attributes: Vec<_> = (0..count).map(attribute).collect();
        let rng = RngTree::new(1);
        let streams = Multiplexer::new(&spec(name, count), &attributes, &rng, Plugins::NONE)?;
        let mut load = Self { streams, count, light, rng: rng.rng(), now: SimTime::ZERO };
        for stream in (0..count).filter(|_| !light) {
            load.refill(stream.into());
        }
        Ok(load)
    }

    fn push(&mut self, stream: StreamIndex) {
        self.streams.push(stream, Message { size: Bytes::new(ROOM), created: self.now });
    }

    fn refill(&mut self, stream: StreamIndex) {
        while self.streams.buffer().streams()[stream].backlog() < BACKLOG * ROOM {
            self.push(stream);
        }
    }

    fn run(&mut self) -> Result<(), EndpointError> {
        for _ in 0..PACKETS {
            self.now += SimDuration::from_micros(200);
            if self.light && self.streams.buffer().backlog() == 0 {
                for _ in 0..2 {
                    let stream = self.rng.below(self.count as u64) as usize;
                    self.push(stream.into());
                }
            }
            self.streams.schedule(self.now, ROOM)?;
            for index in 0..self.streams.shares().len() {
                let share = self.streams.shares()[index];
                self.streams.take(share.stream, share.bytes);
                if !self.light {
                    self.refill(share.stream);
                }
            }
        }
        Ok(())
    }
}

/// The scheduler of this name, with weights for so many streams if it has any.
fn spec(name: &str, streams: usize) -> SchedulerSpec {
    let mut examples = SchedulerSpec::examples().into_iter();
    let mut spec = examples.find(|spec| spec.kind() == name).unwrap_or_default();
    if let SchedulerSpec::WeightedFairQueueing(wfq) = &mut spec {
        let weight = |stream| Weight::new(f64::from(1 + stream as u32 % 3));
        wfq.weights = (0..streams).filter_map(weight).collect();
    }
    spec
}
