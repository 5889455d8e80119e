//! Loss in bursts: a two-state Markov chain that steps with every packet.
//!
//! Gilbert 1960, "Capacity of a burst-noise channel", and Elliott 1963, "Estimates of error rates for codes on
//! burst-noise channels" (Bell System Technical Journal); parameters named as in Haßlinger and Hohlfeld 2008, "The
//! Gilbert-Elliott model for packet loss in real time services on the Internet" (MMB).

use leobench_base::spec::{Fault, Probability};
use leobench_base::{Header, RngTree, SimRng, SimTime};

use super::{LossModel, LossProcess};

leobench_base::spec! {
    /// Loses packets in bursts: a good and a bad state, each with its own loss probability (Gilbert-Elliott).
    ///
    /// With the default loss probabilities (none in the good state, all in the bad one) the loss rate is p / (p + r)
    /// and the mean length of a burst 1 / r. Starts in its stationary distribution. The chain advances with packets;
    /// that of `gilbert_elliott_time` advances with time.
    pub struct GilbertElliottSpec example = r#"{"p": 0.01, "r": 0.25}"# check = check {
        /// Probability of going from good to bad, per packet.
        pub p: Probability,
        /// Probability of going from bad to good, per packet.
        pub r: Probability,
        /// Probability that a packet is lost in the good state.
        pub loss_good: Probability = Probability::NEVER,
        /// Probability that a packet is lost in the bad state.
        pub loss_bad: Probability = Probability::ALWAYS,
    }
}

fn check(spec: &GilbertElliottSpec) -> Result<(), Fault> {
    if spec.p.get() + spec.r.get() == 0.0 {
        let problem = "is zero, and so is `p`, so neither state is ever left";
        return Err(Fault::new("r", problem, "one of `p` and `r` above zero"));
    }
    Ok(())
}

impl LossModel for GilbertElliottSpec {
    fn build(&self, rng: &RngTree) -> Box<dyn LossProcess> {
        let mut rng = rng.rng();
        let (p, r) = (self.p.get(), self.r.get());
        // Stationary share of the bad state (Haßlinger and Hohlfeld 2008, section 2).
        let bad = rng.bernoulli(p / (p + r));
        let loss = [self.loss_good.get(), self.loss_bad.get()];
        Box::new(GilbertElliott { leave: [p, r], loss, bad, rng })
    }
}

/// Good is state 0 and bad state 1.
#[derive(Debug)]
struct GilbertElliott {
    leave: [f64; 2],
    loss: [f64; 2],
    bad: bool,
    rng: SimRng,
}

impl LossProcess for GilbertElliott {
    fn lost(&mut self, _now: SimTime, _packet: &Header) -> bool {
        let state = usize::from(self.bad);
        let lost = self.rng.bernoulli(self.loss[state]);
        self.bad ^= self.rng.bernoulli(self.leave[state]);
        lost
    }
}
