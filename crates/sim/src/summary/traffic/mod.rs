//! Traffic between places: transfers by pair, by transport and by the length of their way.
//!
//! The slowdown of a transfer is its completion time over the ideal one: the base round-trip time of its path at its start, plus its
//! bytes over the rate of the bottleneck. The ideal is that of a transport that asks, is answered, and fills the path from then on.

use std::collections::BTreeMap;

use leobench_base::{BitRate, Bytes, LogHistogram, SimDuration, SimTime};

use super::{DelaySummary, jain, ratio};
use crate::ledger::Statistics;
use crate::network::FirstOffer;

/// Parts of a slowdown that are told apart, as histograms have whole numbers.
const SLOWDOWN_PARTS: f64 = 1e6;

summary! {
    /// Traffic between places.
    pub struct TrafficSummary {
        /// All transfers together.
        #[serde(flatten)]
        pub all: TransfersSummary,
        /// Jain's fairness index over the goodputs of the pairs; `null` with fewer than two.
        pub pairs_fairness_jain: Option<f64> ["ratio"],
        /// By ordered pair of places.
        pub pairs: Vec<PairSummary>,
        /// By transport.
        pub transports: Vec<TransportShareSummary>,
        /// By the number of links between satellites on the way at the start of each transfer, where links lead over such.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub hops: Vec<HopsSummary>,
    }
}

summary! {
    /// Transfers in numbers: those that started after the warm-up.
    pub struct TransfersSummary {
        /// Transfers that started.
        pub started: u64 ["count"],
        /// Those of them that were delivered as a whole.
        pub completed: u64 ["count"],
        /// Application bytes delivered, those of incomplete transfers included.
        pub delivered_bytes: u64,
        /// Application bits delivered per second of the run after its warm-up.
        pub goodput_bps: Option<f64>,
        /// Times from the start of a transfer to the delivery of its last byte.
        pub completion_ms: DelaySummary,
        /// Completion times over ideal ones: the base round-trip time at the start, and the size over the rate of the bottleneck.
        pub slowdown: SlowdownSummary,
        /// Jain's fairness index over the goodputs of the transfers, each from its start to its end; `null` with fewer than two.
        pub fairness_jain: Option<f64> ["ratio"],
    }
}

summary! {
    /// Slowdowns, quantiles within 0.1 % (exact up to 1,000); `null` without any.
    #[derive(Copy, Default)]
    pub struct SlowdownSummary {
        /// Mean.
        pub mean: Option<f64> ["ratio"],
        /// Median.
        pub p50: Option<f64> ["ratio"],
        /// 95th percentile.
        pub p95: Option<f64> ["ratio"],
        /// 99th percentile.
        pub p99: Option<f64> ["ratio"],
        /// Maximum.
        pub max: Option<f64> ["ratio"],
    }
}

summary! {
    /// The transfers of an ordered pair of places.
    pub struct PairSummary {
        /// The names of both, such as `manila->dalian`.
        pub name: String,
        /// The place that sends.
        pub sender: String,
        /// The place that receives.
        pub receiver: String,
        /// They in numbers.
        #[serde(flatten)]
        pub transfers: TransfersSummary,
    }
}

summary! {
    /// The transfers over a transport.
    pub struct TransportShareSummary {
        /// Its name in the `mix`, or its kind.
        pub name: String,
        /// The kind of the transport, such as `quic`.
        pub transport: String,
        /// Its congestion controller, if it has one.
        pub congestion: Option<String>,
        /// They in numbers.
        #[serde(flatten)]
        pub transfers: TransfersSummary,
    }
}

summary! {
    /// The transfers over ways of a length.
    pub struct HopsSummary {
        /// The number as a name.
        pub name: String,
        /// Links between satellites on the way.
        pub hops: u64 ["count"],
        /// They in numbers.
        #[serde(flatten)]
        pub transfers: TransfersSummary,
    }
}

/// A transfer, as its summary needs it.
#[derive(Clone, Copy, Debug)]
pub struct TransferInput<'a> {
    /// Number of its pair.
    pub pair: usize,
    /// Number of its transport.
    pub transport: usize,
    /// Links between satellites on its way at its start, if that is known.
    pub hops: Option<usize>,
    /// Its bytes; `None` if it has no end.
    pub size: Option<Bytes>,
    /// Its messages, of which it has one.
    pub statistics: &'a Statistics,
    /// Offer of the network at its start.
    pub(crate) offer: Option<FirstOffer>,
    /// The lowest rate of the hops in orbit on its way at its start, which its link does not know; none without queues there.
    pub slowest_hop: Option<BitRate>,
}

/// A transport of traffic.
#[derive(Clone, Copy, Debug)]
pub struct TransportInput<'a> {
    /// Its name in the `mix`, or its kind.
    pub name: &'a str,
    /// Its kind.
    pub transport: &'a str,
    /// Its congestion controller, if it has one.
    pub congestion: Option<&'a str>,
}

/// Traffic, as its summary needs it.
pub struct TrafficInput<'a> {
    /// The names of each pair, sender first.
    pub pairs: Vec<[&'a str; 2]>,
    /// The transports.
    pub transports: Vec<TransportInput<'a>>,
    /// The transfers.
    pub transfers: Vec<TransferInput<'a>>,
    /// End of the warm-up.
    pub warm_up: SimTime,
    /// End of the run.
    pub end: SimTime,
}

impl TransferInput<'_> {
    /// Its completion time, if it started after the warm-up and was delivered as a whole.
    fn completion(&self) -> Option<SimDuration> {
        self.statistics.delay().max().map(SimDuration::from_nanos)
    }

    /// Its completion time in an empty network.
    fn ideal_s(&self) -> Option<f64> {
        let FirstOffer { base_rtt, bottleneck } = self.offer?;
        let link = bottleneck.filter(|rate| !rate.is_zero())?;
        let rate = self.slowest_hop.map_or(link, |hop| hop.min(link)).bps() as f64;
        Some(base_rtt.as_secs_f64() + self.size?.bits() as f64 / rate)
    }

    fn slowdown(&self) -> Option<f64> {
        ratio(self.completion()?.as_secs_f64(), self.ideal_s()?)
    }
}

/// Transfers that are added up.
#[derive(Default)]
struct Group {
    started: u64,
    delivered_bytes: u64,
    completions: LogHistogram,
    slowdowns: LogHistogram,
    goodputs: Vec<f64>,
}

impl Group {
    fn add(&mut self, transfer: &TransferInput<'_>, end: SimTime) {
        let statistics = transfer.statistics;
        self.delivered_bytes += statistics.delivered_bytes();
        if statistics.messages() == 0 {
            return;
        }
        self.started += 1;
        self.goodputs.extend(statistics.goodput_bps(end));
        if let Some(completion) = transfer.completion() {
            self.completions.record(completion.as_nanos());
        }
        if let Some(slowdown) = transfer.slowdown() {
            self.slowdowns.record((slowdown * SLOWDOWN_PARTS).round() as u64);
        }
    }

    fn summary(&self, span: SimDuration) -> TransfersSummary {
        TransfersSummary {
            started: self.started,
            completed: self.completions.count(),
            delivered_bytes: self.delivered_bytes,
            goodput_bps: ratio(self.delivered_bytes as f64 * 8.0, span.as_secs_f64()),
            completion_ms: DelaySummary::new(&self.completions),
            slowdown: SlowdownSummary::new(&self.slowdowns),
            fairness_jain: jain(&self.goodputs),
        }
    }
}

impl SlowdownSummary {
    fn new(slowdowns: &LogHistogram) -> Self {
        let Some(digest) = slowdowns.digest() else { return Self::default() };
        let of = |parts: u64| Some(parts as f64 / SLOWDOWN_PARTS);
        Self {
            mean: Some(digest.mean / SLOWDOWN_PARTS),
            p50: of(digest.p50),
            p95: of(digest.p95),
            p99: of(digest.p99),
            max: of(digest.max),
        }
    }
}

impl TrafficSummary {
    /// Adds the transfers up.
    pub fn new(input: &TrafficInput<'_>) -> Self {
        let groups = |count: usize| (0..count).map(|_| Group::default()).collect::<Vec<_>>();
        let mut all = Group::default();
        let mut pairs = groups(input.pairs.len());
        let mut transports = groups(input.transports.len());
        let mut hops: BTreeMap<usize, Group> = BTreeMap::new();
        for transfer in &input.transfers {
            all.add(transfer, input.end);
            pairs[transfer.pair].add(transfer, input.end);
            transports[transfer.transport].add(transfer, input.end);
            if let Some(count) = transfer.hops {
                hops.entry(count).or_default().add(transfer, input.end);
            }
        }
        let span = input.end.saturating_since(input.warm_up);
        let goodputs: Vec<f64> = pairs.iter().map(|pair| pair.delivered_bytes as f64).collect();
        let pairs = input.pairs.iter().zip(&pairs).map(|([from, to], group)| PairSummary {
            name: format!("{from}->{to}"),
            sender: (*from).to_owned(),
            receiver: (*to).to_owned(),
            transfers: group.summary(span),
        });
        let transports = input.transports.iter().zip(&transports);
        let transports = transports.map(|(known, group)| TransportShareSummary {
            name: known.name.to_owned(),
            transport: known.transport.to_owned(),
            congestion: known.congestion.map(str::to_owned),
            transfers: group.summary(span),
        });
        let hops = hops.iter().map(|(hops, group)| HopsSummary {
            name: hops.to_string(),
            hops: *hops as u64,
            transfers: group.summary(span),
        });
        Self {
            all: all.summary(span),
            pairs_fairness_jain: jain(&goodputs),
            pairs: pairs.collect(),
            transports: transports.collect(),
            hops: hops.collect(),
        }
    }
}

#[cfg(test)]
mod tests;
