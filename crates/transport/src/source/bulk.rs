//! One message at the start.

use leobench_base::spec::{Example, Fault};
use leobench_base::{Bytes, RngTree, SimTime};

use super::{SourceModel, TrafficSource, check_size};
use crate::buffer::Message;

leobench_base::spec! {
    /// One message of a given size, written at the start: a file transfer.
    pub struct BulkSpec check = SourceModel::check {
        /// Bytes to transfer.
        pub size: Bytes,
    }
}

impl Example for BulkSpec {
    fn example() -> Self {
        Self { size: Bytes::new(10_000_000) }
    }
}

impl SourceModel for BulkSpec {
    fn build(&self, _rng: &RngTree) -> Box<dyn TrafficSource> {
        Box::new(Bulk { size: self.size, done: false })
    }

    fn offered_bps(&self) -> Option<f64> {
        None
    }

    fn check(&self) -> Result<(), Fault> {
        check_size(self.size)
    }
}

struct Bulk {
    size: Bytes,
    done: bool,
}

impl TrafficSource for Bulk {
    fn next(&self) -> Option<SimTime> {
        (!self.done).then_some(SimTime::ZERO)
    }

    fn produce(&mut self, messages: &mut Vec<Message>) {
        if !self.done {
            messages.push(Message { size: self.size.get(), created: SimTime::ZERO });
        }
        self.done = true;
    }
}
