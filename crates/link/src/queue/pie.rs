//! `PIE`: drops at the tail with a probability that a controller of the delay sets (RFC 8033).

use leobench_base::spec::{Fault, Limit, Probability, Range, UpTo};
use leobench_base::{Bytes, Descriptor, RngTree, SimDuration, SimRng, SimTime};

use super::{
    Backlog, Capacity, Cause, Causes, Dequeued, Fates, Line, QueueDiscipline, QueueModel,
    check_limit,
};

/// Bytes over which the departure rate is measured (RFC 8033 section 5.2: 2^14).
const RATE_BYTES: Bytes = Bytes::new(1 << 14);
/// Weight of a new measurement (RFC 8033 section 5.2: the threshold over 2^16).
const RATE_WEIGHT: f64 = 0.25;
/// A backlog of no more bytes than two packets is not managed (RFC 8033 section 4.1).
const TWO_PACKETS: Bytes = Bytes::new(2 * 1_500);
/// Below it a short queue is not managed (RFC 8033 section 4.1).
const SMALL: f64 = 0.2;
/// The sum of the probabilities of the packets let through at which drops begin, and at which one is sure (RFC 8033
/// section 5.4).
const SUMS: [f64; 2] = [0.85, 8.5];
/// Share of the probability that stays in every update while the queue is idle (RFC 8033 section 4.2).
const DECAY: f64 = 0.98;
/// Largest step of a probability of at least 10 % (RFC 8033 section 5.5).
const LARGEST_STEP: f64 = 0.02;
/// Below each probability, the divisor of the steps (RFC 8033 section 4.2).
const DIVISORS: [(f64, f64); 6] =
    [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];

/// Times between two updates that make sense: a shorter one is spent on updates, a longer one controls nothing.
const LEAST_UPDATE: SimDuration = SimDuration::from_micros(100);
const MOST_UPDATE: SimDuration = SimDuration::from_secs(10);

const PIE: Cause = Cause::new("pie");

leobench_base::words! {
    /// How the delay of the queue is estimated.
    pub enum Estimate {
        /// The time that the last packet to leave had waited.
        Timestamp = "timestamp",
        /// The backlog over the measured departure rate.
        DepartureRate = "departure_rate",
    }
}

leobench_base::spec! {
    /// `PIE` (RFC 8033): drops arriving packets with a probability that a delay controller sets.
    pub struct PieSpec: Default check = check {
        /// Delay that the controller aims at (RFC 8033 section 4.2).
        pub target: SimDuration [UpTo::DELAY] = SimDuration::from_millis(15),
        /// Time between two updates of the probability, from 100 us to 10 s (RFC 8033 section 4.2).
        pub update: SimDuration [UpTo::DELAY] = SimDuration::from_millis(15),
        /// Weight of the distance from the target, per second (RFC 8033 sections 4.2 and 6).
        pub alpha: f64 [Range::above(0.0).to(1_000.0)] = 0.125,
        /// Weight of the change of the delay, per second (RFC 8033 sections 4.2 and 6).
        pub beta: f64 [Range::above(0.0).to(1_000.0)] = 1.25,
        /// Time for which a burst passes without drops after a quiet period (RFC 8033 section 4.4).
        pub burst: SimDuration [UpTo::DELAY] = SimDuration::from_millis(150),
        /// How the delay is estimated (RFC 8033 sections 4.3 and 5.2; `timestamp` is Linux's choice).
        pub estimate: Estimate = Estimate::Timestamp,
        /// Whether drops are spaced more evenly than at random (RFC 8033 section 5.4).
        pub derandomised: bool = true,
        /// Whether ECN-capable packets are marked instead of dropped (RFC 8033 section 5.1).
        pub ecn: bool = true,
        /// Drop probability above which ECN-capable packets are dropped, too (RFC 8033 section 5.1).
        pub ecn_threshold: Probability = ten_percent(),
        /// Capacity; packets that arrive when it is full are dropped (1,000 packets, Linux's `tc-pie`).
        pub limit: Limit = Limit::Packets(1_000),
    }
}

fn ten_percent() -> Probability {
    Probability::new(0.1).unwrap_or(Probability::NEVER)
}

fn check(spec: &PieSpec) -> Result<(), Fault> {
    check_limit(&spec.limit)?;
    if spec.target.is_zero() {
        return Err(Fault::new("target", "is zero", "a time above zero, such as `15 ms`"));
    }
    if !(LEAST_UPDATE..=MOST_UPDATE).contains(&spec.update) {
        let allowed = format!("from {LEAST_UPDATE} to {MOST_UPDATE}, such as `15 ms`");
        return Err(Fault::new("update", "is out of range", allowed));
    }
    Ok(())
}

impl QueueModel for PieSpec {
    fn limit(&self) -> &Limit {
        &self.limit
    }

    fn build(&self, capacity: Capacity, rng: &RngTree) -> Box<dyn QueueDiscipline> {
        Box::new(Pie {
            capacity,
            line: Line::default(),
            control: Control::new(self),
            rate: (self.estimate == Estimate::DepartureRate).then(DepartureRate::default),
            sojourn: SimDuration::ZERO,
            next_update: SimTime::ZERO + self.update,
            rng: rng.rng(),
            spec: self.clone(),
        })
    }
}

struct Pie {
    spec: PieSpec,
    capacity: Capacity,
    line: Line,
    control: Control,
    /// The measurement of the departure rate, if the estimate needs it.
    rate: Option<DepartureRate>,
    /// The sojourn time of the last packet to leave.
    sojourn: SimDuration,
    next_update: SimTime,
    rng: SimRng,
}

impl Pie {
    /// Makes the updates due up to `now`. The queue has not changed since the last call, so that they come to the same as
    /// at their own times.
    fn update(&mut self, now: SimTime) {
        while self.next_update <= now {
            self.control.update(&self.spec, self.delay());
            if self.control.is_at_rest(&self.spec) && self.line.backlog() == Backlog::default() {
                let missed = (now - self.next_update).as_nanos() / self.spec.update.as_nanos();
                self.next_update += self.spec.update * missed;
            }
            self.next_update += self.spec.update;
        }
    }

    /// The present delay (sections 4.3 and 5.2).
    fn delay(&self) -> SimDuration {
        let Backlog { packets, bytes } = self.line.backlog();
        match &self.rate {
            _ if packets == 0 => SimDuration::ZERO,
            Some(rate) => rate.time_for(bytes),
            None => self.sojourn,
        }
    }

    /// Whether a packet that arrives is to be dropped early (section 4.1).
    fn drops(&mut self) -> bool {
        let short = self.line.backlog().bytes <= TWO_PACKETS;
        if short || self.control.is_calm(&self.spec) {
            return false;
        }
        let (control, rng) = (&mut self.control, &mut self.rng);
        if self.spec.derandomised {
            control.decide(|p| rng.bernoulli(p))
        } else {
            rng.bernoulli(control.probability)
        }
    }
}

impl QueueDiscipline for Pie {
    fn enqueue(&mut self, now: SimTime, packet: Descriptor, fates: &mut Fates) {
        self.update(now);
        if !self.capacity.fits(self.line.backlog(), packet.meta.size) {
            return fates.drop(packet, Cause::QUEUE);
        }
        let mut next = Some(packet);
        if self.drops() {
            let marks = self.spec.ecn && self.control.probability <= self.spec.ecn_threshold.get();
            next = next.and_then(|packet| {
                if marks {
                    return fates.mark_or_drop(packet, PIE);
                }
                fates.drop(packet, PIE);
                None
            });
        }
        if let Some(packet) = next {
            self.line.push(packet);
        }
    }

    fn dequeue(&mut self, now: SimTime, _fates: &mut Fates) -> Dequeued {
        self.update(now);
        let waiting = self.line.backlog().bytes;
        let Some(packet) = self.line.pop() else { return Dequeued::Empty };
        self.sojourn = now - packet.meta.arrival;
        if let Some(rate) = &mut self.rate {
            rate.on_departure(now, packet.meta.size, waiting);
        }
        Dequeued::Packet(packet)
    }

    fn backlog(&self) -> Backlog {
        self.line.backlog()
    }

    fn flush(&mut self, _now: SimTime, out: &mut Vec<Descriptor>) {
        self.line.flush(out);
        if let Some(rate) = &mut self.rate {
            *rate = DepartureRate::default();
        }
    }

    fn withdraw(
        &mut self,
        _now: SimTime,
        leaves: &dyn Fn(&Descriptor) -> bool,
        out: &mut Vec<Descriptor>,
    ) {
        self.line.withdraw(leaves, out);
    }

    fn causes(&self) -> Causes {
        Causes { drops: vec![PIE], marks: if self.spec.ecn { vec![PIE] } else { Vec::new() } }
    }
}

/// The controller: the drop probability and the burst allowance.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Control {
    /// Probability of a drop.
    pub probability: f64,
    /// Delay at the last update.
    pub delay: SimDuration,
    /// For how long packets pass whatever the probability.
    pub burst: SimDuration,
    /// Sum of the probabilities of the packets let through since the last drop.
    pub sum: f64,
}

impl Control {
    pub fn new(spec: &PieSpec) -> Self {
        Self { probability: 0.0, delay: SimDuration::ZERO, burst: spec.burst, sum: 0.0 }
    }

    /// The update of every `update` (sections 4.2, 4.4 and 5.5).
    pub fn update(&mut self, spec: &PieSpec, delay: SimDuration) {
        let (now, old, target) =
            (delay.as_secs_f64(), self.delay.as_secs_f64(), spec.target.as_secs_f64());
        let mut step = spec.alpha * (now - target) + spec.beta * (now - old);
        let divisor = DIVISORS.iter().find(|(below, _)| self.probability < *below);
        step /= divisor.map_or(1.0, |(_, divisor)| *divisor);
        if self.probability >= 0.1 {
            step = step.min(LARGEST_STEP);
        }
        self.probability += step;
        if delay.is_zero() && self.delay.is_zero() {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        let calm = |delay: SimDuration| delay * 2 < spec.target;
        self.burst = if self.probability == 0.0 && calm(delay) && calm(self.delay) {
            spec.burst
        } else {
            self.burst.saturating_sub(spec.update)
        };
        self.delay = delay;
    }

    /// Whether nothing is dropped early now: a burst passes, or the delay was short at the last update (sections 4.1 and
    /// 4.4).
    fn is_calm(&self, spec: &PieSpec) -> bool {
        !self.burst.is_zero() || self.delay * 2 < spec.target && self.probability < SMALL
    }

    /// Whether further updates with an empty queue change nothing.
    fn is_at_rest(&self, spec: &PieSpec) -> bool {
        self.probability == 0.0 && self.delay.is_zero() && self.burst == spec.burst
    }

    /// Whether a packet is dropped, which `draw` decides by its probability while the sum of those let through is neither
    /// small nor large (section 5.4).
    pub fn decide(&mut self, draw: impl FnOnce(f64) -> bool) -> bool {
        if self.probability == 0.0 {
            self.sum = 0.0;
        }
        self.sum += self.probability;
        let [first, last] = SUMS;
        let drops = self.sum >= first && (self.sum >= last || draw(self.probability));
        if drops {
            self.sum = 0.0;
        }
        drops
    }
}

/// The measured departure rate (section 5.2), as the mean time in which a number of bytes leaves.
#[derive(Debug, Default)]
pub(super) struct DepartureRate {
    /// Bytes that left since the start of the measurement.
    measured: Option<(SimTime, Bytes)>,
    /// Mean time in seconds in which [`RATE_BYTES`] leave; `None` before the first measurement.
    mean: Option<f64>,
}

impl DepartureRate {
    /// A packet of `size` leaves a queue in which `waiting` bytes waited with it. Measures only while there is enough to
    /// be sure that the queue does not run empty.
    pub fn on_departure(&mut self, now: SimTime, size: Bytes, waiting: Bytes) {
        if self.measured.is_none() && waiting >= RATE_BYTES {
            // Its own departure starts the clock; the bytes behind it count.
            self.measured = Some((now, Bytes::ZERO));
            return;
        }
        let Some((start, bytes)) = &mut self.measured else { return };
        *bytes += size;
        if *bytes < RATE_BYTES {
            return;
        }
        let took = (now - *start).as_secs_f64() * RATE_BYTES.get() as f64 / bytes.get() as f64;
        let mean = self.mean.map_or(took, |mean| took * RATE_WEIGHT + mean * (1.0 - RATE_WEIGHT));
        self.mean = Some(mean);
        self.measured = (waiting - size >= RATE_BYTES).then_some((now, Bytes::ZERO));
    }

    /// The time in which this many bytes leave; zero before the first measurement.
    pub fn time_for(&self, bytes: Bytes) -> SimDuration {
        let mean = self.mean.unwrap_or(0.0);
        SimDuration::from_secs_f64(mean * bytes.get() as f64 / RATE_BYTES.get() as f64)
    }
}
