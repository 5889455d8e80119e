//! Back-pressure (Khan et al. 2023: Computer Networks, section 5.2; delay paper, section III, equations 1 and 2).

use leobench_base::RngTree;
use leobench_base::spec::Example;

use super::most_urgent::MostUrgent;
use super::tournament::Key;
use super::{SchedulerModel, StreamScheduler};
use crate::buffer::StreamBuffer;

leobench_base::spec! {
    /// Back-pressure: the stream with the most bytes waiting first, until the packet is full.
    ///
    /// Evens out the lengths of the buffers without knowing the rates, not the delays: of two buffers of the same
    /// length, the one that fills faster holds messages for less time. A short message on a quiet stream waits as
    /// long as the others have more waiting. Ties are broken at random.
    pub struct BackPressureSpec {}
}

impl Example for BackPressureSpec {
    fn example() -> Self {
        Self {}
    }
}

impl SchedulerModel for BackPressureSpec {
    fn build(&self, streams: usize, rng: &RngTree) -> Result<Box<dyn StreamScheduler>, String> {
        // Q_k(t), in bytes (equation 2).
        let backlog = |_, stream: &StreamBuffer| Key::constant(stream.backlog().into());
        Ok(Box::new(MostUrgent::new(streams, rng, backlog)))
    }
}
