//! A transmitter that several links share: one queue, and one packet on the wire at a time.
//!
//! Links keep their channel, loss, medium access and propagation ([`Link::share_transmitter`](crate::Link::share_transmitter)). The
//! owner of both tags each packet with its link, and passes packets on: from the link into this queue, and, when a transmission
//! starts, ends or is refused, back to the link.

mod drop_tail;
mod turns;

use leobench_base::{BitRate, Bytes, Descriptor, Header, SimDuration, SimTime, Slot, Tag};

pub use drop_tail::{DropTail, Transmission};
pub use turns::{MemberQueue, Turn, Turns};

use crate::queue::{
    Backlog, Cause, Causes, Dequeued, Drop, Fates, Mark, QueueDiscipline, Tallies, Tally,
};

/// The service of one packet: the rate that its link offers, and its size on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketService {
    /// Above zero.
    pub rate: BitRate,
    /// With the framing of the link.
    pub wire_size: Bytes,
}

/// A transmission that began.
#[derive(Clone, Copy, Debug)]
pub struct Started {
    /// When.
    pub at: SimTime,
    /// The packet, as it waited.
    pub packet: Header,
    /// Its tag.
    pub tag: Tag,
    /// Its place in the network's store.
    pub slot: Slot,
}

/// The output of a shared transmitter. The caller owns the buffers, empties them and uses them again.
#[derive(Debug, Default)]
pub struct SharedOutput {
    /// Packets whose transmission began.
    pub started: Vec<Started>,
    /// Packets whose transmission ended, and when. Loss and propagation are up to their links.
    pub sent: Vec<(SimTime, Descriptor)>,
    /// Packets that the queue dropped or marked.
    pub fates: Fates,
}

impl SharedOutput {
    /// Whether nothing came out.
    pub fn is_empty(&self) -> bool {
        self.started.is_empty() && self.sent.is_empty() && self.fates.is_empty()
    }
}

/// Totals of a shared transmitter.
///
/// At any moment, enqueued = sent + dropped + withdrawn + backlog + packet on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedCounters {
    /// Packets handed to the queue.
    pub enqueued: Tally,
    /// Packets whose transmission ended.
    pub sent: Tally,
    /// Bytes of the packets sent with the framing overhead of their links.
    pub wire_bytes: Bytes,
    /// Packets taken out because their link left.
    pub withdrawn: Tally,
    /// Packets that the queue dropped, by cause.
    pub dropped: Tallies,
    /// Packets that the queue marked, by cause.
    pub marked: Tallies,
    /// Time in transmissions that ended, or were cut off.
    pub busy: SimDuration,
    /// Time from the packets' arrival at their links to the start of their transmissions: sum in nanoseconds, and longest.
    pub wait: (u128, SimDuration),
    /// Transmissions that began.
    pub started: u64,
}

impl SharedCounters {
    /// Nothing so far, of these causes.
    pub fn new(causes: &Causes) -> Self {
        let dropped = [Cause::QUEUE].into_iter().chain(causes.drops.iter().copied());
        Self {
            dropped: Tallies::new(dropped),
            marked: Tallies::new(causes.marks.iter().copied()),
            ..Self::default()
        }
    }

    /// Counts what another transmitter did too.
    pub fn add(&mut self, others: &Self) {
        self.enqueued.add(others.enqueued);
        self.sent.add(others.sent);
        self.wire_bytes += others.wire_bytes;
        self.withdrawn.add(others.withdrawn);
        self.dropped.add(&others.dropped);
        self.marked.add(&others.marked);
        self.busy += others.busy;
        self.wait = (self.wait.0 + others.wait.0, self.wait.1.max(others.wait.1));
        self.started += others.started;
    }
}

/// A transmitter with one queue for the packets of several links, as a state machine that is handed the time.
///
/// Hand in packets with [`enqueue`](Self::enqueue) and call [`advance`](Self::advance) at [`next_wake`](Self::next_wake).
/// Transmissions follow each other one by one, each at the rate that the packet's own link offers when it begins; the fraction of a
/// nanosecond that is left is carried to the next one while they follow back to back. No packet in the queue may be of a link at a
/// rate of zero: [`withdraw`](Self::withdraw) those first, so that they hold up no others.
pub struct SharedTransmitter {
    queue: Box<dyn QueueDiscipline>,
    wire: Option<OnWire>,
    /// When the queue, which holds its packets back, is to be asked again; never during a transmission.
    held_until: Option<SimTime>,
    /// Rate of the last packet, and the remainder of its transmission.
    carry: (BitRate, u64),
    counters: SharedCounters,
}

/// The packet on the wire.
#[derive(Debug)]
struct OnWire {
    since: SimTime,
    until: SimTime,
    wire_size: Bytes,
    packet: Descriptor,
}

impl SharedTransmitter {
    /// A transmitter that nothing waits for; `causes` are those that its totals have from the start.
    pub fn new(queue: Box<dyn QueueDiscipline>, causes: &Causes) -> Self {
        let (wire, held_until, carry) = (None, None, (BitRate::ZERO, 0));
        Self { queue, wire, held_until, carry, counters: SharedCounters::new(causes) }
    }

    /// Takes a tagged packet in at `now`, which must be the time of the network; `service` says how any packet is served.
    pub fn enqueue(
        &mut self,
        now: SimTime,
        packet: Descriptor,
        service: impl Fn(&Descriptor) -> PacketService,
        out: &mut SharedOutput,
    ) {
        self.advance(now, &service, out);
        self.counters.enqueued.count(packet.meta.size);
        let before = (out.fates.drops.len(), out.fates.marks.len());
        self.queue.enqueue(now, packet, &mut out.fates);
        self.count(&out.fates, before);
        self.resume(now, service, out);
    }

    /// Does everything due up to and including `now`.
    pub fn advance(
        &mut self,
        now: SimTime,
        service: impl Fn(&Descriptor) -> PacketService,
        out: &mut SharedOutput,
    ) {
        while let Some(at) = self.next_wake().filter(|at| *at <= now) {
            if let Some(OnWire { since, wire_size, packet, .. }) = self.wire.take() {
                self.counters.sent.count(packet.meta.size);
                self.counters.wire_bytes += wire_size;
                self.counters.busy += at - since;
                out.sent.push((at, packet));
            }
            self.resume(at, &service, out);
        }
    }

    /// Begins the next transmission at `now`, if none is under way and the queue hands out a packet.
    pub fn resume(
        &mut self,
        now: SimTime,
        service: impl Fn(&Descriptor) -> PacketService,
        out: &mut SharedOutput,
    ) {
        if self.wire.is_some() {
            return;
        }
        self.held_until = None;
        let before = (out.fates.drops.len(), out.fates.marks.len());
        let dequeued = self.queue.dequeue(now, &mut out.fates);
        self.count(&out.fates, before);
        match dequeued {
            Dequeued::Packet(packet) => self.start(now, packet, service, out),
            Dequeued::Empty => self.carry.1 = 0,
            Dequeued::NotBefore(time) => {
                assert!(time > now, "the queue holds packets back until {time}, but it is {now}");
                self.held_until = Some(time);
                self.carry.1 = 0;
            }
        }
    }

    fn start(
        &mut self,
        now: SimTime,
        mut packet: Descriptor,
        service: impl Fn(&Descriptor) -> PacketService,
        out: &mut SharedOutput,
    ) {
        let PacketService { rate, wire_size } = service(&packet);
        let (before, carry) = self.carry;
        // The remainder is in units of 1 / rate nanoseconds.
        let carry = if rate == before || before.is_zero() {
            carry
        } else {
            (u128::from(carry) * u128::from(rate.bps()) / u128::from(before.bps())) as u64
        };
        let (span, rest) =
            rate.serialise(wire_size, carry).expect("a link without a rate has left the queue");
        self.carry = (rate, rest);
        let waited = now.saturating_since(packet.meta.arrival);
        self.counters.started += 1;
        self.counters.wait.0 += u128::from(waited.as_nanos());
        self.counters.wait.1 = self.counters.wait.1.max(waited);
        self.queue.on_sent(wire_size, span);
        let (tag, slot) = (packet.tag, packet.slot);
        out.started.push(Started { at: now, packet: packet.meta, tag, slot });
        packet.meta.begin(now);
        self.wire = Some(OnWire { since: now, until: now + span, wire_size, packet });
    }

    /// When something is due next; `None` if nothing is until a packet comes.
    pub fn next_wake(&self) -> Option<SimTime> {
        self.wire.as_ref().map(|wire| wire.until).or(self.held_until)
    }

    /// Takes the waiting packets that leave out of the queue at `now`, in order of arrival. The one on the wire goes on.
    pub fn withdraw(
        &mut self,
        now: SimTime,
        leaves: &dyn Fn(&Descriptor) -> bool,
        packets: &mut Vec<Descriptor>,
    ) {
        let first = packets.len();
        self.queue.withdraw(now, leaves, packets);
        for packet in &packets[first..] {
            self.counters.withdrawn.count(packet.meta.size);
        }
    }

    /// Cuts off the transmission under way at `now`, if its packet leaves. [`resume`](Self::resume) begins the next one.
    pub fn cut(
        &mut self,
        now: SimTime,
        leaves: impl Fn(&Descriptor) -> bool,
    ) -> Option<Descriptor> {
        let OnWire { since, packet, .. } = self.wire.take_if(|wire| leaves(&wire.packet))?;
        self.counters.busy += now - since;
        self.counters.withdrawn.count(packet.meta.size);
        self.carry.1 = 0;
        Some(packet)
    }

    /// How much waits, the packet on the wire not counted.
    pub fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// Whether nothing waits and nothing is on the wire.
    pub fn is_idle(&self) -> bool {
        self.wire.is_none() && self.backlog().packets == 0
    }

    /// The totals.
    pub const fn counters(&self) -> &SharedCounters {
        &self.counters
    }

    /// Counts anew from here on.
    pub fn restart(&mut self, causes: &Causes) {
        self.counters = SharedCounters::new(causes);
    }

    /// Counts what was dropped and marked since.
    fn count(&mut self, fates: &Fates, (drops, marks): (usize, usize)) {
        if fates.is_empty() {
            return;
        }
        for Drop { packet, cause } in &fates.drops[drops..] {
            self.counters.dropped.count(*cause, packet.meta.size);
        }
        for Mark { meta, cause, .. } in &fates.marks[marks..] {
            self.counters.marked.count(*cause, meta.size);
        }
    }
}

#[cfg(test)]
mod tests;
