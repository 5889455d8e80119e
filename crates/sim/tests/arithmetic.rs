//! Runs against arithmetic: what a link must carry, and how long a packet must take.

mod common;

use common::summary;

#[test]
fn a_bulk_transfer_fills_a_steady_link() {
    let summary = summary(
        r#"
        name = "bulk"
        duration = "20 s"
        warm_up = "2 s"
        nodes = { client = {}, server = {} }
        [links.path]
        between = ["client", "server"]
        rate = "45 Mbps"
        delay = "20 ms"
        queue = { kind = "fifo", limit = "200 packets" }
        [flows.main]
        transport = "quic"
        from = "client"
        to = "server"
        source = { kind = "bulk", size = "1000 GB" }
        "#,
    );
    println!("{}", serde_json::to_string_pretty(&summary).unwrap());
    let goodput = summary.flows[0].goodput_bps.unwrap();
    // A packet carries its UDP payload less short header, tag and STREAM frame header, out of payload and 28 bytes.
    let share = f64::from(1_252 - (1 + 8 + 2 + 16) - (1 + 1 + 4)) / f64::from(1_252 + 28);
    assert!((goodput / (45e6 * share) - 1.0).abs() < 0.01, "goodput {goodput}");
}
