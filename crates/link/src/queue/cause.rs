//! Why packets are dropped or marked, and how many were, by cause.

use leobench_base::{Bytes, Descriptor, Ecn, Header, Tag};

/// Why a packet was dropped or marked: a name that tables and summaries show. Queue disciplines name their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cause(&'static str);

impl Cause {
    /// The queue was full.
    pub const QUEUE: Self = Self("queue");
    /// It was lost on the channel.
    pub const CHANNEL: Self = Self("channel");
    /// The link was down when it arrived.
    pub const DOWN: Self = Self("down");
    /// It was larger than the link's MTU.
    pub const MTU: Self = Self("mtu");

    /// Its link was left in a handover.
    pub const HANDOVER: Self = Self("handover");
    /// No node knew a way to where it was going.
    pub const NO_ROUTE: Self = Self("no_route");
    /// It went in a circle.
    pub const LOOP: Self = Self("loop");
    /// Nobody was there to take it.
    pub const NO_PORT: Self = Self("no_port");

    /// The causes of every link, in the order of the summary.
    pub const OF_LINKS: [Self; 4] = [Self::QUEUE, Self::CHANNEL, Self::DOWN, Self::MTU];

    /// The causes of drops that every network has, in the order of the summary.
    pub const OF_NETWORKS: [Self; 7] = [
        Self::QUEUE,
        Self::CHANNEL,
        Self::DOWN,
        Self::MTU,
        Self::HANDOVER,
        Self::NO_ROUTE,
        Self::NO_PORT,
    ];

    /// A cause of this name: small letters, digits and `_`.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// The name in tables and summaries.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

/// The causes that a queue discipline names, in the order of the summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Causes {
    /// Of drops, besides [`Cause::QUEUE`].
    pub drops: Vec<Cause>,
    /// Of ECN marks.
    pub marks: Vec<Cause>,
}

impl Causes {
    /// One cause of both drops and marks.
    pub fn both(cause: Cause) -> Self {
        Self { drops: vec![cause], marks: vec![cause] }
    }
}

/// A packet that did not get through, and why.
#[derive(Debug)]
pub struct Drop {
    /// The packet.
    pub packet: Descriptor,
    /// Why it was dropped.
    pub cause: Cause,
}

/// A packet that goes on with a congestion mark, and why.
#[derive(Debug)]
pub struct Mark {
    /// Its header.
    pub meta: Header,
    /// Its tag.
    pub tag: Tag,
    /// Why it was marked.
    pub cause: Cause,
}

/// The packets that a queue discipline drops and marks, in order.
#[derive(Debug, Default)]
pub struct Fates {
    /// Dropped packets.
    pub drops: Vec<Drop>,
    /// Marked packets.
    pub marks: Vec<Mark>,
}

impl Fates {
    /// Whether nothing was dropped or marked.
    pub fn is_empty(&self) -> bool {
        self.drops.is_empty() && self.marks.is_empty()
    }

    /// Drops a packet.
    pub fn drop(&mut self, packet: Descriptor, cause: Cause) {
        self.drops.push(Drop { packet, cause });
    }

    /// Marks a packet if its transport is ECN-capable (RFC 3168 section 5); whether it carries a mark now. A packet
    /// that arrived with a mark keeps it and is not counted again.
    pub fn mark(&mut self, packet: &mut Descriptor, cause: Cause) -> bool {
        match packet.meta.ecn {
            Ecn::NotEct => false,
            Ecn::Ce => true,
            Ecn::Ect0 | Ecn::Ect1 => {
                packet.meta.ecn = Ecn::Ce;
                self.marks.push(Mark { meta: packet.meta, tag: packet.tag, cause });
                true
            }
        }
    }

    /// Marks a packet and hands it back, or drops it if it cannot be marked.
    pub fn mark_or_drop(&mut self, mut packet: Descriptor, cause: Cause) -> Option<Descriptor> {
        if self.mark(&mut packet, cause) {
            return Some(packet);
        }
        self.drop(packet, cause);
        None
    }
}

/// A number of packets and their bytes by IP length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: Bytes,
}

impl Tally {
    /// Counts a packet.
    pub fn count(&mut self, size: Bytes) {
        self.packets += 1;
        self.bytes += size;
    }

    /// Counts the packets of others too.
    pub fn add(&mut self, others: Self) {
        self.packets += others.packets;
        self.bytes += others.bytes;
    }
}

/// Packets and bytes by cause, in the order of declaration; a cause that nobody declared comes last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tallies(Vec<(Cause, Tally)>);

impl Tallies {
    /// Nothing so far, of these causes; each counts once.
    pub fn new(causes: impl IntoIterator<Item = Cause>) -> Self {
        let mut tallies = Self::default();
        for cause in causes {
            tallies.entry(cause);
        }
        tallies
    }

    /// Counts this cause too, after those declared before.
    pub fn declare(&mut self, cause: Cause) {
        self.entry(cause);
    }

    /// Counts a packet. The causes are few, so a search is cheaper than a hash.
    pub fn count(&mut self, cause: Cause, size: Bytes) {
        self.entry(cause).count(size);
    }

    /// The packets of one cause.
    pub fn of(&self, cause: Cause) -> Tally {
        self.iter().find(|(other, _)| *other == cause).map(|(_, tally)| tally).unwrap_or_default()
    }

    /// The causes and their packets.
    pub fn iter(&self) -> impl Iterator<Item = (Cause, Tally)> + '_ {
        self.0.iter().copied()
    }

    /// Packets of all causes.
    pub fn packets(&self) -> u64 {
        self.0.iter().map(|(_, tally)| tally.packets).sum()
    }

    /// Counts the packets of others too.
    pub fn add(&mut self, others: &Self) {
        for (cause, tally) in others.iter() {
            let entry = self.entry(cause);
            entry.packets += tally.packets;
            entry.bytes += tally.bytes;
        }
    }

    fn entry(&mut self, cause: Cause) -> &mut Tally {
        let place = self.0.iter().position(|(other, _)| *other == cause);
        let place = place.unwrap_or_else(|| {
            self.0.push((cause, Tally::default()));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }
}
