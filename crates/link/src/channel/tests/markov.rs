//! The Markov channels against the laws they claim to follow.

use leobench_base::spec::TableSpec;
use leobench_base::{BitRate, SimDuration, SimTime};

use super::super::lms::{LmsPreset, LmsSpec, LmsState};
use super::super::on_off::{OnOffSpec, OnOffState, Outage};
use super::super::steady::SteadySpec;
use super::super::{Channel, ChannelModel, Service};
use crate::testing::{assert_mean, assert_refused, context, read};

const PRESETS: [LmsPreset; 4] =
    [LmsPreset::Ka, LmsPreset::S, LmsPreset::SSuburban60, LmsPreset::SSuburban80];

/// 1e6 s of channel in batches long enough (thousands of dwell times) to be independent.
const BATCHES: u64 = 100;
const BATCH: SimDuration = SimDuration::from_secs(10_000);

/// Time, visits and jumps of the three states in one batch of a run.
#[derive(Default)]
struct Batch {
    seconds: [f64; 3],
    visits: [u64; 3],
    jumps: [[u64; 3]; 3],
}

fn index(channel: &dyn Channel) -> usize {
    LmsState::WORDS.iter().position(|word| *word == channel.state().label).unwrap()
}

fn rate(channel: &dyn Channel) -> BitRate {
    match channel.state().service {
        Service::Rate(rate) => rate,
        Service::Opportunities(_) => unreachable!("a Markov channel has a rate"),
    }
}

/// A stay that crosses the end of a batch counts by its time in both, and as a visit where it ends.
fn observe(channel: &mut dyn Channel) -> Vec<Batch> {
    let mut now = SimTime::ZERO;
    let mut batches = Vec::new();
    for number in 1..=BATCHES {
        let end = SimTime::ZERO + BATCH * number;
        let mut batch = Batch::default();
        while let Some(change) = channel.next_change().filter(|change| *change <= end) {
            let state = index(channel);
            batch.seconds[state] += (change - now).as_secs_f64();
            batch.visits[state] += 1;
            channel.advance(change);
            batch.jumps[state][index(channel)] += 1;
            now = change;
        }
        batch.seconds[index(channel)] += (end - now).as_secs_f64();
        now = end;
        batches.push(batch);
    }
    batches
}

#[test]
fn presets_have_the_published_shares_of_time_and_the_true_mean_rates() {
    // Shares to four digits as computed from the published chains; mean rates as rates times shares.
    let published = [
        (LmsPreset::Ka, [0.1055, 0.7741, 0.1205], 41.33),
        (LmsPreset::S, [0.4547, 0.4544, 0.0910], 2.80),
        (LmsPreset::SSuburban60, [0.4002, 0.3332, 0.2666], 2.480),
        (LmsPreset::SSuburban80, [0.1405, 0.4298, 0.4297], 1.765),
    ];
    for (preset, shares, mbps) in published {
        let spec = LmsSpec::preset(preset);
        for (share, expected) in spec.chain().unwrap().time_shares().into_iter().zip(shares) {
            assert!((share - expected).abs() < 2e-4, "{preset:?}: {share}, not {expected}");
        }
        let mean = spec.mean_rate().unwrap() / 1e6;
        assert!((mean - mbps).abs() < 0.005, "{preset:?}: {mean} Mbit/s, not {mbps}");
    }
}

#[test]
fn simulated_presets_follow_their_chains() {
    for preset in PRESETS {
        let spec = LmsSpec::preset(preset);
        let chain = spec.chain().unwrap();
        let mut channel = spec.build(&context(11)).unwrap();
        let batches = observe(channel.as_mut());
        let rates = spec.state_rates().unwrap();
        let mean_rate = |batch: &Batch| {
            batch.seconds.iter().zip(rates).map(|(s, rate)| s * rate.bps() as f64).sum::<f64>()
                / BATCH.as_secs_f64()
        };
        let means: Vec<f64> = batches.iter().map(mean_rate).collect();
        assert_mean(&format!("{preset:?} rate"), &means, spec.mean_rate().unwrap(), 0.01);
        for state in 0..3 {
            let what = format!("{preset:?} state {state}");
            let shares: Vec<f64> =
                batches.iter().map(|batch| batch.seconds[state] / BATCH.as_secs_f64()).collect();
            assert_mean(&format!("{what} share"), &shares, chain.time_shares()[state], 0.01);
            let dwells: Vec<f64> = batches
                .iter()
                .map(|batch| batch.seconds[state] / batch.visits[state] as f64)
                .collect();
            assert_mean(
                &format!("{what} dwell"),
                &dwells,
                chain.dwell()[state].as_secs_f64(),
                0.01,
            );
            for next in (0..3).filter(|next| *next != state) {
                let jumps: Vec<f64> = batches
                    .iter()
                    .map(|batch| batch.jumps[state][next] as f64 / batch.visits[state] as f64)
                    .collect();
                let theory = chain.jump()[state][next];
                assert_mean(&format!("{what} to {next}"), &jumps, theory, 0.03);
            }
        }
    }
}

#[test]
fn dwell_times_are_exponential() {
    // 100,000 stays of each state: the share that outlasts k means is exp(-k) within three standard errors.
    let spec = OnOffSpec { initial: Some(OnOffState::On), ..OnOffSpec::example() };
    let mut channel = spec.build(&context(5)).unwrap();
    let mut stays = [Vec::new(), Vec::new()];
    let mut now = SimTime::ZERO;
    for number in 0..200_000 {
        let change = channel.next_change().unwrap();
        stays[number % 2].push((change - now).as_secs_f64());
        channel.advance(change);
        now = change;
    }
    for (stays, mean) in stays.iter().zip([spec.on, spec.off]) {
        for k in [0.1, 0.5, 1.0, 2.0, 4.0] {
            let longer = stays.iter().filter(|stay| **stay > k * mean.as_secs_f64()).count();
            let (share, theory) = (longer as f64 / stays.len() as f64, libm::exp(-k));
            let error = (theory * (1.0 - theory) / stays.len() as f64).sqrt();
            assert!(
                (share - theory).abs() < 3.0 * error,
                "{share} outlast {k} means, not {theory}"
            );
        }
    }
}

#[test]
fn the_initial_state_is_stationary_unless_named() {
    const RUNS: u64 = 20_000;
    let spec = LmsSpec::example();
    let mut counts = [0u32; 3];
    for seed in 0..RUNS {
        counts[index(spec.build(&context(seed)).unwrap().as_ref())] += 1;
    }
    for (count, share) in counts.into_iter().zip(spec.chain().unwrap().time_shares()) {
        let expected = share * RUNS as f64;
        let error = (expected * (1.0 - share)).sqrt();
        assert!((f64::from(count) - expected).abs() < 3.0 * error, "{count}, not {expected}");
    }
    let named = LmsSpec { initial: Some(LmsState::DeepShadowing), ..LmsSpec::example() };
    for seed in 0..100 {
        let channel = named.build(&context(seed)).unwrap();
        assert_eq!(channel.state().label, "deep-shadowing");
        assert_eq!(rate(channel.as_ref()), BitRate::from_bps(16_000_000));
    }
}

#[test]
fn a_slot_matrix_is_the_jump_chain_it_stands_for() {
    // The Ka band's slot matrix with slots of 100 ms stands for Table 1 of Khan et al. 2023, up to its rounding.
    let slots: LmsSpec = read(
        r#"{
            "rates": ["80 Mbps", "40 Mbps", "16 Mbps"],
            "matrix": [[0.6048, 0.3682, 0.0270], [0.0473, 0.8630, 0.0897], [0.0420, 0.5579, 0.4001]],
            "slot": "100 ms"
        }"#,
    )
    .unwrap();
    let (slots, table) = (slots.chain().unwrap(), LmsSpec::example().chain().unwrap());
    for state in 0..3 {
        let (a, b) = (slots.dwell()[state].as_secs_f64(), table.dwell()[state].as_secs_f64());
        assert!((a / b - 1.0).abs() < 1e-3, "dwell {a} and {b}");
        for next in 0..3 {
            let (a, b) = (slots.jump()[state][next], table.jump()[state][next]);
            assert!((a - b).abs() < 1e-3, "jump {a} and {b}");
        }
    }
}

#[test]
fn a_state_never_visited_takes_no_time() {
    let spec: LmsSpec = read(
        r#"{
            "rates": ["3 Mbps", "1 Mbps", "99 Mbps"],
            "jump": [[0, 1, 0], [1, 0, 0], [0.5, 0.5, 0]],
            "dwell": ["1 s", "3 s", "1 s"]
        }"#,
    )
    .unwrap();
    for (share, expected) in spec.chain().unwrap().time_shares().into_iter().zip([0.25, 0.75, 0.0])
    {
        assert!((share - expected).abs() < 1e-12, "{share}, not {expected}");
    }
    assert!((spec.mean_rate().unwrap() - 1.5e6).abs() < 1e-3);
}

#[test]
fn interruptions_hold_or_drop_and_may_be_absent() {
    let off = |outage| OnOffSpec { outage, initial: Some(OnOffState::Off), ..OnOffSpec::example() };
    for (outage, up) in [(Outage::Hold, true), (Outage::Drop, false)] {
        let channel = off(outage).build(&context(1)).unwrap();
        assert_eq!((channel.state().up, rate(channel.as_ref())), (up, BitRate::ZERO));
    }
    let never = OnOffSpec { off: SimDuration::ZERO, ..OnOffSpec::example() };
    let channel = never.build(&context(1)).unwrap();
    assert_eq!((channel.next_change(), &*channel.state().label), (None, "on"));
}

const RATES: &str = r#""rates": ["3 Mbps", "1 Mbps", "1 Mbps"]"#;
const JUMP: &str = r#""jump": [[0, 1, 0], [0.5, 0, 0.5], [1, 0, 0]]"#;
const DWELL: &str = r#""dwell": ["1 s", "1 s", "1 s"]"#;
const MATRIX: &str = r#""matrix": [[0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.1, 0.9]]"#;
const SLOT: &str = r#""slot": "100 ms""#;

fn table(entries: &[&str]) -> String {
    format!("{{{}}}", entries.join(", "))
}

#[track_caller]
fn refused(entries: &[&str], place: &str, problem: &str) {
    assert_refused::<LmsSpec>(&table(entries), place, problem);
}

#[test]
fn a_chain_is_given_once_and_whole() {
    assert!(read::<LmsSpec>(&table(&[RATES, JUMP, DWELL])).is_ok());
    assert!(read::<LmsSpec>(&table(&[RATES, MATRIX, SLOT])).is_ok());
    assert!(read::<LmsSpec>(&table(&[r#""preset": "s""#, RATES])).is_ok());
    refused(&[], "preset", "missing");
    refused(&[RATES], "preset", "missing");
    refused(&[RATES, JUMP], "dwell", "missing");
    refused(&[RATES, DWELL], "jump", "missing");
    refused(&[RATES, MATRIX], "slot", "missing");
    refused(&[RATES, SLOT], "matrix", "missing");
    refused(&[JUMP, DWELL], "rates", "missing");
    refused(&[RATES, JUMP, DWELL, SLOT], "slot", "with `jump`");
    refused(&[RATES, JUMP, MATRIX, SLOT], "jump", "with `matrix`");
    refused(&[r#""preset": "ka""#, JUMP], "jump", "with `preset`");
    refused(&[r#""preset": "kaa""#], "preset", "unknown word");
}

#[test]
fn rows_that_are_no_probabilities_are_refused_by_place() {
    let jump = |rows: &str| format!(r#""jump": {rows}"#);
    let matrix = |rows: &str| format!(r#""matrix": {rows}"#);
    let bad_sum = jump("[[0, 1, 0], [0.5, 0, 0.4998], [1, 0, 0]]");
    refused(&[RATES, &bad_sum, DWELL], "jump[1]", "sums to 0.9998");
    let near_sum = jump("[[0, 1, 0], [0.5, 0, 0.49991], [1, 0, 0]]");
    let near: LmsSpec = read(&table(&[RATES, &near_sum, DWELL])).unwrap();
    assert!((near.chain().unwrap().jump()[1].iter().sum::<f64>() - 1.0).abs() < 1e-15);
    let diagonal = jump("[[0, 1, 0], [0.5, 0, 0.5], [0.9, 0, 0.1]]");
    refused(&[RATES, &diagonal, DWELL], "jump[2]", "to itself");
    let out_of_range = jump("[[0, 1, 0], [-0.5, 0, 1.5], [1, 0, 0]]");
    refused(&[RATES, &out_of_range, DWELL], "jump[1][0]", "out of range");
    refused(&[RATES, &jump("[[0, 1], [1, 0]]"), DWELL], "jump[0]", "has 2 values");
    let bad_sum = matrix("[[0.5, 0.5, 0.5], [0.5, 0, 0.5], [0, 0.1, 0.9]]");
    refused(&[RATES, &bad_sum, SLOT], "matrix[0]", "sums to 1.5");
    let stuck = matrix("[[0.5, 0.5, 0], [0, 1, 0], [0, 0.1, 0.9]]");
    refused(&[RATES, &stuck, SLOT], "matrix[1]", "never leaves");
    refused(&[RATES, JUMP, r#""dwell": ["1 s", "0 s", "1 s"]"#], "dwell[1]", "zero");
    refused(&[RATES, MATRIX, r#""slot": "0 s""#], "slot", "zero");
}

#[test]
fn channels_that_are_never_up_are_refused() {
    refused(&[r#""preset": "ka", "rates": ["0 bps", "0 bps", "0 bps"]"#], "rates", "never up");
    // The only state with a rate is never visited.
    let jump = r#""jump": [[0, 1, 0], [1, 0, 0], [0.5, 0.5, 0]]"#;
    refused(&[r#""rates": ["0 bps", "0 bps", "1 bps"]"#, jump, DWELL], "rates", "never up");
    let on_off = |rest: &str| table(&[r#""off": "1 s""#, rest]);
    assert_refused::<OnOffSpec>(&on_off(r#""rate": "0 bps", "on": "1 s""#), "rate", "never up");
    assert_refused::<OnOffSpec>(&on_off(r#""rate": "1 bps", "on": "0 s""#), "on", "never up");
    let off = r#"{"rate": "1 bps", "on": "1 s", "off": "0 s", "initial": "off"}"#;
    assert_refused::<OnOffSpec>(off, "initial", "is zero");
    assert_refused::<SteadySpec>(r#"{"rate": "0 bps"}"#, "rate", "never up");
}
