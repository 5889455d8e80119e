//! Forecasts: what the sender of a flow is told of its paths ahead of time, if its scenario lets it know; and with several paths,
//! what the end that opens them is told of its interfaces.
//!
//! The network knows what will happen because its topologies run ahead ([`Foreseen`](crate::topology::Foreseen)). Errors are put on
//! that here, from a random stream of the flow's own. Nobody else is told anything.

use std::fmt::Write as _;

use leobench_base::{BitRate, DirectionId, FlowId, LinkId, SimDuration, SimTime};
use leobench_link::Service;
use leobench_transport::Input;
use leobench_transport::endpoint::{Event, Forecast, HandoverForecast, InterfaceForecast};

use super::coming::{Coming, shifted, time_error};
use crate::network::observe::NetworkEvent;
use crate::network::schedule::Entity;
use crate::network::{End, Network, NetworkError};
use crate::topology::{Attachment, Change, ForecastConfig, HandoverStage};

/// Tells the sender of one flow.
pub(in crate::network) struct Forecaster {
    flow: FlowId,
    config: ForecastConfig,
    next: SimTime,
    coming: Coming,
    carriers: Vec<Carrier>,
}

/// An interface comes up or goes down, as has been told.
struct Carrier {
    link: LinkId,
    at: SimTime,
    up: bool,
    /// The error of the time, in nanoseconds.
    error: i64,
}

/// Changes up to an instant.
#[derive(Default)]
struct Ahead {
    /// Delays and rates of links from then on, the last state of each last.
    offers: Vec<(DirectionId, SimDuration, Option<BitRate>)>,
    /// Beginnings and ends of handovers.
    stages: Vec<(usize, SimTime, HandoverStage)>,
    /// Links that take part in another way by then.
    moved: Vec<LinkId>,
    /// Interfaces that come up or go down.
    carriers: Vec<(LinkId, SimTime, bool)>,
}

impl Forecaster {
    pub(in crate::network) fn new(flow: FlowId, config: ForecastConfig) -> Self {
        Self { flow, next: config.first, config, coming: Coming::default(), carriers: Vec::new() }
    }

    /// Takes in the stages of handovers of these links up to the horizon.
    fn learn(&mut self, now: SimTime, ahead: &Ahead, links: &[LinkId]) {
        let Self { coming, config, .. } = self;
        for (topology, at, stage) in &ahead.stages {
            let matters = |link| links.contains(&link);
            coming.learn((*topology, *at, *stage), matters, || draw_error(config));
        }
        coming.forget(now, now + config.horizon);
        self.learn_carriers(now, ahead);
    }

    /// Takes in what becomes of the interfaces of the end that opens the connection.
    fn learn_carriers(&mut self, now: SimTime, ahead: &Ahead) {
        for (link, at, up) in ahead.carriers.iter().copied() {
            let matters = self.config.interfaces.iter().any(|(known, _)| *known == link);
            let known = self.carriers.iter().any(|it| (it.link, it.at, it.up) == (link, at, up));
            if matters && !known {
                // A handover and what it does to interfaces are told with one error.
                let error = self.coming.error_of(link, at);
                let error = error.unwrap_or_else(|| draw_error(&mut self.config));
                self.carriers.push(Carrier { link, at, up, error });
            }
        }
        self.carriers.retain(|carrier| carrier.at > now);
    }

    /// Forecasts of the interfaces of the end that opens the connection.
    fn interfaces(&self, now: SimTime) -> impl Iterator<Item = InterfaceForecast> {
        let horizon = now + self.config.horizon;
        self.config.interfaces.iter().map(move |(link, address)| {
            let change = |up: bool| {
                let it = self.carriers.iter().filter(|it| it.link == *link && it.up == up);
                it.map(|it| shifted(it.at, it.error)).filter(|at| *at > now).min()
            };
            let leaves = |[from, _]: [LinkId; 2]| from == *link;
            InterfaceForecast {
                address: *address,
                comes_up: change(true),
                goes_down: change(false),
                handover: self.coming.next(now, horizon, leaves).map(|told| told.forecast),
            }
        })
    }

    /// A forecast of a path that truly offers this at the horizon.
    fn forecast(&mut self, now: SimTime, ahead: &PathAhead) -> Forecast {
        let at = now + self.config.horizon;
        let growth = self.config.horizon.as_secs_f64().sqrt();
        let mut wrong = |error: f64| libm::exp(error * growth * self.config.rng.normal());
        let (rate, delay) = (wrong(self.config.rate_error), wrong(self.config.delay_error));
        let moves = |links: [LinkId; 2]| links.iter().any(|link| ahead.links.contains(link));
        Forecast {
            path: ahead.path,
            at,
            base_rtt: ahead.base_rtt.map(|rtt| scaled(rtt, delay)),
            bottleneck: ahead.bottleneck.map(|bottleneck| bottleneck.scaled(rate)),
            handover: self.coming.next(now, at, moves).map(|told| told.forecast),
        }
    }
}

fn draw_error(config: &mut ForecastConfig) -> i64 {
    time_error(config.time_error, &mut config.rng)
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
        self.forecasters = forecasters;
        self.tell_access()?;
        self.wakes.set(Entity::Forecasts, self.next_forecast());
        Ok(())
    }

    /// When a sender is told next.
    pub(in crate::network) fn next_forecast(&self) -> Option<SimTime> {
        let forecasts = self.forecasters.iter().map(|forecaster| forecaster.next);
        forecasts.chain(self.access.next()).min()
    }

    fn tell_forecast(&mut self, forecaster: &mut Forecaster) -> Result<(), NetworkError> {
        let (now, flow) = (self.now, forecaster.flow);
        let ahead = self.look_ahead(now + forecaster.config.horizon);
        let offer = |direction: DirectionId| {
            let last = ahead.offers.iter().rfind(|(changed, ..)| *changed == direction);
            last.map(|(_, delay, rate)| (*delay, *rate))
        };
        let paths = self.observer.paths_ahead(flow, &ahead.moved, &offer);
        let mut links: Vec<_> = paths.iter().flat_map(|path| path.links.clone()).collect();
        links.extend(forecaster.config.interfaces.iter().map(|(link, _)| *link));
        forecaster.learn(now, &ahead, &links);
        let sender = self.flows[flow].ends[End::Sender as usize];
        let manages = !forecaster.config.interfaces.is_empty();
        let opener = self.flows[flow].ends[forecaster.config.opener as usize];
        for path in &paths {
            let forecast = forecaster.forecast(now, path);
            let event = Event { kind: "forecast", detail: detail(&forecast) };
            let (end, event) = (End::Sender, &event);
            self.observer.emit(now, NetworkEvent::Endpoint { flow, end, event })?;
            self.input(sender, Input::Forecast(forecast))?;
            if manages && opener != sender {
                self.input(opener, Input::Forecast(forecast))?;
            }
        }
        let interfaces: Vec<_> = forecaster.interfaces(now).collect();
        for forecast in interfaces {
            self.input(opener, Input::InterfaceForecast(forecast))?;
        }
        Ok(())
    }

    /// Collects the changes of all topologies up to an instant.
    fn look_ahead(&mut self, until: SimTime) -> Ahead {
        let mut ahead = Ahead::default();
        self.foresee(until, &mut |topology, at, change| match change {
            Change::Channel { direction, state } => {
                let rate = match state.service {
                    Service::Rate(rate) => Some(rate),
                    Service::Opportunities(_) => None,
                };
                let rate = rate.map(|rate| if state.up { rate } else { BitRate::ZERO });
                ahead.offers.push((*direction, state.delay, rate));
            }
            Change::Handover(stage) => ahead.stages.push((topology, at, *stage)),
            Change::Carrier { link, up } => ahead.carriers.push((*link, at, *up)),
            Change::Attach { link, attachment, .. } => {
                match attachment {
                    Attachment::Active => ahead.carriers.push((*link, at, true)),
                    Attachment::Detached => ahead.carriers.push((*link, at, false)),
                    Attachment::Standby => {}
                }
                if *attachment != Attachment::Active {
                    ahead.moved.push(*link);
                }
            }
            _ => {}
        });
        ahead
    }

    /// Shows the changes of all topologies up to an instant, with the number of the topology.
    pub(super) fn foresee(&mut self, until: SimTime, see: &mut dyn FnMut(usize, SimTime, &Change)) {
        for (topology, foreseen) in self.topologies.iter_mut().enumerate() {
            foreseen.foresee(until, &mut |at, change| see(topology, at, change));
        }
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
    write_handover(&mut text, handover.as_ref());
    text
}

/// Adds a handover to a text for a reader.
pub(super) fn write_handover(text: &mut String, handover: Option<&HandoverForecast>) {
    // Writing to a string cannot fail.
    let _ = match handover {
        Some(HandoverForecast { from, until }) => {
            write!(text, "; handover from {from} to {until}")
        }
        None => write!(text, "; no handover"),
    };
}
