//! Frames in streams of their own over a link that fades, with and without cancellation.

use crate::common::{run, shipped, summary};
use leobench_sim::summary::StreamSummary;

const SIZE: u64 = 20_000;

/// 25 frames a second, 4 Mbit/s, over a link of 8 Mbit/s that is down for a second in every four.
fn frames(keys: &str, transport: &str) -> StreamSummary {
    let text = format!(
        r#"
        name = "frames"
        duration = "40 s"
        until = "drained"
        nodes = {{ a = {{}}, b = {{}} }}
        [links.wire]
        between = ["a", "b"]
        delay = "20 ms"
        queue = {{ kind = "fifo", limit = "100 kB" }}
        channel = {{ kind = "schedule", repeat = "4 s", steps = [
            {{ at = "0 s", rate = "8 Mbps" }}, {{ at = "3 s", rate = "0 bps" }},
        ] }}
        [flows.main]
        transport = {transport}
        from = "a"
        to = "b"
        streams = [{{ source = {{ kind = "cbr", rate = "4 Mbps", size = "{SIZE} B" }}, deadline = "200 ms", {keys} }}]
        "#
    );
    summary(&text).flows.swap_remove(0).streams.swap_remove(0)
}

#[test]
fn cancellation_lets_more_frames_arrive_in_time() {
    for transport in ["\"quic\"", r#"{ kind = "quic", congestion = "bbr3" }"#] {
        let shared = frames(r#"carried = "stream""#, transport);
        let apart = frames(r#"carried = "stream_per_message""#, transport);
        let cancels =
            frames(r#"carried = "stream_per_message", on_deadline = "cancel""#, transport);
        assert_eq!([&shared, &apart, &cancels].map(|stream| stream.messages), [1_000; 3]);
        assert_eq!([&shared, &apart].map(|stream| stream.undelivered_messages), [0; 2]);
        let late = [&shared, &apart, &cancels].map(|stream| stream.late_messages.unwrap());
        // A quarter of the frames falls into silence.
        assert!(late.iter().all(|late| *late >= 200), "{late:?}");
        assert!(late[2] < late[0] && late[2] < late[1], "{transport}: {late:?}");
        let counts = cancels.cancelled.unwrap();
        assert!(shared.cancelled.is_none() && apart.cancelled.is_none());
        assert_eq!(counts.messages, cancels.undelivered_messages, "{counts:?}");
        assert_eq!(counts.sent_bytes + counts.unsent_bytes, SIZE * counts.messages);
        assert_eq!(counts.in_time_messages + late[2], 1_000, "{counts:?}");
    }
}

/// The shipped scenario, on six times of its link.
#[test]
fn live_video_loses_fewer_frames_if_late_ones_are_cancelled() {
    let late = [
        ("stream", "deliver"),
        ("stream_per_message", "deliver"),
        ("stream_per_message", "cancel"),
    ]
    .map(|(carried, action)| {
        let overrides = [
            ("flows.video.streams.0.carried", carried),
            ("flows.video.streams.0.on_deadline", action),
        ];
        let scenario = shipped("live-frames.toml", &overrides);
        let frames = (1..=6).map(|seed| {
            let flow = run(&scenario, seed).summary.flows.swap_remove(0);
            flow.streams[0].late_messages.unwrap()
        });
        frames.sum::<u64>()
    });
    println!("{late:?} of 10,800 frames are late");
    assert!(late[2] < late[0] && late[2] < late[1], "{late:?}");
}
