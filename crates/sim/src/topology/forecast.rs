//! Settings of the forecasts of what topologies will do.

use std::net::IpAddr;

use leobench_base::{End, LinkId, SimDuration, SimRng, SimTime};

/// Schedule and errors of the forecasts for the sender of a flow and, if the flow has several paths, for the end that opens them.
#[derive(Clone, Debug)]
pub struct ForecastConfig {
    /// When it is told first.
    pub first: SimTime,
    /// Time between two forecasts.
    pub every: SimDuration,
    /// How far each looks ahead.
    pub horizon: SimDuration,
    /// Standard deviation of the logarithm of a rate one second ahead; it grows with the square root of the time.
    pub rate_error: f64,
    /// The same of a round-trip time.
    pub delay_error: f64,
    /// Standard deviation of the time of a handover, which is drawn once for each.
    pub time_error: SimDuration,
    /// The end that opens the connection.
    pub opener: End,
    /// Its interfaces that may carry a path each, if the flow has several.
    pub interfaces: Vec<(LinkId, IpAddr)>,
    /// Random stream of the errors.
    pub rng: SimRng,
}
