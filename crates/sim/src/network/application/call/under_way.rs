//! Packets of a call, or messages of its receiving end, that have been sent and not yet arrived.

use std::collections::VecDeque;

use leobench_base::{SimDuration, SimTime, StreamIndex};
use leobench_transport::endpoint::Report;
use typed_index_collections::TiVec;

/// An item that has not arrived after this time is lost.
const LONGEST_WAY: SimDuration = SimDuration::from_secs(60);

/// A message of the flow: stream and number.
type Name = (StreamIndex, u64);

/// Items under way from one end, by number.
pub(super) struct UnderWay<T> {
    first: u64,
    items: VecDeque<(SimTime, Option<T>)>,
    /// By stream of the flow, messages without a stream of their own so far, with the numbers of their items.
    unopened: TiVec<StreamIndex, VecDeque<(u64, u64)>>,
    /// Number of the first in `opened`.
    first_opened: u64,
    /// By number of a message's own stream, the number of its item and the bytes that have not arrived.
    opened: VecDeque<(u64, u64)>,
}

impl<T> UnderWay<T> {
    /// Nothing, on so many streams of the flow.
    pub(super) fn new(streams: usize) -> Self {
        Self {
            first: 0,
            items: VecDeque::new(),
            unopened: TiVec::from(vec![VecDeque::new(); streams]),
            first_opened: 0,
            opened: VecDeque::new(),
        }
    }

    /// Adds an item. Returns its number.
    pub(super) fn push(&mut self, now: SimTime, item: T) -> u64 {
        let is_old =
            |(sent, _): &mut (SimTime, Option<T>)| now.saturating_since(*sent) > LONGEST_WAY;
        while self.items.pop_front_if(is_old).is_some() {
            self.first += 1;
        }
        self.items.push_back((now, Some(item)));
        self.first + self.items.len() as u64 - 1
    }

    /// Takes the item that arrived by this report, if one did.
    pub(super) fn arrived(&mut self, report: Report) -> Option<T> {
        match report {
            Report::Datagram { datagram, .. } => self.take(datagram.id),
            Report::Part { number, bytes } => self.on_part(number, bytes),
            _ => None,
        }
    }

    fn take(&mut self, number: u64) -> Option<T> {
        let place = number.checked_sub(self.first)? as usize;
        self.items.get_mut(place)?.1.take()
    }

    /// Adds an item that travels as a message in a stream of its own.
    pub(super) fn push_message(&mut self, now: SimTime, (stream, message): Name, item: T) {
        let number = self.push(now, item);
        self.unopened[stream].push_back((message, number));
    }

    /// A message of `bytes` gets the stream of a number.
    pub(super) fn on_opened(
        &mut self,
        (stream, message): Name,
        own: u64,
        bytes: impl Fn(&T) -> u64,
    ) {
        let next = self.first_opened + self.opened.len() as u64;
        assert_eq!(own, next, "streams are opened in order");
        // Those before it were cancelled.
        let unopened = &mut self.unopened[stream];
        while unopened.pop_front_if(|(number, _)| *number < message).is_some() {}
        let item = unopened.pop_front().map_or(u64::MAX, |(_, item)| item);
        let place = item.checked_sub(self.first);
        let known = place.and_then(|place| self.items.get(place as usize)?.1.as_ref());
        self.opened.push_back((item, known.map_or(0, bytes)));
    }

    /// Bytes arrived in a message's own stream. Returns its item if it is complete.
    fn on_part(&mut self, own: u64, bytes: u64) -> Option<T> {
        let place = own.checked_sub(self.first_opened)? as usize;
        let (item, left) = self.opened.get_mut(place)?;
        *left = left.saturating_sub(bytes);
        let arrived = (*left == 0).then_some(*item);
        let taken = arrived.and_then(|item| self.take(item));
        let Self { first, items, first_opened, opened, .. } = self;
        let is_waited_for = |item: u64| {
            let place = item.checked_sub(*first).map(|place| place as usize);
            place.and_then(|place| items.get(place)).is_some_and(|(_, item)| item.is_some())
        };
        while opened.pop_front_if(|(item, _)| !is_waited_for(*item)).is_some() {
            *first_opened += 1;
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SimTime {
        SimTime::ZERO + SimDuration::from_secs(seconds)
    }

    #[test]
    fn datagrams_arrive_once_and_not_after_a_minute() {
        let mut under_way = UnderWay::new(1);
        let [first, second] = ["first", "second"].map(|item| under_way.push(at(0), item));
        assert_eq!([second, second].map(|it| under_way.take(it)), [Some("second"), None]);
        under_way.push(at(61), "third");
        assert_eq!(under_way.take(first), None);
    }

    /// Two streams of the flow. The second message of the first stream is cancelled before it has a stream of its own.
    #[test]
    fn messages_arrive_with_their_last_byte() {
        let mut under_way = UnderWay::new(2);
        for (stream, message, bytes) in [(0, 0, 5), (0, 1, 6), (0, 2, 7), (1, 0, 8)] {
            under_way.push_message(at(0), (stream.into(), message), bytes);
        }
        for (own, stream, message) in [(0, 1, 0), (1, 0, 0), (2, 0, 2)] {
            under_way.on_opened((stream.into(), message), own, |bytes| *bytes);
        }
        assert_eq!(under_way.on_part(1, 4), None);
        assert_eq!(under_way.on_part(2, 7), Some(7));
        assert_eq!(under_way.on_part(1, 1), Some(5));
        assert_eq!(under_way.on_part(0, 8), Some(8));
        assert_eq!((under_way.opened.len(), under_way.first_opened), (0, 3));
    }

    /// A message that nothing arrives of any more does not keep those behind it.
    #[test]
    fn messages_that_never_arrive_are_forgotten() {
        let mut under_way = UnderWay::new(1);
        for message in 0..3 {
            under_way.push_message(at(60 * message), (0.into(), message), 1);
            under_way.on_opened((0.into(), message), message, |bytes| *bytes);
        }
        assert_eq!(under_way.on_part(2, 1), Some(1));
        assert_eq!(under_way.on_part(0, 1), None);
        assert_eq!(under_way.opened.len(), 2, "the second is a minute old, and may still arrive");
    }
}
