//! The +grid: links along each plane and between neighbouring planes of a shell.

use leobench_base::SimDuration;
use leobench_base::spec::Fault;

use super::nearest::Nearest;
use super::{Layout, LayoutModel, check_every};
use crate::isl::links::{Isl, Limits};
use crate::motion::{Constellation, Ephemeris, Pattern, PlacedShell, SatelliteId};

leobench_base::words! {
    /// Treatment of the seam: the place between the last and the first plane of a shell.
    pub enum Seam {
        /// No links across it.
        Open = "open",
        /// Links across it.
        Closed = "closed",
    }
}

leobench_base::spec! {
    /// Each satellite has links to the next ones in its plane, and to the nearest one by phase in either adjacent plane.
    pub struct PlusGridSpec: Default check = PlusGridSpec::check {
        /// Links between the last and the first plane. By default, a delta has them and a star has none. Where both
        /// planes move in opposite directions, each satellite has one link to the nearest one with a laser left, until it
        /// cannot be used any more.
        pub seam: Option<Seam>,
        /// Time between two choices of links across a seam between planes that move in opposite directions.
        pub every: SimDuration = SimDuration::from_secs(15),
    }
}

impl PlusGridSpec {
    fn check(&self) -> Result<(), Fault> {
        check_every(self.every)
    }
}

impl LayoutModel for PlusGridSpec {
    fn build(
        &self,
        constellation: &Constellation,
        limits: Limits,
    ) -> Result<Box<dyn Layout>, Fault> {
        let links = grid(constellation, self.seam);
        if links.is_empty() {
            let problem = "cannot find neighbours, because element sets have no planes";
            let allowed = "satellites from a preset or shells, the layout `range`";
            return Err(Fault::new("layout", problem, allowed));
        }
        let apart = |placed: &&PlacedShell| placed.shell.planes > 2 && !closes(placed);
        let shells = constellation.shells().iter().filter(apart);
        let seams: Vec<_> = match self.seam {
            Some(Seam::Closed) => shells
                .map(|placed| {
                    let (each, end) = (placed.shell.per_plane, placed.range().end);
                    let ends = [placed.first..placed.first + each, end - each..end];
                    (ends, Nearest::new(limits, 1, constellation.satellites().len()))
                })
                .collect(),
            Some(Seam::Open) | None => Vec::new(),
        };
        Ok(Box::new(PlusGrid { links, seams, every: self.every }))
    }
}

/// The links that stay, and per seam the satellites on both sides.
#[derive(Debug)]
struct PlusGrid {
    links: Vec<Isl>,
    seams: Vec<([std::ops::Range<usize>; 2], Nearest)>,
    every: SimDuration,
}

impl Layout for PlusGrid {
    fn arrange(&mut self, ephemeris: &Ephemeris, out: &mut Vec<Isl>) {
        out.clone_from(&self.links);
        for ([first, last], nearest) in &mut self.seams {
            let all = first.clone().chain(last.clone()).map(SatelliteId::from);
            let across = |one: SatelliteId, other: SatelliteId| {
                (first.contains(&one.index()) != first.contains(&other.index())).then_some(true)
            };
            out.extend_from_slice(nearest.arrange(ephemeris, all, across));
        }
    }

    fn period(&self) -> Option<SimDuration> {
        (!self.seams.is_empty()).then_some(self.every)
    }
}

/// The +grid of all shells: each satellite has links to the one before and behind in its plane, and to the nearest one by phase
/// in either neighbouring plane. A star has none across its seam. Shells are not connected with each other.
pub fn plus_grid(constellation: &Constellation) -> Vec<Isl> {
    grid(constellation, None)
}

/// The links of the +grid that stay for good.
fn grid(constellation: &Constellation, seam: Option<Seam>) -> Vec<Isl> {
    let mut links = Vec::new();
    for placed in constellation.shells() {
        let around = closes(placed) && seam != Some(Seam::Open);
        for plane in 0..placed.shell.planes {
            for slot in 0..placed.shell.per_plane {
                let from = placed.satellite(plane, slot);
                links.extend(behind(placed, plane, slot).map(|to| Isl { from, to, across: false }));
                let beside = beside(placed, plane, slot, around);
                links.extend(beside.map(|to| Isl { from, to, across: true }));
            }
        }
    }
    links
}

/// The next satellite in the same plane; a plane of two has one link.
fn behind(placed: &PlacedShell, plane: usize, slot: usize) -> Option<SatelliteId> {
    let ring = match placed.shell.per_plane {
        1 => false,
        2 => slot == 0,
        _ => true,
    };
    ring.then(|| placed.satellite(plane, slot + 1))
}

/// Whether the last plane is the first one's neighbour.
fn closes(placed: &PlacedShell) -> bool {
    let shell = &placed.shell;
    let around = shell.spacing().degrees() * shell.planes as f64;
    shell.pattern == Pattern::Delta && (around - 360.0).abs() < 1e-6
}

/// The satellite in the next plane that is nearest by phase, also from the last plane if that goes `around`: neighbouring planes
/// are F/P slots apart, and around the whole equator that adds up to F slots.
fn beside(placed: &PlacedShell, plane: usize, slot: usize, around: bool) -> Option<SatelliteId> {
    let shell = &placed.shell;
    let last = plane + 1 == shell.planes;
    if shell.planes == 1 || (last && (!around || shell.planes == 2)) {
        return None;
    }
    let total = shell.total();
    let ahead = (2 * shell.phasing + shell.planes) / (2 * shell.planes);
    let wrapped = if last { shell.phasing } else { 0 };
    let slot = (slot + wrapped + total * shell.per_plane - ahead) % shell.per_plane;
    Some(placed.satellite(plane + 1, slot))
}
