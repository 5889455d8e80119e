//! The transmitter, which puts packets on the wire: at a rate, or at the delivery opportunities of a trace.

use std::sync::Arc;

use leobench_base::{BitRate, Bytes, SimTime};

use crate::channel::trace::{Cursor, Opportunities};
use crate::channel::{ChannelState, Service};

/// Serves one packet at a time, and accounts for what the channel offered.
#[derive(Debug)]
pub(crate) struct Transmitter {
    mode: Mode,
    up: bool,
    scale: f64,
    /// Capacity offered before `since`, in bits times nanoseconds per second.
    offered: u128,
    /// Start of the present service.
    since: SimTime,
}

#[derive(Debug)]
enum Mode {
    Rate {
        rate: BitRate,
        /// Remainder of back-to-back packets (see [`BitRate::serialise`]).
        carry: u64,
    },
    Trace {
        trace: Arc<Opportunities>,
        cursor: Cursor,
        /// Bytes of one opportunity, scaled.
        opportunity: Bytes,
        /// Opportunities before the present service began.
        before: u64,
    },
}

/// Bits, in the unit that rates times nanoseconds come in.
const BIT: u128 = 1_000_000_000;

impl Transmitter {
    /// A transmitter at the start of a run, on a channel whose rates are multiplied by `scale`.
    pub fn new(state: &ChannelState, scale: f64) -> Self {
        let mode = Mode::new(&state.service, scale, 0);
        Self { mode, up: state.up, scale, offered: 0, since: SimTime::ZERO }
    }

    /// The rate, and the remainder of back-to-back packets; none if a trace serves.
    pub fn rate(&self) -> Option<(BitRate, u64)> {
        match &self.mode {
            Mode::Rate { rate, carry } => Some((*rate, *carry)),
            Mode::Trace { .. } => None,
        }
    }

    /// Whether a packet could be started.
    pub fn is_ready(&self) -> bool {
        self.up
            && match &self.mode {
                Mode::Rate { rate, .. } => !rate.is_zero(),
                Mode::Trace { .. } => true,
            }
    }

    /// Starts a packet of `size` bytes; when its last byte is out ([`SimTime::MAX`] unless ready).
    pub fn start(&mut self, now: SimTime, size: Bytes) -> SimTime {
        match &mut self.mode {
            Mode::Rate { rate, carry } => match rate.serialise(size, *carry) {
                Some((span, rest)) => {
                    *carry = rest;
                    now + span
                }
                None => SimTime::MAX,
            },
            Mode::Trace { trace, cursor, .. } => cursor.serve(trace, now, size),
        }
    }

    /// Says that no packet follows the last one back to back.
    pub fn pause(&mut self) {
        if let Mode::Rate { carry, .. } = &mut self.mode {
            *carry = 0;
        }
    }

    /// Takes on a new state of the channel; the packet on the wire is not affected. An opportunity at `now` is one of
    /// the new state.
    pub fn change(&mut self, now: SimTime, state: &ChannelState) {
        if self.up == state.up && self.mode.serves(&state.service, self.scale) {
            return;
        }
        self.offered = self.offered(now, Opportunities::count_before);
        self.since = now;
        self.up = state.up;
        let before = match &state.service {
            Service::Opportunities(trace) => trace.count_before(now),
            Service::Rate(_) => 0,
        };
        self.mode = Mode::new(&state.service, self.scale, before);
    }

    /// Bits that could have been sent up to and including `now`; none while down.
    pub fn offered_bits(&self, now: SimTime) -> u128 {
        self.offered(now, Opportunities::count_through) / BIT
    }

    /// Capacity offered until `now`, in bits times nanoseconds per second; `count` counts opportunities.
    fn offered(&self, now: SimTime, count: impl Fn(&Opportunities, SimTime) -> u64) -> u128 {
        if !self.up {
            return self.offered;
        }
        self.offered
            + match &self.mode {
                Mode::Rate { rate, .. } => {
                    u128::from(rate.bps()) * u128::from((now - self.since).as_nanos())
                }
                Mode::Trace { trace, opportunity, before, .. } => {
                    u128::from(count(trace, now) - before) * u128::from(opportunity.bits()) * BIT
                }
            }
    }
}

impl Mode {
    fn new(service: &Service, scale: f64, before: u64) -> Self {
        match service {
            Service::Rate(rate) => Self::Rate { rate: scaled(*rate, scale), carry: 0 },
            Service::Opportunities(trace) => {
                let bytes = (trace.opportunity().get() as f64 * scale).round() as u64;
                let opportunity = Bytes::new(bytes.max(1));
                let cursor = Cursor::new(trace, opportunity);
                Self::Trace { trace: Arc::clone(trace), cursor, opportunity, before }
            }
        }
    }

    /// Whether this already is how `service` serves.
    fn serves(&self, service: &Service, scale: f64) -> bool {
        match (self, service) {
            (Self::Rate { rate, .. }, Service::Rate(new)) => *rate == scaled(*new, scale),
            (Self::Trace { trace, .. }, Service::Opportunities(new)) => Arc::ptr_eq(trace, new),
            _ => false,
        }
    }
}

/// The rate times `scale`; only a rate of zero becomes zero.
fn scaled(rate: BitRate, scale: f64) -> BitRate {
    if rate.is_zero() { rate } else { rate.scaled(scale).max(BitRate::from_bps(1)) }
}
