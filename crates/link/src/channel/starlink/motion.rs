//! The states of a fitted channel, one after the other.

use std::borrow::Cow;

use leobench_base::{BitRate, Clock, Direction, SimDuration, SimTime};

use super::super::{Channel, ChannelState, Service};
use super::drawn_value::DrawnValue;
use super::loss::LossChain;
use super::outages::Outages;
use crate::process::Elapsed;

/// Label of the state between outages.
const SLOT: &str = "slot";
/// Label of the state in which nothing gets through.
const OUTAGE: &str = "outage";
/// Instants without a change that are skipped in a row; a fit whose parts are all constant has no others.
const MOST_SKIPPED: u32 = 1_000;

/// The state of each direction, forward first.
type States = [ChannelState; 2];

/// The parts of a channel but for its outages; those of one direction come forward first.
#[derive(Debug)]
pub(super) struct Parts {
    pub clock: Clock,
    pub delay: DrawnValue<SimDuration>,
    pub rates: [DrawnValue<BitRate>; 2],
    pub losses: [LossChain; 2],
}

impl Parts {
    /// The present values.
    fn values(&self) -> Values {
        Values {
            delay: self.delay.value(),
            rates: [self.rates[0].value(), self.rates[1].value()],
            losses: [self.losses[0].probability(), self.losses[1].probability()],
        }
    }

    fn advance(&mut self, elapsed: Elapsed) {
        self.delay.advance(elapsed);
        for rate in &mut self.rates {
            rate.advance(elapsed);
        }
        for loss in self.losses.iter_mut().filter(|_| elapsed.slots > 0) {
            loss.next_slot();
        }
    }
}

/// The values of the parts at an instant; those of one direction come forward first.
#[derive(Clone, Copy, Debug)]
struct Values {
    delay: SimDuration,
    rates: [BitRate; 2],
    losses: [f64; 2],
}

impl Values {
    /// The states without an outage.
    fn states(&self) -> States {
        std::array::from_fn(|direction| ChannelState {
            delay: self.delay,
            loss: self.losses[direction],
            ..ChannelState::at_rate(self.rates[direction], SLOT)
        })
    }
}

/// The sequence of states.
#[derive(Debug)]
struct Sequence {
    parts: Parts,
    /// The values of the parts, which outages leave alone.
    open: Values,
    outages: Vec<Outages>,
    step: SimDuration,
    next_step: SimTime,
    slot_end: SimTime,
    /// The time of the parts.
    parts_at: SimTime,
    now: SimTime,
}

impl Sequence {
    /// The next instant at which anything may change, and the states from there.
    fn next(&mut self) -> (SimTime, States) {
        let parts = self.next_step.min(self.slot_end);
        let outage = self.outages.iter().map(|outages| outages.next_change(self.now)).min();
        self.now = outage.map_or(parts, |at| at.min(parts));
        if self.now == parts {
            self.go_on();
        }
        for outages in &mut self.outages {
            outages.advance(self.now);
        }
        (self.now, self.states())
    }

    /// Moves the parts to the step or slot that is due.
    fn go_on(&mut self) {
        let slot_begins = self.slot_end == self.now;
        let elapsed = Elapsed {
            seconds: (self.now - self.parts_at).as_secs_f64(),
            slots: u32::from(slot_begins),
        };
        self.parts_at = self.now;
        if self.next_step == self.now {
            self.next_step += self.step;
        }
        if slot_begins {
            self.slot_end = self.parts.clock.next(self.now);
            for outages in &mut self.outages {
                outages.begin_slot(self.now, self.slot_end);
            }
        }
        self.parts.advance(elapsed);
        self.open = self.parts.values();
    }

    fn states(&self) -> States {
        if !self.outages.iter().any(|outages| outages.go_on(self.now)) {
            return self.open.states();
        }
        std::array::from_fn(|_| ChannelState {
            service: Service::Rate(BitRate::ZERO),
            delay: self.open.delay,
            // A packet whose transmission is under way is lost when it ends.
            loss: 1.0,
            up: false,
            has_way: true,
            label: Cow::Borrowed(OUTAGE),
        })
    }
}

/// The channel: the current states and the next that differ from them.
#[derive(Debug)]
pub(super) struct Motion {
    sequence: Sequence,
    states: States,
    next: (SimTime, States),
}

impl Motion {
    /// The channel at the start of a run; `outages` gets the age of the slot there, and its end, and returns each kind.
    pub fn start(
        mut parts: Parts,
        step: SimDuration,
        outages: impl FnOnce(SimDuration, SimTime) -> Vec<Outages>,
    ) -> Self {
        let slot_end = parts.clock.next(SimTime::ZERO);
        let moves = parts.delay.moves() || parts.rates.iter().any(DrawnValue::moves);
        let sequence = Sequence {
            open: parts.values(),
            outages: outages(parts.clock.age_at_start(), slot_end),
            step,
            next_step: if moves { SimTime::ZERO + step } else { SimTime::MAX },
            slot_end,
            parts_at: SimTime::ZERO,
            now: SimTime::ZERO,
            parts,
        };
        let states = sequence.states();
        let mut channel = Self { sequence, next: (SimTime::ZERO, states.clone()), states };
        channel.find_next();
        channel
    }

    /// Skips what changes nothing, such as a step within an outage.
    fn find_next(&mut self) {
        for _ in 0..MOST_SKIPPED {
            self.next = self.sequence.next();
            if self.next.1 != self.states {
                break;
            }
        }
    }
}

impl Channel for Motion {
    fn state(&self) -> &ChannelState {
        &self.states[Direction::Forward as usize]
    }

    fn state_of(&self, direction: Direction) -> &ChannelState {
        &self.states[direction as usize]
    }

    fn next_change(&self) -> Option<SimTime> {
        Some(self.next.0)
    }

    fn advance(&mut self, now: SimTime) -> &ChannelState {
        while self.next.0 <= now {
            std::mem::swap(&mut self.states, &mut self.next.1);
            self.find_next();
        }
        self.state()
    }
}
