use leobench_base::spec::{At, Spec, Table, TableSpec, Value};
use leobench_base::{Phase, SimDuration, SimTime};

use super::*;
use crate::buffer::Message;

/// All messages created before `end`, after checking that the source keeps its word about when it produces.
fn messages(model: &dyn SourceModel, seed: u64, end: SimDuration) -> Vec<Message> {
    let mut source = model.build(&RngTree::new(seed).child("source"));
    let mut messages = Vec::new();
    let mut last = None;
    while let Some(due) = source.next().filter(|due| *due < end) {
        assert!(last.is_none_or(|last| due >= last), "{due} after {last:?}");
        let size = source.produce().unwrap();
        assert!(!size.is_zero(), "nothing at {due}");
        messages.push(Message { size, created: SimTime::ZERO + due });
        last = Some(due);
    }
    messages
}

fn seconds(seconds: u64) -> SimDuration {
    SimDuration::from_secs(seconds)
}

fn bytes(messages: &[Message]) -> u64 {
    messages.iter().map(|message| message.size).sum::<Bytes>().get()
}

/// Messages created in each of the first `count` spans.
fn counts(messages: &[Message], span: SimDuration, count: usize) -> Vec<f64> {
    let mut counts = vec![0.0; count];
    for message in messages {
        counts[(message.created.as_nanos() / span.as_nanos()) as usize] += 1.0;
    }
    counts
}

fn mean_and_variance(samples: &[f64]) -> (f64, f64) {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let squares = samples.iter().map(|sample| (sample - mean) * (sample - mean)).sum::<f64>();
    (mean, squares / (n - 1.0))
}

#[test]
fn sources_progress_and_repeat() {
    for spec in SourceSpec::examples() {
        let end = seconds(20);
        let first = messages(spec.model(), 1, end);
        assert!(!first.is_empty(), "{}", spec.kind());
        assert_eq!(first, messages(spec.model(), 1, end), "{}", spec.kind());
        let random = spec.model().is_random();
        assert_eq!(random, first != messages(spec.model(), 2, end), "{}", spec.kind());
    }
}

#[test]
fn a_bulk_transfer_is_one_message_at_the_start() {
    let spec = BulkSpec { size: Some(Bytes::new(5_000_000)) };
    let expected = [Message { size: Bytes::new(5_000_000), created: SimTime::ZERO }];
    assert_eq!(messages(&spec, 0, seconds(1_000)), expected);
    assert_eq!(spec.offered_bps(), None);
}

#[test]
fn a_transfer_without_a_size_is_one_message_larger_than_any_run() {
    let made = messages(&BulkSpec { size: None }, 0, seconds(1_000));
    assert_eq!(made, [Message { size: MAX_MESSAGE, created: SimTime::ZERO }]);
}

/// However many messages are due at an instant, a call produces one.
#[test]
fn a_slot_of_a_century_takes_no_longer_than_its_first_message() {
    let slot = SimDuration::from_secs(3_000_000_000);
    let spec = PoissonBatchSpec { slot, ..PoissonBatchSpec::example() };
    let mut source = spec.build(&RngTree::new(1));
    for _ in 0..1_000 {
        assert_eq!(source.next(), Some(SimDuration::ZERO));
        assert_eq!(source.produce(), Some(spec.size));
    }
}

/// Exact, but for a message at the end, if it is not random. Otherwise counts vary: those of the on-off source the most,
/// whose share of on-times is checked closely with its duty cycle, and Poisson counts with their rate.
#[test]
fn sources_know_how_many_messages_to_expect() {
    let span = seconds(1_000);
    for spec in SourceSpec::examples() {
        let expected = spec.model().messages_in(span);
        let made = messages(spec.model(), 1, span).len() as f64;
        let tolerance = if spec.model().is_random() { 0.1 * expected } else { 1.0 };
        assert!((made - expected).abs() <= tolerance, "{}: {made}, not {expected}", spec.kind());
    }
    let (rate, size) = (BitRate::from_bps(9_000_000_000_000), Bytes::new(1));
    let cbr = CbrSpec { rate, size, offset: SimDuration::ZERO };
    assert!((cbr.messages_at_once() - 1_125.0).abs() < 1e-6);
    let slot = seconds(1);
    let batch = PoissonBatchSpec {
        rate: BitRate::from_bps(8_000),
        size,
        slot,
        ..PoissonBatchSpec::example()
    };
    assert!((batch.messages_at_once() - 1_000.0).abs() < 1e-6);
    assert!((batch.messages_in(SimDuration::from_millis(1_500)) - 2_000.0).abs() < 1e-6);
}

#[test]
fn a_constant_rate_keeps_time_to_the_nanosecond() {
    let (size, rate) = (1_252, 7_000_001);
    let offset = SimDuration::from_nanos(17);
    let spec = CbrSpec { rate: BitRate::from_bps(rate), size: Bytes::new(size), offset };
    let messages = messages(&spec, 0, seconds(100));
    for (k, message) in (0u128..).zip(&messages) {
        let exact = k * u128::from(size) * 8_000_000_000 / u128::from(rate);
        assert_eq!(u128::from(message.created.as_nanos()), 17 + exact, "message {k}");
    }
    assert_eq!(messages.len() as u64, rate * 100 / (8 * size) + 1);
}

#[test]
fn messages_closer_than_a_nanosecond_come_together() {
    // 40 bits at 100 Gbit/s: 0.4 ns apart, so floor(0.4 k) has three, two, three, two messages.
    let spec = CbrSpec {
        rate: BitRate::from_bps(100_000_000_000),
        size: Bytes::new(5),
        offset: SimDuration::ZERO,
    };
    let end = SimDuration::from_nanos(4);
    let created: Vec<_> =
        messages(&spec, 0, end).iter().map(|message| message.created.as_nanos()).collect();
    assert_eq!(created, [0, 0, 0, 1, 1, 2, 2, 2, 3, 3]);
}

/// The standard error of a Poisson count is its square root.
#[test]
fn poisson_sources_have_their_rate() {
    let (rate, size) = (BitRate::from_bps(8_000_000), Bytes::new(1_000));
    let slot = SimDuration::from_millis(50);
    let single: &dyn SourceModel = &PoissonSpec { rate, size };
    let batch: &dyn SourceModel =
        &PoissonBatchSpec { rate, size, slot, ..PoissonBatchSpec::example() };
    for (model, seed) in [(single, 1), (single, 2), (batch, 3), (batch, 4)] {
        let count = messages(model, seed, seconds(1_000)).len() as f64;
        assert!((count - 1e6).abs() < 3.0 * 1e3, "{count} messages instead of a million");
        assert_eq!(model.offered_bps(), Some(8e6));
    }
}

/// The variance of n Poisson counts has a standard error of sqrt(2 / n) of itself, at means that are not small.
#[test]
fn poisson_counts_have_an_index_of_dispersion_of_one() {
    let (rate, size) = (BitRate::from_bps(8_000_000), Bytes::new(1_000));
    let slot = SimDuration::from_millis(50);
    let single: &dyn SourceModel = &PoissonSpec { rate, size };
    let batch: &dyn SourceModel =
        &PoissonBatchSpec { rate, size, slot, ..PoissonBatchSpec::example() };
    let n = 20_000;
    let tolerance = 3.0 * libm::sqrt(2.0 / n as f64);
    for model in [single, batch] {
        let messages = messages(model, 5, seconds(1_000));
        let counts = counts(&messages, slot, n);
        let (mean, variance) = mean_and_variance(&counts);
        assert!((variance / mean - 1.0).abs() < tolerance, "{variance} over {mean}");
        let lagged: f64 =
            counts.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>();
        let correlation = lagged / (variance * n as f64);
        assert!(correlation.abs() < 3.0 / libm::sqrt(n as f64), "slots correlate by {correlation}");
    }
}

/// An exponential gap has its mean as standard deviation, and exceeds it with probability 1/e.
#[test]
fn poisson_gaps_are_exponential() {
    let spec = PoissonSpec { rate: BitRate::from_bps(8_000_000), size: Bytes::new(1_000) };
    let messages = messages(&spec, 6, seconds(200));
    let gaps: Vec<f64> = messages
        .windows(2)
        .map(|pair| (pair[1].created - pair[0].created).as_secs_f64() * 1e3)
        .collect();
    let n = gaps.len() as f64;
    let (_, variance) = mean_and_variance(&gaps);
    // The fourth central moment is 9: the variance of the sample variance is (9 - 1) / n.
    assert!((variance - 1.0).abs() < 3.0 * libm::sqrt(8.0 / n), "variance {variance}");
    let longer = gaps.iter().filter(|gap| **gap > 1.0).count() as f64 / n;
    let share = libm::exp(-1.0);
    assert!((longer - share).abs() < 3.0 * libm::sqrt(share * (1.0 - share) / n), "{longer}");
}

#[test]
fn batches_come_at_the_starts_of_slots() {
    let slot = SimDuration::from_millis(50);
    let spec = PoissonBatchSpec { slot, ..PoissonBatchSpec::example() };
    let messages = messages(&spec, 7, seconds(100));
    assert!(messages.iter().all(|message| message.created.as_nanos() % slot.as_nanos() == 0));
    assert_eq!(messages[0].created, SimTime::ZERO, "about fifty messages are due in the first");
}

/// A uniform offset within a slot of 50 ms has a mean of 25 ms and a standard deviation of 50 / sqrt(12) ms.
#[test]
fn an_offset_moves_every_slot_of_its_stream() {
    let spec = PoissonBatchSpec::example();
    let shift = SimDuration::from_millis(20);
    let moved = PoissonBatchSpec { offset: Phase::Fixed(shift), ..spec.clone() };
    let (plain, moved) = (messages(&spec, 7, seconds(10)), messages(&moved, 7, seconds(11)));
    assert!(plain.iter().zip(&moved).all(|(a, b)| a.created + shift == b.created));
    let random = PoissonBatchSpec { offset: Phase::Random, ..spec };
    let starts: Vec<f64> = (0..400)
        .map(|seed| messages(&random, seed, seconds(1))[0].created.as_nanos() as f64 / 1e6)
        .map(|start| start % 50.0)
        .collect();
    let (mean, _) = mean_and_variance(&starts);
    let error = 50.0 / libm::sqrt(12.0 * 400.0);
    assert!((mean - 25.0).abs() < 3.0 * error, "{mean} ms");
}

#[test]
fn rates_too_low_for_the_clock_are_no_trouble() {
    let size = Bytes::new(1_000_000_000_000);
    let rate = BitRate::from_bps(1);
    assert!(messages(&PoissonSpec { rate, size }, 8, SimDuration::MAX).len() < 100_000);
    let spec = CbrSpec { rate, size, offset: SimDuration::from_nanos(1) };
    assert_eq!(
        messages(&spec, 8, SimDuration::MAX).len(),
        1,
        "the second would come after the end of time"
    );
    let spec = PoissonBatchSpec {
        rate,
        size,
        slot: SimDuration::from_nanos(3),
        ..PoissonBatchSpec::example()
    };
    assert!(messages(&spec, 8, SimDuration::MAX).len() < 100_000);
}

/// Cycles of exponential on- and off-times with means a and b: over a time T, the time spent on has the variance
/// 2 a² b² T / (a + b)³ (renewal reward theorem).
#[test]
fn on_off_sources_have_their_duty_cycle_and_rate() {
    let (on, off) = (0.2, 0.3);
    let spec = OnOffSpec {
        rate: BitRate::from_bps(8_000_000),
        size: Bytes::new(1_000),
        on: SimDuration::from_secs_f64(on),
        off: SimDuration::from_secs_f64(off),
    };
    assert!((spec.offered_bps().unwrap() - 3.2e6).abs() < 1e-3);
    let span = 20_000;
    let messages = messages(&spec, 9, seconds(span));
    let variance = 2.0 * on * on * off * off * span as f64 / libm::pow(on + off, 3.0);
    let time_on = bytes(&messages) as f64 / 1e6;
    let error = (time_on - 0.4 * span as f64).abs();
    assert!(error < 3.0 * libm::sqrt(variance), "on for {time_on} s of {span} s");

    let gaps: Vec<f64> = messages
        .windows(2)
        .map(|pair| (pair[1].created - pair[0].created).as_secs_f64() - 1e-3)
        .filter(|gap| *gap > 1e-9)
        .collect();
    // The off-times between two messages are a Poisson number of mean 1 ms / 0.2 s, here not zero.
    let n = gaps.len() as f64;
    let (mean, _) = mean_and_variance(&gaps);
    let switches = 1e-3 / on;
    let expected = off * switches / -libm::expm1(-switches);
    assert!((mean - expected).abs() < 3.0 * off / libm::sqrt(n), "off for {mean} s");
}

/// Whether a source starts on is a draw of its duty cycle.
#[test]
fn on_off_sources_start_as_found_at_any_time() {
    let spec = OnOffSpec::example();
    let n = 4_000;
    let starts = (0..n).filter(|seed| {
        let source = spec.build(&RngTree::new(*seed));
        source.next() == Some(SimDuration::ZERO)
    });
    let share = starts.count() as f64 / n as f64;
    assert!((share - 0.4).abs() < 3.0 * libm::sqrt(0.24 / n as f64), "{share} start on");
}

#[test]
fn sources_that_could_never_produce_are_refused() {
    for (kind, key, value) in [
        ("bulk", "size", "0 B"),
        ("cbr", "rate", "0 bps"),
        ("cbr", "size", "0 B"),
        ("poisson", "rate", "0 bps"),
        ("poisson", "size", "2000000 GB"),
        ("poisson_batch", "slot", "0 s"),
        ("poisson_batch", "offset", "50 ms"),
        ("poisson_batch", "offset", "anywhen"),
        ("on_off", "on", "0 s"),
        ("on_off", "off", "0 s"),
    ] {
        let spec = SourceSpec::examples().into_iter().find(|spec| spec.kind() == kind).unwrap();
        assert_eq!(spec.model().check(), Ok(()));
        let Value::Table(mut table) = spec.write() else { panic!("{kind} is no table") };
        assert_eq!(SourceSpec::read(&Value::Table(table.clone()), &At::ROOT).unwrap(), spec);
        table.insert(key, Value::String(value.into()));
        let error = SourceSpec::read(&Value::Table(table), &At::ROOT).unwrap_err();
        assert_eq!((error.place.as_str(), error.value), (key, Some(format!("{value:?}"))));
    }
    assert!(SourceSpec::read(&Value::Table(Table::new()), &At::ROOT).is_err());
}

#[test]
fn an_on_off_source_that_would_hardly_ever_produce_is_refused() {
    let spec = OnOffSpec { size: Bytes::new(1_000_000_000), ..OnOffSpec::example() };
    assert_eq!(spec.check(), Ok(()));
    let fault = OnOffSpec { rate: BitRate::from_bps(1), ..spec }.check().unwrap_err();
    assert_eq!(fault.field, "rate");
}
