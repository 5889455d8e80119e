//! The memory that a network's messages take.

use leobench_base::FlowId;

use super::Observer;
use crate::ledger::FlowLedger;
use crate::record::MessageRow;

impl Observer {
    /// By flow, how many messages take memory, and the bytes that the record of its deliveries takes.
    pub(in crate::network) fn messages(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ledgers.iter_enumerated().map(|(flow, ledger)| {
            let handovers = self.handovers.as_ref().map_or(0, |watch| watch.memory(flow));
            let losses = self.losses.memory(flow);
            (ledger.kept(), ledger.deliveries_memory().get() + handovers + losses)
        })
    }

    /// The same of all flows together.
    pub(in crate::network) fn messages_in_all(&self) -> (u64, u64) {
        let flows = || self.ledgers.keys();
        let handovers = self.handovers.as_ref().map(|watch| flows().map(|flow| watch.memory(flow)));
        let losses: u64 = flows().map(|flow| self.losses.memory(flow)).sum();
        (self.kept.0, self.kept.1 + handovers.map_or(0, Iterator::sum) + losses)
    }

    /// Changes the messages of a flow.
    pub(super) fn settle<T>(
        &mut self,
        flow: FlowId,
        change: impl FnOnce(&mut FlowLedger, &mut Vec<MessageRow>) -> T,
    ) -> T {
        let ledger = &mut self.ledgers[flow];
        let kept = |ledger: &FlowLedger| (ledger.kept(), ledger.deliveries_memory().get());
        let before = kept(ledger);
        let value = change(ledger, &mut self.rows);
        let after = kept(ledger);
        self.kept.0 = self.kept.0 + after.0 - before.0;
        self.kept.1 = self.kept.1 + after.1 - before.1;
        value
    }
}
