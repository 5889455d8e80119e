//! The qlog of a connection against the fields that draft-ietf-quic-qlog-main-schema and -quic-events define.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use leobench_base::BitRate;
use leobench_base::spec::Whole;
use serde_json::Value;

use super::addresses::{MODES, Mode, pipe};
use super::*;

/// A file in memory.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A qlog as its header and its events.
struct Log {
    header: Value,
    events: Vec<Value>,
}

impl Log {
    /// Reads JSON text sequences (RFC 7464).
    fn of(memory: &Memory) -> Self {
        let text = String::from_utf8(memory.0.lock().unwrap().clone()).unwrap();
        let records =
            text.strip_prefix('\u{1e}').expect("a record separator first").split('\u{1e}');
        let mut records = records.map(|record| {
            assert!(record.ends_with("}\n"), "{record:?}");
            serde_json::from_str(record).unwrap_or_else(|error| panic!("{error}: {record}"))
        });
        let header = records.next().unwrap();
        Self { header, events: records.collect() }
    }

    fn named(&self, name: &str) -> Vec<&Value> {
        self.events
            .iter()
            .filter(|event| event["name"] == name)
            .map(|event| &event["data"])
            .collect()
    }

    /// Every field is one of the draft's, of its type, and none that must be there is absent.
    fn check(&self, side: &str) {
        let header =
            fields(&self.header, "header", "file_schema:s serialization_format:s title:s? trace:o");
        assert_eq!(header["file_schema"], "urn:ietf:params:qlog:file:sequential");
        assert_eq!(header["serialization_format"], "application/qlog+json-seq");
        let trace =
            fields(&header["trace"], "trace", "common_fields:o vantage_point:o event_schemas:a");
        assert_eq!(trace["vantage_point"]["type"], side);
        assert_eq!(trace["event_schemas"][0], "urn:ietf:params:qlog:events:quic-13");
        assert_eq!(trace["common_fields"]["time_format"], "relative_to_epoch");
        assert_eq!(trace["common_fields"]["reference_time"]["clock_type"], "monotonic");
        // Demanded of a monotonic clock.
        assert_eq!(trace["common_fields"]["reference_time"]["epoch"], "unknown");
        let mut last = 0.0;
        for event in &self.events {
            let event = fields(event, "event", "time:n name:s data:o");
            let time = event["time"].as_f64().unwrap();
            assert!(time >= last, "{time} after {last}");
            last = time;
            let name = event["name"].as_str().unwrap();
            let (_, known) = EVENTS.iter().find(|(known, _)| *known == name).expect(name);
            let data = fields(&event["data"], name, known);
            if let Some(header) = data.get("header") {
                check_header(header);
            }
            let frames = data.get("frames").and_then(Value::as_array);
            frames.into_iter().flatten().for_each(check_frame);
        }
    }
}

/// Fields by name and type: a string, number, boolean, array or object; with `?`, optional.
const EVENTS: [(&str, &str); 9] = [
    ("quic:connection_started", "local:o remote:o"),
    (
        "quic:connection_closed",
        "initiator:s? connection_error:s? application_error:s? error_code:n? reason:s? trigger:s?",
    ),
    ("quic:tuple_assigned", "tuple_id:s tuple_remote:o? tuple_local:o?"),
    ("quic:packet_sent", "header:o frames:a? raw:o?"),
    ("quic:packet_received", "header:o frames:a? raw:o?"),
    ("quic:packet_lost", "header:o"),
    ("quic:key_updated", "key_type:s key_phase:n? trigger:s?"),
    (
        "quic:recovery_metrics_updated",
        "min_rtt:n? smoothed_rtt:n? latest_rtt:n? pto_count:n? congestion_window:n? bytes_in_flight:n? ssthresh:n? \
         pacing_rate:n?",
    ),
    ("quic:congestion_state_updated", "old:s? new:s"),
];

const FRAMES: [(&str, &str); 22] = [
    ("padding", "raw:o?"),
    ("ping", ""),
    ("ack", "ack_delay:n? acked_ranges:a? ect1:n? ect0:n? ce:n?"),
    ("reset_stream", "stream_id:n error:s error_code:n? final_size:n"),
    ("stop_sending", "stream_id:n error:s error_code:n?"),
    ("crypto", "offset:n raw:o"),
    ("new_token", "token:o"),
    ("stream", "stream_id:n offset:n? fin:b? raw:o?"),
    ("max_data", "maximum:n"),
    ("max_stream_data", "stream_id:n maximum:n"),
    ("max_streams", "stream_type:s maximum:n"),
    ("data_blocked", "limit:n"),
    ("stream_data_blocked", "stream_id:n limit:n"),
    ("streams_blocked", "stream_type:s limit:n"),
    (
        "new_connection_id",
        "sequence_number:n retire_prior_to:n connection_id_length:n? connection_id:s stateless_reset_token:s?",
    ),
    ("retire_connection_id", "sequence_number:n"),
    ("path_challenge", "data:s?"),
    ("path_response", "data:s?"),
    ("connection_close", "error_space:s? error:s? error_code:n? reason:s? trigger_frame_type:n?"),
    ("handshake_done", ""),
    ("datagram", "raw:o?"),
    // The schema leaves what more is said of unknown frames to whoever writes them: here, what PATH_ACK acknowledges.
    ("unknown", "frame_type_bytes:n path_id:n? ack_delay:n? acked_ranges:a? ect1:n? ect0:n? ce:n?"),
];

fn fields<'a>(value: &'a Value, of: &str, known: &str) -> &'a serde_json::Map<String, Value> {
    let object = value.as_object().unwrap_or_else(|| panic!("{of}: {value}"));
    let known: Vec<(&str, &str, bool)> = known
        .split_whitespace()
        .map(|field| {
            let (name, kind) = field.split_once(':').unwrap();
            (name, kind.trim_end_matches('?'), kind.ends_with('?'))
        })
        .collect();
    for (name, _, optional) in &known {
        assert!(*optional || object.contains_key(*name), "{of} lacks {name}: {value}");
    }
    for (name, value) in object {
        let Some((_, kind, _)) = known.iter().find(|(known, ..)| known == name) else {
            panic!("{of} has no {name}");
        };
        let is = match *kind {
            "s" => value.is_string(),
            "n" => value.is_number(),
            "b" => value.is_boolean(),
            "a" => value.as_array().is_some_and(|array| !array.is_empty() || name == "frames"),
            "o" => value.is_object(),
            _ => false,
        };
        assert!(is, "{of}: {name} is {value}");
    }
    object
}

fn check_header(header: &Value) {
    let ids = "version:s scil:n? dcil:n? scid:s dcid:s";
    let kind = header["packet_type"].as_str().unwrap();
    let numbers = "packet_type:s packet_number_length:n? packet_number:n";
    let known = match kind {
        "initial" => format!("{numbers} token:o? {ids}"),
        "handshake" => format!("{numbers} {ids}"),
        "1RTT" => format!("{numbers} spin_bit:b? key_phase_bit:b? dcid:s?"),
        "retry" => format!("packet_type:s token:o {ids}"),
        other => panic!("{other}"),
    };
    fields(header, kind, &known);
}

fn check_frame(frame: &Value) {
    let kind = frame["frame_type"].as_str().unwrap();
    let (_, known) = FRAMES.iter().find(|(known, _)| *known == kind).expect(kind);
    let frame = fields(frame, kind, &format!("frame_type:s {known}"));
    for name in ["raw", "token"] {
        if let Some(value) = frame.get(name) {
            fields(value, name, "type:s? raw:o? length:n? payload_length:n?");
        }
    }
}

/// A pipe both ends of which write a qlog.
fn logged(mode: Mode, change: impl Fn(&mut QuicSpec)) -> (Pipe<QuicEndpoint>, [Memory; 2]) {
    let mut pipe = pipe(mode, change);
    let memories = [Memory::default(), Memory::default()];
    for (end, memory) in pipe.ends.iter_mut().zip(&memories) {
        end.write_qlog(Box::new(memory.clone()));
    }
    (pipe, memories)
}

fn finish(mut pipe: Pipe<QuicEndpoint>, memories: &[Memory; 2]) -> [Log; 2] {
    let now = pipe.now;
    pipe.ends.iter_mut().for_each(|end| end.finish(now).unwrap());
    let logs = [Log::of(&memories[SENDER]), Log::of(&memories[RECEIVER])];
    logs[SENDER].check("client");
    logs[RECEIVER].check("server");
    logs
}

fn sum(packets: &[&Value]) -> u64 {
    packets.iter().map(|packet| packet["raw"]["length"].as_u64().unwrap()).sum()
}

#[test]
fn a_qlog_tells_what_happened() {
    for mode in MODES {
        let (mut pipe, memories) = logged(mode, |spec| {
            spec.retry = true;
            spec.key_update = Some(Whole::nearest(300));
            spec.ack_eliciting_threshold = Whole::nearest(3);
        });
        pipe.rate = BitRate::from_bps(20_000_000);
        pipe.fate = Box::new(|_, number, _| (number % 50 != 49).then_some(SimDuration::ZERO));
        pipe.write(0, 1_500_000);
        pipe.finish();
        pipe.deliver(1_500_000);
        pipe.run(ms(60_000), |_| false);
        let totals = [SENDER, RECEIVER].map(|end| pipe.ends[end].totals());
        let updates = pipe.count(SENDER, "key-update");
        let path = pipe.path();
        let logs = finish(pipe, &memories);

        let [sender, receiver] = &logs;
        assert_eq!(
            sender.header["trace"]["common_fields"]["group_id"],
            receiver.header["trace"]["common_fields"]["group_id"]
        );
        let (sent, lost) = (sender.named("quic:packet_sent"), sender.named("quic:packet_lost"));
        assert_eq!(sum(&sent), totals[SENDER].sent_bytes.get(), "{mode:?}");
        assert_eq!(lost.len() as u64, totals[SENDER].lost_packets);
        let arrived = receiver.named("quic:packet_received");
        assert!(!lost.is_empty() && arrived.len() < sent.len());
        // Every packet that was received was sent, with the same frames.
        for packet in &arrived {
            assert!(sent.contains(packet), "{packet}");
        }
        let retries = |log: &Log| {
            let packets = log.named("quic:packet_received");
            packets.iter().filter(|packet| packet["header"]["packet_type"] == "retry").count()
        };
        assert_eq!([retries(sender), retries(receiver)], [1, 0]);
        for (log, trigger) in [(sender, "local_update"), (receiver, "remote_update")] {
            let keys = log.named("quic:key_updated");
            let triggered = |by: &str| keys.iter().filter(|key| key["trigger"] == by).count();
            assert_eq!((triggered("tls"), triggered(trigger)), (4, 2 * updates), "{mode:?}");
            assert!(updates > 2 && log.named("quic:connection_started").len() == 1);
            assert!(log.named("quic:connection_closed").is_empty());
        }
        // What the last updates leave is what the connection ends with.
        let final_value = |name: &str| {
            let updates = sender.named("quic:recovery_metrics_updated");
            updates.iter().rev().find_map(|update| update.get(name)).unwrap().clone()
        };
        assert_eq!(final_value("congestion_window"), path.cwnd.get());
        assert_eq!(final_value("ssthresh"), path.ssthresh.unwrap().get());
        assert_eq!(final_value("smoothed_rtt"), path.smoothed_rtt.unwrap().as_millis_f64());
        let states = sender.named("quic:congestion_state_updated");
        assert_eq!(states[0].get("old"), None);
        assert!(states.windows(2).all(|pair| pair[0]["new"] == pair[1]["old"]) && states.len() > 2);
        assert_eq!(states.last().unwrap()["new"], path.phase);
    }
}

#[test]
fn a_qlog_changes_nothing() {
    let run = |with: bool| {
        let (mut pipe, _) = logged(Mode::Structs, |_| ());
        if !with {
            pipe = super::addresses::pipe(Mode::Structs, |_| ());
        }
        pipe.fate = Box::new(|_, number, _| (number % 50 != 49).then_some(SimDuration::ZERO));
        pipe.write(0, 300_000);
        pipe.deliver(300_000);
        pipe.passed
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn the_end_of_a_connection_has_its_cause() {
    let closed = |log: &Log| {
        let [closed] = &log.named("quic:connection_closed")[..] else { panic!("{:?}", log.events) };
        let names = ["initiator", "connection_error", "application_error", "trigger"];
        names.map(|name| closed.get(name).and_then(Value::as_str).unwrap_or("").to_owned())
    };
    // By the application.
    let (mut pipe, memories) = logged(Mode::Structs, |_| ());
    pipe.run(ms(500), |_| false);
    pipe.ends[SENDER].connection_mut().close(ms(500), 7, "a \"reason\" with \u{1} and \\");
    pipe.wakes[SENDER] = Some(pipe.now);
    pipe.run(ms(1_000), |_| false);
    let logs = finish(pipe, &memories);
    assert_eq!(closed(&logs[SENDER]), ["local", "", "unknown", "application"]);
    assert_eq!(closed(&logs[RECEIVER]), ["remote", "", "unknown", "application"]);
    let frames = logs[SENDER].named("quic:packet_sent").last().unwrap()["frames"].clone();
    assert_eq!(frames[0]["reason"], "a \"reason\" with \u{1} and \\");
    assert_eq!(frames[0]["error_code"], 7);
    // By the idle timeout.
    let (mut pipe, memories) = logged(Mode::Structs, |spec| {
        spec.idle_timeout = Some(SimDuration::from_millis(800));
    });
    pipe.run(ms(5_000), |_| false);
    let logs = finish(pipe, &memories);
    assert_eq!(closed(&logs[SENDER]), ["local", "", "", "idle_timeout"]);
    // By an error.
    let (mut pipe, memories) = logged(Mode::Structs, |_| ());
    pipe.run(ms(500), |_| false);
    pipe.ends[SENDER].connection_mut().believe_in_datagrams(100);
    pipe.ends[SENDER].connection_mut().send_datagram(vec![1].into()).unwrap();
    pipe.wakes[SENDER] = Some(pipe.now);
    pipe.run(ms(1_000), |_| false);
    let logs = finish(pipe, &memories);
    assert_eq!(closed(&logs[RECEIVER]), ["local", "protocol_violation", "", "error"]);
    assert_eq!(closed(&logs[SENDER]), ["remote", "protocol_violation", "", "error"]);
}

#[test]
fn another_address_is_logged() {
    let (mut pipe, memories) = logged(Mode::Structs, |_| ());
    pipe.run(ms(500), |_| false);
    pipe.write(0, 2_000);
    pipe.run(ms(510), |_| false);
    // A translator gives the client another port.
    let moved = pipe.flying.values_mut().filter(|(end, _)| *end == RECEIVER);
    moved.for_each(|(_, packet)| packet.meta.source.set_port(9_999));
    pipe.run(ms(525), |_| false);
    let logs = finish(pipe, &memories);
    let [moved] = &logs[RECEIVER].named("quic:tuple_assigned")[..] else { panic!() };
    assert_eq!(moved["tuple_id"], "");
    assert_eq!(moved["tuple_remote"]["port_v4"], 9_999);
    assert_eq!(moved["tuple_local"]["port_v4"], 4_433);
    assert!(logs[SENDER].named("quic:tuple_assigned").is_empty());
}

#[test]
fn a_connection_that_never_began_has_an_empty_trace() {
    let (pipe, memories) = logged(Mode::Structs, |_| ());
    let logs = finish(pipe, &memories);
    assert!(logs.iter().all(|log| log.events.is_empty()));
}

/// Every kind of frame, with the fields of its kind.
#[test]
fn every_frame_has_the_fields_of_its_kind() {
    use crate::wire::{ConnectionId, Directionality, NewConnectionId, ResetToken};
    let id = StreamId(4);
    let new = NewConnectionId {
        sequence: 1,
        retire_prior_to: 0,
        id: ConnectionId::new(&[7; 8]).unwrap(),
        token: ResetToken([9; 16]),
    };
    let kind = Directionality::Bidirectional;
    let frames = [
        Frame::Padding(9),
        Frame::Ping,
        Frame::ResetStream { id, code: 1, final_size: 2 },
        Frame::StopSending { id, code: 1 },
        Frame::NewToken(vec![1, 2].into()),
        Frame::MaxData(1),
        Frame::MaxStreamData { id, limit: 1 },
        Frame::MaxStreams { kind, limit: 1 },
        Frame::DataBlocked(1),
        Frame::StreamDataBlocked { id, limit: 1 },
        Frame::StreamsBlocked { kind, limit: 1 },
        Frame::NewConnectionId(Box::new(new)),
        Frame::RetireConnectionId(1),
        Frame::PathChallenge(1),
        Frame::PathResponse(1),
        Frame::HandshakeDone,
        Frame::Datagram { data: vec![1].into(), explicit_len: false },
        Frame::AckFrequency { sequence: 0, threshold: 1, max_ack_delay: 2, reordering: 3 },
        Frame::ImmediateAck,
    ];
    let mut text = String::new();
    crate::qlog::write_frames(&mut text, &frames, 3).unwrap();
    let values: Vec<Value> = serde_json::from_str(&format!("[{text}]")).unwrap();
    assert_eq!(values.len(), frames.len());
    values.iter().for_each(check_frame);
}
