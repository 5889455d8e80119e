//! Back-pressure (Khan et al. 2023: Computer Networks, section 5.2; delay paper, section III, equations 1 and 2).

use super::most_urgent::MostUrgent;
use super::tournament::Key;
use super::{SchedulerContext, SchedulerModel, StreamScheduler};
use crate::buffer::StreamBuffer;

leobench_base::spec! {
    /// Back-pressure: serves the stream with the most waiting bytes first, until the packet is full.
    ///
    /// Equalises the lengths of the buffers without knowing the rates. It does not equalise the delays: of two buffers
    /// of equal length, the one with the higher rate holds its messages for less time. A short message on a quiet
    /// stream waits as long as other streams have more waiting bytes. Breaks ties at random.
    pub struct BackPressureSpec: Default {}
}

impl SchedulerModel for BackPressureSpec {
    fn build(&self, context: &SchedulerContext<'_>) -> Result<Box<dyn StreamScheduler>, String> {
        // Q_k(t), in bytes (equation 2).
        let backlog = |_, stream: &StreamBuffer| Key::constant(stream.backlog().into());
        Ok(Box::new(MostUrgent::new(context.streams, context.rng, backlog)))
    }
}
