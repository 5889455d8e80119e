//! Maximum delay (Khan et al. 2023, delay paper, section III, last paragraph).

use super::most_urgent::MostUrgent;
use super::tournament::Key;
use super::{SchedulerContext, SchedulerModel, StreamScheduler};
use crate::buffer::StreamBuffer;

leobench_base::spec! {
    /// Maximum delay: serves the stream with the oldest first message, until the packet is full.
    ///
    /// Serves messages in the order of their creation across all streams, so all streams have the same mean delay at
    /// any rates. Breaks ties at random.
    pub struct MaxDelaySpec: Default {}
}

impl SchedulerModel for MaxDelaySpec {
    fn build(&self, context: &SchedulerContext<'_>) -> Result<Box<dyn StreamScheduler>, String> {
        // All heads age at the same rate, so the oldest stays the oldest.
        let age = |_, stream: &StreamBuffer| {
            Key::constant(-stream.head_created().map_or(0, |head| i128::from(head.as_nanos())))
        };
        Ok(Box::new(MostUrgent::new(context.streams, context.rng, age)))
    }
}
