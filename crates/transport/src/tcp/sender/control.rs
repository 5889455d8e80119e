//! The congestion controller of a connection, and the statistics of its path.

use std::num::NonZeroU64;

use leobench_base::{Bytes, LogHistogram, SimTime};

use super::scoreboard::{Fate, Sent};
use crate::congestion::{
    AckEnd, Acked, Congestion, CongestionControl, Lost, PhaseWatch, Rtt, Sent as SentSample,
};
use crate::endpoint::{Event, Evidence, LossVerdict, LossVerdictKind, PathId, Totals};

/// A TCP connection has one path.
pub(super) const PATH: PathId = PathId(0);

/// Transmissions of a connection have numbers below two to this power.
const CONNECTION_SHIFT: u32 = 40;

/// The algorithm; it is notified of every transmission, acknowledgement and loss.
#[repr(C)]
pub(in crate::tcp) struct Control {
    pub(in crate::tcp) algorithm: Box<dyn CongestionControl>,
    phase: PhaseWatch,
    /// Number of the connection among those of the flow, from 0.
    pub(in crate::tcp) connection: u64,
    /// Whether the connection is application-limited.
    pub(super) app_limited: bool,
    /// Whether neither the application nor the receiver leaves room in the controller's window (RFC 9002 section 7.8).
    pub(super) cwnd_limited: bool,
    /// All round-trip time samples, in nanoseconds.
    pub(in crate::tcp) rtts: LogHistogram,
    pub(in crate::tcp) events: Vec<Event>,
    pub(in crate::tcp) verdicts: Vec<LossVerdict>,
    pub(in crate::tcp) totals: Totals,
}

impl Control {
    pub(super) fn new(algorithm: Box<dyn CongestionControl>) -> Self {
        Self {
            algorithm,
            totals: Totals::default(),
            rtts: LogHistogram::new(),
            events: Vec::new(),
            verdicts: Vec::new(),
            connection: 0,
            app_limited: true,
            cwnd_limited: false,
            phase: PhaseWatch::default(),
        }
    }

    /// The connection ends.
    pub(in crate::tcp) fn close(&mut self) {
        self.algorithm.close(PATH);
    }

    /// The window that the algorithm allows.
    pub(super) fn window(&self) -> u64 {
        self.algorithm.window(PATH).get()
    }

    /// Whether the algorithm alone sets the window, in recovery too.
    pub(super) fn bypasses_recovery(&self) -> bool {
        self.algorithm.bypasses_recovery(PATH)
    }

    pub(super) fn on_sent(&mut self, now: SimTime, size: u64, in_flight: u64, transmission: u64) {
        let sample = SentSample::new(now, Bytes::new(size), Bytes::new(in_flight), transmission)
            .app_limited(self.app_limited);
        self.algorithm.on_sent(PATH, &sample);
        self.look();
    }

    /// Segments were delivered; before the first of them, `in_flight` bytes were in flight. `ambiguous` marks those
    /// that an earlier transmission may have delivered.
    pub(super) fn on_delivered(
        &mut self,
        now: SimTime,
        delivered: &[Sent],
        mut in_flight: u64,
        rtt: Rtt,
        recovering: bool,
        ambiguous: impl Fn(&Sent) -> bool,
    ) {
        for sent in delivered {
            self.totals.acked_bytes += Bytes::new(sent.size());
            if sent.fate == Fate::Lost {
                // The algorithm has been told of it as a loss, and nothing was sent in its place.
                self.totals.spurious_losses += 1;
                continue;
            }
            self.algorithm.on_ack(
                PATH,
                &Acked {
                    now,
                    sent: sent.at,
                    size: Bytes::new(sent.size()),
                    packet_number: sent.transmission,
                    in_flight: Bytes::new(in_flight),
                    app_limited: self.app_limited,
                    cwnd_limited: self.cwnd_limited,
                    recovering,
                    ambiguous: ambiguous(sent),
                    rtt,
                },
            );
            in_flight = in_flight.saturating_sub(sent.size());
        }
        self.algorithm.on_ack_end(PATH, &AckEnd::new(now, Bytes::new(in_flight)));
        self.look();
    }

    /// Segments were marked lost. The sender decides whether to respond.
    pub(super) fn on_loss(
        &mut self,
        now: SimTime,
        lost: &[Sent],
        evidence: Evidence,
        answered: bool,
    ) {
        let sent = lost.iter().map(|sent| sent.at).max().unwrap_or(now);
        let bytes = self.count(now, lost, evidence);
        let congestion = Congestion::new(now, sent, bytes, false);
        let congestion = if answered { congestion.answered() } else { congestion };
        self.respond("loss", !answered, |algorithm| algorithm.on_loss(PATH, &congestion));
    }

    /// The retransmission timer expired for the segment sent at `sent`, `again` if nothing was acknowledged since the
    /// last expiry, and marked segments lost.
    pub(super) fn on_timeout(
        &mut self,
        now: SimTime,
        sent: SimTime,
        lost: &[Sent],
        answered: bool,
        again: bool,
    ) {
        let sent = lost.iter().map(|sent| sent.at).max().unwrap_or(sent);
        let bytes = self.count(now, lost, Evidence::Timeout);
        let congestion = Congestion::new(now, sent, bytes, true);
        let congestion = if answered { congestion.answered() } else { congestion };
        self.respond("timeout", !again, |algorithm| algorithm.on_loss(PATH, &congestion));
    }

    /// The receiver reported a mark on a segment sent up to `sent`.
    pub(super) fn on_mark(&mut self, now: SimTime, sent: SimTime) {
        self.totals.ecn_marks += 1;
        let congestion = Congestion::new(now, sent, Bytes::ZERO, false);
        self.respond("ECN", true, |algorithm| algorithm.on_ecn(PATH, &congestion));
    }

    /// Undoes the last reduction: the losses behind it were spurious.
    pub(super) fn on_spurious(&mut self, evidence: &str) {
        self.totals.undos += 1;
        let before = self.window();
        self.algorithm.on_spurious_loss(PATH);
        let detail =
            format!("{evidence}: window {} -> {}", Bytes::new(before), Bytes::new(self.window()));
        self.event("undo", detail);
        self.look();
    }

    pub(in crate::tcp) fn event(&mut self, kind: &'static str, detail: String) {
        self.events.push(Event { kind, detail });
    }

    /// Counts lost segments one by one; returns their bytes.
    fn count(&mut self, now: SimTime, lost: &[Sent], evidence: Evidence) -> Bytes {
        let mut bytes = Bytes::ZERO;
        for sent in lost {
            let size = Bytes::new(sent.size());
            bytes += size;
            let lost = Lost::new(now, size, sent.transmission);
            self.algorithm.on_packet_lost(PATH, &lost);
            self.conclude(sent.transmission, LossVerdictKind::Lost(evidence));
        }
        self.totals.lost_packets += lost.len() as u64;
        self.totals.lost_bytes += bytes;
        bytes
    }

    /// Reports a conclusion about a transmission of this connection.
    pub(super) fn conclude(&mut self, transmission: u64, kind: LossVerdictKind) {
        let transmission = self.number(transmission);
        self.verdicts.extend(transmission.map(|transmission| LossVerdict { transmission, kind }));
    }

    /// The number of a transmission among those of all connections of the flow.
    pub(in crate::tcp) fn number(&self, transmission: u64) -> Option<NonZeroU64> {
        NonZeroU64::new((self.connection << CONNECTION_SHIFT) + transmission + 1)
    }

    /// Records a change of the controller's phase.
    pub(super) fn look(&mut self) {
        let event = self.phase.look(&*self.algorithm, PATH);
        self.events.extend(event);
    }

    /// Calls the algorithm for a congestion event. Counts it if it is `new`, regardless of the response.
    fn respond(
        &mut self,
        cause: &str,
        new: bool,
        respond: impl FnOnce(&mut dyn CongestionControl),
    ) {
        let before = self.window();
        respond(&mut *self.algorithm);
        let after = self.window();
        if new {
            self.totals.congestion_events += 1;
            let detail = format!("{cause}: window {} -> {}", Bytes::new(before), Bytes::new(after));
            self.event("congestion", detail);
        }
        self.look();
    }
}
