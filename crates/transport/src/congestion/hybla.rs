//! Hybla (Caini and Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", 2004).

use leobench_base::spec::{Fault, Range, UpTo};
use leobench_base::{Bytes, SimDuration};

use super::loss_based::{self, Avoidance};
use super::opening::{Opening, Packets};
use super::{Acked, Behaviour, CongestionContext, CongestionControl, CongestionModel};

leobench_base::spec! {
    /// Reno that grows on a long path as fast as on one of a reference round-trip time (Caini and Firrincieli 2004).
    ///
    /// Without a threshold, slow start would add 2^20 packets to the window per acknowledgement on a path of 500 ms.
    pub struct HyblaSpec: Default check = HyblaSpec::check {
        ..pub opening: Opening,
        /// Window in packets at which slow start ends at the latest (the largest window of Linux).
        pub initial_threshold: Packets = Packets::nearest(65_535),
        /// The reference round-trip time (RTT_0: 25 ms in the paper and in Linux).
        pub reference_rtt: SimDuration [UpTo::DELAY] = SimDuration::from_millis(25),
        /// Factor on the window at a congestion event.
        pub loss_reduction: f64 [Range::FACTOR] = 0.5,
    }
}

impl HyblaSpec {
    fn check(&self) -> Result<(), Fault> {
        if self.reference_rtt.is_zero() {
            return Err(Fault::new("reference_rtt", "is zero", "a time above zero"));
        }
        self.opening.check_packets("initial_threshold", self.initial_threshold)
    }
}

impl CongestionModel for HyblaSpec {
    fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl> {
        let spec = self.clone();
        loss_based::build(&self.opening, context, move |datagram| Hybla {
            datagram,
            threshold: u64::from(spec.initial_threshold.get()).saturating_mul(datagram.get()),
            factor: spec.loss_reduction,
            reference: spec.reference_rtt.as_secs_f64(),
            min_rtt: SimDuration::MAX,
            rho: 1.0,
        })
    }

    fn behaviour(&self) -> Behaviour {
        Behaviour { standard_slow_start: false, ..Behaviour::LOSS_BASED }
    }
}

#[derive(Clone, Debug)]
struct Hybla {
    datagram: Bytes,
    /// The first slow-start threshold, in bytes.
    threshold: u64,
    factor: f64,
    /// `RTT_0` in seconds.
    reference: f64,
    /// The shortest round trip, by which Linux measures the path: queues would make a flow more aggressive.
    min_rtt: SimDuration,
    /// The path's round-trip time in units of the reference, at least one.
    rho: f64,
}

impl Avoidance for Hybla {
    type Paths = ();

    fn initial_threshold(&self) -> Option<u64> {
        Some(self.threshold)
    }

    fn acked(&mut self, acked: &Acked) {
        if acked.rtt.latest < self.min_rtt {
            self.min_rtt = acked.rtt.latest;
            self.rho = (self.min_rtt.as_secs_f64() / self.reference).max(1.0);
        }
    }

    /// 2^rho - 1 packets for a packet, but not beyond the threshold.
    fn slow_growth(&mut self, standard: f64, room: f64, _acked: &Acked) -> f64 {
        ((libm::exp2(self.rho) - 1.0) * standard).min(room)
    }

    /// rho^2 packets in a window's worth.
    fn growth(&mut self, window: f64, acked: &Acked, (): &()) -> f64 {
        let reno = loss_based::reno_growth(self.datagram, window, acked);
        self.rho * self.rho * reno
    }

    fn reduced(&mut self, window: f64, (): &()) -> f64 {
        window * self.factor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::flow::{Flow, PATH};

    fn path(millis: u64) -> Flow {
        let model = HyblaSpec {
            opening: Opening { initial_window: Some(Packets::nearest(4)), ..Opening::default() },
            initial_threshold: Packets::nearest(400),
            ..Default::default()
        };
        Flow::open(&model, SimDuration::from_millis(millis))
    }

    /// At three times the reference a packet brings 2^3 - 1 more, so that the window grows eightfold in a round trip
    /// and doubles in a reference round-trip time, up to the threshold.
    #[test]
    fn slow_start_is_as_fast_as_on_the_reference_path() {
        for (rtt, windows) in
            [(25, [8.0, 16.0, 32.0]), (10, [8.0, 16.0, 32.0]), (75, [32.0, 256.0, 400.0])]
        {
            let mut path = path(rtt);
            for window in windows {
                path.round();
                assert!((path.packets() - window).abs() < 8.0, "{} at {rtt} ms", path.packets());
            }
        }
    }

    /// rho^2 packets per round trip: nine at three times the reference, one below it.
    #[test]
    fn avoidance_gains_rho_squared_packets() {
        for (rtt, gain) in [(10, 1.0), (25, 1.0), (75, 9.0)] {
            let mut path = path(rtt);
            while path.controller.phase(PATH) == "slow-start" {
                path.step_return(|_| false);
            }
            let before = path.packets();
            path.return_until(path.now + SimDuration::from_millis(10 * rtt));
            let gained = (path.packets() - before) / 10.0;
            assert!((gained / gain - 1.0).abs() < 0.1, "{gained} packets a round at {rtt} ms");
        }
    }
}
