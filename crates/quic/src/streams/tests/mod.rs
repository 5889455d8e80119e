//! Two ends that exchange frames, with whatever happens to packets on the way.

mod arrivals;
mod cost;
mod delivery;
mod errors;
mod flow_control;
mod messages;
mod packets;
mod states;

use std::collections::BTreeMap;

use leobench_base::spec::{At, Spec, Table, Value};
use leobench_base::{Bytes, RngTree, SimDuration, SimTime};
use leobench_transport::Role;
use leobench_transport::buffer::{Attributes, Message};
use leobench_transport::endpoint::Report;
use leobench_transport::plugin::Plugins;
use leobench_transport::scheduler::SchedulerSpec;

use super::{ReceiveWindow, StreamConfig, StreamEvent, Streams};
use crate::sent_frame::{SentFrame, SentFrames};
use crate::wire::{Directionality, Frame, Frames, StreamId, TransportParameters};

const BIDIRECTIONAL: Directionality = Directionality::Bidirectional;
const UNIDIRECTIONAL: Directionality = Directionality::Unidirectional;

fn ms(millis: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_millis(millis)
}

fn scheduler(name: &str) -> SchedulerSpec {
    let mut table = Table::new();
    table.insert("kind", Value::String(name.into()));
    SchedulerSpec::read(&Value::Table(table), &At::ROOT).unwrap()
}

/// The parameters of an end that tests vary.
#[derive(Clone, Debug)]
struct Setup {
    flow_streams: usize,
    attributes: Attributes,
    scheduler: SchedulerSpec,
    stream_window: ReceiveWindow,
    connection_window: ReceiveWindow,
    peer_streams: u64,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            flow_streams: 0,
            attributes: Attributes::default(),
            scheduler: SchedulerSpec::default(),
            stream_window: ReceiveWindow::Unlimited,
            connection_window: ReceiveWindow::Unlimited,
            peer_streams: 100,
        }
    }
}

impl Setup {
    /// One window for the connection and every stream.
    fn windows(bytes: u64) -> Self {
        let window = ReceiveWindow::Fixed(bytes);
        Self { stream_window: window, connection_window: window, ..Self::default() }
    }

    fn build(&self, role: Role) -> Streams {
        let config = StreamConfig {
            role,
            sends: &vec![self.attributes; self.flow_streams],
            scheduler: &self.scheduler,
            rng: &RngTree::new(1),
            plugins: Plugins::NONE,
            stream_window: self.stream_window,
            connection_window: self.connection_window,
            peer_bidirectional: self.peer_streams,
            peer_unidirectional: self.peer_streams,
            message_streams_from: None,
            keeps_events: true,
        };
        Streams::new(&config).unwrap()
    }
}

/// A packet on its way.
#[derive(Clone, Debug)]
struct Packet {
    frames: Frames,
    carried: SentFrames,
}

/// Data sent and read by an end, and the events reported to it.
#[derive(Debug, Default)]
struct Log {
    /// One past the highest byte sent, by stream.
    sent: BTreeMap<StreamId, u64>,
    /// Bytes read, by stream.
    read: BTreeMap<StreamId, u64>,
    finished: Vec<StreamId>,
    resets: Vec<(StreamId, u64)>,
    stopped: Vec<(StreamId, u64)>,
    acked: Vec<StreamId>,
    opened: Vec<StreamId>,
}

/// A client and a server.
struct Pair {
    ends: [Streams; 2],
    logs: [Log; 2],
    now: SimTime,
}

const CLIENT: usize = 0;
const SERVER: usize = 1;

impl Pair {
    /// Both ends, connected.
    fn new(client: &Setup, server: &Setup) -> Self {
        let mut pair = Self::before_handshake(client, server);
        pair.connect();
        pair
    }

    fn before_handshake(client: &Setup, server: &Setup) -> Self {
        let ends = [client.build(Role::Client), server.build(Role::Server)];
        Self { ends, logs: Default::default(), now: ms(1) }
    }

    fn connect(&mut self) {
        let params = [CLIENT, SERVER].map(|end| {
            let mut params = TransportParameters::default();
            self.ends[end].write_params(&mut params);
            params
        });
        for end in [CLIENT, SERVER] {
            self.ends[end].on_peer_params(&params[1 - end]);
            self.ends[end].on_established(self.now);
        }
    }

    fn write(&mut self, end: usize, stream: usize, size: u64) {
        let message = Message { size: Bytes::new(size), created: self.now };
        self.ends[end].push(stream.into(), message);
    }

    /// The next packet of an end. Its frames take what they are accounted for, new bytes leave once and in order, and
    /// something leaves if something is pending.
    fn packet(&mut self, end: usize, room: u64) -> Option<Packet> {
        let (mut frames, mut carried) = (Frames::new(), SentFrames::new());
        let streams = &mut self.ends[end];
        let pending = streams.has_pending();
        let has_data = streams.has_data();
        let used = streams.fill(self.now, room, &mut frames, &mut carried).unwrap();
        assert_eq!(used, frames.iter().map(Frame::size).sum::<u64>());
        assert!(used <= room, "{used} bytes in {room}: {frames:?}");
        assert_eq!(used > 0, pending, "{room}: {frames:?}");
        let is_stream = |frame: &&Frame| matches!(frame, Frame::Stream { .. });
        let data = frames.iter().filter(is_stream).count();
        assert!(data == 0 || has_data, "{frames:?}");
        self.check_stream_frames(end, room, used, &frames, &carried);
        (used > 0).then_some(Packet { frames, carried })
    }

    fn check_stream_frames(
        &mut self,
        end: usize,
        room: u64,
        used: u64,
        frames: &Frames,
        carried: &SentFrames,
    ) {
        assert_eq!(frames.len(), carried.len());
        for (index, frame) in frames.iter().enumerate() {
            let Frame::Stream { id, offset, len, fin, explicit_len } = *frame else { continue };
            let is_last = index + 1 == frames.len();
            assert!(explicit_len || is_last && used == room, "{frames:?} in {room}");
            let (start, stop) = (offset, offset + len);
            assert_eq!(
                carried[index],
                SentFrame::Stream { id, start, len: (stop - start) as u32, fin }
            );
            let high = self.logs[end].sent.entry(id).or_default();
            assert!(stop <= *high || start == *high, "{start} to {stop}, after {high}");
            *high = stop.max(*high);
        }
    }

    /// Hands a packet of `from` to the other end.
    fn deliver(&mut self, from: usize, packet: &Packet) {
        for frame in &packet.frames {
            assert_eq!(self.ends[1 - from].on_frame(self.now, frame), Ok(()), "{frame:?}");
        }
        self.listen(1 - from);
    }

    fn on_acked(&mut self, end: usize, packet: &Packet) {
        for carried in &packet.carried {
            self.ends[end].on_acked(carried);
        }
        self.listen(end);
    }

    fn on_lost(&mut self, end: usize, packet: &Packet) {
        for carried in &packet.carried {
            self.ends[end].on_lost(carried);
        }
    }

    /// Takes note of an end's events: bytes are read once and in order.
    fn listen(&mut self, end: usize) {
        let log = &mut self.logs[end];
        while let Some(event) = self.ends[end].next_event() {
            match event {
                StreamEvent::Opened(id) => log.opened.push(id),
                StreamEvent::Readable { id, start, end } => {
                    let read = log.read.entry(id).or_default();
                    assert_eq!(start, *read, "{id:?}");
                    *read = end;
                }
                StreamEvent::Finished(id) => log.finished.push(id),
                StreamEvent::Reset { id, code } => log.resets.push((id, code)),
                StreamEvent::Stopped { id, code } => log.stopped.push((id, code)),
                StreamEvent::Acked(id) => log.acked.push(id),
            }
        }
    }

    /// A packet from `from` arrives and is acknowledged.
    fn pass(&mut self, from: usize, room: u64) -> Option<Packet> {
        let packet = self.packet(from, room)?;
        self.deliver(from, &packet);
        self.on_acked(from, &packet);
        Some(packet)
    }

    /// Packets pass until nothing is pending; how many.
    fn settle(&mut self, room: u64) -> usize {
        for count in 0..100_000 {
            let passed = [CLIENT, SERVER].map(|end| self.pass(end, room).is_some());
            if passed == [false; 2] {
                return count;
            }
        }
        panic!("the ends never come to rest");
    }

    fn reports(&mut self, end: usize) -> Vec<Report> {
        let mut reports = Vec::new();
        self.ends[end].take_reports(&mut reports);
        reports
    }
}

/// STREAM frames of a packet: stream, offset, length, and whether it ends the stream.
fn data(packet: &Packet) -> Vec<(u64, u64, u64, bool)> {
    let stream = |frame: &Frame| match *frame {
        Frame::Stream { id, offset, len, fin, .. } => Some((id.0, offset, len, fin)),
        _ => None,
    };
    packet.frames.iter().filter_map(stream).collect()
}
