//! The ways of packets through the network, put together from events, and the order in which their captures are written.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use leobench_base::{DirectionId, PortId, SimDuration, SimTime};
use leobench_sim::capture::Passage;
use leobench_sim::record::{Location, PacketEvent, PacketRow};

use super::{Chunk, Copied, Event};

/// Memory of a captured packet besides its bytes and its comment.
const OVERHEAD: usize = 160;

/// A packet for a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) at: SimTime,
    /// The port of the host whose file it is for.
    pub(super) port: PortId,
    pub(super) passage: Passage,
    pub(super) size: u32,
    pub(super) bytes: Vec<u8>,
    pub(super) comment: String,
    /// Whether its way is known to the end.
    pub(super) is_finished: bool,
}

/// A packet on its way.
#[derive(Debug)]
struct Way {
    entered: SimTime,
    /// Its capture at the host that has sent it.
    sent: Option<Written>,
    /// When it entered the link that it is on.
    on_link: SimTime,
    /// The queue's mark that it got there.
    marked: Option<&'static str>,
    story: String,
}

/// The packets whose captures are not written yet.
#[derive(Debug)]
pub(super) struct Ways {
    most_held: usize,
    pub(super) held: usize,
    directions: Vec<String>,
    nodes: Vec<String>,
    /// By direction, the states of its channel and when they began; the last one that began before any packet on its way is the first.
    states: Vec<Vec<(SimTime, String)>>,
    /// Packets in the network, by number and so by when they came in.
    open: BTreeMap<u64, Way>,
    /// Captures that wait for their turn, by time and in order.
    ready: BTreeMap<(SimTime, u64), Written>,
    count: u64,
}

impl Ways {
    /// The ways of packets, of whose captures at most so many bytes are held.
    pub(super) fn new(most_held: usize) -> Self {
        let (directions, nodes, states) = Default::default();
        let (open, ready) = Default::default();
        Self { most_held, held: 0, directions, nodes, states, open, ready, count: 0 }
    }

    /// Takes in what happened.
    pub(super) fn take(&mut self, chunk: &Chunk) {
        if chunk.follows_gap {
            self.close_all("the rest of its way was not recorded");
        }
        let mut bytes = chunk.bytes.as_slice();
        let mut cut = |copy: Copied| {
            let (kept, rest) = bytes.split_at(copy.kept as usize);
            bytes = rest;
            kept.to_vec()
        };
        for event in &chunk.events {
            match event {
                Event::Names { directions, nodes } => {
                    (self.directions, self.nodes) = (directions.clone(), nodes.clone());
                    self.states = directions.iter().map(|_| Vec::new()).collect();
                }
                Event::Channel { at, direction, label } => self.state(*at, *direction, label),
                Event::Entered { at, packet, port, copy } => {
                    let bytes = cut(*copy);
                    self.entered(*at, *packet, port.map(|port| (port, copy.size, bytes)));
                }
                Event::Row { at, row } => self.row(*at, row),
                Event::Left { at, packet, port, copy } => {
                    let bytes = cut(*copy);
                    self.left(*at, *packet, (*port, copy.size, bytes));
                }
            }
        }
    }

    /// The captures whose turn has come: all packets that came in before them are done, or too much is held.
    pub(super) fn settled(&mut self) -> impl Iterator<Item = Written> {
        let mut settled = self.release();
        while self.held > self.most_held
            && let Some((packet, way)) = self.open.pop_first()
        {
            self.close(packet, way, Some("still in the network when this was written"));
            settled.append(&mut self.release());
        }
        settled.into_values()
    }

    fn release(&mut self) -> BTreeMap<(SimTime, u64), Written> {
        let oldest = self.open.values().next().map_or(SimTime::MAX, |way| way.entered);
        let waits = self.ready.split_off(&(oldest, 0));
        let settled = std::mem::replace(&mut self.ready, waits);
        self.held -= settled.values().map(Written::memory).sum::<usize>();
        self.forget_states(oldest);
        settled
    }

    /// The captures that are left.
    pub(super) fn finish(mut self) -> impl Iterator<Item = Written> {
        self.close_all("still in the network at the end");
        self.ready.into_values()
    }

    fn entered(&mut self, at: SimTime, packet: u64, copy: Option<(PortId, u32, Vec<u8>)>) {
        let sent = copy.map(|copy| Written::new(at, Passage::Outbound, copy));
        self.held += sent.as_ref().map_or(0, Written::memory);
        let story = String::new();
        let way = Way { entered: at, sent, on_link: at, marked: None, story };
        self.open.insert(packet, way);
    }

    fn row(&mut self, at: SimTime, row: &PacketRow) {
        let Some(way) = self.open.get_mut(&row.packet) else { return };
        let place = match row.location {
            Location::Link(direction) => &self.directions[direction.index()],
            Location::Node(node) => &self.nodes[node.index()],
        };
        match row.event {
            PacketEvent::Enqueue => (way.on_link, way.marked) = (at, None),
            PacketEvent::Mark(cause) => way.marked = Some(cause.name()),
            PacketEvent::Deliver | PacketEvent::Drop(_) => {
                let story = &mut way.story;
                // Writing to a string cannot fail.
                _ = write!(story, "; {place}: ");
                if let (Location::Link(direction), Some(queued)) = (row.location, row.queued) {
                    _ = write!(story, "queue {:.3} ms, ", millis(queued));
                    let began = way.on_link + queued;
                    let link = at.saturating_since(began);
                    if !link.is_zero() {
                        _ = write!(story, "link {:.3} ms, ", millis(link));
                    }
                    let states = &self.states[direction.index()];
                    let state = states.iter().rev().find(|(since, _)| *since <= began);
                    if let Some((_, label)) = state.filter(|(_, label)| !label.is_empty()) {
                        _ = write!(story, "channel {label}, ");
                    }
                    if let Some(mark) = way.marked {
                        _ = write!(story, "marked ({mark}), ");
                    }
                }
            }
        }
        match row.event {
            PacketEvent::Enqueue | PacketEvent::Mark(_) => {}
            PacketEvent::Deliver => way.story.push_str("delivered"),
            PacketEvent::Drop(cause) => {
                _ = write!(way.story, "dropped ({})", cause.name());
                if let Some(way) = self.open.remove(&row.packet) {
                    self.close(row.packet, way, None);
                }
            }
        }
    }

    fn left(&mut self, at: SimTime, packet: u64, copy: (PortId, u32, Vec<u8>)) {
        let mut written = Written::new(at, Passage::Inbound, copy);
        if let Some(way) = self.open.remove(&packet) {
            written.comment = format!("packet {packet}{}", way.story);
            self.close(packet, way, None);
        } else {
            written.comment = format!("packet {packet}; its way was not recorded");
            written.is_finished = false;
        }
        self.held += written.memory();
        self.push(written);
    }

    /// A packet is done, or nothing more will be known of it.
    fn close(&mut self, packet: u64, way: Way, unfinished: Option<&str>) {
        let Way { sent: Some(mut written), story, .. } = way else { return };
        self.held -= written.memory();
        written.comment = format!("packet {packet}{story}");
        if let Some(reason) = unfinished {
            written.comment.push_str("; ");
            written.comment.push_str(reason);
            written.is_finished = false;
        }
        self.held += written.memory();
        self.push(written);
    }

    fn close_all(&mut self, reason: &str) {
        while let Some((packet, way)) = self.open.pop_first() {
            self.close(packet, way, Some(reason));
        }
    }

    fn push(&mut self, written: Written) {
        self.count += 1;
        self.ready.insert((written.at, self.count), written);
    }

    fn state(&mut self, at: SimTime, direction: DirectionId, label: &str) {
        let states = &mut self.states[direction.index()];
        if states.last().is_none_or(|(_, last)| last != label) {
            states.push((at, label.to_owned()));
        }
    }

    /// Forgets the states that ended before a time.
    fn forget_states(&mut self, oldest: SimTime) {
        for states in &mut self.states {
            let ended = states.iter().skip(1).take_while(|(since, _)| *since <= oldest).count();
            states.drain(..ended);
        }
    }
}

impl Written {
    fn new(at: SimTime, passage: Passage, (port, size, bytes): (PortId, u32, Vec<u8>)) -> Self {
        Self { at, port, passage, size, bytes, comment: String::new(), is_finished: true }
    }

    fn memory(&self) -> usize {
        OVERHEAD + self.bytes.len() + self.comment.len()
    }
}

fn millis(span: SimDuration) -> f64 {
    span.as_secs_f64() * 1e3
}
