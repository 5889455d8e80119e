//! The tables of a run: every column of every table, with its type, its unit and whether it may be missing.
//!
//! All integers are signed 64-bit, so that differences of columns come out right in every reader. Names are plain text.

use leobench_base::Bytes;

/// A table of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Table {
    /// One row per message, in order of delivery; messages that never arrived come last, or when they were lost.
    Messages,
    /// The sender's state of every path, sampled.
    Transport,
    /// The send buffer of every stream, sampled.
    Streams,
    /// The queue of every link, sampled.
    Queues,
    /// The state of every link's channel, on change.
    Channel,
    /// The true round-trip time and rate of every path, on change.
    Paths,
    /// Rare events.
    Events,
    /// The events of every packet at every link, on request.
    Packets,
    /// The capacity of the delivery opportunities of every link that a trace serves, sampled.
    Opportunities,
    /// The links that every flow's packets take, on change.
    Routes,
    /// The beginning and the end of every handover.
    Handovers,
    /// Packets that the network dropped, or that senders declared lost or repeated.
    Losses,
    /// The hops of the network in orbit, sampled. Only runs whose packets take hops with queues have it.
    Hops,
    /// The satellites that every link's packets pass, on change. Only runs whose packets take hops with queues have it.
    Ways,
    /// The segments that players of videos asked for. Only runs with a video have it.
    Segments,
    /// The frames of calls of which anything arrived. Only runs with a call have it.
    Frames,
    /// Round-trip times that QUIC's spin bit showed. Only runs in real time have it.
    Spin,
}

/// Type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Signed 64-bit integers.
    Integer,
    /// Double-precision numbers.
    Float,
    /// True or false.
    Flag,
    /// UTF-8 text.
    Text,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name; a quantity's ends in its unit.
    pub name: &'static str,
    /// Type of its values.
    pub kind: ColumnKind,
    /// Whether values may be missing.
    pub nullable: bool,
    /// Description for the reader of a table.
    pub doc: &'static str,
}

impl Column {
    const fn new(name: &'static str, kind: ColumnKind, doc: &'static str) -> Self {
        Self { name, kind, nullable: false, doc }
    }

    const fn integer(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, ColumnKind::Integer, doc)
    }

    const fn text(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, ColumnKind::Text, doc)
    }

    const fn or_null(self) -> Self {
        Self { nullable: true, ..self }
    }
}

const TIME: Column = Column::integer("t_ns", "time from the start of the run, nanoseconds");
const FLOW: Column = Column::text("flow", "name of the flow");
const STREAM: Column = Column::text("stream", "name of the stream within its flow");
const LINK: Column = Column::text("link", "a link in one direction, `name/a->b`");
const PATH: Column = Column::integer("path", "number of the path within its connection");

const MESSAGES: &[Column] = &[
    FLOW,
    STREAM,
    Column::integer("message", "number of the message within its stream, from 0"),
    Column::integer("size_bytes", "size of the message, bytes"),
    Column::integer("created_ns", "when the application scheduled it, nanoseconds"),
    Column::integer("first_sent_ns", "when its first byte was first sent, nanoseconds; null if never")
        .or_null(),
    Column::integer(
        "delivered_ns",
        "when its last byte reached the receiving application (in order on a reliable stream), nanoseconds; null \
         if never",
    )
    .or_null(),
];

const TRANSPORT: &[Column] = &[
    TIME,
    FLOW,
    PATH,
    Column::integer("cwnd_bytes", "congestion window, bytes"),
    Column::integer("ssthresh_bytes", "slow-start threshold, bytes; null before the first loss")
        .or_null(),
    Column::integer(
        "in_flight_bytes",
        "bytes sent and neither acknowledged nor given up; null if the stack does not tell",
    )
    .or_null(),
    Column::integer("srtt_ns", "smoothed round-trip time, nanoseconds; null before a sample")
        .or_null(),
    Column::integer("latest_rtt_ns", "latest round-trip time sample, nanoseconds").or_null(),
    Column::integer("pacing_bps", "pacing rate, bits per second; null without pacing").or_null(),
    Column::text("phase", "phase of the congestion controller"),
    Column::integer("bytes_sent", "transport payload sent so far, bytes"),
    Column::integer("bytes_delivered", "application bytes acknowledged so far"),
    Column::integer("bytes_lost", "bytes of packets declared lost so far"),
    Column::integer("bytes_retransmitted", "application bytes sent again so far"),
];

const STREAMS: &[Column] = &[
    TIME,
    FLOW,
    STREAM,
    Column::integer("backlog_bytes", "bytes waiting in the send buffer"),
    Column::integer("head_age_ns", "age of the oldest waiting message, nanoseconds; 0 if none"),
    Column::integer("sojourn_sum_ns", "sum of the ages of all waiting messages, nanoseconds"),
];

const QUEUES: &[Column] = &[
    TIME,
    LINK,
    Column::integer("backlog_bytes", "IP bytes waiting, the packet on the wire not counted"),
    Column::integer("backlog_packets", "packets waiting, the packet on the wire not counted"),
];

const CHANNEL: &[Column] = &[
    TIME,
    LINK,
    Column::integer(
        "rate_bps",
        "rate, bits per second; null where a recorded trace serves packets",
    )
    .or_null(),
    Column::integer("delay_ns", "one-way propagation delay, nanoseconds"),
    Column::new("loss", ColumnKind::Float, "probability that the channel loses a packet"),
    Column::new("up", ColumnKind::Flag, "whether the link takes packets"),
    Column::text("label", "name of the channel's state: fading state, serving satellite"),
];

const PATHS: &[Column] = &[
    TIME,
    FLOW,
    PATH,
    Column::integer(
        "base_rtt_ns",
        "round-trip time without queues or serialisation, nanoseconds; null while there is no way",
    )
    .or_null(),
    Column::integer(
        "bottleneck_bps",
        "rate of the narrowest link, bits per second; 0 while there is no way, null where a trace serves",
    )
    .or_null(),
];

const EVENTS: &[Column] = &[
    TIME,
    Column::text("kind", "kind of event, such as `congestion`"),
    Column::text("subject", "the flow or link it happened to"),
    Column::text("detail", "details for a reader"),
];

const PACKETS: &[Column] = &[
    TIME,
    Column::integer("packet", "number of the packet within the run"),
    LINK,
    Column::text("event", "`enqueue`, `deliver`, `mark` or `drop`"),
    Column::text(
        "cause",
        "why it was marked or dropped: `queue`, `channel`, `down`, `mtu`, or a cause of the queue",
    )
    .or_null(),
    Column::integer("size_bytes", "length of the IP packet, bytes"),
    FLOW.or_null(),
    Column::integer(
        "queued_ns",
        "for how long the link's queue had held it, nanoseconds; null for `enqueue` and at nodes",
    )
    .or_null(),
];

const OPPORTUNITIES: &[Column] = &[
    TIME,
    LINK,
    Column::integer(
        "offered_bytes",
        "bytes that its delivery opportunities so far could have carried",
    ),
];

const ROUTES: &[Column] = &[
    TIME,
    FLOW,
    Column::text("direction", "`there` (from the end that sends data) or `back`"),
    Column::text("links", "links in one direction, in order of travel; null if there is no way")
        .or_null(),
];

const HANDOVERS: &[Column] = &[
    TIME,
    Column::text("handover", "name of the handovers' table in the scenario"),
    Column::integer("number", "number of the handover within its table, from 0"),
    Column::text("node", "the node that moves"),
    Column::text("from_link", "the link that it leaves, or the satellite"),
    Column::text("to_link", "the link that it moves to, or the satellite; `none` without one"),
    Column::text("stage", "`begin`, `end`, or `cut` if the next handover came before the end"),
];

const LOSSES: &[Column] = &[
    FLOW,
    Column::text("end", "the end that sent the packet: `sender` or `receiver`"),
    Column::integer("packet", "number of the packet within the run; null if it was not dropped")
        .or_null(),
    Column::integer("size_bytes", "length of the IP packet, bytes; null if it was not dropped")
        .or_null(),
    Column::integer("dropped_ns", "when the network dropped it, nanoseconds; null if never")
        .or_null(),
    Column::text("place", "the link direction or the node that dropped it; null if none").or_null(),
    Column::text("cause", "why the network dropped it; null if it did not").or_null(),
    Column::integer("declared_ns", "when its sender declared it lost, nanoseconds; null if never")
        .or_null(),
    Column::text("evidence", "what made the sender declare it lost: `acks`, `probe` or `timeout`")
        .or_null(),
    Column::integer(
        "repeated_ns",
        "when its sender sent its content again, nanoseconds; null if never",
    )
    .or_null(),
    Column::integer("repeated_bytes", "how much of it was sent again, bytes; null if nothing")
        .or_null(),
];

const HOPS: &[Column] = &[
    TIME,
    Column::text("hop", "name of the hop, as in the summary"),
    Column::integer("backlog_bytes", "IP bytes waiting, the packet on the wire not counted"),
    Column::integer("backlog_packets", "packets waiting, the packet on the wire not counted"),
    Column::integer("sent_bytes", "bytes sent since the last sample, with the framing of links"),
    Column::integer(
        "busy_ns",
        "time in transmissions that ended since the last sample, nanoseconds",
    ),
    Column::integer("dropped_packets", "packets that the queue dropped since the last sample"),
];

const WAYS: &[Column] = &[
    TIME,
    LINK,
    Column::text("from_station", "terminal or gateway where packets go up; null if there is no way")
        .or_null(),
    Column::text(
        "satellites",
        "names of the satellites in order of travel, with `->` between; null if there is no way",
    )
    .or_null(),
    Column::text("to_station", "terminal or gateway where packets come down; null if there is no way")
        .or_null(),
    Column::integer("hops", "links between satellites on the way; null if there is no way").or_null(),
    Column::integer(
        "delay_ns",
        "propagation delay at that time, without the link's own, nanoseconds; null if there is no way",
    )
    .or_null(),
];

const SEGMENTS: &[Column] = &[
    Column::integer("t_ns", "when the player asked for it, nanoseconds"),
    FLOW,
    Column::integer("segment", "its number within the video, from 0; one that was asked for again has several rows"),
    Column::integer("bitrate_bps", "bitrate of the ladder that it was asked for in, bits per second"),
    Column::integer("bytes", "its size"),
    Column::integer("arrived_ns", "when all of it had arrived, nanoseconds; null if it never did").or_null(),
    Column::integer(
        "buffer_ns",
        "what was in the player's buffer then, the segment included, nanoseconds; null if it never arrived",
    )
    .or_null(),
    Column::integer(
        "stalled_ns",
        "time without pictures since the segment before had arrived, after the first picture, nanoseconds; null if it never arrived",
    )
    .or_null(),
];

const FRAMES: &[Column] = &[
    Column::integer("t_ns", "when it was captured, nanoseconds"),
    FLOW,
    Column::integer("frame", "its number within the call, from 0"),
    Column::new("key", ColumnKind::Flag, "whether it can be decoded without any other"),
    Column::integer("bytes", "its size without headers and parities"),
    Column::integer("packets", "its packets, parities included"),
    Column::integer(
        "complete_ns",
        "when all its packets had arrived or were restored, nanoseconds; null if they never were",
    )
    .or_null(),
    Column::integer("rendered_ns", "when it was rendered, nanoseconds; null if it was passed over")
        .or_null(),
    Column::new(
        "late",
        ColumnKind::Flag,
        "whether it was rendered, but was not complete when it was due",
    ),
];

const SPIN: &[Column] = &[
    TIME,
    Column::text("source", "address and port of the sender of the packets"),
    Column::text("destination", "address and port of their receiver"),
    Column::integer("rtt_ns", "round-trip time that ended then, nanoseconds"),
];

impl Table {
    /// The tables of every run, in the order of their numbers.
    pub const ALL: [Self; 12] = [
        Self::Messages,
        Self::Transport,
        Self::Streams,
        Self::Queues,
        Self::Channel,
        Self::Paths,
        Self::Events,
        Self::Packets,
        Self::Opportunities,
        Self::Routes,
        Self::Handovers,
        Self::Losses,
    ];

    /// The tables of runs that have something for them, which come next: hops in orbit, a video, or a call.
    pub const OCCASIONAL: [Self; 4] = [Self::Hops, Self::Ways, Self::Segments, Self::Frames];

    /// Name of the table, and of its file without the ending.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Transport => "transport",
            Self::Streams => "streams",
            Self::Queues => "queues",
            Self::Channel => "channel",
            Self::Paths => "paths",
            Self::Events => "events",
            Self::Packets => "packets",
            Self::Opportunities => "opportunities",
            Self::Routes => "routes",
            Self::Handovers => "handovers",
            Self::Losses => "losses",
            Self::Hops => "hops",
            Self::Ways => "ways",
            Self::Segments => "segments",
            Self::Frames => "frames",
            Self::Spin => "spin",
        }
    }

    /// Its columns, in order.
    pub const fn columns(self) -> &'static [Column] {
        match self {
            Self::Messages => MESSAGES,
            Self::Transport => TRANSPORT,
            Self::Streams => STREAMS,
            Self::Queues => QUEUES,
            Self::Channel => CHANNEL,
            Self::Paths => PATHS,
            Self::Events => EVENTS,
            Self::Packets => PACKETS,
            Self::Opportunities => OPPORTUNITIES,
            Self::Routes => ROUTES,
            Self::Handovers => HANDOVERS,
            Self::Losses => LOSSES,
            Self::Hops => HOPS,
            Self::Ways => WAYS,
            Self::Segments => SEGMENTS,
            Self::Frames => FRAMES,
            Self::Spin => SPIN,
        }
    }

    /// About what a row takes, before compression: short names, and few values missing.
    pub fn row_bytes(self) -> Bytes {
        let bytes = self.columns().iter().map(|column| match column.kind {
            ColumnKind::Integer | ColumnKind::Float => 8,
            ColumnKind::Flag => 1,
            ColumnKind::Text => 12,
        });
        Bytes::new(bytes.sum())
    }
}
