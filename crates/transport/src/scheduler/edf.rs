//! Earliest deadline first (Liu and Layland 1973, "Scheduling algorithms for multiprogramming in a hard-real-time
//! environment", Journal of the ACM 20, section 7).

use super::most_urgent::MostUrgent;
use super::tournament::Key;
use super::{SchedulerContext, SchedulerModel, StreamScheduler};
use crate::buffer::StreamBuffer;

leobench_base::spec! {
    /// Earliest deadline first: serves the stream whose first message is due soonest, until the packet is full.
    ///
    /// A message is due the stream's `deadline` after its creation. Late messages are still sent, the latest first.
    /// Streams without a deadline get the remaining room, the one with the oldest waiting message first. Breaks ties at
    /// random.
    pub struct EarliestDeadlineSpec: Default {}
}

/// Ranks streams without a deadline behind all streams with one, a 64-bit number of nanoseconds.
const NEVER: i128 = 1 << 64;

impl SchedulerModel for EarliestDeadlineSpec {
    fn build(&self, context: &SchedulerContext<'_>) -> Result<Box<dyn StreamScheduler>, String> {
        let due = |_, stream: &StreamBuffer| {
            let created = || stream.head_created().map_or(0, |head| i128::from(head.as_nanos()));
            let due = stream.head_deadline().map(|due| i128::from(due.as_nanos()));
            Key::constant(-due.unwrap_or_else(|| NEVER + created()))
        };
        Ok(Box::new(MostUrgent::new(context.streams, context.rng, due)))
    }
}
