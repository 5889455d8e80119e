//! The cost of a packet with more flows over the same link, and beside flows and links that are idle.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::fmt::Write as _;
use std::process::Command;

use crate::DELAY;
use crate::cost::Cost;

/// How often each is measured, by turns; the fastest counts, as it was disturbed the least.
const ROUNDS: usize = 3;
/// Bottleneck rate in bits per second.
const RATE_BPS: u64 = 1_000_000_000;
/// Queue in front of it in packets of 1,500 bytes: the bandwidth-delay product, so that each flow has its own.
const QUEUE: u64 = RATE_BPS / 8 * 2 * DELAY.as_nanos() / 1_000_000_000 / 1_500;
/// Virtual seconds of a run.
const SECONDS: u64 = 10;
/// Virtual seconds of a run in which instructions are counted, which takes fifty times as long.
const COUNTED_SECONDS: u64 = 2;

/// Bytes of a message of a paced flow: one packet.
const MESSAGE: u64 = 1_200;
/// Rate of all paced flows together in bits per second, half of the bottleneck's: no queue grows.
const PACED_BPS: u64 = RATE_BPS / 2;

/// How much there is of everything.
#[derive(Clone, Copy)]
struct Load {
    /// Transport of all flows, as a scenario names it.
    transport: &'static str,
    /// Flows over the bottleneck.
    flows: usize,
    /// Whether they send a message of a packet at regular times, instead of as much as they can.
    paced: bool,
    /// Flows over the same link that send one byte and nothing more.
    idle_flows: usize,
    /// Links that carry nothing, each between two nodes of its own.
    idle_links: usize,
}

const TCP: &str = r#"{ kind = "tcp", receive_buffer = "unlimited", send_buffer = "unlimited" }"#;
const QUIC: &str = r#"{ kind = "quic" }"#;
const ONE: Load = Load { transport: TCP, flows: 1, paced: false, idle_flows: 0, idle_links: 0 };
const TEN: Load = Load { flows: 10, ..ONE };
const PACED: Load = Load { flows: 10, paced: true, ..ONE };
const SPARSE: Load = Load { flows: 1_000, ..PACED };

/// The loads: name, load, and the name of the one to compare with.
const LOADS: [(&str, Load, &str); 9] = [
    ("1 flow", ONE, ""),
    ("10 flows", TEN, "1 flow"),
    ("1,000 flows", Load { flows: 1_000, ..ONE }, "10 flows"),
    ("10 flows, 1,000 idle", Load { idle_flows: 1_000, ..TEN }, "10 flows"),
    ("10 flows, 1,000 idle links", Load { idle_links: 1_000, ..TEN }, "10 flows"),
    ("10 paced TCP flows", PACED, ""),
    ("1,000 sparse TCP flows", SPARSE, "10 paced TCP flows"),
    ("10 paced QUIC flows", Load { transport: QUIC, ..PACED }, ""),
    ("1,000 sparse QUIC flows", Load { transport: QUIC, ..SPARSE }, "10 paced QUIC flows"),
];

/// Prints what a packet costs by load, and how many times what it costs with fewer flows.
pub(crate) fn compare() {
    println!(
        "TCP flows that share 1 Gbit/s, 20 ms one way and a queue of {QUEUE} packets (the bandwidth-delay product), {SECONDS} \
         virtual"
    );
    println!(
        "seconds, neither messages nor series recorded: ns per packet, data and acknowledgements, fastest of {ROUNDS} rounds. Paced and \
         sparse"
    );
    println!("flows send {MESSAGE} B at regular times, {} Mbit/s together.", PACED_BPS / 1_000_000);
    println!("{:28} {:>10} {:>8} {:>8}", "", "packets", "ns", "ratio");
    let mut best: [Option<Cost>; LOADS.len()] = [None; LOADS.len()];
    for _ in 0..ROUNDS {
        for (best, (_, load, _)) in best.iter_mut().zip(LOADS) {
            let cost = measure(load, SECONDS);
            if best.is_none_or(|best| cost.nanos < best.nanos) {
                *best = Some(cost);
            }
        }
    }
    let costs: Vec<_> = LOADS.iter().zip(best.into_iter().flatten()).collect();
    for ((name, _, beside), cost) in &costs {
        let base = costs.iter().find(|((name, ..), _)| name == beside);
        let ratio = base.map_or(String::new(), |(_, base)| {
            format!("{:.2} times {beside}", cost.per_packet() / base.per_packet())
        });
        println!("{name:28} {:>10} {:>8.0}     {ratio}", cost.packets, cost.per_packet());
    }
}

/// Runs the load of this number for so many virtual seconds and prints its packets, for a profiler.
pub(crate) fn run(number: usize, seconds: u64) {
    let (name, load, _) = LOADS[number.min(LOADS.len() - 1)];
    println!("{name}: {} packets", measure(load, seconds).packets);
}

fn measure(load: Load, seconds: u64) -> Cost {
    Cost::of(&scenario(load, seconds))
}

/// Prints the instructions per packet by load, as valgrind counts them: the same on a busy machine as on an idle one.
pub(crate) fn count_instructions() {
    println!(
        "Instructions per packet (callgrind), {COUNTED_SECONDS} virtual seconds, the run without setting up and summing up."
    );
    println!("{:28} {:>10} {:>8}", "", "packets", "instr.");
    let mut costs: Vec<(&str, f64)> = Vec::new();
    for (number, (name, _, beside)) in LOADS.iter().enumerate() {
        let (packets, instructions) = instructions(number);
        let each = instructions / packets;
        let base = costs.iter().find(|(other, _)| other == beside);
        let ratio =
            base.map_or(String::new(), |(_, base)| format!("{:.2} times {beside}", each / base));
        println!("{name:28} {packets:>10} {each:>8.0}     {ratio}");
        costs.push((name, each));
    }
}

/// Packets of a load, and the instructions that they took.
fn instructions(load: usize) -> (f64, f64) {
    let own = std::env::current_exe().unwrap_or_else(|error| panic!("own path: {error}"));
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--toggle-collect=leobench_bench::cost::drive")
        .arg(own)
        .args(["scale".to_owned(), load.to_string(), COUNTED_SECONDS.to_string()])
        .output();
    let output = output.unwrap_or_else(|error| panic!("valgrind cannot be run: {error}"));
    let [said, counted] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    let packets = said.trim().rsplit(' ').nth(1).and_then(|number| number.parse().ok());
    let collected = counted.lines().find_map(|line| line.split_once("Collected : "));
    let collected = collected.and_then(|(_, number)| number.trim().parse().ok());
    match (packets, collected) {
        (Some(packets), Some(instructions)) => (packets, instructions),
        _ => panic!("valgrind said {counted}"),
    }
}

fn scenario(load: Load, seconds: u64) -> String {
    let mut text = format!(
        r#"
        name = "benchmark"
        duration = "{seconds} s"
        record = {{ messages = false, series = false }}
        [links.path]
        between = ["client", "server"]
        rate = "{RATE_BPS} bps"
        delay = "{DELAY}"
        queue = {{ kind = "fifo", limit = "{QUEUE} packets" }}
        [nodes]
        client = {{}}
        server = {{}}
        "#
    );
    // Writing to a string cannot fail.
    for link in 0..load.idle_links {
        let _ = writeln!(text, "west{link} = {{}}\neast{link} = {{}}");
    }
    for link in 0..load.idle_links {
        let ends = format!(r#"["west{link}", "east{link}"]"#);
        let _ = writeln!(
            text,
            "[links.idle{link}]\nbetween = {ends}\nrate = \"1 Gbps\"\ndelay = \"1 ms\""
        );
    }
    let transport = load.transport;
    for flow in 0..load.flows + load.idle_flows {
        let source = source(load, flow);
        let _ = writeln!(
            text,
            r#"
            [flows.flow{flow}]
            transport = {transport}
            from = "client"
            to = "server"
            source = {source}"#
        );
    }
    text
}

/// The source of a flow.
fn source(load: Load, flow: usize) -> String {
    if flow >= load.flows {
        return r#"{ kind = "bulk", size = "1 B" }"#.to_owned();
    }
    if !load.paced {
        return r#"{ kind = "bulk", size = "1000 GB" }"#.to_owned();
    }
    // The flows take turns, so that a flow's packets are as far apart as can be.
    let rate = PACED_BPS / load.flows as u64;
    let turn = MESSAGE * 8 * 1_000_000_000 / PACED_BPS;
    let offset = flow as u64 * turn;
    format!(
        r#"{{ kind = "cbr", rate = "{rate} bps", size = "{MESSAGE} B", offset = "{offset} ns" }}"#
    )
}
