//! A channel that is reconfigured again and again, as by the scheduler of a LEO constellation: a new delay, possibly a new
//! rate, possibly an outage.

use leobench_base::spec::{Fault, TableSpec};
use leobench_base::{
    BitRate, Clock, ClockSpec, DurationDistribution, Phase, RateDistribution, RngTree, SimDuration,
    SimRng, SimTime,
};

use super::on_off::Outage;
use super::timeline::Timeline;
use super::{Channel, ChannelContext, ChannelModel, ChannelState, Mean};

/// Starlink reassigns terminals every 15 s (Tanveer et al. 2023, "Making Sense of Constellations").
const EVERY: SimDuration = SimDuration::from_secs(15);
/// At the seconds 12, 27, 42 and 57 of each minute, all over the world (Tanveer et al. 2023).
const PHASE: Phase = Phase::Fixed(SimDuration::from_secs(12));

/// Label of the state between outages.
const SLOT: &str = "slot";
/// Label of the state after a reconfiguration, in which nothing is sent.
const OUTAGE: &str = "outage";

leobench_base::spec! {
    /// Reconfigurations at fixed or random times: each draws a new delay and rate, and may begin with an outage.
    ///
    /// Models how a terminal in a LEO network sees its constellation. Like Starlink, it reconfigures every 15 s, at the
    /// seconds 12, 27, 42 and 57 of a minute (Tanveer et al. 2023), unless `every`, `phase` or `interval` is given. A
    /// delay, a rate or an outage is a quantity or a distribution.
    pub struct ReconfigurationSpec
        example = r#"{"rate": "100 Mbps", "delay": {"kind": "uniform", "from": "20 ms", "to": "40 ms"}}"#
        check = check
    {
        ..pub clock: ClockSpec,
        /// Rate from one reconfiguration to the next.
        pub rate: RateDistribution,
        /// One-way delay from one reconfiguration to the next, in addition to the link's own.
        pub delay: DurationDistribution,
        /// Length of the outage at each reconfiguration. The next reconfiguration ends it, if it is still going on.
        pub outage: DurationDistribution = DurationDistribution::fixed(SimDuration::ZERO),
        /// Whether packets wait (`hold`) or those that arrive are dropped (`drop`) during an outage.
        pub during_outage: Outage = Outage::Hold,
    }
}

fn check(spec: &ReconfigurationSpec) -> Result<(), Fault> {
    spec.clock.check_table()?;
    if spec.rate.most().is_zero() {
        return Err(Fault::new("rate", "is zero, so the link is never up", "rates above zero"));
    }
    let interval = spec.clock.mean_interval(EVERY);
    if spec.outage.mean() >= interval.as_nanos() as f64 {
        let problem = format!("is as long as the time between reconfigurations, {interval}");
        let allowed = format!("outages shorter than {interval} on average");
        return Err(Fault::new("outage", problem, allowed));
    }
    Ok(())
}

impl ReconfigurationSpec {
    /// The mean time from one reconfiguration to the next.
    pub fn mean_interval(&self) -> SimDuration {
        self.clock.mean_interval(EVERY)
    }

    /// Whether every reconfiguration leaves the channel as it was.
    fn is_steady(&self) -> bool {
        self.outage.most().is_zero() && !self.rate.is_random() && !self.delay.is_random()
    }
}

impl ChannelModel for ReconfigurationSpec {
    fn build(&self, context: &ChannelContext) -> Result<Box<dyn Channel>, Fault> {
        check(self)?;
        let mut slots = Slots::new(self, &context.rng);
        if self.is_steady() {
            return Ok(Box::new(Timeline::constant(slots.draw())));
        }
        Ok(Box::new(Reconfigurations::start(slots)))
    }

    /// Outages count in full, as they do unless a reconfiguration cuts one short.
    fn mean(&self, _context: &ChannelContext) -> Result<Option<Mean>, Fault> {
        let interval = self.clock.mean_interval(EVERY).as_nanos() as f64;
        let open = 1.0 - self.outage.mean() / interval;
        let delay = SimDuration::from_nanos(self.delay.mean().round() as u64);
        Ok(Some(Mean { delay, ..Mean::at_rate(self.rate.mean() * open) }))
    }

    fn goes_down(&self, _context: &ChannelContext) -> Result<bool, Fault> {
        Ok(self.during_outage == Outage::Drop && !self.outage.most().is_zero())
    }

    fn is_random(&self) -> bool {
        if self.outage.most().is_zero() {
            return self.rate.is_random() || self.delay.is_random();
        }
        let laws = [&self.delay, &self.outage];
        self.clock.is_random() || self.rate.is_random() || laws.iter().any(|law| law.is_random())
    }
}

/// The sequence of states.
#[derive(Debug)]
struct Slots {
    clock: Clock,
    rate: (RateDistribution, SimRng),
    delay: (DurationDistribution, SimRng),
    outage: (DurationDistribution, SimRng),
    during_outage: Outage,
    /// The next reconfiguration.
    upcoming: SimTime,
    /// The end of the outage in which the sequence is, and the state after it.
    resumption: Option<(SimTime, ChannelState)>,
}

impl Slots {
    fn new(spec: &ReconfigurationSpec, rng: &RngTree) -> Self {
        let stream = |name| rng.child(name).rng();
        Self {
            clock: spec.clock.build(EVERY, PHASE, &rng.child("clock")),
            rate: (spec.rate.clone(), stream("rate")),
            delay: (spec.delay.clone(), stream("delay")),
            outage: (spec.outage.clone(), stream("outage")),
            during_outage: spec.during_outage,
            upcoming: SimTime::ZERO,
            resumption: None,
        }
    }

    /// The state of a new slot, after its outage.
    fn draw(&mut self) -> ChannelState {
        let rate = self.rate.0.draw(&mut self.rate.1);
        let delay = self.delay.0.draw(&mut self.delay.1);
        ChannelState { delay, ..ChannelState::at_rate(rate, SLOT) }
    }

    /// The state in which a slot begins at `now`, `age` after its reconfiguration.
    fn begin(&mut self, now: SimTime, age: SimDuration) -> ChannelState {
        self.upcoming = self.clock.next(now);
        let slot = self.draw();
        let outage = self.outage.0.draw(&mut self.outage.1).saturating_sub(age);
        if outage.is_zero() {
            return slot;
        }
        let silent = ChannelState {
            delay: slot.delay,
            up: self.during_outage == Outage::Hold,
            ..ChannelState::at_rate(BitRate::ZERO, OUTAGE)
        };
        self.resumption = Some((now + outage, slot)).filter(|(end, _)| *end < self.upcoming);
        silent
    }

    /// The next state, and when it begins.
    fn next(&mut self) -> (SimTime, ChannelState) {
        self.resumption.take().unwrap_or_else(|| {
            let now = self.upcoming;
            (now, self.begin(now, SimDuration::ZERO))
        })
    }
}

/// The channel: the current state and the next that differs from it.
#[derive(Debug)]
struct Reconfigurations {
    slots: Slots,
    state: ChannelState,
    next: (SimTime, ChannelState),
}

impl Reconfigurations {
    fn start(mut slots: Slots) -> Self {
        let state = slots.begin(SimTime::ZERO, slots.clock.age_at_start());
        let mut channel = Self { slots, next: (SimTime::ZERO, state.clone()), state };
        channel.find_next();
        channel
    }

    /// Skips what changes nothing, such as the same delay drawn twice from a list.
    fn find_next(&mut self) {
        while self.next.1 == self.state {
            self.next = self.slots.next();
        }
    }
}

impl Channel for Reconfigurations {
    fn state(&self) -> &ChannelState {
        &self.state
    }

    fn next_change(&self) -> Option<SimTime> {
        Some(self.next.0)
    }

    fn advance(&mut self, now: SimTime) -> &ChannelState {
        while self.next.0 <= now {
            self.state = self.next.1.clone();
            self.find_next();
        }
        &self.state
    }
}
