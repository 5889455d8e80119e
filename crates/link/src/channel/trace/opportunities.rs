//! Delivery opportunities of a recorded trace, and the cursor by which a transmitter uses them up.

use leobench_base::{Bytes, SimTime};

pub(super) const NANOS_PER_MILLI: u64 = 1_000_000;

/// The delivery opportunities of a trace, repeated for ever: at each of its instants so many, of so many bytes each.
///
/// Times within the trace are in nanoseconds; a run starts at the trace's `offset`. The trace starts again where its
/// last opportunity lies, as in Mahimahi (Netravali et al., USENIX ATC 2015): the `k`-th repetition has its
/// opportunities at `k * period + t`.
#[derive(Debug, PartialEq, Eq)]
pub struct Opportunities {
    /// Distinct instants, increasing.
    instants: Box<[u64]>,
    /// Opportunities up to and including each instant.
    cumulative: Box<[u64]>,
    opportunity: Bytes,
    offset: u64,
}

impl Opportunities {
    /// Opportunities of `opportunity` bytes at the given milliseconds, which must not decrease nor all be zero, in a
    /// run that starts `offset_ms` (less than the last of them) into the trace.
    pub fn new(millis: &[u64], opportunity: Bytes, offset_ms: u64) -> Self {
        let mut instants: Vec<u64> = Vec::new();
        let mut cumulative: Vec<u64> = Vec::new();
        for (so_far, at) in (1..).zip(millis.iter().map(|at| at * NANOS_PER_MILLI)) {
            if instants.last() == Some(&at) {
                cumulative.pop();
            } else {
                instants.push(at);
            }
            cumulative.push(so_far);
        }
        Self {
            instants: instants.into(),
            cumulative: cumulative.into(),
            opportunity,
            offset: offset_ms * NANOS_PER_MILLI,
        }
    }

    /// Bytes of one opportunity.
    pub const fn opportunity(&self) -> Bytes {
        self.opportunity
    }

    /// How many opportunities there are from the start of the run up to and including `time`.
    pub fn count_through(&self, time: SimTime) -> u64 {
        let before_run = self.count_within(self.offset);
        let at = time.as_nanos() + self.offset;
        let repetitions = at / self.period();
        let whole = repetitions * self.cumulative[self.cumulative.len() - 1];
        whole + self.count_within(at % self.period() + 1) - before_run
    }

    /// How many opportunities there are from the start of the run up to but not including `time`.
    pub fn count_before(&self, time: SimTime) -> u64 {
        match time.as_nanos() {
            0 => 0,
            nanos => self.count_through(SimTime::from_nanos(nanos - 1)),
        }
    }

    /// The mean rate over a whole repetition, in bits per second.
    pub fn mean_rate(&self) -> f64 {
        let bits = self.cumulative[self.cumulative.len() - 1] * self.opportunity.bits();
        bits as f64 * 1e9 / self.period() as f64
    }

    /// Length of a repetition in nanoseconds.
    fn period(&self) -> u64 {
        self.instants[self.instants.len() - 1]
    }

    /// Opportunities within a repetition before `at`.
    fn count_within(&self, at: u64) -> u64 {
        match self.instants.partition_point(|instant| *instant < at) {
            0 => 0,
            instants => self.cumulative[instants - 1],
        }
    }

    /// Opportunities at one instant.
    fn count_at(&self, index: usize) -> u64 {
        self.cumulative[index] - if index == 0 { 0 } else { self.cumulative[index - 1] }
    }
}

/// How far a transmitter has used up the opportunities of a trace.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    /// Start of the current repetition, in nanoseconds of the trace.
    cycle: u64,
    index: usize,
    /// Bytes left at the current instant.
    left: u64,
    /// Bytes of one opportunity for this transmitter.
    opportunity: u64,
}

impl Cursor {
    /// A transmitter that uses opportunities of `opportunity` bytes (at least one) in place of the trace's own.
    pub fn new(trace: &Opportunities, opportunity: Bytes) -> Self {
        let mut cursor = Self { cycle: 0, index: 0, left: 0, opportunity: opportunity.get() };
        cursor.seek(trace, trace.offset);
        cursor
    }

    /// Serves a packet of `size` bytes that is at the head of the line at `now`; when its last byte leaves.
    ///
    /// An opportunity at `now` itself still serves it with what it has left; what earlier ones had left is lost.
    /// Bytes that do not fit go with the next opportunities. Calls come in order of time, none before the last result.
    pub fn serve(&mut self, trace: &Opportunities, now: SimTime, size: Bytes) -> SimTime {
        let now = now.as_nanos() + trace.offset;
        if self.instant(trace) < now {
            self.seek(trace, now);
        }
        let mut size = size.get();
        while size > self.left {
            size -= self.left;
            self.step(trace);
        }
        self.left -= size;
        SimTime::from_nanos(self.instant(trace) - trace.offset)
    }

    fn instant(&self, trace: &Opportunities) -> u64 {
        self.cycle + trace.instants[self.index]
    }

    /// Goes to the first instant not before `at`. Where a repetition ends and the next has an opportunity at its
    /// zero, both lie at the same instant, and the earlier repetition's comes first.
    fn seek(&mut self, trace: &Opportunities, at: u64) {
        self.cycle = at.saturating_sub(1) / trace.period() * trace.period();
        self.index = trace.instants.partition_point(|instant| self.cycle + instant < at);
        self.left = trace.count_at(self.index) * self.opportunity;
    }

    /// Goes to the next instant.
    fn step(&mut self, trace: &Opportunities) {
        self.index += 1;
        if self.index == trace.instants.len() {
            self.index = 0;
            self.cycle += trace.period();
        }
        self.left = trace.count_at(self.index) * self.opportunity;
    }
}
