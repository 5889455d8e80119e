//! The summary of a run, as `summary.json` holds it, its warm-up left out. What was not measured is `null`; nothing is
//! ever not-a-number.

use leobench_base::{Bytes, Digest, LogHistogram, SimTime};
use leobench_link::Tallies;

use crate::ledger::Statistics;

#[macro_use]
mod schema;

mod age;
mod audience;
mod by_cause;
mod call;
mod cancelled;
mod competition;
mod handovers;
mod inputs;
mod losses;
mod orbit;
mod page;
mod path;
mod satellites;
mod traffic;
mod video;

pub use age::AgeSummary;
pub use audience::AudienceSummary;
pub use by_cause::ByCause;
pub use call::{CallSummary, PictureSummary, VoiceSummary};
pub use cancelled::CancelledSummary;
use competition::Competitor;
pub use competition::{CompetitionSummary, CompetitorSummary};
pub use handovers::{HandoverSummary, HandoversInput, HandoversSummary, Phases, Spread};
pub use inputs::{FlowSummaryInput, LinkSummaryInput, RunSummaryInput};
pub use losses::LossesSummary;
pub use orbit::{HopSummary, OrbitSummary};
pub use page::{ObjectSummary, PageInput, PageSummary};
pub use path::PathSummary;
pub use satellites::{SatelliteSummary, WaitSummary};
pub use traffic::{
    HopsSummary, PairSummary, SlowdownSummary, TrafficInput, TrafficSummary, TransferInput,
    TransfersSummary, TransportInput, TransportShareSummary,
};
pub use video::VideoSummary;

summary! {
    /// A run in numbers.
    pub struct Summary {
        /// Name of the scenario.
        pub scenario: String,
        /// Seed of the run.
        pub seed: u64,
        /// Engine that drove the run, such as `virtual`.
        pub engine: String,
        /// Virtual time that passed, in seconds.
        pub virtual_s: f64,
        /// Packets the endpoints sent into the network.
        pub packets: u64,
        /// The flows, in the order of the scenario.
        pub flows: Vec<FlowSummary>,
        /// The links, one entry per direction.
        pub links: Vec<LinkSummary>,
        /// The transmitters of satellites that served, one entry per direction, if satellites have queues.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub satellites: Vec<SatelliteSummary>,
        /// The network in orbit, if packets take hops with queues there.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub orbit: Option<OrbitSummary>,
        /// Jain's fairness index over the goodputs of the flows that are not background while all of them are there;
        /// `null` with fewer than two, or if they never are.
        pub fairness_jain: Option<f64> ["ratio"],
        /// How they share the network, if there are two or more.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub competition: Option<CompetitionSummary>,
        /// All viewers of videos together, if there are two or more.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub audience: Option<AudienceSummary>,
        /// Traffic between places, whose flows are not among `flows`, if there is any.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub traffic: Option<TrafficSummary>,
    }
}

impl Summary {
    /// Puts a run's numbers together.
    pub fn new(
        run: RunSummaryInput<'_>,
        flows: &[FlowSummaryInput<'_>],
        links: &[LinkSummaryInput<'_>],
        satellites: Vec<SatelliteSummary>,
        orbit: Option<OrbitSummary>,
    ) -> Self {
        let competitors: Vec<_> = flows.iter().filter_map(FlowSummaryInput::competitor).collect();
        let competition = CompetitionSummary::new(run.competition, run.warm_up, &competitors);
        let (competition, fairness_jain) = competition.unzip();
        let flows: Vec<_> = flows.iter().map(FlowSummaryInput::summary).collect();
        Self {
            scenario: run.scenario.to_owned(),
            seed: run.seed,
            engine: run.engine.to_owned(),
            virtual_s: run.end.as_secs_f64(),
            packets: run.packets,
            fairness_jain: fairness_jain.flatten(),
            competition,
            audience: AudienceSummary::new(&flows),
            flows,
            links: links.iter().map(LinkSummaryInput::summary).collect(),
            satellites,
            orbit,
            traffic: None,
        }
    }

    /// The same with traffic between places.
    #[must_use]
    pub fn with_traffic(self, traffic: Option<TrafficSummary>) -> Self {
        Self { traffic, ..self }
    }
}

summary! {
    /// A flow in numbers.
    pub struct FlowSummary {
        /// Name of the flow.
        pub name: String,
        /// Its transport, such as `quic`.
        pub transport: String,
        /// Its congestion controller, if it has one.
        pub congestion: Option<String>,
        /// Mean rate its sources offer; `null` for a transfer of a given size.
        pub offered_bps: Option<f64>,
        /// Application bits delivered per second, from first creation (after the warm-up) to last delivery.
        pub goodput_bps: Option<f64>,
        /// Messages created after the warm-up.
        pub messages: u64,
        /// Those of them that had not been delivered at the end.
        pub undelivered_messages: u64,
        /// Their delays from creation to delivery.
        pub delay_ms: DelaySummary,
        /// Mean absolute difference of consecutive messages' delays, in order of delivery.
        pub jitter_ms: Option<f64>,
        /// Round-trip times the transport measured.
        pub rtt_ms: RttSummary,
        /// Packets the sender sent.
        pub sent_packets: u64,
        /// Packets it declared lost.
        pub lost_packets: u64,
        /// Packets that carried something sent before: application data, or TCP's SYN or FIN.
        pub retransmitted_packets: u64,
        /// Application bytes it sent again.
        pub retransmitted_bytes: u64,
        /// Application bytes it sent on one path while they were unacknowledged on another, if it has had several; not counted as
        /// retransmitted.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub reinjected_bytes: Option<u64>,
        /// Bytes of stream data that arrived at the receiver although it had received them before, if it has had several paths.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub duplicate_bytes: Option<u64>,
        /// How long received bytes waited for earlier ones of their stream, zero for those in order, if it has had several paths; each
        /// byte counts.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub reordering_delay_ms: Option<DelaySummary>,
        /// Times that losses or ECN marks began a recovery, whatever the controller made of them.
        pub congestion_events: u64 ["count"],
        /// Probe timeouts, and TCP's retransmission timeouts.
        pub timeouts: u64 ["count"],
        /// Packets declared lost whose first transmission had arrived.
        pub spurious_losses: u64 ["packets"],
        /// Reductions of the window undone because the losses behind them proved spurious.
        pub undos: u64 ["count"],
        /// Times that the sender learned of new congestion marks: by an acknowledgement (QUIC), once a window (TCP).
        pub ecn_marks: u64 ["count"],
        /// Names of the counts above that its sender's stack does not report, and that are zero, if there are any.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub unreported: Option<Vec<String>>,
        /// Its packets, either way, that the network dropped, by cause.
        pub dropped_packets: ByCause,
        /// Its packets, either way, that queues marked with congestion experienced.
        pub marked_packets: u64,
        /// Its sender's packets by what became of them, and what the sender concluded; not known in real time, and of a stack in a
        /// library.
        pub losses: Option<LossesSummary>,
        /// Effects of handovers on it; only where nodes move.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub handovers: Option<HandoversSummary>,
        /// When the last byte was delivered, in seconds from the start of the run, if all were.
        pub completion_s: Option<f64>,
        /// How it lost its connection for good, if it did.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub lost: Option<LossSummary>,
        /// Its page, if it is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub page: Option<PageSummary>,
        /// The session of its viewer, if it is a video.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub video: Option<VideoSummary>,
        /// The picture as seen and the voice as heard, if it is a call.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub call: Option<CallSummary>,
        /// Its streams.
        pub streams: Vec<StreamSummary>,
        /// Its paths; over HTTP/1.1, its connections.
        pub paths: Vec<PathSummary>,
    }
}

summary! {
    /// The end of a connection before that of the run.
    pub struct LossSummary {
        /// When, in seconds from the start of the run.
        pub at_s: f64,
        /// Which end lost it (first): `sender` or `receiver`.
        pub end: String,
        /// Why, in the words of the stack.
        pub reason: String,
    }
}

summary! {
    /// A stream in numbers, as a flow's.
    pub struct StreamSummary {
        /// Name of the stream.
        pub name: String,
        /// Application bits delivered per second.
        pub goodput_bps: Option<f64>,
        /// Messages created after the warm-up.
        pub messages: u64,
        /// Those of them that had not been delivered at the end.
        pub undelivered_messages: u64,
        /// Those that missed the stream's deadline, delivered or not; only where it has one.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub late_messages: Option<u64>,
        /// Messages that the sender cancelled; only where it does (`on_deadline = "cancel"`).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cancelled: Option<CancelledSummary>,
        /// Their delays from creation to delivery.
        pub delay_ms: DelaySummary,
        /// Mean absolute difference of consecutive messages' delays.
        pub jitter_ms: Option<f64>,
        /// How old the freshest data of the stream was at the receiving end; only where its source sends again and again.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub age_ms: Option<AgeSummary>,
    }
}

summary! {
    /// A link in one direction in numbers.
    pub struct LinkSummary {
        /// Its name, `name/a->b`.
        pub name: String,
        /// Mean rate it offered over the run.
        pub mean_rate_bps: Option<f64>,
        /// Share of it that packets took, framing and those lost on the channel included.
        pub utilisation: Option<f64> ["ratio"],
        /// Packets that came out at the far end.
        pub delivered_packets: u64,
        /// Packets that did not, by cause.
        pub dropped_packets: ByCause,
        /// Packets that the queue marked, by cause; only where it can mark.
        #[serde(skip_serializing_if = "ByCause::is_empty")]
        pub marked_packets: ByCause,
        /// Bytes that the queue's limit came to, if it depends on what a link carries.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub queue_limit_bytes: Option<u64>,
        /// How long packets waited in the queue.
        pub queue_delay_ms: QueueDelaySummary,
    }
}

summary! {
    /// Delays in milliseconds, quantiles within 0.1 % (exact up to 1,000); `null` without any message.
    #[derive(Copy, Default)]
    pub struct DelaySummary {
        /// Mean.
        pub mean: Option<f64> ["ms"],
        /// Median.
        pub p50: Option<f64> ["ms"],
        /// 95th percentile.
        pub p95: Option<f64> ["ms"],
        /// 99th percentile.
        pub p99: Option<f64> ["ms"],
        /// Maximum.
        pub max: Option<f64> ["ms"],
    }
}

summary! {
    /// Round-trip times in milliseconds, quantiles within 0.1 % (exact up to 1,000); `null` without any.
    #[derive(Copy, Default)]
    pub struct RttSummary {
        /// Mean.
        pub mean: Option<f64> ["ms"],
        /// Median.
        pub p50: Option<f64> ["ms"],
        /// 95th percentile.
        pub p95: Option<f64> ["ms"],
    }
}

summary! {
    /// Queueing delays in milliseconds, the quantile within 0.1 % (exact up to 1,000); `null` without any.
    #[derive(Copy, Default)]
    pub struct QueueDelaySummary {
        /// Mean.
        pub mean: Option<f64> ["ms"],
        /// 95th percentile.
        pub p95: Option<f64> ["ms"],
    }
}

impl FlowSummaryInput<'_> {
    /// The flow as one that competes with others, if it does.
    fn competitor(&self) -> Option<Competitor<'_>> {
        let end = self.ledger.statistics().settled().unwrap_or(self.end);
        let deliveries = self.ledger.deliveries()?;
        Some(Competitor { name: self.name, start: self.start, end, deliveries })
    }

    fn summary(&self) -> FlowSummary {
        let statistics = self.ledger.statistics();
        let streams = self.streams.iter().zip(self.ledger.streams());
        let page = self.page.map(|page| PageSummary::new(page, self.streams));
        let several = self.paths.len() > 1;
        let reinjects = several && !self.pooled;
        let arrivals = self.arrivals.filter(|_| several);
        let whole = page.as_ref().is_none_or(|page| page.completion_s.is_some());
        let whole = whole && self.video.is_none_or(|video| video.player.is_complete());
        FlowSummary {
            name: self.name.to_owned(),
            transport: self.transport.to_owned(),
            congestion: self.congestion.map(str::to_owned),
            offered_bps: self.offered_bps,
            goodput_bps: statistics.goodput_bps(self.end),
            messages: statistics.messages(),
            undelivered_messages: statistics.undelivered(),
            delay_ms: DelaySummary::new(statistics.delay()),
            jitter_ms: statistics.jitter_ns().map(millis),
            rtt_ms: RttSummary::new(self.rtt),
            sent_packets: self.totals.sent_packets,
            lost_packets: self.totals.lost_packets,
            retransmitted_packets: self.totals.retransmitted_packets,
            retransmitted_bytes: self.totals.retransmitted_bytes.get(),
            reinjected_bytes: reinjects.then(|| self.totals.reinjected_bytes.get()),
            duplicate_bytes: arrivals.map(|arrivals| arrivals.duplicate_bytes().get()),
            reordering_delay_ms: arrivals
                .map(|arrivals| DelaySummary::new(arrivals.reordering_delay())),
            congestion_events: self.totals.congestion_events,
            timeouts: self.totals.timeouts,
            spurious_losses: self.totals.spurious_losses,
            undos: self.totals.undos,
            ecn_marks: self.totals.ecn_marks,
            unreported: (!self.unreported.is_empty())
                .then(|| self.unreported.iter().map(ToString::to_string).collect()),
            dropped_packets: ByCause::since(&Tallies::default(), self.dropped),
            marked_packets: self.marked,
            losses: self.losses.map(LossesSummary::new),
            handovers: self.handovers.map(HandoversSummary::new),
            completion_s: statistics.completion().filter(|_| whole).map(SimTime::as_secs_f64),
            lost: self.lost.map(|(end, loss)| LossSummary {
                at_s: loss.at.as_secs_f64(),
                end: end.to_owned(),
                reason: loss.reason.clone(),
            }),
            page,
            video: self.video.map(VideoSummary::new),
            call: self.call.map(CallSummary::new),
            streams: streams
                .map(|(name, stream)| StreamSummary::new(name, stream, self.end))
                .collect(),
            paths: self
                .paths
                .iter()
                .map(|path| PathSummary {
                    reinjected_bytes: reinjects.then(|| path.totals.reinjected_bytes.get()),
                    ..PathSummary::new(path, self.paths.len(), self.path_delays)
                })
                .collect(),
        }
    }
}

impl StreamSummary {
    fn new(name: &str, statistics: &Statistics, end: SimTime) -> Self {
        Self {
            name: name.to_owned(),
            goodput_bps: statistics.goodput_bps(end),
            messages: statistics.messages(),
            undelivered_messages: statistics.undelivered(),
            late_messages: statistics.late(),
            cancelled: statistics.cancellations().map(CancelledSummary::new),
            delay_ms: DelaySummary::new(statistics.delay()),
            jitter_ms: statistics.jitter_ns().map(millis),
            age_ms: statistics.age().map(AgeSummary::new),
        }
    }
}

impl LinkSummaryInput<'_> {
    fn summary(&self) -> LinkSummary {
        let capacity = self.capacity.bits() as f64;
        LinkSummary {
            name: self.name.to_owned(),
            mean_rate_bps: ratio(capacity, self.span.as_secs_f64()),
            utilisation: ratio(self.delivered.bits() as f64, capacity),
            delivered_packets: self.delivered_packets,
            dropped_packets: self.dropped_packets.clone(),
            marked_packets: self.marked_packets.clone(),
            queue_limit_bytes: self.queue_limit.map(Bytes::get),
            queue_delay_ms: QueueDelaySummary {
                mean: self.queue_delay.mean().map(millis),
                p95: quantile(self.queue_delay, 0.95),
            },
        }
    }
}

impl DelaySummary {
    fn new(delays: &LogHistogram) -> Self {
        delays.digest().map(Self::from).unwrap_or_default()
    }
}

impl From<Digest> for DelaySummary {
    fn from(digest: Digest) -> Self {
        let of = |nanos: u64| Some(millis(nanos as f64));
        Self {
            mean: Some(millis(digest.mean)),
            p50: of(digest.p50),
            p95: of(digest.p95),
            p99: of(digest.p99),
            max: of(digest.max),
        }
    }
}

impl RttSummary {
    fn new(rtts: &LogHistogram) -> Self {
        Self { mean: rtts.mean().map(millis), p50: quantile(rtts, 0.50), p95: quantile(rtts, 0.95) }
    }
}

/// Jain's fairness index, (Σx)² / (n Σx²): 1 if all are equal, 1/n if one has everything (Jain, Chiu and Hawe, "A
/// quantitative measure of fairness and discrimination for resource allocation in shared computer systems", DEC-TR-301,
/// 1984). `None` for fewer than two, and if none has anything.
pub fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    if shares.len() < 2 { None } else { ratio(sum * sum, shares.len() as f64 * squares) }
}

fn ratio(numerator: f64, denominator: f64) -> Option<f64> {
    (denominator > 0.0).then(|| numerator / denominator)
}

fn quantile(values: &LogHistogram, quantile: f64) -> Option<f64> {
    values.quantile(quantile).map(|nanos| millis(nanos as f64))
}

fn millis(nanos: f64) -> f64 {
    nanos / 1e6
}

#[cfg(test)]
mod tests;
