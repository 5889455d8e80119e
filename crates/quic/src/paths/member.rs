//! A path as one of several: what path schedulers see of it, and the data of other paths that it repeats.

use std::collections::VecDeque;

use leobench_base::{BitRate, Bytes, SimDuration, SimTime};
use leobench_transport::endpoint::{Forecast, PathId};
use leobench_transport::path_manager::PathState;
use leobench_transport::path_scheduler::PathView;

use super::path::Path;
use crate::recovery::Control;
use crate::sent_frame::SentFrame;
use crate::wire::{PathFrame, StreamId};

/// The status that each end gives a path: available or backup (draft-ietf-quic-multipath section 3.3).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Status {
    /// Whether this end wants it to be used only if no other one can be.
    pub(crate) backup: bool,
    /// Whether this end is to say so, and with which sequence number.
    pub(crate) pending: bool,
    sequence: u64,
    /// Whether the peer wants the same, and the sequence number with which it said so.
    peer_backup: bool,
    peer_sequence: Option<u64>,
}

impl Status {
    /// Makes the path a backup or available, and has the peer told if that is not what it assumes.
    pub(crate) fn begin(&mut self, backup: bool) {
        (self.backup, self.pending) = (backup, backup);
    }

    /// The frame that tells the peer, and what stands for it.
    pub(crate) fn frame(&self, PathId(path): PathId) -> (PathFrame, SentFrame) {
        let Self { sequence, backup, .. } = *self;
        let frame = PathFrame::Status { path, sequence, backup };
        (frame, SentFrame::PathStatus { path, sequence })
    }

    /// The frame was put into a packet.
    pub(crate) fn on_sent(&mut self) {
        self.pending = false;
        self.sequence += 1;
    }

    /// The frame with this sequence number was lost.
    pub(crate) fn on_lost(&mut self, sequence: u64) {
        self.pending |= sequence + 1 == self.sequence;
    }
}

/// A path as one of several.
#[derive(Debug, Default)]
pub(crate) struct Member {
    /// The place of its link in the specification, if this end knows it.
    pub(crate) link: Option<usize>,
    /// The latest forecast.
    pub(crate) forecast: Option<Forecast>,
    pub(crate) delivery: DeliveryMeter,
    /// Data that other paths have sent, in the order in which this one is to send it too.
    pub(crate) copies: VecDeque<StreamRange>,
    /// Bytes of streams that it has sent as copies.
    pub(crate) reinjected: u64,
}

impl Member {
    /// Drops copies at the head of the queue that are acknowledged by now. Returns whether others are left.
    pub(crate) fn prune_copies(
        &mut self,
        mut is_unacked: impl FnMut(&StreamRange) -> bool,
    ) -> bool {
        while let Some(range) = self.copies.front() {
            if is_unacked(range) {
                return true;
            }
            self.copies.pop_front();
        }
        false
    }
}

impl Path {
    /// Whether it has copies of other paths' data to send.
    pub(crate) fn has_copies(&self) -> bool {
        self.member.as_ref().is_some_and(|member| !member.copies.is_empty())
    }

    /// How little it is wanted for data: those that do not answer last, and backups after others (section 3.3).
    pub(crate) fn reserve(&self) -> u8 {
        let backup = self.status.backup || self.status.peer_backup;
        if self.recovery.pto_count() > 0 { 2 } else { u8::from(backup) }
    }

    /// The state that path managers see.
    pub(crate) fn state(&self) -> PathState {
        match self.recovery.pto_count() {
            0 if self.proven && self.route.is_validated() => PathState::Usable,
            0 => PathState::Opening,
            timeouts => PathState::Silent(timeouts),
        }
    }

    /// The peer has made it a backup, or available (section 3.3).
    pub(crate) fn on_peer_status(&mut self, now: SimTime, sequence: u64, backup: bool) {
        let status = &mut self.status;
        if status.peer_sequence.is_some_and(|last| last >= sequence) {
            return;
        }
        let returns = status.peer_backup && !backup;
        (status.peer_backup, status.peer_sequence) = (backup, Some(sequence));
        if returns && self.recovery.pto_count() > 0 {
            // The peer knows that it carries packets again: what it did before does not count.
            self.recovery.restart_backoff(now);
            self.acks.probes = 1;
        }
    }

    /// It has its carrier back: nothing that it waited for meanwhile counts, and the peer learns that it is there.
    pub(crate) fn resume(&mut self, now: SimTime) {
        self.recovery.restart_backoff(now);
        self.acks.probes = 1;
        if !self.proven || !self.route.is_validated() {
            self.begin_validation(now);
        }
    }

    /// The path scheduler's view, but for the delivery rate.
    #[inline]
    pub(crate) fn view(&self, control: &Control) -> PathView {
        let window = control.window(self.id);
        let member = self.member.as_deref();
        let rtt = self.recovery.rtt();
        PathView {
            id: self.id,
            link: member.and_then(|member| member.link),
            rtt: rtt.smoothed(),
            variation: rtt.variation(),
            window: Bytes::new(window),
            in_flight: Bytes::new(self.recovery.in_flight()),
            payload: Bytes::new(self.mtu),
            ready: self.ready(window, control),
            slow_start: control.ssthresh(self.id).is_none_or(|ssthresh| window < ssthresh.get()),
            delivery_rate: None,
            forecast: member.and_then(|member| member.forecast),
        }
    }

    /// The rate at which its data was acknowledged over the last round trip, `rtt`.
    pub(crate) fn measure_delivery(
        &mut self,
        now: SimTime,
        rtt: SimDuration,
        control: &Control,
    ) -> Option<BitRate> {
        let delivery = &mut self.member.as_mut()?.delivery;
        delivery.update(now, control.acked_bytes(self.id).get(), rtt);
        delivery.rate()
    }
}

/// Bytes of a stream, and perhaps its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamRange {
    pub(crate) id: StreamId,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) fin: bool,
}

/// Measures the rate at which data of a path is acknowledged, once a round trip.
#[derive(Debug, Default)]
pub(crate) struct DeliveryMeter {
    /// When the present round trip began, and how many bytes had been acknowledged by then.
    since: Option<(SimTime, u64)>,
    rate: Option<BitRate>,
}

impl DeliveryMeter {
    /// By `now`, `acked` bytes have been acknowledged since the start; a round trip takes `rtt`.
    #[inline]
    pub(crate) fn update(&mut self, now: SimTime, acked: u64, rtt: SimDuration) {
        let (since, before) = *self.since.get_or_insert((now, acked));
        let passed = now.saturating_since(since);
        if passed < rtt || passed.is_zero() {
            return;
        }
        let bits = u128::from(acked - before) * 8 * 1_000_000_000;
        let rate = bits / u128::from(passed.as_nanos());
        self.rate = Some(BitRate::from_bps(u64::try_from(rate).unwrap_or(u64::MAX)));
        self.since = Some((now, acked));
    }

    /// The rate over the last round trip that is over.
    #[inline]
    pub(crate) fn rate(&self) -> Option<BitRate> {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_whole_round_trip() {
        let mut meter = DeliveryMeter::default();
        let (rtt, ms) =
            (SimDuration::from_millis(40), |millis: u64| SimTime::from_nanos(millis * 1_000_000));
        meter.update(ms(0), 1_000, rtt);
        meter.update(ms(39), 900_000, rtt);
        assert_eq!(meter.rate(), None, "no round trip has passed");
        meter.update(ms(40), 51_000, rtt);
        assert_eq!(meter.rate(), Some(BitRate::from_bps(10_000_000)));
        meter.update(ms(79), 500_000, rtt);
        assert_eq!(meter.rate(), Some(BitRate::from_bps(10_000_000)));
        meter.update(ms(90), 51_000, rtt);
        assert_eq!(meter.rate(), Some(BitRate::from_bps(0)));
    }
}
