//! `CoDel`: controlled delay (RFC 8289).

use leobench_base::spec::{Fault, Limit, UpTo};
use leobench_base::{Bytes, Descriptor, RngTree, SimDuration, SimTime};

use super::{
    Backlog, Capacity, Cause, Causes, Dequeued, Fates, Line, QueueDiscipline, QueueModel,
    check_limit,
};

/// Setpoint of the delay (RFC 8289 section 4.3).
pub(super) const TARGET: SimDuration = SimDuration::from_millis(5);
/// Width of the window in which the delay must fall below the target once (RFC 8289 section 4.2).
pub(super) const INTERVAL: SimDuration = SimDuration::from_millis(100);
/// A queue of no more bytes than the largest packet is never managed; this is the least (RFC 8289 section 5.3).
const MAX_PACKET: Bytes = Bytes::new(512);
/// Intervals within which the last dropping rate is taken up again (RFC 8289 section 5.5).
const RECENT_INTERVALS: u64 = 16;

/// Drops and marks of `CoDel`.
pub(super) const CODEL: Cause = Cause::new("codel");

leobench_base::spec! {
    /// `CoDel` (RFC 8289): drops at the head when the delay stays above a target for an interval.
    pub struct CodelSpec: Default check = check {
        /// Delay that may stand in the queue (RFC 8289 section 4.3).
        pub target: SimDuration [UpTo::DELAY] = TARGET,
        /// Time within which the delay must fall below the target, about the longest round trip (RFC 8289 section 4.2).
        pub interval: SimDuration [UpTo::DELAY] = INTERVAL,
        /// Whether ECN-capable packets are marked instead of dropped (RFC 8289 section 1).
        pub ecn: bool = true,
        /// Capacity; packets that arrive when it is full are dropped (1,000 packets, Linux's `tc-codel`).
        pub limit: Limit = Limit::Packets(1_000),
    }
}

fn check(spec: &CodelSpec) -> Result<(), Fault> {
    check_limit(&spec.limit)?;
    check_times(spec.target, spec.interval)
}

/// Refuses a target and an interval that make no sense together.
pub(super) fn check_times(target: SimDuration, interval: SimDuration) -> Result<(), Fault> {
    let fault = |field, problem: String, allowed: String| Err(Fault::new(field, problem, allowed));
    if interval.is_zero() {
        return fault("interval", "is zero".into(), "a time above zero, such as `100 ms`".into());
    }
    if target.is_zero() {
        return fault("target", "is zero".into(), "a time above zero, such as `5 ms`".into());
    }
    if target >= interval {
        let problem = format!("is not below the interval, {interval}");
        return fault("target", problem, "5 to 10 % of the interval (RFC 8289 section 4.5)".into());
    }
    Ok(())
}

impl QueueModel for CodelSpec {
    fn limit(&self) -> &Limit {
        &self.limit
    }

    fn build(&self, capacity: Capacity, _rng: &RngTree) -> Box<dyn QueueDiscipline> {
        Box::new(Codel {
            capacity,
            line: Line::default(),
            control: Control::default(),
            settings: Settings { target: self.target, interval: self.interval, ecn: self.ecn },
            largest: MAX_PACKET,
        })
    }
}

/// A FIFO under `CoDel`.
#[derive(Debug)]
struct Codel {
    capacity: Capacity,
    line: Line,
    control: Control,
    settings: Settings,
    largest: Bytes,
}

impl QueueDiscipline for Codel {
    fn enqueue(&mut self, _now: SimTime, packet: Descriptor, fates: &mut Fates) {
        if self.capacity.fits(self.line.backlog(), packet.meta.size) {
            self.largest = self.largest.max(packet.meta.size);
            self.line.push(packet);
        } else {
            fates.drop(packet, Cause::QUEUE);
        }
    }

    fn dequeue(&mut self, now: SimTime, fates: &mut Fates) -> Dequeued {
        let next = self.control.dequeue(now, &self.settings, self.largest, &mut self.line, fates);
        next.map_or(Dequeued::Empty, Dequeued::Packet)
    }

    fn backlog(&self) -> Backlog {
        self.line.backlog()
    }

    fn flush(&mut self, _now: SimTime, out: &mut Vec<Descriptor>) {
        self.line.flush(out);
        self.control = Control::default();
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
        let marks = if self.settings.ecn { vec![CODEL] } else { Vec::new() };
        Causes { drops: vec![CODEL], marks }
    }
}

/// The parameters of [`Control`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub target: SimDuration,
    pub interval: SimDuration,
    pub ecn: bool,
}

/// The state machine of RFC 8289 section 5, for one line of packets.
#[derive(Debug, Default)]
pub(super) struct Control {
    /// When the delay will have been above the target for an interval; `None` while it is below.
    first_above: Option<SimTime>,
    drop_next: SimTime,
    /// Drops since the dropping state was entered, which the rate of drops grows with.
    count: u32,
    /// `count` when it was entered.
    last_count: u32,
    dropping: bool,
}

impl Control {
    /// The next packet of `line`; others are dropped on the way, or this one is marked (section 5.5). A line of no more
    /// bytes than a packet of the `largest` size is left alone.
    pub fn dequeue(
        &mut self,
        now: SimTime,
        settings: &Settings,
        largest: Bytes,
        line: &mut Line,
        fates: &mut Fates,
    ) -> Option<Descriptor> {
        let (mut next, mut may_drop) = self.pop(now, settings, largest, line);
        if self.dropping {
            self.dropping = may_drop;
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                let Some(packet) = next.and_then(|packet| refuse(packet, settings.ecn, fates))
                else {
                    (next, may_drop) = self.pop(now, settings, largest, line);
                    self.dropping = may_drop;
                    if may_drop {
                        self.drop_next = later(self.drop_next, settings.interval, self.count);
                    }
                    continue;
                };
                // A packet that was marked goes out.
                self.drop_next = later(self.drop_next, settings.interval, self.count);
                return Some(packet);
            }
        } else if may_drop {
            next = match next.and_then(|packet| refuse(packet, settings.ecn, fates)) {
                Some(marked) => Some(marked),
                None => self.pop(now, settings, largest, line).0,
            };
            self.start(now, settings.interval);
        }
        next
    }

    /// Enters the dropping state. If the last one ended not long ago, its rate of drops is a good start.
    fn start(&mut self, now: SimTime, interval: SimDuration) {
        self.dropping = true;
        let recent = now.saturating_since(self.drop_next) < interval * RECENT_INTERVALS;
        let delta = self.count - self.last_count;
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.drop_next = later(now, interval, self.count);
        self.last_count = self.count;
    }

    /// The first packet, and whether it may be dropped because the delay was above the target for an interval
    /// (section 5.6).
    fn pop(
        &mut self,
        now: SimTime,
        settings: &Settings,
        largest: Bytes,
        line: &mut Line,
    ) -> (Option<Descriptor>, bool) {
        let Some(packet) = line.pop() else {
            self.first_above = None;
            return (None, false);
        };
        if now - packet.meta.arrival < settings.target || line.backlog().bytes <= largest {
            self.first_above = None;
            return (Some(packet), false);
        }
        let first_above = *self.first_above.get_or_insert(now + settings.interval);
        (Some(packet), now >= first_above)
    }
}

/// Marks a packet and hands it back, or drops it.
fn refuse(packet: Descriptor, ecn: bool, fates: &mut Fates) -> Option<Descriptor> {
    if ecn {
        return fates.mark_or_drop(packet, CODEL);
    }
    fates.drop(packet, CODEL);
    None
}

/// The control law: the next drop is interval / sqrt(count) later (RFC 8289 section 5.6).
fn later(from: SimTime, interval: SimDuration, count: u32) -> SimTime {
    from + interval * (1.0 / f64::from(count).sqrt())
}
