//! A call: packets of picture and voice from the sending end, and messages of the receiving end, each a datagram, or in a stream of its
//! own.
//!
//! Every packet is a message of the flow's ledger, created when it leaves the call's own pacer: its delay is that of the network,
//! and over QUIC that of its queue.

mod under_way;

use leobench_base::packet::Datagram;
use leobench_base::{Bytes, RngTree, SimDuration, SimTime, StreamIndex};
use leobench_media::CallSpec;
use leobench_media::call::{Content, FrameTimes, Heard, Message, Packet, Receiver, Seen, Sender};
use leobench_transport::endpoint::Report;
use typed_index_collections::TiVec;

use self::under_way::UnderWay;
use super::{Action, Application, ApplicationError, End};

/// Time after its length for which a call goes on: packets are sent again, and played.
const LINGER: SimDuration = SimDuration::from_secs(2);
/// A call under way.
pub(super) struct Call {
    sender: Sender,
    receiver: Receiver,
    start: SimTime,
    end: SimTime,
    finished: bool,
    /// The last time it was told.
    now: SimTime,
    /// The stream of the voice: the picture comes first, if there is one.
    voice_stream: StreamIndex,
    /// Messages created, by stream.
    messages: TiVec<StreamIndex, u64>,
    answered: u64,
    /// Largest datagram.
    most: Bytes,
    /// Whether packets and messages travel in streams of their own.
    in_streams: bool,
    packets: UnderWay<Packet>,
    answers: UnderWay<Message>,
}

/// A call at the end of a run.
#[derive(Debug)]
pub struct Called {
    /// The picture as it was seen, if there is one.
    pub seen: Option<Seen>,
    /// The voice as it was heard, if there is one.
    pub heard: Option<Heard>,
    /// The frames of which anything has arrived.
    pub times: Vec<FrameTimes>,
    /// Frames made, and frames skipped as too many packets waited or were on the way.
    pub frames: (u64, u64),
    /// Voice packets sent.
    pub voice_packets: u64,
    /// Bytes sent, and bytes that arrived, with RTP headers.
    pub bytes: (Bytes, Bytes),
    /// When it began.
    pub start: SimTime,
    /// How long the call had been going on, without the time for which it lingers, in seconds.
    pub seconds: f64,
}

impl Call {
    /// A call that begins at `start`, in datagrams of at most `most`.
    pub(super) fn new(spec: &CallSpec, start: SimTime, most: Bytes, rng: &RngTree) -> Self {
        let voice_stream = usize::from(spec.video.is_some()).into();
        let streams = spec.streams().len();
        Self {
            sender: Sender::new(spec, start, rng),
            receiver: Receiver::new(spec),
            start,
            end: start + spec.length,
            finished: false,
            now: SimTime::ZERO,
            voice_stream,
            messages: TiVec::from(vec![0; streams]),
            answered: 0,
            most,
            in_streams: spec.is_in_streams(),
            packets: UnderWay::new(streams),
            answers: UnderWay::new(1),
        }
    }

    fn send(&mut self, now: SimTime, packet: Packet, actions: &mut Vec<Action>) {
        let stream = match packet.content {
            Content::Voice { .. } => self.voice_stream,
            Content::Frame { .. } | Content::Padding => StreamIndex::FIRST,
        };
        let message = self.messages[stream];
        self.messages[stream] += 1;
        let created = leobench_transport::Message { size: packet.bytes, created: now };
        actions.push(Action::Create { stream, message: created });
        if self.in_streams {
            self.packets.push_message(now, (stream, message), packet);
            actions.push(Action::Write { end: End::Sender, stream, message: created });
            return;
        }
        let payload = packet.bytes.get() as u32;
        let id = self.packets.push(now, packet);
        let datagram = Datagram { message, id, stream, payload };
        actions.push(Action::Datagram { end: End::Sender, datagram, created: now });
    }

    fn answer(&mut self, now: SimTime, message: Message, actions: &mut Vec<Action>) {
        for message in message.split(self.most) {
            if self.in_streams {
                let written = leobench_transport::Message { size: message.bytes(), created: now };
                self.answers.push_message(now, (StreamIndex::FIRST, self.answered), message);
                self.answered += 1;
                actions.push(Action::Write {
                    end: End::Receiver,
                    stream: StreamIndex::FIRST,
                    message: written,
                });
                continue;
            }
            let payload = message.bytes().get() as u32;
            let id = self.answers.push(now, message);
            let stream = StreamIndex::FIRST;
            let datagram = Datagram { message: id, id, stream, payload };
            actions.push(Action::Datagram { end: End::Receiver, datagram, created: now });
        }
    }
}

impl Application for Call {
    fn next_wake(&self) -> Option<SimTime> {
        if self.finished {
            return None;
        }
        let wakes = [self.sender.next_wake(), self.receiver.next_wake(), Some(self.end + LINGER)];
        wakes.into_iter().flatten().min().map(|wake| wake.max(self.now))
    }

    fn advance(&mut self, now: SimTime, actions: &mut Vec<Action>) -> Result<(), ApplicationError> {
        self.now = now;
        if self.finished || now < self.start {
            return Ok(());
        }
        let (mut packets, mut messages) = (Vec::new(), Vec::new());
        self.sender.advance(now, &mut packets);
        self.receiver.advance(now, &mut messages);
        for packet in packets {
            self.send(now, packet, actions);
        }
        for message in messages {
            self.answer(now, message, actions);
        }
        if now >= self.end + LINGER {
            self.finished = true;
            actions.push(Action::Finish { end: End::Sender });
            actions.push(Action::Finish { end: End::Receiver });
        }
        Ok(())
    }

    fn on_report(&mut self, now: SimTime, end: End, report: Report) -> bool {
        if self.finished {
            return false;
        }
        match end {
            End::Receiver => {
                if let Report::Opened { message, number, .. } = report {
                    self.answers.on_opened((StreamIndex::FIRST, message), number, |answer| {
                        answer.bytes().get()
                    });
                }
                let Some(packet) = self.packets.arrived(report) else { return false };
                let is_marked = matches!(report, Report::Datagram { is_marked: true, .. });
                self.receiver.on_packet(now, &packet, is_marked);
            }
            End::Sender => {
                if let Report::Opened { stream, message, number } = report {
                    let name = (stream, message);
                    self.packets.on_opened(name, number, |packet| packet.bytes.get());
                }
                let Some(message) = self.answers.arrived(report) else { return false };
                self.sender.on_message(now, &message);
            }
        }
        self.now = now;
        true
    }

    fn is_finished(&self) -> bool {
        self.finished
    }

    fn called(&self, end: SimTime) -> Option<Called> {
        let end = end.min(self.end);
        Some(Called {
            seen: self.receiver.seen(end),
            heard: self.receiver.heard(),
            times: self.receiver.frames().to_vec(),
            frames: self.sender.frames(),
            voice_packets: self.sender.voice_packets(),
            bytes: (self.sender.sent(), self.receiver.received()),
            start: self.start,
            seconds: end.saturating_since(self.start).as_secs_f64(),
        })
    }
}
