//! Links whose packets wait for a transmitter that others share: the part of a link before and behind it.

use leobench_base::{BitRate, Bytes, Descriptor, Header, SimDuration, SimTime};

use super::{Before, Flying, Link, LinkOutput, NEVER, wire_size};
use crate::queue::{Backlog, Cause};

/// The packets of a link that a shared transmitter has.
#[derive(Debug, Default)]
pub(super) struct Away {
    pub(super) waiting: Backlog,
    pub(super) on_wire: u64,
}

impl Link {
    /// Leaves queue and transmitter to somebody else. The link's own queue becomes a room in which packets wait while the link cannot
    /// be served: hand packets in with [`enter`](Self::enter), and say what the shared transmitter does to them.
    pub fn share_transmitter(&mut self) {
        self.away = Some(Box::default());
    }

    /// Counts marks of this cause from the start, none so far.
    pub fn expect_mark(&mut self, cause: Cause) {
        self.counters.marked.declare(cause);
    }

    /// The rate at which packets are sent now; none while the link is down or has no rate.
    pub fn offered_rate(&self) -> Option<BitRate> {
        let rate = self.transmitter.rate().filter(|_| self.transmitter.is_ready());
        rate.map(|(rate, _)| rate)
    }

    /// The delay of packets besides that of the channel's state.
    pub const fn own_delay(&self) -> SimDuration {
        self.own_delay
    }

    /// The delay of packets that are sent now.
    pub const fn delay(&self) -> SimDuration {
        self.delay
    }

    /// Whether packets are on its former way, with another delay.
    pub const fn is_overlapping(&self) -> bool {
        self.former.is_some()
    }

    /// Bytes that its framing adds to each packet.
    pub const fn overhead(&self) -> i64 {
        self.overhead
    }

    /// Bytes of an IP packet of `size` on the wire.
    pub fn wire_size(&self, size: Bytes) -> Bytes {
        wire_size(size, self.overhead)
    }

    /// Reads the state that the next packet changes, to prefetch it: a field of each cache line. The number means nothing.
    #[inline]
    pub fn touch(&self) -> u64 {
        let Self { counters, queue_delay, flight, mtu, .. } = self;
        let away = self.away.as_ref().map_or(0, |away| away.on_wire);
        let times = [self.delay, self.own_delay].map(SimDuration::as_nanos);
        let counted = counters.enqueued.packets ^ counters.delivered.packets ^ queue_delay.count();
        let packets = away ^ counted ^ flight.len() as u64 ^ mtu.get();
        packets ^ times[0] ^ times[1] ^ self.last_arrival.as_nanos() ^ self.state_loss.to_bits()
    }

    /// Takes a packet in at `now`, and hands it back for the shared queue if that is `open` to the link; else it waits here, or is
    /// dropped if the link is down, the packet too large, or the room full.
    pub fn enter(
        &mut self,
        now: SimTime,
        mut packet: Descriptor,
        open: bool,
        out: &mut LinkOutput,
    ) -> Option<Descriptor> {
        self.advance(now, out);
        self.counters.enqueued.count(packet.meta.size);
        packet.meta.enter(now);
        let before = Before::of(&out.fates);
        let mut goes_on = None;
        if !self.up {
            out.fates.drop(packet, Cause::DOWN);
        } else if packet.meta.size > self.mtu {
            out.fates.drop(packet, Cause::MTU);
        } else if open {
            self.away().waiting.add(packet.meta.size);
            goes_on = Some(packet);
        } else {
            self.queue.enqueue(now, packet, &mut out.fates);
        }
        self.count(&out.fates, before);
        goes_on
    }

    /// Empties the room into the shared queue, in order of arrival.
    pub fn leave_room(&mut self, now: SimTime, packets: &mut Vec<Descriptor>) {
        let first = packets.len();
        self.queue.flush(now, packets);
        for packet in &packets[first..] {
            self.away().waiting.add(packet.meta.size);
        }
    }

    /// Packets come back from the shared queue into the room.
    pub fn return_to_room(
        &mut self,
        now: SimTime,
        packets: impl Iterator<Item = Descriptor>,
        out: &mut LinkOutput,
    ) {
        let before = Before::of(&out.fates);
        for packet in packets {
            self.away().waiting.remove(packet.meta.size);
            self.queue.enqueue(now, packet, &mut out.fates);
        }
        self.count(&out.fates, before);
    }

    /// The transmission of a packet begins.
    pub fn on_started(&mut self, now: SimTime, packet: &Header) {
        let away = self.away();
        away.waiting.remove(packet.size);
        away.on_wire += 1;
        self.queue_delay.record((now - packet.arrival).as_nanos());
    }

    /// The transmission of a packet ended at `at`: it is lost, or propagates for as long as `delay` says.
    pub fn on_sent(
        &mut self,
        at: SimTime,
        packet: Descriptor,
        delay: SimDuration,
        out: &mut LinkOutput,
    ) {
        self.away().on_wire -= 1;
        self.flight.push_back(Flying { arrival: NEVER, packet });
        self.finish(at, delay, out);
        self.advance(at, out);
    }

    /// The first of several transmissions of a packet begins; [`on_sent`](Self::on_sent) ends the last one.
    pub fn on_departed(&mut self, size: Bytes) {
        let away = self.away();
        away.waiting.remove(size);
        away.on_wire += 1;
    }

    /// A packet that has departed comes back into the room at `now`.
    pub fn on_returned(&mut self, now: SimTime, packet: Descriptor, out: &mut LinkOutput) {
        self.away().on_wire -= 1;
        let before = Before::of(&out.fates);
        self.queue.enqueue(now, packet, &mut out.fates);
        self.count(&out.fates, before);
    }

    /// A packet that has departed is dropped on its way.
    pub fn on_lost(&mut self, size: Bytes, cause: Cause) {
        self.away().on_wire -= 1;
        self.counters.dropped.count(cause, size);
    }

    /// A packet has waited for so long, in all queues together.
    pub fn on_waited(&mut self, waited: SimDuration) {
        self.queue_delay.record(waited.as_nanos());
    }

    /// The shared queue has dropped a packet.
    pub fn on_dropped(&mut self, size: Bytes, cause: Cause) {
        self.away().waiting.remove(size);
        self.counters.dropped.count(cause, size);
    }

    /// The shared queue has marked a packet.
    pub fn on_marked(&mut self, size: Bytes, cause: Cause) {
        self.counters.marked.count(cause, size);
    }

    /// Drops packets that the link has left in a shared queue, and the one that it has left on the wire.
    pub fn drop_away(
        &mut self,
        waiting: impl Iterator<Item = Descriptor>,
        on_wire: Option<Descriptor>,
        cause: Cause,
        out: &mut LinkOutput,
    ) {
        let before = Before::of(&out.fates);
        for packet in waiting {
            self.away().waiting.remove(packet.meta.size);
            out.fates.drop(packet, cause);
        }
        if let Some(packet) = on_wire {
            self.away().on_wire -= 1;
            out.fates.drop(packet, cause);
        }
        self.count(&out.fates, before);
    }

    /// Drops the packets that propagate at `now`, but for those that stay.
    pub fn drop_flight(
        &mut self,
        now: SimTime,
        stays: impl Fn(&Descriptor) -> bool,
        cause: Cause,
        out: &mut LinkOutput,
    ) {
        self.advance(now, out);
        let before = Before::of(&out.fates);
        for _ in 0..self.flight.len() {
            let Some(flying) = self.flight.pop_front() else { break };
            if stays(&flying.packet) {
                self.flight.push_back(flying);
            } else {
                out.fates.drop(flying.packet, cause);
            }
        }
        self.count(&out.fates, before);
    }

    fn away(&mut self) -> &mut Away {
        self.away.as_mut().expect("the link shares a transmitter")
    }
}
