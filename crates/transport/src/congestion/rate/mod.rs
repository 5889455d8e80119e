//! Delivery rates, sampled by every acknowledgement (draft-cheng-iccrg-delivery-rate-estimation, taken over by
//! draft-ietf-ccwg-bbr section 4.1), for algorithms that model the path.

use std::collections::VecDeque;

use leobench_base::{SimDuration, SimTime};

use super::delivery_rate::DeliveryRate;
use super::{AckEnd, Acked, Lost, Sent};

/// Bytes delivered and lost on a path, now and when each packet in flight was sent. Costs O(1) per packet.
#[derive(Clone, Debug, Default)]
pub(super) struct RateSampler {
    /// Packets in flight by number, from `first` on.
    packets: VecDeque<Option<Snapshot>>,
    first: u64,
    /// `C.delivered` and `C.delivered_time`.
    delivered: u64,
    delivered_time: SimTime,
    /// `C.lost`.
    lost: u64,
    /// `C.first_send_time`: when the packet was sent that was delivered last.
    first_sent: SimTime,
    /// `C.app_limited`: what will have been delivered once the last gap has left the path.
    limited_until: Option<u64>,
    /// `C.min_rtt`.
    min_rtt: Option<SimDuration>,
    ack: AckInProgress,
}

/// The state of the connection when a packet was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Snapshot {
    /// When it was sent.
    sent: SimTime,
    /// Bytes delivered before.
    delivered: u64,
    delivered_time: SimTime,
    first_sent: SimTime,
    /// Bytes lost before (`P.lost`).
    pub lost: u64,
    /// Bytes in flight, it included (`P.tx_in_flight`).
    pub in_flight: u64,
    /// Whether the application had left a gap on the path (`P.is_app_limited`).
    pub app_limited: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct AckInProgress {
    newest: Option<Snapshot>,
    /// When the newest packet was sent whose round trip is beyond doubt.
    timed: Option<SimTime>,
    newly_acked: u64,
    newly_lost: u64,
    prior_in_flight: u64,
}

/// The measurement that an acknowledgement yields.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateSample {
    /// When it arrived.
    pub now: SimTime,
    /// Bytes delivered by the length of the interval; none if that was too short to trust.
    pub rate: Option<DeliveryRate>,
    /// Bytes delivered over the sampled interval.
    pub delivered: u64,
    /// Bytes that had been delivered when the newest packet acknowledged was sent.
    pub prior_delivered: u64,
    /// Whether the application had left a gap on the path.
    pub app_limited: bool,
    /// Round-trip time of the newest packet acknowledged that has one beyond doubt.
    pub rtt: Option<SimDuration>,
    /// Bytes acknowledged anew.
    pub newly_acked: u64,
    /// Bytes declared lost since the acknowledgement before.
    pub newly_lost: u64,
    /// Bytes in flight before and after.
    pub prior_in_flight: u64,
    pub in_flight: u64,
    /// Bytes in flight when the newest packet acknowledged was sent, it included.
    pub tx_in_flight: u64,
    /// Bytes declared lost since then.
    pub lost: u64,
}

impl RateSampler {
    /// Bytes delivered so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes declared lost so far.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// `MarkConnectionAppLimited`: samples of what is in flight, and of what follows, underestimate the path.
    pub fn limit(&mut self, in_flight: u64) {
        self.limited_until = Some(self.delivered + in_flight);
    }

    /// Whether packets sent now follow a gap.
    pub fn is_limited(&self) -> bool {
        self.limited_until.is_some()
    }

    /// `OnPacketSent` (section 4.1.2.2).
    pub fn on_sent(&mut self, sent: &Sent) {
        let before = sent.in_flight.saturating_sub(sent.size);
        if sent.app_limited {
            self.limit(before.get());
        }
        if before.is_zero() {
            self.first_sent = sent.now;
            self.delivered_time = sent.now;
        }
        self.insert(
            sent.packet_number,
            Snapshot {
                sent: sent.now,
                delivered: self.delivered,
                delivered_time: self.delivered_time,
                first_sent: self.first_sent,
                lost: self.lost,
                in_flight: sent.in_flight.get(),
                app_limited: self.is_limited(),
            },
        );
    }

    /// `UpdateRateSample` (section 4.1.2.3).
    pub fn on_ack(&mut self, acked: &Acked) {
        if self.ack.newly_acked == 0 {
            self.ack.prior_in_flight = acked.in_flight.get();
        }
        if acked.app_limited {
            self.limit(acked.in_flight.get());
        }
        self.delivered += acked.size.get();
        self.delivered_time = acked.now;
        self.ack.newly_acked += acked.size.get();
        if !acked.ambiguous {
            self.ack.timed = self.ack.timed.max(Some(acked.sent));
        }
        let packet = self.remove(acked.packet_number).filter(|packet| packet.sent == acked.sent);
        if let Some(packet) = packet
            && self.ack.newest.is_none_or(|newest| packet.sent >= newest.sent)
        {
            self.ack.newest = Some(packet);
            self.first_sent = packet.sent;
        }
    }

    /// A packet was declared lost; what was known when it was sent.
    pub fn on_lost(&mut self, lost: &Lost) -> Option<Snapshot> {
        self.lost += lost.size.get();
        self.ack.newly_lost += lost.size.get();
        self.remove(lost.packet_number)
    }

    /// `GenerateRateSample` (section 4.1.2.3); none if none of the packets acknowledged is known.
    pub fn on_ack_end(&mut self, end: &AckEnd) -> Option<RateSample> {
        if self.limited_until.is_some_and(|until| self.delivered > until) {
            self.limited_until = None;
        }
        let ack = std::mem::take(&mut self.ack);
        let packet = ack.newest?;
        let rtt = ack.timed.map(|sent| end.now.saturating_since(sent));
        self.min_rtt = [self.min_rtt, rtt].into_iter().flatten().min();
        let sending = packet.sent.saturating_since(packet.first_sent);
        let acking = self.delivered_time.saturating_since(packet.delivered_time);
        let interval = sending.max(acking);
        let delivered = self.delivered - packet.delivered;
        // Of a packet sent again, this also drops what the acknowledgement of an earlier transmission makes too short.
        let long_enough = self.min_rtt.is_some_and(|min_rtt| interval >= min_rtt);
        let trusted = long_enough && !interval.is_zero();
        Some(RateSample {
            now: end.now,
            rate: trusted.then(|| DeliveryRate::over(delivered as f64, interval)),
            delivered,
            prior_delivered: packet.delivered,
            app_limited: packet.app_limited,
            rtt,
            newly_acked: ack.newly_acked,
            newly_lost: ack.newly_lost,
            prior_in_flight: ack.prior_in_flight,
            in_flight: end.in_flight.get(),
            tx_in_flight: packet.in_flight,
            lost: self.lost - packet.lost,
        })
    }

    /// A number that is not larger than those before opens a new number space; packets of the old one are forgotten.
    fn insert(&mut self, number: u64, packet: Snapshot) {
        let next = self.first + self.packets.len() as u64;
        if self.packets.is_empty() || number < next {
            self.packets.clear();
            self.first = number;
        } else {
            self.packets.extend((next..number).map(|_| None));
        }
        self.packets.push_back(Some(packet));
    }

    fn remove(&mut self, number: u64) -> Option<Snapshot> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let packet = self.packets.get_mut(index)?.take();
        while let Some(None) = self.packets.front() {
            self.packets.pop_front();
            self.first += 1;
        }
        packet
    }
}

#[cfg(test)]
mod tests;
