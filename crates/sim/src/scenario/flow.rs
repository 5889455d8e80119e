//! Flows: which transport carries which traffic from where to where.

use leobench_base::spec::{At, Schema, Spec, SpecError, Value, json};
use leobench_base::{Bytes, SimDuration};
use leobench_transport::SourceSpec;
use leobench_transport::quic::QuicSpec;
use leobench_transport::udp::UdpSpec;

leobench_base::words! {
    /// Which end of a flow opens the connection.
    pub enum OpenedBy {
        /// The end that sends the data.
        From = "from",
        /// The end that receives the data.
        To = "to",
    }
}

leobench_base::spec! {
    /// Data sent from one node to another over one connection.
    pub struct FlowSpec {
        /// The transport and its parameters.
        pub transport: TransportSpec,
        /// The node that sends the data.
        pub from: String,
        /// The node that receives the data.
        pub to: String,
        /// Which end opens the connection.
        pub opened_by: OpenedBy = OpenedBy::From,
        /// When the flow starts.
        pub start: SimDuration = SimDuration::ZERO,
        /// When its sources stop, if before the end of the run.
        pub stop: Option<SimDuration>,
        /// Whether the flow is there to load the network only, and left out of the fairness among flows.
        pub background: bool = false,
        /// Over how many streams the messages of `source` are dealt in turn; or an array of streams, each with a
        /// source of its own.
        pub streams: Streams = Streams::Dealt(1),
        /// The source whose messages are dealt over the streams.
        pub source: Option<SourceSpec>,
    }
}

leobench_base::spec! {
    /// A stream with a source of its own.
    pub struct StreamSpec {
        /// Name of the stream; `s1`, `s2`, ... by position unless given.
        pub name: Option<String>,
        /// What the application writes on it.
        pub source: SourceSpec,
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
    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            Self::Dealt(count) => *count as usize,
            Self::Each(streams) => streams.len(),
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
const MOST_STREAMS: u32 = 65_535;
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
                _ => Err(at.error(value, "is no number of streams").allowed(STREAMS)),
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

/// What a scenario needs to know of any transport.
pub trait TransportModel {
    /// Largest UDP payload it sends.
    fn payload(&self) -> Bytes;

    /// Whether the ends open a connection, so that packets of full size go both ways.
    fn connects(&self) -> bool;
}

leobench_base::kinds! {
    /// A transport, by name.
    pub enum TransportSpec as dyn TransportModel {
        Quic(QuicSpec) = "quic",
        Udp(UdpSpec) = "udp",
    }
}

impl TransportModel for QuicSpec {
    fn payload(&self) -> Bytes {
        self.payload
    }

    fn connects(&self) -> bool {
        true
    }
}

impl TransportModel for UdpSpec {
    fn payload(&self) -> Bytes {
        self.payload
    }

    fn connects(&self) -> bool {
        false
    }
}
