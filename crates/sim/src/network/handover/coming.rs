//! Handovers that somebody is told of before they happen, each with one error of its times.

use leobench_base::{LinkId, SimDuration, SimRng, SimTime};
use leobench_transport::endpoint::HandoverForecast;

use crate::topology::{HandoverStage, Stage};

/// The handovers that a flow is told of.
#[derive(Debug, Default)]
pub(super) struct Coming(Vec<ComingHandover>);

/// A handover that a flow is told of.
#[derive(Debug)]
struct ComingHandover {
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

/// A handover as it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ToldHandover {
    pub(super) forecast: HandoverForecast,
    /// Whether its end is known; otherwise it lasts up to the horizon.
    pub(super) ends: bool,
}

impl Coming {
    /// Takes in a stage of a handover: the topology, the time and the stage. Those of links that do not matter are left out; `error`
    /// draws the error of a new one.
    pub(super) fn learn(
        &mut self,
        (topology, at, stage): (usize, SimTime, HandoverStage),
        matters: impl Fn(LinkId) -> bool,
        error: impl FnOnce() -> i64,
    ) {
        let known = |coming: &&mut ComingHandover| {
            (coming.topology, coming.number) == (topology, stage.number)
        };
        match (stage.stage, self.0.iter_mut().find(known)) {
            (Stage::Begin, None) if matters(stage.from.link()) => self.0.push(ComingHandover {
                topology,
                number: stage.number,
                links: [stage.from.link(), stage.to.link()],
                from: at,
                until: stage.overlaps.then_some(at),
                end: None,
                error: error(),
            }),
            (Stage::End | Stage::Cut, Some(coming)) => {
                coming.until.get_or_insert(at);
                coming.end = Some(at);
            }
            _ => {}
        }
    }

    /// Leaves out those that are over, by what is told at `now` for times up to the horizon.
    pub(super) fn forget(&mut self, now: SimTime, horizon: SimTime) {
        self.0.retain(|coming| coming.from > now || coming.told(horizon).forecast.until > now);
    }

    /// The error of the handover that changes a link at an instant.
    pub(super) fn error_of(&self, link: LinkId, at: SimTime) -> Option<i64> {
        self.0.iter().find(|coming| coming.changes(link, at)).map(|coming| coming.error)
    }

    /// The next handover between links that matter, or the one under way, as known at `now` for times up to the horizon.
    pub(super) fn next(
        &self,
        now: SimTime,
        horizon: SimTime,
        matters: impl Fn([LinkId; 2]) -> bool,
    ) -> Option<ToldHandover> {
        let known = self.0.iter().filter(|it| it.from <= horizon && matters(it.links));
        let told = known.map(|coming| coming.told(horizon));
        told.filter(|told| told.forecast.until > now)
            .min_by_key(|told| (told.forecast.from, told.forecast.until))
    }
}

impl ComingHandover {
    /// Whether it changes a link at an instant.
    fn changes(&self, link: LinkId, at: SimTime) -> bool {
        self.links.contains(&link) && [Some(self.from), self.until, self.end].contains(&Some(at))
    }

    /// Returns its forecast, with both times shifted by the error. Without a known end, it lasts up to the horizon.
    fn told(&self, horizon: SimTime) -> ToldHandover {
        let until = self.until.filter(|until| *until <= horizon);
        let [from, last] = [self.from, until.unwrap_or(horizon)].map(|at| shifted(at, self.error));
        ToldHandover { forecast: HandoverForecast { from, until: last }, ends: until.is_some() }
    }
}

/// An error of the time of a change, in nanoseconds.
pub(super) fn time_error(deviation: SimDuration, rng: &mut SimRng) -> i64 {
    (deviation.as_nanos() as f64 * rng.normal()).round() as i64
}

/// A time with its error.
pub(super) fn shifted(time: SimTime, error: i64) -> SimTime {
    SimTime::from_nanos(time.as_nanos().saturating_add_signed(error))
}
