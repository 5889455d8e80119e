//! Shortest ways in delay from all satellites to the destinations in use.
//!
//! A destination is reached through exits: satellites that see one of its gateways (or that serve it), each with the delay from
//! there on. Per destination, the router keeps a tree of next hops. At an update, the delays along the old tree are computed anew;
//! where a hop over another neighbour is shorter by now, the search of Dijkstra goes on from there. The result is that of a
//! search from scratch, at a cost that grows with what has changed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use leobench_base::SimDuration;

use super::links::{Isl, Limits};
use crate::frame::light_delay;
use crate::motion::{DestinationId, Ephemeris, GatewayId, SatelliteId};
use crate::visibility::{Observer, SatelliteGrid, Sighting};

/// No way: more than any delay.
const NONE: u64 = u64::MAX;

/// A satellite from which a destination is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Which one.
    pub satellite: SatelliteId,
    /// By which gateway.
    pub gateway: GatewayId,
    /// The delay from the satellite to the destination.
    pub delay: SimDuration,
}

/// The next hop of a packet at a satellite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextHop {
    /// To another satellite.
    Satellite(SatelliteId),
    /// Down to a gateway.
    Down(GatewayId),
}

/// A way from a satellite to a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// All satellites, from the first one to the exit.
    pub satellites: Vec<SatelliteId>,
    /// The gateway at the end.
    pub gateway: GatewayId,
    /// From the first satellite to the destination.
    pub delay: SimDuration,
}

/// Gateways of a destination, each with the delay over land from there to it.
#[derive(Clone, Debug, Default)]
pub struct Gateways {
    members: Vec<(GatewayId, Observer, SimDuration)>,
    seen: Vec<Sighting>,
}

impl Gateways {
    /// Adds a gateway with the delay from there to the destination.
    pub fn push(&mut self, gateway: GatewayId, observer: Observer, onwards: SimDuration) {
        self.members.push((gateway, observer, onwards));
    }

    /// Fills in the exits that the gateways see now.
    pub fn exits(&mut self, ephemeris: &Ephemeris, grid: &SatelliteGrid, out: &mut Vec<Exit>) {
        out.clear();
        for (gateway, observer, onwards) in &mut self.members {
            observer.follow(ephemeris, grid);
            observer.look(ephemeris, &mut self.seen);
            out.extend(self.seen.iter().map(|Sighting { satellite, look }| Exit {
                satellite: *satellite,
                gateway: *gateway,
                delay: light_delay(look.range_m) + *onwards,
            }));
        }
    }
}

/// Shortest ways from all satellites to the destinations in use.
#[derive(Clone, Debug)]
pub struct Router {
    links: Vec<Isl>,
    limits: Limits,
    /// By link, in nanoseconds.
    delays: Vec<u64>,
    /// The index of each satellite's first neighbour, and the number of neighbours at the end.
    starts: Vec<u32>,
    /// The neighbours: satellite and link.
    neighbours: Vec<(u32, u32)>,
    trees: Vec<Tree>,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
}

/// The next hops towards a destination.
#[derive(Clone, Debug)]
struct Tree {
    /// By satellite, in nanoseconds.
    delays: Vec<u64>,
    hops: Vec<Hop>,
    /// By satellite, whether its delay has been computed in this update.
    done: Vec<bool>,
    /// Satellites on the way to one whose delay is known.
    waiting: Vec<u32>,
    changed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hop {
    Nowhere,
    Over { to: u32, link: u32 },
    Down(GatewayId),
}

impl Router {
    /// Routes over links between so many satellites to so many destinations; without links, bent pipes only.
    pub fn new(satellites: usize, links: Vec<Isl>, limits: Limits, destinations: usize) -> Self {
        let mut starts = vec![0u32; satellites + 1];
        for end in links.iter().flat_map(|link| [link.from, link.to]) {
            starts[end.index() + 1] += 1;
        }
        for satellite in 0..satellites {
            starts[satellite + 1] += starts[satellite];
        }
        let mut next = starts.clone();
        let mut neighbours = vec![(0, 0); 2 * links.len()];
        for (number, link) in (0u32..).zip(&links) {
            for (from, to) in [(link.from, link.to), (link.to, link.from)] {
                let place = &mut next[from.index()];
                neighbours[*place as usize] = (to.index() as u32, number);
                *place += 1;
            }
        }
        let tree = Tree {
            delays: vec![NONE; satellites],
            hops: vec![Hop::Nowhere; satellites],
            done: vec![false; satellites],
            waiting: Vec::new(),
            changed: false,
        };
        let delays = vec![NONE; links.len()];
        let trees = vec![tree; destinations];
        Self { links, limits, delays, starts, neighbours, trees, heap: BinaryHeap::new() }
    }

    /// Moves to the time of the ephemeris: computes the delays of all links. Then call [`route`](Self::route) per destination.
    pub fn update(&mut self, ephemeris: &Ephemeris) {
        for (link, delay) in self.links.iter().zip(&mut self.delays) {
            let (from, to) = (ephemeris.position(link.from), ephemeris.position(link.to));
            *delay = if self.limits.admit(link.across, from, to) {
                light_delay((to - from).norm()).as_nanos()
            } else {
                NONE
            };
        }
    }

    /// Computes the ways to a destination with its present exits; returns whether any next hop has changed.
    pub fn route(&mut self, destination: DestinationId, exits: &[Exit]) -> bool {
        let Self { trees, heap, neighbours, starts, delays, .. } = self;
        let tree = &mut trees[destination.index()];
        tree.changed = false;
        tree.follow(delays, exits);
        for exit in exits {
            let satellite = exit.satellite.index() as u32;
            let hop = Hop::Down(exit.gateway);
            tree.improve(satellite, exit.delay.as_nanos(), hop, heap);
        }
        let around = |satellite: u32| {
            let satellite = satellite as usize;
            &neighbours[starts[satellite] as usize..starts[satellite + 1] as usize]
        };
        for satellite in 0..tree.delays.len() as u32 {
            for &(to, link) in around(satellite) {
                tree.relax(satellite, to, link, delays, heap);
            }
        }
        while let Some(Reverse((delay, satellite))) = heap.pop() {
            if delay > tree.delays[satellite as usize] {
                continue;
            }
            for &(to, link) in around(satellite) {
                tree.relax(satellite, to, link, delays, heap);
            }
        }
        tree.changed
    }

    /// The delay from a satellite to a destination, if there is a way.
    pub fn delay(&self, from: SatelliteId, destination: DestinationId) -> Option<SimDuration> {
        let delay = self.trees[destination.index()].delays[from.index()];
        (delay != NONE).then(|| SimDuration::from_nanos(delay))
    }

    /// The next hop of a packet to a destination, at a satellite; `None` if there is no way.
    pub fn next_hop(&self, from: SatelliteId, destination: DestinationId) -> Option<NextHop> {
        match self.trees[destination.index()].hops[from.index()] {
            Hop::Nowhere => None,
            Hop::Over { to, .. } => Some(NextHop::Satellite((to as usize).into())),
            Hop::Down(gateway) => Some(NextHop::Down(gateway)),
        }
    }

    /// The way from a satellite to a destination, if there is one.
    pub fn way(&self, from: SatelliteId, destination: DestinationId) -> Option<Way> {
        let delay = self.delay(from, destination)?;
        let mut satellites = vec![from];
        let mut at = from;
        loop {
            match self.next_hop(at, destination)? {
                NextHop::Satellite(to) => {
                    satellites.push(to);
                    at = to;
                }
                NextHop::Down(gateway) => return Some(Way { satellites, gateway, delay }),
            }
        }
    }
}

impl Tree {
    /// Computes the delays along the tree of the last update anew; what it does not reach any more, nothing reaches.
    fn follow(&mut self, links: &[u64], exits: &[Exit]) {
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
                self.follow_one(satellite as usize, links, exits);
            }
        }
    }

    /// Computes the delay of a satellite whose next hop's delay is known.
    fn follow_one(&mut self, index: usize, links: &[u64], exits: &[Exit]) {
        self.delays[index] = match self.hops[index] {
            Hop::Nowhere => NONE,
            Hop::Over { to, link } => {
                self.delays[to as usize].checked_add(links[link as usize]).unwrap_or(NONE)
            }
            Hop::Down(gateway) => exits
                .iter()
                .filter(|exit| exit.gateway == gateway && exit.satellite.index() == index)
                .map(|exit| exit.delay.as_nanos())
                .min()
                .unwrap_or(NONE),
        };
        if self.delays[index] == NONE && self.hops[index] != Hop::Nowhere {
            self.hops[index] = Hop::Nowhere;
            self.changed = true;
        }
    }

    fn relax(
        &mut self,
        from: u32,
        to: u32,
        link: u32,
        links: &[u64],
        heap: &mut BinaryHeap<Reverse<(u64, u32)>>,
    ) {
        if let Some(delay) = self.delays[from as usize].checked_add(links[link as usize]) {
            self.improve(to, delay, Hop::Over { to: from, link }, heap);
        }
    }

    fn improve(
        &mut self,
        satellite: u32,
        delay: u64,
        hop: Hop,
        heap: &mut BinaryHeap<Reverse<(u64, u32)>>,
    ) {
        let index = satellite as usize;
        if delay < self.delays[index] {
            self.delays[index] = delay;
            heap.push(Reverse((delay, satellite)));
            if self.hops[index] != hop {
                self.hops[index] = hop;
                self.changed = true;
            }
        }
    }
}
