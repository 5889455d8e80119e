//! Westwood+ (Mascolo et al., "TCP Westwood: Bandwidth estimation for enhanced transport over wireless links", 2001;
//! Grieco and Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion control",
//! 2004).

use leobench_base::spec::Range;
use leobench_base::{Bytes, SimDuration, SimTime};

use super::delivery_rate::DeliveryRate;
use super::loss_based::{self, Avoidance};
use super::opening::Opening;
use super::{Acked, Behaviour, CongestionContext, CongestionControl, CongestionModel};

/// Shortest time over which a bandwidth sample is taken (`TCP_WESTWOOD_RTT_MIN` of Linux).
const SHORTEST_SAMPLE: SimDuration = SimDuration::from_millis(50);
/// Reno's factor on the window at congestion, used until there is a bandwidth sample.
const WITHOUT_ESTIMATE: f64 = 0.5;

leobench_base::spec! {
    /// Reno that sets the window to the measured bandwidth-delay product on congestion (Grieco and Mascolo 2004).
    pub struct WestwoodSpec: Default {
        ..pub opening: Opening,
        /// Weight of the old bandwidth estimate when a sample is taken (alpha, Grieco and Mascolo 2004).
        pub memory: f64 [Range::from(0.0).below(1.0)] = 0.9,
    }
}

impl CongestionModel for WestwoodSpec {
    fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl> {
        let memory = self.memory;
        loss_based::build(&self.opening, context, move |datagram| Westwood::new(datagram, memory))
    }

    fn behaviour(&self) -> Behaviour {
        Behaviour { multiplicative_decrease: false, ..Behaviour::LOSS_BASED }
    }
}

#[derive(Clone, Debug)]
struct Westwood {
    datagram: Bytes,
    memory: f64,
    /// Bandwidth estimate.
    bandwidth: Option<DeliveryRate>,
    min_rtt: SimDuration,
    /// The sample being taken: since when, and bytes acknowledged within.
    sample: Option<(SimTime, u64)>,
}

impl Westwood {
    fn new(datagram: Bytes, memory: f64) -> Self {
        Self { datagram, memory, bandwidth: None, min_rtt: SimDuration::MAX, sample: None }
    }
}

impl Avoidance for Westwood {
    type Paths = ();

    /// A sample for every round trip, however many acknowledgements it brings: so compressed ones do no harm.
    fn acked(&mut self, acked: &Acked) {
        self.min_rtt = self.min_rtt.min(acked.rtt.latest);
        let Some((start, bytes)) = &mut self.sample else {
            self.sample = Some((acked.now, 0));
            return;
        };
        *bytes += acked.size.get();
        let span = acked.now.saturating_since(*start);
        if span < acked.rtt.latest.max(SHORTEST_SAMPLE) {
            return;
        }
        let sample = DeliveryRate::over(*bytes as f64, span);
        self.bandwidth =
            Some(self.bandwidth.map_or(sample, |bandwidth| {
                bandwidth * self.memory + sample * (1.0 - self.memory)
            }));
        self.sample = Some((acked.now, 0));
    }

    fn growth(&mut self, window: f64, acked: &Acked, (): &()) -> f64 {
        loss_based::reno_growth(self.datagram, window, acked)
    }

    /// The estimated bandwidth-delay product, but at most the window; half the window without an estimate.
    fn reduced(&mut self, window: f64, (): &()) -> f64 {
        self.bandwidth
            .map_or(window * WITHOUT_ESTIMATE, |bandwidth| (bandwidth * self.min_rtt).min(window))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::acked;

    fn ack(millis: u64, size: u64, rtt: u64) -> Acked {
        let now = SimTime::ZERO + SimDuration::from_millis(millis);
        Acked { size: Bytes::new(size), ..acked(now, SimDuration::from_millis(rtt)) }
    }

    /// Worked by hand: 1,000 bytes in 100 ms are 10,000 B/s; then 2,000 bytes in 100 ms make 0.9 * 10,000 + 0.1 *
    /// 20,000.
    #[test]
    fn the_estimate_is_filtered_once_per_round_trip() {
        let mut westwood = Westwood::new(Bytes::new(100), 0.9);
        westwood.acked(&ack(0, 500, 100));
        assert!((westwood.reduced(400.0, &()) - 200.0).abs() < 1e-9, "half without an estimate");
        for millis in [25, 50, 75, 100] {
            westwood.acked(&ack(millis, 250, 100));
        }
        assert!((westwood.bandwidth.unwrap().bps() / 8.0 - 10_000.0).abs() < 1e-9);
        westwood.acked(&ack(200, 2_000, 100));
        assert!((westwood.bandwidth.unwrap().bps() / 8.0 - 11_000.0).abs() < 1e-9);
        // 11,000 B/s over the shortest round trip, 80 ms.
        westwood.acked(&ack(210, 1, 80));
        assert!((westwood.reduced(5_000.0, &()) - 880.0).abs() < 1e-9);
        assert!((westwood.reduced(500.0, &()) - 500.0).abs() < 1e-9);
    }

    #[test]
    fn samples_of_short_paths_last_fifty_milliseconds() {
        let mut westwood = Westwood::new(Bytes::new(100), 0.9);
        (0..50).for_each(|millis| westwood.acked(&ack(millis, 100, 5)));
        assert_eq!(westwood.bandwidth, None);
        westwood.acked(&ack(50, 100, 5));
        assert!((westwood.bandwidth.unwrap().bps() / 8.0 - 100_000.0).abs() < 1e-6);
    }
}
