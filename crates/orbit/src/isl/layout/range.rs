//! Links to the nearest satellites within a distance, whatever their plane and shell.

use leobench_base::SimDuration;
use leobench_base::quantity::Distance;
use leobench_base::spec::{Fault, Whole};

use super::nearest::{Nearest, planes};
use super::{Layout, LayoutModel, check_every};
use crate::isl::links::{Isl, Limits};
use crate::motion::{Constellation, Ephemeris};

leobench_base::spec! {
    /// Each satellite has links to its nearest neighbours within a distance, also in other shells.
    ///
    /// Links are chosen anew at each period: those that can be used stay, and the nearest two satellites with a laser left are
    /// linked, then the next two. In between, a link that is too long is off. Satellites of element sets count as being in
    /// planes of their own.
    pub struct RangeSpec example = r#"{"range": "2000 km"}"# check = RangeSpec::check {
        /// Longest link.
        pub range: Distance,
        /// Lasers of each satellite.
        pub lasers: Whole<1, 64> = Whole::nearest(4),
        /// Time between two choices of links.
        pub every: SimDuration = SimDuration::from_secs(15),
    }
}

impl RangeSpec {
    fn check(&self) -> Result<(), Fault> {
        if self.range.m() <= 0.0 {
            return Err(Fault::new("range", "is zero", "a distance above zero"));
        }
        check_every(self.every)
    }
}

impl LayoutModel for RangeSpec {
    fn build(
        &self,
        constellation: &Constellation,
        limits: Limits,
    ) -> Result<Box<dyn Layout>, Fault> {
        let limits = Limits { longest_m: self.range.m().min(limits.longest_m), ..limits };
        let satellites = constellation.satellites().len();
        let nearest = Nearest::new(limits, self.lasers.get() as usize, satellites);
        Ok(Box::new(Range { nearest, planes: planes(constellation), every: self.every }))
    }
}

#[derive(Debug)]
struct Range {
    nearest: Nearest,
    planes: Vec<Option<u32>>,
    every: SimDuration,
}

impl Layout for Range {
    fn arrange(&mut self, ephemeris: &Ephemeris, out: &mut Vec<Isl>) {
        let Self { nearest, planes, .. } = self;
        let all = (0..planes.len()).map(Into::into);
        let links = nearest.arrange(ephemeris, all, |one, other| {
            let [one, other] = [one, other].map(|satellite| planes[satellite.index()]);
            Some(one.is_none() || one != other)
        });
        out.clear();
        out.extend_from_slice(links);
    }

    fn period(&self) -> Option<SimDuration> {
        Some(self.every)
    }
}
