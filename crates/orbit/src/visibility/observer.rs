//! The satellites that a place sees, without looking at all of them.
//!
//! Once per window of the ephemeris, a [`SatelliteGrid`] sorts the satellites by latitude and longitude, and each [`Observer`] takes
//! from it those that may rise above its lowest elevation before the window ends. Per step it looks only at these.

use std::cell::OnceCell;

use leobench_base::SimTime;

use super::grid::SatelliteGrid;
use super::view::{GeostationaryArc, View};
use crate::frame::{Angle, Geodetic, Site, Topocentric};
use crate::motion::{Ephemeris, SatelliteId, Track};

/// A satellite in the sky of a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sighting {
    /// Which one.
    pub satellite: SatelliteId,
    /// The satellite's direction and range.
    pub look: Topocentric,
}

/// A place on the ground or along a track, with the part of the sky that it can use.
#[derive(Clone, Debug)]
pub struct Observer {
    track: Track,
    view: View,
    /// Computed when it is first asked for at a place.
    arc: OnceCell<GeostationaryArc>,
    place: Geodetic,
    site: Site,
    window: Option<u64>,
    pub(super) candidates: Vec<SatelliteId>,
    lowest_sine: f64,
}

impl Observer {
    /// Something that sees a part of the sky.
    pub fn new(track: Track, view: View) -> Self {
        let site = track.site(SimTime::ZERO);
        let (arc, place) = (OnceCell::new(), track.place(SimTime::ZERO));
        let lowest_sine = view.lowest.sin();
        Self { track, view, arc, place, site, window: None, candidates: Vec::new(), lowest_sine }
    }

    /// The observer's place or track.
    pub fn track(&self) -> &Track {
        &self.track
    }

    /// The part of the sky that the observer can use.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Its axes, at the last time that it looked.
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// Follows the time of an ephemeris; call it once per step, after [`SatelliteGrid::refresh`].
    pub fn follow(&mut self, ephemeris: &Ephemeris, grid: &SatelliteGrid) {
        if self.track.moves() {
            self.site = self.track.site(ephemeris.now());
            self.place = self.track.place(ephemeris.now());
            self.arc = OnceCell::new();
        }
        if self.window == Some(ephemeris.window()) {
            return;
        }
        self.window = Some(ephemeris.window());
        let place = self.site.position();
        // Wherever in the window it is now, the other end is a whole window away.
        let way = self.track.fastest() * ephemeris.spacing().as_secs_f64() / place.norm();
        let moved = Angle::from_radians(way);
        grid.candidates(place, self.view.lowest, moved, &mut self.candidates);
    }

    /// Fills in the satellites that can be used now, by number.
    pub fn look(&self, ephemeris: &Ephemeris, out: &mut Vec<Sighting>) {
        out.clear();
        out.extend(
            self.candidates.iter().filter_map(|&satellite| self.sight(ephemeris, satellite)),
        );
    }

    /// A satellite in the sky now, if it can be used.
    pub fn sight(&self, ephemeris: &Ephemeris, satellite: SatelliteId) -> Option<Sighting> {
        let (sine, _) = self.site.elevation_sine(ephemeris.position(satellite));
        if sine < self.lowest_sine {
            return None;
        }
        let look = self.site.look(&ephemeris.state(satellite));
        self.admits(&look, || self.arc()).then_some(Sighting { satellite, look })
    }

    /// A satellite in the sky at any time, from its orbit itself, if it can be used; one without an orbit cannot.
    pub fn sight_at(
        &self,
        ephemeris: &Ephemeris,
        satellite: SatelliteId,
        at: SimTime,
    ) -> Option<Sighting> {
        let state = ephemeris.exact(satellite, at).ok()?;
        let moves = self.track.moves();
        let site = if moves { self.track.site(at) } else { self.site };
        let look = site.look(&state);
        if look.elevation < self.view.lowest {
            return None;
        }
        let then = OnceCell::new();
        let arc_then = || then.get_or_init(|| GeostationaryArc::new(&self.track.place(at)));
        let usable =
            if moves { self.admits(&look, arc_then) } else { self.admits(&look, || self.arc()) };
        usable.then_some(Sighting { satellite, look })
    }

    /// How far a direction is from the arc of the geostationary satellites.
    pub fn arc_separation(&self, look: &Topocentric) -> Angle {
        self.arc().separation(look)
    }

    fn arc(&self) -> &GeostationaryArc {
        self.arc.get_or_init(|| GeostationaryArc::new(&self.place))
    }

    fn admits<'a>(&self, look: &Topocentric, arc: impl FnOnce() -> &'a GeostationaryArc) -> bool {
        self.view.admits(look) && self.view.arc.is_none_or(|least| arc().separation(look) >= least)
    }
}
