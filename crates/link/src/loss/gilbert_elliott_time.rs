//! Loss in bursts of time: a two-state Markov chain in continuous time.
//!
//! The chain of Gilbert 1960 and Elliott 1963 (see [`gilbert_elliott`](super::gilbert_elliott)) with exponential dwell
//! times in place of steps per packet; its bad states are the loss episodes of RFC 6534. With rates `a = 1 / good` and
//! `b = 1 / bad` and the stationary share `pi = a / (a + b)`, Kolmogorov's equations give
//! `P(bad at t | bad at 0) = pi + (1 - pi) exp(-(a + b) t)` (Ross, "Introduction to Probability Models", chapter 6).
//!
//! Simulated dwell times have this law exactly. Drawing each packet's state from it would too, but the state at a given
//! time would then depend on the packets before, and two schedulers under one seed would see different bursts.

use leobench_base::spec::{Fault, Probability};
use leobench_base::{Header, RngTree, SimDuration, SimRng, SimTime};

use super::{LossModel, LossProcess};

/// Shortest mean duration of a state. A packet of 1,250 bytes takes this long at 10 Gbit/s, so that packets hardly tell
/// shorter states apart. It bounds the number of states within an idle time.
const SHORTEST: SimDuration = SimDuration::from_micros(1);

leobench_base::spec! {
    /// Loses packets in bursts of time: two states of exponential duration, each with its own loss probability.
    ///
    /// The state depends on time and seed only: it changes while nothing is sent, and the bursts do not depend on the
    /// traffic. The share of time spent in the bad state is bad / (good + bad). Starts in its stationary distribution.
    pub struct GilbertElliottTimeSpec example = r#"{"good": "200 ms", "bad": "20 ms"}"# check = check {
        /// Mean duration of the good state.
        pub good: SimDuration,
        /// Mean duration of the bad state.
        pub bad: SimDuration,
        /// Probability that a packet is lost in the good state.
        pub loss_good: Probability = Probability::NEVER,
        /// Probability that a packet is lost in the bad state.
        pub loss_bad: Probability = Probability::ALWAYS,
    }
}

fn check(spec: &GilbertElliottTimeSpec) -> Result<(), Fault> {
    for (field, mean) in [("good", spec.good), ("bad", spec.bad)] {
        if mean < SHORTEST {
            let allowed = format!("a mean duration of {SHORTEST} or more");
            return Err(Fault::new(field, "is too short", allowed));
        }
    }
    Ok(())
}

impl LossModel for GilbertElliottTimeSpec {
    fn build(&self, rng: &RngTree) -> Box<dyn LossProcess> {
        let mut states = rng.child("states").rng();
        let (good, bad) = (self.good.as_secs_f64(), self.bad.as_secs_f64());
        let starts_bad = states.bernoulli(bad / (good + bad));
        let mut process = GilbertElliottTime {
            mean: [self.good, self.bad],
            loss: [self.loss_good.get(), self.loss_bad.get()],
            bad: starts_bad,
            change: SimTime::ZERO,
            states,
            losses: rng.child("losses").rng(),
        };
        process.stay();
        Box::new(process)
    }
}

/// Good is state 0 and bad state 1.
#[derive(Debug)]
struct GilbertElliottTime {
    mean: [SimDuration; 2],
    loss: [f64; 2],
    bad: bool,
    /// When the present state ends.
    change: SimTime,
    /// Draws how long states last, and nothing else: packets leave the states untouched.
    states: SimRng,
    losses: SimRng,
}

impl GilbertElliottTime {
    /// Draws how long the present state lasts. The exponential law has no memory, so this holds at the start too.
    fn stay(&mut self) {
        let dwell = self.states.exponential(self.mean[usize::from(self.bad)]);
        self.change += dwell.max(SimDuration::from_nanos(1));
    }
}

impl LossProcess for GilbertElliottTime {
    fn lost(&mut self, now: SimTime, _packet: &Header) -> bool {
        while self.change <= now {
            self.bad = !self.bad;
            self.stay();
        }
        self.losses.bernoulli(self.loss[usize::from(self.bad)])
    }
}
