//! wVegas, weighted Vegas (Cao et al., "Delay-based congestion control for multipath TCP", ICNP 2012;
//! draft-xu-mptcp-congestion-control-05), with measurements, slow start and the response to loss as in Linux
//! (`mptcp_wvegas`).

use leobench_base::Bytes;
use leobench_base::spec::{Fault, Range};

use super::coupled::{self, CoupledAvoidance, Paths};
use super::loss_based::{Avoidance, reno_growth};
use super::opening::Opening;
use super::round::{RoundRtt, RoundRtts};
use super::{Acked, Behaviour, CongestionContext, CongestionControl, CongestionModel, Sent};

leobench_base::spec! {
    /// Coupled: like `vegas`, with the packets queued divided over the paths by their rates (Cao et al. 2012).
    ///
    /// Slow start ends as `slow_start` says, or earlier, by `gamma`.
    pub struct WvegasSpec: Default check = WvegasSpec::check {
        ..pub opening: Opening,
        /// Packets queued on all paths together (10 as in Linux, `total_alpha`).
        pub total_alpha: f64 [Range::above(0.0).to(1e6)] = 10.0,
        /// Packets queued on a path at least, and until its rate is known (2 as in Linux, `initial_alpha`).
        pub initial_alpha: f64 [Range::above(0.0).to(1e6)] = 2.0,
        /// Packets queued above which slow start is over (1 as in Linux).
        pub gamma: f64 [Range::above(0.0).to(1e6)] = 1.0,
        /// Factor on the window of a path at a congestion event on it (as in Linux).
        pub loss_reduction: f64 [Range::FACTOR] = 0.5,
    }
}

impl WvegasSpec {
    fn check(&self) -> Result<(), Fault> {
        if self.initial_alpha > self.total_alpha {
            let allowed = format!("a number of packets up to `total_alpha` ({})", self.total_alpha);
            return Err(Fault::new("initial_alpha", "is out of range", allowed));
        }
        Ok(())
    }
}

impl CongestionModel for WvegasSpec {
    fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl> {
        let spec = self.clone();
        coupled::build(&self.opening, context, move |datagram| Wvegas::new(&spec, datagram))
    }

    fn behaviour(&self) -> Behaviour {
        Behaviour::COUPLED
    }
}

#[derive(Clone, Debug)]
struct Wvegas {
    datagram: Bytes,
    spec: WvegasSpec,
    rtts: RoundRtts,
    /// Packets that the path keeps in the queue.
    alpha: f64,
    /// The rate at which it last had as many there, in bytes per second; zero if it never had.
    rate: f64,
    /// The shortest wait in the queue with `alpha` packets there, in seconds for each of them.
    wait: f64,
}

/// The share of a path in the rate of all (Cao et al. 2012): `own` over the sum of it and `others`.
fn weight(own: f64, others: impl Iterator<Item = f64>) -> f64 {
    own / (own + others.sum::<f64>())
}

/// The time that a round's packets waited in the queue, on average, in seconds, and the round-trip time, likewise.
fn wait(round: &RoundRtt) -> (f64, f64) {
    let rtt = round.mean.as_secs_f64().max(1e-9);
    ((rtt - round.base.as_secs_f64()).max(0.0), rtt)
}

impl Wvegas {
    fn new(spec: &WvegasSpec, datagram: Bytes) -> Self {
        let alpha = spec.initial_alpha;
        Self {
            datagram,
            spec: spec.clone(),
            rtts: RoundRtts::default(),
            alpha,
            rate: 0.0,
            wait: f64::INFINITY,
        }
    }

    /// Packets in the queue, which are those that a path without a queue would not hold.
    fn queued(&self, window: f64, round: &RoundRtt) -> f64 {
        let (wait, rtt) = wait(round);
        window * wait / rtt / self.datagram.get() as f64
    }

    /// Forgets everything learned about the path, as Linux does after a recovery or an idle time.
    fn forget(&mut self) {
        self.alpha = self.spec.initial_alpha;
        self.rate = 0.0;
        self.wait = f64::INFINITY;
    }

    /// The path has as many packets in the queue as it should have: its rate is what it can get, and with it the number
    /// changes.
    fn weigh(&mut self, window: f64, rtt: f64, paths: &Paths<f64>) {
        self.rate = window / rtt;
        let weight = weight(self.rate, paths.others().map(|view| view.shown));
        self.alpha = (weight * self.spec.total_alpha).max(self.spec.initial_alpha);
    }
}

impl Avoidance for Wvegas {
    type Paths = Paths<f64>;

    fn sent(&mut self, sent: &Sent) {
        if self.rtts.on_sent(sent) {
            self.forget();
        }
    }

    /// Linux goes on with the window that the rate measured calls for, and a packet more.
    fn slow_start_end(&mut self, window: f64, acked: &Acked) -> Option<f64> {
        let round = self.rtts.on_ack(acked)?;
        let packet = self.datagram.get() as f64;
        let queued = self.queued(window, &round);
        (round.trusted && queued > self.spec.gamma)
            .then(|| (window - (queued - 1.0) * packet).min(window))
    }

    /// A packet more or less in a round trip. If packets wait twice as long as so many of this path once did, a queue
    /// stands that this path did not make, such as one that its shortest round-trip time already had in it: the window
    /// falls to half of what a path without a queue would hold, for the queue to drain and the round-trip time to be
    /// measured anew.
    fn growth(&mut self, window: f64, acked: &Acked, paths: &Self::Paths) -> f64 {
        let Some(round) = self.rtts.on_ack(acked) else { return 0.0 };
        if !round.trusted {
            return reno_growth(self.datagram, window, acked);
        }
        let packet = self.datagram.get() as f64;
        let (queued, (wait, rtt)) = (self.queued(window, &round), wait(&round));
        let per_packet = wait / self.alpha;
        let settled = queued >= self.alpha;
        if settled {
            self.weigh(window, rtt, paths);
            if per_packet >= 2.0 * self.wait {
                self.wait = f64::INFINITY;
                return window * (rtt - wait) / rtt / 2.0 - window;
            }
            self.wait = self.wait.min(per_packet);
        }
        if queued < self.alpha {
            packet
        } else if queued > self.alpha {
            -packet
        } else {
            0.0
        }
    }

    fn reduced(&mut self, window: f64, _paths: &Self::Paths) -> f64 {
        self.rtts.restart();
        self.forget();
        window * self.spec.loss_reduction
    }
}

impl CoupledAvoidance for Wvegas {
    type Shown = f64;
    type Memory = ();

    /// Its rate, once it is known.
    fn shown(&self) -> f64 {
        self.rate
    }
}
#[cfg(test)]
mod tests {
    use leobench_base::{SimDuration, SimTime};

    use super::*;
    use crate::congestion::coupled::tests::paths;
    use crate::congestion::tests::acked;

    const PACKET: Bytes = Bytes::new(1_000);

    fn wvegas() -> Wvegas {
        Wvegas::new(&WvegasSpec::default(), PACKET)
    }

    /// A round of four packets whose round-trip time is `millis`, at the end of which the window is `window`. Returns
    /// the growth.
    fn round(
        wvegas: &mut Wvegas,
        first: u64,
        [millis, window]: [f64; 2],
        others: &Paths<f64>,
    ) -> f64 {
        let rtt = SimDuration::from_secs_f64(millis / 1e3);
        let numbers = first..first + 4;
        for number in numbers.clone() {
            wvegas.sent(&Sent::new(SimTime::ZERO, PACKET, Bytes::new(9_000), number));
        }
        // The first acknowledgement of a round ends the one before.
        let growths: Vec<_> = numbers
            .map(|packet_number| {
                let packet = Acked { size: PACKET, packet_number, ..acked(SimTime::ZERO, rtt) };
                wvegas.growth(window, &packet, others)
            })
            .collect();
        assert!(growths[1..].iter().all(|growth| *growth == 0.0), "once a round");
        growths[0]
    }

    /// Worked by hand. 20 packets at 100 ms, of which the path takes 80: 20 * 20 / 100 = 4 wait, more than the two of
    /// the beginning. The rate is 200 kB/s; beside 300 kB/s, its share is 0.4, so 4 of the ten are its. At 25 packets
    /// and 80 / 0.76 ms, 6 wait.
    #[test]
    fn a_path_queues_its_share_of_the_total() {
        let mut path = wvegas();
        let others = paths(&[(1.0, 100, 0.0), (1.0, 100, 300_000.0), (1.0, 100, 0.0)], 0);
        round(&mut path, 0, [80.0, 20_000.0], &others);
        round(&mut path, 4, [100.0, 20_000.0], &others);
        assert!((path.alpha - 2.0).abs() < 1e-9);
        round(&mut path, 8, [100.0, 20_000.0], &others);
        assert!((path.rate - 200_000.0).abs() < 1e-6);
        assert!((path.alpha - 4.0).abs() < 1e-9, "{}", path.alpha);
        assert!((path.shown() - 200_000.0).abs() < 1e-6);
        // Fewer wait: a packet more; the rate of a path that does not fill its share tells nothing.
        round(&mut path, 12, [90.0, 20_000.0], &others);
        let grown = round(&mut path, 16, [80.0 / 0.76, 18_000.0], &others);
        assert!((grown - 1_000.0).abs() < 1e-9 && (path.rate - 200_000.0).abs() < 1e-6);
        // 6 wait, and 25 packets in 105.3 ms are 237.5 kB/s: 4.4 would be its share.
        let grown = round(&mut path, 20, [80.0 / 0.76, 25_000.0], &others);
        assert!((grown + 1_000.0).abs() < 1e-9, "{grown}");
        assert!((path.alpha - 10.0 * 237.5 / 537.5).abs() < 1e-6, "{}", path.alpha);
        // A loss: as in the beginning.
        path.reduced(25_000.0, &others);
        assert!((path.alpha - 2.0).abs() < 1e-9 && path.shown() == 0.0);
    }

    /// A share of less than the smallest number of packets, and one of everything.
    #[test]
    fn weights_are_shares_of_the_rate() {
        assert!((weight(200.0, [300.0, 500.0].into_iter()) - 0.2).abs() < 1e-12);
        assert!((weight(200.0, std::iter::empty()) - 1.0).abs() < 1e-12);
        for (other, alpha) in [(1e9, 2.0), (0.0, 10.0)] {
            let mut path = wvegas();
            path.weigh(10_000.0, 0.1, &paths(&[(1.0, 1, 0.0), (1.0, 1, other)], 0));
            assert!((path.alpha - alpha).abs() < 1e-9);
        }
    }

    /// Packets that wait twice as long as as many did before: 10 of 50 at 100 ms are 2 ms each. At 133.3 ms, 20 of 50
    /// wait 53.3 ms, 5.3 for each of ten: half of 50 packets times 80 / 133.3 stay.
    #[test]
    fn a_queue_of_others_is_drained() {
        let mut path = wvegas();
        let alone = paths(&[(1.0, 100, 0.0)], 0);
        round(&mut path, 0, [80.0, 50_000.0], &alone);
        round(&mut path, 4, [100.0, 50_000.0], &alone);
        round(&mut path, 8, [100.0, 50_000.0], &alone);
        assert!((path.alpha - 10.0).abs() < 1e-9);
        round(&mut path, 12, [400.0 / 3.0, 50_000.0], &alone);
        let grown = round(&mut path, 16, [400.0 / 3.0, 50_000.0], &alone);
        assert!((grown + 35_000.0).abs() < 1.0, "{grown}");
    }
}
