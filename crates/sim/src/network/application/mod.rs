//! Applications: what the two ends of a flow write, and when.

mod blocking;
mod buffered;
mod call;
mod http1;
mod http2;
mod page;
mod progress;
mod video;

use std::path::Path;

use leobench_base::packet::Datagram;
use leobench_base::spec::Fault;
use leobench_base::{End, RngTree, SimTime, StreamIndex};
use leobench_transport::buffer::SendBuffer;
use leobench_transport::endpoint::Report;
use leobench_transport::{Message, Plugins, TrafficSource};

use blocking::Blocking;
use buffered::Buffered;
use call::Call;
pub use call::Called;
use http1::Http1;
use http2::Http2;
use page::Page;
use video::Video;
pub use video::Watched;

use crate::scenario::{ApplicationSpec, FlowSpec, HttpVersion, StreamSpec, Streams};

/// Most messages written in one call of [`Application::advance`]. More of them may be due at one instant, without limit:
/// the rest follow in further calls at that instant, between which a run can be interrupted. The driver's slice of ten
/// thousand calls is then a million messages at most, a fraction of a second; few sources have more than a hundred due at
/// once.
const MOST_AT_ONCE: usize = 100;

/// The applications at both ends of one flow.
pub trait Application: Send {
    /// When it next has something to do; `None` if nothing but a report can give it more.
    fn next_wake(&self) -> Option<SimTime>;

    /// Does what is due at `now`, or a part of it: the rest is due at `now` still.
    ///
    /// # Errors
    /// If a plug-in misbehaved.
    fn advance(&mut self, now: SimTime, actions: &mut Vec<Action>) -> Result<(), ApplicationError>;

    /// Learns what happened to what it wrote, as the transport at `end` reports it; whether its next wake-up may have
    /// changed.
    fn on_report(&mut self, _now: SimTime, _end: End, _report: Report) -> bool {
        false
    }

    /// Whether its streams share one of the transport.
    fn multiplexes(&self) -> bool {
        false
    }

    /// Replaces reports about the stream of the transport that its streams share by reports about these; whether its next
    /// wake-up may have changed.
    fn demultiplex(&mut self, _now: SimTime, _end: End, _reports: &mut Vec<Report>) -> bool {
        false
    }

    /// The messages of its streams that it has not handed to the transport, if they share one there.
    fn send_buffer(&self) -> Option<&SendBuffer> {
        None
    }

    /// Whether it will write nothing any more.
    fn is_finished(&self) -> bool;

    /// When its objects were requested and delivered, if it is a page.
    fn page(&self) -> Option<PageTimes> {
        None
    }

    /// The session of its viewer up to `end`, if it is a video; its last call.
    fn watched(&mut self, _end: SimTime) -> Option<Watched> {
        None
    }

    /// The picture as seen and the voice as heard up to `end`, if it is a call.
    fn called(&self, _end: SimTime) -> Option<Called> {
        None
    }
}

/// Why an application cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplicationError {
    /// The manifest of a video is no longer as it was when the scenario was read.
    #[error("video: {}: {}; allowed: {}", .0.field, .0.problem, .0.allowed)]
    Video(Fault),
    /// The adaptation of a player failed.
    #[error("adaptation `{adaptation}` at {at}: {problem}")]
    Adaptation {
        /// Its name.
        adaptation: String,
        /// When.
        at: SimTime,
        /// The adaptation's error, with the trace of a plug-in.
        problem: String,
    },
}

/// Whether a report from an end is about the flow's data, and not about what asks for it or answers it.
pub(super) fn reports_data(end: End, report: Report) -> bool {
    let of_sender = matches!(
        report,
        Report::Sent { .. }
            | Report::Lost { .. }
            | Report::Opened { .. }
            | Report::Cancelled { .. }
    );
    of_sender == (end == End::Sender)
}

/// Something an application does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A message of the flow comes into being: its delay counts from here.
    Create {
        /// Stream number within the flow.
        stream: StreamIndex,
        /// The message.
        message: Message,
    },
    /// The end that opens the connection of a stream is to open it, over a transport with a connection for each stream. It is open
    /// once [`Report::Room`] follows at this end.
    Open {
        /// At which end.
        end: End,
        /// Stream number within the transport.
        stream: StreamIndex,
    },
    /// A message is handed to the transport at an end.
    Write {
        /// At which end.
        end: End,
        /// Stream number within the flow.
        stream: StreamIndex,
        /// The message.
        message: Message,
    },
    /// A datagram is handed to the transport at an end, which sends it once. A report of [`Report::Datagram`] follows at the other end
    /// if it arrives, and over QUIC one of [`Report::Lost`] at this end if its sender takes it for lost.
    ///
    /// The streams of the flow travel in datagrams ([`Carried::Datagrams`](leobench_transport::buffer::Carried)), and no messages are
    /// [written](Self::Write) on this one. The payload is at least a byte, and at most
    /// [`TransportModel::datagram`](crate::scenario::TransportModel::datagram). At the sending end, the datagram is a part of a
    /// message of the flow that was [created](Self::Create): the payloads of all its datagrams add up to its size. At the receiving end, number
    /// and message are the application's own.
    Datagram {
        /// At which end.
        end: End,
        /// The datagram.
        datagram: Datagram,
        /// When the application scheduled it.
        created: SimTime,
    },
    /// The sending end has dropped what it had not written of a message, because the receiving end does not want it.
    Cancel {
        /// Stream number within the flow.
        stream: StreamIndex,
        /// Number of the message within that stream.
        message: u64,
        /// Its bytes that were written.
        written: u64,
    },
    /// Nothing more will be written at an end.
    Finish {
        /// At which end.
        end: End,
    },
}

/// When the objects and the bytes of a page arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageTimes {
    /// Its objects, in the order of their streams.
    pub objects: Vec<ObjectTimes>,
    /// Bytes that have arrived.
    pub bytes: u64,
    /// Sum over these bytes of their time from the start, in nanoseconds.
    pub waited: u128,
}

/// When an object of a page was asked for and had arrived, if it was and had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectTimes {
    /// When it was asked for.
    pub requested: Option<SimTime>,
    /// When its first byte had arrived.
    pub first_byte: Option<SimTime>,
    /// When all of it had arrived.
    pub delivered: Option<SimTime>,
}

/// One source and the streams its messages are dealt over in turn.
struct Feed {
    source: Box<dyn TrafficSource>,
    first_stream: usize,
    streams: usize,
    dealt: usize,
}

impl Feed {
    /// The stream of the next message.
    fn deal(&mut self) -> StreamIndex {
        let stream = self.first_stream + self.dealt;
        self.dealt = (self.dealt + 1) % self.streams;
        stream.into()
    }
}

/// The inputs of the applications of a flow besides its specification.
#[derive(Clone, Copy)]
pub(crate) struct ApplicationContext<'a> {
    /// When sources stop.
    pub(crate) end: SimTime,
    /// The flow's random stream.
    pub(crate) rng: &'a RngTree,
    /// The folder of the scenario's files.
    pub(crate) folder: &'a Path,
    /// The hosts of plug-ins.
    pub(crate) plugins: &'a Plugins,
}

/// Builds the applications of a flow.
///
/// # Errors
/// If a manifest cannot be read, or a plug-in cannot be built.
pub(crate) fn build(
    flow: &FlowSpec,
    context: &ApplicationContext<'_>,
) -> Result<Box<dyn Application>, ApplicationError> {
    let ApplicationContext { end, rng, folder, plugins } = *context;
    let start = SimTime::ZERO + flow.start;
    if let Some(objects) = &flow.objects {
        let page = Page::new(objects, start);
        if flow.transport.model().has_streams() {
            return Ok(Box::new(page));
        }
        return Ok(match flow.http {
            Some(HttpVersion::Http1) => Box::new(Http1::new(page, objects, flow.connections())),
            Some(HttpVersion::Http2) | None => Box::new(Http2::new(page, objects)),
        });
    }
    if let Some(video) = &flow.video {
        let film = FlowSpec::film(video, folder).map_err(ApplicationError::Video)?;
        let rng = rng.child("video");
        let until = flow.transport.model().blocks_until();
        return Ok(Box::new(Video::new((video, film), start, until, &rng, plugins)?));
    }
    if let Some((call, most)) = flow.call.as_ref().zip(flow.transport.model().datagram()) {
        return Ok(Box::new(Call::new(call, start, most, &rng.child("call"))));
    }
    let stop = flow.stop.map_or(end, |stop| end.min(SimTime::ZERO + stop));
    let feeds = feeds(flow, rng);
    Ok(match flow.application {
        ApplicationSpec::Buffered => Box::new(Buffered::new(feeds, start, stop)),
        ApplicationSpec::Blocking => {
            let until = flow.transport.model().blocks_until();
            Box::new(Blocking::new(feeds, start, stop, until))
        }
    })
}

fn feeds(flow: &FlowSpec, rng: &RngTree) -> Vec<Feed> {
    match (&flow.streams, &flow.source) {
        (Streams::Each(streams), _) => {
            let feed = |(index, stream): (usize, &StreamSpec)| {
                let rng = rng.child("streams").child(&flow.streams.name(index)).child("source");
                let source = stream.source.model().build(&rng);
                Feed { source, first_stream: index, streams: 1, dealt: 0 }
            };
            streams.iter().enumerate().map(feed).collect()
        }
        (Streams::Dealt(count), Some(source)) => {
            let source = source.model().build(&rng.child("source"));
            vec![Feed { source, first_stream: 0, streams: *count as usize, dealt: 0 }]
        }
        (Streams::Dealt(_), None) => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
