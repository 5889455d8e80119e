//! Descriptors, which links and queues carry in place of packets.

use crate::packet::{Ecn, Label, Meta};
use crate::time::SimTime;
use crate::units::Bytes;

/// The part of a packet's header that links and queues may read: 64 bytes together with a [`Slot`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number of the packet within the run.
    pub id: u64,
    /// Length of the whole IP packet.
    pub size: Bytes,
    /// When the packet reached the queue in which it waits, in the link's own time; once `is_sent`, when its transmission began.
    pub arrival: SimTime,
    /// The packet's flow, destination and hashes, set by the network.
    pub label: Label,
    /// Explicit congestion notification field (RFC 3168).
    pub ecn: Ecn,
    /// Whether its transmission over the present link has begun.
    pub is_sent: bool,
}

impl Header {
    /// The header of a labelled packet.
    pub const fn of(meta: &Meta) -> Self {
        let Meta { id, size, arrival, label, ecn, .. } = *meta;
        Self { id, size, arrival, label, ecn, is_sent: false }
    }

    /// The packet reaches a link at `now`.
    pub const fn enter(&mut self, now: SimTime) {
        (self.arrival, self.is_sent) = (now, false);
    }

    /// The packet's transmission begins at `now`. Returns when it had reached the link.
    pub const fn begin(&mut self, now: SimTime) -> SimTime {
        self.is_sent = true;
        std::mem::replace(&mut self.arrival, now)
    }

    /// The hash of the packet's five-tuple, the same in every run; each direction of a flow has its own. Disciplines that
    /// spread flows over queues perturb it with a seeded number.
    pub const fn flow_hash(&self) -> u32 {
        self.label.hashes.flow
    }

    /// A hash of the source's address, the same in every run.
    pub const fn source_hash(&self) -> u32 {
        self.label.hashes.source
    }

    /// A hash of the destination's address, the same in every run.
    pub const fn destination_hash(&self) -> u32 {
        self.label.hashes.destination
    }
}

/// The place of a packet in the network's store while a link carries its descriptor. Links and queues only pass it on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot(pub u32);

/// A number by which a queue that several links share tells their packets apart. Only the owner of the queue reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag(pub u32);

/// The token that links and queues carry in place of a packet, whose content stays in the store. Each packet has one
/// descriptor, which is moved and never copied.
#[derive(Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// The part of the header that links and queues may read.
    pub meta: Header,
    /// The packet's place in the store.
    pub slot: Slot,
    /// Its link, while it is in a queue that several links share.
    pub tag: Tag,
}

const _: () = assert!(size_of::<Descriptor>() == 64, "a descriptor fills a cache line");
