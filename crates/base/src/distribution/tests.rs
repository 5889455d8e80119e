use super::*;
use crate::rng::RngTree;

const DRAWS: usize = 100_000;

fn read(json: &str) -> Result<DurationDistribution, SpecError> {
    DurationDistribution::read(&serde_json::from_str(json).unwrap(), &At::ROOT)
}

/// Draws in milliseconds.
fn millis(mut draw: impl FnMut(&mut SimRng) -> SimDuration) -> Vec<f64> {
    let mut rng = RngTree::new(4).rng();
    (0..DRAWS).map(|_| draw(&mut rng).as_millis_f64()).collect()
}

/// Checks that draws follow a distribution function: the Kolmogorov-Smirnov distance exceeds 1.95 / sqrt(n) once in a
/// thousand samples.
#[track_caller]
fn assert_follows(mut draws: Vec<f64>, distribution: impl Fn(f64) -> f64) {
    draws.sort_by(f64::total_cmp);
    let count = draws.len() as f64;
    let distances = draws.iter().enumerate().map(|(rank, drawn)| {
        let share = distribution(*drawn);
        (share - rank as f64 / count).abs().max((share - (rank + 1) as f64 / count).abs())
    });
    let distance = distances.fold(0.0, f64::max);
    assert!(distance < 1.95 / count.sqrt(), "{distance}");
}

fn normal(x: f64, mean: f64, deviation: f64) -> f64 {
    0.5 * libm::erfc((mean - x) / deviation / std::f64::consts::SQRT_2)
}

#[test]
fn draws_follow_their_distribution_functions() {
    let draw = |json: &str| {
        let distribution = read(json).unwrap();
        millis(|rng| distribution.draw(rng))
    };
    let uniform = r#"{"kind": "uniform", "from": "20 ms", "to": "40 ms"}"#;
    assert_follows(draw(uniform), |x| (x - 20.0) / 20.0);
    let exponential = r#"{"kind": "exponential", "mean": "30 ms", "from": "10 ms"}"#;
    assert_follows(draw(exponential), |x| 1.0 - libm::exp(-(x - 10.0) / 20.0));
    // The cuts: far away, on one side, and so narrow that the draws are by rejection from a uniform distribution.
    for (mean, deviation, from, to) in
        [(30.0, 5.0, 0.0, 1e6), (30.0, 10.0, 30.0, 1e6), (30.0, 20.0, 20.0, 50.0)]
    {
        let json = format!(
            r#"{{"kind": "normal", "mean": "{mean} ms", "deviation": "{deviation} ms", "from": "{from} ms", "to": "{to} ms"}}"#
        );
        let at = |x| normal(x, mean, deviation);
        assert_follows(draw(&json), |x| (at(x) - at(from)) / (at(to) - at(from)));
    }
}

#[test]
fn values_are_equally_likely() {
    let values = read(r#"{"values": ["20 ms", "30 ms", "30 ms", "35 ms"]}"#).unwrap();
    let draws = millis(|rng| values.draw(rng));
    for (value, share) in [(20.0, 0.25), (30.0, 0.5), (35.0, 0.25)] {
        let count = draws.iter().filter(|drawn| (**drawn - value).abs() < 1e-9).count() as f64;
        let error = (DRAWS as f64 * share * (1.0 - share)).sqrt();
        assert!((count - share * DRAWS as f64).abs() < 3.0 * error, "{value}: {count}");
    }
}

#[test]
fn means_and_ends_are_those_of_the_draws() {
    let narrow = r#"{"kind": "normal", "mean": "0 s", "deviation": "20 ms", "to": "50 ms"}"#;
    let shifted = r#"{"kind": "exponential", "mean": "30 ms", "from": "20 ms"}"#;
    let others = [narrow, shifted].map(|json| read(json).unwrap());
    for distribution in DurationDistribution::examples().into_iter().chain(others) {
        let draws = millis(|rng| distribution.draw(rng));
        let count = DRAWS as f64;
        let mean = draws.iter().sum::<f64>() / count;
        let variance =
            draws.iter().map(|drawn| (drawn - mean) * (drawn - mean)).sum::<f64>() / count;
        // Three standard errors, and the rounding to nanoseconds.
        let tolerance = 3.0 * (variance / count).sqrt() + 1e-6;
        let theory = distribution.mean() / 1e6;
        assert!((mean - theory).abs() <= tolerance, "{distribution:?}: {mean}, not {theory}");
        let (least, most) = (distribution.least(), distribution.most());
        let inside = |drawn: &f64| (least.as_millis_f64()..=most.as_millis_f64()).contains(drawn);
        assert!(draws.iter().all(inside), "{distribution:?}");
        assert_eq!(distribution.is_random(), variance > 0.0, "{distribution:?}");
    }
}

#[test]
fn draws_by_size_favour_the_large() {
    let uniform = read(r#"{"kind": "uniform", "from": "20 ms", "to": "40 ms"}"#).unwrap();
    // The density x / mean * 1 / 20 from 20 to 40 ms.
    let draws = millis(|rng| uniform.draw_by_size(rng));
    assert_follows(draws, |x| (x * x - 400.0) / 1_200.0);
    // Of an exponential distribution: the sum of two.
    let exponential = read(r#"{"kind": "exponential", "mean": "30 ms"}"#).unwrap();
    let draws = millis(|rng| exponential.draw_by_size(rng));
    assert_follows(draws, |x| 1.0 - (1.0 + x / 30.0) * libm::exp(-x / 30.0));
    let values = read(r#"{"values": ["10 ms", "30 ms", "0 s"]}"#).unwrap();
    let draws = millis(|rng| values.draw_by_size(rng));
    let large =
        draws.iter().filter(|drawn| (**drawn - 30.0).abs() < 1e-9).count() as f64 / DRAWS as f64;
    assert!((large - 0.75).abs() < 3.0 * (0.75 * 0.25 / DRAWS as f64).sqrt(), "{large}");
    assert!(draws.iter().all(|drawn| *drawn > 0.0));
}

#[test]
fn rates_are_drawn_as_times_are() {
    let json = r#"{"kind": "uniform", "from": "50 Mbps", "to": "200 Mbps"}"#;
    let rates = RateDistribution::read(&serde_json::from_str(json).unwrap(), &At::ROOT).unwrap();
    assert!((rates.mean() - 125e6).abs() < 1e-6);
    let mut rng = RngTree::new(4).rng();
    let draws = (0..DRAWS).map(|_| rates.draw(&mut rng).bps() as f64).collect();
    assert_follows(draws, |x| (x - 50e6) / 150e6);
}

#[test]
fn a_bare_quantity_is_fixed_and_kinds_read_back() {
    let fixed = read(r#""30 ms""#).unwrap();
    assert_eq!(fixed, DurationDistribution::fixed(SimDuration::from_millis(30)));
    assert_eq!(fixed.write(), Value::String("30 ms".into()));
    assert_eq!(read(r#"{"kind": "fixed", "value": "30 ms"}"#).unwrap(), fixed);
    for distribution in DurationDistribution::examples() {
        let read = DurationDistribution::read(&distribution.write(), &At::ROOT);
        assert_eq!(read.unwrap(), distribution);
    }
    for distribution in RateDistribution::examples() {
        assert_eq!(RateDistribution::read(&distribution.write(), &At::ROOT).unwrap(), distribution);
    }
}

#[test]
fn the_schema_tells_the_kinds_and_their_keys() {
    let title = DurationDistribution::schema()["title"].as_str().unwrap().to_owned();
    assert!(title.starts_with("a time with its unit"), "{title}");
    assert!(title.contains("`fixed` (`value`), `uniform` (`from`, `to`), "), "{title}");
}

#[track_caller]
fn refused(json: &str, message: &str) {
    assert_eq!(read(json).unwrap_err().to_string(), message);
}

#[test]
fn bad_distributions_are_refused_by_place() {
    refused(
        r#"{"kind": "uniform", "from": "3 ms", "to": "2 ms"}"#,
        "from = \"3 ms\": is above `to`, 2 ms; allowed: at most `to`",
    );
    refused(
        r#"{"kind": "normal", "mean": "3 ms", "deviation": "0 s"}"#,
        "deviation = \"0 s\": is zero; allowed: a deviation above zero, or a fixed value",
    );
    refused(
        r#"{"kind": "normal", "mean": "3 ms", "deviation": "1 s", "from": "3 ms", "to": "3 ms"}"#,
        "from = \"3 ms\": is not below `to`, 3 ms; allowed: less than `to`",
    );
    refused(
        r#"{"kind": "normal", "mean": "3 ms", "deviation": "1 s", "from": "4 ms"}"#,
        "mean = \"3 ms\": is not between `from` and `to`; allowed: a mean between them",
    );
    refused(
        r#"{"kind": "exponential", "mean": "3 ms", "from": "3 ms"}"#,
        "mean = \"3 ms\": is not above `from`, 3 ms; allowed: more than `from`, or a fixed value",
    );
    refused(r#"{"values": []}"#, "values = []: is empty; allowed: at least one value");
    for (json, problem) in [
        (r#""-3 ms""#, "= \"-3 ms\": is negative; "),
        (r#""uniform""#, "does not start with a number; "),
        ("3", "is a bare number without a unit; "),
        (
            r#"{"kind": "uniform", "from": "-3 ms", "to": "2 ms"}"#,
            "from = \"-3 ms\": is negative; ",
        ),
        (r#"{"kind": "unifrom", "from": "3 ms"}"#, "did you mean `uniform`?"),
        (r#"{"kind": "uniform", "from": "3 ms"}"#, "to: is required but missing"),
    ] {
        let error = read(json).unwrap_err().to_string();
        assert!(format!("= {error}").contains(problem), "{error}");
    }
    let error = read("true").unwrap_err().to_string();
    assert!(
        error.ends_with("or a table with `kind`: fixed, uniform, normal, exponential, values"),
        "{error}"
    );
}
