//! Terminals of a cell that share the beam of their satellite.

use std::fmt::Write as _;

use crate::common::{run, scenario};
use leobench_sim::summary::Summary;

/// Twenty terminals in one cell, of which some do not send, at rates from 4 to 42 Mbit/s; each offers 20 Mbit/s both ways.
fn beam(scheduler: &str, silent: usize) -> String {
    let mut text = format!(
        r#"
        name = "beam"
        duration = "10 s"
        warm_up = "1 s"
        record.messages = false
        [constellation]
        satellites.walker.ring = {{ altitude = "1200 km", inclination = "0 deg", planes = 1, per_plane = 18 }}
        start = "2026-01-01T00:00:00Z"
        policy = "highest"
        beam = {{ scheduler = "{scheduler}", queue = {{ kind = "fifo", limit = "50 packets" }} }}
        gateways.pop = {{ latitude = "0 deg", longitude = "1 deg" }}
        [nodes.pop]
        "#
    );
    for number in 0..20 {
        write!(
            text,
            r#"
            [nodes.t{number}]
            [constellation.terminals.t{number}]
            latitude = "0 deg"
            longitude = "0 deg"
            cell = "equator"
            [links.t{number}]
            between = ["t{number}", "pop"]
            constellation = {{ terminal = "t{number}" }}
            rate = "{} Mbps"
            "#,
            4 + 2 * number,
        )
        .unwrap();
        for (name, from, to) in [
            ("up", format!("t{number}"), "pop".into()),
            ("down", "pop".into(), format!("t{number}")),
        ] {
            let rate = if number < silent { "1 kbps" } else { "20 Mbps" };
            write!(
                text,
                r#"
                [flows.{name}-{number}]
                transport = "udp"
                from = "{from}"
                to = "{to}"
                source = {{ kind = "cbr", size = "972 B", rate = "{rate}" }}
                "#
            )
            .unwrap();
        }
    }
    text
}

/// Goodput of each flow of a beam in bit/s, those up or those down, of terminals that send.
fn goodputs(summary: &Summary, way: &str, silent: usize) -> Vec<f64> {
    let flows = summary.flows.iter().filter(|flow| flow.name.starts_with(way));
    flows.skip(silent).filter_map(|flow| flow.goodput_bps).collect()
}

/// In turns of bytes, all get the rate at which one packet of each takes the whole time: the reciprocal of the sum of reciprocals. In turns of
/// airtime, each gets its share of its own rate.
#[test]
fn terminals_of_a_cell_share_its_beam() {
    for silent in [0, 12] {
        let rates = || (silent..20).map(|number| (4 + 2 * number) as f64 * 1e6);
        let payload = 972.0 / 1000.0;
        let count = rates().count() as f64;
        let equal = run(&scenario(&beam("round_robin", silent)), 1).summary;
        let airtime = run(&scenario(&beam("proportional", silent)), 1).summary;
        let rate = payload / rates().map(f64::recip).sum::<f64>();
        for way in ["up", "down"] {
            for goodput in goodputs(&equal, way, silent) {
                assert!((goodput / rate - 1.0).abs() < 0.02, "{way}: {goodput} instead of {rate}");
            }
            for (goodput, rate) in goodputs(&airtime, way, silent).into_iter().zip(rates()) {
                let share = rate * payload / count;
                assert!(
                    (goodput / share - 1.0).abs() < 0.03,
                    "{way}: {goodput} instead of {share}"
                );
            }
        }
    }
}
