//! The inputs that a summary is made from.

use leobench_base::{Bytes, Digest, LogHistogram, SimDuration, SimTime};
use leobench_link::Tallies;
use leobench_transport::arrivals::Arrivals;
use leobench_transport::endpoint::{Loss, PathId, PathSample, Totals};

use super::{ByCause, HandoversInput, PageInput};
use crate::ledger::FlowLedger;
use crate::network::{Called, LossTotals, Watched};
use crate::scenario::CompetitionSpec;

/// Input of the summary for a run.
#[derive(Clone, Copy, Debug)]
pub struct RunSummaryInput<'a> {
    /// Name of the scenario.
    pub scenario: &'a str,
    /// Seed of the run.
    pub seed: u64,
    /// Engine that drove it.
    pub engine: &'a str,
    /// When it ended.
    pub end: SimTime,
    /// End of the warm-up, which is left out.
    pub warm_up: SimTime,
    /// Packets the endpoints sent into the network.
    pub packets: u64,
    /// How it is judged how flows share the network.
    pub competition: &'a CompetitionSpec,
}

/// Input of the summary for a flow.
#[derive(Clone, Copy, Debug)]
pub struct FlowSummaryInput<'a> {
    /// Name of the flow.
    pub name: &'a str,
    /// Names of its streams.
    pub streams: &'a [String],
    /// Its transport.
    pub transport: &'a str,
    /// Its congestion controller, if it has one.
    pub congestion: Option<&'a str>,
    /// When it starts.
    pub start: SimTime,
    /// Mean rate its sources offer, if all have one.
    pub offered_bps: Option<f64>,
    /// Its messages.
    pub ledger: &'a FlowLedger,
    /// When the run ended.
    pub end: SimTime,
    /// Totals of its sender since the end of the warm-up (see [`Totals::since`]).
    pub totals: Totals,
    /// Names of those that its sender does not know.
    pub unreported: &'a [&'static str],
    /// Round-trip times its sender measured after the warm-up, in nanoseconds.
    pub rtt: &'a LogHistogram,
    /// Its receiver's measurements of the arrival of stream data after the warm-up, if it has any.
    pub arrivals: Option<&'a Arrivals>,
    /// Its packets, either way, that the network dropped after the warm-up.
    pub dropped: &'a Tallies,
    /// Its packets, either way, that queues marked after the warm-up.
    pub marked: u64,
    /// Its sender's packets that were lost, or declared lost, after the warm-up, if that is known.
    pub losses: Option<LossTotals>,
    /// Its handovers, if nodes move.
    pub handovers: Option<HandoversInput<'a>>,
    /// The state of its paths at the end, their totals since the end of the warm-up.
    pub paths: &'a [PathSample],
    /// Whether each of its paths is a TCP connection of its own.
    pub pooled: bool,
    /// One-way delays of the sender's packets that arrived after the warm-up, in nanoseconds, by path, if the flow may use several.
    pub path_delays: &'a [(PathId, Digest)],
    /// Which end lost its connection for good, if one did, and how.
    pub lost: Option<(&'a str, &'a Loss)>,
    /// Its page, if it is one.
    pub page: Option<PageInput<'a>>,
    /// The session of its viewer, if it is a video.
    pub video: Option<&'a Watched>,
    /// The picture as seen and the voice as heard, if it is a call.
    pub call: Option<&'a Called>,
}

/// Input of the summary for a link in one direction.
#[derive(Clone, Debug)]
pub struct LinkSummaryInput<'a> {
    /// Its name, `name/a->b`.
    pub name: &'a str,
    /// Time it was observed for, from the end of the warm-up.
    pub span: SimDuration,
    /// Bytes it could have sent in that time, framing included.
    pub capacity: Bytes,
    /// Bytes of the packets it sent in that time, framing and those lost on the channel included.
    pub delivered: Bytes,
    /// Packets it delivered in that time.
    pub delivered_packets: u64,
    /// Packets it dropped in that time.
    pub dropped_packets: ByCause,
    /// Packets its queue marked in that time.
    pub marked_packets: ByCause,
    /// Bytes that its queue's limit came to, if it depends on what a link carries.
    pub queue_limit: Option<Bytes>,
    /// Waiting times in its queue in that time, in nanoseconds.
    pub queue_delay: &'a LogHistogram,
}
