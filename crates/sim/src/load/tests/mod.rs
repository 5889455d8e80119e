mod constellations;
mod counts;
mod datagrams;
mod files;
mod handovers;
mod har;
mod hints;
mod informed;
mod limits;
mod message_streams;
mod overrides;
mod pages;
mod real;
mod refusals;
mod shipped;
mod traffic;
mod transports;
mod videos;
mod without_flows;

use std::fs;
use std::path::{Path, PathBuf};

use leobench_base::DirectionId;
use leobench_base::spec::{Spec, Value};
use tempfile::{TempDir, tempdir};

use super::*;
use crate::scenario::*;

/// A small scenario that loads; the tests change a line of it.
const BASE: &str = r#"
name = "test"
duration = "10 s"

[nodes.client]
[nodes.server]

[links.wire]
between = ["client", "server"]
rate = "10 Mbps"

[flows.main]
transport = "quic"
from = "client"
to = "server"
source = { kind = "cbr", rate = "1 Mbps", size = "1000 B" }
"#;

fn load_text(text: &str, overrides: &[(&str, &str)]) -> Result<Scenario, String> {
    load_in(Path::new("."), text, overrides)
}

fn load_in(folder: &Path, text: &str, overrides: &[(&str, &str)]) -> Result<Scenario, String> {
    let source = Source { file: "t.toml", text, syntax: Syntax::Toml, folder: folder.into() };
    let owned = |(place, text): &(&str, &str)| ((*place).to_owned(), (*text).to_owned());
    let overrides: Vec<_> = overrides.iter().map(owned).collect();
    load(&source, &overrides).map_err(|error| error.to_string())
}

/// `BASE` with `old` replaced by `new`, which must be there to be replaced.
fn changed(old: &str, new: &str) -> String {
    assert_eq!(BASE.matches(old).count(), 1, "{old:?} stands once in the base scenario");
    BASE.replace(old, new)
}

/// Puts a file into `folder`.
fn file(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn what_is_left_out_takes_its_default() {
    let scenario = load_text(BASE, &[]).unwrap();
    let spec = &scenario.spec;
    assert_eq!((spec.seed, spec.until), (1, Until::Time));
    assert_eq!(spec.record, RecordSpec::DEFAULT);
    let link = &spec.links[0].1;
    assert!(link.shares_channel());
    assert_eq!(link.mtu.get(), 1_500);
    assert_eq!(link.overhead, SignedBytes::ZERO);
    let flow = &spec.flows[0].1;
    assert_eq!(flow.opened_by, OpenedBy::From);
    assert_eq!((flow.streams.count(), flow.streams.name(0)), (1, "s1".into()));
    assert_eq!(flow.transport.model().payload().get(), 1_252);
}

#[test]
fn directions_differ_where_the_file_says_so() {
    let text = changed(
        "rate = \"10 Mbps\"",
        r#"rate = "10 Mbps"
           delay = "5 ms"
           forward = { rate = "2 Mbps", delay = "1 ms" }
           backward = { rate_scale = 0.5, queue = { kind = "fifo", limit = "3 packets" } }"#,
    );
    let scenario = load_text(&text, &[]).unwrap();
    let link = &scenario.spec.links[0].1;
    let [forward, backward] = Direction::BOTH;
    assert!(!link.shares_channel());
    assert_eq!(link.ends(backward), ["server", "client"]);
    assert_eq!(Direction::BOTH.map(|way| link.delay(way).as_nanos()), [1_000_000, 5_000_000]);
    assert_eq!(
        Direction::BOTH.map(|way| link.rate_scale(way)).map(f64::to_bits),
        [1.0f64.to_bits(), 0.5f64.to_bits()]
    );
    let rate = |way| link.channel(way).unwrap().write().to_string();
    assert_eq!(rate(forward), r#"{ kind = "steady", rate = "2 Mbps" }"#);
    assert_eq!(rate(backward), r#"{ kind = "steady", rate = "10 Mbps" }"#);
    assert_ne!(link.queue(forward), link.queue(backward));
    let edges = scenario.spec.edges().unwrap();
    let ends = |direction: usize| {
        let edge = edges[DirectionId::from(direction)];
        [edge.from.index(), edge.to.index()]
    };
    assert_eq!([ends(0), ends(1)], [[0, 1], [1, 0]]);
    assert_eq!(edges[DirectionId::from(1)].delay.as_nanos(), 5_000_000);
}

/// A ratio gives the same link, and the same resolved scenario, as its value.
#[test]
fn a_direction_may_scale_the_rate_by_a_ratio() {
    let with = |scale: &str| {
        let own = format!("rate = \"10 Mbps\"\nbackward = {{ rate_scale = {scale} }}");
        load_text(&changed("rate = \"10 Mbps\"", &own), &[]).unwrap()
    };
    let ratio = with("\"20/150\"");
    assert_eq!(ratio, with("0.13333333333333333"));
    let scales = Direction::BOTH.map(|way| ratio.spec.links[0].1.rate_scale(way));
    assert_eq!(scales.map(f64::to_bits), [1.0f64.to_bits(), (20.0f64 / 150.0).to_bits()]);
    let set = load_text(BASE, &[("links.wire.backward.rate_scale", "20/150")]).unwrap();
    assert_eq!(set, ratio);
}

#[test]
fn streams_are_a_number_or_an_array() {
    let dealt = load_text(&changed("transport =", "streams = 4\ntransport ="), &[]).unwrap();
    assert_eq!(dealt.spec.flows[0].1.streams, Streams::Dealt(4));
    let each = r#"streams = [
        { source = { kind = "cbr", rate = "1 Mbps", size = "1 kB" } },
        { name = "slow", source = { kind = "cbr", rate = "1 kbps", size = "1 kB" } },
    ]"#;
    let text = changed(r#"source = { kind = "cbr", rate = "1 Mbps", size = "1000 B" }"#, each);
    let each = load_text(&text, &[]).unwrap();
    let streams = &each.spec.flows[0].1.streams;
    assert_eq!([0, 1].map(|index| streams.name(index)), ["s1", "slow"]);
}

#[test]
fn a_file_may_start_with_a_byte_order_mark_and_end_lines_in_crlf() {
    let text = format!("\u{feff}{}", BASE.replace('\n', "\r\n"));
    assert_eq!(load_text(&text, &[]), load_text(BASE, &[]));
}

#[test]
fn signed_sizes_keep_their_sign() {
    use leobench_base::spec::At;
    let read = |text: &str| SignedBytes::read(&Value::String(text.into()), &At::ROOT);
    assert_eq!(read("-28 B").unwrap().get(), -28);
    assert_eq!(read("0 B").unwrap(), SignedBytes::ZERO);
    assert_eq!(SignedBytes::new(-1_500).to_string(), "-1.5 kB");
    for size in [-28, 0, 14, 1_500] {
        let size = SignedBytes::new(size);
        assert_eq!(SignedBytes::read(&size.write(), &At::ROOT).unwrap(), size);
    }
    let error = read("-28 b").unwrap_err();
    assert_eq!(error.value.as_deref(), Some("\"-28 b\""));
    assert_eq!(error.nearest.as_deref(), Some("-28 B"));
    assert!(read("--28 B").is_err());
}
