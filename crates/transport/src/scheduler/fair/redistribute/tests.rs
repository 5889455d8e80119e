use leobench_base::Bytes;
use proptest::prelude::*;

use super::*;
use crate::buffer::{Attributes, Message};
use crate::scheduler::packet::FrameCosts;

fn account(weight: u64, served: u64) -> Account {
    Account { weight, served, taken: 0, busy_period: 0 }
}

fn part(stream: StreamIndex, weight: u64, backlog: u64) -> Part {
    let (weight, header, open) = (weight.into(), 3, true);
    Part { stream, weight, backlog, header, open, due: 0, rest: 0, bytes: 100 }
}

/// Streams with these weights, bytes served beyond a common level, bytes waiting and bytes taken before.
fn scene(streams: &[(u64, u64, u64, u64)]) -> (Redistribute, SendBuffer) {
    let weights: Vec<_> = streams.iter().map(|(weight, ..)| *weight).collect();
    let mut scheduler = Redistribute::new(&weights);
    let mut buffer = SendBuffer::new(&vec![Attributes::default(); streams.len()]);
    for (number, (weight, ahead, backlog, taken)) in streams.iter().enumerate() {
        let stream = StreamIndex::from(number);
        let size = Bytes::new(taken + backlog);
        buffer.push(stream, Message { size, created: SimTime::ZERO });
        buffer.take(stream, *taken);
        let account = &mut scheduler.accounts[stream];
        (account.served, account.taken) = (10_000 * weight + ahead, *taken);
        let rank = account.rank(stream);
        scheduler.waiting.insert(rank);
    }
    (scheduler, buffer)
}

fn packet(room: u64) -> PacketShares {
    let mut packet = PacketShares::default();
    packet.start(room, FrameCosts::Exact);
    packet
}

#[test]
fn streams_with_enough_waiting_are_the_usual_case() {
    for count in 2..=10 {
        let (mut scheduler, buffer) = scene(&vec![(1, 0, 100_000, 70); count]);
        let mut packet = packet(1_400);
        assert!(scheduler.fill_evenly(&buffer, &mut packet));
        assert_eq!((packet.shares().len(), packet.room()), (count, 0));
    }
}

proptest! {
    #[test]
    fn the_usual_case_is_filled_as_in_general(
        streams in prop::collection::vec((1u64..5, 0u64..300, 900u64..9_000, 0u64..70_000), 1..14),
        room in 60u64..1_500,
    ) {
        let (mut scheduler, buffer) = scene(&streams);
        let (mut even, mut plain) = (packet(room), packet(room));
        if scheduler.fill_evenly(&buffer, &mut even) {
            scheduler.fill_in_rounds(&buffer, &mut plain);
            prop_assert_eq!(even.shares(), plain.shares());
            prop_assert_eq!(even.room(), plain.room());
        } else {
            prop_assert!(even.shares().is_empty() && even.room() == room);
        }
    }

    #[test]
    fn an_even_split_is_the_split(
        streams in prop::collection::vec((1u64..9, 0u64..2_000, 1_000u64..4_000), 1..11),
        common in prop::sample::select(vec![0u64, 1_000_000, (1 << 39) - 2_000, 1 << 39]),
        payload in 1u64..1_500,
    ) {
        let accounts: TiVec<_, _> =
            streams.iter().map(|(weight, ahead, _)| account(*weight, common * weight / 8 + ahead)).collect();
        let parts = streams.iter().enumerate();
        let mut plain: Vec<_> =
            parts.map(|(stream, (weight, _, backlog))| part(stream.into(), *weight, *backlog)).collect();
        let mut even = plain.clone();
        split(&mut plain, &accounts, payload);
        if split_evenly(&mut even, &accounts, payload) {
            let shares = |parts: &[Part]| -> Vec<_> {
                parts.iter().map(|part| (part.stream, part.open, part.bytes)).collect()
            };
            prop_assert_eq!(shares(&even), shares(&plain));
            prop_assert_eq!(even.iter().map(|part| part.bytes).sum::<u64>(), payload);
        } else {
            let is_large = accounts.iter().any(|account| account.served > LARGEST_SERVED);
            let levels = accounts.iter().map(|account| account.served / account.weight);
            let gap = levels.clone().max().unwrap() - levels.min().unwrap();
            let is_short = plain.iter().any(|part| part.backlog <= payload);
            // A stream far above the others is due nothing.
            prop_assert!(is_large || is_short || gap > 0, "{plain:?}");
        }
    }
}
