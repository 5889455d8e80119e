//! The qlog of one end of a connection: version 0.3 as the viewer qvis reads it (draft-ietf-quic-qlog-main-schema-03,
//! draft-ietf-quic-qlog-quic-events-02), streamed as JSON text sequences (RFC 7464).

use std::fmt::{self, Write as _};
use std::io;

use leobench_base::{Bytes, SimDuration, SimTime};
use leobench_quic::{JsonSequence, QlogWriter};
use leobench_transport::Role;
use leobench_transport::congestion::Rtt;

use super::frames::{Frame, Frames};
use super::level::Level;

/// The ACK delay exponent, which nobody here changes from its default (RFC 9000 section 18.2).
const ACK_DELAY_EXPONENT: u32 = 3;

/// A qlog being written.
#[derive(Debug)]
pub(super) struct Qlog {
    texts: JsonSequence,
    now: SimTime,
}

impl Qlog {
    pub(super) fn new(writer: QlogWriter, role: Role) -> Self {
        let mut qlog = Self { texts: JsonSequence::new(writer), now: SimTime::ZERO };
        let side = match role {
            Role::Client => "client",
            Role::Server => "server",
        };
        qlog.texts.push(format_args!(
            r#"{{"qlog_version":"0.3","qlog_format":"JSON-SEQ","title":"leobench {side}","trace":{{"vantage_point":{{"name":"{side}","type":"{side}"}},"common_fields":{{"time_format":"relative","reference_time":0}}}}}}"#
        ));
        qlog
    }

    pub(super) fn set_time(&mut self, now: SimTime) {
        self.now = now;
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// The first error that happened since the last call.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.texts.flush()
    }

    pub(super) fn packet(
        &mut self,
        event: &str,
        level: Level,
        number: u64,
        size: usize,
        payload: &[u8],
    ) {
        let mut frames = String::new();
        // Writing to a string cannot fail.
        let _ = write_frames(&mut frames, payload);
        let kind = match level {
            Level::Initial => "initial",
            Level::Handshake => "handshake",
            Level::OneRtt => "1RTT",
        };
        self.event(
            &format!("transport:{event}"),
            format_args!(
                r#"{{"header":{{"packet_type":"{kind}","packet_number":{number}}},"raw":{{"length":{size}}},"frames":[{frames}]}}"#
            ),
        );
    }

    pub(super) fn packet_lost(&mut self, number: u64) {
        self.event(
            "recovery:packet_lost",
            format_args!(r#"{{"header":{{"packet_type":"1RTT","packet_number":{number}}}}}"#),
        );
    }

    pub(super) fn metrics(
        &mut self,
        window: Bytes,
        ssthresh: Option<Bytes>,
        in_flight: u64,
        rtt: Option<Rtt>,
    ) {
        let mut data =
            format!(r#"{{"congestion_window":{},"bytes_in_flight":{in_flight}"#, window.get());
        if let Some(ssthresh) = ssthresh {
            let _ = write!(data, r#","ssthresh":{}"#, ssthresh.get());
        }
        if let Some(rtt) = rtt {
            let _ = write!(
                data,
                r#","min_rtt":{},"smoothed_rtt":{},"latest_rtt":{}"#,
                rtt.min.as_millis_f64(),
                rtt.smoothed.as_millis_f64(),
                rtt.latest.as_millis_f64(),
            );
        }
        self.event("recovery:metrics_updated", format_args!("{data}}}"));
    }

    pub(super) fn phase(&mut self, phase: &str) {
        self.event("recovery:congestion_state_updated", format_args!(r#"{{"new":"{phase}"}}"#));
    }

    fn event(&mut self, name: &str, data: fmt::Arguments<'_>) {
        let time = self.now.as_nanos() as f64 / 1e6;
        self.texts.push(format_args!(r#"{{"time":{time},"name":"{name}","data":{data}}}"#));
    }
}

fn write_frames(out: &mut String, payload: &[u8]) -> fmt::Result {
    let mut frames = Frames::new(payload);
    let mut padding = 0u64;
    while !frames.is_done() {
        let Some(frame) = frames.next_frame() else { break };
        if matches!(frame, Frame::Other { kind: 0, .. }) {
            padding += 1;
            continue;
        }
        separate(out);
        write_frame(out, frame)?;
        if matches!(frame, Frame::Unknown(_)) {
            break;
        }
    }
    if padding > 0 {
        separate(out);
        write!(out, r#"{{"frame_type":"padding","payload_length":{padding}}}"#)?;
    }
    Ok(())
}

fn separate(out: &mut String) {
    if !out.is_empty() {
        out.push(',');
    }
}

fn write_frame(out: &mut String, frame: Frame<'_>) -> fmt::Result {
    match frame {
        Frame::Stream { id, offset, len, fin } => write!(
            out,
            r#"{{"frame_type":"stream","stream_id":{id},"offset":{offset},"length":{len},"fin":{fin}}}"#
        ),
        Frame::Crypto { offset, len } => {
            write!(out, r#"{{"frame_type":"crypto","offset":{offset},"length":{len}}}"#)
        }
        Frame::Ack { largest, delay, first_range, more } => {
            let delay = SimDuration::from_micros(delay << ACK_DELAY_EXPONENT).as_millis_f64();
            write!(out, r#"{{"frame_type":"ack","ack_delay":{delay},"acked_ranges":["#)?;
            write_ranges(out, largest, first_range, more)?;
            out.write_str("]}")
        }
        Frame::Other { kind, fields } => write_other(out, kind, fields),
        Frame::Unknown(kind) => {
            write!(out, r#"{{"frame_type":"unknown","raw_frame_type":{kind}}}"#)
        }
    }
}

/// Acknowledged ranges from the encoding of RFC 9000 section 19.3.1, smallest number first as qlog has them.
fn write_ranges(out: &mut String, largest: u64, first_range: u64, more: &[u8]) -> fmt::Result {
    let mut ranges = vec![(largest - first_range.min(largest), largest)];
    let mut fields = Frames::new(more);
    while let (Some(gap), Some(len)) = (fields.varint(), fields.varint()) {
        let (smallest, _) = ranges[ranges.len() - 1];
        let high = smallest.saturating_sub(gap + 2);
        ranges.push((high.saturating_sub(len), high));
    }
    for (index, (low, high)) in ranges.iter().rev().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(out, "{comma}[{low},{high}]")?;
    }
    Ok(())
}

fn write_other(out: &mut String, kind: u64, [first, second]: [u64; 2]) -> fmt::Result {
    let (name, rest) = match kind {
        0x01 => ("ping", String::new()),
        0x04 => ("reset_stream", format!(r#","stream_id":{first},"error_code":{second}"#)),
        0x05 => ("stop_sending", format!(r#","stream_id":{first},"error_code":{second}"#)),
        0x07 => ("new_token", String::new()),
        0x10 => ("max_data", format!(r#","maximum":{first}"#)),
        0x11 => ("max_stream_data", format!(r#","stream_id":{first},"maximum":{second}"#)),
        0x12 | 0x13 => ("max_streams", format!(r#","maximum":{first}"#)),
        0x14 => ("data_blocked", format!(r#","limit":{first}"#)),
        0x15 => ("stream_data_blocked", format!(r#","stream_id":{first},"limit":{second}"#)),
        0x16 | 0x17 => ("streams_blocked", format!(r#","limit":{first}"#)),
        0x18 => ("new_connection_id", format!(r#","sequence_number":{first}"#)),
        0x19 => ("retire_connection_id", format!(r#","sequence_number":{first}"#)),
        0x1a => ("path_challenge", String::new()),
        0x1b => ("path_response", String::new()),
        0x1c | 0x1d => ("connection_close", format!(r#","raw_error_code":{first}"#)),
        0x1e => ("handshake_done", String::new()),
        0x1f => ("immediate_ack", String::new()),
        0xaf => ("ack_frequency", String::new()),
        _ => ("unknown", format!(r#","raw_frame_type":{kind}"#)),
    };
    write!(out, r#"{{"frame_type":"{name}"{rest}}}"#)
}
