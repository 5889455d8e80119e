//! The cost of scheduling every packet, by QUIC stack: two endless streams under every scheduler, against a single one.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use leobench_base::SimDuration;
use leobench_transport::SchedulerSpec;

use crate::engine::{ONE_STREAM, run_flow, run_recording};
use crate::{CASES, Case};

/// Virtual time of a run, by case: less at high rates, where there are more packets.
const SPANS: [SimDuration; CASES.len()] =
    [SimDuration::from_secs(20), SimDuration::from_secs(10), SimDuration::from_secs(5)];
/// How often each is measured; the fastest counts.
const ROUNDS: usize = 7;
/// The QUIC stacks.
const STACKS: [&str; 2] = ["own", "noq"];

/// A flow by what it is called, and what it has cost by case.
struct Row {
    name: &'static str,
    flow: String,
    nanos: [f64; CASES.len()],
}

/// The stacks to measure: one of them if it is named.
fn stacks(named: Option<&str>) -> impl Iterator<Item = &'static str> {
    STACKS.into_iter().filter(move |stack| named.is_none_or(|named| named == *stack))
}

/// Prints the cost of a packet of two streams, by stack, scheduler and bottleneck; of one stack if it is named.
pub(crate) fn compare(stack: Option<&str>) {
    println!(
        "QUIC: two endless streams under a scheduler, against a single stream, which needs none; 20, 10 and 5 virtual"
    );
    println!(
        "seconds, fastest of {ROUNDS} rounds: ns per packet, data and acknowledgements (how many times that of the single stream).\n"
    );
    stacks(stack).for_each(compare_in);
}

fn compare_in(stack: &str) {
    let mut rows = rows(stack);
    for (column, case) in CASES.iter().enumerate() {
        let case = Case { span: SPANS[column], ..*case };
        // All of them in turn, so that a busy minute of the machine spares none.
        for _ in 0..ROUNDS {
            for row in &mut rows {
                let nanos = run_flow(&case, &row.flow).nanos_per_packet();
                row.nanos[column] = row.nanos[column].min(nanos);
            }
        }
    }
    let [first, second, third] = CASES.map(|case| case.name);
    println!("{:24}{first:>18}{second:>18}{third:>18}", format!("stack {stack}"));
    let single = rows[0].nanos;
    for row in rows {
        print!("{:24}", row.name);
        for (own, one) in row.nanos.iter().zip(single) {
            print!("{own:>10.0} ({:>5.2})", own / one);
        }
        println!();
    }
}

/// So many endless streams of our own QUIC under a scheduler over the bottleneck of this number, for a profiler; a single one
/// needs none.
pub(crate) fn run(scheduler: &str, streams: usize, case: usize) {
    let flow = if streams == 1 { single("own") } else { endless("own", scheduler, streams) };
    let case = case.min(CASES.len() - 1);
    run_recording(&Case { span: SPANS[case], ..CASES[case] }, &flow, "messages = false");
}

/// The bottlenecks at which many streams are measured, and for how long.
const MANY: [(usize, SimDuration); 2] =
    [(0, SimDuration::from_secs(10)), (2, SimDuration::from_secs(1))];

/// Prints the cost of a packet of ten streams and of a thousand, all of them endless, by stack, scheduler and bottleneck; of
/// one stack if it is named.
pub(crate) fn compare_many(stack: Option<&str>) {
    let [few, most] = MANY.map(|(case, _)| CASES[case].name);
    println!(
        "QUIC: ten endless streams and a thousand at {few} and at {most}, series not recorded (they are a row per stream"
    );
    println!(
        "and sample, not per packet): ns per packet, 10 and 1 virtual seconds, fastest of {ROUNDS} rounds.\n"
    );
    stacks(stack).for_each(compare_many_in);
}

fn compare_many_in(stack: &str) {
    print!("{:24}", format!("stack {stack}"));
    for _ in MANY {
        print!("{:>10}{:>10}{:>8}", 10, 1_000, "ratio");
    }
    println!();
    for name in schedulers() {
        let flows = [10, 1_000].map(|streams| endless(stack, name, streams));
        print!("{name:24}");
        for (case, span) in MANY {
            let case = Case { span, ..CASES[case] };
            let mut nanos = [f64::INFINITY; 2];
            for _ in 0..ROUNDS {
                for (best, flow) in nanos.iter_mut().zip(&flows) {
                    let measured = run_recording(&case, flow, "messages = false, series = false");
                    *best = best.min(measured.nanos_per_packet());
                }
            }
            let [few, many] = nanos;
            print!("{few:>10.0}{many:>10.0}{:>8.2}", many / few);
        }
        println!();
    }
}

/// A single stream, and two under every scheduler that needs no program of the user's.
fn rows(stack: &str) -> Vec<Row> {
    let nanos = [f64::INFINITY; CASES.len()];
    let mut rows = vec![Row { name: "(one stream)", flow: single(stack), nanos }];
    rows.extend(schedulers().map(|name| Row { name, flow: endless(stack, name, 2), nanos }));
    rows
}

/// The schedulers that need no program of the user's.
fn schedulers() -> impl Iterator<Item = &'static str> {
    SchedulerSpec::KINDS.iter().copied().filter(|name| *name != "python")
}

/// A flow of one endless stream.
fn single(stack: &str) -> String {
    format!("transport.stack = {stack:?}\n{ONE_STREAM}")
}

/// A flow of so many endless streams; of two, `wfq` gives the first twice as much as the second.
fn endless(stack: &str, scheduler: &str, streams: usize) -> String {
    let scheduler = match scheduler {
        "wfq" => {
            let weights: Vec<_> = (0..streams).map(|stream| 2 - stream % 2).collect();
            format!(r#"{{ kind = "wfq", weights = {weights:?} }}"#)
        }
        other => format!("{other:?}"),
    };
    let stream = r#"{ source = { kind = "bulk", size = "1000 GB" } }"#;
    let streams = vec![stream; streams].join(", ");
    format!("transport.stack = {stack:?}\ntransport.scheduler = {scheduler}\nstreams = [{streams}]")
}
