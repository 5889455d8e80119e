//! Links to the nearest satellites that have a laser left.

use crate::frame::Vector;
use crate::isl::links::{Isl, Limits};
use crate::motion::{Constellation, Ephemeris, SatelliteId};

/// Chooses links between satellites with so many lasers each.
///
/// Those of before stay as long as they can be used: to point a laser anew takes seconds, in which it carries nothing. Then the
/// two satellites that are nearest to each other and have a laser left are linked, and so on; of pairs equally far apart, the
/// one with the lower numbers.
#[derive(Clone, Debug)]
pub(super) struct Nearest {
    limits: Limits,
    lasers: usize,
    links: Vec<Isl>,
    /// By satellite.
    left: Vec<usize>,
    /// Along one axis, in metres.
    sorted: Vec<(f64, SatelliteId)>,
    pairs: Vec<(f64, Isl)>,
}

impl Nearest {
    pub(super) fn new(limits: Limits, lasers: usize, satellites: usize) -> Self {
        let (links, sorted, pairs) = (Vec::new(), Vec::new(), Vec::new());
        Self { limits, lasers, links, left: vec![0; satellites], sorted, pairs }
    }

    /// The links from now on, among those satellites of which the pair may be linked; `None` for a pair that may not, otherwise
    /// whether it is of different planes.
    pub(super) fn arrange(
        &mut self,
        ephemeris: &Ephemeris,
        among: impl Iterator<Item = SatelliteId>,
        may: impl Fn(SatelliteId, SatelliteId) -> Option<bool>,
    ) -> &[Isl] {
        let Self { limits, lasers, links, left, sorted, pairs } = self;
        let place = |satellite| ephemeris.position(satellite);
        left.fill(*lasers);
        links.retain(|link| limits.admit(link.across, place(link.from), place(link.to)));
        for end in links.iter().flat_map(Isl::ends) {
            left[end.index()] -= 1;
        }
        sorted.clear();
        sorted.extend(
            among
                .filter(|one| left[one.index()] > 0)
                .map(|satellite| (place(satellite).x, satellite)),
        );
        sorted.sort_unstable_by(|(a, one), (b, other)| a.total_cmp(b).then(one.cmp(other)));
        pairs.clear();
        for (index, (x, one)) in sorted.iter().enumerate() {
            let near =
                sorted[index + 1..].iter().take_while(|(other, _)| other - x <= limits.longest_m);
            for (_, other) in near {
                let (from, to) = (*one.min(other), *one.max(other));
                let Some(across) = may(from, to) else { continue };
                let (start, end): (Vector, Vector) = (place(from), place(to));
                if limits.admit(across, start, end) {
                    pairs.push(((end - start).norm(), Isl { from, to, across }));
                }
            }
        }
        pairs.sort_unstable_by(|(a, one), (b, other)| a.total_cmp(b).then(one.cmp(other)));
        let kept: std::collections::BTreeSet<_> = links.iter().map(Isl::ends).collect();
        for (_, link) in pairs.iter() {
            let free = link.ends().iter().all(|end| left[end.index()] > 0);
            if free && !kept.contains(&link.ends()) {
                for end in link.ends() {
                    left[end.index()] -= 1;
                }
                links.push(*link);
            }
        }
        links
    }
}

/// The plane of each satellite, counted over all shells; `None` for satellites of no shell.
pub(super) fn planes(constellation: &Constellation) -> Vec<Option<u32>> {
    let mut planes = vec![None; constellation.satellites().len()];
    let mut first = 0;
    for placed in constellation.shells() {
        for (within, number) in placed.range().enumerate() {
            planes[number] = Some(first + (within / placed.shell.per_plane) as u32);
        }
        first += placed.shell.planes as u32;
    }
    planes
}
