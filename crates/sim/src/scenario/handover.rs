//! Handovers: nodes that move from link to link.

use leobench_base::spec::Fault;
use leobench_base::{Clock, ClockSpec, Phase, RngTree, SimDuration};

use crate::topology::LeftPackets;

leobench_base::words! {
    /// The address that a handover changes along with the route of packets.
    pub enum HandoverKind {
        /// No address: the node keeps its own, like a terminal whose address is assigned beyond the satellites.
        Reroute = "reroute",
        /// The node's address: it uses that of the interface to the link in use, and knows of the change.
        Migrate = "migrate",
        /// The address that the node gives to packets that it forwards: it translates addresses (NAT), and hosts behind
        /// it do not notice.
        Rebind = "rebind",
    }
}

leobench_base::spec! {
    /// How a node moves from one of its links to the next.
    ///
    /// One of `at`, `every`, `interval` and `down_for` says when.
    pub struct HandoverSpec check = check {
        ..pub clock: ClockSpec,
        /// The node that moves.
        pub node: String,
        /// Its links in the order of use: the first is in use at the start, each handover leads to the next one, and
        /// the first follows the last. A link may appear more than once.
        pub links: Vec<String>,
        /// The address that changes along with the route of packets.
        pub kind: HandoverKind = HandoverKind::Reroute,
        /// Times of the handovers, in order.
        pub at: Option<Vec<SimDuration>>,
        /// How long the channel of the link in use must have been down, since the node came to it, before the node moves on to the
        /// next link whose channel is up.
        pub down_for: Option<SimDuration>,
        /// With `down_for`: how long the channel of the first link must have been up again before the node moves back
        /// to it; without it, the node stays where it is.
        pub up_for: Option<SimDuration>,
        /// Break before make: how long the node has no link.
        pub outage: SimDuration = SimDuration::ZERO,
        /// Make before break: how long the old link keeps carrying the packets that are on it, or addressed to it.
        pub overlap: SimDuration = SimDuration::ZERO,
        /// Fate of the packets on the link that is left.
        pub old_packets: LeftPackets = LeftPackets::Deliver,
    }
}

const WHEN: &str = "one of `at`, `every`, `interval` and `down_for`";

fn check(spec: &HandoverSpec) -> Result<(), Fault> {
    let clock =
        [("every", spec.clock.every.is_some()), ("interval", spec.clock.interval.is_some())];
    let given: Vec<_> = [("at", spec.at.is_some()), ("down_for", spec.down_for.is_some())]
        .into_iter()
        .chain(clock)
        .filter_map(|(key, given)| given.then_some(key))
        .collect();
    match given[..] {
        [] => return Err(Fault::new("at", "is required but missing", WHEN)),
        [_] => {}
        [first, second, ..] => {
            return Err(Fault::new(second, format!("is given together with `{first}`"), WHEN));
        }
    }
    if spec.clock.phase.is_some() && spec.clock.every.is_none() {
        return Err(Fault::new("phase", "is given without `every`", "`phase` only with `every`"));
    }
    if spec.up_for.is_some() && spec.down_for.is_none() {
        return Err(Fault::new(
            "up_for",
            "is given without `down_for`",
            "`up_for` only with `down_for`",
        ));
    }
    if !spec.outage.is_zero() && !spec.overlap.is_zero() {
        let allowed = "either `outage` (break before make) or `overlap` (make before break)";
        return Err(Fault::new("overlap", "is given together with `outage`", allowed));
    }
    if spec.links.len() < 2 {
        return Err(Fault::new("links", "has no link to move to", "two or more links"));
    }
    Ok(())
}

impl HandoverSpec {
    /// Whether the time alone says when its handovers come.
    pub fn is_timed(&self) -> bool {
        self.down_for.is_none()
    }

    /// The clock of handovers that come again and again; unless given, the first comes after one period.
    pub fn clock(&self, rng: &RngTree) -> Clock {
        self.clock.build(SimDuration::MAX, Phase::ZERO, rng)
    }
}
