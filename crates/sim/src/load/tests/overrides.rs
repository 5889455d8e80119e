//! `--set` overrides.

use super::*;

/// `BASE` as it is written after `overrides`, at a place.
fn set(overrides: &[(&str, &str)], place: &[&str]) -> String {
    let written = load_text(BASE, overrides).unwrap().write();
    let mut here = &written;
    for step in place {
        here = match here {
            Value::Table(table) => table.get(step).unwrap(),
            Value::Array(values) => &values[step.parse::<usize>().unwrap()],
            other => panic!("{other} at {step}"),
        };
    }
    here.to_string()
}

#[test]
fn values_are_read_as_toml_or_else_as_strings() {
    assert_eq!(set(&[("seed", "7")], &["seed"]), "7");
    assert_eq!(set(&[("duration", "30 s")], &["duration"]), r#""30 s""#);
    assert_eq!(set(&[("duration", "\"30 s\"")], &["duration"]), r#""30 s""#);
    assert_eq!(set(&[("flows.main.background", "true")], &["flows", "main", "background"]), "true");
    let loss = [("links.wire.loss", "{ kind = \"bernoulli\", probability = 0.5 }")];
    assert_eq!(set(&loss, &["links", "wire", "loss", "probability"]), "0.5");
    let lines = [("description", "two\nlines = 1")];
    assert_eq!(set(&lines, &["description"]), r#""two\nlines = 1""#);
}

#[test]
fn a_direction_may_be_without_the_loss_of_its_link() {
    let lossy = ("links.wire.loss", r#"{ kind = "bernoulli", probability = 0.5 }"#);
    let lossy_ways = |overrides: &[(&str, &str)]| {
        let scenario = load_text(BASE, overrides).unwrap();
        let link = &scenario.spec.links[0].1;
        Direction::BOTH.map(|direction| link.loss(direction).is_some())
    };
    assert_eq!(lossy_ways(&[lossy]), [true, true]);
    assert_eq!(lossy_ways(&[lossy, ("links.wire.forward.loss", "none")]), [false, true]);
    assert_eq!(lossy_ways(&[lossy, ("links.wire.loss", "none")]), [false, false]);
    assert_eq!(set(&[("links.wire.loss", "none")], &["links", "wire", "loss", "kind"]), "\"none\"");
}

#[test]
fn what_is_left_to_its_default_can_be_stepped_into() {
    let limit = ["links", "wire", "queue", "limit"];
    assert_eq!(set(&[("links.wire.queue.limit", "15 packets")], &limit), r#""15 packets""#);
    let delay = ["links", "wire", "backward", "delay"];
    assert_eq!(set(&[("links.wire.backward.delay", "3 ms")], &delay), r#""3 ms""#);
    assert_eq!(set(&[("record.packets", "true")], &["record", "packets"]), "true");
    assert_eq!(set(&[("record.packets", "true")], &["record", "interval"]), r#""10 ms""#);
}

#[test]
fn an_optional_table_begins_with_the_first_of_its_keys() {
    let forecast = ["flows", "main", "transport", "multipath", "links"];
    let links = [("flows.main.transport.multipath.links", "[\"wire\", \"other\"]")];
    let error = load_text(BASE, &links).unwrap_err();
    assert!(error.starts_with("t.toml: flows.main.transport.multipath.links[1] = "), "{error}");
    let other = "\n[links.other]\nbetween = [\"client\", \"server\"]\nrate = \"1 Mbps\"\n";
    let written = load_text(&format!("{BASE}{other}"), &links).unwrap().spec.write();
    let found = forecast.iter().try_fold(&written, |here, step| match here {
        Value::Table(table) => table.get(step),
        _ => None,
    });
    assert_eq!(found.unwrap().to_string(), r#"["wire", "other"]"#);
    let sky = super::constellations::SKY;
    let queued = load_text(sky, &[("constellation.satellite.queue", "codel")]).unwrap();
    let satellite = queued.spec.constellation.unwrap().satellite.unwrap();
    assert_eq!(satellite.queue.kind(), "codel");
}

#[test]
fn a_table_that_is_begun_is_read_like_any_other() {
    for (place, value, message) in [
        (
            "constellation.satellite.quue",
            "fifo",
            "constellation.satellite.quue = \"fifo\": unknown key; allowed: `queue`; did you mean `queue`?",
        ),
        ("links.wire.loss.probability", "0.1", "links.wire.loss"),
        (
            "constellation.satelite.queue",
            "fifo",
            "constellation.satelite.queue = \"fifo\": there is no `constellation.satelite`",
        ),
    ] {
        let text = if place.starts_with("links") { BASE } else { super::constellations::SKY };
        let error = load_text(text, &[(place, value)]).unwrap_err();
        assert!(error.starts_with(&format!("t.toml: {message}")), "{error}");
    }
    // No link, flow or node comes into being by a misspelt name, and nothing by taking a value away.
    for (place, value) in [
        ("links.lan.queue.limit", "1 kB"),
        ("flows.man.start", "1 s"),
        ("constellation.isl.every", ""),
    ] {
        let error = load_text(BASE, &[(place, value)]).unwrap_err();
        assert!(error.contains("there is no `"), "{error}");
    }
}

#[test]
fn a_word_becomes_a_table_when_something_below_it_is_meant() {
    let congestion = ["flows", "main", "transport", "congestion", "kind"];
    assert_eq!(set(&[("flows.main.transport.congestion", "newreno")], &congestion), "\"newreno\"");
    let overrides = [("links.wire.queue", "fifo"), ("links.wire.queue.limit", "9 kB")];
    assert_eq!(set(&overrides, &["links", "wire", "queue", "limit"]), "\"9 kB\"");
}

#[test]
fn arrays_are_stepped_into_by_number() {
    let streams = "[{ source = { kind = \"cbr\", rate = \"1 Mbps\", size = \"1 kB\" } }]";
    let text = changed("source = {", &format!("streams = {streams} # {{"));
    for place in ["flows.main.streams.0.source.rate", "flows.main.streams[0].source.rate"] {
        let scenario = load_text(&text, &[(place, "2 Mbps")]).unwrap();
        let Streams::Each(streams) = &scenario.spec.flows[0].1.streams else { panic!("an array") };
        assert!(streams[0].source.write().to_string().contains("2 Mbps"), "{place}");
    }
    let scenario =
        load_text(BASE, &[("links.wire.between[0]", "server"), ("links.wire.between.1", "client")]);
    assert_eq!(scenario.unwrap().spec.links[0].1.between, ["server", "client"]);
}

#[test]
fn a_place_that_is_not_there_is_refused_with_the_nearest_that_is() {
    let refused = [
        (
            "links.wir.queue.limit",
            "15 packets",
            "t.toml: links.wir.queue.limit = \"15 packets\": there is no `links.wir`; allowed: `wire`; did you mean \
             `links.wire.queue.limit`?",
        ),
        (
            "links.wire.dely",
            "1 ms",
            "t.toml: links.wire.dely = \"1 ms\": unknown key; allowed: `between`, `channel`, `rate`, `constellation`, `delay`, `loss`, `access`, \
             `queue`, `mtu`, `overhead`, `overtaking`, `independent`, `forward`, `backward`; did you mean `delay`?",
        ),
        (
            "links.wire.between[2]",
            "server",
            "t.toml: links.wire.between[2] = \"server\": there is no `links.wire.between.2`; allowed: `0`, `1`; did you mean \
             `links.wire.between.0`?",
        ),
        (
            "name.x",
            "1",
            "t.toml: name.x = 1: there is no `name.x`: `name` is not a table; allowed: `name`",
        ),
        (
            "links..delay",
            "1 ms",
            "t.toml: links..delay = \"1 ms\": is not a place in a scenario; allowed: names separated by dots, such as \
             `links.uplink.queue.limit`",
        ),
        (
            "links.wire.rate",
            "45 Mb",
            "t.toml: links.wire.rate = \"45 Mb\": has an unknown unit \"Mb\"; allowed: a rate with its unit (bps, \
             kbps, Mbps, Gbps), such as \"45 Mbps\"; did you mean `45 Mbps`?",
        ),
    ];
    for (place, text, message) in refused {
        assert_eq!(load_text(BASE, &[(place, text)]).unwrap_err(), message);
    }
}

#[test]
fn nothing_behind_the_equals_sign_takes_a_value_away() {
    let fading =
        [("links.wire.rate", ""), ("links.wire.channel", r#"{ kind = "lms", preset = "ka" }"#)];
    assert_eq!(set(&fading, &["links", "wire", "channel", "kind"]), r#""lms""#);
    let error = load_text(BASE, &[("links.wire.rat", "")]).unwrap_err();
    assert!(error.contains("there is no `links.wire.rat`"), "{error}");
    assert!(error.contains("did you mean `links.wire.rate`?"), "{error}");
}

#[test]
fn a_mistake_of_the_scenario_comes_before_places_that_it_hides() {
    let wrong = BASE.replacen("duration = \"", "duration = \"x", 1);
    assert_ne!(wrong, BASE);
    let alone = load_text(&wrong, &[]).unwrap_err();
    assert!(alone.contains("duration"), "{alone}");
    assert_eq!(load_text(&wrong, &[("record.series", "false")]).unwrap_err(), alone);
    load_text(BASE, &[("record.series", "false")]).unwrap();
}
