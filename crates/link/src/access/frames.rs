//! Frames: packets leave only at the start of a frame, and only of one that nobody else uses.

use leobench_base::spec::{Fault, TableSpec, Weight};
use leobench_base::{
    Clock, ClockSpec, DurationDistribution, Phase, RngTree, SimDuration, SimRng, SimTime,
};

use super::{AccessModel, MediumAccess};

/// Starlink reassigns terminals every 15 s (Tanveer et al. 2023, "Making Sense of Constellations").
const EVERY: SimDuration = SimDuration::from_secs(15);
/// At the seconds 12, 27, 42 and 57 of each minute (Tanveer et al. 2023).
const PHASE: Phase = Phase::Fixed(SimDuration::from_secs(12));
/// Longest mean wait; frames of satellites are milliseconds long.
const LONGEST_WAIT: SimDuration = SimDuration::from_secs(60);

const HOUR: u64 = 3_600_000_000_000;
const DAY: SimDuration = SimDuration::from_secs(86_400);

leobench_base::spec! {
    /// Packets leave only at the start of a frame; frames that others use are skipped.
    ///
    /// Each frame is used by others with the same probability, independently of all other frames: a packet that is
    /// ready at a random instant waits for the next frame, period / 2 on average, and then for a geometric number of
    /// frames, `wait` on average. All packets that are ready by then leave together, so the mean rate remains that of
    /// the link. With a random `wait`, each reassignment draws another one, at the times of `every` and `phase` or
    /// `interval`: every 15 s unless given, at the seconds 12, 27, 42 and 57 of a minute of the run.
    ///
    /// With a `correlation`, packets that follow each other meet a similar load. Packets that are ready by the same frame then wait
    /// for Q(Φ(X(t))) further frames: Q is the quantile function of the same geometric distribution, t the time at which the first
    /// of them is ready, and X a stationary Ornstein-Uhlenbeck process of variance 1 and correlation exp(-t/τ) (a Gaussian copula;
    /// Nelsen 2006, "An Introduction to Copulas", section 2.3). No packet overtakes: when the number falls by several at once, a
    /// packet leaves with the one before it. That lengthens the waits of a dense stream unless τ is far above `wait`.
    pub struct FramesSpec example = r#"{"period": "5 ms", "wait": "10 ms"}"# check = check {
        ..pub clock: ClockSpec,
        /// Time from the start of a frame to the start of the next. Starlink's downlink has 750 frames per second (Humphreys
        /// et al. 2023); the echoes measured in Seattle arrive on a grid of four of them.
        pub period: SimDuration,
        /// Start of one of the frames; `random` draws it.
        pub start: Phase = Phase::Random,
        /// Mean time to wait for frames that others use, after the next frame has begun. A distribution is sampled at
        /// each reassignment.
        pub wait: DurationDistribution = DurationDistribution::fixed(SimDuration::ZERO),
        /// Time constant τ of the frames that others use. Without it, their number is drawn independently each time.
        pub correlation: Option<SimDuration>,
        /// Factors on `wait` for each hour of the day, from midnight to one o'clock onwards.
        pub day: Option<[Weight; 24]>,
        /// Local time of day at the start of the run, from midnight.
        pub day_start: SimDuration = SimDuration::ZERO,
    }
}

fn check(spec: &FramesSpec) -> Result<(), Fault> {
    spec.clock.check_table()?;
    if spec.period.is_zero() {
        return Err(Fault::new("period", "is zero", "a time above zero"));
    }
    if spec.wait.mean() > LONGEST_WAIT.as_nanos() as f64 {
        let allowed = format!("at most {LONGEST_WAIT} on average");
        return Err(Fault::new("wait", "is too long", allowed));
    }
    if spec.correlation.is_some_and(SimDuration::is_zero) {
        return Err(Fault::new("correlation", "is zero", "a time above zero"));
    }
    if spec.day_start >= DAY {
        return Err(Fault::new("day_start", "is not a time of day", r#"a time below "24 h""#));
    }
    Ok(())
}

impl AccessModel for FramesSpec {
    fn build(&self, rng: &RngTree) -> Box<dyn MediumAccess> {
        let start = self.start.within(self.period, &rng.child("start"));
        let redraws = self.wait.is_random();
        let mut clock = redraws.then(|| self.clock.build(EVERY, PHASE, &rng.child("clock")));
        let mut waits = rng.child("wait").rng();
        let wait = self.wait.draw(&mut waits);
        let upcoming = clock.as_mut().map_or(SimTime::MAX, |clock| clock.next(SimTime::ZERO));
        Box::new(Frames {
            period: self.period,
            first: SimDuration::from_nanos(start.as_nanos() % self.period.as_nanos()),
            wait,
            reassignments: clock.map(|clock| (clock, self.wait.clone(), waits)),
            upcoming,
            day: self.day.map(|day| (day, self.day_start)),
            load: self.correlation.map(Load::new),
            turns: rng.child("turns").rng(),
            granted: None,
        })
    }

    fn is_random(&self) -> bool {
        self.start == Phase::Random || !self.wait.most().is_zero()
    }
}

struct Frames {
    period: SimDuration,
    /// Start of the first frame of the run.
    first: SimDuration,
    /// Mean wait of the present assignment.
    wait: SimDuration,
    reassignments: Option<(Clock, DurationDistribution, SimRng)>,
    /// The next reassignment.
    upcoming: SimTime,
    day: Option<([Weight; 24], SimDuration)>,
    load: Option<Load>,
    turns: SimRng,
    granted: Option<Grant>,
}

/// The frame of the last packet.
#[derive(Clone, Copy)]
struct Grant {
    start: SimTime,
    /// Packets that are ready by then take it, too.
    until: SimTime,
}

/// The load that others cause, as a standard normal number that is correlated in time.
struct Load {
    /// Correlation time, in nanoseconds.
    correlation: f64,
    /// When it was last drawn, and its value then.
    last: Option<(SimTime, f64)>,
}

impl Load {
    fn new(correlation: SimDuration) -> Self {
        Self { correlation: correlation.as_nanos() as f64, last: None }
    }

    /// Logarithm of the probability of a larger load than that at `now`.
    ///
    /// The step from the last time is exact, however long (Gillespie 1996, "Exact numerical simulation of the
    /// Ornstein-Uhlenbeck process and its integral", Physical Review E 54(2)).
    fn log_survival(&mut self, now: SimTime, rng: &mut SimRng) -> f64 {
        let drawn = rng.normal();
        let value = self.last.map_or(drawn, |(then, value)| {
            let exponent = now.saturating_since(then).as_nanos() as f64 / self.correlation;
            libm::exp(-exponent) * value + (-libm::expm1(-2.0 * exponent)).sqrt() * drawn
        });
        self.last = Some((now, value));
        libm::log(libm::erfc(value * std::f64::consts::FRAC_1_SQRT_2) / 2.0)
    }
}

impl Frames {
    /// Draws the waits of the reassignments until `now`.
    fn reassign(&mut self, now: SimTime) {
        while self.upcoming <= now {
            let Some((clock, wait, rng)) = &mut self.reassignments else { return };
            self.wait = wait.draw(rng);
            self.upcoming = clock.next(self.upcoming);
        }
    }

    /// Start of the first frame at `now` or later.
    fn next_frame(&self, now: SimTime) -> SimTime {
        let first = SimTime::ZERO + self.first;
        let passed = now.saturating_since(first).as_nanos().div_ceil(self.period.as_nanos());
        first + self.period * passed
    }

    /// Mean wait at `now`, in nanoseconds.
    fn mean_wait(&self, now: SimTime) -> f64 {
        let factor = self.day.as_ref().map_or(1.0, |(day, start)| {
            let since_midnight = now.saturating_since(SimTime::ZERO) + *start;
            day[(since_midnight.as_nanos() / HOUR % 24) as usize].get()
        });
        self.wait.as_nanos() as f64 * factor
    }

    /// Number of frames that others use before one is free: geometric, with the mean wait / period.
    fn taken(&mut self, now: SimTime) -> u64 {
        let wait = self.mean_wait(now);
        if wait == 0.0 {
            return 0;
        }
        let busy = wait / (wait + self.period.as_nanos() as f64);
        let log_survival = match &mut self.load {
            Some(load) => load.log_survival(now, &mut self.turns),
            None => libm::log1p(-self.turns.unit()),
        };
        (log_survival / libm::log(busy)) as u64
    }
}

impl MediumAccess for Frames {
    fn leaves(&mut self, ready: SimTime) -> SimTime {
        if let Some(grant) = self.granted.filter(|grant| grant.until >= ready) {
            return grant.start;
        }
        self.reassign(ready);
        let frame = self.next_frame(ready);
        let free = frame + self.period * self.taken(ready);
        let start = self.granted.map_or(free, |last| last.start.max(free));
        let until = if self.load.is_some() { frame } else { start };
        self.granted = Some(Grant { start, until });
        start
    }
}
