use super::*;
use crate::topology::Foreseen;

fn at(millis: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_millis(millis)
}

fn config(links: &[usize], trigger: Trigger, transition: Transition) -> HandoverConfig {
    HandoverConfig {
        node: NodeId::from(0),
        links: links.iter().map(|link| LinkId::from(*link)).collect(),
        trigger,
        transition,
        left: LeftPackets::Deliver,
    }
}

fn times(millis: &[u64]) -> Trigger {
    Trigger::At(millis.iter().copied().map(at).collect())
}

/// Lists the changes up to a time: `+1` active, `~1` standby, `-1` detached, `[0>1` begins, `0>1]` ends, `0>1/` is cut.
fn changes(handover: &mut Handover, until: u64) -> String {
    let mut seen = Vec::new();
    while let Some(due) = handover.next_change().filter(|due| *due <= at(until)) {
        let mut changes = Vec::new();
        while handover.next_change() == Some(due) {
            handover.advance(due, &mut changes);
        }
        let words = changes.iter().map(|change| match change {
            Change::Attach { link, attachment, .. } => {
                let sign = match attachment {
                    Attachment::Active => '+',
                    Attachment::Standby => '~',
                    Attachment::Detached => '-',
                };
                format!("{sign}{}", link.index())
            }
            Change::Handover(HandoverStage { from, to, stage: Stage::Begin, .. }) => {
                format!("[{}>{}", from.link().index(), to.link().index())
            }
            Change::Handover(HandoverStage { from, to, stage, .. }) => {
                let sign = if *stage == Stage::Cut { '/' } else { ']' };
                format!("{}>{}{sign}", from.link().index(), to.link().index())
            }
            _ => unreachable!("links only move"),
        });
        let words: Vec<_> = words.collect();
        seen.push(format!("{}: {}", due.as_nanos() / 1_000_000, words.join(" ")));
    }
    seen.join(", ")
}

#[test]
fn links_take_turns() {
    let hard = Transition::BreakBeforeMake(SimDuration::ZERO);
    let mut handover = Handover::new(config(&[0, 1, 2], times(&[5, 6, 7]), hard));
    assert_eq!(
        changes(&mut handover, 100),
        "0: -1 -2, 5: [0>1 -0 +1 0>1], 6: [1>2 -1 +2 1>2], 7: [2>0 -2 +0 2>0]"
    );
    assert_eq!(handover.next_change(), None);
}

#[test]
fn an_outage_lies_between_and_an_overlap_over_both() {
    let trigger = times(&[5]);
    let outage = Transition::BreakBeforeMake(SimDuration::from_millis(3));
    let mut handover = Handover::new(config(&[0, 1], trigger.clone(), outage));
    assert_eq!(changes(&mut handover, 100), "0: -1, 5: [0>1 -0, 8: +1 0>1]");
    let overlap = Transition::MakeBeforeBreak(SimDuration::from_millis(3));
    let mut handover = Handover::new(config(&[0, 1], trigger, overlap));
    assert_eq!(changes(&mut handover, 100), "0: -1, 5: [0>1 ~0 +1, 8: -0 0>1]");
}

#[test]
fn a_handover_ends_the_one_under_way() {
    let outage = Transition::BreakBeforeMake(SimDuration::from_millis(3));
    let mut handover = Handover::new(config(&[0, 1], times(&[5, 6]), outage));
    assert_eq!(changes(&mut handover, 100), "0: -1, 5: [0>1 -0, 6: +1 0>1/ [1>0 -1, 9: +0 1>0]");
}

#[test]
fn a_link_that_is_down_for_long_is_left() {
    let back = Some(SimDuration::from_millis(20));
    let trigger = Trigger::Down { after: SimDuration::from_millis(5), back };
    let hard = Transition::BreakBeforeMake(SimDuration::ZERO);
    let mut handover = Handover::new(config(&[0, 1], trigger, hard));
    assert_eq!(changes(&mut handover, 9), "0: -1");
    assert!(handover.on_channel(at(10), 0.into(), false));
    assert!(handover.on_channel(at(14), 0.into(), true));
    assert_eq!(changes(&mut handover, 29), "", "a short one goes unnoticed");
    handover.on_channel(at(30), 0.into(), false);
    assert_eq!(changes(&mut handover, 39), "35: [0>1 -0 +1 0>1]");
    handover.on_channel(at(40), 0.into(), true);
    handover.on_channel(at(50), 1.into(), false);
    handover.on_channel(at(52), 1.into(), true);
    assert_eq!(changes(&mut handover, 100), "60: [1>0 -1 +0 1>0]");
}

fn down(after: u64, back: Option<u64>, outage: u64) -> (Trigger, Transition) {
    let millis = SimDuration::from_millis;
    let trigger = Trigger::Down { after: millis(after), back: back.map(millis) };
    (trigger, Transition::BreakBeforeMake(millis(outage)))
}

/// While all links are down, the node stays where it is: it would go round and round at one instant.
#[test]
fn a_node_stays_while_no_other_link_is_up() {
    let (trigger, hard) = down(50, None, 0);
    let mut handover = Handover::new(config(&[0, 1], trigger, hard));
    handover.on_channel(at(1_000), 0.into(), false);
    assert_eq!(changes(&mut handover, 1_999), "0: -1, 1050: [0>1 -0 +1 0>1]");
    handover.on_channel(at(2_000), 1.into(), false);
    assert_eq!(changes(&mut handover, 3_999), "");
    handover.on_channel(at(4_000), 0.into(), true);
    assert_eq!(changes(&mut handover, 4_000), "4000: [1>0 -1 +0 1>0]");
    handover.on_channel(at(4_000), 1.into(), true);
    assert_eq!(changes(&mut handover, 9_999), "");
}

/// The time without a link does not count, nor the time that the link was down before the node came.
#[test]
fn a_link_counts_as_down_from_the_arrival_on() {
    let (trigger, outage) = down(50, None, 10);
    let mut handover = Handover::new(config(&[0, 1, 2], trigger, outage));
    handover.on_channel(at(100), 0.into(), false);
    assert_eq!(changes(&mut handover, 155), "0: -1 -2, 150: [0>1 -0");
    handover.on_channel(at(156), 1.into(), false);
    assert_eq!(changes(&mut handover, 999), "160: +1 0>1], 210: [1>2 -1, 220: +2 1>2]");
}

/// The next link in order that is up is used, and the first as soon as it has been up for so long.
#[test]
fn links_that_are_down_are_passed_over() {
    let (trigger, hard) = down(5, Some(20), 0);
    let mut handover = Handover::new(config(&[0, 1, 2], trigger, hard));
    handover.on_channel(at(9), 1.into(), false);
    handover.on_channel(at(10), 0.into(), false);
    assert_eq!(changes(&mut handover, 15), "0: -1 -2, 15: [0>2 -0 +2 0>2]");
    handover.on_channel(at(20), 0.into(), true);
    handover.on_channel(at(38), 2.into(), false);
    handover.on_channel(at(39), 1.into(), true);
    assert_eq!(changes(&mut handover, 99), "40: [2>0 -2 +0 2>0]");
}

proptest::proptest! {
    /// However channels come and go, there are no more handovers than changes of them, even with no time between.
    #[test]
    fn handovers_are_no_more_than_changes_of_channels(
        steps in proptest::collection::vec((0u64..3, 0usize..3, proptest::bool::ANY), 0..60),
        after in 0u64..3,
        back in proptest::option::of(0u64..3),
        outage in 0u64..3,
    ) {
        let (trigger, transition) = down(after, back, outage);
        let mut handover = Handover::new(config(&[0, 1, 0, 2], trigger, transition));
        let (mut now, mut seen) = (0, String::new());
        for (wait, link, up) in &steps {
            seen += &changes(&mut handover, now);
            now += wait;
            seen += &changes(&mut handover, now);
            handover.on_channel(at(now), (*link).into(), *up);
        }
        seen += &changes(&mut handover, now + 1_000);
        proptest::prop_assert!(seen.matches('[').count() <= steps.len(), "{seen}");
        proptest::prop_assert_eq!(handover.next_change(), None);
    }
}

/// The foreseen changes are those that happen, at the same instants.
#[test]
fn a_timetable_is_known_ahead() {
    let outage = Transition::BreakBeforeMake(SimDuration::from_millis(1));
    let plain = || Handover::new(config(&[0, 1], times(&[5, 8, 20]), outage));
    let mut foreseen = Foreseen::new(Box::new(plain()));
    let mut known = Vec::new();
    foreseen.foresee(at(10), &mut |at, change| known.push((at, change.clone())));
    let (mut happened, mut plain) = (Vec::new(), plain());
    while let Some(due) = plain.next_change() {
        assert_eq!(foreseen.next_change(), Some(due));
        let mut changes = [Vec::new(), Vec::new()];
        plain.advance(due, &mut changes[0]);
        foreseen.advance(due, &mut changes[1]);
        assert_eq!(changes[0], changes[1]);
        happened.extend(changes[0].iter().map(|change| (due, change.clone())));
    }
    assert_eq!(foreseen.next_change(), None);
    assert!(!known.is_empty() && known.len() < happened.len());
    assert_eq!(known, happened[..known.len()]);
    assert!(known.iter().all(|(due, _)| *due <= at(10)));
}
