//! Pages: objects that the receiving end of a flow asks for.

use leobench_base::spec::{At, Fault, Schema, Spec, SpecError, Value, Whole, Window, json};
use leobench_base::{Bytes, SimDuration};
use leobench_transport::buffer::{Attributes, Carried, OnDeadline};
use leobench_transport::tcp::TcpSpec;

use super::flow::{MOST_STREAMS, Urgency, check_deadline, default_urgency};

/// Bytes of a request. The header fields of a GET take 700 to 800 bytes as text (SPDY whitepaper, The Chromium
/// Projects, 2009), and somewhat more than half of that with the Huffman code of QPACK (RFC 9204); what matters more
/// is that it fits a packet.
const REQUEST: Bytes = Bytes::new(400);

/// Bytes that a frame of HTTP/2 carries at most, unless the receiver allows more (RFC 9113 section 4.2).
pub(crate) const LARGEST_FRAME: u64 = 1 << 14;

/// Unsent bytes beyond which a server of pages over TCP writes no more into its socket, unless the scenario sets a limit.
const UNSENT: Bytes = Bytes::new(1 << 14);

/// The version of HTTP of a page over TCP, by its number, which need not be in quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpVersion {
    /// HTTP/1.1 (RFC 9112): an object at a time on each of several connections.
    Http1,
    /// HTTP/2 (RFC 9113): all objects share one connection, in frames.
    Http2,
}

impl Spec for HttpVersion {
    fn schema() -> Schema {
        json!({ "title": "`1.1` or `2`", "oneOf": [{ "enum": ["1.1", "2"] }, { "enum": [1.1, 2] }] })
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        let number = match value {
            Value::Float(number) => number.to_string(),
            Value::Integer(number) => number.to_string(),
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Array(_) | Value::Table(_) => String::new(),
        };
        match number.as_str() {
            "1.1" => Ok(Self::Http1),
            "2" => Ok(Self::Http2),
            _ => {
                let error = at.error(value, "is not a version of HTTP over TCP");
                Err(error.allowed("`\"1.1\"` or `\"2\"`; for HTTP/3, the transport `quic`"))
            }
        }
    }

    fn write(&self) -> Value {
        Value::String(match self {
            Self::Http1 => "1.1".into(),
            Self::Http2 => "2".into(),
        })
    }
}

/// Connections of HTTP/1.1 that a browser opens to a server (Chromium: `g_max_sockets_per_group`; Firefox:
/// `network.http.max-persistent-connections-per-server`).
pub(crate) const BROWSER_CONNECTIONS: usize = 6;

/// Number of connections of HTTP/1.1: the upper limit is far above that of browsers.
pub type Connections = Whole<1, 64>;

leobench_base::spec! {
    /// An object of a page, or several identical ones, each on its own stream.
    ///
    /// When the page needs it, the receiving end sends a request; when the request has arrived, the sending end writes the
    /// object. Over QUIC both have streams of their own, over TCP all share the connection in frames of
    /// HTTP/2, or take turns on the connections of HTTP/1.1.
    pub struct ObjectSpec check = ObjectSpec::check {
        /// Name of the object and of its stream; with a `count`, `name-1`, `name-2` and so on.
        pub name: String,
        /// Bytes of each.
        pub size: Bytes,
        /// Bytes of the response's header fields, up to 16,384, which come before these and count like them.
        pub headers: Bytes = Bytes::ZERO,
        /// Number of these objects.
        pub count: Whole<1, { MOST_STREAMS }> = Whole::nearest(1),
        /// When the page needs it, from the start of the flow; at the start, unless it comes after others.
        pub at: Option<SimDuration>,
        /// Names of the objects that must arrive before the page needs it.
        pub after: Vec<String> = Vec::new(),
        /// Time from the arrival of the last of these until the page needs it.
        pub delay: SimDuration = SimDuration::ZERO,
        /// Bytes of its request.
        pub request: Bytes = REQUEST,
        /// Time that the sending end takes to answer the request.
        pub think: SimDuration = SimDuration::ZERO,
        /// Urgency from 0, the highest, to 7 (RFC 9218 section 4.1), for TCP and for schedulers that use it.
        pub urgency: Urgency = default_urgency(),
        /// Whether a part of it is useful before the rest arrives (RFC 9218 section 4.2), for TCP and for schedulers that use it.
        pub incremental: bool = Attributes::default().incremental,
        /// Time from the need within which it is due; later ones count as late. Some schedulers use it, from the
        /// arrival of the request.
        pub deadline: Option<SimDuration>,
    }
}

impl ObjectSpec {
    /// An object that the page needs at the start, with defaults for everything else.
    pub(crate) fn new(name: String, size: Bytes) -> Self {
        Self {
            name,
            size,
            headers: Bytes::ZERO,
            count: Whole::nearest(1),
            at: None,
            after: Vec::new(),
            delay: SimDuration::ZERO,
            request: REQUEST,
            think: SimDuration::ZERO,
            urgency: default_urgency(),
            incremental: Attributes::default().incremental,
            deadline: None,
        }
    }

    fn check(&self) -> Result<(), Fault> {
        for (field, size) in [("size", self.size), ("request", self.request)] {
            if size.is_zero() || size > MOST_BYTES {
                let problem = if size.is_zero() { "is zero" } else { "is too large" };
                return Err(Fault::new(field, problem, "from 1 B to 1000 GB"));
            }
        }
        if self.headers.get() > LARGEST_FRAME {
            let allowed = format!("at most {LARGEST_FRAME} B, which a frame of HTTP/2 takes");
            return Err(Fault::new("headers", "is too large", allowed));
        }
        if self.after.is_empty() && !self.delay.is_zero() {
            let problem = "counts from the arrival of other objects, but `after` names none";
            return Err(Fault::new("delay", problem, "`at` instead, or also `after`"));
        }
        if !self.after.is_empty() && self.at.is_some() {
            let allowed = "either `at` or `after`";
            return Err(Fault::new("at", "is given together with `after`", allowed));
        }
        check_deadline(self.deadline)
    }

    /// Bytes of a response: its header fields and the object.
    pub(crate) fn response(&self) -> Bytes {
        self.headers + self.size
    }

    /// Names of the objects, one for each.
    pub fn names(&self) -> impl Iterator<Item = String> + '_ {
        let name = |number| match self.count.get() {
            1 => self.name.clone(),
            _ => format!("{}-{number}", self.name),
        };
        (1..=self.count.get()).map(name)
    }

    pub(crate) fn attributes(&self) -> impl Iterator<Item = Attributes> {
        let attributes = Attributes {
            urgency: self.urgency.get() as u8,
            incremental: self.incremental,
            deadline: self.deadline,
            carried: Carried::Stream,
            on_deadline: OnDeadline::Deliver,
        };
        std::iter::repeat_n(attributes, self.count.get() as usize)
    }
}

/// Largest object or request: a terabyte, far more than any page.
const MOST_BYTES: Bytes = Bytes::new(1_000_000_000_000);

/// Returns the socket of a server that sends pages over TCP. It holds little unsent data (`TCP_NOTSENT_LOWAT`), so that what
/// is more urgent need not wait behind it.
pub(crate) fn server_socket(spec: &TcpSpec) -> TcpSpec {
    let mut socket = spec.clone();
    if socket.notsent_lowat == Window::Unlimited {
        socket.notsent_lowat = Window::Bytes(UNSENT.max(spec.mss));
    }
    socket
}

/// Returns the socket of a browser that requests pages over HTTP/1.1. It holds no small segment back (`TCP_NODELAY`), so that a request
/// need not wait for the acknowledgement of the TLS handshake.
pub(crate) fn browser_socket(spec: &TcpSpec) -> TcpSpec {
    TcpSpec { nagle: false, ..spec.clone() }
}
