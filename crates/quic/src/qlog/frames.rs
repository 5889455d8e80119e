//! Frames as JSON.

use std::fmt::{self, Write as _};

use leobench_base::SimDuration;

use super::ErrorName;
use super::text::{Hex, Quoted};
use crate::wire::{Ack, Close, Directionality, Frame};

/// Appends frames, separated by commas.
pub(crate) fn write_frames(
    out: &mut String,
    frames: &[Frame],
    ack_delay_exponent: u64,
) -> fmt::Result {
    for (index, frame) in frames.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_frame(out, frame, ack_delay_exponent)?;
    }
    Ok(())
}

fn write_frame(out: &mut String, frame: &Frame, ack_delay_exponent: u64) -> fmt::Result {
    match frame {
        Frame::Padding(bytes) => {
            write!(out, r#"{{"frame_type":"padding","raw":{{"payload_length":{bytes}}}}}"#)
        }
        Frame::Ack(ack) => {
            out.write_str(r#"{"frame_type":"ack","#)?;
            write_ack(out, ack, ack_delay_exponent)
        }
        // The schema does not know it, and an unknown frame may say more.
        Frame::PathAck { path, ack } => {
            let kind = frame.frame_type();
            write!(out, r#"{{"frame_type":"unknown","frame_type_bytes":{kind},"path_id":{path},"#)?;
            write_ack(out, ack, ack_delay_exponent)
        }
        Frame::Crypto { offset, data } => {
            let len = data.len();
            write!(
                out,
                r#"{{"frame_type":"crypto","offset":{offset},"raw":{{"length":{len},"payload_length":{len}}}}}"#
            )
        }
        Frame::Stream { id, offset, len, fin, .. } => write!(
            out,
            r#"{{"frame_type":"stream","stream_id":{},"offset":{offset},"fin":{fin},"raw":{{"length":{len},"payload_length":{len}}}}}"#,
            id.0
        ),
        Frame::Datagram { data, .. } => {
            let len = data.len();
            write!(
                out,
                r#"{{"frame_type":"datagram","raw":{{"length":{len},"payload_length":{len}}}}}"#
            )
        }
        Frame::ConnectionClose(close) => write_close(out, close),
        Frame::NewConnectionId(new) => write!(
            out,
            r#"{{"frame_type":"new_connection_id","sequence_number":{},"retire_prior_to":{},"connection_id_length":{},"connection_id":"{}","stateless_reset_token":"{}"}}"#,
            new.sequence,
            new.retire_prior_to,
            new.id.size(),
            Hex(new.id.as_slice()),
            Hex(&new.token.0)
        ),
        other => write_small(out, other),
    }
}

/// Frames of a few numbers.
fn write_small(out: &mut String, frame: &Frame) -> fmt::Result {
    match frame {
        Frame::Ping => out.write_str(r#"{"frame_type":"ping"}"#),
        Frame::HandshakeDone => out.write_str(r#"{"frame_type":"handshake_done"}"#),
        Frame::ResetStream { id, code, final_size } => write!(
            out,
            r#"{{"frame_type":"reset_stream","stream_id":{},"error":"unknown","error_code":{code},"final_size":{final_size}}}"#,
            id.0
        ),
        Frame::StopSending { id, code } => write!(
            out,
            r#"{{"frame_type":"stop_sending","stream_id":{},"error":"unknown","error_code":{code}}}"#,
            id.0
        ),
        Frame::NewToken(token) => write!(
            out,
            r#"{{"frame_type":"new_token","token":{{"type":"resumption","raw":{{"length":{}}}}}}}"#,
            token.len()
        ),
        Frame::MaxData(limit) => write!(out, r#"{{"frame_type":"max_data","maximum":{limit}}}"#),
        Frame::MaxStreamData { id, limit } => write!(
            out,
            r#"{{"frame_type":"max_stream_data","stream_id":{},"maximum":{limit}}}"#,
            id.0
        ),
        Frame::MaxStreams { kind, limit } => write!(
            out,
            r#"{{"frame_type":"max_streams","stream_type":"{}","maximum":{limit}}}"#,
            direction(*kind)
        ),
        Frame::DataBlocked(limit) => {
            write!(out, r#"{{"frame_type":"data_blocked","limit":{limit}}}"#)
        }
        Frame::StreamDataBlocked { id, limit } => write!(
            out,
            r#"{{"frame_type":"stream_data_blocked","stream_id":{},"limit":{limit}}}"#,
            id.0
        ),
        Frame::StreamsBlocked { kind, limit } => write!(
            out,
            r#"{{"frame_type":"streams_blocked","stream_type":"{}","limit":{limit}}}"#,
            direction(*kind)
        ),
        Frame::RetireConnectionId(sequence) => {
            write!(out, r#"{{"frame_type":"retire_connection_id","sequence_number":{sequence}}}"#)
        }
        Frame::PathChallenge(data) => {
            write!(out, r#"{{"frame_type":"path_challenge","data":"{data:016x}"}}"#)
        }
        Frame::PathResponse(data) => {
            write!(out, r#"{{"frame_type":"path_response","data":"{data:016x}"}}"#)
        }
        // Those of extensions that the schema does not know.
        other => {
            write!(out, r#"{{"frame_type":"unknown","frame_type_bytes":{}}}"#, other.frame_type())
        }
    }
}

fn direction(kind: Directionality) -> &'static str {
    match kind {
        Directionality::Bidirectional => "bidirectional",
        Directionality::Unidirectional => "unidirectional",
    }
}

/// The rest of a frame that acknowledges. Ranges are written with the smallest number first.
fn write_ack(out: &mut String, ack: &Ack, exponent: u64) -> fmt::Result {
    let micros = ack.delay.checked_shl(exponent as u32).unwrap_or(u64::MAX).min(u64::MAX / 1_000);
    let delay = SimDuration::from_micros(micros).as_millis_f64();
    write!(out, r#""ack_delay":{delay},"acked_ranges":["#)?;
    for (index, range) in ack.ranges.iter().rev().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        if range.smallest == range.largest {
            write!(out, "{comma}[{}]", range.smallest)?;
        } else {
            write!(out, "{comma}[{},{}]", range.smallest, range.largest)?;
        }
    }
    out.push(']');
    if let Some(ecn) = &ack.ecn {
        write!(out, r#","ect1":{},"ect0":{},"ce":{}"#, ecn.ect1, ecn.ect0, ecn.ce)?;
    }
    out.write_str("}")
}

fn write_close(out: &mut String, close: &Close) -> fmt::Result {
    let space = if close.frame_type.is_some() { "transport" } else { "application" };
    let reason = String::from_utf8_lossy(&close.reason);
    write!(
        out,
        r#"{{"frame_type":"connection_close","error_space":"{space}","error":{},"reason":{}"#,
        ErrorName(close),
        Quoted(&reason)
    )?;
    if let Some(trigger) = close.frame_type {
        write!(out, r#","trigger_frame_type":{trigger}"#)?;
    }
    out.write_str("}")
}
