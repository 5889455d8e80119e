//! A qlog of one path of a connection: a trace as draft-ietf-quic-qlog-main-schema-13 has it, with the events of
//! draft-ietf-quic-qlog-quic-events-13, streamed as JSON text sequences (RFC 7464).
//!
//! Events of another path than the trace's name it in `tuple`. Times are virtual, in milliseconds from the start
//! of the run.

mod frames;
mod sequence;
mod text;

use std::fmt::{self, Write as _};
use std::io;
use std::net::SocketAddr;

use leobench_base::{BitRate, Bytes, SimTime};
use leobench_transport::Role;
use leobench_transport::congestion::Rtt;
use leobench_transport::endpoint::PathId;

pub(super) use self::frames::write_frames;
pub use self::sequence::JsonSequence;
use self::text::{Hex, Quoted};
use super::QlogWriter;
use crate::wire::{Close, ConnectionId, ErrorCode, Frame, Header, VERSION_1};

/// The schema of the events, as drafts have to name it.
const SCHEMA: &str = "urn:ietf:params:qlog:events:quic-13";

/// A trace being written.
pub(super) struct Trace {
    texts: JsonSequence,
    /// The path of the trace, and the one that events are about.
    home: PathId,
    path: PathId,
    metrics: Metrics,
    state: &'static str,
    /// Metrics and state of the other paths.
    others: Vec<(PathId, Metrics, &'static str)>,
    /// Key phases so far, counted from zero.
    key_phase: u64,
}

/// Metrics of recovery and congestion control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Metrics {
    /// Round-trip times, once there is a sample.
    pub(super) rtt: Option<Rtt>,
    /// Probe timeouts in a row.
    pub(super) pto_count: u32,
    /// Bytes that may be in flight, and that are.
    pub(super) window: Bytes,
    pub(super) in_flight: Bytes,
    /// Slow-start threshold, once there is one.
    pub(super) ssthresh: Option<Bytes>,
    /// Pacing rate, if the connection paces.
    pub(super) pacing: Option<BitRate>,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending<'a> {
    /// By a `CONNECTION_CLOSE` of this end.
    Local(&'a Close),
    /// By one of the peer.
    Remote(&'a Close),
    /// For a reason that has a name in qlog: `idle_timeout`, `version_mismatch`, `stateless_reset`.
    Trigger(&'static str),
}

/// Which way a packet passes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Passage {
    Sent,
    Received,
}

impl Trace {
    /// The trace of a path of the connection whose client first sent to `original`.
    pub(super) fn new(
        writer: QlogWriter,
        role: Role,
        path: PathId,
        original: Option<ConnectionId>,
    ) -> Self {
        let mut trace = Self {
            texts: JsonSequence::new(writer),
            home: path,
            path,
            others: Vec::new(),
            metrics: Metrics::default(),
            state: "",
            key_phase: 0,
        };
        let side = match role {
            Role::Client => "client",
            Role::Server => "server",
        };
        let mut common = String::new();
        if let Some(original) = original {
            // Writing to a string cannot fail.
            let _ = write!(common, r#""group_id":"{}","#, Hex(original.as_slice()));
        }
        if path != PathId::default() {
            let _ = write!(common, r#""tuple":"{}","#, TupleId(path));
        }
        trace.texts.push(format_args!(
            r#"{{"file_schema":"urn:ietf:params:qlog:file:sequential","serialization_format":"application/qlog+json-seq","title":"leobench {side}","trace":{{"common_fields":{{{common}"time_format":"relative_to_epoch","reference_time":{{"clock_type":"monotonic","epoch":"unknown"}}}},"vantage_point":{{"name":"{side}","type":"{side}"}},"event_schemas":["{SCHEMA}"]}}}}"#
        ));
        trace
    }

    /// The events that follow are about this path.
    pub(super) fn turn_to(&mut self, path: PathId) {
        if path == self.path {
            return;
        }
        let kept = self.others.iter().position(|(other, ..)| *other == path);
        let (_, metrics, state) =
            kept.map_or((path, Metrics::default(), ""), |at| self.others.swap_remove(at));
        let metrics = std::mem::replace(&mut self.metrics, metrics);
        let state = std::mem::replace(&mut self.state, state);
        self.others.push((std::mem::replace(&mut self.path, path), metrics, state));
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// The first error that happened since the last call.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.texts.flush()
    }

    /// `connection_started`.
    pub(super) fn started(&mut self, now: SimTime, local: SocketAddr, remote: SocketAddr) {
        let (local, remote) = (Tuple(local), Tuple(remote));
        self.event(
            now,
            "connection_started",
            format_args!(r#"{{"local":{local},"remote":{remote}}}"#),
        );
    }

    /// `tuple_assigned`: the path runs between these addresses from now on.
    pub(super) fn moved(&mut self, now: SimTime, local: SocketAddr, remote: SocketAddr) {
        let (tuple, local, remote) = (TupleId(self.path), Tuple(local), Tuple(remote));
        self.event(
            now,
            "tuple_assigned",
            format_args!(
                r#"{{"tuple_id":"{tuple}","tuple_remote":{remote},"tuple_local":{local}}}"#
            ),
        );
    }

    /// `connection_closed`.
    pub(super) fn closed(&mut self, now: SimTime, ending: Ending<'_>, reason: &str) {
        let reason = Quoted(reason);
        let (initiator, close) = match ending {
            Ending::Trigger(trigger) => {
                let initiator = if trigger == "stateless_reset" { "remote" } else { "local" };
                self.event(
                    now,
                    "connection_closed",
                    format_args!(
                        r#"{{"initiator":"{initiator}","reason":{reason},"trigger":"{trigger}"}}"#
                    ),
                );
                return;
            }
            Ending::Local(close) => ("local", close),
            Ending::Remote(close) => ("remote", close),
        };
        let (space, trigger) = match close.frame_type {
            Some(_) if close.code == ErrorCode::NO_ERROR.0 => ("connection_error", "unspecified"),
            Some(_) => ("connection_error", "error"),
            None => ("application_error", "application"),
        };
        let error = ErrorName(close);
        self.event(
            now,
            "connection_closed",
            format_args!(
                r#"{{"initiator":"{initiator}","{space}":{error},"reason":{reason},"trigger":"{trigger}"}}"#
            ),
        );
    }

    /// `packet_sent` or `packet_received`, of `size` bytes.
    pub(super) fn packet(
        &mut self,
        now: SimTime,
        passage: Passage,
        header: &Header,
        frames: &[Frame],
        (size, ack_delay_exponent): (u64, u64),
    ) {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write_frames(&mut text, frames, ack_delay_exponent);
        let name = match passage {
            Passage::Sent => "packet_sent",
            Passage::Received => "packet_received",
        };
        let header = HeaderText(header);
        self.event(
            now,
            name,
            format_args!(r#"{{"header":{header},"frames":[{text}],"raw":{{"length":{size}}}}}"#),
        );
    }

    /// `packet_received` of a Retry packet.
    pub(super) fn retry(
        &mut self,
        now: SimTime,
        [destination, source]: [ConnectionId; 2],
        token: &[u8],
    ) {
        let (destination, source) = (Hex(destination.as_slice()), Hex(source.as_slice()));
        let token = token.len();
        self.event(
            now,
            "packet_received",
            format_args!(
                r#"{{"header":{{"packet_type":"retry","token":{{"type":"retry","raw":{{"length":{token}}}}},"version":"{VERSION_1:08x}","scid":"{source}","dcid":"{destination}"}}}}"#
            ),
        );
    }

    /// `packet_lost`.
    pub(super) fn lost(&mut self, now: SimTime, packet_type: &str, number: u64) {
        self.event(
            now,
            "packet_lost",
            format_args!(
                r#"{{"header":{{"packet_type":"{packet_type}","packet_number":{number}}}}}"#
            ),
        );
    }

    /// `key_updated`, for both directions.
    pub(super) fn key_updated(&mut self, now: SimTime, by_peer: bool) {
        self.key_phase += 1;
        let trigger = if by_peer { "remote_update" } else { "local_update" };
        let phase = self.key_phase;
        for side in ["client", "server"] {
            self.event(
                now,
                "key_updated",
                format_args!(
                    r#"{{"key_type":"{side}_1rtt_secret","key_phase":{phase},"trigger":"{trigger}"}}"#
                ),
            );
        }
    }

    /// `key_updated` for keys that the handshake yielded.
    pub(super) fn keys_installed(&mut self, now: SimTime, level: &str, sides: &[&str]) {
        for side in sides {
            self.event(
                now,
                "key_updated",
                format_args!(r#"{{"key_type":"{side}_{level}_secret","trigger":"tls"}}"#),
            );
        }
    }

    /// `recovery_metrics_updated` with what has changed, and `congestion_state_updated` if it has.
    pub(super) fn recovery(&mut self, now: SimTime, metrics: &Metrics, state: &'static str) {
        if self.metrics != *metrics {
            let changes = Changes { old: self.metrics, new: *metrics };
            self.metrics = *metrics;
            self.event(now, "recovery_metrics_updated", format_args!("{{{changes}}}"));
        }
        if self.state != state {
            let old = std::mem::replace(&mut self.state, state);
            if old.is_empty() {
                self.event(now, "congestion_state_updated", format_args!(r#"{{"new":"{state}"}}"#));
            } else {
                self.event(
                    now,
                    "congestion_state_updated",
                    format_args!(r#"{{"old":"{old}","new":"{state}"}}"#),
                );
            }
        }
    }

    fn event(&mut self, now: SimTime, name: &str, data: fmt::Arguments<'_>) {
        let time = now.as_nanos() as f64 / 1e6;
        if self.path == self.home {
            self.texts
                .push(format_args!(r#"{{"time":{time},"name":"quic:{name}","data":{data}}}"#));
        } else {
            let tuple = TupleId(self.path);
            self.texts.push(format_args!(
                r#"{{"time":{time},"name":"quic:{name}","tuple":"{tuple}","data":{data}}}"#
            ));
        }
    }
}

/// The metrics that differ.
struct Changes {
    old: Metrics,
    new: Metrics,
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { old, new } = self;
        let mut comma = "";
        let mut put = |changed: bool, name: &str, value: &dyn fmt::Display| {
            if !changed {
                return Ok(());
            }
            write!(f, r#"{comma}"{name}":{value}"#)?;
            comma = ",";
            Ok(())
        };
        if let Some(rtt) = new.rtt {
            let changed = |of: fn(&Rtt) -> leobench_base::SimDuration| {
                old.rtt.is_none_or(|old| of(&old) != of(&rtt))
            };
            put(changed(|rtt| rtt.min), "min_rtt", &rtt.min.as_millis_f64())?;
            put(changed(|rtt| rtt.smoothed), "smoothed_rtt", &rtt.smoothed.as_millis_f64())?;
            put(changed(|rtt| rtt.latest), "latest_rtt", &rtt.latest.as_millis_f64())?;
        }
        put(old.pto_count != new.pto_count, "pto_count", &new.pto_count)?;
        put(old.window != new.window, "congestion_window", &new.window.get())?;
        put(old.in_flight != new.in_flight, "bytes_in_flight", &new.in_flight.get())?;
        if let Some(ssthresh) = new.ssthresh {
            put(old.ssthresh != new.ssthresh, "ssthresh", &ssthresh.get())?;
        }
        if let Some(pacing) = new.pacing {
            put(old.pacing != new.pacing, "pacing_rate", &pacing.bps())?;
        }
        Ok(())
    }
}

/// The name of a path: empty for that of the handshake.
struct TupleId(PathId);

impl fmt::Display for TupleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == PathId::default() { Ok(()) } else { write!(f, "{}", self.0.0) }
    }
}

/// An address as `TupleEndpointInfo`.
struct Tuple(SocketAddr);

impl fmt::Display for Tuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ip, port) = (self.0.ip(), self.0.port());
        let family = if self.0.is_ipv4() { "v4" } else { "v6" };
        write!(f, r#"{{"ip_{family}":"{ip}","port_{family}":{port}}}"#)
    }
}

/// The code of a close, as qlog names it.
pub(super) struct ErrorName<'a>(pub(super) &'a Close);

impl fmt::Display for ErrorName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.0.code;
        if self.0.frame_type.is_some() {
            if let Some(name) = ErrorCode(code).name() {
                return write!(f, r#""{}""#, name.to_ascii_lowercase());
            }
            if (0x100..0x200).contains(&code) {
                return write!(f, r#""crypto_error_0x{code:x}""#);
            }
        }
        write!(f, r#""unknown","error_code":{code}"#)
    }
}

/// A header as `PacketHeader`.
struct HeaderText<'a>(&'a Header);

impl fmt::Display for HeaderText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.0.number();
        let kind = packet_type(self.0.level());
        write!(
            f,
            r#"{{"packet_type":"{kind}","packet_number_length":{},"packet_number":{}"#,
            number.len, number.value
        )?;
        match self.0 {
            Header::Initial(long) => {
                if !long.token.is_empty() {
                    write!(f, r#","token":{{"raw":{{"length":{}}}}}"#, long.token.len())?;
                }
                write_ids(f, &long.destination, &long.source)?;
            }
            Header::Handshake(long) | Header::ZeroRtt(long) => {
                write_ids(f, &long.destination, &long.source)?;
            }
            Header::OneRtt { destination, spin, key_phase, .. } => {
                let destination = Hex(destination.as_slice());
                write!(
                    f,
                    r#","spin_bit":{spin},"key_phase_bit":{key_phase},"dcid":"{destination}""#
                )?;
            }
        }
        f.write_str("}")
    }
}

fn write_ids(
    f: &mut fmt::Formatter<'_>,
    destination: &ConnectionId,
    source: &ConnectionId,
) -> fmt::Result {
    write!(
        f,
        r#","version":"{VERSION_1:08x}","scil":{},"dcil":{},"scid":"{}","dcid":"{}""#,
        source.size(),
        destination.size(),
        Hex(source.as_slice()),
        Hex(destination.as_slice())
    )
}

/// The name of the packets of a level.
pub(super) const fn packet_type(level: crate::wire::Level) -> &'static str {
    match level {
        crate::wire::Level::Initial => "initial",
        crate::wire::Level::Handshake => "handshake",
        crate::wire::Level::OneRtt => "1RTT",
        crate::wire::Level::ZeroRtt => "0RTT",
    }
}
