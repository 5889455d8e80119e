//! When losses are due and when to probe (RFC 9002 sections 6.1.2 and 6.2, appendices A.8 and A.9).

use leobench_base::{SimDuration, SimTime};

use super::{Control, Outcome, Recovery};
use crate::wire::Space;

/// The largest number of doublings that has an effect. RFC 9002 section 6.2.1 names no limit, as the idle timeout ends the
/// connection; without one, the timer would leave all bounds. It is that of noq: a timeout of 30 ms grows to 33 min.
const MOST_DOUBLINGS: u32 = 16;

/// Packets to send beyond the window, to be acknowledged: with new data, else with data sent before, else a PING.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Probe {
    /// In which space.
    pub space: Space,
    /// How many.
    pub packets: u32,
}

impl Recovery {
    /// When [`on_timeout`](Self::on_timeout) is due.
    #[inline]
    pub(crate) fn timer(&self) -> Option<SimTime> {
        self.timer
    }

    /// `OnLossDetectionTimeout` (appendix A.9): losses in `out`, a probe to send, or nothing if it is not due.
    #[cold]
    pub(crate) fn on_timeout(
        &mut self,
        now: SimTime,
        control: &mut Control,
        out: &mut Outcome,
    ) -> Option<Probe> {
        out.clear(Space::Data);
        if self.timer.is_none_or(|timer| timer > now) {
            return None;
        }
        if let Some((_, space)) = self.earliest_loss() {
            out.clear(space);
            self.lose(now, space, control, out);
            self.set_timer(now);
            return None;
        }
        let probe = self.probe_timer(now).map(|(_, space)| {
            // Section 6.2.4: two where something is outstanding, one as a sign of life.
            let packets = if self.is_ack_eliciting_in_flight(space) { 2 } else { 1 };
            Probe { space, packets }
        });
        if probe.is_some() {
            self.pto_count += 1;
            control.on_probe_timeout(self.path);
        }
        self.set_timer(now);
        probe
    }

    /// The probe timeout of a space without backoff (RFC 9002 section 6.2.1).
    #[inline]
    pub(crate) fn probe_timeout(&self, space: Space) -> SimDuration {
        let delay = if space == Space::Data { self.max_ack_delay } else { SimDuration::ZERO };
        self.rtt.probe_timeout() + delay
    }

    /// `SetLossDetectionTimer` (appendix A.8).
    #[inline]
    pub(super) fn set_timer(&mut self, now: SimTime) {
        if self.discarded == Space::Data as usize && self.is_settled() {
            self.timer = self.data_timer();
            return;
        }
        self.timer = match self.earliest_loss() {
            Some((time, _)) => Some(time),
            None => self.probe_timer(now).map(|(time, _)| time),
        };
    }

    /// The same, if only the Data space is left.
    #[inline]
    fn data_timer(&self) -> Option<SimTime> {
        let state = &self.spaces[Space::Data as usize];
        if state.loss_time.is_some() {
            return state.loss_time;
        }
        let last = state.last_eliciting.filter(|_| state.sent.has_eliciting())?;
        let backoff = 1_u64 << self.pto_count.min(MOST_DOUBLINGS);
        Some(last + self.probe_timeout(Space::Data) * backoff)
    }

    /// The spaces for which timers may run.
    #[inline]
    fn live(&self) -> impl Iterator<Item = Space> {
        Space::ALL.into_iter().skip(self.discarded)
    }

    /// `GetLossTimeAndSpace` (appendix A.8).
    #[inline]
    fn earliest_loss(&self) -> Option<(SimTime, Space)> {
        let times = self
            .live()
            .filter_map(|space| self.spaces[space as usize].loss_time.map(|time| (time, space)));
        times.min_by_key(|(time, _)| *time)
    }

    /// `GetPtoTimeAndSpace` (appendix A.8); none if there is nothing to probe for, or nothing may be sent.
    #[inline]
    fn probe_timer(&self, now: SimTime) -> Option<(SimTime, Space)> {
        if self.handshake.amplification_limited {
            return None;
        }
        let backoff = 1_u64 << self.pto_count.min(MOST_DOUBLINGS);
        let due = self.live().filter_map(|space| {
            let state = &self.spaces[space as usize];
            let may_probe = space != Space::Data || self.handshake.confirmed;
            let last = state.last_eliciting.filter(|_| may_probe && state.sent.has_eliciting())?;
            Some((last + self.probe_timeout(space) * backoff, space))
        });
        if let Some(due) = due.min_by_key(|(time, _)| *time) {
            return Some(due);
        }
        // The server may be waiting for permission to send more (section 6.2.2.1).
        let space =
            if self.handshake.has_handshake_keys { Space::Handshake } else { Space::Initial };
        let deadline = now + self.rtt.probe_timeout() * backoff;
        (!self.is_validated()).then_some((deadline, space))
    }
}
