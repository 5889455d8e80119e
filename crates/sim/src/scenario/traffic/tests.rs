use std::path::Path;

use leobench_base::spec::{At, Fault, Spec, Table, Value};
use leobench_base::{RngTree, SimDuration};

use super::matrix::MatrixContext;
use super::*;

const DURATION: SimDuration = SimDuration::from_secs(100);

/// A specification of traffic between places `p0`, `p1` and so on, whose populations are 1, 2 and so on.
fn traffic(places: usize, keys: &str) -> TrafficSpec {
    let places: Vec<_> = (0..places)
        .map(|number| format!("p{number} = {{ population = {} }}", number + 1))
        .collect();
    let places = places.join("\n");
    let text = format!("{keys}\n[places]\n{places}");
    let text = if text.contains("transport") || text.contains("mix") {
        text
    } else {
        format!("transport = \"tcp\"\n{text}")
    };
    let tree: toml::Table = text.parse().unwrap();
    let tree = value(&toml::Value::Table(tree));
    TrafficSpec::read(&tree, &At::ROOT).unwrap()
}

/// The value of a scenario for one of TOML.
fn value(toml: &toml::Value) -> Value {
    match toml {
        toml::Value::String(text) => Value::String(text.clone()),
        toml::Value::Integer(number) => Value::Integer(*number),
        toml::Value::Float(number) => Value::Float(*number),
        toml::Value::Boolean(given) => Value::Bool(*given),
        toml::Value::Array(values) => Value::Array(values.iter().map(value).collect()),
        toml::Value::Table(table) => {
            let mut read = Table::new();
            for (key, entry) in table {
                read.insert(key, value(entry));
            }
            Value::Table(read)
        }
        toml::Value::Datetime(time) => panic!("{time} is no value of a scenario"),
    }
}

fn plan(places: usize, keys: &str, seed: u64) -> Result<TrafficPlan, Fault> {
    traffic(places, keys).plan(Path::new("."), &[], DURATION, seed)
}

/// Transfers by pair of places.
fn counts(plan: &TrafficPlan) -> Vec<([usize; 2], usize)> {
    let of = |pair: usize| plan.transfers.iter().filter(|it| it.pair == pair).count();
    plan.pairs.iter().enumerate().map(|(pair, ends)| (*ends, of(pair))).collect()
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

#[test]
fn every_place_of_a_permutation_sends_once_and_receives_once() {
    for (seed, count) in (1..=20).zip([2, 3, 10, 101].into_iter().cycle()) {
        let plan = plan(count, "matrix = \"permutation\"\nsize = \"bulk\"", seed).unwrap();
        let mut receivers: Vec<_> = plan.pairs.iter().map(|[_, to]| *to).collect();
        receivers.sort_unstable();
        assert_eq!(receivers, (0..count).collect::<Vec<_>>());
        let senders: Vec<_> = plan.pairs.iter().map(|[from, _]| *from).collect();
        assert_eq!(senders, receivers);
        assert!(plan.pairs.iter().all(|[from, to]| from != to));
        assert_eq!(plan.transfers.len(), count, "one for each pair");
    }
}

/// Three places have two permutations without a fixed point, which come equally often: 1,000 ± 3 * sqrt(2,000 / 4).
#[test]
fn permutations_are_equally_likely() {
    let keys = "matrix = \"permutation\"\nsize = \"bulk\"";
    let of = |seed| plan(3, keys, seed).unwrap().pairs[0] == [0, 1];
    let first = (0..2_000).filter(|seed| of(*seed)).count();
    assert!((933..=1_067).contains(&first), "{first}");
}

#[test]
fn a_pairing_goes_both_ways() {
    let keys = "matrix = \"pairing\"\nsize = \"bulk\"";
    let paired = plan(10, keys, 3).unwrap();
    assert_eq!(paired.pairs.len(), 10);
    assert!(paired.pairs.iter().all(|[from, to]| paired.pairs.contains(&[*to, *from])));
    let fault = plan(5, keys, 3).unwrap_err();
    assert_eq!(
        (fault.field.as_str(), fault.allowed.as_str()),
        ("matrix.kind", "an even number of places, or `permutation`")
    );
}

/// Populations of 1, 2 and 3: products 2, 3, 2, 6, 3, 6 of 22.
#[test]
fn gravity_goes_by_populations() {
    let dealt = plan(3, "matrix = \"gravity\"\nsize = \"bulk\"\nflows = 220", 1).unwrap();
    let expected =
        [([0, 1], 20), ([0, 2], 30), ([1, 0], 20), ([1, 2], 60), ([2, 0], 30), ([2, 1], 60)];
    assert_eq!(counts(&dealt), expected);
}

#[test]
fn a_hot_spot_receives_its_share() {
    let keys = "matrix = { kind = \"hot_spot\", place = \"p1\", share = 0.6 }\nsize = \"bulk\"\nflows = 300";
    let dealt = counts(&plan(3, keys, 1).unwrap());
    // 180 to the hot spot from two places, and 120 over the four other pairs.
    for ([_, to], count) in dealt {
        assert_eq!(count, if to == 1 { 90 } else { 30 });
    }
    let fault = plan(3, &keys.replace("p1", "p9"), 1).unwrap_err();
    assert!(fault.field == "matrix.place" && fault.problem == "no such place", "{fault:?}");
}

#[test]
fn the_rest_of_a_division_goes_to_the_largest_remainders() {
    let dealt = plan(3, "matrix = \"gravity\"\nsize = \"bulk\"\nflows = 100", 1).unwrap();
    for ([from, to], count) in counts(&dealt) {
        let exact = (from + 1) as f64 * (to + 1) as f64 / 22.0 * 100.0;
        assert!((exact.floor()..=exact.floor() + 1.0).contains(&(count as f64)));
    }
    assert_eq!(dealt.transfers.len(), 100);
}

#[test]
fn a_ramp_starts_transfers_at_equal_distances() {
    let keys = "matrix = \"uniform\"\nsize = \"bulk\"\narrivals = { kind = \"at_start\", over = \"12 s\" }";
    let ramp = plan(4, keys, 1).unwrap();
    let starts: Vec<_> =
        ramp.transfers.iter().map(|it| it.start.as_nanos() / 1_000_000_000).collect();
    assert_eq!(starts, (0..12).collect::<Vec<_>>());
    let pairs: Vec<_> = ramp.transfers.iter().map(|it| it.pair).collect();
    assert_ne!(pairs, (0..12).collect::<Vec<_>>(), "in random order");
    let fault = plan(4, &keys.replace("12 s", "200 s"), 1).unwrap_err();
    assert_eq!(
        (fault.field.as_str(), fault.allowed.as_str()),
        ("arrivals.over", "at most the duration, 100 s")
    );
}

/// 50 Mbit/s in transfers of a megabit are 50 per second: 5,000 in 100 s, ± 3 * sqrt(5,000). Gaps are exponential: their
/// deviation is their mean, within 3 standard errors of it, sqrt(2 / n) of the mean for an exponential law.
#[test]
fn poisson_arrivals_come_at_the_load() {
    let keys = "matrix = \"gravity\"\nsize = { kind = \"fixed\", size = \"125 kB\" }\n\
                arrivals = { kind = \"poisson\", load = \"50 Mbps\" }";
    let arrived = plan(3, keys, 1).unwrap();
    let count = arrived.transfers.len() as f64;
    assert!((count - 5_000.0).abs() < 3.0 * 5_000f64.sqrt(), "{count}");
    let starts: Vec<_> = arrived.transfers.iter().map(|it| it.start.as_secs_f64()).collect();
    let gaps: Vec<_> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let (mean, deviation) = mean_and_deviation(&gaps);
    assert!((deviation / mean - 1.0).abs() < 3.0 * (2.0 / count).sqrt(), "{deviation} {mean}");
    // Each pair has a Poisson count of its own.
    for ([from, to], count) in counts(&arrived) {
        let expected = (from + 1) as f64 * (to + 1) as f64 / 22.0 * 5_000.0;
        assert!((count as f64 - expected).abs() < 3.5 * expected.sqrt(), "{count} of {expected}");
    }
    let capped = plan(3, &format!("flows = 7\n{keys}"), 1).unwrap();
    let each = |plan: &TrafficPlan| {
        let ends = plan.transfers.iter().map(|it| (plan.pairs[it.pair], it.start));
        ends.take(8).collect::<Vec<_>>()
    };
    assert_eq!(each(&capped), each(&arrived)[..7], "the first ones of the same process");
}

/// Means of 100,000 draws, within four standard errors of those that the law promises.
#[test]
fn sizes_have_their_means() {
    for size in SizeSpec::examples() {
        let Some(mean) = size.model().mean() else {
            assert_eq!(size.kind(), "bulk");
            continue;
        };
        let mut rng = RngTree::new(1).rng();
        let drawn: Vec<f64> = (0..100_000).map(|_| size.model().draw(&mut rng).unwrap()).collect();
        let (found, deviation) = mean_and_deviation(&drawn);
        let error = deviation / (drawn.len() as f64).sqrt();
        assert!((found - mean).abs() <= 4.0 * error + 1e-6, "{}: {found}, not {mean}", size.kind());
    }
}

/// By hand from the tables: the sum of shares times the middles of their ranges.
#[test]
fn published_sizes_have_the_means_and_medians_of_their_tables() {
    let spec = |text: &str| SizeSpec::read(&Value::String(text.to_owned()), &At::ROOT).unwrap();
    let mean = |text: &str| spec(text).model().mean().unwrap();
    assert!((mean("web_search") - 1_711_250.0).abs() < 1.0, "{}", mean("web_search"));
    assert!((mean("data_mining") - 12_657_698.0).abs() < 1_000.0, "{}", mean("data_mining"));
    for (text, at, share) in
        [("web_search", 80e3, 0.53), ("web_search", 1e6, 0.7), ("data_mining", 1_100.0, 0.5)]
    {
        let mut rng = RngTree::new(2).rng();
        let below =
            (0..40_000).filter(|_| spec(text).model().draw(&mut rng).unwrap() <= at).count();
        let found = below as f64 / 40_000.0;
        assert!(
            (found - share).abs() < 3.0 * (share * (1.0 - share) / 40_000f64).sqrt(),
            "{text}: {found}"
        );
    }
}

#[test]
fn pareto_sizes_keep_their_bounds() {
    let text = r#"{ kind = "pareto", shape = 1.0, least = "1 kB", most = "1 MB" }"#;
    let spec = traffic(2, &format!("matrix = \"uniform\"\nsize = {text}"));
    let mut rng = RngTree::new(1).rng();
    let drawn: Vec<f64> = (0..10_000).map(|_| spec.size.model().draw(&mut rng).unwrap()).collect();
    assert!(drawn.iter().all(|size| (1e3..=1e6).contains(size)));
    // l h / (h - l) ln(h / l)
    let mean = spec.size.model().mean().unwrap();
    assert!((mean - 1e9 / 999e3 * libm::log(1_000.0)).abs() < 1e-6 * mean, "{mean}");
}

#[test]
fn a_plan_depends_on_the_seed_and_not_on_the_transports() {
    let keys = |transports: &str| {
        format!(
            "matrix = \"gravity\"\nsize = \"web_search\"\narrivals = {{ kind = \"poisson\", rate = 5.0 }}\n{transports}"
        )
    };
    let bare = |transports: &str, seed: u64| {
        let plan = plan(5, &keys(transports), seed).unwrap();
        let each = |it: &Transfer| (plan.pairs[it.pair], it.start, it.size);
        plan.transfers.iter().map(each).collect::<Vec<_>>()
    };
    let tcp = bare("transport = \"tcp\"", 1);
    assert_eq!(tcp, bare("transport = { kind = \"quic\", congestion = \"bbr\" }", 1));
    let mix = "mix = { a = { transport = \"tcp\" }, b = { transport = \"quic\" }, c = { transport = \"udp\" } }";
    assert_eq!(tcp, bare(mix, 1));
    assert_ne!(tcp, bare("transport = \"tcp\"", 2));
}

#[test]
fn transports_get_their_shares() {
    let keys = "matrix = \"uniform\"\nsize = \"bulk\"\nflows = 40\n\
                mix = { a = { transport = \"tcp\", share = 0.75 }, b = { transport = \"quic\", share = 0.25 } }";
    let mixed = plan(4, keys, 1).unwrap();
    let of = |number| mixed.transfers.iter().filter(|it| it.transport == number).count();
    assert_eq!([of(0), of(1)], [30, 10]);
}

#[test]
fn every_matrix_keeps_its_rules() {
    let spec = traffic(6, "matrix = \"uniform\"\nsize = \"bulk\"");
    let places = spec.places(Path::new("."), &[]).unwrap();
    for matrix in MatrixSpec::examples() {
        let matrix = match matrix {
            MatrixSpec::HotSpot(spot) => {
                MatrixSpec::HotSpot(matrix::hot_spot::HotSpotSpec { place: "p0".into(), ..spot })
            }
            // Tested with a file of its own.
            MatrixSpec::File(_) => continue,
            other => other,
        };
        let context = MatrixContext { places: &places, folder: Path::new(".") };
        let of = |seed| matrix.model().demands(&context, &mut RngTree::new(seed).rng()).unwrap();
        let demands = of(1);
        assert!(!demands.is_empty() && demands == of(1), "{}", matrix.kind());
        let mut pairs: Vec<_> = demands.iter().map(|it| (it.from, it.to)).collect();
        assert!(pairs.iter().all(|(from, to)| from != to && *from < 6 && *to < 6));
        assert!(demands.iter().all(|it| it.weight > 0.0 && it.weight.is_finite()));
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(pairs.len(), demands.len(), "{}", matrix.kind());
    }
}
