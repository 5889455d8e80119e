//! `make bench`: what a packet costs in the engine, against the floor of two bare connections, in one run on one
//! machine; and how much memory a run of ten times the length takes.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

mod channels;
mod cost;
mod engine;
mod floor;
mod memory;
mod orbit;
mod paths;
mod relay;
mod scale;
mod schedulers;
mod sky;
mod streams;
mod transports;
mod viewers;

use std::time::{Duration, Instant};

use leobench_base::SimDuration;

/// A simulation to measure.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    name: &'static str,
    /// Bottleneck rate in bits per second.
    rate_bps: u64,
    /// Queue in front of it, in packets.
    queue: u64,
    /// Virtual time simulated.
    span: SimDuration,
}

/// One-way propagation delay.
pub(crate) const DELAY: SimDuration = SimDuration::from_millis(20);
/// UDP payload of a full packet, in bytes.
pub(crate) const PAYLOAD: u16 = 1_440;
/// How often each case is measured; the fastest counts, as it was disturbed the least.
const ROUNDS: usize = 3;

const CASES: [Case; 3] = [
    Case { name: "45 Mbit/s", rate_bps: 45_000_000, queue: 200, span: SimDuration::from_secs(60) },
    Case {
        name: "200 Mbit/s",
        rate_bps: 200_000_000,
        queue: 200,
        span: SimDuration::from_secs(60),
    },
    Case {
        name: "1 Gbit/s",
        rate_bps: 1_000_000_000,
        queue: 10_000,
        span: SimDuration::from_secs(60),
    },
];

/// Wall time taken and packets sent, data and acknowledgements.
#[derive(Clone, Copy)]
pub(crate) struct Measured {
    wall: Duration,
    packets: u64,
    delivered_bytes: u64,
}

impl Measured {
    fn nanos_per_packet(&self) -> f64 {
        self.wall.as_nanos() as f64 / self.packets as f64
    }
}

/// Runs `work` against the clock: the processor time of this thread where the system tells it (Linux), so that what else runs
/// on the machine counts little, and the wall time elsewhere.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    #[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
    let start = (Instant::now(), processor_time());
    let value = work();
    let wall = start.0.elapsed();
    let busy = start.1.zip(processor_time()).map(|(from, to)| to.saturating_sub(from));
    (busy.unwrap_or(wall), value)
}

/// The processor time that this thread has taken (Linux).
fn processor_time() -> Option<Duration> {
    // What runs is accounted for when it is interrupted, or gives way.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("memory"), Some(seconds)) => memory::child(&seconds),
        (Some("engine"), case) => drop(engine::run(chosen(case))),
        (Some("floor"), case) => drop(floor::run(chosen(case))),
        (Some("channels"), _) => channels::compare(),
        (Some("schedulers"), _) => schedulers::compare(),
        (Some("stream"), scheduler) => {
            let number = |place| std::env::args().nth(place).and_then(|number| number.parse().ok());
            let streams = number(3).unwrap_or(1);
            streams::run(&scheduler.unwrap_or_default(), streams, number(4).unwrap_or(0));
        }
        (Some("streams"), stack) => streams::compare(stack.as_deref()),
        (Some("many"), stack) => streams::compare_many(stack.as_deref()),
        (Some("orbit"), None) => orbit::compare(),
        (Some("orbit"), Some(terminals)) => orbit::child(&terminals),
        (Some("sky"), None) => sky::compare(),
        (Some("sky"), Some(flows)) => sky::child(&flows),
        (Some("paths"), None) => paths::compare(),
        (Some("paths"), Some(paths)) => drop(paths::run(paths.parse().unwrap_or(1))),
        (Some("transports"), names) => transports::compare(names.as_deref()),
        (Some("instructions"), _) => scale::count_instructions(),
        (Some("scale"), None) => scale::compare(),
        (Some("scale"), Some(load)) => {
            let seconds = std::env::args().nth(3).and_then(|seconds| seconds.parse().ok());
            scale::run(load.parse().unwrap_or(0), seconds.unwrap_or(1));
        }
        (Some("viewers"), None) => viewers::compare(),
        (Some("viewers"), Some(viewers)) => {
            let seconds = std::env::args().nth(3).and_then(|seconds| seconds.parse().ok());
            viewers::run(viewers.parse().unwrap_or(1), seconds.unwrap_or(1));
        }
        (Some("relay"), seconds) => {
            let seconds = seconds.and_then(|seconds| seconds.parse().ok()).unwrap_or(1.0);
            relay::run(Duration::from_secs_f64(seconds))
                .expect("standard input and output are TUN devices");
        }
        (Some("tcp"), case) => transports::tcp(chosen(case)),
        (None, _) => all(),
        (Some(other), _) => {
            println!(
                "unknown argument {other}: engine, floor, channels, schedulers, stream, streams, many, orbit, sky, paths, transports, tcp, scale, viewers, relay or instructions, or none"
            );
        }
    }
}

/// The case of this number, for a profiler; the first unless given.
fn chosen(number: Option<String>) -> &'static Case {
    let number = number.and_then(|number| number.parse().ok()).unwrap_or(0);
    CASES.get(number).unwrap_or(&CASES[0])
}

fn all() {
    println!("One QUIC connection, bulk transfer, 60 virtual seconds, 20 ms one way.");
    println!(
        "Null cipher that keeps every size, an ACK for every second packet (RFC 9000 section 13.2.2), UDP payload \
         {PAYLOAD} bytes, profile `fast` (fat LTO, one codegen unit), fastest of {ROUNDS} rounds."
    );
    println!(
        "Engine: recorder on as by default. Floor: two bare noq connections and a delay line in memory.\n"
    );
    println!(
        "{:12} {:>10} {:>12} {:>12} {:>12} {:>12} {:>8}",
        "bottleneck", "packets", "floor ns", "engine ns", "floor x", "engine x", "ratio"
    );
    for case in &CASES {
        let (mut floor, mut engine) = (floor::run(case), engine::run(case));
        for _ in 1..ROUNDS {
            floor = faster(floor, floor::run(case));
            engine = faster(engine, engine::run(case));
        }
        let speed = |measured: &Measured| case.span.as_secs_f64() / measured.wall.as_secs_f64();
        println!(
            "{:12} {:>10} {:>12.0} {:>12.0} {:>12.1} {:>12.1} {:>8.2}",
            case.name,
            engine.packets,
            floor.nanos_per_packet(),
            engine.nanos_per_packet(),
            speed(&floor),
            speed(&engine),
            engine.nanos_per_packet() / floor.nanos_per_packet(),
        );
        println!(
            "{:12} goodput: floor {:.2} Mbit/s, engine {:.2} Mbit/s",
            "",
            goodput(&floor, case),
            goodput(&engine, case)
        );
    }
    println!(
        "\n(ns: wall nanoseconds per packet, data and acknowledgements; x: virtual seconds per second)\n"
    );
    memory::compare();
    println!();
    channels::compare();
    println!();
    schedulers::compare();
    println!();
    streams::compare(None);
    println!();
    streams::compare_many(None);
    println!();
    paths::compare();
    println!();
    transports::compare(None);
    println!();
    scale::compare();
    println!();
    sky::compare();
    println!();
    viewers::compare();
}

fn faster(one: Measured, other: Measured) -> Measured {
    if one.wall <= other.wall { one } else { other }
}

fn goodput(measured: &Measured, case: &Case) -> f64 {
    measured.delivered_bytes as f64 * 8e-6 / case.span.as_secs_f64()
}
