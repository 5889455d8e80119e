//! Messages that their sender cancelled.

use crate::ledger::Cancellations;

summary! {
    /// Messages that the sender cancelled because their deadline had passed. Those that arrived whole nevertheless do not count.
    #[derive(Copy, Default)]
    pub struct CancelledSummary {
        /// How many.
        pub messages: u64,
        /// Their bytes that had been sent in vain, retransmissions not included.
        pub sent_bytes: u64,
        /// Their bytes that were never sent.
        pub unsent_bytes: u64,
        /// Messages delivered in time, beside them.
        pub in_time_messages: u64,
    }
}

impl CancelledSummary {
    pub(super) fn new(counts: &Cancellations) -> Self {
        let Cancellations { messages, sent, unsent, in_time } = *counts;
        Self { messages, sent_bytes: sent, unsent_bytes: unsent, in_time_messages: in_time }
    }
}
