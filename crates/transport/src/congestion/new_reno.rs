//! `NewReno` as QUIC has it (RFC 9002 section 7 and appendix B).

use leobench_base::Bytes;
use leobench_base::spec::Range;

use super::loss_based::{self, Avoidance};
use super::opening::Opening;
use super::{Acked, CongestionContext, CongestionControl, CongestionModel};

leobench_base::spec! {
    /// Adds a packet to the window per round trip and halves it on congestion (RFC 9002).
    pub struct NewRenoSpec: Default {
        ..pub opening: Opening,
        /// Factor on the window at a congestion event (kLossReductionFactor, RFC 9002 appendix B.1).
        pub loss_reduction: f64 [Range::FACTOR] = 0.5,
    }
}

impl CongestionModel for NewRenoSpec {
    fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl> {
        let factor = self.loss_reduction;
        loss_based::build(&self.opening, context, move |datagram| NewReno { datagram, factor })
    }
}

#[derive(Clone, Debug)]
struct NewReno {
    datagram: Bytes,
    factor: f64,
}

impl Avoidance for NewReno {
    type Paths = ();

    /// RFC 9002 appendix B.5.
    fn growth(&mut self, window: f64, acked: &Acked, (): &()) -> f64 {
        loss_based::reno_growth(self.datagram, window, acked)
    }

    fn reduced(&mut self, window: f64, (): &()) -> f64 {
        window * self.factor
    }
}
