//! The fit of a link through a constellation: measured capacity, loss, outages and delay on top of a known geometry.
//!
//! A link with `constellation` may have one channel as well, `starlink`. The constellation gives propagation delay, serving
//! satellite, handovers and gaps, and budgets with fading and weather. The fit gives the rest:
//!
//! | quantity | combination |
//! |---|---|
//! | rate of a direction | the lower of the fit's capacity and the budget's rate |
//! | loss | that of the fit, beside the link's own loss process, which is independent of it |
//! | interruption | a gap of the constellation or an outage of the fit |
//! | delay | that of the geometry, and the part of the measured one above its floor ([`KnownGeometry`]) |
//!
//! Both share one grid of slots, as the constellation has an instant at which the run starts. `SatelliteLinks` owns the fits:
//! it combines each with what the geometry offers, so that all who ask it, the network, forecasts and `leobench orbit`,
//! see one link. A fit changes much more often than the geometry, which is not evaluated for that
//! (`SatelliteLinks::advance_fits`). Its random stream is that of the same channel without a constellation.

use leobench_base::spec::Fault;
use leobench_base::{BitRate, Direction, RngTree, SimDuration, SimTime};
use leobench_link::channel::starlink::KnownGeometry;
use leobench_link::{Channel, ChannelContext, ChannelSpec, ChannelState, Service};
use leobench_orbit::Epoch;

use super::LinkState;
use super::rate::{Rate, Rates};
use crate::scenario::Scenario;

/// Additions of a fit to the state of a link, there and back.
#[derive(Clone, Debug, PartialEq)]
pub struct FitState {
    /// Delays in addition to those of the way.
    pub delay: [SimDuration; 2],
    /// Probabilities that a packet is lost.
    pub loss: [f64; 2],
    /// Whether packets get through; an outage is in both directions.
    pub up: bool,
}

/// A fit in motion.
pub(super) struct Fitted(Box<dyn Channel>);

impl Fitted {
    /// The fit of a link at the start of a run, if it has one.
    pub(super) fn new(
        scenario: &Scenario,
        link: usize,
        rates: &Rates,
        start: Epoch,
        rng: &RngTree,
    ) -> Result<Option<Self>, Fault> {
        let (name, link) = &scenario.spec.links[link];
        let Some(ChannelSpec::Starlink(spec)) = &link.channel else { return Ok(None) };
        let limited = rates.directions.each_ref().map(|rate| !matches!(rate, Rate::Unlimited));
        let known = KnownGeometry { start_unix_ns: start.unix_nanos(), limited };
        let rng = rng.child("links").child(name).child("channel");
        let context = ChannelContext { folder: scenario.folder.clone(), rng };
        let built = spec.build_over(&known, &context);
        built
            .map(|channel| Some(Self(channel)))
            .map_err(|fault| fault.within(&format!("links.{name}.channel")))
    }

    /// When it changes next.
    pub(super) fn next_change(&self) -> SimTime {
        self.0.next_change().unwrap_or(SimTime::MAX)
    }

    /// Moves on to a time.
    pub(super) fn advance(&mut self, now: SimTime) {
        self.0.advance(now);
    }

    /// Adds its present state to what geometry and budgets offer.
    pub(super) fn combine(&self, rates: &mut Rates, state: &mut LinkState) {
        let fit = Direction::BOTH.map(|direction| self.0.state_of(direction));
        rates.limit(fit.map(capacity), state);
        state.fit = Some(FitState {
            delay: fit.map(|state| state.delay),
            loss: fit.map(|state| state.loss),
            up: fit.iter().all(|state| state.up),
        });
    }
}

/// The rate of a state.
fn capacity(state: &ChannelState) -> BitRate {
    match &state.service {
        Service::Rate(rate) if state.up => *rate,
        Service::Rate(_) => BitRate::ZERO,
        Service::Opportunities(_) => unreachable!("fits have rates"),
    }
}
