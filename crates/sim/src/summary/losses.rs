//! The losses of a flow in numbers.

use crate::network::LossTotals;

summary! {
    /// Packets of the sender of a flow by what became of them, and what it concluded.
    #[derive(Copy)]
    pub struct LossesSummary {
        /// Dropped, and declared lost.
        pub noticed_packets: u64,
        /// Dropped, and never declared lost.
        pub unnoticed_packets: u64,
        /// Declared lost, but not dropped.
        pub spurious_packets: u64,
    }
}

impl LossesSummary {
    pub(super) fn new(totals: LossTotals) -> Self {
        Self {
            noticed_packets: totals.noticed,
            unnoticed_packets: totals.unnoticed,
            spurious_packets: totals.spurious,
        }
    }
}
