//! Links between two nodes, and what each direction does differently.

use std::fmt;

pub use leobench_base::Direction;
use leobench_base::spec::{At, Limit, Ratio, Schema, Spec, SpecError, UpTo, Value, json};
use leobench_base::{BitRate, Bytes, SimDuration};
use leobench_link::channel::steady::SteadySpec;
use leobench_link::queue::fifo::FifoSpec;
use leobench_link::{AccessSpec, ChannelSpec, LossSpec, QueueSpec};

use super::constellation::PassageSpec;

leobench_base::spec! {
    /// A link between two nodes, one transmitter and one queue in each direction.
    pub struct LinkSpec {
        /// The two nodes; `forward` is from the first to the second.
        pub between: [String; 2],
        /// The channel model of both directions; `rate` is short for a constant one.
        pub channel: Option<ChannelSpec>,
        /// A constant rate, short for `channel = { kind = "steady", rate = ... }`.
        pub rate: Option<BitRate>,
        /// The route through the scenario's constellation, instead of a channel or with the channel `starlink`.
        pub constellation: Option<PassageSpec>,
        /// Propagation delay, in addition to the channel's own.
        pub delay: SimDuration [UpTo::DELAY] = SimDuration::ZERO,
        /// Random loss, in addition to the channel's own.
        pub loss: Option<LossSpec>,
        /// Medium access: when packets leave a transmitter that shares its medium with others.
        pub access: Option<AccessSpec>,
        /// Queue discipline in front of each transmitter.
        pub queue: QueueSpec = default_queue(),
        /// Largest IP packet carried; larger ones are dropped.
        pub mtu: Bytes = Bytes::new(1_500),
        /// Framing added to the IP length of every packet on the wire; negative to ignore headers.
        pub overhead: SignedBytes = SignedBytes::ZERO,
        /// Whether a packet may overtake another when the propagation delay falls.
        pub overtaking: bool = false,
        /// Whether each direction has its own channel process instead of a shared one.
        pub independent: bool = false,
        /// Values that differ from the first node of `between` to the second.
        pub forward: DirectionSpec = DirectionSpec::default(),
        /// Values that differ from the second node of `between` to the first.
        pub backward: DirectionSpec = DirectionSpec::default(),
    }
}

leobench_base::spec! {
    /// Values of one direction of a link that differ from the link as a whole.
    #[derive(Default)]
    pub struct DirectionSpec {
        /// A channel for this direction only.
        pub channel: Option<ChannelSpec>,
        /// A constant rate for this direction only.
        pub rate: Option<BitRate>,
        /// Factor on the rate of the link's channel: a number, or a ratio such as `"20/150"`.
        pub rate_scale: Option<Ratio>,
        /// Propagation delay.
        pub delay: Option<SimDuration> [UpTo::DELAY],
        /// Random loss.
        pub loss: Option<LossSpec>,
        /// Medium access.
        pub access: Option<AccessSpec>,
        /// Queue discipline.
        pub queue: Option<QueueSpec>,
    }
}

impl LinkSpec {
    /// The names of the nodes that `direction` leads from and to.
    pub fn ends(&self, direction: Direction) -> [&str; 2] {
        let [first, second] = &self.between;
        match direction {
            Direction::Forward => [first, second],
            Direction::Backward => [second, first],
        }
    }

    /// Whether both directions are served by one channel process.
    pub fn shares_channel(&self) -> bool {
        !self.independent
            && Direction::BOTH.iter().all(|direction| !self.has_own_channel(*direction))
    }

    /// Whether `direction` says which channel serves it, instead of taking the link's.
    pub fn has_own_channel(&self, direction: Direction) -> bool {
        let own = self.changes(direction);
        own.channel.is_some() || own.rate.is_some()
    }

    /// The channel that serves `direction` alone; `None` if a constellation does, or in a scenario that was not checked.
    pub fn channel(&self, direction: Direction) -> Option<ChannelSpec> {
        if self.constellation.is_some() {
            return None;
        }
        let own = self.changes(direction);
        own.channel
            .clone()
            .or(own.rate.map(steady))
            .or_else(|| self.channel.clone())
            .or(self.rate.map(steady))
    }

    /// Factor on the channel's rate in `direction`.
    pub fn rate_scale(&self, direction: Direction) -> f64 {
        self.changes(direction).rate_scale.map_or(1.0, Ratio::get)
    }

    /// Propagation delay in `direction`, without the channel's.
    pub fn delay(&self, direction: Direction) -> SimDuration {
        self.changes(direction).delay.unwrap_or(self.delay)
    }

    /// Loss process in `direction`, if there is one besides the channel's that loses packets.
    pub fn loss(&self, direction: Direction) -> Option<&LossSpec> {
        let given = self.changes(direction).loss.as_ref().or(self.loss.as_ref());
        given.filter(|loss| loss.model().is_lossy())
    }

    /// Medium access in `direction`, if packets do not leave at once.
    pub fn access(&self, direction: Direction) -> Option<&AccessSpec> {
        self.changes(direction).access.as_ref().or(self.access.as_ref())
    }

    /// Queue discipline in `direction`.
    pub fn queue(&self, direction: Direction) -> &QueueSpec {
        self.changes(direction).queue.as_ref().unwrap_or(&self.queue)
    }

    /// Returns the values that differ in `direction`.
    pub fn changes(&self, direction: Direction) -> &DirectionSpec {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Backward => &self.backward,
        }
    }
}

/// A number of bytes that may be negative, such as `"14 B"` or `"-28 B"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignedBytes(i64);

const SIGNED_BYTES: &str = r#"a size with its unit, negative or not, such as "14 B" or "-28 B""#;

impl SignedBytes {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// `bytes` bytes.
    pub const fn new(bytes: i64) -> Self {
        Self(bytes)
    }

    /// The number of bytes.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for SignedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}", Bytes::new(self.0.unsigned_abs()))
    }
}

impl Spec for SignedBytes {
    fn schema() -> Schema {
        json!({
            "type": "string",
            "pattern": r"^\s*-?[0-9._]+\s*(B|kB|MB|GB|KiB|MiB|GiB)\s*$",
            "description": SIGNED_BYTES,
        })
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        let (size, negative) = match value {
            Value::String(text) => match text.trim().strip_prefix('-') {
                Some(size) => (Value::String(size.to_owned()), true),
                None => (value.clone(), false),
            },
            other => (other.clone(), false),
        };
        let size = Bytes::read(&size, at).map_err(|error| SpecError {
            value: Some(value.to_string()),
            nearest: error.nearest.as_ref().map(|near| with_sign(near, negative)),
            ..error.allowed(SIGNED_BYTES)
        })?;
        let size = i64::try_from(size.get())
            .map_err(|_| at.error(value, "is too large").allowed(SIGNED_BYTES))?;
        Ok(Self(if negative { -size } else { size }))
    }

    fn write(&self) -> Value {
        Value::String(self.to_string())
    }
}

fn with_sign(size: &str, negative: bool) -> String {
    format!("{}{size}", if negative { "-" } else { "" })
}

pub(crate) fn default_queue() -> QueueSpec {
    QueueSpec::Fifo(FifoSpec { limit: Limit::Unlimited })
}

/// Returns the channel that the shorthand `rate` stands for.
pub(crate) fn steady(rate: BitRate) -> ChannelSpec {
    ChannelSpec::Steady(SteadySpec { rate })
}
