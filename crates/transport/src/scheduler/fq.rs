//! Fair queueing (Khan et al. 2023, Computer Networks, section 5.2).

use super::fair::{self, Surplus};
use super::{SchedulerContext, SchedulerModel, StreamScheduler};

leobench_base::spec! {
    /// Fair queueing: shares every packet equally among the streams with waiting bytes.
    ///
    /// Splits the payload that remains after frame headers to the byte, and carries remainders over to the next packet.
    /// An idle stream earns no credit. At most ten streams share a packet, those with the least service so far, and
    /// fewer share a packet shorter than 640 bytes. A stream whose share is below 32 bytes, with more waiting, gets
    /// nothing until the share reaches that size.
    pub struct FairQueueingSpec: Default {
        /// The use of a share that a stream cannot fill: the other streams get it in equal parts, or it stays empty.
        /// With `none`, all streams of the connection have shares, including idle ones. If there are more than ten, the
        /// next ten in order share each packet; ten streams without waiting bytes are skipped.
        pub surplus: Surplus = Surplus::Redistribute,
    }
}

impl SchedulerModel for FairQueueingSpec {
    fn build(&self, context: &SchedulerContext<'_>) -> Result<Box<dyn StreamScheduler>, String> {
        Ok(fair::build(&vec![1; context.streams], self.surplus))
    }
}
