//! The content of reports: what the satellites offer, as late and as wrong as the scenario says, and nothing else.

use leobench_base::{LinkId, SimDuration, SimTime};
use leobench_transport::endpoint::{AccessReport, PathId};

use super::{CHAIN, DOWNLOAD, Truth, UPLOAD, chain, chain_of, reports, van};
use crate::scenario::Scenario;

/// Holds every report against the satellites as they were `delay` before. Returns how many had a service, and how many none.
fn compare(scenario: &Scenario, direction: usize, delay: SimDuration) -> [usize; 2] {
    let mut truth = Truth::new(scenario);
    let mut counts = [0; 2];
    for (at, report) in reports(scenario) {
        let then = SimTime::ZERO + (at - SimTime::ZERO).saturating_sub(delay);
        truth.advance(then);
        let path = (0..truth.links.len()).find(|path| truth.links.link_id(*path) == report.link);
        let expected = truth.service(path.unwrap(), direction);
        assert_eq!((report.at, report.service), (then, expected), "at {at}");
        counts[usize::from(expected.is_none())] += 1;
    }
    counts
}

#[test]
fn reports_are_what_the_satellites_offer() {
    // 400 reports on the first path; the second one opens at 15 s, when its satellite rises, and closes at 30 s.
    let [served, idle] = compare(&chain("{}", &[]), 0, SimDuration::ZERO);
    assert!(served >= 550 && served + idle <= 410 + 260, "{served} {idle}");
    for (flow, direction) in [(UPLOAD, 0), (DOWNLOAD, 1)] {
        let scenario = van(flow, &[("flows.main.cross_layer", "{}")]);
        let [served, silent] = compare(&scenario, direction, SimDuration::ZERO);
        // Every outage of 340 ms holds at least three reports.
        assert!(served + silent >= 601 && silent >= 6, "{served} {silent}");
    }
}

#[test]
fn reports_are_late() {
    let delay = SimDuration::from_millis(300);
    let late = r#"{ delay = "300 ms" }"#;
    let [served, _] = compare(&chain(late, &[]), 0, delay);
    assert!(served >= 550, "{served}");
    let [_, silent] = compare(&van(DOWNLOAD, &[("flows.main.cross_layer", late)]), 1, delay);
    assert!(silent >= 6, "{silent}");
}

/// A delay between two steps of the constellation: the state of the step before holds.
#[test]
fn reports_are_of_the_step_before() {
    let keys = r#"{ delay = "137 ms", every = "70 ms" }"#;
    let [served, _] = compare(&chain(keys, &[]), 0, SimDuration::from_millis(137));
    assert!(served > 700, "{served}");
}

/// Bits per second at a ratio by equation 3 of Yang et al. 2024, in 12.5 MHz at 98 % of capacity.
fn capacity(snr: f64) -> f64 {
    0.98 * 12.5e6 * libm::log2(1.0 + snr)
}

/// Decibels and bits per second by equations 2 and 3 of Yang et al. 2024 with their table 3: 35.46 dBm through 37.7 and 37.1 dBi at 3.486 GHz,
/// against 1.6e-20 W/Hz in 12.5 MHz, 98 % of capacity.
fn by_hand(range_m: f64) -> (f64, f64) {
    let power_w = libm::pow(10.0, 3.546) / 1e3;
    let gains = libm::pow(10.0, 3.77) * libm::pow(10.0, 3.71);
    let spread = 299_792_458.0 / (4.0 * std::f64::consts::PI * 3.486e9 * range_m);
    let snr = power_w * gains * spread * spread / (1.6e-20 * 12.5e6);
    (10.0 * libm::log10(snr), capacity(snr))
}

#[test]
fn rates_on_the_chain_are_those_of_the_paper() {
    let (_, overhead) = by_hand(550e3);
    assert!((overhead / 200e6 - 1.0).abs() < 1e-3, "{overhead}");
    let footprint = [("constellation.satellites.footprint", "157.5 km"), ("duration", "70 s")];
    let told = reports(&chain("{}", &footprint));
    let mut counts = [0; 2];
    for (at, report) in &told {
        let Some(service) = report.service else { continue };
        let (snr_db, rate) = by_hand(service.range_m);
        assert!((service.snr_db - snr_db).abs() < 1e-6, "at {at}: {service:?}, not {snr_db} dB");
        // Two links over one satellite get half of it each.
        let share = service.rate.bps() as f64 / rate;
        let sharers = if share < 0.75 { 2 } else { 1 };
        assert!((share * f64::from(sharers) - 1.0).abs() < 1e-7, "at {at}: {service:?}");
        counts[sharers as usize - 1] += 1;
    }
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
    let nearest = told.iter().filter_map(|(_, report)| report.service);
    let nearest = nearest.min_by(|one, other| one.range_m.total_cmp(&other.range_m)).unwrap();
    assert!((nearest.range_m - 550e3).abs() < 2.0, "{nearest:?}");
}

/// Links that share a transmitter with a queue have its whole rate each.
#[test]
fn rates_of_a_satellite_with_a_queue_are_undivided() {
    let overrides = [
        ("constellation.satellites.footprint", "157.5 km"),
        ("constellation.satellite", r#"{ queue = { kind = "fifo", limit = "500 kB" } }"#),
        ("duration", "70 s"),
    ];
    let text = CHAIN.replace("queue = { kind = \"fifo\", limit = \"500 kB\" }\n", "");
    let told = reports(&chain_of(&text, "{}", &overrides));
    let services: Vec<_> = told.iter().filter_map(|(_, report)| report.service).collect();
    assert!(services.len() > 800, "{}", services.len());
    for service in services {
        let (_, rate) = by_hand(service.range_m);
        assert!((service.rate.bps() as f64 / rate - 1.0).abs() < 1e-7, "{service:?}");
    }
}

#[test]
fn errors_of_the_ratio_are_as_large_as_the_scenario_says() {
    let keys = r#"{ every = "10 ms", snr_error = "2 dB" }"#;
    let (mut errors, mut rates) = (Vec::new(), Vec::new());
    for (_, report) in reports(&chain(keys, &[])) {
        let Some(service) = report.service.filter(|_| report.path == PathId(0)) else { continue };
        let (true_db, _) = by_hand(service.range_m);
        errors.push(service.snr_db - true_db);
        // The rate is that of the wrong ratio.
        let rate = capacity(libm::pow(10.0, service.snr_db / 10.0));
        rates.push(service.rate.bps() as f64 / rate);
    }
    let count = errors.len() as f64;
    assert!(count >= 3_900.0, "{count}");
    let mean = errors.iter().sum::<f64>() / count;
    let deviation = (errors.iter().map(|error| error * error).sum::<f64>() / count).sqrt();
    // The standard error of a mean is 1/sqrt(n) of the deviation, that of a standard deviation 1/sqrt(2 n).
    assert!(mean.abs() < 3.0 * 2.0 / count.sqrt(), "{mean}");
    assert!((deviation - 2.0).abs() < 3.0 * 2.0 / (2.0 * count).sqrt(), "{deviation}");
    let whole = |rate: &&f64| (**rate - 1.0).abs() < 1e-7;
    let halved = |rate: &&f64| (**rate - 0.5).abs() < 1e-7;
    assert_eq!(
        rates.iter().filter(whole).count() + rates.iter().filter(halved).count(),
        rates.len()
    );
    // One error does not follow from the one before.
    let pairs = errors.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / count;
    assert!(pairs.abs() < 3.0 * 4.0 / count.sqrt(), "{pairs}");
}

/// When the first path is handed over next, as told at each report.
fn handovers(scenario: &Scenario) -> Vec<(SimTime, Option<(SimTime, SimTime)>)> {
    let all = reports(scenario).into_iter().filter(|(_, report)| report.path == PathId(0));
    all.map(|(at, report)| (at, report.handover.map(|told| (told.from, told.until)))).collect()
}

#[test]
fn the_next_handover_is_told_in_time() {
    for delay in ["0 s", "300 ms", "2 s"] {
        let keys = format!(r#"{{ horizon = "4 s", delay = "{delay}" }}"#);
        let scenario = van(UPLOAD, &[("flows.main.cross_layer", &keys)]);
        let delay = scenario.spec.flows[0].1.cross_layer.unwrap().delay;
        let mut truth = Truth::new(&scenario);
        truth.advance(SimTime::ZERO + scenario.spec.longest() + SimDuration::from_secs(5));
        let mut told = 0;
        for (at, handover) in handovers(&scenario) {
            let then = SimTime::ZERO + (at - SimTime::ZERO).saturating_sub(delay);
            let horizon = then + SimDuration::from_secs(4);
            // A handover begins within the horizon, or is under way.
            let changes = truth.changes.iter().map(|(begin, _, outage)| (*begin, *begin + *outage));
            let next = changes.filter(|(begin, end)| *end > then && *begin <= horizon).min();
            let expected = next.map(|(begin, end)| (begin, end.min(horizon)));
            assert_eq!(handover, expected, "at {at}");
            told += usize::from(expected.is_some());
        }
        assert!(told >= 80, "{told}");
    }
}

#[test]
fn a_handover_has_one_error() {
    let scenario = |error: &str| {
        let keys = format!(r#"{{ horizon = "4 s", time_error = "{error}" }}"#);
        van(UPLOAD, &[("duration", "4 min"), ("flows.main.cross_layer", &keys)])
    };
    let (right, wrong) = (handovers(&scenario("0 s")), handovers(&scenario("200 ms")));
    assert_eq!(right.len(), wrong.len());
    let mut errors: Vec<(SimTime, f64)> = Vec::new();
    for ((_, right), (_, wrong)) in right.iter().zip(&wrong) {
        let (Some((right, _)), Some((wrong, _))) = (right, wrong) else { continue };
        let error = wrong.as_secs_f64() - right.as_secs_f64();
        match errors.iter().find(|(known, _)| known == right) {
            Some((_, known)) => assert!((error - known).abs() < 1e-9, "{error} {known}"),
            None => errors.push((*right, error)),
        }
    }
    // Sixteen reconfigurations, at most of which the satellite changes.
    assert!(errors.len() >= 8, "{errors:?}");
    let distinct = errors.windows(2).filter(|pair| (pair[0].1 - pair[1].1).abs() > 1e-6).count();
    assert_eq!(distinct, errors.len() - 1, "{errors:?}");
    assert!(errors.iter().all(|(_, error)| error.abs() < 4.0 * 0.2), "{errors:?}");
}

/// A flow that starts in the middle of an outage is told that it is under way, and since when.
#[test]
fn a_handover_under_way_is_known() {
    let all = handovers(&van(UPLOAD, &[("flows.main.cross_layer", "{}")]));
    let (_, handover) =
        all.iter().find(|(at, told)| told.is_some_and(|(from, _)| from < *at)).unwrap();
    let (from, until) = handover.unwrap();
    let start = format!("{} ms", from.as_nanos() / 1_000_000 + 120);
    let overrides = [("flows.main.start", start.as_str()), ("flows.main.cross_layer", "{}")];
    let (at, first) = handovers(&van(UPLOAD, &overrides))[0];
    assert!(from < at && at < until);
    assert_eq!(first, Some((from, until)));
}

/// Neither a slower core link nor a longer one shows in any report.
#[test]
fn the_rest_of_the_path_does_not_leak() {
    let told = |overrides: &[(&str, &str)]| {
        let keys = ("flows.main.cross_layer", r#"{ snr_error = "1 dB", time_error = "50 ms" }"#);
        reports(&van(UPLOAD, &[&[keys], overrides].concat()))
    };
    let plain = told(&[]);
    assert!(plain.len() >= 601);
    assert_eq!(plain, told(&[("links.core.rate", "1 Mbps"), ("links.core.delay", "80 ms")]));
    assert_eq!(plain, told(&[("links.sky.delay", "30 ms")]));
}

#[test]
fn errors_follow_the_seed_of_the_flow_alone() {
    let keys = r#"{ snr_error = "1 dB", time_error = "50 ms" }"#;
    let own = ("flows.main.cross_layer", keys);
    let other = r#"{ from = "van", to = "server", transport = "quic", source = { kind = "cbr", rate = "2 Mbps", size = "1000 B" }, cross_layer = { snr_error = "3 dB" } }"#;
    let alone = reports(&van(UPLOAD, &[own]));
    assert_eq!(alone, reports(&van(UPLOAD, &[own, ("flows.other", other)])));
    let exact = reports(&van(UPLOAD, &[("flows.main.cross_layer", "{}")]));
    let rates = |told: &[(SimTime, AccessReport)]| -> Vec<_> {
        told.iter().map(|(_, report)| report.service.map(|service| service.rate)).collect()
    };
    assert_ne!(rates(&alone), rates(&exact));
    assert_eq!(alone[0].1.link, LinkId::from(0));
}
