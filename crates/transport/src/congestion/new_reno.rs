//! `NewReno` as QUIC has it (RFC 9002 section 7 and appendix B).

use leobench_base::Bytes;
use leobench_base::spec::{Example, Fault, Range};

use super::loss_based::{Avoidance, LossBased, Opening, Packets};
use super::slow_start::SlowStartSpec;
use super::{Acked, CongestionContext, CongestionControl, CongestionModel, PerPath};

leobench_base::spec! {
    /// One packet more per round trip, half the window on congestion (RFC 9002).
    pub struct NewRenoSpec check = NewRenoSpec::check {
        /// Initial window in packets; if not given, that of RFC 9002 section 7.2 (10 packets, at most 14,720 bytes).
        pub initial_window: Option<Packets>,
        /// Smallest window in packets (RFC 9002 section 7.2).
        pub minimum_window: Packets = Packets::nearest(2),
        /// How the window grows at first.
        pub slow_start: SlowStartSpec = SlowStartSpec::Standard,
        /// What a congestion event multiplies the window by (kLossReductionFactor, RFC 9002 appendix B.1).
        pub loss_reduction: f64 [Range::FACTOR] = 0.5,
    }
}

impl NewRenoSpec {
    fn opening(&self) -> Opening {
        Opening {
            initial_window: self.initial_window.map(|packets| packets.get().into()),
            minimum_window: self.minimum_window.get().into(),
            slow_start: self.slow_start,
        }
    }

    fn check(&self) -> Result<(), Fault> {
        self.opening().check()
    }
}

impl Example for NewRenoSpec {
    fn example() -> Self {
        Self {
            initial_window: None,
            minimum_window: Packets::nearest(2),
            slow_start: SlowStartSpec::Standard,
            loss_reduction: 0.5,
        }
    }
}

impl CongestionModel for NewRenoSpec {
    fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl> {
        let (opening, factor, paced) = (self.opening(), self.loss_reduction, context.paced);
        Box::new(PerPath::new(move |_, datagram| {
            LossBased::new(&opening, paced, datagram, NewReno { datagram, factor })
        }))
    }
}

#[derive(Clone, Debug)]
struct NewReno {
    datagram: Bytes,
    factor: f64,
}

impl Avoidance for NewReno {
    /// RFC 9002 appendix B.5.
    fn growth(&mut self, window: f64, acked: &Acked) -> f64 {
        self.datagram.get() as f64 * acked.size.get() as f64 / window
    }

    fn reduced(&mut self, window: f64) -> f64 {
        window * self.factor
    }
}
