//! The loudspeaker: voice packets at the times at which they are due.

use std::collections::BTreeSet;

use leobench_base::{LogHistogram, SimDuration, SimTime};

use crate::call::e_model::{Impairments, conversation_quality, rating};
use crate::call::jitter_buffer::JitterBuffer;
use crate::call::spec::VoiceSpec;

/// A voice as it was heard.
#[derive(Clone, Debug)]
pub struct Heard {
    /// Packets that were due, whether they were there or not.
    pub due: u64,
    /// Packets of them that had not arrived, early enough or at all.
    pub lost: u64,
    /// Packets of them that arrived later.
    pub late: u64,
    /// Mouth-to-ear delays of the others in nanoseconds.
    pub delays: LogHistogram,
    /// Mean length of a run of losses over that of independent losses, at least 1.
    pub burst_ratio: f64,
    /// Rating R of the E-model from the mean delay and the losses, at least 0; none if nothing was heard.
    pub rating: Option<f64>,
    /// Mean opinion score of that rating, from 1 to 4.5.
    pub mos: Option<f64>,
}

#[derive(Debug)]
pub(super) struct Loudspeaker {
    spec: VoiceSpec,
    buffer: Box<dyn JitterBuffer>,
    /// When the first packet was captured.
    begin: Option<SimTime>,
    /// The packet that is due next of so many, and when the one before was.
    next: u64,
    total: u64,
    last: SimTime,
    /// Packets that have arrived and are not due yet.
    waiting: BTreeSet<u64>,
    lost: u64,
    late: u64,
    /// Runs of losses, and whether the last packet was lost.
    runs: u64,
    in_run: bool,
    delays: LogHistogram,
}

impl Loudspeaker {
    pub fn new(spec: &VoiceSpec, length: SimDuration, buffer: Box<dyn JitterBuffer>) -> Self {
        Self {
            spec: spec.clone(),
            buffer,
            begin: None,
            next: 0,
            total: spec.packets(length),
            last: SimTime::ZERO,
            waiting: BTreeSet::new(),
            lost: 0,
            late: 0,
            runs: 0,
            in_run: false,
            delays: LogHistogram::new(),
        }
    }

    pub fn on_packet(&mut self, now: SimTime, number: u64, captured: SimTime) {
        self.begin.get_or_insert_with(|| captured - self.spec.packet * number);
        self.buffer.on_arrival(now, now.saturating_since(captured));
        if number >= self.next {
            self.waiting.insert(number);
        } else {
            self.late += 1;
        }
    }

    /// When the next packet is due, once one has arrived; none after the last.
    pub fn next_wake(&self) -> Option<SimTime> {
        let captured = self.begin? + self.spec.packet * self.next;
        let due = captured + self.buffer.delay()?;
        (self.next < self.total).then(|| due.max(self.last))
    }

    pub fn advance(&mut self, now: SimTime) {
        while let Some(due) = self.next_wake().filter(|due| *due <= now) {
            let Some(begin) = self.begin else { return };
            self.last = due;
            if self.waiting.remove(&self.next) {
                let captured = begin + self.spec.packet * self.next;
                self.delays.record(due.saturating_since(captured).as_nanos());
                self.in_run = false;
            } else {
                self.lost += 1;
                self.runs += u64::from(!self.in_run);
                self.in_run = true;
            }
            self.next += 1;
        }
    }

    pub fn heard(&self) -> Heard {
        let burst_ratio = self.burst_ratio();
        let rating = self.delays.mean().map(|mean| {
            let impairments = Impairments {
                delay_ms: mean / 1e6,
                loss: self.loss(),
                burst_ratio,
                codec: self.spec.codec.impairment(),
            };
            rating(&impairments).max(0.0)
        });
        Heard {
            due: self.next,
            lost: self.lost,
            late: self.late,
            delays: self.delays.clone(),
            burst_ratio,
            rating,
            mos: rating.map(conversation_quality),
        }
    }

    fn loss(&self) -> f64 {
        if self.next == 0 { 0.0 } else { self.lost as f64 / self.next as f64 }
    }

    /// Independent losses of probability p make runs of 1 / (1 - p) packets.
    fn burst_ratio(&self) -> f64 {
        if self.runs == 0 {
            return 1.0;
        }
        let mean = self.lost as f64 / self.runs as f64;
        (mean * (1.0 - self.loss())).max(1.0)
    }
}
