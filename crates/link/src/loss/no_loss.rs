//! No loss at all.

use leobench_base::{Header, RngTree, SimTime};

use super::{LossModel, LossProcess};

leobench_base::spec! {
    /// Loses no packet: for a direction of a link that loses packets otherwise, and to repair a link by `--set`.
    pub struct NoLossSpec: Default {}
}

impl LossModel for NoLossSpec {
    fn build(&self, _: &RngTree) -> Box<dyn LossProcess> {
        Box::new(NoLoss)
    }

    fn is_random(&self) -> bool {
        false
    }

    fn is_lossy(&self) -> bool {
        false
    }
}

#[derive(Debug)]
struct NoLoss;

impl LossProcess for NoLoss {
    fn lost(&mut self, _now: SimTime, _packet: &Header) -> bool {
        false
    }
}
