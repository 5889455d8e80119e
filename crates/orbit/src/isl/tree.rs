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

    /// Computes the costs along the tree of the last update anew; what it does not reach any more, nothing reaches.
    pub(super) fn follow(&mut self, costs: &impl Costs, exits: &[Exit]) {
        self.changed = false;
        for (satellite, _) in self.touched.drain(..) {
            self.is_touched[satellite as usize] = false;
        }
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
