//! The parameters of a QUIC connection in a scenario.

use leobench_base::spec::{Fault, Spec, UpTo, Value, Whole, Window};
use leobench_base::{Bytes, SimDuration};
use leobench_transport::congestion::{CongestionModel, CongestionSpec, CubicSpec};
use leobench_transport::library::LibrarySpec;
use leobench_transport::on_forecast::OnForecastSpec;
use leobench_transport::path_manager::PathManagerSpec;
use leobench_transport::path_scheduler::PathSchedulerSpec;
use leobench_transport::scheduler::SchedulerSpec;

use super::MINIMUM_DATAGRAM;
use super::cids::ID_SIZE;
use super::datagrams::{datagram_header, largest_datagram};
use super::stack::Stack;
use super::wire::TAG_SIZE;
use super::zero_rtt::ZeroRtt;

/// Smallest UDP payload every QUIC path must carry (RFC 9000 section 14.1).
const SMALLEST_PAYLOAD: Bytes = Bytes::new(MINIMUM_DATAGRAM);
/// Largest UDP payload over IPv4 (RFC 768: a 16-bit length with header, less the IPv4 header).
const LARGEST_PAYLOAD: Bytes = Bytes::new(65_507);

/// Shortest delay of acknowledgements that the stack grants (its `min_ack_delay`, the granularity of its timers).
const SHORTEST_ACK_DELAY: SimDuration = SimDuration::from_millis(1);
/// From here on a `max_ack_delay` is invalid (RFC 9000 section 18.2).
const TOO_LONG_ACK_DELAY: SimDuration = SimDuration::from_millis(1 << 14);

/// Paths of a connection at most.
const MOST_PATHS: usize = 64;

/// How many packets are sent with the same keys.
pub type KeyUpdate = Whole<1, { u32::MAX }>;

/// How many probe timeouts in a row.
pub type Timeouts = Whole<1, 1_000>;

/// How many packets may wait for an acknowledgement.
pub type AckElicitingThreshold = Whole<0, 65_535>;

leobench_base::words! {
    /// The protection of packets.
    pub enum Protected {
        /// None: a handshake and packets of the same sizes as with TLS 1.3, without its computing cost.
        Null = "null",
        /// TLS 1.3 and its ciphers (RFC 9001).
        Tls = "tls",
    }
}

leobench_base::words! {
    /// Treatment of the congestion window and the round-trip time when the connection moves to another address.
    pub enum AfterMigration {
        /// Both start anew (RFC 9000 section 9.4).
        Reset = "reset",
        /// Both stay as they are, as if the network behind the new address were the same.
        Keep = "keep",
        /// Both start anew, and the window jumps back to half of what was used on the same path before, once the path
        /// is confirmed (RFC 9959). On a path without saved parameters it acts as `reset`.
        CarefulResume = "careful_resume",
    }
}

leobench_base::words! {
    /// The path that acknowledges the packets of a path.
    pub enum AckPath {
        /// The same one.
        SamePath = "same_path",
        /// The one with the shortest round trip.
        Fastest = "fastest",
        /// All in turn.
        RoundRobin = "round_robin",
    }
}

leobench_base::words! {
    /// When data that is unacknowledged on one path is sent again on another, although nothing shows that it is lost.
    pub enum Reinject {
        /// After a probe timeout of its path: all of it.
        OnTimeout = "on_timeout",
        /// That, and when a path has nothing else to send: then what it may deliver earlier than a slower path.
        Idle = "idle",
        /// Never: what is lost is sent again once that is certain.
        Never = "never",
    }
}

leobench_base::spec! {
    /// Several paths at a time (draft-ietf-quic-multipath), each over a link of the node that opens the connection.
    pub struct MultipathSpec example = r#"{"links": ["terrestrial", "leo"]}"# check = check_multipath {
        /// Links of the node that opens the connection, at least two. The handshake takes the first.
        pub links: Vec<String>,
        /// Those of `links` that are used only if no other link can be.
        pub backup: Vec<String> = Vec::new(),
        /// Links of the node that answers, to whose addresses paths may lead; the handshake takes the first. By default, all paths
        /// lead to the address of the handshake.
        pub peer_links: Vec<String> = Vec::new(),
        /// Path manager: it decides which paths are open, and which of them are backups.
        pub manager: PathManagerSpec = PathManagerSpec::default(),
        /// Path scheduler: it chooses the path of the next packet.
        pub scheduler: PathSchedulerSpec = PathSchedulerSpec::default(),
        /// When unacknowledged data of one path is sent again on another.
        pub reinject: Reinject = Reinject::OnTimeout,
        /// The path that acknowledges the packets of a path.
        pub ack: AckPath = AckPath::SamePath,
        /// Time for which a path survives without packets from the other end if there is another path; unlimited by
        /// default.
        pub idle_timeout: Option<SimDuration> = None,
        /// Whether the other end offers several paths as well. If not, the run is refused, as soon as the ends know it.
        pub peer_offers: bool = true,
    }
}

fn check_multipath(spec: &MultipathSpec) -> Result<(), Fault> {
    let MultipathSpec { links, backup, .. } = spec;
    if links.len() < 2 {
        let allowed = "two or more links of the node that opens the connection";
        return Err(Fault::new("links", "has too few links for several paths", allowed));
    }
    if links.len() > MOST_PATHS {
        return Err(Fault::new("links", "has too many links", format!("{MOST_PATHS} at most")));
    }
    if (1..links.len()).any(|at| links[..at].contains(&links[at])) {
        return Err(Fault::new("links", "names a link more than once", "each link once"));
    }
    let peers = &spec.peer_links;
    if (1..peers.len()).any(|at| peers[..at].contains(&peers[at])) {
        return Err(Fault::new("peer_links", "names a link more than once", "each link once"));
    }
    if links.len() * peers.len() > MOST_PATHS {
        let allowed = format!("{MOST_PATHS} pairs of `links` and `peer_links` at most");
        return Err(Fault::new("peer_links", "makes too many paths", allowed));
    }
    if backup.iter().any(|link| !links.contains(link)) {
        let problem = "names a link that is not one of `links`";
        return Err(Fault::new("backup", problem, links.join(", ")));
    }
    if !backup.is_empty() && !spec.manager.model().uses_backups() {
        let kind = spec.manager.kind();
        let problem =
            format!("is not used by the path manager `{kind}`, which uses one path at a time");
        return Err(Fault::new("backup", problem, "another order of `links`, and no `backup`"));
    }
    if spec.idle_timeout.is_some_and(SimDuration::is_zero) {
        let allowed = "a time above zero, or no `idle_timeout` to disable it";
        return Err(Fault::new("idle_timeout", "is zero", allowed));
    }
    Ok(())
}

leobench_base::spec! {
    /// Parameters of `after_migration = "careful_resume"` (RFC 9959).
    #[derive(Copy)]
    pub struct CarefulResumeSpec: Default check = check_careful_resume {
        /// Bytes that paths are assumed to carry in a round trip until the connection has observations of its own.
        pub saved_cwnd: Option<Bytes> = None,
        /// Their shortest round trip.
        pub saved_rtt: Option<SimDuration> [UpTo::DELAY] = None,
        /// Largest window to jump to; half of the saved one if not given.
        pub max_jump: Option<Bytes> = None,
        /// Time for which the observations of a path can be used after it was left.
        pub lifetime: SimDuration = SimDuration::from_secs(300),
        /// Whether the run ends with an error if the connection moves to a path without saved parameters.
        pub required: bool = false,
    }
}

fn check_careful_resume(spec: &CarefulResumeSpec) -> Result<(), Fault> {
    let pair = [("saved_cwnd", spec.saved_cwnd.is_some()), ("saved_rtt", spec.saved_rtt.is_some())];
    if let [(_, true), (missing, false)] | [(missing, false), (_, true)] = pair {
        let allowed = "both `saved_cwnd` and `saved_rtt`, or neither";
        return Err(Fault::new(missing, "is missing", allowed));
    }
    for (field, size) in [("saved_cwnd", spec.saved_cwnd), ("max_jump", spec.max_jump)] {
        if size == Some(Bytes::ZERO) {
            return Err(Fault::new(field, "is zero", "a size above zero"));
        }
    }
    if spec.saved_rtt.is_some_and(SimDuration::is_zero) {
        return Err(Fault::new("saved_rtt", "is zero", "a time above zero"));
    }
    if spec.lifetime.is_zero() {
        return Err(Fault::new("lifetime", "is zero", "a time above zero"));
    }
    Ok(())
}

leobench_base::spec! {
    /// QUIC version 1 (RFC 9000), a real stack: handshake, streams, loss recovery, flow control.
    pub struct QuicSpec: Default check = check {
        /// Implementation: leobench's own, the crate `noq-proto`, or yours in a shared library.
        pub stack: Stack = Stack::Own,
        /// Protection of packets. It changes only the sizes of handshake packets.
        pub protection: Protected = Protected::Null,
        /// Congestion controller.
        pub congestion: CongestionSpec = default_congestion(),
        /// Stream scheduler: it chooses the streams whose bytes fill the next packet.
        pub scheduler: SchedulerSpec = SchedulerSpec::default(),
        /// UDP payload of a full packet.
        pub payload: Bytes = Bytes::new(1_252),
        /// Whether packets are spread over the round trip (RFC 9002 section 7.7) instead of sent in bursts.
        pub pacing: bool = true,
        /// Whether packets are sent as ECN-capable, and congestion marks reported (RFC 9000 section 13.4).
        pub ecn: bool = true,
        /// Round-trip time assumed before the first sample (RFC 9002 section 6.2.2).
        pub initial_rtt: SimDuration [UpTo::DELAY] = SimDuration::from_millis(333),
        /// Maximum number of packets that the receiver leaves unacknowledged; it acknowledges the next one immediately,
        /// so 1 means every second packet (RFC 9000 section 13.2.2). The sender requests other values
        /// (draft-ietf-quic-ack-frequency).
        pub ack_eliciting_threshold: AckElicitingThreshold = default_threshold(),
        /// Maximum delay of an acknowledgement (RFC 9000 section 18.2). The sender requests other values, at most a
        /// round trip or 25 ms, whichever is longer.
        pub max_ack_delay: SimDuration = DEFAULT_ACK_DELAY,
        /// Receiver's flow-control window of a stream.
        pub stream_window: Window = Window::Unlimited,
        /// Receiver's flow-control window of the connection.
        pub connection_window: Window = Window::Unlimited,
        /// Treatment of the congestion window and the round-trip time when an address changes; both stay if only a port does
        /// (RFC 9000 section 9.4).
        pub after_migration: AfterMigration = AfterMigration::Reset,
        /// Parameters of `after_migration = "careful_resume"`; if not given, it resumes only what the connection observed itself.
        pub careful_resume: Option<CarefulResumeSpec> = None,
        /// Probe timeouts in a row without an answer after which the client probes another address of its host, and moves there if
        /// the server answers (RFC 9000 section 9.1). If not given, it moves only when its address goes away.
        pub probe_after: Option<Timeouts> = None,
        /// Time for which the connection survives without packets from the other end (RFC 9000 section 10.1); unlimited
        /// by default.
        pub idle_timeout: Option<SimDuration> = None,
        /// Whether the server answers the client's first packet with a Retry, so that the client shows that it receives at its
        /// address (RFC 9000 section 8.1.2). It costs a round trip.
        pub retry: bool = false,
        /// Whether packets show their round trip to observers by the spin bit (RFC 9000 section 17.4). The stack
        /// `noq` never does here.
        pub spin: bool = true,
        /// Packets after which each end updates its keys (RFC 9001 section 6). If not given, keys are updated before
        /// their AEAD reaches its limits, which happens only with `protection = "tls"`.
        pub key_update: Option<KeyUpdate> = None,
        /// Several paths at a time, over several links of the node that opens the connection; one path if not given.
        pub multipath: Option<MultipathSpec> = None,
        /// A link of the node that answers: once the handshake is confirmed, the server has its client move to the
        /// address of that interface (RFC 9000 section 9.6). If not given, it has no preferred address.
        pub preferred_address: Option<String> = None,
        /// Actions of the sender on the forecasts of its flow; none by default.
        pub on_forecast: Option<OnForecastSpec> = None,
        /// Whether the client has a ticket of an earlier connection, with which the handshake needs no certificate (RFC 8446
        /// section 2.2). Its round trip stays. A ticket serves once.
        pub resumption: bool = false,
        /// Whether the client sends data with its first packets (0-RTT, RFC 9001 section 4.6), by the flow-control windows of
        /// the earlier connection, which are those of this one: `true` if the server accepts the data, `"rejected"` if not. It
        /// requires `resumption`.
        pub zero_rtt: ZeroRtt = ZeroRtt::Unused,
    }
}

/// RFC 9000 section 18.2.
const DEFAULT_ACK_DELAY: SimDuration = SimDuration::from_millis(25);

/// RFC 9000 section 13.2.2: an acknowledgement after at least two packets.
fn default_threshold() -> AckElicitingThreshold {
    AckElicitingThreshold::nearest(1)
}

fn default_congestion() -> CongestionSpec {
    CongestionSpec::Cubic(CubicSpec::default())
}

fn check(spec: &QuicSpec) -> Result<(), Fault> {
    check_stack(spec)?;
    check_careful(spec)?;
    if spec.preferred_address.is_some() && spec.multipath.is_some() {
        let problem = "applies only to connections with one path";
        return Err(Fault::new(
            "preferred_address",
            problem,
            "either `preferred_address` or `multipath`",
        ));
    }
    if !(SMALLEST_PAYLOAD..=LARGEST_PAYLOAD).contains(&spec.payload) {
        let allowed =
            format!("from {SMALLEST_PAYLOAD} (RFC 9000 section 14.1) to {LARGEST_PAYLOAD}");
        return Err(Fault::new("payload", "is not a valid payload for QUIC", allowed));
    }
    if spec.initial_rtt.is_zero() {
        return Err(Fault::new("initial_rtt", "is zero", "a time above zero"));
    }
    if spec.idle_timeout.is_some_and(SimDuration::is_zero) {
        let allowed = "a time above zero, or no `idle_timeout` to disable it";
        return Err(Fault::new("idle_timeout", "is zero", allowed));
    }
    if !(SHORTEST_ACK_DELAY..TOO_LONG_ACK_DELAY).contains(&spec.max_ack_delay) {
        let allowed = format!(
            "from {SHORTEST_ACK_DELAY} to below {TOO_LONG_ACK_DELAY} (RFC 9000 section 18.2)"
        );
        return Err(Fault::new("max_ack_delay", "is out of range", allowed));
    }
    for (field, window) in
        [("stream_window", spec.stream_window), ("connection_window", spec.connection_window)]
    {
        if window == Window::Bytes(Bytes::ZERO) {
            return Err(Fault::new(
                field,
                "is zero, so nothing could be sent",
                "a size above zero",
            ));
        }
    }
    Ok(())
}

/// Refuses a careful resumption that nobody can do, and its parameters without it.
fn check_careful(spec: &QuicSpec) -> Result<(), Fault> {
    const OTHERS: &str = "`reset` or `keep`";
    if spec.after_migration != AfterMigration::CarefulResume {
        return if spec.careful_resume.is_some() {
            let problem = "has no effect without `after_migration = \"careful_resume\"`";
            let allowed = "no `careful_resume`, or `after_migration = \"careful_resume\"`";
            Err(Fault::new("careful_resume", problem, allowed))
        } else {
            Ok(())
        };
    }
    let (problem, allowed) = if spec.stack == Stack::Noq {
        (
            "is `careful_resume`, which the stack `noq` lacks",
            format!("{OTHERS}, or the stack `own`"),
        )
    } else if !spec.pacing {
        // RFC 9959: packets of the unvalidated phase MUST be paced.
        ("is `careful_resume`, which needs pacing", format!("{OTHERS}, or `pacing = true`"))
    } else if spec.congestion.model().behaviour().model_based {
        let problem = "is `careful_resume`, which needs a congestion controller that sets its window from \
                       acknowledgements and losses";
        (problem, format!("{OTHERS}, or another `congestion` than `{}`", spec.congestion.name()))
    } else {
        return Ok(());
    };
    Err(Fault::new("after_migration", problem, allowed))
}

/// Refuses what a stack lacks.
fn check_stack(spec: &QuicSpec) -> Result<(), Fault> {
    if spec.zero_rtt != ZeroRtt::Unused && !spec.resumption {
        let problem = "requires `resumption`: only a client with a ticket has keys for 0-RTT data";
        return Err(Fault::new("zero_rtt", problem, "`false`, or `resumption = true`"));
    }
    match &spec.stack {
        Stack::Own => return Ok(()),
        Stack::Noq => {}
        Stack::Library(library) => return check_library(spec, library),
    }
    if spec.protection == Protected::Tls {
        let allowed = "`null`, or the stack `own`";
        return Err(Fault::new(
            "protection",
            "is `tls`, which the stack `noq` lacks here",
            allowed,
        ));
    }
    if spec.multipath.is_some() {
        let problem = "requires the stack `own`: `noq` uses one path here";
        return Err(Fault::new("multipath", problem, "no `multipath`, or the stack `own`"));
    }
    if spec.congestion.is_coupled() {
        let problem = format!(
            "is `{}`, which couples the paths of a connection: `noq` uses one path here",
            spec.congestion.name()
        );
        let allowed = format!("{}, or the stack `own`", CongestionSpec::self_contained());
        return Err(Fault::new("congestion", problem, allowed));
    }
    check_knowledge(spec.congestion.model(), spec.congestion.name())?;
    if spec.on_forecast.is_some() {
        let problem = "requires the stack `own`: `noq` does not use forecasts here";
        return Err(Fault::new("on_forecast", problem, "no `on_forecast`, or the stack `own`"));
    }
    if spec.retry {
        let problem = "needs a Retry, which the stack `noq` does not send here";
        return Err(Fault::new("retry", problem, "`false`, or the stack `own`"));
    }
    if spec.preferred_address.is_some() {
        let problem = "requires the stack `own`: clients with `noq` do not migrate here";
        let allowed = "no `preferred_address`, or the stack `own`";
        return Err(Fault::new("preferred_address", problem, allowed));
    }
    if spec.probe_after.is_some() {
        let problem = "requires the stack `own`: `noq` does not learn of other addresses here";
        return Err(Fault::new("probe_after", problem, "no `probe_after`, or the stack `own`"));
    }
    if spec.resumption {
        let problem = "requires the stack `own`: `noq` has no tickets here";
        return Err(Fault::new("resumption", problem, "`false`, or the stack `own`"));
    }
    if spec.key_update.is_some() {
        let problem = "requires the stack `own`: `noq` chooses its own times for key updates";
        return Err(Fault::new("key_update", problem, "no `key_update`, or the stack `own`"));
    }
    Ok(())
}

/// Keys that leobench passes on to a stack in a library.
const OF_LIBRARIES: [&str; 3] = ["stack", "payload", "ecn"];

/// Refuses the keys of leobench's stacks beside a library.
fn check_library(spec: &QuicSpec, library: &LibrarySpec) -> Result<(), Fault> {
    let (Value::Table(given), Value::Table(default)) = (spec.write(), QuicSpec::default().write())
    else {
        return Ok(());
    };
    let mut others = given.iter().filter(|(key, _)| !OF_LIBRARIES.contains(key));
    let Some((key, _)) = others.find(|(key, value)| default.get(key) != Some(*value)) else {
        return Ok(());
    };
    let problem = format!("is up to the stack `{}`", library.name());
    let allowed = "no such key; a library gets `payload`, `ecn` and its own `stack.parameters`";
    Err(Fault::new(key, problem, allowed))
}

/// Refuses a controller that lives on what the stack `noq` does not pass on.
fn check_knowledge(model: &dyn CongestionModel, name: &str) -> Result<(), Fault> {
    let what = if model.needs_access() {
        "needs reports on access links"
    } else if model.uses_forecast() {
        "uses forecasts"
    } else {
        return Ok(());
    };
    let problem = format!("is `{name}`, which {what}: `noq` does not pass them on here");
    let allowed = format!("{}, or the stack `own`", CongestionSpec::self_contained());
    Err(Fault::new("congestion", problem, allowed))
}

impl QuicSpec {
    /// Smallest payload a full packet may be set to.
    pub const SMALLEST_PAYLOAD: Bytes = SMALLEST_PAYLOAD;

    /// The largest datagram of an application (RFC 9221): one whose frame fills a packet; `None` if the stack sends none for flows.
    pub fn largest_datagram(&self) -> Option<Bytes> {
        let frame = self.payload.get() - datagram_header(ID_SIZE as u64) - TAG_SIZE;
        (self.stack == Stack::Own).then(|| Bytes::new(largest_datagram(frame).unwrap_or(0)))
    }

    /// How often the receiver is asked to acknowledge, if otherwise than it would by itself.
    pub fn ack_frequency(&self) -> Option<(u32, SimDuration)> {
        let asked = (self.ack_eliciting_threshold.get(), self.max_ack_delay);
        (asked != (default_threshold().get(), DEFAULT_ACK_DELAY)).then_some(asked)
    }
}

#[cfg(test)]
mod tests {
    use leobench_transport::congestion::{CongestionContext, CongestionControl};

    use super::*;

    /// A controller that needs to be told.
    struct Knowing {
        access: bool,
        forecast: bool,
    }

    impl CongestionModel for Knowing {
        fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl> {
            CubicSpec::default().build(context)
        }

        fn needs_access(&self) -> bool {
            self.access
        }

        fn needs_forecast(&self) -> bool {
            self.forecast
        }
    }

    #[test]
    fn noq_has_no_controllers_that_need_to_be_told() {
        let problem = |access, forecast| {
            let fault = check_knowledge(&Knowing { access, forecast }, "knowing").err()?;
            assert_eq!(fault.field, "congestion");
            assert!(fault.allowed.starts_with("`newreno`, ") && !fault.allowed.contains("satcp"));
            Some(fault.problem)
        };
        assert_eq!(problem(false, false), None);
        let said = |what: &str| {
            Some(format!("is `knowing`, which {what}: `noq` does not pass them on here"))
        };
        assert_eq!(problem(true, false), said("needs reports on access links"));
        assert_eq!(problem(false, true), said("uses forecasts"));
    }
}
