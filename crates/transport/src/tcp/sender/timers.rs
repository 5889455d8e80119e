//! The sender's timers: retransmission (RFC 6298), tail loss probe (RFC 8985 section 7), zero window (RFC 9293 section
//! 3.8.6.1), reordering (RFC 8985 section 6.3).

use leobench_base::{SimDuration, SimTime};

use super::scoreboard::{Fate, Sent};
use super::undo::{Doubt, Undo};
use super::{Ack, Departure, Forced, Mode, Sender};
use crate::endpoint::Evidence;
use crate::tcp::outgoing::Outgoing;

/// Probe timeout without a round-trip time sample (RFC 8985 section 7.2).
const INITIAL_PROBE_TIMEOUT: SimDuration = SimDuration::from_secs(1);

/// The single timer, which runs while data is in flight or the receiver must be probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timer {
    pub(super) kind: Kind,
    pub(super) at: SimTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Retransmission,
    Probe,
    Persist,
}

/// A tail loss probe without a verdict yet (`TLP.end_seq`, `TLP.is_retrans`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    end: u64,
    /// The state of the segment before its retransmission; none if the probe was new data.
    retransmitted: Option<Sent>,
}

impl Sender {
    /// New data was sent (RFC 6298 section 5.1, RFC 8985 section 7.2).
    pub(super) fn arm(&mut self, now: SimTime, was_idle: bool) {
        if was_idle {
            self.rto_at = self.rtt.deadline(now);
        }
        self.schedule(now);
        self.hasten_probe(now);
    }

    /// After new data, a probe is sent no later than the timeout of the oldest segment, counted from when that was
    /// sent, as in Linux (`tcp_rto_delta_us`).
    fn hasten_probe(&mut self, now: SimTime) {
        let Some(first) = self.board.first() else { return };
        let end = self.rtt.deadline(self.board.get(first).at);
        if let Some(timer) =
            self.timer.as_mut().filter(|timer| timer.kind == Kind::Probe && end > now)
        {
            timer.at = timer.at.min(end);
        }
    }

    /// Restarts the timeout (RFC 6298 section 5.3).
    pub(super) fn restart_timer(&mut self, now: SimTime) {
        self.rto_at = self.rtt.deadline(now);
        self.schedule(now);
    }

    pub(super) fn schedule(&mut self, now: SimTime) {
        if self.board.is_empty() {
            self.timer = None;
            return;
        }
        let (kind, at) = if self.may_probe() {
            (Kind::Probe, (now + self.probe_timeout()).min(self.rto_at))
        } else {
            (Kind::Retransmission, self.rto_at)
        };
        self.timer = Some(Timer { kind, at: at.max(now) });
    }

    /// RFC 8985 section 7.2.
    fn may_probe(&self) -> bool {
        self.agreed.sack
            && self.mode == Mode::Open
            && self.board.sacked_segments() == 0
            && self.probe.is_none()
            && !self.rtt.is_backed_off()
    }

    /// `TLP_calc_PTO` of RFC 8985 section 7.2; as in Linux, the acknowledgement of a single segment may be delayed by
    /// up to the minimum timeout.
    fn probe_timeout(&self) -> SimDuration {
        let Some(rtt) = self.rtt.sampled() else { return INITIAL_PROBE_TIMEOUT };
        let delayed = if self.board.len() == 1 { self.rtt.min_rto() } else { SimDuration::ZERO };
        rtt.smoothed * 2 + delayed
    }

    /// Executes expired timers.
    #[inline]
    pub(in crate::tcp) fn on_time(&mut self, now: SimTime) {
        let timer = self.timer.map(|timer| timer.at);
        if [self.rack.deadline, timer].into_iter().flatten().any(|at| at <= now) {
            self.expire(now);
        }
    }

    #[cold]
    fn expire(&mut self, now: SimTime) {
        if self.rack.deadline.is_some_and(|at| at <= now) {
            let flight = self.flying();
            self.detect(now);
            if !self.lost.is_empty() {
                self.on_losses(now, flight);
                if let Some(reduction) = &mut self.reduction {
                    let ssthresh = self.control.window();
                    reduction.on_ack(0, self.board.flying(), ssthresh, self.agreed.mss, false);
                }
                self.schedule(now);
            }
        }
        let Some(timer) = self.timer.filter(|timer| timer.at <= now) else { return };
        self.timer = None;
        match timer.kind {
            Kind::Probe => {
                self.forced = Some(Forced::Probe);
                self.control.totals.timeouts += 1;
                self.control.event("probe", String::new());
            }
            Kind::Retransmission => self.on_retransmission_timeout(now),
            Kind::Persist => {
                self.window_probes = self.window_probes.saturating_add(1);
                let fits = self.edge.saturating_sub(self.nxt);
                self.forced = Some(if fits > 0 { Forced::Small } else { Forced::Window });
            }
        }
    }

    /// RFC 6298 sections 5.4 to 5.6; RFC 8985 section 6.3; RFC 5681 section 3.1.
    #[cold]
    fn on_retransmission_timeout(&mut self, now: SimTime) {
        let Some(first) = self.board.first() else { return };
        self.control.totals.timeouts += 1;
        self.control.event("timeout", format!("after {}", self.rtt.timeout()));
        if self.board.get(first).fate == Fate::Sacked {
            self.board.renege();
        }
        let again = self.mode == Mode::Timeout && self.rtt.is_backed_off();
        let new = !self.is_recovering();
        let head = self.board.get(first).at;
        self.lose_on_timeout(now);
        // RFC 5681 section 3.1: a second retransmission of the same data does not change the threshold.
        let answered = again || self.mode == Mode::Recovery;
        self.control.on_timeout(now, head, &self.lost, answered, again);
        self.rtt.back_off();
        if self.mode != Mode::Timeout && (new || self.undo.is_none()) {
            self.undo = Some(Undo::new(self.una));
        }
        self.doubt = new.then_some(Doubt::First);
        self.mode = Mode::Timeout;
        self.recover = self.nxt;
        self.reduction = None;
        self.probe = None;
        self.duplicates = 0;
        // The loss window is one segment (RFC 5681 section 3.1), in addition to the data still in flight.
        self.cap =
            (!self.control.bypasses_recovery()).then(|| self.board.flying() + self.agreed.mss);
        self.forced = Some(Forced::Retransmit(first));
    }

    fn lose_on_timeout(&mut self, now: SimTime) {
        self.lost.clear();
        if self.agreed.sack {
            let rtt = self.rtt.assumed();
            return self.rack.on_timeout(now, &mut self.board, rtt, &mut self.lost);
        }
        while let Some(number) = self.board.oldest_flying() {
            self.lost.push(*self.board.get(number));
            self.board.lose(number);
        }
    }

    /// `TLP_send_probe` of RFC 8985 section 7.3: new data if there is any and the receiver's window allows it,
    /// regardless of the congestion window; otherwise the last segment again.
    #[cold]
    pub(super) fn send_probe(
        &mut self,
        now: SimTime,
        outgoing: &mut Outgoing,
    ) -> Option<Departure> {
        let last = self.board.last()?;
        let fits = self.edge.saturating_sub(self.nxt).min(self.agreed.mss);
        let sent = self.send(now, outgoing, fits);
        let retransmitted = sent.is_none().then(|| *self.board.get(last));
        let departure = sent.unwrap_or_else(|| self.retransmit(now, last));
        self.probe = Some(Probe { end: self.nxt, retransmitted });
        self.restart_timer(now);
        Some(departure)
    }

    /// `TLP_process_ack` of RFC 8985 section 7.4.2.
    pub(super) fn judge_probe(
        &mut self,
        now: SimTime,
        ack: &Ack,
        advanced: bool,
        duplicate: Option<(u64, u64)>,
    ) {
        let Some(probe) = self.probe.filter(|probe| ack.next >= probe.end) else { return };
        match probe.retransmitted {
            None => self.probe = None,
            Some(sent) if duplicate.is_some_and(|(_, end)| end == sent.end) => self.probe = None,
            Some(sent) if ack.next > probe.end => {
                // The probe repaired the loss, which still requires a congestion response.
                self.probe = None;
                self.control.on_loss(now, &[sent], Evidence::Probe, false);
            }
            Some(_) if !advanced && ack.empty && ack.count == 0 => self.probe = None,
            Some(_) => {}
        }
    }

    /// Probes the receiver periodically while data waits, nothing is in flight and its window is zero (RFC 9293 section
    /// 3.8.6.1).
    #[inline(never)]
    pub(super) fn arm_persist(&mut self, now: SimTime) {
        let persisting = self.timer.is_some_and(|timer| timer.kind == Kind::Persist);
        if !self.starved || !self.board.is_empty() {
            if persisting {
                self.timer = None;
            }
        } else if !persisting {
            let wait = self.rtt.doubled(self.window_probes);
            self.timer = Some(Timer { kind: Kind::Persist, at: now + wait });
        }
    }
}
