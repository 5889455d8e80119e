//! The links that the packets of a flow take, path by path, and what they offer.

use std::net::IpAddr;

use leobench_base::{BitRate, DirectionId, FlowId, LinkId, NodeId, SimDuration, SimTime};
use leobench_transport::PathId;

use super::events::FindRoutes;
use super::handovers::FlowAtHandover;
use super::{LinkView, Observer};
use crate::ledger::Statistics;
use crate::network::handover::PathAhead;
use crate::record::SinkError;

/// The links from one end of a path to the other, there and back, if there is a way.
pub(in crate::network) type PathRoutes = [Option<Vec<DirectionId>>; 2];

/// The addresses at the ends of a path, that of the sender first; `None` for the nodes' own ones.
pub(in crate::network) type Addresses = Option<[IpAddr; 2]>;

/// The paths of a flow.
pub(super) struct FlowRoutes {
    /// The nodes at its ends.
    pub(super) ends: [NodeId; 2],
    /// Whether they have been recorded.
    known: bool,
    /// Never empty: a flow that names no addresses has one path between the nodes' own ones.
    paths: Vec<ObservedPath>,
    /// Offer of the first path at the first message, if there was a way by then.
    pub(super) first_offer: Option<FirstOffer>,
    /// Whether a message has been created.
    started: bool,
}

/// A path, and the direction of the link that gives its data access to the constellation, with the factor on the rate there.
pub(in crate::network) struct AccessPath {
    pub(in crate::network) path: PathId,
    pub(in crate::network) access: Option<(DirectionId, f64)>,
}

/// A path.
struct ObservedPath {
    path: PathId,
    addresses: Addresses,
    routes: PathRoutes,
    /// Base round-trip time and bottleneck of the last way.
    offered: Option<(SimDuration, Option<BitRate>)>,
    /// Whether the last row says that there is no way.
    cut: bool,
}

/// Offer of the network to a flow at its first message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FirstOffer {
    /// Round-trip time without queues.
    pub(crate) base_rtt: SimDuration,
    /// The lowest rate of the links towards the receiver, unless a trace serves one of them.
    pub(crate) bottleneck: Option<BitRate>,
}

impl ObservedPath {
    fn new(path: PathId, addresses: Addresses) -> Self {
        Self { path, addresses, routes: [None, None], offered: None, cut: false }
    }

    fn is_open(&self) -> bool {
        self.routes.iter().all(Option::is_some)
    }
}

impl FlowRoutes {
    pub(super) fn new(ends: [NodeId; 2]) -> Self {
        let paths = vec![ObservedPath::new(PathId::default(), None)];
        Self { ends, known: false, paths, first_offer: None, started: false }
    }

    /// Keeps the offer at the first message.
    pub(super) fn start(&mut self) {
        if !std::mem::replace(&mut self.started, true) {
            let offered = self.paths.first().and_then(|path| path.offered);
            self.first_offer =
                offered.map(|(base_rtt, bottleneck)| FirstOffer { base_rtt, bottleneck });
        }
    }

    /// The base round-trip time of the last way; of several, the longest.
    pub(super) fn base_rtt(&self) -> SimDuration {
        let offered = self.paths.iter().filter_map(|path| path.offered);
        offered.map(|(base_rtt, _)| base_rtt).max().unwrap_or_default()
    }

    /// Returns the state of the flow that a watch of handovers needs.
    pub(super) fn at_handover<'a>(&'a self, statistics: &'a Statistics) -> FlowAtHandover<'a> {
        let paths = self.paths.iter().map(|path| {
            let directions = path.routes.iter().flatten().flatten();
            (path.path, directions.map(|direction| direction.link()).collect())
        });
        FlowAtHandover { statistics, paths: paths.collect(), base_rtt: self.base_rtt() }
    }
}

impl Observer {
    /// Whether a flow has named the addresses of its paths.
    pub(in crate::network) fn has_addresses(&self, flow: FlowId) -> bool {
        self.routes[flow].paths.iter().any(|path| path.addresses.is_some())
    }

    /// Returns the future round-trip time and rate of each path of a flow that has a way. `offer` returns the new delay and rate
    /// of a link that changes. A path over a link that `moved` has neither.
    pub(in crate::network) fn paths_ahead(
        &self,
        flow: FlowId,
        moved: &[LinkId],
        offer: &dyn Fn(DirectionId) -> Option<(SimDuration, Option<BitRate>)>,
    ) -> Vec<PathAhead> {
        let ahead = |direction: &DirectionId| {
            let view = &self.directions[*direction];
            match offer(*direction) {
                Some((delay, rate)) => {
                    let rate = rate.map(|rate| rate.scaled(view.rate_scale));
                    (view.own_delay + delay, rate)
                }
                None => (view.delay(), view.channel.1),
            }
        };
        let paths = self.routes[flow].paths.iter().filter_map(|known| {
            let [Some(there), Some(back)] = &known.routes else { return None };
            let links: Vec<_> =
                there.iter().chain(back).map(|direction| direction.link()).collect();
            let stays = !links.iter().any(|link| moved.contains(link));
            let rates =
                there.iter().map(|direction| ahead(direction).1).collect::<Option<Vec<_>>>();
            let base_rtt = there.iter().chain(back).map(|direction| ahead(direction).0).sum();
            Some(PathAhead {
                path: known.path,
                links,
                base_rtt: Some(base_rtt).filter(|_| stays),
                bottleneck: rates.and_then(|rates| rates.into_iter().min()).filter(|_| stays),
            })
        });
        paths.collect()
    }

    /// Returns the paths of a flow on which its data has a way, each with the first of these directions on it.
    pub(in crate::network) fn access_paths(
        &self,
        flow: FlowId,
        directions: &[DirectionId],
    ) -> Vec<AccessPath> {
        let paths = self.routes[flow].paths.iter().filter_map(|known| {
            let there = known.routes[0].as_ref()?;
            let access = there.iter().find(|direction| directions.contains(direction));
            let scaled =
                |direction: DirectionId| (direction, self.directions[direction].rate_scale);
            Some(AccessPath { path: known.path, access: access.copied().map(scaled) })
        });
        paths.collect()
    }

    /// A flow uses these paths from now on, those of the nodes' own addresses if there are none; their ways are still to be
    /// found. Rows say of those that are gone that there is no way.
    pub(super) fn use_paths(
        &mut self,
        now: SimTime,
        flow: FlowId,
        paths: &[(PathId, Addresses)],
    ) -> Result<(), SinkError> {
        let own = [(PathId::default(), None)];
        let paths = if paths.is_empty() { &own[..] } else { paths };
        let routes = &mut self.routes[flow];
        let mut before = std::mem::take(&mut routes.paths);
        for (path, addresses) in paths {
            let known = before.iter().position(|known| known.path == *path);
            let known = known.map(|at| before.remove(at));
            let known = known.unwrap_or_else(|| ObservedPath::new(*path, None));
            routes.paths.push(ObservedPath { addresses: *addresses, ..known });
        }
        for gone in before {
            if !gone.cut {
                self.recorder.path(now, flow, gone.path, None, Some(BitRate::ZERO))?;
            }
        }
        Ok(())
    }

    /// Packets of all flows take other ways from now on: `ways` says which.
    pub(super) fn reroute(&mut self, now: SimTime, find: FindRoutes<'_>) -> Result<(), SinkError> {
        self.over.iter_mut().for_each(Vec::clear);
        for flow in self.routes.keys() {
            let (base_rtt, is_new, open) = self.find_routes(now, flow, find)?;
            match &mut self.handovers {
                Some(watch) if is_new => watch.rerouted(now, flow, base_rtt, open),
                Some(watch) if open => watch.on_way(now, flow),
                Some(_) | None => {}
            }
        }
        self.routes.keys().try_for_each(|flow| self.path(now, flow))
    }

    /// The same for one flow, which has changed its addresses by itself.
    pub(super) fn reroute_flow(
        &mut self,
        now: SimTime,
        flow: FlowId,
        find: FindRoutes<'_>,
    ) -> Result<(), SinkError> {
        self.over.iter_mut().for_each(|flows| flows.retain(|other| *other != flow));
        self.find_routes(now, flow, find)?;
        self.path(now, flow)
    }

    /// Finds the ways of a flow and records those of its first path, if they are new. Returns the base round-trip time of the former
    /// ones, whether any is new, and whether any leads there and back.
    fn find_routes(
        &mut self,
        now: SimTime,
        flow: FlowId,
        find: FindRoutes<'_>,
    ) -> Result<(SimDuration, bool, bool), SinkError> {
        let routes = &mut self.routes[flow];
        let base_rtt = routes.base_rtt();
        let mut is_new = !std::mem::replace(&mut routes.known, true);
        for (index, path) in routes.paths.iter_mut().enumerate() {
            let found = find(routes.ends, path.addresses);
            for direction in found.iter().flatten().flatten() {
                if self.over[*direction].last() != Some(&flow) {
                    self.over[*direction].push(flow);
                }
            }
            let differs = path.routes != found;
            if index == 0 && (is_new || differs) {
                for (way, direction) in found.iter().zip(["there", "back"]) {
                    self.recorder.route(now, flow, direction, way.as_deref())?;
                }
            }
            is_new |= differs;
            path.routes = found;
        }
        Ok((base_rtt, is_new, routes.paths.iter().any(ObservedPath::is_open)))
    }

    /// Records what the network offers the flows over these links, where that has changed.
    pub(super) fn offers(
        &mut self,
        now: SimTime,
        directions: &[DirectionId],
    ) -> Result<(), SinkError> {
        let mut flows: Vec<_> =
            directions.iter().flat_map(|direction| &self.over[*direction]).copied().collect();
        flows.sort_unstable();
        flows.dedup();
        flows.into_iter().try_for_each(|flow| self.path(now, flow))
    }

    /// Records what the network offers the paths of a flow, where that has changed.
    fn path(&mut self, now: SimTime, flow: FlowId) -> Result<(), SinkError> {
        let Self { routes, directions, stalls, recorder, .. } = self;
        let is_open = |direction: &DirectionId| directions[*direction].open;
        let open = routes[flow]
            .paths
            .iter()
            .any(|path| path.is_open() && path.routes.iter().flatten().flatten().all(is_open));
        if let Some(watch) = &mut stalls[flow] {
            watch.path(now, open);
        }
        let has_way = |direction: &DirectionId| directions[*direction].has_way;
        for path in &mut routes[flow].paths {
            let ways = path.routes.each_ref().map(Option::as_ref);
            let [Some(there), Some(back)] =
                ways.map(|way| way.filter(|way| way.iter().all(has_way)))
            else {
                if !std::mem::replace(&mut path.cut, true) {
                    recorder.path(now, flow, path.path, None, Some(BitRate::ZERO))?;
                }
                continue;
            };
            let views = there.iter().chain(back).map(|direction| &directions[*direction]);
            let base_rtt = views.map(LinkView::delay).sum();
            let rates = there.iter().map(|direction| directions[*direction].channel.1);
            let bottleneck = rates.collect::<Option<Vec<_>>>().and_then(|r| r.into_iter().min());
            let was_cut = std::mem::take(&mut path.cut);
            let offered = Some((base_rtt, bottleneck));
            if std::mem::replace(&mut path.offered, offered) != offered || was_cut {
                recorder.path(now, flow, path.path, Some(base_rtt), bottleneck)?;
            }
        }
        Ok(())
    }
}
