//! Forecasts: what the sender of a flow is told of its paths ahead of time, if its scenario lets it know.
//!
//! The network knows what will happen because its topologies run ahead ([`Foreseen`](crate::topology::Foreseen)). Errors are put on
//! that here, from a random stream of the flow's own. Nobody else is told anything.

use std::fmt::Write as _;

use leobench_base::{BitRate, DirectionId, FlowId, LinkId, SimDuration, SimTime};
use leobench_link::Service;
use leobench_transport::Input;
use leobench_transport::endpoint::{Event, Forecast, HandoverForecast};

use crate::network::observe::NetworkEvent;
use crate::network::schedule::Entity;
use crate::network::{End, Network, NetworkError};
use crate::topology::{Attachment, Change, ForecastConfig, Stage};

/// Tells the sender of one flow.
pub(in crate::network) struct Forecaster {
    flow: FlowId,
    config: ForecastConfig,
    next: SimTime,
    coming: Vec<Coming>,
}

/// A handover that has been told of.
struct Coming {
    topology: usize,
    number: u64,
    /// The links that it leads from and to.
    links: [LinkId; 2],
    from: SimTime,
    /// When packets go on; none if that is beyond the horizon.
    until: Option<SimTime>,
    /// The error of both times, in nanoseconds.
    error: i64,
}

/// Changes up to an instant.
#[derive(Default)]
struct Ahead {
    /// Delays and rates of links from then on, the last state of each last.
    offers: Vec<(DirectionId, SimDuration, Option<BitRate>)>,
    /// Beginnings and ends of handovers.
    stages: Vec<(usize, SimTime, crate::topology::HandoverStage)>,
    /// Links that take part in another way by then.
    moved: Vec<LinkId>,
}

impl Forecaster {
    pub(in crate::network) fn new(flow: FlowId, config: ForecastConfig) -> Self {
        Self { flow, next: config.first, config, coming: Vec::new() }
    }

    /// When the sender is told next.
    pub(in crate::network) fn next(&self) -> SimTime {
        self.next
    }

    /// Takes in the stages of handovers of these links up to the horizon.
    fn learn(&mut self, now: SimTime, ahead: &Ahead, links: &[LinkId]) {
        for (topology, at, stage) in &ahead.stages {
            let is_it = |coming: &&mut Coming| {
                (coming.topology, coming.number) == (*topology, stage.number)
            };
            let known = self.coming.iter_mut().find(is_it);
            match (stage.stage, known) {
                (Stage::Begin, None) if links.contains(&stage.from.link()) => {
                    let error = self.config.time_error.as_nanos() as f64 * self.config.rng.normal();
                    self.coming.push(Coming {
                        topology: *topology,
                        number: stage.number,
                        links: [stage.from.link(), stage.to.link()],
                        from: *at,
                        until: stage.overlaps.then_some(*at),
                        error: error.round() as i64,
                    });
                }
                (Stage::End | Stage::Cut, Some(coming)) => {
                    coming.until.get_or_insert(*at);
                }
                _ => {}
            }
        }
        let end = now + self.config.horizon;
        self.coming.retain(|coming| coming.from > now || coming.told(end).until > now);
    }

    /// A forecast of a path that truly offers this at the horizon.
    fn forecast(&mut self, now: SimTime, ahead: &PathAhead) -> Forecast {
        let at = now + self.config.horizon;
        let growth = self.config.horizon.as_secs_f64().sqrt();
        let mut wrong = |error: f64| libm::exp(error * growth * self.config.rng.normal());
        let (rate, delay) = (wrong(self.config.rate_error), wrong(self.config.delay_error));
        let known = self
            .coming
            .iter()
            .filter(|coming| coming.links.iter().any(|link| ahead.links.contains(link)));
        let told = known.map(|coming| coming.told(at)).filter(|told| told.until > now);
        Forecast {
            path: ahead.path,
            at,
            base_rtt: ahead.base_rtt.map(|rtt| scaled(rtt, delay)),
            bottleneck: ahead.bottleneck.map(|bottleneck| bottleneck.scaled(rate)),
            handover: told.min_by_key(|told| (told.from, told.until)),
        }
    }
}

impl Coming {
    /// Returns its forecast, with both times shifted by the error. Without a known end, it lasts up to the horizon.
    fn told(&self, horizon: SimTime) -> HandoverForecast {
        let shifted =
            |time: SimTime| SimTime::from_nanos(time.as_nanos().saturating_add_signed(self.error));
        let until = self.until.unwrap_or(horizon);
        HandoverForecast { from: shifted(self.from), until: shifted(until) }
    }
}

fn scaled(time: SimDuration, factor: f64) -> SimDuration {
    SimDuration::from_secs_f64(time.as_secs_f64() * factor)
}

/// True round-trip time and rate of a path at the horizon.
pub(in crate::network) struct PathAhead {
    pub(in crate::network) path: leobench_transport::PathId,
    pub(in crate::network) links: Vec<LinkId>,
    /// Nothing if it leads over other links by then, or has no way.
    pub(in crate::network) base_rtt: Option<SimDuration>,
    pub(in crate::network) bottleneck: Option<BitRate>,
}

impl Network {
    /// Tells the senders that are to be told now.
    #[cold]
    pub(in crate::network) fn tell_forecasts(&mut self) -> Result<(), NetworkError> {
        let mut forecasters = std::mem::take(&mut self.forecasters);
        for forecaster in &mut forecasters {
            if forecaster.next <= self.now {
                self.tell_forecast(forecaster)?;
                forecaster.next = self.now + forecaster.config.every;
            }
        }
        let next = forecasters.iter().map(|forecaster| forecaster.next).min();
        self.wakes.set(Entity::Forecasts, next);
        self.forecasters = forecasters;
        Ok(())
    }

    fn tell_forecast(&mut self, forecaster: &mut Forecaster) -> Result<(), NetworkError> {
        let (now, flow) = (self.now, forecaster.flow);
        let ahead = self.look_ahead(now + forecaster.config.horizon);
        let offer = |direction: DirectionId| {
            let last = ahead.offers.iter().rfind(|(changed, ..)| *changed == direction);
            last.map(|(_, delay, rate)| (*delay, *rate))
        };
        let paths = self.observer.paths_ahead(flow, &ahead.moved, &offer);
        let links: Vec<_> = paths.iter().flat_map(|path| path.links.clone()).collect();
        forecaster.learn(now, &ahead, &links);
        for path in &paths {
            let forecast = forecaster.forecast(now, path);
            let event = Event { kind: "forecast", detail: detail(&forecast) };
            let (end, event) = (End::Sender, &event);
            self.observer.emit(now, NetworkEvent::Endpoint { flow, end, event })?;
            let sender = self.flows[flow].ends[End::Sender as usize];
            self.input(sender, Input::Forecast(forecast))?;
        }
        Ok(())
    }

    /// Collects the changes of all topologies up to an instant.
    fn look_ahead(&mut self, until: SimTime) -> Ahead {
        let mut ahead = Ahead::default();
        for (topology, foreseen) in self.topologies.iter_mut().enumerate() {
            foreseen.foresee(until, &mut |at, change| match change {
                Change::Channel { direction, state } => {
                    let rate = match state.service {
                        Service::Rate(rate) => Some(rate),
                        Service::Opportunities(_) => None,
                    };
                    let rate = rate.map(|rate| if state.up { rate } else { BitRate::ZERO });
                    ahead.offers.push((*direction, state.delay, rate));
                }
                Change::Handover(stage) => ahead.stages.push((topology, at, *stage)),
                Change::Attach { link, attachment, .. } if *attachment != Attachment::Active => {
                    ahead.moved.push(*link);
                }
                _ => {}
            });
        }
        ahead
    }
}

/// A forecast for a reader.
fn detail(forecast: &Forecast) -> String {
    let Forecast { path, at, base_rtt, bottleneck, handover } = forecast;
    let mut text = format!("path {} at {at}: ", path.0);
    // Writing to a string cannot fail.
    let _ = match (bottleneck, base_rtt) {
        (Some(rate), Some(rtt)) => write!(text, "{rate}, {rtt}"),
        _ => write!(text, "unknown"),
    };
    let _ = match handover {
        Some(HandoverForecast { from, until }) => {
            write!(text, "; handover from {from} to {until}")
        }
        None => write!(text, "; no handover"),
    };
    text
}
