//! The network in orbit in a summary: its hops, and how packets fared at satellites.

use leobench_base::SimDuration;
use leobench_link::Tallies;

use super::{ByCause, WaitSummary, millis, ratio};
use crate::network::{HopTotals, TransitTotals};

summary! {
    /// The network in orbit in numbers.
    pub struct OrbitSummary {
        /// How often packets came to a satellite.
        pub visits: u64 ["count"],
        /// Packets that came to a satellite again because routes had changed on their way.
        pub looped_packets: u64,
        /// Packets that came to a satellite which knew no way on.
        pub black_hole_packets: u64,
        /// Packets that went on by the tables of satellites, as the route that they carried along was interrupted; with the routing
        /// `disjoint`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rerouted_packets: Option<u64>,
        /// Searches in which a link with the second route of a pair found none, and was down; with the routing `disjoint`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub missing_routes: Option<u64> ["count"],
        /// The hops whose queues packets entered, by name.
        pub hops: Vec<HopSummary>,
    }
}

summary! {
    /// A hop: a transmitter on a satellite or on the ground, with its queue.
    pub struct HopSummary {
        /// Name: `laser/FROM->TO`, `up/STATION`, `down/SATELLITE->ground`, `backhaul/GATEWAY/there` or `/back`; a link's name in place
        /// of station and ground if it has its own.
        pub name: String,
        /// Share of the time in which it sent.
        pub utilisation: Option<f64> ["ratio"],
        /// Packets that entered its queue.
        pub queued_packets: u64,
        /// Packets that it sent.
        pub sent_packets: u64,
        /// Their bytes, with the framing of their links.
        pub sent_bytes: u64,
        /// Packets that were taken out because their laser or satellite was left.
        pub withdrawn_packets: u64,
        /// Packets that its queue dropped, by cause.
        pub dropped_packets: ByCause,
        /// Packets that its queue marked, by cause; only where it can mark.
        #[serde(skip_serializing_if = "ByCause::is_empty")]
        pub marked_packets: ByCause,
        /// How long packets waited.
        pub queue_delay_ms: WaitSummary,
    }
}

impl OrbitSummary {
    /// Of hops, over a time.
    pub(crate) fn new((hops, totals): &(Vec<HopTotals>, TransitTotals), span: SimDuration) -> Self {
        let TransitTotals { looped, black_holes, visits, routes } = *totals;
        Self {
            visits,
            looped_packets: looped,
            black_hole_packets: black_holes,
            rerouted_packets: routes.map(|routes| routes.rerouted),
            missing_routes: routes.map(|routes| routes.missing),
            hops: hops.iter().map(|hop| HopSummary::new(hop, span)).collect(),
        }
    }
}

impl HopSummary {
    fn new(HopTotals { name, counters }: &HopTotals, span: SimDuration) -> Self {
        let (sum, longest) = counters.wait;
        let none = Tallies::default();
        Self {
            name: name.clone(),
            utilisation: ratio(counters.busy.as_secs_f64(), span.as_secs_f64()),
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
