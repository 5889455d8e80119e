//! Handling of acknowledgements: acknowledged packets, losses, marks, round-trip times (appendices A.7, A.10 and B).

use leobench_base::{Bytes, SimDuration, SimTime};
use leobench_transport::Role;
use leobench_transport::congestion::Congestion;

use super::loss::Threshold;
use super::{Control, EcnCounts, Outcome, ProtocolViolation, Recovery, SentPacket, Space};
use crate::wire::Ack;

impl Recovery {
    /// `OnAckReceived` (appendix A.7). `ack_delay` is the frame's delay as a time. Reports marks to the controller, then the
    /// losses that the acknowledgement reveals, and then the packets acknowledged.
    ///
    /// # Errors
    /// If it acknowledges a packet that was never sent.
    pub(crate) fn on_ack(
        &mut self,
        now: SimTime,
        space: Space,
        ack: &Ack,
        ack_delay: SimDuration,
        control: &mut Control,
        out: &mut Outcome,
    ) -> Result<(), ProtocolViolation> {
        out.clear(space);
        let path = self.path;
        let state = &mut self.spaces[space as usize];
        let largest_before = state.sent.largest_acked();
        // Those at the end are most often about packets that were settled long ago.
        let fresh = ack.ranges.iter().take_while(|range| !state.sent.is_past(**range)).count();
        for range in ack.ranges[..(fresh + 1).min(ack.ranges.len())].iter().rev() {
            if !state.sent.acknowledge(*range, &mut out.acked) {
                return Err(ProtocolViolation("ACK of a packet that was not sent"));
            }
        }
        if !state.lost.is_empty() {
            state.lost.acknowledge(ack, &mut self.reduction, &mut out.late);
            if let Some(last) = out.late.last() {
                state.newest_acked = state.newest_acked.max(Some(last.at));
                out.late.iter().for_each(|late| state.sent.on_late(late.number));
                control.on_late(path, &out.late);
                if self.reduction.take_undo() {
                    control.on_spurious(path);
                }
            }
        }
        let Some(newest) = out.acked.last() else { return Ok(()) };
        state.newest_acked = state.newest_acked.max(Some(newest.at));
        self.handshake_acked |= space == Space::Handshake;

        let elsewhere = newest.elsewhere;
        let newest = (newest.number, newest.at);
        let sampled = newest.0 == ack.largest()
            && !elsewhere
            && out.acked.iter().any(|sent| sent.ack_eliciting && !sent.elsewhere);
        if sampled {
            self.sample(now, space, newest.1, ack_delay);
            control.on_rtt(path, self.rtt.rtt());
        }
        if Some(ack.largest()) > largest_before {
            match ack.ecn.as_deref().copied() {
                Some(counts) if elsewhere => self.spaces[space as usize].ecn.skip(counts),
                None if elsewhere => {}
                counts => self.process_ecn(now, space, counts, newest.1, control, &out.acked),
            }
        }
        self.lose(now, space, control, out);
        self.report_acked(now, control, &out.acked);
        if self.is_validated() {
            self.pto_count = 0;
        }
        self.set_timer(now);
        Ok(())
    }

    /// RFC 9002 section 5.3: the delay of Initial packets is ignored, and the peer's limit on it only counts once the
    /// handshake is confirmed.
    fn sample(&mut self, now: SimTime, space: Space, sent: SimTime, ack_delay: SimDuration) {
        let ack_delay = match space {
            Space::Initial => SimDuration::ZERO,
            _ if self.handshake.confirmed => ack_delay.min(self.max_ack_delay),
            _ => ack_delay,
        };
        self.rtt.sample(now, now.saturating_since(sent), ack_delay);
    }

    /// `ProcessECN` (appendix B.7), for an acknowledgement with a new largest number only (RFC 9000 section 13.4.2.1).
    fn process_ecn(
        &mut self,
        now: SimTime,
        space: Space,
        counts: Option<EcnCounts>,
        newest_sent: SimTime,
        control: &mut Control,
        acked: &[SentPacket],
    ) {
        let marked = acked.iter().filter(|sent| sent.ect).count() as u64;
        let state = &mut self.spaces[space as usize];
        if self.ecn.on_ack(&mut state.ecn, counts, marked) == 0 {
            return;
        }
        let congestion = Congestion::new(now, newest_sent, Bytes::ZERO, false);
        if control.on_ecn(self.path, &congestion) {
            self.reduction.begin();
        }
        self.reduction.justify();
    }

    /// `DetectAndRemoveLostPackets` (appendix A.10), with all that follows from it.
    pub(super) fn lose(
        &mut self,
        now: SimTime,
        space: Space,
        control: &mut Control,
        out: &mut Outcome,
    ) {
        if !self.spaces[space as usize].sent.has_gap() {
            self.spaces[space as usize].loss_time = None;
            return;
        }
        // What was acknowledged in another space may have been sent among the packets lost.
        let others = Space::ALL.into_iter().filter(|other| *other != space);
        let elsewhere = others.filter_map(|other| self.spaces[other as usize].newest_acked).max();
        let since = self.rtt.first_sample().map(|first| first.max(elsewhere.unwrap_or(first)));
        let threshold = Threshold { now, delay: self.rtt.loss_delay(), since };
        let state = &mut self.spaces[space as usize];
        let found = state.sent.detect_lost(&threshold, &mut out.lost);
        state.loss_time = found.loss_time;
        if !out.lost.is_empty() {
            control.on_lost_elsewhere(self.path, &out.lost);
            self.report_lost(now, space, found.silence, control, out);
        }
    }

    /// `OnPacketsLost` (appendix B.8).
    #[cold]
    fn report_lost(
        &mut self,
        now: SimTime,
        space: Space,
        silence: SimDuration,
        control: &mut Control,
        out: &mut Outcome,
    ) {
        let Some(newest) = out.lost.iter().rfind(|packet| packet.in_flight) else { return };

        let newest_sent = newest.at;
        let mut bytes = 0;
        for packet in out.lost.iter().filter(|packet| packet.in_flight) {
            bytes += packet.size;
            control.on_packet_lost(self.path, now, packet);
        }
        self.in_flight -= bytes;
        self.ecn.on_lost(out.lost.iter().filter(|packet| packet.ect).count() as u64);
        out.persistent = silence > self.rtt.persistent_duration(self.max_ack_delay);
        let congestion = Congestion::new(now, newest_sent, Bytes::new(bytes), out.persistent);
        if control.on_loss(self.path, &congestion) {
            self.reduction.begin();
        }
        let pto = self.rtt.probe_timeout() + self.max_ack_delay;
        self.spaces[space as usize].lost.extend(now, pto, &out.lost, &mut self.reduction);
        if out.persistent {
            self.rtt.reset_min();
        }
    }

    /// `OnPacketsAcked` (appendix B.5).
    fn report_acked(&mut self, now: SimTime, control: &mut Control, acked: &[SentPacket]) {
        let rtt = self.rtt.rtt();
        for packet in acked.iter().filter(|packet| packet.in_flight) {
            control.on_acked(self.path, now, packet, self.in_flight, rtt);
            self.in_flight -= packet.size;
        }
        control.on_ack_end(self.path, now, self.in_flight);
    }

    /// `PeerCompletedAddressValidation` (appendix A.8).
    pub(super) fn is_validated(&self) -> bool {
        self.role == Role::Server || self.handshake_acked || self.handshake.confirmed
    }
}
