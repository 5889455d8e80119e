//! Compares every decision with a naive implementation: lists of messages with a full search each time.

use std::collections::VecDeque;

use super::*;

/// A waiting message; `batch` is when the first message of its batch was created.
#[derive(Clone, Copy)]
struct Waiting {
    left: u64,
    created: u64,
    batch: u64,
}

/// The messages of the streams, as lists.
struct Plain {
    attributes: Vec<Attributes>,
    messages: Vec<VecDeque<Waiting>>,
    held: Vec<bool>,
    /// Length of a batch's slot.
    slot: u64,
}

impl Plain {
    fn new(attributes: &[Attributes], slot: u64) -> Self {
        let count = attributes.len();
        let messages = vec![VecDeque::new(); count];
        Self { attributes: attributes.to_vec(), messages, held: vec![false; count], slot }
    }

    fn backlog(&self, stream: usize) -> u64 {
        self.messages[stream].iter().map(|message| message.left).sum()
    }

    fn waiting(&self) -> Vec<usize> {
        let streams = 0..self.messages.len();
        streams.filter(|stream| !self.held[*stream] && self.backlog(*stream) > 0).collect()
    }

    fn push(&mut self, stream: usize, size: u64, created: u64) {
        let last = self.messages[stream].back();
        let batch = last.filter(|last| last.created / self.slot == created / self.slot);
        let batch = batch.map_or(created, |last| last.batch);
        self.messages[stream].push_back(Waiting { left: size, created, batch });
    }

    fn take(&mut self, stream: usize, bytes: u64) {
        for _ in 0..bytes {
            let head = self.messages[stream].front_mut().unwrap();
            head.left -= 1;
            if head.left == 0 {
                self.messages[stream].pop_front();
            }
        }
    }

    /// The key of a most-urgent-first scheduler.
    fn urgency(&self, kind: &str, stream: usize, now: u64) -> i128 {
        let messages = &self.messages[stream];
        let age = i128::from(now - messages[0].created);
        match kind {
            "bp" => self.backlog(stream).into(),
            "max_delay" => age,
            "stbp" => messages.iter().map(|message| i128::from(now - message.created)).sum(),
            "stbp per=batch" => {
                let mut batches: Vec<_> = messages.iter().map(|message| message.batch).collect();
                batches.dedup();
                batches.iter().map(|created| i128::from(now - created)).sum()
            }
            "edf" => match self.attributes[stream].deadline {
                Some(deadline) => age - i128::from(deadline.as_nanos()),
                None => age - i128::from(u64::MAX),
            },
            other => unreachable!("{other}"),
        }
    }
}

/// Runs operations on the scheduler and on the plain lists, and calls `compare` on every packet.
fn follow(
    text: &str,
    streams: usize,
    operations: &[Operation],
    mut compare: impl FnMut(&Plain, SimTime, &SendBuffer, &Packet),
) {
    let attributes = attributes(streams);
    let mut plain = Plain::new(&attributes, 50_000_000);
    let mut text = text.to_owned();
    if text.ends_with("per=batch") {
        plain.slot = 500;
        text.push_str(" slot=0.0000005s");
    }
    let mut harness = Harness::new(&spec(&text), &attributes, 5);
    for operation in operations {
        let packet = harness.follow(operation, |now, buffer, packet| {
            compare(&plain, now, buffer, packet);
        });
        match *operation {
            Operation::Write(stream, size) => {
                plain.push(stream % streams, size, harness.now.as_nanos());
            }
            Operation::Hold(stream, held) => plain.held[stream % streams] = held,
            Operation::Send(_, stop) => {
                for (index, share) in
                    packet.iter().flat_map(|(_, shares)| shares.iter().enumerate())
                {
                    let last =
                        stop && Some(index + 1) == packet.as_ref().map(|packet| packet.1.len());
                    let stream = share.stream.index();
                    plain.take(stream, if last { share.bytes / 2 } else { share.bytes });
                    plain.held[stream] |= last;
                }
            }
            Operation::Wait(_) => {}
        }
        for stream in 0..streams {
            let kept = &harness.streams.buffer().streams()[StreamIndex::from(stream)];
            assert_eq!(kept.backlog(), plain.backlog(stream));
        }
    }
}

/// The packet that results from serving the streams in this order.
fn in_order(order: &[usize], buffer: &SendBuffer, room: u64) -> Vec<Share> {
    let mut packet = PacketShares::default();
    packet.start(room, FrameCosts::Exact);
    for stream in order {
        if packet.give(buffer, (*stream).into(), u64::MAX) == 0 {
            break;
        }
    }
    packet.shares().to_vec()
}

proptest! {
    #[test]
    fn the_most_urgent_goes_first(
        streams in 1usize..40,
        operations in prop::collection::vec(any_operation(), 1..100),
    ) {
        for kind in ["bp", "max_delay", "stbp", "stbp per=batch", "edf"] {
            follow(kind, streams, &operations, |plain, now, buffer, (room, shares)| {
                let urgency = |stream: &usize| plain.urgency(kind, *stream, now.as_nanos());
                let mut waiting = plain.waiting();
                let mut order = Vec::new();
                for share in shares {
                    // Among ties, any choice is valid.
                    let most = waiting.iter().map(urgency).max();
                    assert_eq!(Some(urgency(&share.stream.index())), most, "{kind}: {shares:?}");
                    waiting.retain(|stream| *stream != share.stream.index());
                    order.push(share.stream.index());
                }
                // The next one, whose frame may not fit into the last bytes, is any of those that tie.
                let served = in_order(&order, buffer, *room);
                assert_eq!(shares, &served, "{kind}");
                let left = *room - frames(buffer, *room, shares);
                assert!(waiting.is_empty() || left <= crate::scheduler::LARGEST_HEADER, "{kind}: {left} left");
            });
        }
    }

    #[test]
    fn round_robin_and_priority_take_turns(
        streams in 1usize..40,
        operations in prop::collection::vec(any_operation(), 1..100),
    ) {
        let mut last = None;
        follow("rr", streams, &operations, |plain, _, buffer, (room, shares)| {
            let order = rotated(plain.waiting(), last);
            assert_eq!(shares, &in_order(&order, buffer, *room));
            last = Some(order[0]);
        });
        // By urgency, the number of whose turn it was last: sequential streams are at zero, incremental ones come
        // after.
        let mut last = [None; 8];
        follow("priority", streams, &operations, |plain, _, buffer, (room, shares)| {
            let mut order = Vec::new();
            for (urgency, last) in last.iter_mut().enumerate() {
                let waiting = plain.waiting().into_iter();
                let of_this = |stream: &usize| usize::from(plain.attributes[*stream].urgency) == urgency;
                let (incremental, sequential): (Vec<_>, Vec<_>) =
                    waiting.filter(of_this).partition(|stream| plain.attributes[*stream].incremental);
                let mut turns: Vec<_> = incremental.iter().map(|stream| stream + 1).collect();
                if !sequential.is_empty() {
                    turns.insert(0, 0);
                }
                let turns = rotated(turns, *last);
                let begins = order.len();
                for turn in &turns {
                    if *turn == 0 {
                        order.extend(&sequential);
                    } else {
                        order.push(turn - 1);
                    }
                }
                if in_order(&order, buffer, *room).len() > begins {
                    *last = Some(turns[0]);
                }
            }
            assert_eq!(shares, &in_order(&order, buffer, *room));
        });
    }

    #[test]
    fn fair_queueing_fills_to_a_common_level(
        streams in 1usize..10,
        weighted: bool,
        operations in prop::collection::vec(any_operation(), 1..100),
    ) {
        let weights: Vec<_> = (0..streams).map(|stream| if weighted { [2, 1, 5][stream % 3] } else { 1 }).collect();
        let list: Vec<_> = weights.iter().map(ToString::to_string).collect();
        let text = format!("wfq weights={}", list.join(","));
        let mut levels = Levels::new(&weights);
        // Ten streams share packets from 640 bytes on.
        let operations: Vec<_> = operations.into_iter().map(|operation| match operation {
            Operation::Send(room, stop) => Operation::Send(640 + room, stop),
            other => other,
        }).collect();
        let attributes = attributes(streams);
        let mut harness = Harness::new(&spec(&text), &attributes, 5);
        for operation in &operations {
            harness.follow(operation, |_, buffer, packet| levels.check(buffer, packet));
            levels.update(harness.streams.buffer());
        }
    }
}

/// Numbers in a circle, starting after `last`.
fn rotated(numbers: Vec<usize>, last: Option<usize>) -> Vec<usize> {
    let (before, after): (Vec<_>, Vec<_>) =
        numbers.into_iter().partition(|number| last.is_some_and(|last| *number <= last));
    after.into_iter().chain(before).collect()
}

/// Bytes served per unit of weight, in floating point.
struct Levels {
    weights: Vec<u32>,
    reached: Vec<f64>,
    taken: Vec<u64>,
    waiting: Vec<bool>,
}

impl Levels {
    fn new(weights: &[u32]) -> Self {
        let count = weights.len();
        Self {
            weights: weights.to_vec(),
            reached: vec![0.0; count],
            taken: vec![0; count],
            waiting: vec![false; count],
        }
    }

    /// The level to which a payload raises the streams, by bisection.
    fn check(&self, buffer: &SendBuffer, (room, shares): &Packet) {
        let payload: u64 = shares.iter().map(|share| share.bytes).sum();
        let due = |level: f64, stream: usize| {
            let due = f64::from(self.weights[stream]) * (level - self.reached[stream]);
            let backlog = buffer.streams()[StreamIndex::from(stream)].backlog() as f64;
            if buffer.is_occupied(stream.into()) { due.clamp(0.0, backlog) } else { 0.0 }
        };
        let streams = 0..self.weights.len();
        let (mut low, mut high) = (0.0, 1e9);
        for _ in 0..100 {
            let level = f64::midpoint(low, high);
            let sum: f64 = streams.clone().map(|stream| due(level, stream)).sum();
            if sum < payload as f64 { low = level } else { high = level }
        }
        // The last frame falls short of its due by the room kept for its length, if it leaves the packet open.
        let short = if frames(buffer, *room, shares) == *room { 0.0 } else { 2.0 };
        let most = 2.0 + short;
        for stream in streams {
            let given = shares.iter().find(|share| share.stream == stream.into());
            let given = given.map_or(0.0, |share| share.bytes as f64);
            let due = due(high, stream);
            assert!((given - due).abs() < most, "{stream} got {given} of {due}: {shares:?}");
        }
    }

    fn update(&mut self, buffer: &SendBuffer) {
        for (stream, kept) in buffer.streams().iter().enumerate() {
            let served = (kept.taken() - self.taken[stream]) as f64;
            self.reached[stream] += served / f64::from(self.weights[stream]);
            self.taken[stream] = kept.taken();
        }
        let now: Vec<_> =
            (0..self.waiting.len()).map(|stream| buffer.is_occupied(stream.into())).collect();
        let before = std::mem::replace(&mut self.waiting, now);
        if before.iter().all(|waiting| !waiting) {
            self.reached.fill(0.0);
        }
        let stayed = |stream: &usize| before[*stream] && self.waiting[*stream];
        let lowest = (0..before.len()).filter(stayed).map(|stream| self.reached[stream]);
        let lowest = lowest.fold(f64::INFINITY, f64::min);
        for (stream, waited) in before.iter().enumerate() {
            if self.waiting[stream] && !waited && lowest.is_finite() {
                // Whole bytes, so that the sums stay integers.
                let weight = f64::from(self.weights[stream]);
                let whole = (lowest * weight - 1e-9).ceil() / weight;
                self.reached[stream] = self.reached[stream].max(whole);
            }
        }
    }
}
