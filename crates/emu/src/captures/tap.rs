//! The driver's half of captures: copies packets and what happens to them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError};

use leobench_base::{DirectionId, Packet, PortId, SimDuration, SimTime, wire};
use leobench_sim::network::PacketTrace;
use leobench_sim::record::{Names, PacketRow};

use super::{Chunk, Copied, Event};

/// A chunk goes to the thread when it has so many bytes or events, or is so old.
const MOST_BYTES: usize = 256 << 10;
const MOST_EVENTS: usize = 8_192;
const LONGEST: SimDuration = SimDuration::from_millis(100);

/// Follows the packets of a network, and hands copies of them over to a thread.
pub(crate) struct Tap {
    snaplen: usize,
    chunk: Chunk,
    /// When the first event of the chunk was.
    since: Option<SimTime>,
    full: SyncSender<Chunk>,
    empty: Receiver<Chunk>,
    /// Packets that no file will have.
    left_out: Arc<AtomicU64>,
}

impl Tap {
    pub(super) fn new(
        snaplen: usize,
        full: SyncSender<Chunk>,
        empty: Receiver<Chunk>,
        left_out: Arc<AtomicU64>,
    ) -> Self {
        Self { snaplen, chunk: Chunk::default(), since: None, full, empty, left_out }
    }

    /// Copies a packet as it is on the wire; none if it has no such form.
    fn copy(&mut self, packet: &Packet) -> Option<Copied> {
        let bytes = &mut self.chunk.bytes;
        let start = bytes.len();
        if wire::write(packet, bytes).is_err() {
            bytes.truncate(start);
            self.left_out.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let size = bytes.len() - start;
        let kept = size.min(self.snaplen);
        bytes.truncate(start + kept);
        Some(Copied { size: size as u32, kept: kept as u32 })
    }

    fn note(&mut self, at: SimTime, event: Event) {
        self.chunk.events.push(event);
        let since = *self.since.get_or_insert(at);
        let Chunk { events, bytes, .. } = &self.chunk;
        if bytes.len() >= MOST_BYTES
            || events.len() >= MOST_EVENTS
            || at.saturating_since(since) >= LONGEST
        {
            self.hand_over();
        }
    }

    /// Hands the chunk over, or empties it if the thread has too many.
    fn hand_over(&mut self) {
        self.since = None;
        let next = self.empty.try_recv().unwrap_or_default();
        let chunk = std::mem::replace(&mut self.chunk, next);
        self.chunk.follows_gap = false;
        let Err(TrySendError::Full(mut chunk)) = self.full.try_send(chunk) else {
            // If the thread has ended, it says why at the end.
            return;
        };
        let count = chunk.events.iter().filter(|event| event.is_captured()).count() as u64;
        self.left_out.fetch_add(count, Ordering::Relaxed);
        chunk.bytes.clear();
        // What is not about a packet has to be known later.
        chunk.events.retain(|event| matches!(event, Event::Names { .. } | Event::Channel { .. }));
        chunk.follows_gap = true;
        self.chunk = chunk;
    }
}

impl Event {
    /// Whether a file gets a packet for it.
    const fn is_captured(&self) -> bool {
        matches!(self, Self::Entered { port: Some(_), .. } | Self::Left { .. })
    }
}

impl PacketTrace for Tap {
    fn begin(&mut self, names: &Names) {
        let directions = names.directions.iter().cloned().collect();
        let nodes = names.nodes.iter().cloned().collect();
        self.note(SimTime::ZERO, Event::Names { directions, nodes });
    }

    fn entered(&mut self, at: SimTime, port: Option<PortId>, packet: &Packet) {
        let copy = if port.is_some() { self.copy(packet) } else { Some(Copied::default()) };
        if let Some(copy) = copy {
            self.note(at, Event::Entered { at, packet: packet.meta.id, port, copy });
        }
    }

    fn left(&mut self, at: SimTime, port: PortId, packet: &Packet) {
        if let Some(copy) = self.copy(packet) {
            self.note(at, Event::Left { at, packet: packet.meta.id, port, copy });
        }
    }

    fn event(&mut self, at: SimTime, row: &PacketRow) {
        self.note(at, Event::Row { at, row: *row });
    }

    fn channel(&mut self, at: SimTime, direction: DirectionId, label: &str) {
        self.note(at, Event::Channel { at, direction, label: label.to_owned() });
    }
}

impl Drop for Tap {
    /// Hands over the rest, which may wait: the run is over.
    fn drop(&mut self) {
        _ = self.full.send(std::mem::take(&mut self.chunk));
    }
}
