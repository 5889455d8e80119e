//! Vegas (Brakmo and Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet", 1995), with slow start
//! and the response to loss as in Linux.

use leobench_base::spec::{Fault, Range};
use leobench_base::{Bytes, SimDuration};

use super::loss_based::{self, Avoidance, Opening};
use super::round::RoundCounter;
use super::{Acked, CongestionContext, CongestionControl, CongestionModel, Sent};

/// Samples a round must have for its shortest round trip to be trusted (Linux: with two or fewer, acknowledgements may
/// all have been delayed).
const FEWEST_SAMPLES: u32 = 3;

leobench_base::spec! {
    /// Keeps a few packets in the queue, estimated from the increase of the round-trip time (Brakmo and Peterson 1995).
    ///
    /// Slow start ends as `slow_start` says, or earlier, by `gamma`.
    pub struct VegasSpec: Default check = VegasSpec::check {
        ..pub opening: Opening,
        /// Packets queued below which the window grows (2 as in Linux; section III-B of the paper).
        pub alpha: f64 [Range::above(0.0).to(1e6)] = 2.0,
        /// Packets queued above which the window shrinks (4 as in Linux; section III-B of the paper).
        pub beta: f64 [Range::above(0.0).to(1e6)] = 4.0,
        /// Packets queued above which slow start is over (1 as in Linux; section III-C of the paper).
        pub gamma: f64 [Range::above(0.0).to(1e6)] = 1.0,
        /// Factor on the window at a congestion event.
        pub loss_reduction: f64 [Range::FACTOR] = 0.5,
    }
}

impl VegasSpec {
    fn check(&self) -> Result<(), Fault> {
        if self.beta < self.alpha {
            let allowed = format!("a number of packets of at least `alpha` ({})", self.alpha);
            return Err(Fault::new("beta", "is out of range", allowed));
        }
        Ok(())
    }
}

impl CongestionModel for VegasSpec {
    fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl> {
        let spec = self.clone();
        loss_based::build(&self.opening, context, move |datagram| Vegas {
            datagram,
            spec: spec.clone(),
            rounds: RoundCounter::default(),
            base_rtt: SimDuration::MAX,
            round_rtt: SimDuration::MAX,
            samples: 0,
        })
    }
}

#[derive(Clone, Debug)]
struct Vegas {
    datagram: Bytes,
    spec: VegasSpec,
    rounds: RoundCounter,
    /// `BaseRTT`: the shortest round trip since the sender was last idle.
    base_rtt: SimDuration,
    /// The shortest round trip of the round, and out of how many.
    round_rtt: SimDuration,
    samples: u32,
}

/// The result of a round.
enum Finding {
    /// The ratio of the shortest round trip of all to that of the round.
    Ratio(f64),
    /// Too few samples.
    Nothing,
}

impl Vegas {
    /// The result of the round that this acknowledgement ends, if it ends one.
    fn find(&mut self, acked: &Acked) -> Option<Finding> {
        let rtt = acked.rtt.latest;
        self.base_rtt = self.base_rtt.min(rtt);
        self.round_rtt = self.round_rtt.min(rtt);
        self.samples += 1;
        if !self.rounds.begins(acked.packet_number) {
            return None;
        }
        let round_rtt = std::mem::replace(&mut self.round_rtt, SimDuration::MAX);
        Some(if std::mem::take(&mut self.samples) < FEWEST_SAMPLES {
            Finding::Nothing
        } else {
            Finding::Ratio(self.base_rtt.as_secs_f64() / round_rtt.as_secs_f64().max(1e-9))
        })
    }

    /// `Diff` of section III-B: packets in the queue, which are those that a path without a queue would not hold.
    fn queued(&self, window: f64, ratio: f64) -> f64 {
        window * (1.0 - ratio) / self.datagram.get() as f64
    }

    fn restart(&mut self) {
        self.rounds.restart();
        self.round_rtt = SimDuration::MAX;
        self.samples = 0;
    }
}

impl Avoidance for Vegas {
    /// A sender that was idle begins anew, as in Linux: the path may have changed.
    fn sent(&mut self, sent: &Sent) {
        if sent.in_flight == sent.size {
            self.restart();
            self.base_rtt = SimDuration::MAX;
        }
        self.rounds.on_sent(sent.packet_number);
    }

    /// Linux goes on with the window that the rate measured calls for, and a packet more.
    fn slow_start_end(&mut self, window: f64, acked: &Acked) -> Option<f64> {
        match self.find(acked)? {
            Finding::Ratio(ratio) if self.queued(window, ratio) > self.spec.gamma => {
                Some((window * ratio + self.datagram.get() as f64).min(window))
            }
            _ => None,
        }
    }

    /// Section III-B, once a round trip.
    fn growth(&mut self, window: f64, acked: &Acked) -> f64 {
        let packet = self.datagram.get() as f64;
        match self.find(acked) {
            None => 0.0,
            Some(Finding::Nothing) => packet * acked.size.get() as f64 / window,
            Some(Finding::Ratio(ratio)) => {
                let queued = self.queued(window, ratio);
                if queued < self.spec.alpha {
                    packet
                } else if queued > self.spec.beta {
                    -packet
                } else {
                    0.0
                }
            }
        }
    }

    fn reduced(&mut self, window: f64) -> f64 {
        self.restart();
        window * self.spec.loss_reduction
    }
}
