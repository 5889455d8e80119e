//! `satcp` and `leocc` beside the controllers that they are made of.

use std::path::Path;

use crate::common::{run, scenario};

/// A TCP upload by a terminal that moves between two links alike every 15 s, as its sender is forecast.
fn upload(congestion: &str, link: &str, handovers: &str) -> String {
    format!(
        r#"
        name = "rivals"
        duration = "118 s"
        record = {{ series = false, messages = false }}
        nodes = {{ terminal = {{}}, server = {{}} }}
        [links.a]
        between = ["terminal", "server"]
        {link}
        [links.b]
        between = ["terminal", "server"]
        {link}
        [handovers.satellites]
        node = "terminal"
        links = ["a", "b"]
        every = "15 s"
        phase = "8.7 s"
        {handovers}
        [flows.upload]
        transport = {{ kind = "tcp", receive_buffer = "100 MB", congestion = {congestion} }}
        from = "terminal"
        to = "server"
        source = {{ kind = "bulk", size = "10 GB" }}
        forecast = {{}}
        "#
    )
}

/// Goodput in Mbit/s and mean round-trip time in milliseconds, means of as many runs.
fn outcome(text: &str, runs: u64) -> (f64, f64) {
    let (mut goodput, mut rtt) = (0.0, 0.0);
    for seed in 1..=runs {
        let flow = run(&scenario(text), seed).summary.flows.remove(0);
        goodput += flow.goodput_bps.unwrap() / 1e6;
        rtt += flow.rtt_ms.mean.unwrap();
    }
    (goodput / runs as f64, rtt / runs as f64)
}

/// CUBIC as in Linux.
const LINUX: &str = r#"slow_start = "hystart", full_reno_slope = false"#;

/// Over the trace that LeoCC's authors replay, with their queue of 500 packets and their two loss rates (0.002 for loss-based
/// controllers, 0.005 for BBR's kin), the route changing where the trace's does. LeoCC loses little of BBR's goodput and has
/// two thirds of its delay; loss-based controllers use a fraction of the path; handovers cost no more than the losses between
/// them. Over five seeds, goodputs vary by 1 % and round-trip times by 3 %.
#[test]
fn leocc_keeps_bbrs_goodput_at_less_delay_over_a_measured_path() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/starlink-leocc");
    if !folder.is_dir() {
        println!("skipped: {} is not there", folder.display());
        return;
    }
    for loss in [0.002, 0.005] {
        let link = format!(
            r#"
            queue = {{ kind = "fifo", limit = "500 packets" }}
            forward = {{ loss = {{ kind = "bernoulli", probability = {loss} }} }}
            channel = {{ kind = "trace", file = "{0}/bw.mahimahi.gz", delay_file = "{0}/delay_10ms.txt" }}
            "#,
            folder.display()
        );
        let over = |congestion: &str| {
            let (goodput, rtt) = outcome(&upload(congestion, &link, "overlap = \"200 ms\""), 2);
            println!("{loss} {congestion}: {goodput:.1} Mbit/s, {rtt:.1} ms");
            (goodput, rtt)
        };
        let leocc = |milliseconds| {
            over(&format!(r#"{{ kind = "leocc", min_rtt_fluctuation = "{milliseconds} ms" }}"#))
        };
        let (bbr, cubic) = (over("\"bbr\""), over(&format!(r#"{{ kind = "cubic", {LINUX} }}"#)));
        let satcp = over(&format!(r#"{{ kind = "satcp", {LINUX} }}"#));
        let (small, usual, large) = (leocc(5), leocc(10), leocc(20));
        assert!(usual.0 > 0.95 * bbr.0, "{usual:?} beside {bbr:?}");
        assert!(usual.1 < 0.75 * bbr.1, "{usual:?} beside {bbr:?}");
        assert!(cubic.0 < 0.4 * usual.0 && satcp.0 < 0.4 * usual.0, "{cubic:?}, {satcp:?}");
        assert!(satcp.0 > 0.97 * cubic.0, "{satcp:?} beside {cubic:?}");
        // The authors' documentation: a larger fluctuation brings throughput, a smaller one less delay.
        assert!(small.0 < usual.0 && usual.0 < large.0, "{small:?}, {usual:?}, {large:?}");
        assert!(small.1 < usual.1 && usual.1 < large.1, "{small:?}, {usual:?}, {large:?}");
    }
}

/// Outages of 400 ms, each of which brings a timeout, over 100 Mbit/s and 50 ms with a short queue: after it CUBIC's curve starts
/// on the plateau, SaTCP's returns to the window of before.
#[test]
fn satcp_recovers_faster_from_outages_that_are_forecast() {
    let link = r#"
        rate = "100 Mbps"
        delay = "25 ms"
        queue = { kind = "fifo", limit = "0.2 BDP" }
    "#;
    let outage = "outage = \"400 ms\"\nold_packets = \"drop\"";
    let cubic = outcome(&upload("\"cubic\"", link, outage), 1);
    let satcp = outcome(&upload("\"satcp\"", link, outage), 1);
    println!("{cubic:?}, {satcp:?}");
    assert!(satcp.0 > 1.05 * cubic.0, "{satcp:?} beside {cubic:?}");
}
