//! Vegas (Brakmo and Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet", 1995), with slow start
//! and the response to loss as in Linux.

use leobench_base::Bytes;
use leobench_base::spec::{Fault, Range};

use super::loss_based::{self, Avoidance};
use super::opening::Opening;
use super::round::{RoundRtt, RoundRtts};
use super::{Acked, CongestionContext, CongestionControl, CongestionModel, Sent};

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
            rtts: RoundRtts::default(),
        })
    }
}

#[derive(Clone, Debug)]
struct Vegas {
    datagram: Bytes,
    spec: VegasSpec,
    rtts: RoundRtts,
}

/// The ratio of the shortest round trip of all to that of the round.
fn ratio(round: &RoundRtt) -> f64 {
    round.base.as_secs_f64() / round.shortest.as_secs_f64().max(1e-9)
}

impl Vegas {
    /// `Diff` of section III-B: packets in the queue, which are those that a path without a queue would not hold.
    fn queued(&self, window: f64, ratio: f64) -> f64 {
        window * (1.0 - ratio) / self.datagram.get() as f64
    }
}

impl Avoidance for Vegas {
    type Paths = ();

    fn sent(&mut self, sent: &Sent) {
        self.rtts.on_sent(sent);
    }

    /// Linux goes on with the window that the rate measured calls for, and a packet more.
    fn slow_start_end(&mut self, window: f64, acked: &Acked) -> Option<f64> {
        let round = self.rtts.on_ack(acked)?;
        let ratio = ratio(&round);
        (round.trusted && self.queued(window, ratio) > self.spec.gamma)
            .then(|| (window * ratio + self.datagram.get() as f64).min(window))
    }

    /// Section III-B, once a round trip.
    fn growth(&mut self, window: f64, acked: &Acked, (): &()) -> f64 {
        let packet = self.datagram.get() as f64;
        let Some(round) = self.rtts.on_ack(acked) else { return 0.0 };
        if !round.trusted {
            return loss_based::reno_growth(self.datagram, window, acked);
        }
        let queued = self.queued(window, ratio(&round));
        if queued < self.spec.alpha {
            packet
        } else if queued > self.spec.beta {
            -packet
        } else {
            0.0
        }
    }

    fn reduced(&mut self, window: f64, (): &()) -> f64 {
        self.rtts.restart();
        window * self.spec.loss_reduction
    }
}
