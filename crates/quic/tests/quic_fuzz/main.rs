//! Bytes that no honest peer sends, against the codec of our own QUIC and against whole connections: nothing panics, and what
//! closes a connection has the right kind of error code.
//!
//! An input is a string of bytes that a target interprets; `tests/quic_corpus` holds some for each. Inputs are mutated by a
//! seeded generator, and those kept that lead to an outcome not seen before. Whatever is found is written into the corpus.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, its helpers too, and a long one tells what it did"
)]

mod connection;
mod mutation;
mod targets;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;

use leobench_base::{RngTree, SimRng};

/// A target: it interprets an input and returns a number for its outcome.
type Target = (&'static str, fn(&[u8]) -> u64);

const TARGETS: [Target; 4] = [
    ("frames", targets::frames),
    ("headers", targets::headers),
    ("parameters", targets::parameters),
    ("connection", connection::run),
];

/// Inputs kept for mutation.
const LARGEST_POOL: usize = 20_000;

fn folder(target: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/quic_corpus").join(target)
}

/// The inputs of the corpus, in the order of their names: a line of hexadecimal digits each, after lines of comment.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let files = std::fs::read_dir(folder(target)).unwrap();
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths.iter().flat_map(|path| inputs(&std::fs::read_to_string(path).unwrap())).collect()
}

fn inputs(text: &str) -> Vec<Vec<u8>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let input = |line: &str| {
        let digits: Vec<u8> = line.bytes().filter(u8::is_ascii_hexdigit).collect();
        let byte =
            |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.chunks(2).map(byte).collect()
    };
    lines.map(input).collect()
}

/// Runs a target; whatever makes it panic is added to the corpus.
fn attempt((name, run): Target, input: &[u8]) -> u64 {
    catch_unwind(AssertUnwindSafe(|| run(input))).unwrap_or_else(|panic| {
        let mut hex = String::from("# found by fuzzing\n");
        for byte in input {
            write!(hex, "{byte:02x}").unwrap();
        }
        let path = folder(name).join(format!("found-{:016x}.hex", targets::hash(input)));
        std::fs::write(&path, hex + "\n").unwrap();
        eprintln!("the input is in {}", path.display());
        resume_unwind(panic)
    })
}

/// Mutates inputs of a target.
struct Fuzzer {
    target: Target,
    pool: Vec<Vec<u8>>,
    outcomes: BTreeSet<u64>,
    rng: SimRng,
}

impl Fuzzer {
    fn new(target: Target, seed: u64) -> Self {
        let pool = corpus(target.0);
        assert!(!pool.is_empty(), "no corpus for {}", target.0);
        let outcomes = pool.iter().map(|input| attempt(target, input)).collect();
        Self { target, pool, outcomes, rng: RngTree::new(seed).child(target.0).rng() }
    }

    fn step(&mut self) {
        let input = mutation::mutated(&self.pool, &mut self.rng);
        if self.outcomes.insert(attempt(self.target, &input)) && self.pool.len() < LARGEST_POOL {
            self.pool.push(input);
        }
    }
}

#[test]
fn the_corpus_is_survived() {
    for target in TARGETS {
        for input in corpus(target.0) {
            attempt(target, &input);
        }
    }
}

#[test]
fn mutated_inputs_are_survived() {
    for (target, steps) in TARGETS.into_iter().zip([4_000, 4_000, 4_000, 300]) {
        let mut fuzzer = Fuzzer::new(target, 1);
        let known = fuzzer.outcomes.len();
        (0..steps).for_each(|_| fuzzer.step());
        assert!(fuzzer.outcomes.len() > known, "{}: nothing new in {steps} steps", target.0);
    }
}

/// `LEOBENCH_FUZZ_SECONDS` of fuzzing, 20 if not given, from `LEOBENCH_FUZZ_SEED`, or 1.
#[test]
#[ignore = "takes as long as it is told to"]
#[expect(clippy::disallowed_methods, reason = "this is a driver")]
fn fuzzing_finds_nothing() {
    let number =
        |name, default| std::env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let seconds = number("LEOBENCH_FUZZ_SECONDS", 20);
    let seed = number("LEOBENCH_FUZZ_SEED", 1);
    let start = std::time::Instant::now();
    let mut fuzzers = TARGETS.map(|target| Fuzzer::new(target, seed));
    let mut rounds = 0_u64;
    while start.elapsed().as_secs() < seconds {
        for (fuzzer, steps) in fuzzers.iter_mut().zip([200, 200, 200, 20]) {
            (0..steps).for_each(|_| fuzzer.step());
        }
        rounds += 1;
    }
    for fuzzer in &fuzzers {
        eprintln!("{}: {} outcomes", fuzzer.target.0, fuzzer.outcomes.len());
    }
    eprintln!("{rounds} rounds of 600 codec inputs and 20 connections, seed {seed}");
}
