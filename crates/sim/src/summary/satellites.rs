//! The transmitters of satellites in a summary.

use leobench_link::Tallies;

use super::{ByCause, millis, ratio};
use crate::network::TransmitterTotals;

summary! {
    /// The transmitter of a satellite in one direction in numbers.
    pub struct SatelliteSummary {
        /// Name of the satellite and the direction, `name/there` (towards gateways) or `name/back`.
        pub name: String,
        /// How long it served at least one link, in seconds.
        pub served_s: f64,
        /// Share of that time in which it sent; above 1 if it went on after its last link had left.
        pub utilisation: Option<f64> ["ratio"],
        /// Packets that entered its queue.
        pub queued_packets: u64,
        /// Packets that it sent, those lost on the channel included.
        pub sent_packets: u64,
        /// Their bytes, with the framing of their links.
        pub sent_bytes: u64,
        /// Packets that left with their link before they were sent, to be dropped or to go over another satellite.
        pub withdrawn_packets: u64,
        /// Packets that its queue dropped, by cause.
        pub dropped_packets: ByCause,
        /// Packets that its queue marked, by cause; only where it can mark.
        #[serde(skip_serializing_if = "ByCause::is_empty")]
        pub marked_packets: ByCause,
        /// How long packets waited, from their arrival at the link.
        pub queue_delay_ms: WaitSummary,
    }
}

summary! {
    /// Waiting times in milliseconds, both `null` without a packet.
    #[derive(Copy, Default)]
    pub struct WaitSummary {
        /// Mean.
        pub mean: Option<f64> ["ms"],
        /// Maximum.
        pub max: Option<f64> ["ms"],
    }
}

impl SatelliteSummary {
    pub(crate) fn new(totals: &TransmitterTotals) -> Self {
        let TransmitterTotals { name, counters, served } = totals;
        let (sum, longest) = counters.wait;
        let none = Tallies::default();
        Self {
            name: name.clone(),
            served_s: served.as_secs_f64(),
            utilisation: ratio(counters.busy.as_secs_f64(), served.as_secs_f64()),
            queued_packets: counters.enqueued.packets,
            sent_packets: counters.sent.packets,
            sent_bytes: counters.wire_bytes.get(),
            withdrawn_packets: counters.withdrawn.packets,
            dropped_packets: ByCause::since(&none, &counters.dropped),
            marked_packets: ByCause::since(&none, &counters.marked),
            queue_delay_ms: WaitSummary {
                mean: ratio(sum as f64, counters.started as f64).map(millis),
                max: (counters.started > 0).then(|| millis(longest.as_nanos() as f64)),
            },
        }
    }
}
