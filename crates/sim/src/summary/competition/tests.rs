//! Series worked by hand, in steps of a second: windows of ten steps.

use leobench_base::spec::{At, Spec, Table, Value};
use leobench_base::{Bytes, SimDuration, SimTime};
use leobench_transport::buffer::Message;
use leobench_transport::endpoint::Report;

use super::{CompetitionSummary, Competitor};
use crate::ledger::FlowLedger;
use crate::scenario::CompetitionSpec;

fn second(seconds: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_secs(seconds)
}

fn spec(hold: u64, reference: &[&str]) -> CompetitionSpec {
    CompetitionSpec {
        window: SimDuration::from_secs(10),
        hold: SimDuration::from_secs(hold),
        reference: reference.iter().map(|name| (*name).to_owned()).collect(),
        ..CompetitionSpec::default()
    }
}

/// A ledger of a flow that delivers so many bytes in the middle of each second.
fn ledger(bytes: impl IntoIterator<Item = u64>) -> FlowLedger {
    let mut ledger = FlowLedger::new(1, SimTime::ZERO).with_deliveries(SimDuration::from_secs(1));
    ledger.created(0.into(), Message { size: Bytes::new(1_000_000), created: SimTime::ZERO });
    let mut offset = 0;
    for (step, bytes) in bytes.into_iter().enumerate() {
        offset += bytes;
        let now = second(step as u64) + SimDuration::from_millis(500);
        ledger.report(now, Report::Delivered { stream: 0.into(), offset }, &mut Vec::new());
    }
    ledger
}

fn judge(
    spec: &CompetitionSpec,
    warm_up: u64,
    flows: &[(&'static str, u64, u64, &FlowLedger)],
) -> Option<(CompetitionSummary, Option<f64>)> {
    let competitor = |(name, start, end, ledger): &(&'static str, u64, u64, &'_ FlowLedger)| {
        let deliveries = ledger.deliveries().unwrap();
        (*name, second(*start), second(*end), deliveries.clone())
    };
    let flows: Vec<_> = flows.iter().map(competitor).collect();
    let flows: Vec<_> = flows
        .iter()
        .map(|(name, start, end, deliveries)| Competitor {
            name,
            start: *start,
            end: *end,
            deliveries,
        })
        .collect();
    CompetitionSummary::new(spec, second(warm_up), &flows)
}

fn steps(parts: &[(u64, u64)]) -> Vec<u64> {
    parts.iter().flat_map(|(count, bytes)| vec![*bytes; *count as usize]).collect()
}

#[test]
fn only_the_time_in_common_counts() {
    // Alone for 10 s, then 300 to 100 until the second is done after 30 s.
    let old = ledger(steps(&[(10, 800), (20, 300), (10, 900)]));
    let new = ledger(steps(&[(10, 0), (20, 100)]));
    let flows = [("old", 0, 40, &old), ("new", 10, 30, &new)];
    let (summary, jain) = judge(&spec(5, &["old"]), 0, &flows).unwrap();
    assert_eq!((summary.from_s, summary.to_s), (Some(10.0), Some(30.0)));
    let goodputs: Vec<_> = summary.flows.iter().map(|flow| flow.goodput_bps.unwrap()).collect();
    assert_eq!(goodputs, [2_400.0, 800.0]);
    assert_eq!(summary.flows[1].share, Some(0.25));
    assert_eq!(summary.flows[1].friendliness_ratio, Some(800.0 / 2_400.0));
    assert_eq!(summary.flows[0].friendliness_ratio, Some(1.0));
    assert_eq!(summary.friendliness_ratio, Some(800.0 / 2_400.0));
    // (3 + 1)² / (2 · (9 + 1)).
    assert!((jain.unwrap() - 0.8).abs() < 1e-12);
    assert_eq!(summary.convergence_s, None, "shares of 3/4 and 1/4 are not within a fifth of 1/2");
}

#[test]
fn the_warm_up_is_left_out_of_shares_and_not_of_convergence() {
    let old = ledger(steps(&[(10, 400), (30, 200)]));
    let new = ledger(steps(&[(10, 0), (30, 200)]));
    let flows = [("old", 0, 40, &old), ("new", 10, 40, &new)];
    let (summary, jain) = judge(&spec(5, &[]), 25, &flows).unwrap();
    assert_eq!((summary.from_s, jain), (Some(25.0), Some(1.0)));
    // The first whole window after the arrival.
    assert_eq!(summary.convergence_s, Some(10.0));
    assert_eq!(summary.friendliness_ratio, None);
}

/// From 8 to 12 in the ratio of the two is fair under a tolerance of a fifth. The newcomer gets 100 of 400 for four
/// seconds after its arrival, then 200. In a window that ends `n` seconds after its arrival (10 <= n <= 14) it has
/// 100 · (14 - n) + 200 · (n - 4) of 4,000, which is 1,600, the least that is fair, at n = 10.
#[test]
fn convergence_ends_with_the_first_window_that_is_fair() {
    let old = ledger(steps(&[(20, 400), (4, 300), (30, 200)]));
    let new = ledger(steps(&[(20, 0), (4, 100), (30, 200)]));
    let flows = [("old", 0, 54, &old), ("new", 20, 54, &new)];
    let found = |spec: &CompetitionSpec| judge(spec, 0, &flows).unwrap().0.convergence_s;
    assert_eq!(found(&spec(5, &[])), Some(10.0));
    // Within a tenth it takes 1,800 of 4,000: n = 12.
    assert_eq!(found(&CompetitionSpec { tolerance: 0.1, ..spec(5, &[]) }), Some(12.0));
    // The last window ends 34 s after the arrival, 24 s after the first fair one.
    assert_eq!(found(&spec(24, &[])), Some(10.0));
    assert_eq!(found(&spec(25, &[])), None, "nobody saw them hold it for so long");
}

#[test]
fn what_does_not_last_does_not_count() {
    // Fair for 12 s, then not for 10 s, then to the end.
    let old = ledger(steps(&[(12, 200), (10, 350), (30, 200)]));
    let new = ledger(steps(&[(12, 200), (10, 50), (30, 200)]));
    let flows = [("old", 0, 52, &old), ("new", 0, 52, &new)];
    let found = |hold| judge(&spec(hold, &[]), 0, &flows).unwrap().0.convergence_s;
    // A window may hold two of the unfair seconds: 1,700 of 4,000. So those ending after 10 to 14 s are fair, and,
    // when only two are left in it, those from 30 s on.
    assert_eq!(found(4), Some(10.0));
    assert_eq!(found(5), Some(30.0));
}

#[test]
fn any_number_of_flows_shares_in_equal_parts() {
    let ledgers = [90, 100, 110].map(|bytes| ledger(steps(&[(30, bytes)])));
    let flows = [("a", 0, 30, &ledgers[0]), ("b", 0, 30, &ledgers[1]), ("c", 0, 30, &ledgers[2])];
    let (summary, jain) = judge(&spec(5, &["a", "b"]), 0, &flows).unwrap();
    assert_eq!(summary.convergence_s, Some(10.0));
    assert_eq!(summary.flows[2].share, Some(110.0 / 300.0));
    // Over the mean of both references.
    assert_eq!(summary.friendliness_ratio, Some(880.0 / 760.0));
    assert!((jain.unwrap() - 90_000.0 / (3.0 * 30_200.0)).abs() < 1e-12);
}

#[test]
fn without_a_time_in_common_nothing_is_known() {
    let old = ledger(steps(&[(10, 200)]));
    let new = ledger(steps(&[(12, 0), (10, 200)]));
    let flows = [("old", 0, 10, &old), ("new", 12, 22, &new)];
    let (summary, jain) = judge(&spec(5, &["old"]), 0, &flows).unwrap();
    assert_eq!((summary.from_s, summary.to_s, jain), (None, None, None));
    assert_eq!((summary.friendliness_ratio, summary.convergence_s), (None, None));
    assert_eq!(summary.flows[0].goodput_bps, None);
    assert!(judge(&spec(5, &[]), 0, &flows[..1]).is_none(), "one flow competes with nobody");
}

#[test]
fn silence_is_not_fair() {
    let [old, new] = [ledger(steps(&[(30, 0)])), ledger(steps(&[(30, 0)]))];
    let flows = [("old", 0, 30, &old), ("new", 0, 30, &new)];
    let (summary, jain) = judge(&spec(5, &["old"]), 0, &flows).unwrap();
    assert_eq!((summary.convergence_s, jain), (None, None));
    assert_eq!((summary.flows[0].goodput_bps, summary.flows[0].share), (Some(0.0), None));
    assert_eq!(summary.friendliness_ratio, None);
}

#[test]
fn the_default_is_what_an_empty_table_says() {
    let read = CompetitionSpec::read(&Value::Table(Table::new()), &At::ROOT).unwrap();
    assert_eq!(read, CompetitionSpec::default());
}
