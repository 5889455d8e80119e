//! The receiving end: feedback, the screen, and the loudspeaker.

mod loudspeaker;
mod screen;

use leobench_base::{Bytes, SimDuration, SimTime};

use super::feedback::{Arrival, Message, Reporter};
use super::packet::{Content, Packet};
use super::spec::{CallSpec, CameraSpec};
pub use loudspeaker::Heard;
use loudspeaker::Loudspeaker;
use screen::Screen;
pub use screen::{FrameTimes, Seen};

/// The receiving end of a call.
#[derive(Debug)]
pub struct Receiver {
    reporter: Option<Reporter>,
    screen: Option<Screen>,
    loudspeaker: Option<Loudspeaker>,
    received: Bytes,
}

impl Receiver {
    /// The receiving end of a call.
    pub fn new(spec: &CallSpec) -> Self {
        let buffer = || spec.jitter_buffer.model().build();
        // Streams repeat what is lost by themselves.
        let asks = |video: &CameraSpec| {
            if spec.is_in_streams() { SimDuration::ZERO } else { video.retransmission }
        };
        Self {
            reporter: spec.rate_control.model().feedback().map(Reporter::new),
            screen: spec.video.as_ref().map(|video| Screen::new(video, buffer(), asks(video))),
            loudspeaker: spec
                .audio
                .as_ref()
                .map(|audio| Loudspeaker::new(audio, spec.length, buffer())),
            received: Bytes::ZERO,
        }
    }

    /// A packet arrives; `is_marked` if it bears the mark "congestion experienced" of ECN.
    pub fn on_packet(&mut self, now: SimTime, packet: &Packet, is_marked: bool) {
        self.received += packet.bytes;
        if let Some(reporter) = &mut self.reporter {
            reporter.on_arrival(packet.number, Arrival { time: now, is_marked }, packet.bytes);
        }
        match packet.content {
            Content::Padding => {}
            Content::Voice { number, captured } => {
                if let Some(loudspeaker) = &mut self.loudspeaker {
                    loudspeaker.on_packet(now, number, captured);
                }
            }
            Content::Frame { header, index } => {
                if let Some(screen) = &mut self.screen {
                    screen.on_part(now, &header, index);
                }
            }
        }
    }

    /// When it next has something to do.
    pub fn next_wake(&self) -> Option<SimTime> {
        let reporter = self.reporter.as_ref().and_then(Reporter::due);
        let screen = self.screen.as_ref().and_then(Screen::next_wake);
        let loudspeaker = self.loudspeaker.as_ref().and_then(Loudspeaker::next_wake);
        [reporter, screen, loudspeaker].into_iter().flatten().min()
    }

    /// Does what is due at `now`: plays, and adds the messages that leave.
    pub fn advance(&mut self, now: SimTime, messages: &mut Vec<Message>) {
        if let Some(loudspeaker) = &mut self.loudspeaker {
            loudspeaker.advance(now);
        }
        if let Some(screen) = &mut self.screen {
            screen.advance(now, messages);
        }
        messages.extend(self.reporter.as_mut().and_then(|reporter| reporter.take(now)));
    }

    /// Bytes that arrived, with RTP headers.
    pub fn received(&self) -> Bytes {
        self.received
    }

    /// The picture as it was seen up to `end`, if there is one.
    pub fn seen(&self, end: SimTime) -> Option<Seen> {
        self.screen.as_ref().map(|screen| screen.seen(end))
    }

    /// Frames of which anything has arrived, in order, but for those that are yet to be rendered or dropped.
    pub fn frames(&self) -> &[FrameTimes] {
        self.screen.as_ref().map_or(&[], Screen::times)
    }

    /// The voice as it was heard, if there is one.
    pub fn heard(&self) -> Option<Heard> {
        self.loudspeaker.as_ref().map(Loudspeaker::heard)
    }
}
