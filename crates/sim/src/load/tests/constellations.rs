//! Constellations that cannot be.

use leobench_orbit::PolicySpec;

use super::*;

pub(super) const SKY: &str = r#"
name = "sky"
duration = "60 s"
nodes = { roof = {}, pop = {} }

[constellation]
satellites = { preset = "starlink" }
start = "2026-03-20T12:00:00Z"

[constellation.terminals.seattle]
latitude = "47.66 deg"
longitude = "-122.31 deg"

[constellation.gateways]
redmond = { latitude = "47.67 deg", longitude = "-122.12 deg" }
sydney = { latitude = "-33.79 deg", longitude = "151.13 deg" }

[links.up]
between = ["roof", "pop"]
constellation = { terminal = "seattle" }
rate = "10 Mbps"

[flows.main]
transport = "tcp"
from = "roof"
to = "pop"
source = { kind = "bulk", size = "1 MB" }
"#;

#[track_caller]
fn refused(old: &str, new: &str, expected: &str) {
    refused_in(Path::new("."), old, new, expected);
}

/// Asserts the error of the scenario with `old` replaced by `new`.
#[track_caller]
fn refused_in(folder: &Path, old: &str, new: &str, expected: &str) {
    assert_eq!(SKY.matches(old).count(), 1, "{old:?} stands once in the scenario");
    let error = load_in(folder, &SKY.replace(old, new), &[]).expect_err(new);
    assert_eq!(error, format!("t.toml: {expected}"));
}

const LINK: &str = r#"constellation = { terminal = "seattle" }"#;
const SATELLITES: &str = r#"satellites = { preset = "starlink" }"#;

#[test]
fn a_sound_one_loads_and_reads_back() {
    let scenario = load_text(SKY, &[]).unwrap();
    let text = serde_json::to_string(&scenario.write()).unwrap();
    let folder = PathBuf::from(".");
    let source = Source { file: "written.json", text: &text, syntax: Syntax::Json, folder };
    assert_eq!(load(&source, &[]).unwrap(), scenario);
}

#[test]
fn names_are_looked_up() {
    refused(
        SATELLITES,
        r#"satellites = { preset = "starlnk" }"#,
        "constellation.satellites.preset = \"starlnk\": no such constellation; allowed: `starlink`, `oneweb`, `kuiper`, \
         `iridium`, `telesat`; did you mean `starlink`?",
    );
    refused(
        LINK,
        r#"constellation = { terminal = "seatle" }"#,
        "links.up.constellation.terminal = \"seatle\": no such terminal; allowed: `seattle`; did you mean `seattle`?",
    );
    refused(
        LINK,
        r#"constellation = { terminal = "seattle", gateways = ["redmont"] }"#,
        "links.up.constellation.gateways[0] = \"redmont\": no such gateway; allowed: `redmond`, `sydney`; did you mean \
         `redmond`?",
    );
    refused(
        "start = ",
        "policy = \"hihgest\"\nstart = ",
        &format!(
            "constellation.policy = \"hihgest\": unknown kind; allowed: `{}`; did you mean `highest`?",
            PolicySpec::KINDS.join("`, `")
        ),
    );
}

#[test]
fn places_are_on_the_ground() {
    refused(
        "latitude = \"47.66 deg\"",
        "latitude = \"47.66 deg\"\naltitude = \"-2 km\"",
        "constellation.terminals.seattle.altitude = \"-2 km\": altitude -2000 m is below ground: from -500 to 100000 m; \
         allowed: a place on the ground or in the air",
    );
    refused(
        "latitude = \"47.66 deg\"\n",
        "",
        "constellation.terminals.seattle.latitude: is required but missing; allowed: `latitude` and `longitude`, or a \
         `track`",
    );
    refused(
        "start = \"2026-03-20T12:00:00Z\"",
        "start = \"2026-02-30\"",
        "constellation.start = \"2026-02-30\": is not an instant; allowed: an instant of UTC from 1900 to 2199, such as \
         \"2026-03-20T12:00:00Z\"",
    );
}

/// The second subflow of the chain as printed begins when both share a satellite, at 15 s.
#[test]
fn a_chain_that_never_serves() {
    let at = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/maco-chain.toml");
    let chain = std::fs::read_to_string(at).unwrap();
    let short = chain.replace("duration = \"2 min\"", "duration = \"14 s\"");
    let error = load_text(&short, &[]).unwrap_err();
    let expected = "never has a route: no satellite of the chain serves its subflow during the run; allowed: a longer \
                    run, or another chain";
    assert!(
        error.starts_with("t.toml: links.second.constellation = ") && error.ends_with(expected),
        "{error}"
    );
}

#[test]
fn ways_that_never_are() {
    refused(
        LINK,
        r#"constellation = { terminal = "seattle", gateways = ["sydney"] }"#,
        "links.up.constellation = { terminal = \"seattle\", gateways = [\"sydney\"] }: never has a route: \
         `seattle` sees satellites during the run, but none of those that may serve it reaches a gateway; allowed: a \
         gateway that sees the same satellites, or `constellation.isl`",
    );
    refused(
        SATELLITES,
        r#"satellites = { walker = { low = { altitude = "550 km", inclination = "5 deg", planes = 3, per_plane = 9 } } }"#,
        "links.up.constellation = { terminal = \"seattle\" }: never has a route: `seattle` sees no satellite above 25.0 \
         degrees during the run; allowed: another `start`, a longer run, a lower `lowest_elevation`, or other satellites",
    );
    refused(
        SATELLITES,
        &format!("{SATELLITES}\nlongest_range = \"300 km\""),
        "links.up.constellation = { terminal = \"seattle\" }: never has a route: `seattle` sees no satellite above 25.0 \
         degrees within 300 km during the run; allowed: another `start`, a longer run, a lower `lowest_elevation`, a longer \
         `longest_range`, or other satellites",
    );
}

#[test]
fn links_have_one_kind_of_channel() {
    refused(
        "rate = \"10 Mbps\"",
        "channel = { kind = \"steady\", rate = \"10 Mbps\" }",
        "links.up.channel = { kind = \"steady\", rate = \"10 Mbps\" }: is given together with `constellation`; \
         allowed: either `channel` or `constellation`; only the channel `starlink` goes with one",
    );
    refused(
        "rate = \"10 Mbps\"",
        "",
        "links.up.rate: is required but missing; allowed: a `rate` for the link or for its direction `forward`, or a \
         budget `uplink`",
    );
    refused(
        "rate = \"10 Mbps\"",
        "rate = \"0 Mbps\"",
        "links.up.rate = \"0 Mbps\": is zero, so the link is never up; allowed: a rate above zero",
    );
    refused(
        LINK,
        "",
        "constellation = { satellites = { preset = \"starlink\" }, start = \"2026-03-20T12:00:00Z\", terminal…: is \
         not used by any link; allowed: a link with `constellation = { terminal = ... }`, or no constellation",
    );
    refused(
        LINK,
        r#"constellation = { terminal = "seattle", policy = { kind = "snr", threshold = "8 dB" } }"#,
        "links.up.constellation.policy = { kind = \"snr\", threshold = \"8 dB\" }: `snr` needs a signal level; \
         allowed: a link with a `downlink` budget, or another policy",
    );
    let [head, tail] = [SKY.find("[constellation]").unwrap(), SKY.find("[links.up]").unwrap()];
    let without = format!("{}{}", &SKY[..head], &SKY[tail..]);
    assert_eq!(
        load_text(&without, &[]).unwrap_err(),
        "t.toml: links.up.constellation = { terminal = \"seattle\" }: refers to a constellation, but the scenario has \
         none; allowed: a table `constellation` with satellites"
    );
}

#[test]
fn settings_that_do_not_fit() {
    for (key, value, problem, allowed) in [
        ("step", "\"0 s\"", "is zero", "a time above zero"),
        (
            "knots",
            "\"10 min\"",
            "is too long for interpolation",
            "at most 3 min, which keeps positions within 40 m",
        ),
        (
            "old_packets",
            "\"forward\"",
            "is not possible in a constellation",
            "`drain`, `deliver` or `drop`, because the link keeps its queue; or satellites with queues (`satellite`, `ground`, `isl.rate`)",
        ),
        (
            "reconfigure_every",
            "\"15 s\"",
            "is given together with the policy `starlink`",
            "another policy, or no `reconfigure_every`: `starlink` reconfigures every 15 s",
        ),
    ] {
        let expected = format!("constellation.{key} = {value}: {problem}; allowed: {allowed}");
        refused("start = ", &format!("{key} = {value}\nstart = "), &expected);
    }
}

/// Satellites with queues leave none to links, and need rates.
#[test]
fn queues_of_satellites_take_the_place_of_those_of_links() {
    let with = |link: &str, satellite: &str| {
        SKY.replace("start = ", &format!("satellite = {satellite}\nstart = "))
            .replace("rate = \"10 Mbps\"\n", &format!("{link}\n"))
    };
    let rate = "rate = \"10 Mbps\"";
    let fifo = r#"{ queue = { kind = "fifo", limit = "100 kB" } }"#;
    for sound in [fifo, "{}", r#"{ queue = "fq_codel" }"#] {
        let scenario = load_text(&with(rate, sound), &[]).unwrap();
        let text = serde_json::to_string(&scenario.write()).unwrap();
        let folder = PathBuf::from(".");
        let source = Source { file: "written.json", text: &text, syntax: Syntax::Json, folder };
        assert_eq!(
            load(&source, &[]).unwrap(),
            scenario,
            "what was written has the link's default"
        );
    }
    let queue = "is given, but packets of this link wait in the queues of satellites (`constellation.satellite`); \
                 allowed: no `queue`, as `constellation.satellite.queue` takes its place, or no `constellation.satellite`";
    let channel = "is given for a link over satellites with queues (`constellation.satellite`), which all their \
                   links share; allowed: a `rate`, or a budget of the link's `constellation`";
    let trace = r#"{ kind = "trace", file = "none" }"#;
    for (link, place, expected) in [
        (format!("{rate}\nqueue = \"codel\""), r#"queue = "codel""#.to_owned(), queue),
        (format!("{rate}\nqueue = \"fifo\""), r#"queue = "fifo""#.to_owned(), queue),
        (format!("{rate}\nforward.queue = \"pie\""), r#"forward.queue = "pie""#.to_owned(), queue),
        (
            format!("{rate}\nbackward.queue = \"fifo\""),
            r#"backward.queue = "fifo""#.to_owned(),
            queue,
        ),
        (format!("channel = {trace}"), format!("channel = {trace}"), channel),
        (
            format!("{rate}\nbackward.channel = {trace}"),
            format!("backward.channel = {trace}"),
            channel,
        ),
    ] {
        let error = load_text(&with(&link, fifo), &[]).expect_err(&link);
        assert_eq!(error, format!("t.toml: links.up.{place}: {expected}"));
    }
    for (limit, expected) in [
        (
            "\"200 ms\"",
            "depends on the rate of a link, but a satellite's packets have those of several; allowed: a limit in packets or bytes, or one that names a link, such as `{ bdp = 1.5, link = \"NAME\" }`",
        ),
        ("\"2 packets\"", ""),
        (
            "15",
            "is a bare number without a unit; allowed: \"15 packets\", \"30 kB\", \"unlimited\", or a table with `bdp` or `time` and a `link`",
        ),
        ("\"0 packets\"", "is zero, so nothing gets through; allowed: a limit above zero"),
    ] {
        let loaded = load_text(
            &with(rate, &format!("{{ queue = {{ kind = \"fifo\", limit = {limit} }} }}")),
            &[],
        );
        match loaded {
            Ok(_) => assert_eq!(expected, ""),
            Err(error) => assert_eq!(
                error,
                format!("t.toml: constellation.satellite.queue.limit = {limit}: {expected}")
            ),
        }
    }
    // Without queues on satellites, a link has its own.
    load_text(
        &with(&format!("{rate}\nqueue = \"codel\""), "{}").replace("satellite = {}\n", ""),
        &[],
    )
    .unwrap();
    let forward = with(rate, "{}").replace("start = ", "old_packets = \"forward\"\nstart = ");
    load_text(&forward, &[]).unwrap();
}

#[test]
fn subflows_of_a_chain_have_their_satellites_anyway() {
    let chain = SKY
        .replace(SATELLITES, r#"satellites = { chain = "printed" }"#)
        .replace("longitude = \"-122.31 deg\"", "longitude = \"-122.31 deg\"\napart = true")
        .replace(LINK, r#"constellation = { terminal = "seattle", subflow = 0 }"#);
    assert_eq!(
        load_text(&chain, &[]).unwrap_err(),
        "t.toml: constellation.terminals.seattle.apart = true: is given together with a `chain`; allowed: no `apart`, \
         because the subflows of a `chain` define the satellites of its links"
    );
    load_text(&chain.replace("apart = true", "apart = false"), &[]).unwrap();
}

#[test]
fn an_overlap_takes_the_place_of_an_outage() {
    refused(
        "start = ",
        "outage = \"40 ms\"\noverlap = \"15 ms\"\nstart = ",
        "constellation.overlap = \"15 ms\": is given together with an `outage`; allowed: an `outage` (break before \
         make) or an `overlap` (make before break)",
    );
}

#[test]
fn times_that_would_never_end_or_leave_nothing_are_refused() {
    let slots = "is as long as the time between handovers, 15 s; allowed: a time shorter than 15 s";
    for (key, value, problem) in [
        ("knots", "\"1 ns\"", "is too short; allowed: 1 s or more"),
        ("step", "\"1 us\"", "is too short; allowed: 1 ms or more"),
        ("outage", "\"15 s\"", slots),
        ("overlap", "\"1 h\"", slots),
    ] {
        let expected = format!("constellation.{key} = {value}: {problem}");
        refused("start = ", &format!("{key} = {value}\nstart = "), &expected);
    }
    refused(
        "start = ",
        "policy = \"highest\"\nreconfigure_every = \"1 ns\"\nstart = ",
        "constellation.reconfigure_every = \"1 ns\": is too short; allowed: 1 s or more",
    );
}

/// A set of March 2026 from a catalogue.
const TLE: &str = "STARLINK-1008\n\
    1 44714U 19074B   26078.50000000  .00001000  00000-0  85000-4 0  9997\n\
    2 44714  53.0540 100.0000 0001400  80.0000 280.0000 15.06390000300008\n";

/// The last digit of each line is the sum of its digits.
fn with_checksums(text: &str) -> String {
    let line = |line: &str| {
        if line.len() != 69 {
            return format!("{line}\n");
        }
        let sum: u32 = line[..68]
            .chars()
            .map(|c| if c == '-' { 1 } else { c.to_digit(10).unwrap_or(0) })
            .sum();
        format!("{}{}\n", &line[..68], sum % 10)
    };
    text.lines().map(line).collect()
}

#[test]
fn element_sets_are_checked() {
    let folder = tempdir().unwrap();
    let from = r#"satellites = { elements = "one.tle" }"#;
    let allowed = "allowed: TLE, or OMM as CSV, JSON or XML, of a time close to `start`";
    let place = "constellation.satellites.elements = \"one.tle\": ";
    refused_in(
        folder.path(),
        SATELLITES,
        from,
        &format!("{place}no such file; allowed: a text file"),
    );
    let sound = with_checksums(TLE);
    let digit = sound.lines().nth(1).unwrap().chars().last().unwrap().to_digit(10).unwrap();
    let wrong =
        sound.replacen(&format!("{digit}\n2 44714"), &format!("{}\n2 44714", (digit + 1) % 10), 1);
    file(&folder, "one.tle", wrong.as_bytes());
    refused_in(
        folder.path(),
        SATELLITES,
        from,
        &format!(
            "{place}one.tle, line 2: the checksum is {}, but the digits of the line add up to {digit}: a digit is \
             wrong; {allowed}",
            (digit + 1) % 10
        ),
    );
    file(&folder, "one.tle", sound.as_bytes());
    let late = SKY.replace(SATELLITES, from).replace("2026-03-20", "2026-06-20");
    let error = load_in(folder.path(), &late, &[]).unwrap_err();
    let expected = "one.tle, line 2: the elements of STARLINK-1008 have the epoch 2026-03-19T12:00:00.000Z, 93.0 days \
                    from";
    assert!(error.contains(expected), "{error}");
    // In epoch, but one satellite is not overhead within a minute.
    let error = load_in(folder.path(), &SKY.replace(SATELLITES, from), &[]).unwrap_err();
    assert!(error.contains("sees no satellite above 25.0 degrees"), "{error}");
    // A week away, a user is warned.
    let old = SKY
        .replace(SATELLITES, from)
        .replace("2026-03-20T12", "2026-03-28T12")
        .replace("60 s", "24 h");
    let old = old.replace("start =", "step = \"1 s\"\nlowest_elevation = \"1 deg\"\nstart =");
    let scenario = load_in(folder.path(), &old, &[]).unwrap();
    let sky = crate::satellite_links::SatelliteLinks::new(&scenario, 1).unwrap().unwrap();
    assert_eq!(sky.warnings().len(), 1, "{:?}", sky.warnings());
    assert!(
        sky.warnings()[0].contains("1 of 1 satellites have elements more than 7 days from the run")
    );
}

/// The keys of a fitted link through the constellation, whose fit has no capacity.
const FITTED: &str = r#"channel = { kind = "starlink", fit = "seattle-2023", uplink_rate = "15 Mbps", downlink_rate = "150 Mbps" }"#;

#[test]
fn a_fit_goes_with_a_constellation() {
    let rate = r#"rate = "10 Mbps""#;
    load_text(&SKY.replace(rate, FITTED), &[]).unwrap();
    // The geometry has the delay that this fit lacks.
    let no_delay = r#"channel = { kind = "starlink", fit = "osnabrueck-2024" }"#;
    load_text(&SKY.replace(rate, no_delay), &[]).unwrap();
    let limit = "is required but missing: the fit seattle-2023 has no capacity of the downlink; allowed: a `downlink_rate`, \
                 or a fit with a capacity of the downlink";
    let half = FITTED.replace(r#", downlink_rate = "150 Mbps""#, "");
    refused(rate, &half, &format!("links.up.channel.downlink_rate: {limit}"));
}

#[test]
fn keys_that_contradict_a_fit() {
    let rate = r#"rate = "10 Mbps""#;
    let with = |more: &str| format!("{FITTED}\n{more}");
    let either = "is given together with `channel`; allowed: either `channel` or `rate`";
    refused(rate, &with(rate), &format!("links.up.rate = \"10 Mbps\": {either}"));
    let one = r#"backward = { rate = "10 Mbps" }"#;
    refused(rate, &with(one), &format!("links.up.backward.rate = \"10 Mbps\": {either}"));
    refused(
        rate,
        &with("independent = true"),
        "links.up.independent = true: is given together with `constellation`; allowed: `false`: the outages of a link \
         interrupt both directions",
    );
    refused(
        rate,
        &FITTED.replace("fit =", "terminal = \"second\", fit ="),
        "links.up.channel.terminal = \"second\": contradicts `constellation`; allowed: `first`: the first node of `between` \
         is at the terminal",
    );
    refused(
        rate,
        &FITTED.replace("fit =", "step = \"1 us\", fit ="),
        "links.up.channel.step = \"1 us\": occurs more than 10000000 times in the run; allowed: a longer time",
    );
}

#[test]
fn layouts_and_routes_are_checked() {
    let refused = |isl: &str, expected: &str| {
        refused("start = ", &format!("isl = {{ {isl} }}\nstart = "), expected);
    };
    refused(
        r#"layout = "plusgrid""#,
        "constellation.isl.layout = \"plusgrid\": unknown kind; allowed: `plus_grid`, `range`; did you mean `plus_grid`?",
    );
    refused(
        r#"layout = { range = "2000 km" }, file = "isls.txt""#,
        "constellation.isl.layout = { range = \"2000 km\" }: is given together with `isl.file`; allowed: either a `file` \
         or a `layout`",
    );
    refused(
        r#"routing = "load_aware""#,
        "constellation.isl.routing = \"load_aware\": depends on what lasers carry, but they have no rate; allowed: a `rate` of \
         lasers, or another `routing`",
    );
    refused(
        r#"routing = { kind = "hysteresis", share = 1.5 }"#,
        "constellation.isl.routing.share = 1.5: is out of range; allowed: a number from 0 and below 1",
    );
}

/// Seattle and Sydney see different satellites, which links of 100 km do not join.
#[test]
fn a_range_that_separates_places_is_refused() {
    let one =
        SKY.replace(LINK, r#"constellation = { terminal = "seattle", gateways = ["sydney"] }"#);
    let shell = r#"{ altitude = "550 km", inclination = "53 deg", planes = 72, per_plane = 22, phasing = 65 }"#;
    let one = one.replace(SATELLITES, &format!("satellites = {{ walker = {{ own = {shell} }} }}"));
    let with = |range: &str| {
        let layout =
            format!("isl = {{ layout = {{ range = \"{range}\", lasers = 8 }} }}\nstart = ");
        load_text(&one.replace("start = ", &layout), &[])
    };
    let error = with("100 km").unwrap_err();
    let expected = "t.toml: constellation.isl.layout.range = \"100 km\": leaves no way between `seattle` and `sydney` at \
                    the start of the run; allowed: ";
    assert!(error.starts_with(expected), "{error}");
    let (_, range) = error.split_once("allowed: ").unwrap();
    let (range, _) = range.split_once(" or more with 8 lasers per satellite").unwrap();
    with(range).unwrap();
}
