//! Connection IDs of both ends.

use leobench_base::RngTree;

use super::*;

fn new(sequence: u64, retire_prior_to: u64) -> NewConnectionId {
    let id = ConnectionId::new(&[sequence as u8; 8]).unwrap();
    NewConnectionId { sequence, retire_prior_to, id, token: ResetToken([sequence as u8; 16]) }
}

fn remote() -> RemoteIds {
    RemoteIds::new(new(0, 0).id)
}

#[test]
fn the_peer_may_demand_that_ids_are_retired() {
    let mut ids = remote();
    ids.on_new(&new(1, 0)).unwrap();
    ids.on_new(&new(2, 2)).unwrap();
    assert_eq!(ids.current(), new(2, 0).id);
    assert_eq!(
        [ids.retirement(), {
            ids.on_retirement_sent();
            ids.retirement()
        }],
        [Some(1), Some(0)]
    );
    ids.on_retirement_lost(1);
    ids.on_retirement_sent();
    assert_eq!(ids.retirement(), Some(1));
    assert!(ids.is_reset(ResetToken([2; 16])) && !ids.is_reset(ResetToken([1; 16])));
}

#[test]
fn an_id_that_comes_late_is_retired_at_once() {
    let mut ids = remote();
    ids.on_new(&new(3, 2)).unwrap();
    ids.on_retirement_sent();
    ids.on_new(&new(1, 0)).unwrap();
    assert_eq!(ids.retirement(), Some(1));
}

#[test]
fn contradictions_and_excess_are_errors() {
    let mut ids = remote();
    ids.on_new(&new(1, 0)).unwrap();
    let other = NewConnectionId { id: new(9, 0).id, ..new(1, 0) };
    assert!(ids.on_new(&other).is_err());
    for sequence in 2..ACTIVE_LIMIT {
        ids.on_new(&new(sequence, 0)).unwrap();
    }
    assert!(ids.on_new(&new(ACTIVE_LIMIT, 0)).is_err());
}

/// RFC 9000 section 5.1.2.
#[test]
fn so_many_ids_are_retired_at_a_time() {
    let mut ids = remote();
    let most = MOST_RETIRING as u64;
    for sequence in 1..=most {
        ids.on_new(&new(sequence, sequence)).unwrap();
    }
    let error = ids.on_new(&new(most + 1, most + 1)).unwrap_err();
    assert_eq!(error.code, ErrorCode::CONNECTION_ID_LIMIT_ERROR);

    let mut ids = remote();
    for sequence in 1..=4 * most {
        ids.on_new(&new(sequence, sequence)).unwrap();
        let retired = ids.retirement().unwrap();
        ids.on_retirement_sent();
        ids.on_retirement_acked(retired);
        ids.on_retirement_lost(retired);
        assert_eq!(ids.retirement(), None, "it has arrived");
    }
}

/// RFC 9000 sections 5.1 and 10.3.2.
#[test]
fn ids_are_random_and_differ() {
    let (mut known, mut tokens) = (std::collections::BTreeSet::new(), Vec::new());
    for seed in 1..=20 {
        let rng = RngTree::new(seed);
        let first = random_id(&mut rng.child("first").rng());
        let mut ids = LocalIds::new(first, rng.rng(), ResetKey::new(&rng));
        ids.set_limit(5);
        for retired in 0..10 {
            for issued in &ids.issued {
                known.insert(issued.id);
                tokens.push(issued.token.0);
            }
            ids.on_retired(retired, ConnectionId::default()).unwrap();
        }
    }
    tokens.sort_unstable();
    tokens.dedup();
    assert_eq!((known.len(), tokens.len()), (20 * 14, 20 * 14));
    let ones: u32 = tokens.iter().flatten().map(|byte| byte.count_ones()).sum();
    // 280 tokens of 128 bits: half of them are ones, within four standard deviations of sqrt(n) / 2.
    let bits = 280.0 * 128.0;
    assert!((f64::from(ones) - bits / 2.0).abs() < 2.0 * f64::sqrt(bits), "{ones}");
}

/// RFC 9000 section 19.15.
#[test]
fn a_new_id_beside_an_empty_one_is_a_violation() {
    let mut ids = RemoteIds::new(ConnectionId::default());
    let error = ids.on_new(&new(1, 0)).unwrap_err();
    assert_eq!(error.code, ErrorCode::PROTOCOL_VIOLATION);
}

#[test]
fn retired_ids_are_replaced() {
    let rng = RngTree::new(1);
    let mut ids = LocalIds::new(new(0, 0).id, rng.rng(), ResetKey::new(&rng));
    ids.set_limit(3);
    let announced: Vec<u64> = std::iter::from_fn(|| {
        let next = ids.announcement()?;
        ids.on_announced();
        Some(next.sequence)
    })
    .collect();
    assert_eq!(announced, [1, 2]);
    ids.on_lost(2);
    assert_eq!(ids.announcement().unwrap().sequence, 2);
    let used = ids.issued[1].id;
    assert!(ids.on_retired(1, used).is_err(), "its own ID");
    assert!(ids.on_retired(3, used).is_err(), "never issued");
    ids.on_retired(0, used).unwrap();
    ids.on_announced();
    let replacement = ids.announcement().unwrap();
    assert_eq!((replacement.sequence, replacement.retire_prior_to), (3, 0));
}
