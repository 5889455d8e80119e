//! The cost of viewers of a film beside bulk downloads of the same bytes, and of a thousand of them.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use crate::DELAY;
use crate::cost::Cost;

/// How often each is measured, by turns; the fastest counts, as it was disturbed the least.
const ROUNDS: usize = 5;
/// Bitrate of the film in bit/s.
const BITRATE: u64 = 4_000_000;
/// Virtual seconds of film for those that are compared, and for a crowd.
const COMPARED_SECONDS: u64 = 600;
const CROWD_SECONDS: u64 = 60;
/// Viewers in the crowd.
const CROWD: u64 = 1_000;

/// Prints what the packets of a viewer cost beside those of a download, and the time that a crowd takes.
pub(crate) fn compare() {
    println!(
        "Viewers of {} Mbit/s over QUIC, neither messages nor series recorded: ns per packet, fastest of {ROUNDS} rounds",
        BITRATE / 1_000_000
    );
    let (mut download, mut viewer): (Option<Cost>, Option<Cost>) = (None, None);
    for _ in 0..ROUNDS {
        for (best, is_watched) in [(&mut download, false), (&mut viewer, true)] {
            let cost = Cost::of(&scenario(1, COMPARED_SECONDS, is_watched));
            if best.is_none_or(|best| cost.nanos < best.nanos) {
                *best = Some(cost);
            }
        }
    }
    let Some((download, viewer)) = download.zip(viewer) else { return };
    println!("1 download   {:>10} packets {:>8.0} ns", download.packets, download.per_packet());
    println!(
        "1 viewer     {:>10} packets {:>8.0} ns   {:.3} times the download",
        viewer.packets,
        viewer.per_packet(),
        viewer.nanos / download.nanos
    );
    run(CROWD, CROWD_SECONDS);
}

/// Runs so many viewers for so many virtual seconds, and prints what they took.
pub(crate) fn run(viewers: u64, seconds: u64) {
    let cost = Cost::of(&scenario(viewers, seconds, true));
    println!(
        "{viewers} viewers   {:>10} packets {:>8.0} ns   {seconds} virtual seconds in {:.1} s",
        cost.packets,
        cost.per_packet(),
        cost.nanos * 1e-9
    );
}

/// A film for each viewer, or downloads of its bytes, over a link with half as much again as they need.
fn scenario(viewers: u64, seconds: u64, is_watched: bool) -> String {
    let source = if is_watched {
        format!(
            r#"video = {{ ladder = ["{BITRATE} bps"], length = "{seconds} s", most_buffer = "8 s" }}"#
        )
    } else {
        format!(r#"source = {{ kind = "bulk", size = "{} B" }}"#, BITRATE / 8 * seconds)
    };
    let rate = viewers * BITRATE * 3 / 2;
    // The product of rate and round-trip time in packets of 1,500 bytes; a few for one viewer.
    let queue = (rate / 8 * 2 * DELAY.as_nanos() / 1_000_000_000 / 1_500).max(100);
    format!(
        r#"
        name = "benchmark"
        duration = "{seconds} s"
        until = "time"
        record = {{ messages = false, series = false }}
        nodes = {{ server = {{}}, viewer = {{}} }}
        [links.path]
        between = ["server", "viewer"]
        rate = "{rate} bps"
        delay = "{DELAY}"
        queue = {{ kind = "fifo", limit = "{queue} packets" }}
        [flows.film]
        count = {viewers}
        transport = "quic"
        from = "server"
        to = "viewer"
        opened_by = "to"
        {source}
        "#
    )
}
