//! Careful Resume (RFC 9959) around any algorithm whose window can be set: after a move to a path that was observed before, the
//! window jumps to at most half of what was used there, and validates that before it goes on. Names in quotes are the RFC's.

mod observer;
mod store;

use leobench_base::{BitRate, Bytes, SimDuration, SimTime};

use self::observer::Observer;
pub use self::store::{Remote, Saved, Store};
use super::{AckEnd, Acked, Congestion, CongestionControl, Lost, Sent};
use crate::endpoint::{AccessReport, Event, Forecast, PathId};

/// "Beta": what of the "`PipeSize`" becomes the slow-start threshold after a retreat, as a divisor.
const RETREAT_DIVISOR: u64 = 2;
/// Smallest window in packets (RFC 9002 section 7.2).
const MINIMUM_PACKETS: u64 = 2;
/// A round trip is not that of the observed path if it is at most the saved one divided by this, or more than so many times it.
const SHORTER: u64 = 2;
const LONGER: u64 = 10;

/// An algorithm that resumes carefully.
pub struct CarefulResume {
    inner: Box<dyn CongestionControl>,
    store: Store,
    paths: Vec<PathState>,
    events: Vec<Event>,
}

/// The state of a path.
#[derive(Debug, Default)]
struct PathState {
    phase: Phase,
    /// Bytes of a full packet, and of the initial window ("IW").
    datagram: u64,
    initial_window: u64,
    /// Number of the latest packet sent.
    sent: Option<u64>,
    /// Whether the window limited the sender when the latest acknowledgement came.
    cwnd_limited: bool,
    observer: Observer,
    /// The path's addresses, if it resumes.
    remote: Option<Remote>,
}

/// The phases of RFC 9959.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Phase {
    #[default]
    Normal,
    Reconnaissance {
        saved: Saved,
        initial: Initial,
    },
    Unvalidated {
        saved: Saved,
        pipe: Pipe,
        /// Rate of the jump: its window over a round trip.
        rate: BitRate,
        /// A round trip after its beginning.
        until: SimTime,
    },
    Validating {
        pipe: Pipe,
        /// Number of the last unvalidated packet.
        last: u64,
    },
    Retreat {
        pipe: Pipe,
        last: u64,
    },
}

/// The "`PipeSize`": what was in flight before the jump, and what was acknowledged since of what was sent after it. (So the
/// examples of the RFC count; what was in flight before is in the first number already.)
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pipe {
    size: u64,
    /// Number of the first unvalidated packet.
    first: u64,
    /// The largest number acknowledged from there on.
    acked: Option<u64>,
}

impl Pipe {
    fn on_ack(&mut self, acked: &Acked) {
        if acked.packet_number >= self.first {
            self.size += acked.size.get();
            self.acked = self.acked.max(Some(acked.packet_number));
        }
    }

    fn has(&self, number: u64) -> bool {
        self.acked >= Some(number)
    }
}

/// The initial data, all of which is to be acknowledged before the window jumps: at most the initial window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Initial {
    sent: u64,
    acked: u64,
    /// Number of its last packet.
    last: u64,
    complete: bool,
}

impl Initial {
    fn on_sent(&mut self, sent: &Sent, [datagram, window]: [u64; 2]) {
        let size = sent.size.get();
        if !self.complete && self.sent + size <= window {
            self.sent += size;
            self.last = sent.packet_number;
        }
        self.complete |= self.sent + size.max(datagram) > window;
    }

    fn on_ack(&mut self, acked: &Acked) {
        if acked.packet_number <= self.last {
            self.acked += acked.size.get();
        }
    }

    fn is_acked(&self) -> bool {
        self.complete && self.acked >= self.sent
    }
}

/// The rate of a window spread over a round trip.
fn rate(window: Bytes, rtt: SimDuration) -> BitRate {
    let nanos = u128::from(rtt.as_nanos().max(1));
    let bps = u128::from(window.bits()) * 1_000_000_000 / nanos;
    BitRate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX))
}

impl CarefulResume {
    /// An algorithm that resumes what `store` knows.
    pub fn new(inner: Box<dyn CongestionControl>, store: Store) -> Self {
        Self { inner, store, paths: Vec::new(), events: Vec::new() }
    }

    /// The path leaves `remote`: saves what was observed there, if anything was.
    pub fn save(&mut self, path: PathId, now: SimTime, remote: Remote) {
        let Some(saved) = self.state(path).observer.observed() else { return };
        self.store.save(now, remote, saved);
        self.note(format!("saved {} and {} of {remote}", saved.cwnd, saved.rtt));
    }

    /// The path leads to `remote` now, and has started anew: resumes what is saved of it. Returns whether anything is.
    pub fn resume(&mut self, path: PathId, now: SimTime, remote: Remote) -> bool {
        match self.store.find(now, remote) {
            Ok(saved) => {
                self.note(format!("resumes {} and {} of {remote}", saved.cwnd, saved.rtt));
                let initial = Initial::default();
                let state = self.state(path);
                state.remote = Some(remote);
                state.phase = Phase::Reconnaissance { saved, initial };
                true
            }
            Err(problem) => {
                self.note(format!("acts as `reset`: {problem}"));
                false
            }
        }
    }

    /// Takes what happened since the last call.
    pub fn take_events(&mut self, events: &mut Vec<Event>) {
        events.append(&mut self.events);
    }

    fn note(&mut self, detail: String) {
        self.events.push(Event { kind: "careful-resume", detail });
    }

    fn state(&mut self, path: PathId) -> &mut PathState {
        let index = path.0 as usize;
        if index >= self.paths.len() {
            self.paths.resize_with(index + 1, PathState::default);
        }
        &mut self.paths[index]
    }

    /// Goes on as if nothing had been saved; why is in qlog's words where it has some.
    fn stop(&mut self, path: PathId, why: &str) {
        self.state(path).phase = Phase::Normal;
        let window = self.inner.window(path);
        self.note(format!("ends ({why}): window {window}"));
    }

    fn enter(&mut self, path: PathId, phase: Phase, why: &str) {
        self.state(path).phase = phase;
        let window = self.inner.window(path);
        self.note(format!("{} ({why}): window {window}", phase.name()));
    }

    /// Whether the conditions of the jump are met at the end of an acknowledgement that leaves `flight` bytes in flight.
    fn reconnoitre(&mut self, path: PathId, end: &AckEnd, saved: Saved, initial: &Initial) {
        let Some(rtt) = self.state(path).observer.rtt() else { return };
        if rtt.min * SHORTER <= saved.rtt || rtt.min > saved.rtt * LONGER {
            self.stop(path, "rtt_not_validated");
            return;
        }
        let state = self.state(path);
        if !initial.is_acked() || !state.cwnd_limited {
            return;
        }
        let first = state.sent.map_or(0, |last| last + 1);
        let jump = self.store.jump(saved);
        if jump <= self.inner.window(path) {
            self.stop(path, "the window has grown as far");
            return;
        }
        self.inner.set_window(path, jump, None);
        let pipe = Pipe { size: end.in_flight.get(), first, acked: None };
        let (rate, until) = (rate(jump, rtt.smoothed), end.now + rtt.smoothed);
        let phase = Phase::Unvalidated { saved, pipe, rate, until };
        self.enter(path, phase, "path confirmed");
    }

    /// "Check `flight_size`": what the jump was used for decides how it goes on.
    fn complete(&mut self, path: PathId, pipe: Pipe, flight: u64, why: &str) {
        let state = self.state(path);
        let (initial, last) = (state.initial_window, state.sent.unwrap_or_default());
        if flight < initial || flight <= pipe.size {
            self.inner.set_window(path, Bytes::new(pipe.size.max(initial)), None);
            self.stop(path, "rate_limited");
        } else {
            self.inner.set_window(path, Bytes::new(flight), None);
            self.enter(path, Phase::Validating { pipe, last }, why);
        }
    }

    /// Congestion while the window is not validated.
    fn retreat(&mut self, path: PathId, why: &str) {
        let state = self.state(path);
        let (pipe, last) = match state.phase {
            Phase::Unvalidated { pipe, .. } => (pipe, state.sent.unwrap_or_default()),
            Phase::Validating { pipe, last } => (pipe, last),
            Phase::Normal | Phase::Reconnaissance { .. } | Phase::Retreat { .. } => return,
        };
        let (minimum, remote) = (MINIMUM_PACKETS * state.datagram, state.remote);
        let window = Bytes::new((pipe.size / 2).max(minimum)).min(self.inner.window(path));
        self.inner.set_window(path, window, None);
        if let Some(remote) = remote {
            self.store.delete(remote);
        }
        self.enter(path, Phase::Retreat { pipe, last }, why);
    }

    /// Congestion in any phase, which the algorithm has answered.
    fn on_congestion(&mut self, path: PathId, congestion: &Congestion, why: &str) {
        let phase = self.state(path).phase;
        if congestion.persistent && phase != Phase::Normal {
            self.stop(path, "persistent congestion");
            return;
        }
        match phase {
            Phase::Reconnaissance { .. } => self.stop(path, why),
            Phase::Unvalidated { .. } | Phase::Validating { .. } => self.retreat(path, why),
            Phase::Normal | Phase::Retreat { .. } => {}
        }
    }

    /// The last unvalidated packet, or a later one, was acknowledged.
    fn leave_retreat(&mut self, path: PathId, pipe: u64) {
        let minimum = MINIMUM_PACKETS * self.state(path).datagram;
        let threshold = Bytes::new((pipe / RETREAT_DIVISOR).max(minimum));
        let window = self.inner.window(path);
        self.inner.set_window(path, window, Some(threshold));
        self.stop(path, "exit_recovery");
    }
}

impl Phase {
    fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Reconnaissance { .. } => "reconnaissance",
            Self::Unvalidated { .. } => "unvalidated",
            Self::Validating { .. } => "validating",
            Self::Retreat { .. } => "safe-retreat",
        }
    }

    /// A packet was acknowledged. Returns whether the window may grow by it.
    fn on_ack(&mut self, acked: &Acked) -> bool {
        match self {
            Self::Normal => true,
            Self::Reconnaissance { initial, .. } => {
                initial.on_ack(acked);
                true
            }
            Self::Unvalidated { pipe, .. } | Self::Retreat { pipe, .. } => {
                pipe.on_ack(acked);
                false
            }
            Self::Validating { pipe, .. } => {
                pipe.on_ack(acked);
                true
            }
        }
    }
}

impl CongestionControl for CarefulResume {
    fn open(&mut self, path: PathId, now: SimTime, datagram: Bytes) {
        self.inner.open(path, now, datagram);
        let initial_window = self.inner.window(path).get();
        let datagram = datagram.get();
        *self.state(path) = PathState { datagram, initial_window, ..PathState::default() };
    }

    fn close(&mut self, path: PathId) {
        self.inner.close(path);
        self.state(path).phase = Phase::Normal;
    }

    fn on_sent(&mut self, path: PathId, sent: &Sent) {
        self.inner.on_sent(path, sent);
        let state = self.state(path);
        state.sent = Some(sent.packet_number);
        let (datagram, window) = (state.datagram, state.initial_window);
        match &mut state.phase {
            Phase::Reconnaissance { initial, .. } => initial.on_sent(sent, [datagram, window]),
            &mut Phase::Unvalidated { pipe, until, .. } => {
                let flight = sent.in_flight.get();
                if sent.now > until {
                    self.complete(path, pipe, flight, "rtt_exceeded");
                } else if flight + datagram > self.inner.window(path).get() {
                    self.complete(path, pipe, flight, "last_unvalidated_packet_sent");
                }
            }
            Phase::Normal | Phase::Validating { .. } | Phase::Retreat { .. } => {}
        }
    }

    fn on_ack(&mut self, path: PathId, acked: &Acked) {
        let state = self.state(path);
        state.cwnd_limited = acked.cwnd_limited;
        // What the jump yields is no observation before it is validated.
        let observes = state.phase == Phase::Normal;
        state.observer.on_ack(acked, state.sent.filter(|_| observes));
        let cwnd_limited = state.phase.on_ack(acked) && acked.cwnd_limited;
        self.inner.on_ack(path, &Acked { cwnd_limited, ..*acked });
    }

    fn on_ack_end(&mut self, path: PathId, end: &AckEnd) {
        self.inner.on_ack_end(path, end);
        let flight = end.in_flight.get();
        match self.state(path).phase {
            Phase::Reconnaissance { saved, initial } => {
                self.reconnoitre(path, end, saved, &initial);
            }
            Phase::Unvalidated { saved, pipe, until, .. } => {
                let rtt = self.state(path).observer.rtt();
                if rtt.is_some_and(|rtt| rtt.min * SHORTER <= saved.rtt) {
                    self.retreat(path, "path_changed");
                } else if pipe.acked.is_some() {
                    self.complete(path, pipe, flight, "first_unvalidated_packet_acknowledged");
                } else if end.now > until {
                    self.complete(path, pipe, flight, "rtt_exceeded");
                }
            }
            Phase::Validating { pipe, last } if pipe.has(last) => {
                self.stop(path, "last_unvalidated_packet_acknowledged");
            }
            Phase::Retreat { pipe, last } if pipe.has(last) => self.leave_retreat(path, pipe.size),
            Phase::Normal | Phase::Validating { .. } | Phase::Retreat { .. } => {}
        }
    }

    fn on_packet_lost(&mut self, path: PathId, lost: &Lost) {
        self.inner.on_packet_lost(path, lost);
    }

    fn on_loss(&mut self, path: PathId, congestion: &Congestion) {
        self.inner.on_loss(path, congestion);
        self.on_congestion(path, congestion, "packet_loss");
    }

    fn on_ecn(&mut self, path: PathId, congestion: &Congestion) {
        self.inner.on_ecn(path, congestion);
        self.on_congestion(path, congestion, "ECN_CE");
    }

    fn on_spurious_loss(&mut self, path: PathId) {
        self.inner.on_spurious_loss(path);
    }

    fn on_forecast(&mut self, path: PathId, forecast: &Forecast) {
        self.inner.on_forecast(path, forecast);
    }

    fn on_access(&mut self, path: PathId, report: &AccessReport) {
        self.inner.on_access(path, report);
    }

    fn window(&self, path: PathId) -> Bytes {
        self.inner.window(path)
    }

    fn pacing_rate(&self, path: PathId) -> Option<BitRate> {
        match self.paths.get(path.0 as usize).map(|state| state.phase) {
            Some(Phase::Unvalidated { rate, .. }) => Some(rate),
            _ => self.inner.pacing_rate(path),
        }
    }

    fn ssthresh(&self, path: PathId) -> Option<Bytes> {
        self.inner.ssthresh(path)
    }

    fn bypasses_recovery(&self, path: PathId) -> bool {
        self.inner.bypasses_recovery(path)
    }

    fn phase(&self, path: PathId) -> &'static str {
        match self.paths.get(path.0 as usize).map(|state| state.phase) {
            None | Some(Phase::Normal) => self.inner.phase(path),
            Some(phase) => phase.name(),
        }
    }

    fn fault(&mut self) -> Option<String> {
        self.inner.fault()
    }

    fn careful_resume(&mut self) -> Option<&mut CarefulResume> {
        Some(self)
    }
}

#[cfg(test)]
mod tests;
