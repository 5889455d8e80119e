//! Flows: which transport carries which traffic from where to where.

use std::path::Path;

use leobench_base::spec::{At, Fault, Schema, Spec, SpecError, Value, Whole, json};
use leobench_base::{End, SimDuration, SimRng, SimTime};
use leobench_media::{CallSpec, Film, MANIFEST, VideoSpec};
use leobench_transport::SourceSpec;
use leobench_transport::buffer::{Attributes, Carried, OnDeadline};
use leobench_transport::source::BulkSpec;
use leobench_transport::tcp::ReconnectSpec;

use super::cross_layer::CrossLayerSpec;
use super::page::{BROWSER_CONNECTIONS, Connections, HttpVersion, ObjectSpec};
use super::text_of;
use super::transport::TransportSpec;
use crate::topology::ForecastConfig;

/// How far forecasts and reports look ahead unless the scenario says otherwise.
pub(super) const HORIZON: SimDuration = SimDuration::from_secs(15);

/// Everything that changes before it is kept in memory.
const LONGEST_HORIZON: SimDuration = SimDuration::from_secs(600);

/// Flows that one table may stand for: each has two endpoints, and its own entries in the summary.
pub const MOST_FLOWS: u32 = 1_000;

leobench_base::words! {
    /// The end of a flow that opens the connection.
    pub enum OpenedBy {
        /// The end that sends the data.
        From = "from",
        /// The end that receives the data.
        To = "to",
    }
}

leobench_base::words! {
    /// How an application writes what its sources produce.
    pub enum ApplicationSpec {
        /// Into a buffer of its own, in which messages wait: sources keep to their clocks.
        Buffered = "buffered",
        /// With calls that block while more than a packet's worth of their stream is unsent (QUIC), or the send buffer
        /// is full (TCP): meanwhile, sources pause.
        Blocking = "blocking",
    }
}

leobench_base::spec! {
    /// Data sent from one node to another over one connection.
    pub struct FlowSpec {
        /// The transport and its parameters.
        pub transport: TransportSpec,
        /// Number of such flows, `name-1`, `name-2` and so on, all equal but for their random numbers; one flow without a number
        /// unless given.
        pub count: Option<Whole<1, MOST_FLOWS>>,
        /// The node that sends the data.
        pub from: String,
        /// The node that receives the data.
        pub to: String,
        /// The end that opens the connection.
        pub opened_by: OpenedBy = OpenedBy::From,
        /// When the flow starts.
        pub start: SimDuration = SimDuration::ZERO,
        /// When its sources stop; at `duration` unless given.
        pub stop: Option<SimDuration>,
        /// Whether the flow only loads the network and does not count towards fairness among flows.
        pub background: bool = false,
        /// Number of streams over which the messages of `source` are distributed in turn; or an array of streams, each
        /// with its own source.
        pub streams: Streams = Streams::Dealt(1),
        /// The source whose messages are distributed over the streams.
        pub source: Option<SourceSpec>,
        /// When the application replaces a connection that it has lost; by default never.
        pub reconnect: Option<ReconnectSpec>,
        /// How the application writes messages: into its own buffer, or with blocking calls.
        pub application: ApplicationSpec = ApplicationSpec::Buffered,
        /// The objects of a page that the receiving end requests, instead of sources.
        pub objects: Option<Vec<ObjectSpec>>,
        /// A recorded page, a file in the format HTTP Archive 1.2, whose entries become `objects`.
        pub har: Option<String>,
        /// The version of HTTP of a page over `tcp`: `"2"`, in one connection, unless given.
        pub http: Option<HttpVersion>,
        /// Largest number of connections of HTTP/1.1 at the same time; 6, as in browsers, unless given.
        pub connections: Option<Connections>,
        /// The video that the receiving end watches, instead of sources.
        pub video: Option<VideoSpec>,
        /// The call whose picture and voice the receiving end sees and hears, instead of sources.
        pub call: Option<CallSpec>,
        /// Forecasts for the end that sends the data, about its paths; none unless given.
        pub forecast: Option<ForecastSpec>,
        /// Reports of the link layer for the end that sends the data, about the access links of its paths; none unless given.
        pub cross_layer: Option<CrossLayerSpec>,
    }
}

leobench_base::spec! {
    /// Forecasts for the sender of a flow about its paths: rate and round-trip time at the horizon, and the next handover
    /// before it. The transport's `on_forecast` sets the reaction.
    #[derive(Copy)]
    pub struct ForecastSpec: Default check = check_forecast {
        /// Time between two forecasts.
        pub every: SimDuration = SimDuration::from_secs(1),
        /// How far they look ahead.
        pub horizon: SimDuration = HORIZON,
        /// Error of a rate: the standard deviation of its logarithm one second ahead. It grows with the square root of the horizon.
        pub rate_error: f64 = 0.0,
        /// Error of a round-trip time, likewise.
        pub delay_error: f64 = 0.0,
        /// Error of the time of a handover: its standard deviation, drawn once for each handover.
        pub time_error: SimDuration = SimDuration::ZERO,
    }
}

impl ForecastSpec {
    /// The same for a flow that starts at a time, with errors from a random stream.
    pub fn config(&self, start: SimDuration, rng: SimRng) -> ForecastConfig {
        ForecastConfig {
            first: SimTime::ZERO + start,
            every: self.every,
            horizon: self.horizon,
            rate_error: self.rate_error,
            delay_error: self.delay_error,
            time_error: self.time_error,
            opener: End::Sender,
            interfaces: Vec::new(),
            rng,
        }
    }
}

/// Forecasts more often than this would be most of a run.
const SHORTEST_BETWEEN: SimDuration = SimDuration::from_millis(1);

/// Refuses a schedule by which nobody can be told ahead.
pub(super) fn check_times(
    every: SimDuration,
    horizon: SimDuration,
    what: &str,
) -> Result<(), Fault> {
    if every.is_zero() {
        return Err(Fault::new("every", "is zero", "a time above zero"));
    }
    if every < SHORTEST_BETWEEN {
        return Err(Fault::new("every", "is too short", format!("{SHORTEST_BETWEEN} or more")));
    }
    if horizon < every {
        let default = if horizon == HORIZON {
            format!(": it is {HORIZON} unless given")
        } else {
            String::new()
        };
        let problem = format!("is shorter than the time to the next {what}{default}");
        return Err(Fault::new("horizon", problem, format!("at least `every`, {every}")));
    }
    if horizon > LONGEST_HORIZON {
        return Err(Fault::new("horizon", "is too long", format!("at most {LONGEST_HORIZON}")));
    }
    Ok(())
}

fn check_forecast(spec: &ForecastSpec) -> Result<(), Fault> {
    check_times(spec.every, spec.horizon, "forecast")?;
    for (field, error) in [("rate_error", spec.rate_error), ("delay_error", spec.delay_error)] {
        if !(0.0..=1.0).contains(&error) {
            return Err(Fault::new(field, "is not a relative error", "a number from 0 to 1"));
        }
    }
    Ok(())
}

impl FlowSpec {
    /// The name of a flow among those that a flow with a `count` stands for.
    pub fn numbered(name: &str, number: i64) -> String {
        format!("{name}-{number}")
    }

    /// The film of its video, whose manifest is looked for in `folder`.
    ///
    /// # Errors
    /// If there is no such manifest, or none of a film.
    pub(crate) fn film(video: &VideoSpec, folder: &Path) -> Result<Film, Fault> {
        video.film(|name| text_of(folder, MANIFEST, name))
    }

    /// Whether the receiving end asks for what it gets, or answers it.
    pub fn asks(&self) -> bool {
        self.objects.is_some() || self.video.is_some() || self.call.is_some()
    }

    /// Largest number of its connections.
    pub(crate) fn connections(&self) -> usize {
        match self.http {
            Some(HttpVersion::Http1) => {
                self.connections.map_or(BROWSER_CONNECTIONS, |count| count.get() as usize)
            }
            Some(HttpVersion::Http2) | None => 1,
        }
    }

    /// The node that opens the connection.
    pub fn opener(&self) -> &str {
        match self.opened_by {
            OpenedBy::From => &self.from,
            OpenedBy::To => &self.to,
        }
    }

    /// The end that opens the connection.
    pub fn opener_end(&self) -> End {
        match self.opened_by {
            OpenedBy::From => End::Sender,
            OpenedBy::To => End::Receiver,
        }
    }

    /// The other node.
    pub fn answerer(&self) -> &str {
        match self.opened_by {
            OpenedBy::From => &self.to,
            OpenedBy::To => &self.from,
        }
    }

    /// The attributes that the application gives each stream of its data.
    pub fn attributes(&self) -> Vec<Attributes> {
        match (&self.objects, &self.call) {
            (Some(objects), _) => objects.iter().flat_map(ObjectSpec::attributes).collect(),
            (None, Some(call)) => call.attributes(),
            (None, None) => self.streams.attributes(),
        }
    }

    /// By stream, whether a source sends one message after another over it, without an end of its own.
    pub fn streams_that_repeat(&self) -> Vec<bool> {
        let repeats = |source: &SourceSpec| !matches!(source, SourceSpec::Bulk(_));
        match &self.streams {
            Streams::Each(streams) => {
                streams.iter().map(|stream| repeats(&stream.source)).collect()
            }
            Streams::Dealt(count) => {
                vec![self.source.as_ref().is_some_and(repeats); *count as usize]
            }
        }
    }

    /// The names of the streams of its data.
    pub fn stream_names(&self) -> Vec<String> {
        match (&self.objects, &self.call) {
            (Some(objects), _) => objects.iter().flat_map(ObjectSpec::names).collect(),
            (None, Some(call)) => call.streams().into_iter().map(str::to_owned).collect(),
            (None, None) => {
                (0..self.streams.count()).map(|index| self.streams.name(index)).collect()
            }
        }
    }

    /// Its sources, with the numbers of the streams that have one each.
    pub fn sources(&self) -> impl Iterator<Item = (Option<usize>, &SourceSpec)> {
        let each = match &self.streams {
            Streams::Each(streams) => &streams[..],
            Streams::Dealt(_) => &[],
        };
        let each = each.iter().enumerate().map(|(index, stream)| (Some(index), &stream.source));
        self.source.iter().map(|source| (None, source)).chain(each)
    }

    /// Whether it has a transfer without an end.
    pub fn is_endless(&self) -> bool {
        let endless =
            |source: &SourceSpec| matches!(source, SourceSpec::Bulk(BulkSpec { size: None }));
        self.sources().any(|(_, source)| endless(source))
    }

    /// How many streams carry its data.
    pub fn stream_count(&self) -> usize {
        match (&self.objects, &self.call) {
            (Some(objects), _) => objects.iter().map(|object| object.count.get() as usize).sum(),
            (None, Some(call)) => call.streams().len(),
            (None, None) => self.streams.count(),
        }
    }
}

/// RFC 9218 section 4.1.
pub type Urgency = Whole<0, 7>;

pub(super) fn default_urgency() -> Urgency {
    Urgency::nearest(Attributes::default().urgency.into())
}

leobench_base::spec! {
    /// A stream with its own source.
    pub struct StreamSpec check = check_stream {
        /// Name of the stream; `s1`, `s2`, ... by position unless given.
        pub name: Option<String>,
        /// Source of the messages on it.
        pub source: SourceSpec,
        /// Urgency from 0, the highest, to 7 (RFC 9218 section 4.1), for schedulers that use it.
        pub urgency: Urgency = default_urgency(),
        /// Whether a part of it is useful before the rest arrives (RFC 9218 section 4.2), for schedulers that use it.
        pub incremental: bool = Attributes::default().incremental,
        /// Time from creation within which a message is due; later ones count as late. Some schedulers use it.
        pub deadline: Option<SimDuration>,
        /// How its messages travel over `quic`. Datagrams are sent once, or dropped if their `deadline` passes before.
        pub carried: Carried = Carried::Stream,
        /// The sender's action on a message in a stream of its own whose `deadline` passes before all of it is acknowledged.
        pub on_deadline: OnDeadline = OnDeadline::Deliver,
    }
}

fn check_stream(stream: &StreamSpec) -> Result<(), Fault> {
    check_deadline(stream.deadline)?;
    if stream.on_deadline == OnDeadline::Deliver {
        return Ok(());
    }
    if stream.carried != Carried::StreamPerMessage {
        let problem = "needs messages in streams of their own";
        let allowed = "`deliver`, or `carried = \"stream_per_message\"` beside it";
        return Err(Fault::new("on_deadline", problem, allowed));
    }
    if stream.deadline.is_none() {
        let problem = "needs a deadline";
        return Err(Fault::new("on_deadline", problem, "`deliver`, or a `deadline` beside it"));
    }
    Ok(())
}

pub(super) fn check_deadline(deadline: Option<SimDuration>) -> Result<(), Fault> {
    if deadline.is_some_and(SimDuration::is_zero) {
        return Err(Fault::new("deadline", "is zero", "a time above zero"));
    }
    Ok(())
}

impl StreamSpec {
    fn attributes(&self) -> Attributes {
        Attributes {
            urgency: self.urgency.get() as u8,
            incremental: self.incremental,
            deadline: self.deadline,
            carried: self.carried,
            on_deadline: self.on_deadline,
        }
    }
}

/// The streams of a flow.
#[derive(Clone, Debug, PartialEq)]
pub enum Streams {
    /// So many streams, over which the messages of the flow's one source are dealt in turn.
    Dealt(u32),
    /// Streams with a source each.
    Each(Vec<StreamSpec>),
}

impl Streams {
    /// The number of streams.
    pub fn count(&self) -> usize {
        match self {
            Self::Dealt(count) => *count as usize,
            Self::Each(streams) => streams.len(),
        }
    }

    /// Returns the attributes that the application gives each.
    pub fn attributes(&self) -> Vec<Attributes> {
        match self {
            Self::Dealt(count) => vec![Attributes::default(); *count as usize],
            Self::Each(streams) => streams.iter().map(StreamSpec::attributes).collect(),
        }
    }

    /// The name of the stream at `index`, counted from 0.
    pub fn name(&self, index: usize) -> String {
        let given = match self {
            Self::Dealt(_) => None,
            Self::Each(streams) => streams.get(index).and_then(|stream| stream.name.clone()),
        };
        given.unwrap_or_else(|| default_name(index))
    }
}

fn default_name(index: usize) -> String {
    format!("s{}", index + 1)
}

/// As many as there are ports; each takes some memory.
pub(crate) const MOST_STREAMS: u32 = 65_535;
const STREAMS: &str = "a number from 1 to 65535, or an array of tables with `source`";
impl Spec for Streams {
    fn schema() -> Schema {
        json!({"oneOf": [
            {"type": "integer", "minimum": 1, "maximum": MOST_STREAMS},
            {"type": "array", "items": StreamSpec::schema(), "minItems": 1},
        ]})
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        match value {
            Value::Integer(count) => match u32::try_from(*count) {
                Ok(count @ 1..=MOST_STREAMS) => Ok(Self::Dealt(count)),
                _ => Err(at.error(value, "is not a number of streams").allowed(STREAMS)),
            },
            Value::Array(streams) if streams.is_empty() => {
                Err(at.error(value, "is empty").allowed(STREAMS))
            }
            Value::Array(_) => {
                let mut streams = Vec::<StreamSpec>::read(value, at)?;
                for (index, stream) in streams.iter_mut().enumerate() {
                    stream.name.get_or_insert_with(|| default_name(index));
                }
                Ok(Self::Each(streams))
            }
            other => Err(at.error(other, format!("is {}", other.type_name())).allowed(STREAMS)),
        }
    }

    fn write(&self) -> Value {
        match self {
            Self::Dealt(count) => count.write(),
            Self::Each(streams) => streams.write(),
        }
    }
}
