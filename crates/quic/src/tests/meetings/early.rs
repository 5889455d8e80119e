//! Meetings of ends that have met before: the client, of either stack, has a ticket, and sends 0-RTT data.

use leobench_base::SimDuration;

use super::plan::{Ending, Plan, Trouble};
use super::play::Play;
use super::tally::Tally;
use super::{NOQ, OWN};
use crate::crypto::Sessions;

/// Holds a meeting that leaves a ticket, and then the one that the seed says. Returns whether 0-RTT data was accepted, if the
/// handshake was completed.
fn meet_again(seed: u64, own_is_client: bool, accepts: bool) -> Option<bool> {
    let mut plan = Plan::draw(seed, true);
    plan.own_is_client = own_is_client;
    // See `Plan::draw`.
    plan.retry &= own_is_client || plan.trouble[OWN].damaged == 0;
    let sessions = Sessions::new(true);
    plan.sessions = [Some(sessions.clone()), Some(sessions.clone())];
    let mut first = plan.clone();
    (first.trouble, first.ending) = ([Trouble::default(); 2], Ending::Idle);
    for end in &mut first.ends {
        end.idle = Some(SimDuration::from_secs(2));
        end.opens = [Vec::new(), Vec::new()];
        (end.key_updates, end.datagrams) = (Vec::new(), Vec::new());
    }
    let before = Play::new(first).hold(&mut Tally::default());
    assert_eq!(before, Some(false), "seed {seed}: there was no ticket yet");
    let server = if own_is_client { NOQ } else { OWN };
    plan.sessions[server] = Some(sessions.with_early(accepts));
    Play::new(plan).hold(&mut Tally::default())
}

#[test]
fn noq_accepts_our_early_data() {
    let accepted: Vec<_> = (0..40).filter_map(|seed| meet_again(seed, true, true)).collect();
    assert!(accepted.len() > 25 && accepted.iter().all(|accepted| *accepted), "{accepted:?}");
}

/// All bytes arrive nevertheless, which the applications check.
#[test]
fn noq_rejects_our_early_data() {
    let accepted: Vec<_> = (0..40).filter_map(|seed| meet_again(seed, true, false)).collect();
    assert!(accepted.len() > 25 && !accepted.iter().any(|accepted| *accepted), "{accepted:?}");
}

#[test]
fn we_accept_early_data_of_noq() {
    let accepted: Vec<_> = (0..40).filter_map(|seed| meet_again(seed, false, true)).collect();
    assert!(accepted.len() > 25 && accepted.iter().all(|accepted| *accepted), "{accepted:?}");
}
