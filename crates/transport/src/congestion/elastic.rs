//! Elastic-TCP (Alrshah, Al-Maqri and Othman, "Elastic-TCP: flexible congestion control algorithm to adapt for high-BDP
//! networks", IEEE Systems Journal 13(2), 2019).

use leobench_base::spec::Range;
use leobench_base::{Bytes, SimDuration};

use super::loss_based::{self, Avoidance};
use super::opening::Opening;
use super::{Acked, CongestionContext, CongestionControl, CongestionModel};

leobench_base::spec! {
    /// Reno that grows faster the larger its window is and the emptier the queue (Alrshah et al. 2019).
    pub struct ElasticSpec: Default {
        ..pub opening: Opening,
        /// Factor on the window at a congestion event (Alrshah et al. 2019: as in NewReno).
        pub loss_reduction: f64 [Range::FACTOR] = 0.5,
    }
}

impl CongestionModel for ElasticSpec {
    fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl> {
        let factor = self.loss_reduction;
        loss_based::build(&self.opening, context, move |datagram| Elastic {
            datagram,
            factor,
            longest_rtt: SimDuration::ZERO,
        })
    }
}

#[derive(Clone, Debug)]
struct Elastic {
    datagram: Bytes,
    factor: f64,
    /// `RTT_max`: the longest round trip seen.
    longest_rtt: SimDuration,
}

impl Avoidance for Elastic {
    type Paths = ();

    fn acked(&mut self, acked: &Acked) {
        if !acked.ambiguous {
            self.longest_rtt = self.longest_rtt.max(acked.rtt.latest);
        }
    }

    /// `WWF / cwnd` packets for a packet, with `WWF = sqrt(RTT_max / RTT_current * cwnd)`, so `WWF` times the growth of
    /// Reno.
    fn growth(&mut self, window: f64, acked: &Acked, (): &()) -> f64 {
        let current = acked.rtt.latest.as_secs_f64().max(1e-9);
        let lengthening = (self.longest_rtt.as_secs_f64() / current).max(1.0);
        let packets = window / self.datagram.get() as f64;
        let weight = libm::sqrt(lengthening * packets);
        weight * loss_based::reno_growth(self.datagram, window, acked)
    }

    fn reduced(&mut self, window: f64, (): &()) -> f64 {
        window * self.factor
    }
}

#[cfg(test)]
mod tests {
    use leobench_base::SimTime;

    use super::*;
    use crate::congestion::Rtt;
    use crate::congestion::opening::Packets;
    use crate::congestion::tests::acked;
    use crate::congestion::tests::flow::{DATAGRAM, Flow};

    fn ack(millis: u64) -> Acked {
        let rtt = SimDuration::from_millis(millis);
        Acked { size: DATAGRAM, ..acked(SimTime::ZERO + rtt, rtt) }
    }

    /// Worked by hand: sqrt(T / (tau w)) packets for a packet. At T = tau = 100 ms, 1/10 at 100 packets and 1/4 at 16;
    /// at tau = 25 ms, twice as much, whatever the smoothed and the shortest round trip are.
    #[test]
    fn growth_is_the_root_of_the_ratio_of_round_trips_over_the_window() {
        let mut elastic =
            Elastic { datagram: DATAGRAM, factor: 0.5, longest_rtt: SimDuration::ZERO };
        elastic.acked(&ack(100));
        elastic.acked(&ack(25));
        elastic.acked(&Acked { ambiguous: true, ..ack(900) });
        let smoothed = SimDuration::from_millis(60);
        let rtt = Rtt { smoothed, min: SimDuration::from_millis(1), ..ack(25).rtt };
        for (packets, acked, growth) in [
            (100.0, ack(100), 0.1),
            (16.0, ack(100), 0.25),
            (100.0, ack(25), 0.2),
            (16.0, Acked { rtt, ..ack(25) }, 0.5),
            // As NewReno: a packet for a window of one.
            (1.0, ack(100), 1.0),
        ] {
            let window = packets * DATAGRAM.get() as f64;
            let grown = elastic.growth(window, &acked, &()) / DATAGRAM.get() as f64;
            assert!((grown - growth).abs() < 1e-12, "{grown} packets instead of {growth}");
        }
    }

    /// A steady round-trip time. Each packet of a round adds `1 / sqrt(w)`, and there are `w(n)` of them, so `w(n +
    /// 1)^(3/2) = w(n)^(3/2) + 3/2 w(n)`, about `(sqrt(w(0)) + n / 2)^2`. Growth of less than a packet waits, so within
    /// 1 %.
    #[test]
    fn windows_grow_with_the_square_of_time() {
        let opening = Opening { initial_window: Some(Packets::nearest(100)), ..Opening::default() };
        let mut path = Flow::open(
            &ElasticSpec { opening, ..Default::default() },
            SimDuration::from_millis(80),
        );
        path.lose();
        assert_eq!(path.window(), 50 * DATAGRAM.get());
        let mut window: f64 = 50.0;
        for round in 1..=40 {
            path.round();
            window = libm::pow(libm::pow(window, 1.5) + 1.5 * window, 2.0 / 3.0);
            let error = path.packets() / window - 1.0;
            assert!(error.abs() < 0.01, "round {round}: {} packets", path.packets());
        }
        assert!((690.0..740.0).contains(&window), "{window}: (7.07 + 20)^2 = 733 or a little less");
    }
}
