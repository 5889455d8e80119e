use proptest::prelude::*;

use super::*;

fn tournament(streams: usize) -> Tournament {
    Tournament::new(streams, &RngTree::new(7))
}

fn ns(nanos: u64) -> SimTime {
    SimTime::from_nanos(nanos)
}

#[derive(Clone, Debug)]
enum Operation {
    Set(usize, Option<(u64, i64)>),
    Ask(u64),
}

fn any_operation() -> impl Strategy<Value = Operation> {
    // Few different slopes and offsets, so that keys cross often.
    let key = prop::option::weighted(0.8, (0u64..4, -20i64..20));
    prop_oneof![
        (0usize..40, key).prop_map(|(stream, key)| Operation::Set(stream, key)),
        (0u64..6).prop_map(Operation::Ask),
    ]
}

proptest! {
    #[test]
    fn the_winner_has_the_largest_key(
        streams in 1usize..40,
        operations in prop::collection::vec(any_operation(), 1..200),
    ) {
        let mut tournament = tournament(streams);
        let mut keys = ti_vec![None; streams];
        let mut now = 0;
        for operation in operations {
            match operation {
                Operation::Set(stream, key) => {
                    let key = key.map(|(slope, offset)| Key { slope, offset: offset.into() });
                    let stream = StreamIndex::from(stream % streams);
                    keys[stream] = key;
                    tournament.set(stream, key);
                }
                Operation::Ask(later) => {
                    now += later;
                    let value = |key: &Key| i128::from(key.slope) * i128::from(now) + key.offset;
                    let largest = keys.iter().flatten().map(value).max();
                    let winner = tournament.winner(ns(now));
                    let won = winner.map(|winner| value(&keys[winner].unwrap()));
                    prop_assert_eq!(won, largest);
                }
            }
        }
    }
}

#[test]
fn keys_may_be_large() {
    let mut tournament = tournament(2);
    let slope = u64::from(u32::MAX);
    tournament.set(0.into(), Some(Key { slope, offset: i128::from(u64::MAX) << 32 }));
    tournament.set(1.into(), Some(Key { slope: slope + 1, offset: -7 }));
    assert_eq!(tournament.winner(ns(u64::MAX - 1)), Some(0.into()));
    tournament.set(1.into(), Some(Key { slope: slope + (1 << 33), offset: -7 }));
    assert_eq!(tournament.winner(ns(u64::MAX - 1)), Some(1.into()));
}

/// Whether counts of equally probable outcomes stay below the 99.9 % quantile of the chi-square distribution (Wilson
/// and Hilferty 1931, "The distribution of chi-square", PNAS 17).
fn uniform(counts: &[u64]) -> bool {
    let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let deviation = |count: &u64| (*count as f64 - mean) * (*count as f64 - mean) / mean;
    let freedom = counts.len() as f64 - 1.0;
    let ninth = 2.0 / (9.0 * freedom);
    let root = 1.0 - ninth + 3.090 * ninth.sqrt();
    counts.iter().map(deviation).sum::<f64>() < freedom * root * root * root
}

/// Tied streams are spread unevenly over the tree, among others that lose.
fn tied(count: usize) -> (Tournament, Vec<StreamIndex>) {
    let tied: Vec<_> = (0..count).map(|index| index + index / 3 * 2 + 1).collect();
    let streams = tied[count - 1] + 2;
    let mut tournament = tournament(streams);
    for stream in 0..streams {
        let offset = if tied.contains(&stream) { 5 } else { (stream % 4) as i128 };
        tournament.set(stream.into(), Some(Key::constant(offset)));
    }
    (tournament, tied.into_iter().map(StreamIndex::from).collect())
}

#[test]
fn all_that_tie_win_alike() {
    for count in [2, 3, 5, 1_000] {
        let (mut tournament, tied) = tied(count);
        let mut counts = vec![0; count];
        for _ in 0..count * 1_000 {
            let winner = tournament.winner(ns(0)).unwrap();
            counts[tied.binary_search(&winner).unwrap()] += 1;
            // Only the served stream changes, and returns to its old key.
            tournament.rest(winner, true);
            tournament.rest(winner, false);
        }
        assert!(uniform(&counts), "{count} streams: {counts:?}");
    }
}

#[test]
fn a_draw_does_not_depend_on_the_last() {
    let (mut tournament, tied) = tied(5);
    let mut pairs = vec![0; 25];
    let mut last = 0;
    for _ in 0..100_000 {
        let winner = tournament.winner(ns(0)).unwrap();
        tournament.rest(winner, true);
        tournament.rest(winner, false);
        let winner = tied.binary_search(&winner).unwrap();
        pairs[last * 5 + winner] += 1;
        last = winner;
    }
    assert!(uniform(&pairs), "{pairs:?}");
}

#[test]
fn streams_served_once_each_come_in_every_order_alike() {
    let (mut tournament, tied) = tied(4);
    let mut orders = vec![0; 256];
    for _ in 0..100_000 {
        let mut order = 0;
        for _ in 0..4 {
            let winner = tournament.winner(ns(0)).unwrap();
            tournament.set(winner, Some(Key::constant(4)));
            order = order * 4 + tied.binary_search(&winner).unwrap();
        }
        for stream in &tied {
            tournament.set(*stream, Some(Key::constant(5)));
        }
        orders[order] += 1;
    }
    orders.retain(|count| *count > 0);
    assert_eq!(orders.len(), 24);
    assert!(uniform(&orders), "{orders:?}");
}

#[test]
fn keys_that_meet_at_an_instant_tie_then() {
    let mut counts = ti_vec![0; 3];
    let mut tournament = tournament(3);
    for start in (0..30_000).map(|round| 100 * round) {
        // At start + 10 all three are at 20; before it the first leads, after it the last.
        for (stream, slope) in [0u64, 1, 2].into_iter().enumerate() {
            let offset = 20 - i128::from(slope) * i128::from(start + 10);
            tournament.set(stream.into(), Some(Key { slope, offset }));
        }
        assert_eq!(tournament.winner(ns(start + 9)), Some(0.into()));
        counts[tournament.winner(ns(start + 10)).unwrap()] += 1;
        assert_eq!(tournament.winner(ns(start + 11)), Some(2.into()));
    }
    assert!(uniform(&counts.raw), "{counts:?}");
}
