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

/// A handover that has been told of.
struct Coming {
    topology: usize,
    number: u64,
    /// The links that it leads from and to.
    links: [LinkId; 2],
    from: SimTime,
    /// When packets go on; none if that is beyond the horizon.
    until: Option<SimTime>,
    /// When it is over; none if that is beyond the horizon.
    end: Option<SimTime>,
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
    /// Interfaces that come up or go down.
    carriers: Vec<(LinkId, SimTime, bool)>,
}

impl Forecaster {
    pub(in crate::network) fn new(flow: FlowId, config: ForecastConfig) -> Self {
        Self { flow, next: config.first, config, coming: Vec::new(), carriers: Vec::new() }
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
                    let error = draw_error(&mut self.config);
                    self.coming.push(Coming {
                        topology: *topology,
                        number: stage.number,
                        links: [stage.from.link(), stage.to.link()],
                        from: *at,
                        until: stage.overlaps.then_some(*at),
                        end: None,
                        error,
                    });
                }
                (Stage::End | Stage::Cut, Some(coming)) => {
                    coming.until.get_or_insert(*at);
                    coming.end = Some(*at);
                }
                _ => {}
            }
        }
        let end = now + self.config.horizon;
        self.coming.retain(|coming| coming.from > now || coming.told(end).until > now);
        self.learn_carriers(now, ahead);
    }

    /// Takes in what becomes of the interfaces of the end that opens the connection.
    fn learn_carriers(&mut self, now: SimTime, ahead: &Ahead) {
        for (link, at, up) in ahead.carriers.iter().copied() {
            let matters = self.config.interfaces.iter().any(|(known, _)| *known == link);
            let known = self.carriers.iter().any(|it| (it.link, it.at, it.up) == (link, at, up));
            if matters && !known {
                // A handover and what it does to interfaces are told with one error.
                let of_handover = self.coming.iter().find(|coming| coming.changes(link, at));
                let error = of_handover.map(|coming| coming.error);
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
            let leaves = self.coming.iter().filter(|coming| coming.links[0] == *link);
            let told = leaves.map(|coming| coming.told(horizon)).filter(|told| told.until > now);
            InterfaceForecast {
                address: *address,
                comes_up: change(true),
                goes_down: change(false),
                handover: told.min_by_key(|told| (told.from, told.until)),
            }
        })
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
    /// Whether it changes a link at an instant.
    fn changes(&self, link: LinkId, at: SimTime) -> bool {
        self.links.contains(&link) && [Some(self.from), self.until, self.end].contains(&Some(at))
    }

    /// Returns its forecast, with both times shifted by the error. Without a known end, it lasts up to the horizon.
    fn told(&self, horizon: SimTime) -> HandoverForecast {
        let until = self.until.unwrap_or(horizon);
        HandoverForecast { from: shifted(self.from, self.error), until: shifted(until, self.error) }
    }
}

/// The error of the time of a change, in nanoseconds.
fn draw_error(config: &mut ForecastConfig) -> i64 {
    (config.time_error.as_nanos() as f64 * config.rng.normal()).round() as i64
}

fn shifted(time: SimTime, error: i64) -> SimTime {
    SimTime::from_nanos(time.as_nanos().saturating_add_signed(error))
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
