//! A channel fitted to measurements of Starlink: delay, capacity, loss and outages that change with the slots of 15 s
//! and within them.
//!
//! [`FitSpec`] are the parameters. `Motion` draws from them: `DrawnValue` is a delay or a capacity,
//! `LossChain` the loss of a direction, `Outages` are the times at which nothing gets through. Each has a random stream
//! of its own. `over_geometry` builds the channel for a path whose propagation delay is known.

mod drawn_value;
pub mod fit;
mod loss;
mod motion;
mod outages;
mod over_geometry;

use leobench_base::spec::{Fault, TableSpec, UpTo};
use leobench_base::{BitRate, ClockSpec, Direction, Phase, RngTree, SimDuration};

use self::drawn_value::{DrawnValue, mbps, one_way};
use self::fit::{DirectionPart, FitSpec, TerminalMotion};
use self::loss::LossChain;
use self::motion::{Motion, Parts};
use self::outages::Outages;
pub use self::over_geometry::KnownGeometry;
use super::{Channel, ChannelContext, ChannelModel, Mean};

leobench_base::words! {
    /// An end of a link.
    pub enum LinkEnd {
        /// The first node of `between`.
        First = "first",
        /// The second node of `between`.
        Second = "second",
    }
}

leobench_base::spec! {
    /// A Starlink terminal as it was measured: delay, capacity, loss and outages by a fit.
    ///
    /// Each slot of 15 s draws a level of the delay and of each direction's capacity; within it they change over seconds and
    /// milliseconds. Loss changes from slot to slot. In an outage, nothing gets through: packets that wait in the queue
    /// remain there, and those that arrive are dropped, as echoes were that were sent during an outage. A fit has the parts
    /// that were measured; the scenario gives rates and a delay where they are absent. On a link through a constellation,
    /// geometry takes the place of the delay's floor, and budgets that of rates.
    pub struct StarlinkSpec
        example = r#"{"fit": "seattle-2023", "uplink_rate": "15 Mbps", "downlink_rate": "150 Mbps"}"#
        check = check
    {
        ..pub clock: ClockSpec,
        /// A fit that comes with leobench, such as `seattle-2023`, or a JSON file by `leobench fit`. `every`, `phase` and
        /// `interval` replace its slots.
        pub fit: String,
        /// Whether the terminal is parked or driving, where the fit tells these apart. Without it, capacities are those of all
        /// recordings.
        pub motion: Option<TerminalMotion>,
        /// The node of `between` that is the terminal, which sends over the uplink.
        pub terminal: LinkEnd = LinkEnd::First,
        /// How often delay and rate change; each state holds for this long.
        pub step: SimDuration = SimDuration::from_millis(10),
        /// Constant rate of the uplink, if the fit has no capacity there.
        pub uplink_rate: Option<BitRate>,
        /// Constant rate of the downlink, if the fit has no capacity there.
        pub downlink_rate: Option<BitRate>,
        /// Constant one-way delay added to the link's own, if the fit has no delay.
        pub delay: Option<SimDuration> [UpTo::DELAY],
    }
}

fn check(spec: &StarlinkSpec) -> Result<(), Fault> {
    spec.clock.check_table()?;
    if spec.step.is_zero() {
        return Err(Fault::new("step", "is zero", "a time above zero"));
    }
    let rates = [("uplink_rate", spec.uplink_rate), ("downlink_rate", spec.downlink_rate)];
    for (key, rate) in rates {
        if rate.is_some_and(BitRate::is_zero) {
            return Err(Fault::new(key, "is zero, so the link is never up", "a rate above zero"));
        }
    }
    match FitSpec::shipped(&spec.fit) {
        Some(fit) => spec.fitted(fit?).map(drop),
        None => fit::check_name(&spec.fit),
    }
}

/// A part of the channel, which either the fit or the scenario has.
struct Part {
    name: &'static str,
    key: &'static str,
    measured: bool,
    given: bool,
}

impl Part {
    /// Refuses a value of the scenario that the fit has too.
    fn check_once(&self, fit: &str) -> Result<(), Fault> {
        let Self { name, key, measured, given } = self;
        if !(*measured && *given) {
            return Ok(());
        }
        let problem = format!("is given, but the fit {fit} has a {name}");
        Err(Fault::new(*key, problem, format!("no `{key}`, or a fit without a {name}")))
    }

    /// Refuses the absence of the part from both.
    fn check_present(&self, fit: &str) -> Result<(), Fault> {
        let Self { name, key, measured, given } = self;
        if *measured || *given {
            return Ok(());
        }
        let problem = format!("is required but missing: the fit {fit} has no {name}");
        Err(Fault::new(*key, problem, format!("a `{key}`, or a fit with a {name}")))
    }
}

impl StarlinkSpec {
    /// Delay, uplink and downlink.
    fn parts(&self, fit: &FitSpec) -> [Part; 3] {
        let part = |name, key, measured, given| Part { name, key, measured, given };
        let up = (fit.uplink.capacity.is_some(), self.uplink_rate.is_some());
        let down = (fit.downlink.capacity.is_some(), self.downlink_rate.is_some());
        [
            part("delay", "delay", fit.delay.is_some(), self.delay.is_some()),
            part("capacity of the uplink", "uplink_rate", up.0, up.1),
            part("capacity of the downlink", "downlink_rate", down.0, down.1),
        ]
    }

    /// The fit, which may lack parts that the scenario lacks too.
    fn load_fit(&self, context: &ChannelContext) -> Result<FitSpec, Fault> {
        check(self)?;
        self.fitted(FitSpec::load(&self.fit, context)?)
    }

    /// A fit for the motion of the terminal, which has no part that the scenario has too.
    fn fitted(&self, fit: FitSpec) -> Result<FitSpec, Fault> {
        self.parts(&fit).iter().try_for_each(|part| part.check_once(&self.fit))?;
        match self.motion {
            Some(motion) => fit.moving(motion),
            None => Ok(fit),
        }
    }

    fn load(&self, context: &ChannelContext) -> Result<FitSpec, Fault> {
        let fit = self.load_fit(context)?;
        self.parts(&fit).iter().try_for_each(|part| part.check_present(&self.fit))?;
        Ok(fit)
    }

    /// Whether a direction is the terminal's uplink.
    fn is_uplink(&self, direction: Direction) -> bool {
        (self.terminal == LinkEnd::First) == (direction == Direction::Forward)
    }

    /// The measured part of a direction, the rate that the scenario gives, and the name of the direction.
    fn direction<'a>(
        &self,
        fit: &'a FitSpec,
        direction: Direction,
    ) -> (&'a DirectionPart, BitRate, &'static str) {
        if self.is_uplink(direction) {
            (&fit.uplink, self.uplink_rate.unwrap_or(BitRate::ZERO), "uplink")
        } else {
            (&fit.downlink, self.downlink_rate.unwrap_or(BitRate::ZERO), "downlink")
        }
    }
}

/// The slots of a fit, where the scenario gives none.
fn slots(fit: &FitSpec) -> (SimDuration, Phase) {
    let span = SimDuration::from_secs_f64;
    (span(fit.slots.every_s), Phase::Fixed(span(fit.slots.phase_s)))
}

impl StarlinkSpec {
    /// The channel of a fit at the start of a run.
    fn start(&self, fit: &FitSpec, rng: &RngTree) -> Box<dyn Channel> {
        let (every, phase) = slots(fit);
        let delay = fit.delay.as_ref().map(|part| &part.process);
        let given = self.delay.unwrap_or(SimDuration::ZERO);
        let rates = Direction::BOTH.map(|direction| {
            let (part, rate, name) = self.direction(fit, direction);
            let rng = rng.child(name).child("capacity");
            DrawnValue::new(part.capacity.as_ref(), rate, mbps, &rng)
        });
        let losses = Direction::BOTH.map(|direction| {
            let (part, _, name) = self.direction(fit, direction);
            LossChain::new(part.loss.as_ref(), &rng.child(name).child("loss"))
        });
        let parts = Parts {
            clock: self.clock.build(every, phase, &rng.child("clock")),
            delay: DrawnValue::new(delay, given, one_way, &rng.child("delay")),
            rates,
            losses,
        };
        Box::new(Motion::start(parts, self.step, |age, slot_end| {
            let occur = fit.silences().filter(|(_, spec)| spec.occur());
            occur
                .map(|(name, spec)| Outages::new(spec.clone(), age, slot_end, &rng.child(name)))
                .collect()
        }))
    }
}

impl ChannelModel for StarlinkSpec {
    fn build(&self, context: &ChannelContext) -> Result<Box<dyn Channel>, Fault> {
        let fit = self.load(context)?;
        Ok(self.start(&fit, &context.rng))
    }

    fn mean(&self, context: &ChannelContext) -> Result<Option<Mean>, Fault> {
        self.mean_of(Direction::Forward, context)
    }

    /// Outages count in full, as they do unless two overlap.
    fn mean_of(
        &self,
        direction: Direction,
        context: &ChannelContext,
    ) -> Result<Option<Mean>, Fault> {
        let fit = self.load(context)?;
        let slot = self.clock.mean_interval(slots(&fit).0);
        let silent: f64 = fit.silences().map(|(_, spec)| spec.share(slot)).sum();
        let (part, given, _) = self.direction(&fit, direction);
        let mean_bps = |process| drawn_value::mean(process, |value| mbps(value).bps() as f64);
        let bps = part.capacity.as_ref().map_or(given.bps() as f64, mean_bps);
        let mean_ns =
            |process| drawn_value::mean(process, |value| one_way(value).as_nanos() as f64);
        let delay = match &fit.delay {
            Some(part) => SimDuration::from_nanos(mean_ns(&part.process).round() as u64),
            None => self.delay.unwrap_or(SimDuration::ZERO),
        };
        Ok(Some(Mean { delay, ..Mean::at_rate(bps * (1.0 - silent).max(0.0)) }))
    }

    fn goes_down(&self, context: &ChannelContext) -> Result<bool, Fault> {
        Ok(self.load(context)?.silences().any(|(_, spec)| spec.occur()))
    }

    /// Every part of a fit is.
    fn is_random(&self) -> bool {
        true
    }
}
