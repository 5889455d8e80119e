//! The links between satellites as a graph: which ones are set up, which ones can be used now, and how long light takes.

use std::collections::BTreeMap;

use leobench_base::{SimDuration, SimTime};

use super::links::{Isl, Limits};
use crate::frame::light_delay;
use crate::motion::{Ephemeris, SatelliteId};

/// No way: more than any delay.
pub(super) const NONE: u64 = u64::MAX;

leobench_base::indices! {
    /// One direction of a link between satellites: link by link, first from one end to the other, then back.
    LaserId
}

impl LaserId {
    /// The number of the link that this is a direction of.
    pub const fn link(self) -> usize {
        self.index() / 2
    }

    /// The other direction of the same link.
    pub fn reverse(self) -> Self {
        Self::from(self.index() ^ 1)
    }
}

/// A laser with its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Laser {
    /// Its number.
    pub id: LaserId,
    /// The satellite that sends.
    pub from: SatelliteId,
    /// The satellite that receives.
    pub to: SatelliteId,
}

/// A neighbour of a satellite, with the number of the laser that leads from it to the satellite.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Neighbour {
    pub(super) satellite: u32,
    pub(super) incoming: u32,
}

/// Satellites, and the links between them.
///
/// A link keeps its number for good, also while it is not set up; new ones take the next numbers.
#[derive(Clone, Debug)]
pub struct Graph {
    satellites: usize,
    now: SimTime,
    links: Vec<Isl>,
    limits: Limits,
    /// By link, whether it is set up.
    set_up: Vec<bool>,
    /// By link, in nanoseconds.
    delays: Vec<u64>,
    /// The index of each satellite's first neighbour, and the number of neighbours at the end.
    starts: Vec<u32>,
    neighbours: Vec<Neighbour>,
    /// The number of each pair of satellites, once links have been arranged anew.
    numbers: BTreeMap<[SatelliteId; 2], usize>,
}

impl Graph {
    /// All the links are set up.
    pub(super) fn new(satellites: usize, links: Vec<Isl>, limits: Limits) -> Self {
        let mut graph = Self {
            satellites,
            now: SimTime::ZERO,
            limits,
            set_up: vec![true; links.len()],
            delays: vec![NONE; links.len()],
            links,
            starts: Vec::new(),
            neighbours: Vec::new(),
            numbers: BTreeMap::new(),
        };
        graph.connect();
        graph
    }

    /// Sets up these links, each pair of satellites once, and takes all others down.
    pub(super) fn arrange(&mut self, links: &[Isl]) {
        if self.numbers.is_empty() {
            self.numbers =
                self.links.iter().enumerate().map(|(number, link)| (link.ends(), number)).collect();
        }
        let mut numbers = Vec::new();
        for link in links {
            let number = *self.numbers.entry(link.ends()).or_insert(self.links.len());
            if number == self.links.len() {
                self.links.push(*link);
                self.set_up.push(false);
                self.delays.push(NONE);
            }
            numbers.push(number as u32);
        }
        self.set_up(&numbers);
    }

    /// Sets up the links with these numbers, and takes all others down.
    pub(super) fn set_up(&mut self, links: &[u32]) {
        self.set_up.fill(false);
        for link in links {
            self.set_up[*link as usize] = true;
        }
        self.connect();
    }

    /// Finds each satellite's neighbours.
    fn connect(&mut self) {
        let numbered = (0u32..).zip(&self.links).zip(&self.set_up);
        let links = || numbered.clone().filter_map(|(link, set_up)| set_up.then_some(link));
        let mut starts = vec![0u32; self.satellites + 1];
        for end in links().flat_map(|(_, link)| [link.from, link.to]) {
            starts[end.index() + 1] += 1;
        }
        for satellite in 0..self.satellites {
            starts[satellite + 1] += starts[satellite];
        }
        let mut next = starts.clone();
        let mut neighbours = vec![Neighbour::default(); 2 * links().count()];
        for (number, link) in links() {
            for (from, to, incoming) in
                [(link.from, link.to, 2 * number + 1), (link.to, link.from, 2 * number)]
            {
                let place = &mut next[from.index()];
                neighbours[*place as usize] = Neighbour { satellite: to.index() as u32, incoming };
                *place += 1;
            }
        }
        self.starts = starts;
        self.neighbours = neighbours;
    }

    /// Moves to the time of the ephemeris: computes the delays of all links.
    pub(super) fn update(&mut self, ephemeris: &Ephemeris) {
        self.now = ephemeris.now();
        for ((link, set_up), delay) in self.links.iter().zip(&self.set_up).zip(&mut self.delays) {
            *delay = NONE;
            if *set_up {
                let (from, to) = (ephemeris.position(link.from), ephemeris.position(link.to));
                if self.limits.admit(link.across, from, to) {
                    *delay = light_delay((to - from).norm()).as_nanos();
                }
            }
        }
    }

    /// The time of the last update.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Number of satellites.
    pub fn satellites(&self) -> usize {
        self.satellites
    }

    /// All links that there have been, by number.
    pub fn links(&self) -> &[Isl] {
        &self.links
    }

    /// A laser by number.
    pub fn laser(&self, id: LaserId) -> Laser {
        let Isl { from, to, .. } = self.links[id.link()];
        let (from, to) = if id.index().is_multiple_of(2) { (from, to) } else { (to, from) };
        Laser { id, from, to }
    }

    /// The delay over a laser; `None` while its link is down.
    pub fn delay(&self, laser: LaserId) -> Option<SimDuration> {
        let delay = self.delays[laser.link()];
        (delay != NONE).then(|| SimDuration::from_nanos(delay))
    }

    /// The delays by link, in nanoseconds.
    pub(super) fn delays(&self) -> &[u64] {
        &self.delays
    }

    /// The neighbours of a satellite over links that are set up.
    pub(super) fn around(&self, satellite: u32) -> &[Neighbour] {
        let satellite = satellite as usize;
        &self.neighbours[self.starts[satellite] as usize..self.starts[satellite + 1] as usize]
    }
}
