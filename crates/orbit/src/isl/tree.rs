//! The next hops of all satellites towards a destination.
//!
//! At an update, the costs along the old tree are computed anew; wherever a hop over another neighbour costs less by now, the
//! search of Dijkstra goes on from there. The result is that of a search from scratch, at a cost that grows with what has
//! changed.
//!
//! No table has a loop at any instant: the cost of a satellite is never below that of its next hop plus that of the laser in
//! between, which is above zero, and a satellite takes another next hop only if that makes its own cost lower.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::graph::{Graph, NONE};
use super::router::{Exit, Outgoing};
use crate::motion::{GatewayId, SatelliteId};

/// Satellites by cost, the least one first.
pub(super) type Heap = BinaryHeap<Reverse<(u64, u32)>>;

/// The cost of each laser; `NONE` if it cannot be used.
pub(super) trait Costs {
    fn of(&self, laser: u32) -> u64;
}

/// The delays of links, which are the same in both directions.
pub(super) struct Delays<'a>(pub(super) &'a [u64]);

impl Costs for Delays<'_> {
    fn of(&self, laser: u32) -> u64 {
        self.0[laser as usize / 2]
    }
}

/// A cost for each laser.
pub(super) struct ByLaser<'a>(pub(super) &'a [u64]);

impl Costs for ByLaser<'_> {
    fn of(&self, laser: u32) -> u64 {
        self.0[laser as usize]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hop {
    Nowhere,
    Over { to: u32, laser: u32 },
    Down(GatewayId),
}

impl Hop {
    fn outgoing(self) -> Option<Outgoing> {
        match self {
            Self::Nowhere => None,
            Self::Over { laser, .. } => Some(Outgoing::Laser((laser as usize).into())),
            Self::Down(gateway) => Some(Outgoing::Down(gateway)),
        }
    }
}

/// The next hops towards a destination.
#[derive(Clone, Debug)]
pub struct Tree {
    /// By satellite, from there to the destination.
    costs: Vec<u64>,
    hops: Vec<Hop>,
    /// By satellite, whether its cost has been computed in this update.
    done: Vec<bool>,
    /// Satellites on the way to one whose cost is known.
    waiting: Vec<u32>,
    changed: bool,
    /// Satellites whose next hop this update has touched, with the one before; each once.
    touched: Vec<(u32, Hop)>,
    is_touched: Vec<bool>,
}

impl Tree {
    pub(super) fn new(satellites: usize) -> Self {
        Self {
            costs: vec![NONE; satellites],
            hops: vec![Hop::Nowhere; satellites],
            done: vec![false; satellites],
            waiting: Vec::new(),
            changed: false,
            touched: Vec::new(),
            is_touched: vec![false; satellites],
        }
    }

    /// Finds the ways of least cost to the exits.
    pub(super) fn search(
        &mut self,
        graph: &Graph,
        costs: &impl Costs,
        exits: &[Exit],
        heap: &mut Heap,
    ) {
        self.follow(costs, exits);
        for exit in exits {
            let satellite = exit.satellite.index() as u32;
            let hop = Hop::Down(exit.gateway);
            self.improve(satellite, exit.delay.as_nanos(), hop, heap);
        }
        for satellite in 0..self.costs.len() as u32 {
            self.relax(satellite, graph, costs, heap);
        }
        while let Some(Reverse((cost, satellite))) = heap.pop() {
            if cost <= self.costs[satellite as usize] {
                self.relax(satellite, graph, costs, heap);
            }
        }
    }

    /// Begins an update: forgets the changes of the last one.
    pub(super) fn begin(&mut self) {
        self.changed = false;
        for (satellite, _) in self.touched.drain(..) {
            self.is_touched[satellite as usize] = false;
        }
    }

    /// Computes the costs along the tree of the last update anew; what it does not reach any more, nothing reaches.
    pub(super) fn follow(&mut self, costs: &impl Costs, exits: &[Exit]) {
        self.begin();
        self.done.fill(false);
        for start in 0..self.hops.len() as u32 {
            let mut at = start;
            while !std::mem::replace(&mut self.done[at as usize], true) {
                self.waiting.push(at);
                if let Hop::Over { to, .. } = self.hops[at as usize] {
                    at = to;
                }
            }
            while let Some(satellite) = self.waiting.pop() {
                self.follow_one(satellite, costs, exits);
            }
        }
    }

    /// Computes the cost of a satellite whose next hop's cost is known.
    fn follow_one(&mut self, satellite: u32, costs: &impl Costs, exits: &[Exit]) {
        let index = satellite as usize;
        self.costs[index] = match self.hops[index] {
            Hop::Nowhere => NONE,
            Hop::Over { to, laser } => {
                self.costs[to as usize].checked_add(costs.of(laser)).unwrap_or(NONE)
            }
            Hop::Down(gateway) => exits
                .iter()
                .filter(|exit| exit.gateway == gateway && exit.satellite.index() == index)
                .map(|exit| exit.delay.as_nanos())
                .min()
                .unwrap_or(NONE),
        };
        if self.costs[index] == NONE {
            self.set(satellite, Hop::Nowhere);
        }
    }

    /// Takes the next hop of the best tree wherever the way there is enough better than the present one, and wherever there is
    /// no way any more. Call [`follow`](Self::follow) with the same costs first.
    ///
    /// Satellites are taken in the order of their best costs, so that the next hop of one is settled before it. If the way of
    /// the next hop is not worse than allowed, neither is the one over it, provided that a common part makes no way worse than
    /// allowed (as with the margins of `hysteresis`).
    pub(super) fn settle(
        &mut self,
        best: &Self,
        graph: &Graph,
        costs: &impl Costs,
        is_enough: impl Fn(u64, u64) -> bool,
    ) {
        let is_left = |tree: &Self, satellite: u32| {
            let (own, best) = (tree.costs[satellite as usize], best.costs[satellite as usize]);
            best < own && (own == NONE || is_enough(own, best))
        };
        let all = 0..self.costs.len() as u32;
        let mut order: Vec<u32> = all.filter(|satellite| is_left(self, *satellite)).collect();
        order.sort_unstable_by_key(|satellite| (best.costs[*satellite as usize], *satellite));
        for satellite in order {
            if !is_left(self, satellite) {
                continue;
            }
            let hop = best.hops[satellite as usize];
            let cost = match hop {
                Hop::Over { to, laser } => {
                    self.costs[to as usize].checked_add(costs.of(laser)).unwrap_or(NONE)
                }
                Hop::Down(_) | Hop::Nowhere => best.costs[satellite as usize],
            };
            if cost < self.costs[satellite as usize] {
                self.costs[satellite as usize] = cost;
                self.set(satellite, hop);
                self.spread(satellite, graph, costs);
            }
        }
    }

    /// Lowers the costs of all satellites whose ways lead over one whose cost is lower by now.
    fn spread(&mut self, satellite: u32, graph: &Graph, costs: &impl Costs) {
        self.waiting.push(satellite);
        while let Some(to) = self.waiting.pop() {
            for neighbour in graph.around(to) {
                let (from, laser) = (neighbour.satellite as usize, neighbour.incoming);
                if self.hops[from] != (Hop::Over { to, laser }) {
                    continue;
                }
                let cost = self.costs[to as usize].checked_add(costs.of(laser)).unwrap_or(NONE);
                if cost < self.costs[from] {
                    self.costs[from] = cost;
                    self.waiting.push(neighbour.satellite);
                }
            }
        }
    }

    /// Replaces the next hop of a satellite, for tables that come from elsewhere; costs stay as they are.
    pub(super) fn put(&mut self, satellite: u32, outgoing: Option<(Outgoing, u32)>) {
        let hop = match outgoing {
            None => Hop::Nowhere,
            Some((Outgoing::Down(gateway), _)) => Hop::Down(gateway),
            Some((Outgoing::Laser(laser), to)) => Hop::Over { to, laser: laser.index() as u32 },
        };
        self.set(satellite, hop);
    }

    fn relax(&mut self, to: u32, graph: &Graph, costs: &impl Costs, heap: &mut Heap) {
        for neighbour in graph.around(to) {
            let laser = neighbour.incoming;
            if let Some(cost) = self.costs[to as usize].checked_add(costs.of(laser)) {
                self.improve(neighbour.satellite, cost, Hop::Over { to, laser }, heap);
            }
        }
    }

    fn improve(&mut self, satellite: u32, cost: u64, hop: Hop, heap: &mut Heap) {
        let index = satellite as usize;
        if cost < self.costs[index] {
            self.costs[index] = cost;
            heap.push(Reverse((cost, satellite)));
            self.set(satellite, hop);
        }
    }

    fn set(&mut self, satellite: u32, hop: Hop) {
        let index = satellite as usize;
        if self.hops[index] == hop {
            return;
        }
        if !std::mem::replace(&mut self.is_touched[index], true) {
            self.touched.push((satellite, self.hops[index]));
        }
        self.hops[index] = hop;
        self.changed = true;
    }

    /// Whether the last update has touched any next hop.
    pub(super) fn changed(&self) -> bool {
        self.changed
    }

    /// The cost from a satellite to the destination; `NONE` without a way.
    pub(super) fn cost(&self, from: SatelliteId) -> u64 {
        self.costs[from.index()]
    }

    /// The next hop of a satellite.
    pub(super) fn outgoing(&self, from: SatelliteId) -> Option<Outgoing> {
        self.hops[from.index()].outgoing()
    }

    /// The satellites whose next hop is another one than before the last update, with the new one.
    pub(super) fn changes(&self) -> impl Iterator<Item = (SatelliteId, Option<Outgoing>)> + '_ {
        let changed = self.touched.iter().filter(|(at, old)| self.hops[*at as usize] != *old);
        changed.map(|(at, _)| (SatelliteId::from(*at as usize), self.hops[*at as usize].outgoing()))
    }
}
