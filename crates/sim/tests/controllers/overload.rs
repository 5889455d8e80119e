//! Large windows and a measured path: what a transport must survive, and how well it must do.

use std::path::Path;

use crate::common::{one_link, run, scenario, table};
use leobench_sim::record::Table;

#[test]
fn slow_start_survives_its_overshoot_into_a_large_queue() {
    // Bandwidth times delay is 12.5 MB, the queue another 12.8 MB: slow start ends in some 10,000 drops at once.
    let outcome = run(
        &scenario(&one_link(
            r#"
            duration = "4500 ms"
            warm_up = "2500 ms"
            record = { series = false }
            "#,
            r#"
            rate = "1 Gbps"
            delay = "50 ms"
            queue = { kind = "fifo", limit = "10000 packets" }
            "#,
            r#"
            transport = "quic"
            source = { kind = "bulk", size = "100 GB" }
            "#,
        )),
        1,
    );
    let (flow, link) = (&outcome.summary.flows[0], &outcome.summary.links[0]);
    let events = table(&outcome, Table::Events).texts("kind");
    let drops = events.iter().filter(|kind| *kind == "drop").count();
    assert!(drops > 1_000, "{drops} drops: that was no overshoot");
    let utilisation = link.utilisation.unwrap();
    assert!(utilisation > 0.9, "utilisation {utilisation}");
    assert_eq!((flow.timeouts, flow.spurious_losses), (0, 0));
}

#[test]
fn a_measured_starlink_path_is_used_as_it_allows() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/starlink-leocc");
    if !folder.is_dir() {
        println!("skipped: {} is not there", folder.display());
        return;
    }
    let outcome = run(
        &scenario(&one_link(
            r#"
            duration = "30 s"
            warm_up = "5 s"
            "#,
            &format!(
                r#"
                queue = {{ kind = "fifo", limit = "500 packets" }}
                [links.path.channel]
                kind = "trace"
                file = "{0}/bw.mahimahi.gz"
                delay_file = "{0}/delay_10ms.txt"
                "#,
                folder.display()
            ),
            r#"
            transport = "quic"
            source = { kind = "bulk", size = "10 GB" }
            "#,
        )),
        1,
    );
    let (flow, link) = (&outcome.summary.flows[0], &outcome.summary.links[0]);
    let rtts = table(&outcome, Table::Transport).maybe_integers("latest_rtt_ns");
    let least = rtts.into_iter().flatten().min().unwrap();
    let utilisation = link.utilisation.unwrap();
    assert!((0.7..1.001).contains(&utilisation), "utilisation {utilisation}");
    // Per-second means of the trace are between 30.2 and 73.3 Mbit/s, its mean is 48.7 (its README).
    let rate = link.mean_rate_bps.unwrap();
    assert!((40e6..60e6).contains(&rate), "rate {rate}");
    // The least one-way delay is 7 ms, and opportunities are whole milliseconds apart.
    assert!((14_000_000..20_000_000).contains(&least), "round trip {least} ns");
    assert!(flow.lost_packets <= link.dropped_packets.of("queue") + 500, "{flow:?} {link:?}");
    assert_eq!((flow.spurious_losses, link.dropped_packets.of("channel")), (0, 0));
}
