//! A path of a connection in numbers.

use leobench_base::{Bytes, Digest, SimDuration};
use leobench_transport::endpoint::{PathId, PathSample};

use super::DelaySummary;

summary! {
    /// A path in numbers.
    pub struct PathSummary {
        /// Number of the path within its connection; of a page over HTTP/1.1, that of the connection.
        pub path: u32,
        /// Smoothed round-trip time at the end.
        pub srtt_ms: Option<f64>,
        /// Congestion window at the end, if there have been several; zero on one that was abandoned.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cwnd_bytes: Option<u64>,
        /// Bytes sent on it, as payload of UDP or segments of TCP, if there have been several.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub sent_bytes: Option<u64>,
        /// Application bytes sent on it while they were unacknowledged on another path, if the connection has had several; not counted as
        /// retransmitted.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub reinjected_bytes: Option<u64>,
        /// One-way delays of its packets that arrived, from the end that sends the data, if there have been several.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub packet_delay_ms: Option<DelaySummary>,
        /// Packets sent on it.
        pub sent_packets: u64,
        /// Packets declared lost on it.
        pub lost_packets: u64,
        /// Packets on it that carried something sent before.
        pub retransmitted_packets: u64,
        /// Application bytes sent again on it.
        pub retransmitted_bytes: u64,
        /// Times that losses or ECN marks on it began a recovery, whatever the controller made of them.
        pub congestion_events: u64 ["count"],
        /// Probe timeouts on it, and TCP's retransmission timeouts.
        pub timeouts: u64 ["count"],
        /// Packets declared lost on it whose first transmission had arrived.
        pub spurious_losses: u64 ["packets"],
        /// Reductions of its window undone because the losses behind them proved spurious.
        pub undos: u64 ["count"],
        /// Times that the sender learned of new congestion marks on it.
        pub ecn_marks: u64 ["count"],
    }
}

impl PathSummary {
    /// Of a connection that has had so many paths, with the delays of those that were measured, without bytes that several carried.
    pub(super) fn new(sample: &PathSample, paths: usize, delays: &[(PathId, Digest)]) -> Self {
        let one_of_several = |bytes: Bytes| (paths > 1).then_some(bytes.get());
        let delay = delays.binary_search_by_key(&sample.path, |(path, _)| *path).ok();
        let delay = delay.map_or_else(DelaySummary::default, |at| delays[at].1.into());
        Self {
            path: sample.path.0,
            cwnd_bytes: one_of_several(sample.cwnd),
            sent_bytes: one_of_several(sample.totals.sent_bytes),
            reinjected_bytes: None,
            packet_delay_ms: (paths > 1).then_some(delay),
            srtt_ms: sample.smoothed_rtt.map(SimDuration::as_millis_f64),
            sent_packets: sample.totals.sent_packets,
            lost_packets: sample.totals.lost_packets,
            retransmitted_packets: sample.totals.retransmitted_packets,
            retransmitted_bytes: sample.totals.retransmitted_bytes.get(),
            congestion_events: sample.totals.congestion_events,
            timeouts: sample.totals.timeouts,
            spurious_losses: sample.totals.spurious_losses,
            undos: sample.totals.undos,
            ecn_marks: sample.totals.ecn_marks,
        }
    }
}
