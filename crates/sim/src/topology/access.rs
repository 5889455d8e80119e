//! The state of links through a constellation as their own link layer knows it, and the settings of the reports on it.

use std::sync::Arc;

use leobench_base::{BitRate, DirectionId, LinkId, SatelliteId, SimDuration, SimRng, SimTime};
use leobench_budget::{Budget, Choice, Reading};

/// State of a link through a constellation while a satellite serves it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccessState {
    /// Number of the serving satellite.
    pub satellite: SatelliteId,
    /// Its distance in m.
    pub range_m: f64,
    /// Offers of the budgets there (uplink) and back (downlink); none at a constant rate.
    pub offers: [Option<Offer>; 2],
}

/// Everything that decides on the rate of a link budget, so that the rate at a wrong signal-to-noise ratio is known, too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offer {
    /// The budget's reading.
    pub reading: Reading,
    /// The choice before, which hysteresis may keep.
    pub before: Option<Choice>,
    /// Division of the rate.
    pub division: Division,
}

impl Offer {
    /// The choice of the budget at a ratio that is `error_db` above the true one.
    pub fn choose(&self, budget: &Budget, error_db: f64) -> Choice {
        let carrier_to_density = self.reading.carrier_to_density + error_db;
        let carrier_to_noise = self.reading.carrier_to_noise + error_db;
        let wrong = Reading { carrier_to_density, carrier_to_noise, ..self.reading };
        budget.rate(&wrong, self.before)
    }

    /// The rate of the link at a ratio that is `error_db` above the true one.
    pub fn rate(&self, budget: &Budget, error_db: f64) -> BitRate {
        self.division.of(self.choose(budget, error_db).rate)
    }
}

/// Division of the rate of a radio link among its users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Links that share the satellite equally.
    pub sharers: u64,
    /// Share of a cell that a link gets at most.
    pub cell: Option<BitRate>,
    /// Measured capacity that a link has at most, whoever shares the satellite.
    pub capacity: Option<BitRate>,
}

impl Division {
    /// The part of a rate that a link gets.
    pub fn of(&self, rate: BitRate) -> BitRate {
        let share = rate.scaled(1.0 / self.sharers as f64);
        let limits = self.cell.into_iter().chain(self.capacity);
        limits.fold(share, BitRate::min)
    }
}

/// A link through a constellation on which flows are told.
#[derive(Clone, Debug)]
pub struct AccessLink {
    /// The link.
    pub link: LinkId,
    /// Budgets there (uplink) and back (downlink); none at a constant rate.
    pub budgets: [Option<Arc<Budget>>; 2],
    /// State at the start of a run; none without a serving satellite.
    pub start: Option<AccessState>,
}

/// Schedule, age and errors of the reports on access links for the sender of a flow.
#[derive(Clone, Debug)]
pub struct AccessConfig {
    /// Directions of links through a constellation that its data may take.
    pub directions: Vec<DirectionId>,
    /// When it is told first.
    pub first: SimTime,
    /// Time between two reports.
    pub every: SimDuration,
    /// Age of what it is told.
    pub delay: SimDuration,
    /// How far each looks ahead for a handover.
    pub horizon: SimDuration,
    /// Standard deviation of a signal-to-noise ratio in dB, drawn for each report.
    pub snr_error_db: f64,
    /// Standard deviation of the time of a handover, drawn once for each.
    pub time_error: SimDuration,
    /// Random stream of the errors of ratios.
    pub snr_rng: SimRng,
    /// Random stream of the errors of times.
    pub time_rng: SimRng,
}
