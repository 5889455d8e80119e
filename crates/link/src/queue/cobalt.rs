//! COBALT: `CoDel` with a faster way back, and BLUE for flows that do not respond.
//!
//! Høiland-Jørgensen, Täht and Morton, "Piece of CAKE: a comprehensive queue management solution for home gateways",
//! LANMAN 2018, section III-C; Feng et al., "The BLUE active queue management algorithms", IEEE/ACM Transactions on
//! Networking 10(4), 2002.

use leobench_base::{Descriptor, SimDuration, SimRng, SimTime};

use super::{Cause, Fates};

/// Drops and marks of `CoDel`.
pub(super) const CODEL: Cause = Cause::new("codel");
/// Drops of BLUE.
pub(super) const BLUE: Cause = Cause::new("blue");

/// Step of BLUE's probability when the queue overflows (2^-8), and when it runs empty (2^-12).
const STEPS: [f64; 2] = [1.0 / 256.0, 1.0 / 4096.0];

/// The parameters of [`Cobalt`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub target: SimDuration,
    pub interval: SimDuration,
    /// Time that a full packet takes at the shaper's rate; zero without one.
    pub packet_time: SimDuration,
    pub ecn: bool,
}

/// The state of a flow.
#[derive(Debug, Default)]
pub(super) struct Cobalt {
    count: u32,
    dropping: bool,
    /// The next drop; without any count, until when the state is kept.
    drop_next: SimTime,
    /// BLUE's probability.
    pub probability: f64,
    /// When it changed last.
    changed: SimTime,
}

impl Cobalt {
    /// The queue overflowed: BLUE drops more, and `CoDel` at once.
    pub fn on_full(&mut self, now: SimTime, settings: &Settings) {
        if now.saturating_since(self.changed) > settings.target {
            self.probability = (self.probability + STEPS[0]).min(1.0);
            self.changed = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// The queue ran empty: BLUE drops less, and `CoDel`'s rate falls.
    pub fn on_empty(&mut self, now: SimTime, settings: &Settings) {
        if self.probability > 0.0 && now.saturating_since(self.changed) > settings.target {
            self.probability = (self.probability - STEPS[1]).max(0.0);
            self.changed = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.drop_next = self.later(settings.interval);
        }
    }

    /// Whether an empty queue needs its state no more.
    pub fn is_at_rest(&self, now: SimTime) -> bool {
        self.probability == 0.0 && self.count == 0 && now >= self.drop_next
    }

    /// Decides over the first packet of a queue: hands it back, marked or not, or drops it. The `last` one of a queue
    /// goes out.
    pub fn decide(
        &mut self,
        now: SimTime,
        settings: &Settings,
        mut packet: Descriptor,
        last: bool,
        rng: &mut SimRng,
        fates: &mut Fates,
    ) -> Option<Descriptor> {
        let sojourn = now - packet.meta.arrival;
        let over = sojourn > settings.target && sojourn > settings.packet_time * 4;
        if over {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = now + settings.interval * inverse_root(self.count.max(1));
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let mut cause = None;
        if self.dropping && now >= self.drop_next {
            let marked = settings.ecn && fates.mark(&mut packet, CODEL);
            cause = (!marked).then_some(CODEL);
            self.count = self.count.saturating_add(1);
            self.drop_next = self.later(settings.interval);
        } else {
            while self.count > 0 && now >= self.drop_next {
                self.count -= 1;
                self.drop_next = self.later(settings.interval);
            }
        }
        if self.probability > 0.0 && rng.bernoulli(self.probability) {
            cause = cause.or(Some(BLUE));
        }
        if self.count == 0 {
            self.drop_next = now + settings.interval;
        } else if now > self.drop_next && cause.is_none() {
            self.drop_next = now;
        }
        match cause {
            Some(cause) if !last => {
                fates.drop(packet, cause);
                None
            }
            _ => Some(packet),
        }
    }

    fn later(&self, interval: SimDuration) -> SimTime {
        self.drop_next + interval * inverse_root(self.count.max(1))
    }
}

fn inverse_root(count: u32) -> f64 {
    1.0 / f64::from(count).sqrt()
}
