//! Which satellites are linked, and which routes packets take over them, from end to end.

use crate::common::{bytes, run, scenario};
use leobench_base::{SimDuration, SimTime};
use leobench_sim::record::Table;
use leobench_sim::satellite_links::SatelliteLinks;

/// A link from a terminal to a gateway, and a flow over it, under satellites that `sky` gives with their lasers.
fn link(sky: &str, terminal: (f64, f64), gateway: (f64, f64), duration: &str) -> String {
    format!(
        r#"
        name = "layouts"
        duration = "{duration}"
        nodes = {{ home = {{}}, away = {{}} }}
        [constellation]
        {sky}
        start = "2026-03-20T12:00:00Z"
        terminals.home = {{ latitude = "{} deg", longitude = "{} deg" }}
        gateways.away = {{ latitude = "{} deg", longitude = "{} deg" }}
        [links.sky]
        between = ["home", "away"]
        constellation = {{ terminal = "home" }}
        rate = "8 Mbps"
        [flows.main]
        transport = "udp"
        from = "home"
        to = "away"
        source = {{ kind = "cbr", rate = "80 kbps", size = "972 B" }}
        "#,
        terminal.0, terminal.1, gateway.0, gateway.1
    )
}

const STARLINK: &str = r#"
        satellites = { walker = { own = { altitude = "550 km", inclination = "53 deg", planes = 72, per_plane = 22, phasing = 65 } } }
        policy = "highest"
"#;
const LONDON: (f64, f64) = (51.5, -0.1);
const NEW_YORK: (f64, f64) = (40.7, -74.0);

/// By time from the start, in steps of a second: the delay and the satellites after the first of a link's way.
fn ways(text: &str, seconds: u64) -> Vec<Option<(f64, usize)>> {
    let mut sky = SatelliteLinks::new(&scenario(text), 1).unwrap().unwrap();
    let mut at = |second: u64| {
        sky.advance(SimTime::ZERO + SimDuration::from_secs(second));
        sky.state(0).way.as_ref().map(|way| (way.delay.as_millis_f64(), way.hops))
    };
    (0..seconds).map(&mut at).collect()
}

/// Without a margin the run is the same to the byte; with one, the way is kept although a shorter one is there, but never when
/// that would be better by more than the margin.
#[test]
fn routes_are_kept_within_their_margin() {
    let text =
        |isl: &str| link(&format!("{STARLINK}\nisl = {{ {isl} }}"), LONDON, NEW_YORK, "5 min");
    let exact = r#"routing = { kind = "hysteresis", share = 0.0 }"#;
    let [shortest, same] = ["", exact].map(|isl| run(&scenario(&text(isl)), 1));
    for name in [Table::Channel, Table::Messages] {
        let [one, other] = [&shortest, &same].map(|outcome| bytes(&outcome.tables[name as usize]));
        assert!(one == other, "{}", name.name());
        assert!(one.len() > 5_000, "{} {}", name.name(), one.len());
    }
    let kept = r#"routing = { kind = "hysteresis", share = 0.2 }"#;
    let [shortest, kept] = ["", kept].map(|isl| ways(&text(isl), 300));
    let mut longer = 0;
    for (shortest, kept) in shortest.iter().zip(&kept) {
        let ((least, _), (found, _)) = (shortest.unwrap(), kept.unwrap());
        assert!(found >= least && found <= least / 0.8, "{found} {least}");
        longer += usize::from(found > least + 0.01);
    }
    assert!(longer > 30, "{longer}");
    let changes = |ways: &[Option<(f64, usize)>]| {
        ways.windows(2).filter(|pair| pair[0].map(|way| way.1) != pair[1].map(|way| way.1)).count()
    };
    assert!(changes(&kept) < changes(&shortest), "{} {}", changes(&kept), changes(&shortest));
}

/// Iridium's shell between places 40 degrees apart all around the equator: links across the seam only ever shorten the way, and
/// where the seam lies in between, by more than half.
#[test]
fn a_closed_seam_shortens_ways_across_it() {
    let sky = r#"
        satellites = { preset = "iridium" }
        policy = "highest"
        lowest_elevation = "8 deg"
    "#;
    let (mut both, mut least) = (0, f64::INFINITY);
    for longitude in (-180..180).step_by(20).map(f64::from) {
        let text = |seam: &str| {
            let layout = format!(r#"{{ kind = "plus_grid", seam = "{seam}", every = "1 s" }}"#);
            let sky = format!("{sky}\nisl = {{ layout = {layout} }}");
            link(&sky, (10.0, longitude), (5.0, longitude + 40.0), "5 min")
        };
        let [open, closed] = ["open", "closed"].map(|seam| ways(&text(seam), 300));
        for (open, closed) in open.iter().zip(&closed) {
            let (Some((open, _)), Some((closed, _))) = (open, closed) else { continue };
            assert!(*closed <= open + 1e-6, "{closed} {open}");
            both += 1;
            least = least.min(closed / open);
        }
    }
    assert!(both > 5_000 && least < 0.5, "{both} {least}");
}

/// Two shells that no +grid joins: packets cross between them over links by range, also with queues on every laser, which a
/// layout sets up in mid-run.
#[test]
fn links_by_range_join_shells() {
    let sky = |isl: &str| {
        format!(
            r#"
        satellites.walker.low = {{ altitude = "550 km", inclination = "30 deg", planes = 30, per_plane = 24, phasing = 1 }}
        satellites.walker.polar = {{ altitude = "780 km", inclination = "86 deg", planes = 16, per_plane = 24, phasing = 1 }}
        policy = "closest"
        lowest_elevation = "15 deg"
        isl = {{ {isl} }}
    "#
        )
    };
    let (north, south) = ((75.0, 0.0), (10.0, 0.0));
    let range = r#"layout = { range = "3000 km", lasers = 6, every = "5 s" }"#;
    let delays = ways(&link(&sky(range), north, south, "30 s"), 30);
    // 7,200 km over the ground.
    assert!(delays.iter().all(|way| way.is_some_and(|(delay, hops)| delay > 24.0 && hops >= 2)));
    let queued = format!(r#"{range}, rate = "10 Mbps""#);
    let summary = run(&scenario(&link(&sky(&queued), north, south, "30 s")), 1).summary;
    let flow = &summary.flows[0];
    assert!(flow.sent_packets > 290 && flow.undelivered_messages <= 2, "{flow:?}");
    let orbit = summary.orbit.as_ref().unwrap();
    let crossing =
        |name: &str| name.starts_with("laser/") && name.contains("low/") && name.contains("polar/");
    assert!(orbit.hops.iter().any(|hop| crossing(&hop.name)), "{:?}", orbit.hops);
}
