//! Classic `HyStart` (Ha and Rhee, "Taming the elephants: New TCP slow start", 2011) with the constants of Linux.

use leobench_base::{Bytes, SimDuration, SimTime};

use super::super::round::RoundCounter;
use super::super::{AckEnd, Acked, Sent};
use super::{SAMPLES, threshold};

/// Window in packets below which slow start never ends early (`hystart_low_window` of Linux).
const LOW_WINDOW: u64 = 16;
/// Acknowledgements closer than this belong to one train (`hystart_ack_delta_us` of Linux).
const TRAIN_GAP: SimDuration = SimDuration::from_millis(2);

#[derive(Clone, Debug)]
pub(in super::super) struct HyStart {
    low_window: u64,
    paced: bool,
    rounds: RoundCounter,
    /// The shortest round trip of all.
    min_rtt: SimDuration,
    /// The acknowledgement being reported: its shortest round-trip time, and whether it begins a round.
    rtt: Option<SimDuration>,
    new_round: bool,
    round_start: SimTime,
    /// The last acknowledgement of the train that began with the round.
    train_end: SimTime,
    round_rtt: SimDuration,
    samples: u32,
}

impl HyStart {
    pub fn new(datagram: Bytes, paced: bool) -> Self {
        Self {
            low_window: LOW_WINDOW * datagram.get(),
            paced,
            rounds: RoundCounter::default(),
            min_rtt: SimDuration::MAX,
            rtt: None,
            new_round: false,
            round_start: SimTime::ZERO,
            train_end: SimTime::ZERO,
            round_rtt: SimDuration::MAX,
            samples: 0,
        }
    }

    pub fn on_sent(&mut self, sent: &Sent) {
        self.rounds.on_sent(sent.packet_number);
    }

    pub fn growth(&mut self, acked: &Acked) -> f64 {
        self.new_round |= self.rounds.begins(acked.packet_number);
        self.rtt = Some(self.rtt.map_or(acked.rtt.latest, |rtt| rtt.min(acked.rtt.latest)));
        acked.size.get() as f64
    }

    pub fn ends(&mut self, end: &AckEnd, window: u64) -> bool {
        let Some(rtt) = self.rtt.take() else { return false };
        self.min_rtt = self.min_rtt.min(rtt);
        if std::mem::take(&mut self.new_round) {
            self.round_start = end.now;
            self.train_end = end.now;
            self.round_rtt = SimDuration::MAX;
            self.samples = 0;
        }
        window >= self.low_window && (self.is_train_long(end.now) | self.is_delay_up(rtt))
    }

    /// A train as long as the way forth, for which stands half the shortest round trip, has filled the path.
    /// Pacing stretches trains: Linux then compares with the whole.
    fn is_train_long(&mut self, now: SimTime) -> bool {
        if now - self.train_end > TRAIN_GAP {
            return false;
        }
        self.train_end = now;
        let path = if self.paced { self.min_rtt } else { self.min_rtt / 2 };
        now - self.round_start > path
    }

    /// The first round trips of a round are longer than the shortest of all.
    fn is_delay_up(&mut self, rtt: SimDuration) -> bool {
        self.round_rtt = self.round_rtt.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        self.round_rtt > self.min_rtt + threshold(self.min_rtt)
    }

    pub fn leave(&mut self) {
        self.rounds.restart();
        self.rtt = None;
    }
}
