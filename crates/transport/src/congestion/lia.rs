//! LIA, the linked increases algorithm (RFC 6356; Wischik et al., "Design, implementation and evaluation of congestion
//! control for multipath TCP", NSDI 2011).

use leobench_base::Bytes;
use leobench_base::spec::Range;

use super::coupled::{self, CoupledAvoidance, Paths};
use super::loss_based::Avoidance;
use super::opening::Opening;
use super::{Acked, Behaviour, CongestionContext, CongestionControl, CongestionModel};

leobench_base::spec! {
    /// Coupled: all paths together grow as one NewReno on the best of them would (RFC 6356).
    pub struct LiaSpec: Default {
        ..pub opening: Opening,
        /// Factor on the window of a path at a congestion event on it (RFC 6356 section 3: as in TCP, RFC 5681).
        pub loss_reduction: f64 [Range::FACTOR] = 0.5,
    }
}

impl CongestionModel for LiaSpec {
    fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl> {
        let factor = self.loss_reduction;
        coupled::build(&self.opening, context, move |datagram| Lia { datagram, factor })
    }

    fn behaviour(&self) -> Behaviour {
        Behaviour::COUPLED
    }
}

#[derive(Clone, Debug)]
struct Lia {
    datagram: Bytes,
    factor: f64,
}

/// `alpha` over the total window, per byte (RFC 6356 section 3, equation 2): the largest `cwnd_i / rtt_i^2` over the
/// square of the sum of `cwnd_i / rtt_i`.
fn alpha_over_total<S>(paths: &Paths<S>) -> f64 {
    let best = paths.measured().map(coupled::View::weight).fold(0.0, f64::max);
    let rate = paths.rate();
    best / (rate * rate)
}

impl Avoidance for Lia {
    type Paths = Paths<()>;

    /// RFC 6356 section 3, equation 1: never more than NewReno on the path alone.
    fn growth(&mut self, window: f64, acked: &Acked, paths: &Self::Paths) -> f64 {
        paths
            .growth(self.datagram, window, acked, |paths| alpha_over_total(paths).min(1.0 / window))
    }

    fn reduced(&mut self, window: f64, _paths: &Self::Paths) -> f64 {
        window * self.factor
    }
}

impl CoupledAvoidance for Lia {
    type Shown = ();
    type Memory = ();

    fn shown(&self) {}
}

#[cfg(test)]
mod tests {
    use leobench_base::{SimDuration, SimTime};

    use super::*;
    use crate::congestion::coupled::tests::paths;
    use crate::congestion::tests::acked;

    /// Worked by hand. Windows of 12 and 24 kB at 100 and 50 ms: rates of 120 and 480 kB/s, weights of 1.2 and 9.6 MB/s^2,
    /// so 9.6e6 / 600,000^2 = 2.667e-5 per byte. `alpha` is that times the 36 kB of both: 0.96.
    #[test]
    fn alpha_is_that_of_the_rfc() {
        let uneven = paths(&[(12_000.0, 100, ()), (24_000.0, 50, ())], 0);
        assert!((alpha_over_total(&uneven) * 36_000.0 - 0.96).abs() < 1e-9);
        // Equal paths: (w / r^2) / (2 w / r)^2 = 1 / (4 w), so alpha is a half.
        let even = paths(&[(12_000.0, 80, ()), (12_000.0, 80, ())], 0);
        assert!((alpha_over_total(&even) * 24_000.0 - 0.5).abs() < 1e-9);
        // One path: 1 over the window, so alpha is 1.
        let alone = paths(&[(12_000.0, 80, ())], 0);
        assert!((alpha_over_total(&alone) * 12_000.0 - 1.0).abs() < 1e-9);
    }

    /// The smaller of the two terms of equation 1. Beside 20 kB at 10 ms, 10 kB at 500 ms grow by alpha, 2e8 /
    /// 2,020,000^2 = 4.9015e-5 per byte and byte of a packet; 100 kB there would grow by 2e8 / 2,200,000^2 = 4.13e-5,
    /// more than the 1e-5 of NewReno.
    #[test]
    fn no_path_grows_faster_than_newreno() {
        let (size, rtt) = (Bytes::new(1_000), SimDuration::from_millis(500));
        let packet = Acked { size, ..acked(SimTime::ZERO + rtt, rtt) };
        let mut lia = Lia { datagram: size, factor: 0.5 };
        for (window, growth) in [(10_000.0, 49.015), (100_000.0, 10.0)] {
            let paths = paths(&[(20_000.0, 10, ()), (window, 500, ())], 1);
            let grown = lia.growth(window, &packet, &paths);
            assert!((grown - growth).abs() < 1e-3, "{grown} bytes instead of {growth}");
        }
    }
}
