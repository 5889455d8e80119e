//! The sending half of a connection: decides which segments to send and processes acknowledgements.
//!
//! Offsets are those of the byte stream (64 bits); the endpoint converts them to sequence numbers.

mod ack;
mod control;
mod hints;
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
use crate::endpoint::{AccessReport, LossVerdictKind};
use crate::on_forecast::Hold;
use crate::pacing::{Pacer, window_rate};

pub(super) use self::ack::Ack;

/// Packets that may leave in a burst after an idle period if the sender paces (as in QUIC).
const BURST_PACKETS: u64 = 10;

/// The result of the handshake.
#[derive(Clone, Copy, Debug)]
pub(super) struct Agreed {
    /// Payload of a full segment.
    pub(super) mss: u64,
    /// Whether segments carry timestamps, acknowledgements carry blocks, and packets carry ECN codepoints.
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
    /// Normal operation.
    Open,
    /// Responding to an ECN mark.
    Marked,
    /// Repairing losses: fast recovery.
    Recovery,
    /// Repairing losses after a retransmission timeout.
    Timeout,
}

/// The specification's settings for sending.
#[derive(Clone, Copy, Debug)]
struct Settings {
    /// Whether segments are spread over the round trip.
    paced: bool,
    /// Whether Nagle's algorithm holds small ones.
    nagle: bool,
}

/// The sending half of a connection.
///
/// The fields that every segment needs come first, next to each other: with a thousand flows, each line of the cache counts.
#[repr(C)]
pub(super) struct Sender {
    /// First byte that is not acknowledged (`SND.UNA`).
    una: u64,
    /// First byte that was never sent (`SND.NXT`).
    nxt: u64,
    /// The byte after the last one in the receiver's window.
    edge: u64,
    /// Position and acknowledgement number of the segment that last updated the window (`SND.WL1`, `SND.WL2`).
    window_from: (u64, u64),
    /// Largest window that the receiver has advertised.
    largest_window: u64,
    agreed: Agreed,
    stamps: Stamps,
    mode: Mode,
    doubt: Option<Doubt>,
    settings: Settings,
    /// Whether the acknowledgement at hand speaks against losses: nothing more is marked lost or sent again on it.
    holds_repairs: bool,
    /// Whether the next new segment carries CWR (RFC 3168 section 6.1.2).
    tell_reduced: bool,
    /// Whether the peer's window blocks the data.
    starved: bool,
    pub(super) control: Control,
    board: Scoreboard,
    rtt: RttEstimator,
    rack: Rack,
    /// A window below the controller's: after an idle period or a timeout, until it has grown back.
    cap: Option<u64>,
    /// A segment to send regardless of the window.
    forced: Option<Forced>,
    timer: Option<Timer>,
    /// When the retransmission timeout ends, if something is in flight.
    rto_at: SimTime,
    last_sent: SimTime,
    /// End of the last less-than-full segment, for Minshall's variant of Nagle's algorithm.
    small_end: u64,
    /// Probes since the peer's window last opened.
    window_probes: u32,
    /// Consecutive duplicate acknowledgements, without selective ones only (RFC 5681).
    duplicates: u64,
    /// The mode ends when everything up to this offset is acknowledged.
    recover: u64,
    /// Segments that the current acknowledgement, or a timer, marks lost.
    lost: Vec<Sent>,
    reduction: Option<Reduction>,
    undo: Option<Undo>,
    probe: Option<Probe>,
    initial_window: u64,
    /// The offset of the FIN, once sent.
    fin: Option<u64>,
    pacer: Pacer,
    /// When it sends nothing because of a forecast handover.
    pub(super) hold: Hold,
    /// The latest report on the access link of its path.
    access: Option<Box<AccessReport>>,
}

/// A request of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forced {
    /// Retransmit this segment.
    Retransmit(u64),
    /// Send new data if there is any, otherwise the last segment again: a tail loss probe.
    Probe,
    /// Send an empty segment that the receiver must answer: a zero-window probe.
    Window,
    /// Send as much as the receiver's window allows, full segment or not.
    Small,
}

/// A segment to send, in offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Departure {
    /// First byte.
    pub(super) start: u64,
    /// Bytes of payload.
    pub(super) payload: u64,
    /// Whether a FIN follows.
    pub(super) fin: bool,
    /// Whether all of it is new.
    pub(super) new: bool,
    /// Whether it carries CWR.
    pub(super) reduced: bool,
    /// Number of the transmission; none if the sender never judges it.
    pub(super) transmission: Option<u64>,
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
            settings: Settings { paced: spec.pacing, nagle: spec.nagle },
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
            holds_repairs: false,
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
            hold: Hold::default(),
            pacer: Pacer::new(Bytes::new(BURST_PACKETS * spec.mss.get()), spec.mss),
            control: Control::new(algorithm),
            lost: Vec::new(),
            starved: false,
            window_probes: 0,
            access: None,
        }
    }

    /// The connection is open; the initial receive window is `window` bytes. If the handshake was sent more than twice,
    /// the initial congestion window is a single segment (RFC 5681 section 3.1 requires this after the second
    /// transmission already; Linux waits for the third).
    pub(super) fn open(&mut self, now: SimTime, agreed: Agreed, window: u64, times: u32) {
        self.agreed = agreed;
        self.control.algorithm.open(PATH, now, Bytes::new(agreed.mss));
        if let Some(report) = &self.access {
            self.control.algorithm.on_access(PATH, report);
        }
        self.control.look();
        self.initial_window = self.control.window();
        self.cap = (times > 2).then_some(agreed.mss);
        self.edge = window;
        self.largest_window = window;
        self.last_sent = now;
    }

    /// The handshake gave a round-trip sample of `rtt`, unless it is ambiguous.
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

    /// The retransmission timeout.
    pub(super) fn timeout(&self) -> SimDuration {
        self.rtt.timeout()
    }

    /// Name of the controller's phase.
    pub(super) fn phase(&self) -> &'static str {
        self.control.algorithm.phase(PATH)
    }

    /// The round-trip estimates, if there is a sample.
    pub(super) fn rtt(&self) -> Option<Rtt> {
        self.rtt.sampled()
    }

    /// Bytes that may be in flight.
    pub(super) fn window(&self) -> u64 {
        let window =
            self.reduction.as_ref().map_or_else(|| self.control.window(), |prr| prr.window);
        self.cap.map_or(window, |cap| cap.min(window))
    }

    /// The pacing rate, if segments are paced.
    pub(super) fn pacing_rate(&self) -> Option<BitRate> {
        let own = self.control.algorithm.pacing_rate(PATH);
        if own.is_some() || !self.settings.paced {
            return own;
        }
        let smoothed = self.rtt.sampled()?.smoothed;
        Some(window_rate(Bytes::new(self.control.window()), smoothed))
    }

    /// When pacing and forecasts allow the next segment, if that is in the future.
    fn held_until(&self, now: SimTime) -> Option<SimTime> {
        let paced = self.pacing_rate().map_or(SimTime::ZERO, |rate| self.pacer.ready(rate));
        let ready = paced.max(self.hold.until());
        (ready > now).then_some(ready)
    }

    /// The next segment that may be sent now, if any.
    pub(super) fn next(&mut self, now: SimTime, outgoing: &mut Outgoing) -> Option<Departure> {
        match self.forced.take() {
            Some(Forced::Retransmit(number)) => return Some(self.retransmit(now, number)),
            Some(Forced::Probe) => return self.send_probe(now, outgoing),
            Some(Forced::Small) => {
                let fits = self.edge.saturating_sub(self.nxt);
                return self.send(now, outgoing, fits.min(self.agreed.mss));
            }
            Some(Forced::Window) => {
                // As in Linux: an old sequence number, which requires an answer (RFC 9293 section 3.10.7.4).
                let start = self.una.wrapping_sub(1);
                return Some(Departure {
                    start,
                    payload: 0,
                    fin: false,
                    new: false,
                    reduced: false,
                    transmission: None,
                });
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
        if let Some(number) = self.board.first_lost().filter(|_| !self.holds_repairs) {
            match self.doubt {
                Some(Doubt::First) => limit = None,
                // RFC 5682 section 3.1, step 2: without new data, F-RTO cannot decide.
                Some(Doubt::Second) if limit.is_some() => {}
                Some(Doubt::Second) | None => {
                    let size = self.board.get(number).size();
                    return (self.flying() + size <= window).then(|| self.retransmit(now, number));
                }
            }
        }
        let limit = limit?;
        if self.flying() + limit > window {
            return None;
        }
        self.send(now, outgoing, limit)
    }

    /// Bytes of new data that may be sent in one segment, ignoring the congestion window: zero for a bare FIN.
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
        // Silly window syndrome avoidance (RFC 9293 section 3.8.6.2.1): a small segment is sent if it is all there is
        // and Nagle's algorithm does not hold it, or if it is half of the largest window.
        let all = payload == available;
        let held = self.settings.nagle
            && self.small_end > self.una
            && !outgoing.fin_at(self.nxt + payload);
        let large = payload > 0 && payload >= self.largest_window / 2;
        (all && !held || large).then_some(payload)
    }

    /// RFC 5681 section 4.1: after an idle period of a retransmission timeout, the window is at most the initial one
    /// and grows back as in slow start. The controller keeps its state. As in Linux, a controller that bypasses
    /// recovery continues at its rate.
    #[inline(never)]
    fn restart_if_idle(&mut self, now: SimTime) {
        if self.control.bypasses_recovery() {
            return;
        }
        if self.nxt > 0 && now.saturating_since(self.last_sent) > self.rtt.timeout() {
            self.cap =
                Some(self.cap.map_or(self.initial_window, |cap| cap.min(self.initial_window)));
        }
    }

    /// Sends up to `limit` bytes of new data, and a FIN if no data is left.
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
        let transmission = Some(transmission);
        Some(Departure { start, payload, fin, new: true, reduced, transmission })
    }

    /// Retransmits a segment.
    #[inline(never)]
    fn retransmit(&mut self, now: SimTime, number: u64) -> Departure {
        let earlier = self.board.get(number).transmission;
        let transmission = self.board.note_retransmission(now, number);
        let Sent { start, end, .. } = *self.board.get(number);
        if let Some(undo) = &mut self.undo {
            undo.on_retransmitted(now);
        }
        self.on_sent(now, end - start, transmission);
        if self.board.first() == Some(number) {
            self.restart_timer(now);
        }
        let fin = self.fin.is_some_and(|fin| fin < end);
        let payload = end - start - u64::from(fin);
        self.control.conclude(earlier, LossVerdictKind::Repeated(Bytes::new(payload)));
        let transmission = Some(transmission);
        Departure { start, payload, fin, new: false, reduced: false, transmission }
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

    /// While a write waits and the congestion window is not filled, the send buffer grows with the latter
    /// (`tcp_should_expand_sndbuf`, `tcp_sndbuf_expand`; `bbr_sndbuf_expand` for three windows instead of two).
    pub(super) fn grow_room(&self, outgoing: &mut Outgoing) {
        let window = self.window();
        if outgoing.room().is_blocked() && self.flying() < window {
            let factor = if self.control.bypasses_recovery() { 3 } else { 2 };
            outgoing.room().grow(window / self.agreed.mss, factor);
        }
    }

    /// Called when no more segments can be sent now: records the limiting factor, and returns the next wake-up.
    pub(super) fn settle(&mut self, now: SimTime, outgoing: &Outgoing) -> Option<SimTime> {
        self.tell_limits(outgoing);
        self.arm_persist(now);
        let idle = self.board.first_lost().is_none()
            && (self.starved || outgoing.available(self.nxt) == 0);
        let held = if idle { None } else { self.held_until(now) };
        let timers = [self.timer.map(|timer| timer.at), self.rack.deadline, held];
        timers.into_iter().flatten().min()
    }

    /// Tells the controller whether the connection is limited by something other than its window. As in Linux
    /// (`tcp_rate_check_app_limited`), less than a segment, which Nagle's algorithm may hold, counts as no data.
    fn tell_limits(&mut self, outgoing: &Outgoing) {
        let flying = self.flying();
        let window = self.control.window();
        let sent = self.board.first_lost().is_none();
        let wanting = sent && outgoing.available(self.nxt) < self.agreed.mss;
        // An algorithm with its own rate leaves its window open on purpose.
        let by_window = self.control.algorithm.pacing_rate(PATH).is_none() && self.settings.paced;
        let sparse = by_window && 2 * flying < window;
        let app_limited = wanting || sparse || self.cap.is_some();
        let has_room = flying + self.agreed.mss <= window;
        self.control.app_limited = app_limited && has_room;
        self.control.cwnd_limited = !(has_room && (app_limited || sent && self.starved));
    }

    fn is_recovering(&self) -> bool {
        self.mode != Mode::Open
    }
}
