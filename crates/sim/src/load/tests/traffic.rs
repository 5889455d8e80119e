//! Traffic between places.

use super::*;

/// Three places over the links of a scenario.
const WIRED: &str = r#"
name = "wired"
duration = "10 s"
nodes = { a = {}, b = {}, c = {} }

[links.left]
between = ["a", "b"]
rate = "10 Mbps"

[links.right]
between = ["b", "c"]
rate = "10 Mbps"

[traffic]
between = ["a", "b", "c"]
matrix = "uniform"
size = { kind = "fixed", size = "1 MB" }
transport = "tcp"
"#;

/// Three cities over satellites, of which the scenario knows one.
const SKY: &str = r#"
name = "sky"
duration = "60 s"

[constellation]
satellites = { preset = "starlink" }
start = "2026-03-20T12:00:00Z"
isl = {}

[constellation.terminals.seattle]
latitude = "47.66 deg"
longitude = "-122.31 deg"

[traffic]
between = ["seattle", "london", "sydney"]
matrix = "uniform"
size = "bulk"
link = { rate = "10 Mbps" }

[traffic.mix.cubic]
transport = "tcp"

[traffic.mix.bbr]
transport = { kind = "quic", congestion = "bbr" }

[traffic.places]
london = { latitude = "51.5 deg", longitude = "-0.1 deg" }
sydney = { latitude = "-33.9 deg", longitude = "151.2 deg" }
"#;

#[track_caller]
fn refused(text: &str, old: &str, new: &str, expected: &str) {
    refused_in(Path::new("."), text, old, new, expected);
}

#[track_caller]
fn refused_in(folder: &Path, text: &str, old: &str, new: &str, expected: &str) {
    assert_eq!(text.matches(old).count(), 1, "{old:?} stands once in the scenario");
    let error = load_in(folder, &text.replace(old, new), &[]).expect_err(new);
    assert_eq!(error, format!("t.toml: {expected}"));
}

#[test]
fn transfers_take_the_links_of_the_scenario() {
    let scenario = load_text(WIRED, &[]).unwrap();
    let names: Vec<_> = scenario.spec.flows.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names.len(), 6, "{names:?}");
    let mut pairs: Vec<_> = names.iter().map(|name| name.rsplit_once('-').unwrap().0).collect();
    pairs.sort_unstable();
    assert_eq!(pairs, ["a-b", "a-c", "b-a", "b-c", "c-a", "c-b"]);
    assert_eq!(scenario.spec.links.len(), 2);
    assert_eq!(scenario.reported_flows(), 0);
}

#[test]
fn places_become_nodes_stations_and_one_link_a_pair() {
    let scenario = load_text(SKY, &[]).unwrap();
    let names = |list: Vec<&String>| list.into_iter().cloned().collect::<Vec<_>>();
    let spec = &scenario.spec;
    let constellation = spec.constellation.as_ref().unwrap();
    let all = ["seattle", "london", "sydney"];
    assert_eq!(names(spec.nodes.iter().map(|(name, _)| name).collect()), all);
    assert_eq!(names(constellation.terminals.iter().map(|(name, _)| name).collect()), all);
    assert_eq!(names(constellation.gateways.iter().map(|(name, _)| name).collect()), all);
    let links: Vec<_> = spec.links.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(links, ["seattle-london", "seattle-sydney", "london-sydney"]);
    let passage = spec.links[2].1.constellation.as_ref().unwrap();
    assert_eq!(passage.terminal, "london");
    assert_eq!(passage.gateways.as_deref(), Some(&["sydney".to_owned()][..]));
}

#[test]
fn a_scenario_with_traffic_is_written_unexpanded() {
    for text in [WIRED, SKY] {
        let scenario = load_text(text, &[]).unwrap();
        let text = serde_json::to_string(&scenario.write()).unwrap();
        let folder = PathBuf::from(".");
        let source = Source { file: "written.json", text: &text, syntax: Syntax::Json, folder };
        assert_eq!(load(&source, &[]).unwrap(), scenario);
        assert!(text.len() < 20_000, "{} bytes", text.len());
    }
}

#[test]
fn the_seed_decides_what_is_drawn() {
    let text = SKY.replace("\"uniform\"", "\"permutation\"");
    let pairs =
        |seed: &str| load_text(&text, &[("seed", seed)]).unwrap().traffic.unwrap().plan.pairs;
    assert_eq!(pairs("1"), pairs("1"));
    assert!((2..9).any(|seed| pairs(&seed.to_string()) != pairs("1")));
}

#[test]
fn places_that_are_unknown_are_refused() {
    refused(
        WIRED,
        r#"["a", "b", "c"]"#,
        r#"["a", "b", "d"]"#,
        "traffic.between[2] = \"d\": no such place; allowed: `a`, `b`, `c`; did you mean `a`?",
    );
    refused(
        WIRED,
        r#"["a", "b", "c"]"#,
        r#"["a", "b", "a"]"#,
        "traffic.between[2] = \"a\": appears twice; allowed: every place once",
    );
    refused(
        SKY,
        "sydney = { latitude = \"-33.9 deg\", longitude = \"151.2 deg\" }",
        "sydney = {}",
        "traffic.places = { london = { latitude = \"51.5 deg\", longitude = \"-0.1 deg\" }, sydney = {} }: \
         does not say where `sydney` is; allowed: a `latitude` and a `longitude`, or the name of a terminal or a gateway",
    );
    refused(
        WIRED,
        r#"transport = "tcp""#,
        "transport = \"tcp\"\nplaces = { z = {} }\nlink = { rate = \"1 Mbps\" }",
        "traffic.link = { rate = \"1 Mbps\" }: has no constellation to lead through; allowed: a table \
         `constellation`, or no `link`: transfers take the links of the scenario",
    );
}

#[test]
fn transports_have_to_add_up() {
    refused(
        SKY,
        "[traffic.mix.cubic]\ntransport = \"tcp\"",
        "[traffic.mix.cubic]\ntransport = \"tcp\"\nshare = 0.5",
        "traffic.mix.bbr.share: is missing; allowed: a share for every transport of the `mix`, or for none",
    );
    let shares = SKY.replace("transport = \"tcp\"", "transport = \"tcp\"\nshare = 0.5");
    let shares = shares.replace("congestion = \"bbr\" }", "congestion = \"bbr\" }\nshare = 0.4");
    let error = load_text(&shares, &[]).unwrap_err();
    assert!(
        error.contains("has shares that add up to 0.900000; allowed: shares that add up to 1"),
        "{error}"
    );
    refused(
        WIRED,
        "transport = \"tcp\"",
        "",
        "traffic.transport: is required but missing; allowed: either `transport` or a `mix` of transports",
    );
}

#[test]
fn files_with_wrong_rows_are_refused_by_line() {
    let folder = tempdir().unwrap();
    let matrix = |text: &str, problem: &str| {
        file(&folder, "m.csv", text.as_bytes());
        let new = "matrix = { file = \"m.csv\" }";
        let expected = format!(
            "traffic.matrix.file = \"m.csv\": {problem}; allowed: a CSV file with `from`, `to` and `weight` per line"
        );
        refused_in(folder.path(), WIRED, "matrix = \"uniform\"", new, &expected);
    };
    matrix(
        "from,to,weight\na,b,1\na,d,2\n",
        "m.csv, line 3: to should be a place with traffic, found \"d\"",
    );
    matrix(
        "from,to,weight\na,b,many\n",
        "m.csv, line 2: weight should be a number, found \"many\"",
    );
    matrix("from,to,weight\na,b,-1\n", "m.csv, line 2: weight should be 0 or more, found -1");
    matrix("from,to,weight\na,b,1\na,b,2\n", "m.csv, line 3: the pair appears twice");
    matrix("from,to,weight\na,a,1\n", "m.csv, line 2: a place should send to another place");
    matrix("from,to\na,b\n", "m.csv, line 1: no column \"weight\"");
    matrix("from,to,weight\na,b,0\n", "m.csv: has no weight above 0");
    file(&folder, "m.csv", b"from,to,weight\na,b,1\nb,c,0\nc,a,3\n");
    let read = WIRED.replace("matrix = \"uniform\"", "matrix = { file = \"m.csv\" }\nflows = 8");
    let plan = load_in(folder.path(), &read, &[]).unwrap().traffic.unwrap().plan;
    assert_eq!(plan.pairs, [[0, 1], [2, 0]]);
    assert_eq!(plan.transfers.iter().filter(|it| it.pair == 0).count(), 2);

    let places = |text: &str, problem: &str| {
        file(&folder, "p.csv", text.as_bytes());
        let new = "place_list = \"p.csv\"\nsize = \"bulk\"";
        let expected = format!(
            "traffic.place_list = \"p.csv\": {problem}; allowed: a CSV file with a place per line"
        );
        refused_in(folder.path(), SKY, "size = \"bulk\"", new, &expected);
    };
    places(
        "name,latitude,longitude\nRio de Janeiro,-22.9,-43.2\n",
        "p.csv, line 2: the name \"Rio de Janeiro\" should be letters from a to z, digits, `_` and `-`, up to 100 of them",
    );
    places(
        "name,latitude,longitude\nrio,-92.9,-43.2\n",
        "p.csv, line 2: latitude should be from -90 to 90 degrees",
    );
    places(
        "name,latitude,longitude\nrio,-22.9,-43.2\nrio,1,2\n",
        "p.csv, line 3: the name \"rio\" appears twice",
    );
    places(
        "name,latitude,longitude,population\nrio,-22.9,-43.2,0\n",
        "p.csv, line 2: population should be above 0",
    );
    places("name,latitude\nrio,-22.9\n", "p.csv, line 1: no column \"longitude\"");
}

#[test]
fn more_transfers_than_there_is_room_for_are_refused() {
    let many = WIRED.replace("matrix = \"uniform\"", "matrix = \"uniform\"\nflows = 20000");
    assert_eq!(
        load_text(&many, &[("limits.memory", "100 MB")]).unwrap_err(),
        "t.toml: traffic.flows = 20000: makes 20000 transfers, which take about 2.0 GB of memory; that is more than \
         `limits.memory`, 100 MB; allowed: fewer transfers, or a larger `limits.memory`"
    );
    refused(
        WIRED,
        "matrix = \"uniform\"",
        "matrix = \"uniform\"\narrivals = { kind = \"poisson\", rate = 10000.0 }",
        "traffic.arrivals = { kind = \"poisson\", rate = 10000.0 }: makes 100000 transfers; allowed: at most 28000, \
         as each has ports of its own (`flows`)",
    );
    let error = load_text(&many.replace("20000", "28001"), &[]).unwrap_err();
    assert!(error.contains("traffic.flows = 28001: is not a valid number"), "{error}");
}

#[test]
fn errors_in_what_traffic_makes_are_at_its_keys() {
    refused(
        WIRED,
        "transport = \"tcp\"",
        "transport = { kind = \"tcp\", mss = \"1480 B\" }",
        "traffic.transport.mss = \"1480 B\": and 52 B of TCP and IPv4 headers exceed the MTU of link `left`, 1.5 kB; \
         allowed: at most 1.448 kB, or a larger `links.left.mtu`",
    );
    let error = load_text(
        &SKY.replace("congestion = \"bbr\" }", "congestion = \"bbr\", payload = \"1490 B\" }"),
        &[],
    );
    let error = error.unwrap_err();
    assert!(
        error.starts_with("t.toml: traffic.mix.bbr.transport.payload = \"1490 B\": and "),
        "{error}"
    );
    let error = load_text(&SKY.replace("rate = \"10 Mbps\"", "mtu = \"1500 B\""), &[]).unwrap_err();
    assert!(error.starts_with("t.toml: traffic.link"), "{error}");
    let between = SKY.replace("rate = \"10 Mbps\"", "rate = \"10 Mbps\", between = [\"a\", \"b\"]");
    let error = load_text(&between, &[]).unwrap_err();
    assert!(
        error.contains("traffic.link.between = [\"a\", \"b\"]: is given; allowed: no such key"),
        "{error}"
    );
}

#[test]
fn real_time_is_refused() {
    let error = load_text(&format!("engine = \"real\"\n{WIRED}"), &[]).unwrap_err();
    assert!(error.contains("cannot run in real time"), "{error}");
}
