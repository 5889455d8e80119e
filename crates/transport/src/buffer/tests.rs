use proptest::prelude::*;

use super::*;

fn ns(nanos: u64) -> SimTime {
    SimTime::from_nanos(nanos)
}

#[test]
fn messages_wait_in_order_and_age() {
    let mut buffer = SendBuffer::new(&[Attributes::default(); 2]);
    let [first, second] = [0, 1].map(StreamIndex::from);
    buffer.push(second, Message { size: Bytes::new(10), created: ns(5) });
    buffer.push(second, Message { size: Bytes::new(20), created: ns(8) });
    buffer.take(second, 4);
    let stream = &buffer.streams()[second];
    assert_eq!((stream.backlog(), stream.taken(), stream.messages()), (26, 4, 2));
    assert_eq!(stream.head_age(ns(20)), SimDuration::from_nanos(15));
    assert_eq!(stream.sojourn_sum(ns(20)), 15 + 12);
    buffer.take(second, 6);
    let stream = &buffer.streams()[second];
    assert_eq!((stream.messages(), stream.head_created()), (1, Some(ns(8))));
    assert_eq!(stream.sojourn_sum(ns(20)), 12);
    assert_eq!(buffer.streams()[first].head_age(ns(20)), SimDuration::ZERO);
}

proptest! {
    /// Against the same with plain lists, everything counted anew each time.
    #[test]
    fn the_running_sums_are_right(
        streams in 1usize..150,
        operations in prop::collection::vec((0usize..150, 1u64..100, any::<bool>()), 1..80),
        from in 0usize..151,
    ) {
        let mut buffer = SendBuffer::new(&vec![Attributes::default(); streams]);
        let mut plain = vec![VecDeque::<(u64, u64)>::new(); streams];
        let mut taken = vec![0; streams];
        for (now, (stream, bytes, push)) in (1u64..).zip(operations) {
            let stream = stream % streams;
            if push {
                buffer.push(stream.into(), Message { size: Bytes::new(bytes), created: ns(now) });
                plain[stream].push_back((bytes, now));
            } else {
                let waiting = plain[stream].iter().map(|(left, _)| left).sum::<u64>();
                let mut rest = bytes.min(waiting);
                buffer.take(stream.into(), rest);
                taken[stream] += rest;
                while rest > 0 {
                    let head = plain[stream].front_mut().unwrap();
                    let part = rest.min(head.0);
                    (head.0, rest) = (head.0 - part, rest - part);
                    if head.0 == 0 {
                        plain[stream].pop_front();
                    }
                }
            }
        }
        let now = 1_000;
        let backlog = |stream: usize| plain[stream].iter().map(|(left, _)| left).sum::<u64>();
        for (stream, kept) in buffer.streams().iter().enumerate() {
            prop_assert_eq!((kept.backlog(), kept.taken()), (backlog(stream), taken[stream]));
            prop_assert_eq!(kept.messages(), plain[stream].len());
            let sojourns = plain[stream].iter().map(|(_, created)| u128::from(now - created)).sum();
            prop_assert_eq!(kept.sojourn_sum(ns(now)), sojourns);
            prop_assert_eq!(kept.head_created(), plain[stream].front().map(|(_, at)| ns(*at)));
        }
        prop_assert_eq!(buffer.backlog(), (0..streams).map(backlog).sum::<u64>());
        prop_assert_eq!(buffer.taken(), taken.iter().sum::<u64>());
        let occupied: Vec<_> = (0..streams).filter(|stream| backlog(*stream) > 0).collect();
        let from = from.min(streams);
        let next = occupied.iter().find(|stream| **stream >= from).or(occupied.first());
        prop_assert_eq!(buffer.next_occupied(from.into()), next.copied().map(StreamIndex::from));
        let only = if let [only] = occupied[..] { Some(only.into()) } else { None };
        prop_assert_eq!(buffer.only_occupied(), only);
    }
}
