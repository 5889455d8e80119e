//! The sending half of a connection: what may leave when, and what acknowledgements say of it.
//!
//! Offsets are those of the byte stream (64 bits); the endpoint turns them into sequence numbers.

mod ack;
mod control;
mod prr;
mod rack;
mod scoreboard;
mod timers;
mod undo;

use leobench_base::{BitRate, Bytes, SimDuration, SimTime};

pub(super) use self::control::Control;
use self::control::PATH;
use self::prr::Reduction;
use self::rack::Rack;
use self::scoreboard::{Scoreboard, Sent};
use self::timers::{Probe, Timer};
use self::undo::{Doubt, Undo};
use super::outgoing::Outgoing;
use super::rtt::RttEstimator;
use super::sequence::Stamps;
use super::spec::TcpSpec;
use crate::congestion::{CongestionControl, Rtt};
use crate::pacing::{Pacer, window_rate};

pub(super) use self::ack::Ack;

/// Packets that may leave at once after an idle time, where the sender paces (as QUIC's).
const BURST_PACKETS: u64 = 10;

/// What was agreed on in the handshake.
#[derive(Clone, Copy, Debug)]
pub(super) struct Agreed {
    /// Payload of a full segment.
    pub(super) mss: u64,
    /// Whether segments carry timestamps, acknowledgements blocks, and packets codepoints.
    pub(super) timestamps: bool,
    pub(super) sack: bool,
    pub(super) ecn: bool,
}

impl Agreed {
    /// Before the handshake.
    pub(super) fn nothing(mss: u64) -> Self {
        Self { mss, timestamps: false, sack: false, ecn: false }
    }
}

/// Why the window may be smaller than the controller's (RFC 5681, RFC 6675, RFC 3168).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Nothing is wrong.
    Open,
    /// An ECN mark is being answered.
    Marked,
    /// Losses are being repaired: fast recovery.
    Recovery,
    /// So they are after a retransmission timeout.
    Timeout,
}

/// The sending half of a connection.
pub(super) struct Sender {
    agreed: Agreed,
    stamps: Stamps,
    spec: TcpSpec,
    /// First byte that is not acknowledged (`SND.UNA`).
    una: u64,
    /// First byte that was never sent (`SND.NXT`).
    nxt: u64,
    /// Behind the last byte that the receiver has room for.
    edge: u64,
    /// Where the segment stood, and what it acknowledged, that told so (`SND.WL1`, `SND.WL2`).
    window_from: (u64, u64),
    /// Largest window the receiver has offered.
    largest_window: u64,
    board: Scoreboard,
    rtt: RttEstimator,
    rack: Rack,
    mode: Mode,
    /// All up to here must be acknowledged for the mode to end.
    recover: u64,
    reduction: Option<Reduction>,
    /// A window below the controller's: after an idle time or a timeout, until it has grown back.
    cap: Option<u64>,
    undo: Option<Undo>,
    doubt: Option<Doubt>,
    /// When the retransmission timeout ends, if something is in flight.
    rto_at: SimTime,
    timer: Option<Timer>,
    probe: Option<Probe>,
    /// Duplicate acknowledgements in a row, without selective ones only (RFC 5681).
    duplicates: u64,
    /// End of the last segment that was less than full, for Nagle's algorithm as Minshall amended it.
    small_end: u64,
    /// Whether the next new segment tells that the window was reduced (RFC 3168 section 6.1.2).
    tell_reduced: bool,
    /// A segment that goes whatever the window.
    forced: Option<Forced>,
    initial_window: u64,
    last_sent: SimTime,
    /// Where the FIN is, once sent.
    fin: Option<u64>,
    pacer: Pacer,
    pub(super) control: Control,
    /// What the acknowledgement at hand delivers, and what it, or a timer, takes for lost.
    delivered: Vec<Sent>,
    lost: Vec<Sent>,
    /// Whether the peer's window is what holds the data back, and how often it was asked since it last opened.
    starved: bool,
    window_probes: u32,
}

/// What a timer asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forced {
    /// This segment, again.
    Repeat(u64),
    /// New data if there is any, or else the last segment again: a tail loss probe.
    Probe,
    /// An empty segment that the receiver must answer: a zero-window probe.
    Window,
    /// What the receiver's window leaves room for, full or not.
    Small,
}

/// A segment to send, in offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Departure {
    /// First byte.
    pub(super) start: u64,
    /// Bytes of payload.
    pub(super) payload: u64,
    /// Whether a FIN follows them.
    pub(super) fin: bool,
    /// Whether none of it was sent before.
    pub(super) new: bool,
    /// Whether it tells that the window was reduced.
    pub(super) reduced: bool,
}

impl Sender {
    pub(super) fn new(
        spec: &TcpSpec,
        stamps: Stamps,
        algorithm: Box<dyn CongestionControl>,
    ) -> Self {
        let agreed = Agreed::nothing(spec.mss.get());
        Self {
            agreed,
            stamps,
            spec: spec.clone(),
            una: 0,
            nxt: 0,
            edge: 0,
            window_from: (0, 0),
            largest_window: 0,
            board: Scoreboard::default(),
            rtt: RttEstimator::new(spec.initial_rto, spec.min_rto),
            rack: Rack::new(),
            mode: Mode::Open,
            recover: 0,
            reduction: None,
            cap: None,
            undo: None,
            doubt: None,
            rto_at: SimTime::ZERO,
            timer: None,
            probe: None,
            duplicates: 0,
            small_end: 0,
            tell_reduced: false,
            forced: None,
            initial_window: 0,
            last_sent: SimTime::ZERO,
            fin: None,
            pacer: Pacer::new(Bytes::new(BURST_PACKETS * spec.mss.get()), spec.mss),
            control: Control::new(algorithm),
            delivered: Vec::new(),
            lost: Vec::new(),
            starved: false,
            window_probes: 0,
        }
    }

    /// The connection is open: `window` bytes may be sent before anything is acknowledged. If the handshake was sent more
    /// than twice, a single segment is the first window (RFC 5681 section 3.1, which does not wait for a third time; Linux
    /// does).
    pub(super) fn open(&mut self, now: SimTime, agreed: Agreed, window: u64, times: u32) {
        self.agreed = agreed;
        self.control.algorithm.open(PATH, now, Bytes::new(agreed.mss));
        self.control.look();
        self.initial_window = self.control.window();
        self.cap = (times > 2).then_some(agreed.mss);
        self.edge = window;
        self.largest_window = window;
        self.last_sent = now;
    }

    /// The handshake took a round trip of `rtt`, if that can be told.
    pub(super) fn on_handshake(&mut self, rtt: Option<SimDuration>) {
        let Some(rtt) = rtt else { return self.rtt.fall_back() };
        self.rtt.sample(rtt);
        self.control.rtts.record(rtt.as_nanos());
    }

    /// First byte that is not acknowledged.
    pub(super) fn una(&self) -> u64 {
        self.una
    }

    /// First byte that was never sent.
    pub(super) fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Bytes in flight.
    pub(super) fn flying(&self) -> u64 {
        self.board.flying().saturating_sub(self.overtaken())
    }

    /// How long a retransmission waits.
    pub(super) fn timeout(&self) -> SimDuration {
        self.rtt.timeout()
    }

    /// Name of the controller's phase.
    pub(super) fn phase(&self) -> &'static str {
        self.control.algorithm.phase(PATH)
    }

    /// What has been measured of the round trip, if anything has.
    pub(super) fn rtt(&self) -> Option<Rtt> {
        self.rtt.sampled()
    }

    /// Bytes that may be in flight.
    pub(super) fn window(&self) -> u64 {
        let window =
            self.reduction.as_ref().map_or_else(|| self.control.window(), |prr| prr.window);
        self.cap.map_or(window, |cap| cap.min(window))
    }

    /// The rate segments leave at, if they are paced.
    pub(super) fn pacing_rate(&self) -> Option<BitRate> {
        let own = self.control.algorithm.pacing_rate(PATH);
        if own.is_some() || !self.spec.pacing {
            return own;
        }
        let smoothed = self.rtt.sampled()?.smoothed;
        Some(window_rate(Bytes::new(self.control.window()), smoothed))
    }

    /// When pacing lets the next segment go, if that is still to come.
    fn held_until(&self, now: SimTime) -> Option<SimTime> {
        let ready = self.pacer.ready(self.pacing_rate()?);
        (ready > now).then_some(ready)
    }

    /// The next segment to leave now, if any.
    pub(super) fn next(&mut self, now: SimTime, outgoing: &mut Outgoing) -> Option<Departure> {
        match self.forced.take() {
            Some(Forced::Repeat(number)) => return Some(self.repeat(now, number)),
            Some(Forced::Probe) => return self.send_probe(now, outgoing),
            Some(Forced::Small) => {
                let fits = self.edge.saturating_sub(self.nxt);
                return self.send(now, outgoing, fits.min(self.agreed.mss));
            }
            Some(Forced::Window) => {
                // As Linux does: an old sequence number, which must be answered (RFC 9293 section 3.10.7.4).
                let start = self.una.wrapping_sub(1);
                let empty = Departure { start, payload: 0, fin: false, new: false, reduced: false };
                return Some(empty);
            }
            None => {}
        }
        if self.board.is_empty() {
            self.restart_if_idle(now);
        }
        if self.held_until(now).is_some() {
            return None;
        }
        let window = self.window();
        let mut limit = self.new_data(outgoing);
        if let Some(number) = self.board.first_lost() {
            match self.doubt {
                Some(Doubt::First) => limit = None,
                // RFC 5682 section 3.1, step 2: without new data to send, there is no telling.
                Some(Doubt::Second) if limit.is_some() => {}
                Some(Doubt::Second) | None => {
                    let size = self.board.get(number).size();
                    return (self.flying() + size <= window).then(|| self.repeat(now, number));
                }
            }
        }
        let limit = limit?;
        if self.flying() + limit > window {
            return None;
        }
        self.send(now, outgoing, limit)
    }

    /// How many bytes of new data may leave in one segment, but for the congestion window: zero for a bare FIN.
    fn new_data(&mut self, outgoing: &Outgoing) -> Option<u64> {
        let available = outgoing.available(self.nxt);
        let mss = self.agreed.mss;
        let fits = self.edge.saturating_sub(self.nxt);
        self.starved = available > fits && fits < mss;
        if available == 0 {
            return outgoing.fin_at(self.nxt).then_some(0);
        }
        let payload = available.min(mss).min(fits);
        if payload == mss {
            return Some(mss);
        }
        // Avoidance of the silly window syndrome (RFC 9293 section 3.8.6.2.1): a small segment leaves if it is all there
        // is, and Nagle's algorithm does not hold it, or if it is half of the largest window.
        let all = payload == available;
        let held =
            self.spec.nagle && self.small_end > self.una && !outgoing.fin_at(self.nxt + payload);
        let large = payload > 0 && payload >= self.largest_window / 2;
        (all && !held || large).then_some(payload)
    }

    /// RFC 5681 section 4.1: after an idle time of a retransmission timeout, the window is no larger than the initial one,
    /// and grows back as in slow start. The controller keeps what it knows. As in Linux, one that rules alone goes on at
    /// the rate that it knows.
    fn restart_if_idle(&mut self, now: SimTime) {
        if self.control.rules_alone() {
            return;
        }
        if self.nxt > 0 && now.saturating_since(self.last_sent) > self.rtt.timeout() {
            self.cap =
                Some(self.cap.map_or(self.initial_window, |cap| cap.min(self.initial_window)));
        }
    }

    /// Sends up to `limit` bytes of new data, and a FIN if nothing else is left.
    fn send(&mut self, now: SimTime, outgoing: &mut Outgoing, limit: u64) -> Option<Departure> {
        let payload = outgoing.available(self.nxt).min(limit);
        let fin = outgoing.fin_at(self.nxt + payload);
        if payload == 0 && !fin {
            return None;
        }
        let start = self.nxt;
        outgoing.advance(start + payload);
        self.nxt = start + payload + u64::from(fin);
        if fin {
            self.fin = Some(start + payload);
        }
        if payload < self.agreed.mss {
            self.small_end = self.nxt;
        }
        let was_idle = self.board.is_empty();
        let transmission = self.board.push(now, start, self.nxt);
        self.on_sent(now, self.nxt - start, transmission);
        self.arm(now, was_idle);
        let reduced = payload > 0 && std::mem::take(&mut self.tell_reduced);
        Some(Departure { start, payload, fin, new: true, reduced })
    }

    /// Sends a segment again.
    fn repeat(&mut self, now: SimTime, number: u64) -> Departure {
        let transmission = self.board.repeat(now, number);
        let Sent { start, end, .. } = *self.board.get(number);
        if let Some(undo) = &mut self.undo {
            undo.on_repeated(now);
        }
        self.on_sent(now, end - start, transmission);
        if self.board.first() == Some(number) {
            self.restart_timer(now);
        }
        let fin = self.fin.is_some_and(|fin| fin < end);
        Departure { start, payload: end - start - u64::from(fin), fin, new: false, reduced: false }
    }

    fn on_sent(&mut self, now: SimTime, size: u64, transmission: u64) {
        self.last_sent = now;
        let in_flight = self.flying();
        self.control.on_sent(now, size, in_flight, transmission);
        if let Some(reduction) = &mut self.reduction {
            reduction.on_sent(size);
        }
        if let Some(rate) = self.pacing_rate() {
            self.pacer.on_sent(now, Bytes::new(size), rate);
        }
    }

    /// To be called when nothing more leaves now: notes what held the rest back, and says when to come again.
    pub(super) fn settle(&mut self, now: SimTime, outgoing: &Outgoing) -> Option<SimTime> {
        self.tell_limits(outgoing);
        self.arm_persist(now);
        let idle = self.board.first_lost().is_none()
            && (self.starved || outgoing.available(self.nxt) == 0);
        let held = if idle { None } else { self.held_until(now) };
        let timers = [self.timer.map(|timer| timer.at), self.rack.deadline, held];
        timers.into_iter().flatten().min()
    }

    /// Tells the controller whether anything but its window holds the sender back. Less than a segment, which Nagle's
    /// algorithm may hold, is too little to send, as in Linux (`tcp_rate_check_app_limited`).
    fn tell_limits(&mut self, outgoing: &Outgoing) {
        let flying = self.flying();
        let window = self.control.window();
        let sent = self.board.first_lost().is_none();
        let wanting = sent && outgoing.available(self.nxt) < self.agreed.mss;
        // An algorithm with a rate of its own leaves its window open on purpose.
        let by_window = self.control.algorithm.pacing_rate(PATH).is_none() && self.spec.pacing;
        let sparse = by_window && 2 * flying < window;
        let app_limited = wanting || sparse || self.cap.is_some();
        let has_room = flying + self.agreed.mss <= window;
        self.control.app_limited = app_limited && has_room;
        self.control.underused = (app_limited || sent && self.starved) && has_room;
    }

    fn is_recovering(&self) -> bool {
        self.mode != Mode::Open
    }
}
