//! BALIA, the balanced linked adaptation algorithm (Peng et al., "Multipath TCP: analysis, design, and implementation",
//! IEEE/ACM Transactions on Networking 24(1), 2016; first presented as "Multipath TCP algorithms: theory and design" at
//! SIGMETRICS 2013; draft-walid-mptcp-congestion-control-04).

use leobench_base::Bytes;

use super::coupled::{self, CoupledAvoidance, Paths};
use super::loss_based::Avoidance;
use super::opening::Opening;
use super::{Acked, Behaviour, CongestionContext, CongestionControl, CongestionModel};

/// The largest multiple of half the window that congestion takes (Peng et al. 2016).
const LARGEST_CUT: f64 = 1.5;

leobench_base::spec! {
    /// Coupled: a balance of `lia` and `olia` between friendliness and reaction (Peng et al. 2016).
    ///
    /// Congestion halves the window of the fastest path, and takes up to three quarters of others; the factors belong
    /// to the algorithm and are no parameters.
    pub struct BaliaSpec: Default {
        ..pub opening: Opening,
        /// Whether the reduction rounds `alpha`, the largest rate over the path's own, down to a whole number, as the
        /// integers of Linux do (`mptcp_balia`): a path then loses half its window until another is twice as fast (Peng
        /// et al. 2016: no rounding).
        pub linux_rounding: bool = false,
    }
}

impl CongestionModel for BaliaSpec {
    fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl> {
        let linux_rounding = self.linux_rounding;
        coupled::build(&self.opening, context, move |datagram| Balia { datagram, linux_rounding })
    }

    fn behaviour(&self) -> Behaviour {
        Behaviour::COUPLED
    }
}

#[derive(Clone, Debug)]
struct Balia {
    datagram: Bytes,
    linux_rounding: bool,
}

/// `alpha_r`: the largest rate of all paths over that of the path itself.
fn alpha(paths: &Paths<()>) -> f64 {
    let own = paths.own().rate;
    let largest = paths.measured().map(|view| view.rate).fold(own, f64::max);
    if own > 0.0 { largest / own } else { 1.0 }
}

/// `psi_r` of the paper's framework, `(1 + alpha_r) / 2 * (4 + alpha_r) / 5`: the growth of a path in units of that of
/// the fastest.
fn psi(alpha: f64) -> f64 {
    (1.0 + alpha) * (4.0 + alpha) / 10.0
}

impl Avoidance for Balia {
    type Paths = Paths<()>;

    /// Peng et al. 2016: `x_r / (rtt_r (sum of x)^2) psi_r` packets for a packet, with `x_r` the rate.
    fn growth(&mut self, window: f64, acked: &Acked, paths: &Self::Paths) -> f64 {
        paths.growth(self.datagram, window, acked, |paths| {
            let rate = paths.rate();
            paths.own().weight() / (rate * rate) * psi(alpha(paths))
        })
    }

    /// Peng et al. 2016: half the window, `min(alpha_r, 1.5)` times.
    fn reduced(&mut self, window: f64, paths: &Self::Paths) -> f64 {
        let alpha = alpha(paths);
        let alpha = if self.linux_rounding { libm::floor(alpha) } else { alpha };
        window - window / 2.0 * alpha.min(LARGEST_CUT)
    }
}

impl CoupledAvoidance for Balia {
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

    /// Worked by hand, for a path of 20 kB at 100 ms (200 kB/s) beside one of 10 kB at 100, 40, 20 and 40 ms. Of the last,
    /// which is the faster one, alpha is 1.
    #[test]
    fn alpha_psi_and_the_cut_are_those_of_the_paper() {
        // Round trip of the other; own path; alpha; psi; window after a loss, without and with Linux's rounding.
        for (rtt, own, ratio, faster, [cut, rounded]) in [
            // 100 kB/s beside 200: alpha = 1, psi = 2/2 * 5/5 = 1.
            (100, 0, 1.0, 1.0, [10_000.0, 10_000.0]),
            // 250 beside 200: alpha = 1.25, psi = 2.25/2 * 5.25/5 = 1.18125. A loss takes 5/8, rounded a half.
            (40, 0, 1.25, 1.181_25, [7_500.0, 10_000.0]),
            // 500 beside 200: alpha = 2.5, psi = 3.5/2 * 6.5/5 = 2.275. Above 1.5, and 2 when rounded: three quarters.
            (20, 0, 2.5, 2.275, [5_000.0, 5_000.0]),
            (40, 1, 1.0, 1.0, [5_000.0, 5_000.0]),
        ] {
            let paths = paths(&[(20_000.0, 100, ()), (10_000.0, rtt, ())], own);
            assert!((alpha(&paths) - ratio).abs() < 1e-9, "{rtt} ms");
            assert!((psi(ratio) - faster).abs() < 1e-9, "{rtt} ms");
            let window = paths.own().window;
            for (linux_rounding, expected) in [(false, cut), (true, rounded)] {
                let mut balia = Balia { datagram: Bytes::new(1_000), linux_rounding };
                let reduced = balia.reduced(window, &paths);
                assert!((reduced - expected).abs() < 1e-9, "{rtt} ms: {reduced}");
            }
        }
    }

    /// Between 1.5 and 2 the cap acts without rounding only: 17 and 28.9 kB at 100 ms, alpha = 1.7, so 0.75 or 0.5 of the
    /// window go.
    #[test]
    fn rounding_keeps_the_cap_from_acting_below_two() {
        let paths = paths(&[(17_000.0, 100, ()), (28_900.0, 100, ())], 0);
        let reduced = |linux_rounding| {
            Balia { datagram: Bytes::new(1_000), linux_rounding }.reduced(17_000.0, &paths)
        };
        assert!((reduced(false) - 4_250.0).abs() < 1e-9);
        assert!((reduced(true) - 8_500.0).abs() < 1e-9);
    }

    /// The case of alpha = 2.5 above: weights of 2 MB/s^2, rates of 700 kB/s in all, so 2e6 / 700,000^2 * 2.275 =
    /// 9.2857e-6 per byte: 9.2857 bytes for a packet of 1,000.
    #[test]
    fn growth_is_that_of_the_paper() {
        let (size, rtt) = (Bytes::new(1_000), SimDuration::from_millis(100));
        let packet = Acked { size, ..acked(SimTime::ZERO + rtt, rtt) };
        let mut balia = Balia { datagram: size, linux_rounding: false };
        let grown =
            balia.growth(20_000.0, &packet, &paths(&[(20_000.0, 100, ()), (10_000.0, 20, ())], 0));
        assert!((grown - 9.285_714).abs() < 1e-5, "{grown}");
    }
}
