//! Videos: every kind of bad ones, and what may not stand beside them.

use super::refusals::{SOURCE, refused};
use super::*;

/// The source of the flow in the scenario of tests.
const VIDEO: &str = r#"video = { ladder = ["1 Mbps", "3 Mbps"], length = "60 s" }"#;

#[test]
fn a_video_is_one_stream_there_and_back() {
    for transport in ["quic", "tcp"] {
        let text = changed(SOURCE, VIDEO)
            .replace(r#"transport = "quic""#, &format!("transport = \"{transport}\""));
        let flow = &load_text(&text, &[]).unwrap().spec.flows[0].1;
        assert!(flow.asks());
        assert_eq!(flow.stream_count(), 1);
    }
}

#[test]
fn videos() {
    let video = |lines: &str| format!("video = {{ {lines} }}");
    let at = "flows.main.video";
    for (lines, message) in [
        (
            r#"ladder = [], length = "60 s""#,
            ".ladder = []: is empty; allowed: at least one bitrate",
        ),
        (
            r#"ladder = ["3 Mbps", "1 Mbps"], length = "60 s""#,
            ".ladder = [\"3 Mbps\", \"1 Mbps\"]: does not rise from the lowest to the highest bitrate; allowed: each \
             bitrate above the one before",
        ),
        (
            r#"ladder = ["0 bps"], length = "60 s""#,
            ".ladder = [\"0 bps\"]: has a bitrate of zero; allowed: bitrates above zero",
        ),
        (
            r#"ladder = ["1 Mbps"], length = "3 s""#,
            ".length = \"3 s\": is shorter than a segment of 4 s; allowed: at least a segment",
        ),
        (
            r#"ladder = ["1 Mbps"], length = "60 s", start_buffer = "29 s""#,
            ".start_buffer = \"29 s\": is never reached; allowed: up to the segments that `most_buffer` has room for, 28 s",
        ),
        (
            r#"ladder = ["1 Mbps"], length = "60 s", request = "100 GB""#,
            ".request = \"100 GB\": is too large; allowed: from 1 B to 1 MB",
        ),
        (
            r#"ladder = ["1 Mbps"], length = "60 s", adaptation = { kind = "dynamic", long_buffer = "27 s" }"#,
            ".adaptation.long_buffer = \"27 s\": is never reached; allowed: up to `most_buffer` without a segment, 26 s",
        ),
        (
            r#"ladder = ["1 Mbps"], length = "60 s", adaptation = { kind = "dynamic", window = 3 }"#,
            ".adaptation.window = 3: is not used by this version; allowed: only with `version = 4`, whose throughput is a mean of \
             downloads",
        ),
        (
            r#"ladder = ["1 Mbps"], length = "60 s", adaptation = { kind = "dynamic", start = "0 Mbps" }"#,
            ".adaptation.start = \"0 Mbps\": is zero; allowed: a bitrate above zero",
        ),
        (
            r#"ladder = ["1 Mbps"], length = "60 s", adaptation = { kind = "dynamic", version = "4" }"#,
            ".adaptation.version = \"4\": is a string, not a number; allowed: a whole number from 4 to 5",
        ),
        (
            r#"ladder = ["1 Mbps"], length = "60 s", live = { latency = "3 s" }"#,
            ".live.latency = \"3 s\": is shorter than what playback starts with; allowed: at least 4 s",
        ),
        (
            r#"ladder = ["1 Mbps"], length = "60 s", adaptation = { kind = "fixed", rung = 1 }"#,
            ".adaptation.rung = 1: is no bitrate of the ladder, which has 1; allowed: from 0 to 0",
        ),
        (
            r#"ladder = ["1 Mbps"], length = "60 s", most_buffer = "7 s", adaptation = "bola""#,
            ".most_buffer = \"7 s\": has no room for the two segments that the adaptation `bola` needs; allowed: at least 8 s",
        ),
        (
            r#"ladder = ["1 Mbps"], length = "60 s", adaptation = { python = "m:C" }"#,
            ".adaptation.python = \"m:C\": is written in Python, which only leobench's Python package can run; allowed: a \
             kind that is not written in Python",
        ),
        (
            r#"ladder = ["1 Mbps"], length = "60 s", adaptation = { python = "m" }"#,
            ".adaptation.python = \"m\": names no class; allowed: a module and a class in it, such as `mymodule:MyScheduler`",
        ),
        (
            r#"length = "60 s""#,
            ".ladder: is required but missing; allowed: either `ladder`, `length` and `segment`, or a `manifest`",
        ),
        (
            r#"manifest = "a.mpd", segment = "2 s""#,
            ".segment = \"2 s\": is given together with a `manifest`; allowed: either `ladder`, `length` and `segment`, or a \
             `manifest`",
        ),
        (r#"manifest = "a.mpd""#, ".manifest = \"a.mpd\": no such file; allowed: a text file"),
    ] {
        refused(&[(SOURCE, &video(lines), &format!("{at}{message}"))]);
    }
}

#[test]
fn what_stands_beside_a_video() {
    let beside = "is given together with a `video`; allowed:";
    for (lines, message) in [
        (
            SOURCE,
            format!(
                "source = {{ kind = \"cbr\", rate = \"1 Mbps\", size = \"1000 B\" }}: {beside} either a `video`, or sources"
            ),
        ),
        ("streams = 2", format!("streams = 2: {beside} either a `video`, or sources")),
        (
            "stop = \"5 s\"",
            format!("stop = \"5 s\": {beside} no `stop`: a video ends with its last segment"),
        ),
    ] {
        refused(&[(SOURCE, &format!("{VIDEO}\n{lines}"), &format!("flows.main.{message}"))]);
    }
}

#[test]
fn a_call_has_a_frame_and_a_voice_packet_at_least() {
    let udp = |length: &str| {
        changed(SOURCE, &format!("call = {{ length = \"{length}\", video = {{}}, audio = {{}} }}"))
            .replace("transport = \"quic\"", "transport = \"udp\"\nstart = \"2 s\"")
    };
    load_text(&udp("33333332 ns"), &[]).unwrap_err();
    // A run that ends before cuts it short.
    for length in ["33333333 ns", "8 s", "60 s"] {
        load_text(&udp(length), &[]).unwrap();
    }
    for (length, message) in [
        (
            "1 ns",
            "is too short; allowed: from 33.333333 ms, that of a frame or voice packet, to 28800 s",
        ),
        (
            "9 h",
            "is too long; allowed: from 33.333333 ms, that of a frame or voice packet, to 28800 s",
        ),
    ] {
        let found = load_text(&udp(length), &[]).unwrap_err();
        assert_eq!(found, format!("t.toml: flows.main.call.length = \"{length}\": {message}"));
    }
}
