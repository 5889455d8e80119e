//! One message at the start.

use leobench_base::spec::Fault;
use leobench_base::{Bytes, RngTree, SimDuration};

use super::{MAX_MESSAGE, SourceModel, TrafficSource, check_size};

leobench_base::spec! {
    /// One message of a given size, written at the start: a file transfer.
    pub struct BulkSpec example = r#"{"size": "10 MB"}"# check = SourceModel::check {
        /// Bytes to transfer. Without a size the transfer is endless (in practice 1000000 GB), for runs that end at a
        /// time.
        pub size: Option<Bytes>,
    }
}

impl SourceModel for BulkSpec {
    fn build(&self, _rng: &RngTree) -> Box<dyn TrafficSource> {
        Box::new(Bulk { size: Some(self.size.unwrap_or(MAX_MESSAGE)) })
    }

    fn offered_bps(&self) -> Option<f64> {
        None
    }

    fn messages_in(&self, _span: SimDuration) -> f64 {
        1.0
    }

    fn check(&self) -> Result<(), Fault> {
        self.size.map_or(Ok(()), check_size)
    }
}

/// A transfer, until it is produced.
struct Bulk {
    size: Option<Bytes>,
}

impl TrafficSource for Bulk {
    fn next(&self) -> Option<SimDuration> {
        self.size.map(|_| SimDuration::ZERO)
    }

    fn produce(&mut self) -> Option<Bytes> {
        self.size.take()
    }
}
