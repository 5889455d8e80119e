//! Fair queueing (Khan et al. 2023, Computer Networks, section 5.2).

use leobench_base::RngTree;
use leobench_base::spec::Example;

use super::fair::{self, Surplus};
use super::{SchedulerModel, StreamScheduler};

leobench_base::spec! {
    /// Fair queueing: every packet is shared equally among the streams that have bytes waiting.
    ///
    /// What frame headers leave of the packet is split to the byte, remainders are carried over to the next packet,
    /// and a stream that was idle has no claim to what it missed. At most ten streams share a packet, those that have
    /// had the least so far, and fewer share a packet shorter than 640 bytes. A stream due less than 32 bytes with more
    /// waiting gets none until it is due that many.
    pub struct FairQueueingSpec {
        /// What becomes of the part of its share that a stream has no bytes for: the others share it likewise, or it
        /// stays empty. With `none`, the shares are those of all streams of the connection, idle ones included; of
        /// more than ten, the next ten in order share each packet, where a ten that has nothing to send is passed
        /// over.
        pub surplus: Surplus = Surplus::Redistribute,
    }
}

impl Example for FairQueueingSpec {
    fn example() -> Self {
        Self { surplus: Surplus::Redistribute }
    }
}

impl SchedulerModel for FairQueueingSpec {
    fn build(&self, streams: usize, _rng: &RngTree) -> Result<Box<dyn StreamScheduler>, String> {
        Ok(fair::build(&vec![1; streams], self.surplus))
    }
}
