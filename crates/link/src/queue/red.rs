//! `RED`: random early detection by the average length of the queue.
//!
//! Floyd and Jacobson, "Random early detection gateways for congestion avoidance", IEEE/ACM Transactions on Networking
//! 1(4), 1993; with the gentle region of Floyd, "Recommendation on using the gentle variant of RED", 2000.

use leobench_base::spec::{Fault, Length, Limit, Range};
use leobench_base::{Descriptor, RngTree, SimDuration, SimRng, SimTime};

use super::{
    Backlog, Capacity, Cause, Causes, Dequeued, Fates, Line, QueueDiscipline, QueueModel,
    check_limit,
};

/// Early drops and marks, at random.
const RED: Cause = Cause::new("red");
/// Drops because the average is too long for chance.
const FORCED: Cause = Cause::new("red_forced");

leobench_base::spec! {
    /// `RED` (Floyd and Jacobson 1993): drops arriving packets at random, depending on the average length of the queue.
    pub struct RedSpec: Default check = check {
        /// Average length from which packets are dropped, in packets or bytes (Floyd and Jacobson 1993, section 8).
        pub min_threshold: Length = Length::packets(5),
        /// Average length at which the probability reaches `max_probability` (Floyd and Jacobson 1993, section 8).
        pub max_threshold: Length = Length::packets(15),
        /// Probability of a drop at the upper threshold (Floyd and Jacobson 1993, section 8: 1/50).
        pub max_probability: f64 [Range::above(0.0).to(1.0)] = 0.02,
        /// Weight of the present length in the average (Floyd and Jacobson 1993, section 6).
        pub weight: f64 [Range::above(0.0).to(1.0)] = 0.002,
        /// Whether the probability grows from `max_probability` to 1 up to twice the upper threshold (Floyd 2000), instead
        /// of jumping.
        pub gentle: bool = true,
        /// Time a packet takes to send, by which the average falls while the queue is empty; measured unless given.
        pub packet_time: Option<SimDuration>,
        /// Whether ECN-capable packets are marked instead of dropped at random (Floyd and Jacobson 1993, section 7).
        pub ecn: bool = true,
        /// Capacity; packets that arrive when it is full are dropped.
        pub limit: Limit = Limit::Packets(1_000),
    }
}

fn check(spec: &RedSpec) -> Result<(), Fault> {
    check_limit(&spec.limit)?;
    let fault = |field, problem: &str, allowed: &str| Err(Fault::new(field, problem, allowed));
    let (least, most) = match (spec.min_threshold.limit(), spec.max_threshold.limit()) {
        (Limit::Packets(least), Limit::Packets(most)) => (*least, *most),
        (Limit::Bytes(least), Limit::Bytes(most)) => (least.get(), most.get()),
        _ => {
            return fault(
                "max_threshold",
                "has another unit than `min_threshold`",
                "both thresholds in packets, or both in bytes",
            );
        }
    };
    if least == 0 {
        return fault("min_threshold", "is zero", "a length above zero");
    }
    if least >= most {
        return fault(
            "min_threshold",
            "is not below `max_threshold`",
            "a lower threshold, such as a third of it",
        );
    }
    if spec.packet_time.is_some_and(SimDuration::is_zero) {
        return fault("packet_time", "is zero", "a time above zero");
    }
    Ok(())
}

impl QueueModel for RedSpec {
    fn limit(&self) -> &Limit {
        &self.limit
    }

    fn build(&self, capacity: Capacity, rng: &RngTree) -> Box<dyn QueueDiscipline> {
        Box::new(Red {
            capacity,
            line: Line::default(),
            in_bytes: matches!(self.min_threshold.limit(), Limit::Bytes(_)),
            ecn: self.ecn,
            average: Average::new(self.weight),
            decision: Decision::new(self),
            empty_since: Some(SimTime::ZERO),
            packet_time: self.packet_time,
            measured: SimDuration::ZERO,
            last_departure: None,
            rng: rng.rng(),
        })
    }
}

/// A length in packets or bytes.
fn length(limit: &Limit) -> f64 {
    match limit {
        Limit::Packets(packets) => *packets as f64,
        Limit::Bytes(bytes) => bytes.get() as f64,
        Limit::Unlimited | Limit::Carried { .. } => f64::INFINITY,
    }
}

struct Red {
    capacity: Capacity,
    line: Line,
    in_bytes: bool,
    ecn: bool,
    average: Average,
    decision: Decision,
    /// Since when the queue is empty, if it is.
    empty_since: Option<SimTime>,
    packet_time: Option<SimDuration>,
    /// Time between the last two departures without a pause.
    measured: SimDuration,
    /// The last departure, if another packet waited then.
    last_departure: Option<SimTime>,
    rng: SimRng,
}

impl Red {
    /// Takes the present length into the average (section 4, figure 2).
    fn observe(&mut self, now: SimTime) {
        let Backlog { packets, bytes } = self.line.backlog();
        match self.empty_since {
            Some(since) => {
                let time = self.packet_time.unwrap_or(self.measured).as_secs_f64();
                let idle = (now - since).as_secs_f64();
                // Before the first measurement the average is zero anyway.
                self.average.idle(if time > 0.0 { idle / time } else { 0.0 });
                self.empty_since = Some(now);
            }
            None => self.average.add(if self.in_bytes { bytes.get() } else { packets } as f64),
        }
    }
}

impl QueueDiscipline for Red {
    fn enqueue(&mut self, now: SimTime, packet: Descriptor, fates: &mut Fates) {
        self.observe(now);
        if !self.capacity.fits(self.line.backlog(), packet.meta.size) {
            return fates.drop(packet, Cause::QUEUE);
        }
        let rng = &mut self.rng;
        let outcome = self.decision.decide(self.average.length, |p| rng.bernoulli(p));
        let next = match outcome {
            Outcome::Pass => Some(packet),
            Outcome::Early if self.ecn => fates.mark_or_drop(packet, RED),
            Outcome::Early => {
                fates.drop(packet, RED);
                None
            }
            Outcome::Forced => {
                fates.drop(packet, FORCED);
                None
            }
        };
        if let Some(packet) = next {
            self.line.push(packet);
            self.empty_since = None;
        }
    }

    fn dequeue(&mut self, now: SimTime, _fates: &mut Fates) -> Dequeued {
        let Some(packet) = self.line.pop() else { return Dequeued::Empty };
        if let Some(last) = self.last_departure {
            self.measured = now - last;
        }
        let left = self.line.backlog().packets > 0;
        self.last_departure = left.then_some(now);
        if !left {
            self.empty_since = Some(now);
        }
        Dequeued::Packet(packet)
    }

    fn backlog(&self) -> Backlog {
        self.line.backlog()
    }

    fn flush(&mut self, now: SimTime, out: &mut Vec<Descriptor>) {
        self.line.flush(out);
        self.empty_since = self.empty_since.or(Some(now));
        self.last_departure = None;
    }

    fn withdraw(
        &mut self,
        now: SimTime,
        leaves: &dyn Fn(&Descriptor) -> bool,
        out: &mut Vec<Descriptor>,
    ) {
        self.line.withdraw(leaves, out);
        if self.line.is_empty() {
            self.empty_since = self.empty_since.or(Some(now));
            self.last_departure = None;
        }
    }

    fn causes(&self) -> Causes {
        Causes { drops: vec![RED, FORCED], marks: if self.ecn { vec![RED] } else { Vec::new() } }
    }
}

/// The exponentially weighted moving average of the queue's length.
#[derive(Clone, Debug)]
pub(super) struct Average {
    weight: f64,
    pub length: f64,
}

impl Average {
    pub fn new(weight: f64) -> Self {
        Self { weight, length: 0.0 }
    }

    /// Takes in the length that a packet finds (section 6).
    pub fn add(&mut self, length: f64) {
        self.length += self.weight * (length - self.length);
    }

    /// Takes in an empty queue, in which this many packets could have been sent (section 6, equation 1 at length 0).
    pub fn idle(&mut self, packets: f64) {
        self.length *= libm::pow(1.0 - self.weight, packets);
    }
}

/// The decision on an arriving packet: to pass it, to mark or drop it early, or to drop it in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Pass,
    Early,
    Forced,
}

/// The random decision, spread evenly (section 7).
#[derive(Clone, Debug)]
pub(super) struct Decision {
    thresholds: [f64; 2],
    max_probability: f64,
    gentle: bool,
    /// Packets let through since the last drop, while the average is above the lower threshold.
    count: f64,
}

impl Decision {
    pub fn new(spec: &RedSpec) -> Self {
        Self {
            thresholds: [length(spec.min_threshold.limit()), length(spec.max_threshold.limit())],
            max_probability: spec.max_probability,
            gentle: spec.gentle,
            count: 0.0,
        }
    }

    /// The probability `p_b` at an average length; `None` if a drop is certain.
    pub fn probability(&self, average: f64) -> Option<f64> {
        let [least, most] = self.thresholds;
        let max = self.max_probability;
        if average < least {
            Some(0.0)
        } else if average < most {
            Some(max * (average - least) / (most - least))
        } else if self.gentle && average < 2.0 * most {
            Some(max + (1.0 - max) * (average - most) / most)
        } else {
            None
        }
    }

    /// Decides over a packet at an average length; `draw` is true with the probability it is given.
    ///
    /// With a constant `p_b`, the gap between two drops is uniform over 1 to 1/`p_b`: `p_a = p_b / (1 - count p_b)` with
    /// the count of the packets let through since the last one. (Figure 2 of the paper counts the packet itself too after a
    /// drop, by which the largest gap is one less than section 7 derives.)
    pub fn decide(&mut self, average: f64, draw: impl FnOnce(f64) -> bool) -> Outcome {
        let Some(probability) = self.probability(average) else {
            self.count = 0.0;
            return Outcome::Forced;
        };
        if probability == 0.0 {
            self.count = 0.0;
            return Outcome::Pass;
        }
        let left = 1.0 - self.count * probability;
        if probability >= left || draw(probability / left) {
            self.count = 0.0;
            return Outcome::Early;
        }
        self.count += 1.0;
        Outcome::Pass
    }
}
