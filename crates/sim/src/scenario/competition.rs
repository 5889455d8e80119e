//! How it is judged how flows share a network.

use leobench_base::SimDuration;
use leobench_base::spec::{Fault, Range};

/// Steps of a window, which moves on by one of them.
const STEPS: u64 = 10;
/// Shortest window: no more than a hundred steps a second are to be kept in memory.
const SHORTEST_WINDOW: SimDuration = SimDuration::from_millis(100);

leobench_base::spec! {
    /// Criteria for how flows share the network (RFC 5166 section 2.3). The RFC names no defaults; these are ours.
    pub struct CompetitionSpec check = check {
        /// Time over which goodputs are averaged before shares are compared.
        pub window: SimDuration = SimDuration::from_secs(5),
        /// Largest relative deviation of a flow's goodput from the fair share.
        pub tolerance: f64 [Range::FACTOR] = 0.2,
        /// Time that shares must stay fair to count as converged.
        pub hold: SimDuration = SimDuration::from_secs(10),
        /// The flows whose mean goodput the others are compared with (TCP-friendliness, RFC 5348 section 1).
        pub reference: Vec<String> = Vec::new(),
    }
}

fn check(spec: &CompetitionSpec) -> Result<(), Fault> {
    if spec.window < SHORTEST_WINDOW {
        let allowed = format!("{SHORTEST_WINDOW} or more");
        return Err(Fault::new("window", "is too short", allowed));
    }
    Ok(())
}

impl CompetitionSpec {
    /// By how much a window moves on.
    pub fn step(&self) -> SimDuration {
        SimDuration::from_nanos(self.window.as_nanos() / STEPS)
    }

    /// Steps of a window.
    pub fn window_steps(&self) -> usize {
        STEPS as usize
    }

    /// Steps for which shares must stay fair.
    pub fn hold_steps(&self) -> usize {
        self.hold.as_nanos().div_ceil(self.step().as_nanos()) as usize
    }
}

impl Default for CompetitionSpec {
    fn default() -> Self {
        Self {
            window: SimDuration::from_secs(5),
            tolerance: 0.2,
            hold: SimDuration::from_secs(10),
            reference: Vec::new(),
        }
    }
}
