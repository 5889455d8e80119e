//! A fit over the geometry of a constellation: each part beside the geometry computed independently, the fitted channel without
//! a constellation, and the budget without a fit.

use leobench_base::{Direction, Phase, RngTree, SimDuration, SimTime};
use leobench_link::{ChannelContext, ChannelModel, ChannelSpec, Service};
use leobench_sim::record::Table;
use leobench_sim::satellite_links::SatelliteLinks;
use leobench_sim::scenario::Scenario;

use super::geometry::{Direct, bologna};
use crate::common::{bytes, run, scenario, table};

const SECOND: i64 = 1_000_000_000;
/// Of a link's table `constellation`: 6.1 to 9.5 Mbit/s from the terminal.
const BUDGET: &str = r#"uplink = { frequency = "14 GHz", bandwidth = "4 MHz", transmitter = { eirp = "18 dBW" },
    receiver = { g_over_t = "0 dB/K" } }"#;

/// The scenario of Bologna with a fit of this folder, and more keys of its channel.
fn fitted(run_keys: &str, sky: &str, fit: &str, more: &str) -> String {
    let channel = format!(
        r#"channel = {{ kind = "starlink", fit = "tests/constellation/fits/{fit}.json"{more} }}"#
    );
    bologna(run_keys, sky, "").replace("rate = \"8 Mbps\"", &channel)
}

fn sky(scenario: &Scenario) -> SatelliteLinks {
    SatelliteLinks::new(scenario, 1).unwrap().unwrap()
}

fn at(seconds: f64) -> SimTime {
    SimTime::ZERO + SimDuration::from_secs_f64(seconds)
}

/// Half of 30 ms above the floor of the fit, on top of the way over each satellite in turn.
#[test]
fn the_geometry_has_the_place_of_the_floor() {
    let text = fitted("duration = \"60 s\"", "", "constant", "");
    let rows = table(&run(&scenario(&text), 1), Table::Channel);
    let (times, delays, rates) =
        (rows.integers("t_ns"), rows.integers("delay_ns"), rows.integers("rate_bps"));
    let (labels, links) = (rows.texts("label"), rows.texts("link"));
    let (direct, mut served) = (Direct::new(), std::collections::BTreeSet::new());
    let names: Vec<_> =
        direct.constellation.satellites().iter().map(|satellite| &satellite.name).collect();
    for row in 0..rows.rows() {
        let satellite = names.iter().position(|name| **name == labels[row]).unwrap();
        let (_, way) =
            direct.over(satellite.into(), SimTime::from_nanos(times[row] as u64)).unwrap();
        let expected = (way + 15e-3) * 1e9;
        assert!((delays[row] as f64 - expected).abs() < 20.0, "{} {expected}", delays[row]);
        let mbps = if links[row] == "sky/van->office" { 5 } else { 40 };
        assert_eq!(rates[row], mbps * 1_000_000, "{}", links[row]);
        served.insert(satellite);
    }
    assert!(served.len() > 2 && rows.rows() > 1_000, "{served:?}, {} rows", rows.rows());
}

/// Headers of 28 bytes take 2.8 % of 1,000; of 37,500 packets, 4 standard errors of a loss of 3 % are 0.35 %.
#[test]
fn goodput_is_the_capacity_of_the_fit_less_its_loss() {
    let text = fitted("duration = \"60 s\"", "", "constant", "").replace("80 kbps", "10 Mbps");
    let goodput = run(&scenario(&text), 1).summary.flows[0].goodput_bps.unwrap() / 1e6;
    let expected = 5.0 * 0.972 * 0.97;
    assert!((goodput / expected - 1.0).abs() < 0.005, "{goodput}, not {expected}");
}

/// A run that starts at second 5 of a minute has slots at 7, 22 and 37 s, unless the scenario has a phase.
#[test]
fn slots_are_those_of_the_clock() {
    let start = |text: String| text.replace("T12:00:00Z", "T12:00:05Z");
    let changes = |more: &str| {
        let text = start(fitted("duration = \"50 s\"", "step = \"1 s\"", "slots", more));
        let rows = table(&run(&scenario(&text), 1), Table::Channel);
        let seen = rows.integers("t_ns").into_iter().zip(rows.integers("rate_bps"));
        let seen: Vec<_> = seen.zip(rows.texts("link")).collect();
        let there =
            seen.iter().filter(|(_, link)| link == "sky/van->office").map(|(seen, _)| *seen);
        let there: Vec<_> = there.collect();
        let pairs = there.windows(2).filter(|pair| pair[0].1 != pair[1].1);
        pairs.map(|pair| pair[1].0 / SECOND).collect::<Vec<_>>()
    };
    assert_eq!(changes(""), [7, 22, 37]);
    assert_eq!(changes(r#", phase = "1 s""#), [1, 16, 31, 46]);
    assert_eq!(changes(r#", every = "20 s""#), [7, 27, 47]);
}

/// Of budget and fit the lower one counts. The fit draws what it draws without a constellation, with slots at the same times.
#[test]
fn the_lower_of_budget_and_capacity_counts() {
    let text = fitted("duration = \"10 min\"", "", "slots", "");
    let rate = "rate = \"8 Mbps\"\nbackward = { rate = \"1 Gbps\" }";
    let budget = bologna("duration = \"10 min\"", "", "").replace("rate = \"8 Mbps\"", rate);
    let with_budget = |text: &str| {
        let passage = "constellation = { terminal = \"bologna\"";
        text.replace(passage, &format!("{passage}, {BUDGET}"))
    };
    let texts = [text.clone(), with_budget(&text), with_budget(&budget)];
    let [fit, both, budget] = texts.map(|text| scenario(&text));
    let Some(ChannelSpec::Starlink(spec)) = &fit.spec.links[0].1.channel else { unreachable!() };
    let mut spec = spec.clone();
    // The run starts with a minute.
    spec.clock.phase = Some(Phase::Fixed(SimDuration::from_secs(12)));
    let rng = RngTree::new(1).child("links").child("sky").child("channel");
    let context = ChannelContext { folder: fit.folder.clone(), rng };
    let (mut channel, mut skies) =
        (spec.build(&context).unwrap(), [fit, both, budget].map(|it| sky(&it)));
    let mut limited = [0; 2];
    for second in 0..600 {
        let now = at(f64::from(second) + 0.5);
        channel.advance(now);
        for sky in &mut skies {
            sky.advance(now);
        }
        let [fit, both, budget] = skies.each_ref().map(|sky| sky.state(0));
        let drawn = Direction::BOTH.map(|direction| channel.state_of(direction).service.clone());
        assert_eq!(drawn, fit.rates.map(Service::Rate));
        assert_eq!(both.rates, [fit.rates[0].min(budget.rates[0]), fit.rates[1]]);
        assert_eq!(both.carrier_to_noise, budget.carrier_to_noise);
        // A report on the link layer is limited alike.
        let [offer, none] = skies[1].access(0).unwrap().offers;
        assert_eq!(offer.unwrap().division.capacity, Some(fit.rates[0]));
        assert!(none.is_none(), "the downlink has no budget");
        limited[usize::from(fit.rates[0] < budget.rates[0])] += 1;
    }
    assert!(limited.iter().all(|seconds| *seconds > 60), "{limited:?}");
}

/// An outage of the fit of 500 ms and one of a handover of 2 s begin with each slot. In the first, packets are dropped; in the
/// rest of the second, they wait.
#[test]
fn outages_of_both_occur() {
    let more = r#", downlink_rate = "40 Mbps""#;
    let text = fitted("duration = \"2 min\"", "outage = \"2 s\"", "outages", more);
    let outcome = run(&scenario(&text), 1);
    let rows = table(&outcome, Table::Channel);
    let (labels, up) = (rows.texts("label"), rows.maybe_flags("up"));
    for row in 0..rows.rows() {
        assert_eq!(labels[row] != "outage", up[row].unwrap(), "{}", labels[row]);
    }
    let handovers = table(&outcome, Table::Handovers);
    let begins = handovers.integers("t_ns").into_iter().zip(handovers.texts("stage"));
    let begins: Vec<_> = begins.filter(|(_, stage)| stage == "begin").map(|(t, _)| t).collect();
    assert!(begins.len() > 4, "{begins:?}");
    let messages = table(&outcome, Table::Messages);
    let sent =
        messages.integers("created_ns").into_iter().zip(messages.maybe_integers("delivered_ns"));
    let mut dropped = 0;
    for (created, delivered) in sent.filter(|(created, _)| *created < 119 * SECOND) {
        let past = (created - 12 * SECOND).rem_euclid(15 * SECOND);
        let begin = created - past;
        if past < SECOND / 2 {
            assert_eq!(delivered, None, "sent {past} ns after the beginning of a slot");
            dropped += 1;
        } else if begins.contains(&begin) && past < 2 * SECOND {
            assert!(delivered.unwrap() > begin + 2 * SECOND);
        } else {
            assert!(delivered.unwrap() < created + SECOND / 10);
        }
    }
    assert_eq!(outcome.summary.flows[0].dropped_packets.of("down"), dropped);
    assert!(dropped > 30, "{dropped}");
}

/// Forecasts are read off what the fit will do, and change nothing of it.
#[test]
fn forecasts_leave_the_link_alone() {
    let more = r#", downlink_rate = "40 Mbps""#;
    let text = fitted("duration = \"30 s\"", "outage = \"40 ms\"", "outages", more);
    let text = text.replace("\"udp\"", "\"tcp\"");
    let told = text.replace("[flows.main]", "[flows.main]\nforecast = {}");
    let [plain, told] = [text, told].map(|text| run(&scenario(&text), 1));
    let rows = |outcome| table(outcome, Table::Channel).rows();
    assert!(rows(&plain) > 1_000);
    let channel = Table::Channel as usize;
    assert_eq!(bytes(&plain.tables[channel]), bytes(&told.tables[channel]));
    let events = table(&told, Table::Events).texts("kind");
    assert!(events.iter().any(|kind| kind == "forecast"));
}

#[test]
fn the_same_run_has_the_same_bytes() {
    let more = r#", downlink_rate = "40 Mbps""#;
    let text = fitted("duration = \"40 s\"", "outage = \"40 ms\"", "outages", more);
    let scenario = scenario(&text);
    let [one, other] = [run(&scenario, 3), run(&scenario, 3)];
    for (one, other) in one.tables.iter().zip(&other.tables) {
        assert_eq!(bytes(one), bytes(other));
    }
    let channel = Table::Channel as usize;
    let different = run(&scenario, 4);
    assert_ne!(bytes(&one.tables[channel]), bytes(&different.tables[channel]));
}
