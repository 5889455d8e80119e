//! The transfers of traffic between places, in the form that their summary is made from.

use leobench_base::{BitRate, FlowId, LinkId, SimTime};
use rustc_hash::FxHashMap;

use super::results::controller;
use crate::network::Ended;
use crate::satellite_links::{SatelliteLinks, WayState};
use crate::scenario::traffic::TrafficPlan;
use crate::scenario::{ConstellationSpec, Scenario, Traffic};
use crate::summary::{
    RunSummaryInput, TrafficInput, TrafficSummary, TransferInput, TransportInput,
};

/// The summary of traffic between places, if there is any.
pub(super) fn summary(
    scenario: &Scenario,
    seed: u64,
    run: &RunSummaryInput<'_>,
    ended: &Ended,
) -> Option<TrafficSummary> {
    let Traffic { given, first_flow, plan } = scenario.traffic.as_ref()?;
    let transports = given.traffic.as_ref()?.transports();
    let transports = transports.into_iter().map(|(name, transport)| TransportInput {
        name: name.unwrap_or(transport.kind()),
        transport: transport.kind(),
        congestion: controller(transport),
    });
    let ways = ways(scenario, plan, seed);
    let transfers = plan.transfers.iter().enumerate().map(|(number, transfer)| {
        let flow = FlowId::from(first_flow + number);
        let way = ways.as_ref().and_then(|ways| ways[number]);
        TransferInput {
            pair: transfer.pair,
            transport: transfer.transport,
            hops: way.map(|way| way.hops),
            slowest_hop: way.and_then(|way| way.slowest_hop),
            size: transfer.size,
            statistics: ended.observed.ledgers[flow].statistics(),
            offer: ended.observed.first_offers[flow],
        }
    });
    let input = TrafficInput {
        pairs: (0..plan.pairs.len()).map(|pair| plan.names(pair)).collect(),
        transports: transports.collect(),
        transfers: transfers.collect(),
        warm_up: run.warm_up,
        end: run.end,
    };
    Some(TrafficSummary::new(&input))
}

/// The way of a transfer at its start.
#[derive(Clone, Copy)]
struct FirstWay {
    /// Links between satellites.
    hops: usize,
    /// The lowest rate of the hops that have one.
    slowest_hop: Option<BitRate>,
}

impl FirstWay {
    fn new(way: &WayState, spec: &ConstellationSpec, satellites: &SatelliteLinks) -> Self {
        let over_lasers = spec.isl.as_ref().filter(|_| way.hops > 0);
        let gateway = way.gateway.map(|number| &satellites.stations().gateways[number].name);
        let gateway =
            gateway.and_then(|name| spec.gateways.iter().find(|(known, _)| known == name));
        let rates = [
            over_lasers.and_then(|isl| isl.rate),
            spec.ground.as_ref().and_then(|ground| ground.rate),
            gateway.and_then(|(_, gateway)| Some(gateway.backhaul.as_ref()?.rate)),
        ];
        Self { hops: way.hops, slowest_hop: rates.into_iter().flatten().min() }
    }
}

/// By transfer, the way of its pair at its start, if there is one; `None` if no satellites have links. Follows the satellites once
/// more, without packets.
fn ways(scenario: &Scenario, plan: &TrafficPlan, seed: u64) -> Option<Vec<Option<FirstWay>>> {
    let constellation = scenario.spec.constellation.as_ref()?;
    // Those that the run itself was built from are sound.
    let mut satellites = SatelliteLinks::new(scenario, seed).ok().flatten()?;
    if constellation.isl.is_none() && !satellites.is_forwarded() {
        return None;
    }
    let links = links(scenario, plan);
    let paths: FxHashMap<LinkId, usize> =
        (0..satellites.len()).map(|path| (satellites.link_id(path), path)).collect();
    let mut ways = Vec::with_capacity(plan.transfers.len());
    for transfer in &plan.transfers {
        let start = SimTime::ZERO + transfer.start;
        while satellites.next_move() <= start {
            satellites.advance(satellites.next_move());
        }
        let path = links[transfer.pair].and_then(|link| paths.get(&link));
        let way = path.and_then(|path| satellites.state(*path).way.as_ref());
        ways.push(way.map(|way| FirstWay::new(way, constellation, &satellites)));
    }
    Some(ways)
}

/// By pair, the link between its places, if there is one.
fn links(scenario: &Scenario, plan: &TrafficPlan) -> Vec<Option<LinkId>> {
    let mut ends = FxHashMap::default();
    for (number, (_, link)) in scenario.spec.links.iter().enumerate() {
        let [first, second] = link.between.each_ref().map(String::as_str);
        for ends_of_link in [[first, second], [second, first]] {
            ends.entry(ends_of_link).or_insert(LinkId::from(number));
        }
    }
    (0..plan.pairs.len()).map(|pair| ends.get(&plan.names(pair)).copied()).collect()
}
