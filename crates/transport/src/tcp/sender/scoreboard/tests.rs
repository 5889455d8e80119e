//! Compares the scoreboard with a plain list of segments.

use leobench_base::SimDuration;
use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Push(u64),
    Repeat(usize),
    Lose(usize),
    LoseOverdue(usize),
    Sack(usize, usize),
    Acknowledge(usize),
    JudgeAgain,
    Restore,
    Renege,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1u64..9).prop_map(Step::Push),
        2 => (0usize..20).prop_map(Step::Repeat),
        2 => (0usize..20).prop_map(Step::Lose),
        2 => (0usize..20).prop_map(Step::LoseOverdue),
        3 => (0usize..20, 1usize..5).prop_map(|(from, count)| Step::Sack(from, count)),
        2 => (0usize..6).prop_map(Step::Acknowledge),
        1 => Just(Step::JudgeAgain),
        1 => Just(Step::Restore),
        1 => Just(Step::Renege),
    ]
}

/// Compares all state of the board that the list contains.
fn check(board: &mut Scoreboard, list: &[Sent], gone: usize) {
    let flying: Vec<_> = list[gone..].iter().filter(|sent| sent.fate == Fate::Flying).collect();
    assert_eq!(board.flying(), flying.iter().map(|sent| sent.size()).sum::<u64>());
    let retransmitted = flying.iter().any(|sent| sent.retransmitted);
    assert_eq!(board.has_retransmissions(), retransmitted);
    assert_eq!(board.len(), list.len() - gone);
    let sacked = list[gone..].iter().filter(|sent| sent.fate == Fate::Sacked).count();
    assert_eq!(board.sacked_segments(), sacked as u64);
    let first = list.iter().skip(gone).position(|sent| sent.fate == Fate::Lost);
    assert_eq!(board.first_lost(), first.map(|index| (gone + index) as u64));
    let judged = flying.iter().filter(|sent| !sent.overdue);
    let oldest = judged.min_by_key(|sent| sent.transmission).map(|sent| sent.start);
    let found = board.oldest_flying();
    assert_eq!(found.map(|number| board.get(number).start), oldest);
}

proptest! {
    #[test]
    fn a_board_is_a_list(steps in prop::collection::vec(any_step(), 1..120)) {
        let (mut board, mut list, mut gone) = (Scoreboard::default(), Vec::<Sent>::new(), 0);
        let (mut now, mut stamp, mut reported) = (SimTime::ZERO, 0, None);
        for step in steps {
            now += SimDuration::from_millis(1);
            let mut delivered = Delivered::new();
            let mut expected = Vec::new();
            let pick = |index: usize, list: &Vec<Sent>| {
                (gone < list.len()).then(|| gone + index % (list.len() - gone))
            };
            match step {
                Step::Push(size) => {
                    let start = list.last().map_or(0, |sent| sent.end);
                    prop_assert_eq!(board.push(now, start, start + size), stamp);
                    let fate = Fate::Flying;
                    let (end, retransmitted) = (start + size, false);
                    list.push(Sent {
                        start,
                        end,
                        at: now,
                        transmission: stamp,
                        fate,
                        retransmitted,
                        overdue: false,
                    });
                    stamp += 1;
                }
                Step::Repeat(index) => {
                    let Some(index) = pick(index, &list) else { continue };
                    if list[index].fate == Fate::Sacked {
                        continue;
                    }
                    prop_assert_eq!(board.note_retransmission(now, index as u64), stamp);
                    let fate = Fate::Flying;
                    list[index] = Sent {
                        at: now,
                        transmission: stamp,
                        fate,
                        retransmitted: true,
                        overdue: false,
                        ..list[index]
                    };
                    stamp += 1;
                }
                Step::Lose(index) => {
                    let Some(index) = pick(index, &list) else { continue };
                    board.lose(index as u64);
                    if list[index].fate == Fate::Flying {
                        list[index].fate = Fate::Lost;
                    }
                }
                Step::LoseOverdue(index) => {
                    let Some(index) = pick(index, &list) else { continue };
                    board.lose_overdue(index as u64);
                    list[index].overdue = true;
                    if list[index].fate == Fate::Flying {
                        list[index].fate = Fate::Lost;
                    }
                }
                Step::JudgeAgain => {
                    board.judge_again();
                    list.iter_mut().filter(|s| s.fate == Fate::Lost).for_each(|s| s.overdue = false);
                }
                Step::Sack(index, count) => {
                    let Some(index) = pick(index, &list) else { continue };
                    let last = (index + count - 1).min(list.len() - 1);
                    // A byte more on either side may belong to segments that are not whole in the block.
                    let sent_to = list[list.len() - 1].end;
                    let block = (list[index].start.saturating_sub(1), (list[last].end + 1).min(sent_to));
                    // The receiver reports the block before once more.
                    let mut blocks = vec![block];
                    blocks.extend(reported.replace(block).filter(|other| *other != block));
                    blocks.sort_unstable();
                    board.sack_all(&blocks, &mut delivered);
                    for (start, end) in blocks {
                        for sent in &mut list[gone..] {
                            let whole = start <= sent.start && sent.end <= end;
                            if whole && sent.fate != Fate::Sacked {
                                expected.push(sent.start);
                                sent.fate = Fate::Sacked;
                            }
                        }
                    }
                }
                Step::Acknowledge(count) => {
                    let to = (gone + count).min(list.len());
                    let Some(last) = to.checked_sub(1).map(|last| list[last].end) else { continue };
                    board.acknowledge(last, &mut delivered);
                    expected.extend(list[gone..to].iter().filter(|s| s.fate != Fate::Sacked).map(|s| s.start));
                    gone = to;
                }
                Step::Restore => {
                    board.restore_lost();
                    list.iter_mut().filter(|s| s.fate == Fate::Lost).for_each(|s| s.fate = Fate::Flying);
                }
                Step::Renege => {
                    board.renege();
                    list.iter_mut().filter(|s| s.fate == Fate::Sacked).for_each(|s| s.fate = Fate::Lost);
                }
            }
            let starts: Vec<_> = delivered.iter().map(|sent| sent.start).collect();
            prop_assert_eq!(starts, expected);
            check(&mut board, &list, gone);
        }
    }
}
