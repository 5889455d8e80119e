//! The rates of a link through the constellation: constant, or by budgets.

use std::sync::Arc;

use leobench_base::{BitRate, SimTime};
use leobench_budget::{Budget, Cell, Choice, Fading, Geometry, Path, Pointing};

use super::{LinkState, WayState};
use crate::topology::{Division, Offer};

/// Source of the rate of a direction.
pub(super) enum Rate {
    Constant(BitRate),
    Budget {
        budget: Arc<Budget>,
        before: Option<Choice>,
    },
    /// That of a fit alone.
    Unlimited,
}

/// The rates of both directions.
pub(super) struct Rates {
    /// There (uplink) and back (downlink).
    pub(super) directions: [Rate; 2],
    pub(super) fading: Option<Box<dyn Fading>>,
    /// Limits the downlink.
    pub(super) cell: Option<Cell>,
    /// Latest offers of the budgets.
    pub(super) offers: [Option<Offer>; 2],
    /// Latest rates before their division, and that.
    latest: [(BitRate, Division); 2],
}

impl Rates {
    /// The rates at the start of a run, before they are filled in.
    pub(super) fn new(
        directions: [Rate; 2],
        fading: Option<Box<dyn Fading>>,
        cell: Option<Cell>,
    ) -> Self {
        let none = (BitRate::ZERO, Division { sharers: 1, cell: None, capacity: None });
        Self { directions, fading, cell, offers: [None; 2], latest: [none; 2] }
    }

    /// Fills in the rates of a way; the terminal is at a latitude in degrees and an altitude in km.
    pub(super) fn fill(
        &mut self,
        now: SimTime,
        latitude_deg: f64,
        altitude_km: f64,
        state: &mut LinkState,
    ) {
        let fading = self.fading.as_mut().map_or(0.0, |fading| fading.advance(now));
        let Some(way) = &state.way else {
            state.rates = [BitRate::ZERO; 2];
            state.carrier_to_noise = [None; 2];
            self.offers = [None; 2];
            self.latest = self.latest.map(|(_, division)| (BitRate::ZERO, division));
            return;
        };
        let [there, back] = geometries(way, latitude_deg, altitude_km);
        for (index, (rate, geometry)) in self.directions.iter_mut().zip([there, back]).enumerate() {
            let cell = self.cell.as_ref().filter(|_| index == 1).map(|cell| cell.share(now));
            let division = Division { sharers: way.sharers, cell, capacity: None };
            let (rate, offer) = rate.at(&geometry, fading, division);
            state.rates[index] = division.of(rate);
            state.carrier_to_noise[index] = offer.map(|offer| offer.reading.carrier_to_noise);
            self.offers[index] = offer;
            self.latest[index] = (rate, division);
        }
    }

    /// Limits the latest rates to what a fit has there and back.
    pub(super) fn limit(&mut self, capacities: [BitRate; 2], state: &mut LinkState) {
        let known = self.latest.iter_mut().zip(&mut self.offers).zip(&mut state.rates);
        for ((((rate, division), offer), offered), capacity) in known.zip(capacities) {
            division.capacity = Some(capacity);
            if let Some(offer) = offer {
                offer.division = *division;
            }
            *offered = division.of(*rate);
        }
    }
}

impl Rate {
    pub(super) fn budget(&self) -> Option<Arc<Budget>> {
        match self {
            Self::Constant(_) | Self::Unlimited => None,
            Self::Budget { budget, .. } => Some(Arc::clone(budget)),
        }
    }

    /// The undivided rate, and what decided on it if a budget did.
    fn at(
        &mut self,
        geometry: &Geometry,
        fading_db: f64,
        division: Division,
    ) -> (BitRate, Option<Offer>) {
        match self {
            Self::Constant(rate) => (*rate, None),
            Self::Unlimited => (BitRate::from_bps(u64::MAX), None),
            Self::Budget { budget, before } => {
                let reading = budget.at(geometry, fading_db);
                let offer = Offer { reading, before: *before, division };
                let choice = offer.choose(budget, 0.0);
                *before = Some(choice);
                (choice.rate, Some(offer))
            }
        }
    }
}

/// Uplink and downlink. Beams follow the other end; a flat array at the terminal looks at the zenith, one at the satellite at
/// the nadir.
fn geometries(way: &WayState, latitude_deg: f64, altitude_km: f64) -> [Geometry; 2] {
    let path = Path { elevation_deg: way.elevation_deg, latitude_deg, altitude_km };
    let ground = Pointing { off_axis_deg: 0.0, scan_deg: 90.0 - way.elevation_deg };
    let space = Pointing { off_axis_deg: 0.0, scan_deg: way.nadir_deg };
    let link =
        |transmit, receive| Geometry { range_m: way.range_m, path: Some(path), transmit, receive };
    [link(ground, space), link(space, ground)]
}

/// Carrier over noise of a downlink for a candidate of an elevation and a distance.
pub(super) fn carrier_to_noise(
    budget: &Budget,
    (latitude_deg, altitude_km): (f64, f64),
    way: &WayState,
) -> f64 {
    let [_, back] = geometries(way, latitude_deg, altitude_km);
    budget.at(&back, 0.0).carrier_to_noise
}
