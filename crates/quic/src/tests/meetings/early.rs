//! Meetings of ends that have met before: the client, of either stack, has a ticket, and sends 0-RTT data.

use super::plan::{Ending, Plan, Trouble};
use super::play::Play;
use super::tally::Tally;
use super::{NOQ, OWN};
use crate::crypto::Sessions;

/// Meetings of one kind.
#[derive(Debug, Default)]
struct Meetings {
    /// Those whose handshake was completed, and in how many of them 0-RTT data was accepted.
    complete: u64,
    accepted: u64,
    /// Those in which the client sent 0-RTT data.
    early: u64,
}

/// Holds meetings that leave a ticket, and then those that the seeds say.
fn meet_again(own_is_client: bool, accepts: bool) -> Meetings {
    let mut meetings = Meetings::default();
    for seed in 0..60 {
        let mut tally = Tally::default();
        if let Some(accepted) = meet(seed, own_is_client, accepts, &mut tally) {
            meetings.complete += 1;
            meetings.accepted += u64::from(accepted);
        }
        meetings.early += u64::from(tally.early.iter().any(|sent| *sent > 0));
    }
    assert!(meetings.complete > 40 && meetings.early > 40, "{meetings:?}");
    meetings
}

/// Returns whether 0-RTT data was accepted, if the handshake was completed. The applications check that all bytes arrive.
fn meet(seed: u64, own_is_client: bool, accepts: bool, tally: &mut Tally) -> Option<bool> {
    let mut plan = Plan::draw(seed, true);
    plan.own_is_client = own_is_client;
    // See `Plan::draw`.
    plan.retry &= own_is_client || plan.trouble[OWN].damaged == 0;
    if plan.retry && !own_is_client {
        // After a Retry, noq-proto 1.4.0 sends the end of a stream without bytes no second time.
        for [way, _] in plan.ends[NOQ].opens.iter_mut().flatten() {
            way.bytes = way.bytes.max(1);
        }
    }
    let sessions = Sessions::new(true);
    plan.sessions = [Some(sessions.clone()), Some(sessions.clone())];
    let mut first = plan.clone();
    (first.trouble, first.ending) = ([Trouble::default(); 2], Ending::Idle);
    for end in &mut first.ends {
        end.opens = [Vec::new(), Vec::new()];
        (end.key_updates, end.datagrams) = (Vec::new(), Vec::new());
    }
    let before = Play::new(first).hold(&mut Tally::default());
    assert_eq!(before, Some(false), "seed {seed}: there was no ticket yet");
    let server = if own_is_client { NOQ } else { OWN };
    plan.sessions[server] = Some(sessions.with_early(accepts));
    Play::new(plan).hold(tally)
}

#[test]
fn noq_accepts_our_early_data() {
    let meetings = meet_again(true, true);
    assert_eq!(meetings.accepted, meetings.complete);
}

#[test]
fn noq_rejects_our_early_data() {
    assert_eq!(meet_again(true, false).accepted, 0);
}

#[test]
fn we_accept_early_data_of_noq() {
    let meetings = meet_again(false, true);
    assert_eq!(meetings.accepted, meetings.complete);
}

#[test]
fn we_reject_early_data_of_noq() {
    assert_eq!(meet_again(false, false).accepted, 0);
}
