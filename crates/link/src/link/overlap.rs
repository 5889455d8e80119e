//! Overlaps: a link that has another way, while what was on it goes on over the former one.

use std::collections::VecDeque;

use leobench_base::{BitRate, Bytes, Descriptor, SimDuration, SimTime};

use super::{Before, Flying, Link, LinkOutput, NEVER, wire_size};
use crate::queue::{Cause, Fates};

/// The former way of a link. Its rate and its delay stay what they were.
#[derive(Debug)]
pub(super) struct Former {
    /// Packets that wait for it, in the order of the queue.
    pub(super) waiting: VecDeque<Descriptor>,
    /// The packet on the wire, and when its transmission ends.
    pub(super) wire: Option<(SimTime, Descriptor)>,
    /// Packets that propagate, in the order of their arrival.
    pub(super) flight: VecDeque<Flying>,
    rate: BitRate,
    carry: u64,
    pub(super) delay: SimDuration,
    since: SimTime,
}

impl Former {
    /// A way with a rate, and the remainder of its last packet, that has carried nothing but the link's since `now`.
    pub(super) fn new(now: SimTime, (rate, carry): (BitRate, u64), delay: SimDuration) -> Self {
        let (waiting, wire, flight) = (VecDeque::new(), None, VecDeque::new());
        Self { waiting, wire, flight, rate, carry, delay, since: now }
    }

    /// When its transmission under way ends; [`NEVER`] if there is none.
    pub(super) fn due(&self) -> SimTime {
        self.wire.as_ref().map_or(NEVER, |(at, _)| *at)
    }

    /// When the next packet arrives; [`NEVER`] if none does.
    pub(super) fn arrival(&self) -> SimTime {
        self.flight.front().map_or(NEVER, |flying| flying.arrival)
    }

    /// Puts the next packet on the wire, which has this size there; when it was handed to the link.
    pub(super) fn start(
        &mut self,
        now: SimTime,
        wire_size: impl Fn(Bytes) -> Bytes,
    ) -> Option<SimTime> {
        let size = wire_size(self.waiting.front()?.meta.size);
        let (span, rest) = self.rate.serialise(size, self.carry)?;
        let mut packet = self.waiting.pop_front()?;
        let arrival = packet.meta.begin(now);
        self.carry = rest;
        self.wire = Some((now + span, packet));
        Some(arrival)
    }

    /// Bytes and packets that wait.
    pub(super) fn backlog(&self) -> (Bytes, u64) {
        (self.waiting.iter().map(|packet| packet.meta.size).sum(), self.waiting.len() as u64)
    }

    /// Packets on the wire and propagating.
    pub(super) fn in_flight(&self) -> u64 {
        self.flight.len() as u64 + u64::from(self.wire.is_some())
    }

    /// Bits that it could have sent by `now` since the overlap began.
    pub(super) fn offered_bits(&self, now: SimTime) -> u128 {
        u128::from(self.rate.bps()) * u128::from((now - self.since).as_nanos()) / 1_000_000_000
    }
}

/// The fate of packets that are still on the former way at the end of an overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterOverlap {
    /// Those that wait go on over the new way, behind what waits there; all others arrive.
    Drain,
    /// Those that wait are lost, all others arrive.
    DropWaiting(Cause),
    /// All are lost.
    DropAll(Cause),
}

impl Link {
    /// The link has another way from `now` on, whose state is to be [set](Self::set_channel) next. What is on the link goes on
    /// over the former one, at its rate and delay, until [`end_overlap`](Self::end_overlap).
    ///
    /// # Panics
    /// If a trace serves the link.
    pub fn begin_overlap(&mut self, now: SimTime, out: &mut LinkOutput) {
        self.advance(now, out);
        self.end_overlap(now, AfterOverlap::Drain, out);
        let rate = self.transmitter.rate().expect("links with overlaps have rates");
        let mut former = Former::new(now, rate, self.delay);
        let mut waiting = Vec::new();
        self.queue.flush(now, &mut waiting);
        former.waiting.extend(waiting);
        let at = std::mem::replace(&mut self.sent_at, NEVER);
        if at < NEVER {
            former.wire = self.flight.pop_back().map(|flying| (at, flying.packet));
        }
        former.flight = std::mem::take(&mut self.flight);
        self.held_until = NEVER;
        self.transmitter.pause();
        self.former = Some(Box::new(former));
        self.start_former(now);
    }

    /// Nothing goes over the former way any more, if there is one.
    pub fn end_overlap(&mut self, now: SimTime, after: AfterOverlap, out: &mut LinkOutput) {
        self.advance(now, out);
        let Some(former) = self.former.take() else { return };
        self.former_bits += former.offered_bits(now);
        let Former { waiting, wire, flight, delay, .. } = *former;
        let before = Before::of(&out.fates);
        for packet in waiting {
            match after {
                AfterOverlap::Drain => self.queue.enqueue(now, packet, &mut out.fates),
                AfterOverlap::DropWaiting(cause) | AfterOverlap::DropAll(cause) => {
                    out.fates.drop(packet, cause);
                }
            }
        }
        let wire = wire.and_then(|(at, packet)| match after {
            AfterOverlap::DropAll(_) => Some(Flying { arrival: at, packet }),
            AfterOverlap::Drain | AfterOverlap::DropWaiting(_) => self
                .leave_former(now, packet, &mut out.fates)
                .map(|packet| Flying { arrival: at + delay, packet }),
        });
        for Flying { arrival, packet } in flight.into_iter().chain(wire) {
            if let AfterOverlap::DropAll(cause) = after {
                out.fates.drop(packet, cause);
                continue;
            }
            let place = self.flight.partition_point(|flying| flying.arrival <= arrival);
            self.flight.insert(place, Flying { arrival, packet });
        }
        self.count(&out.fates, before);
        if self.sent_at == NEVER {
            self.start_next(now, out);
        }
    }

    /// Puts the next packet on the wire of the former way.
    fn start_former(&mut self, now: SimTime) {
        let overhead = self.overhead;
        let Some(former) = &mut self.former else { return };
        if former.wire.is_none()
            && let Some(arrival) = former.start(now, |size| wire_size(size, overhead))
        {
            self.queue_delay.record((now - arrival).as_nanos());
        }
    }

    /// Ends the transmission on the former way.
    #[cold]
    pub(super) fn finish_former(&mut self, at: SimTime, out: &mut LinkOutput) {
        let Some(former) = &mut self.former else { return };
        let (Some((_, packet)), delay) = (former.wire.take(), former.delay) else { return };
        let before = Before::of(&out.fates);
        if let Some(packet) = self.leave_former(at, packet, &mut out.fates) {
            let leaves = self.access.as_mut().map_or(at, |access| access.leaves(at));
            if let Some(former) = &mut self.former {
                former.flight.push_back(Flying { arrival: leaves + delay, packet });
            }
        }
        self.count(&out.fates, before);
        self.start_former(at);
    }

    /// Hands back what arrives up to `now` over the present way and the former one.
    #[cold]
    pub(super) fn work_off_both(&mut self, now: SimTime, out: &mut LinkOutput) {
        loop {
            let new = self.flight.front().map_or(NEVER, |flying| flying.arrival);
            let old = self.former.as_ref().map_or(NEVER, |former| former.arrival());
            if new.min(old) > now {
                return;
            }
            let flight = match &mut self.former {
                Some(former) if old <= new => &mut former.flight,
                _ => &mut self.flight,
            };
            if let Some(Flying { packet, .. }) = flight.pop_front() {
                self.counters.delivered.count(packet.meta.size);
                out.arrivals.push(packet);
            }
        }
    }

    /// A packet has been sent on the former way, unless the channel loses it.
    fn leave_former(
        &mut self,
        at: SimTime,
        packet: Descriptor,
        fates: &mut Fates,
    ) -> Option<Descriptor> {
        let size = packet.meta.size;
        self.counters.sent.count(size);
        self.counters.wire_bytes += wire_size(size, self.overhead);
        if self.is_lost(at, &packet) {
            fates.drop(packet, Cause::CHANNEL);
            return None;
        }
        Some(packet)
    }

    /// Whether the channel loses a packet whose transmission ends.
    fn is_lost(&mut self, at: SimTime, packet: &Descriptor) -> bool {
        let lost_in_state = self.state_loss > 0.0 && self.state_rng.bernoulli(self.state_loss);
        let lost_by_process = self.loss.as_mut().is_some_and(|loss| loss.lost(at, &packet.meta));
        lost_in_state || lost_by_process
    }
}
