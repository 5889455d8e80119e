//! Sojourn-time back-pressure (Khan et al. 2023, delay paper, section III, equations 3 to 7).

use std::collections::VecDeque;

use leobench_base::spec::Fault;
use leobench_base::{SimDuration, SimTime, StreamIndex};
use typed_index_collections::TiVec;

use super::most_urgent::MostUrgent;
use super::tournament::Key;
use super::{SchedulerContext, SchedulerModel, StreamScheduler};
use crate::buffer::StreamBuffer;

leobench_base::spec! {
    /// Sojourn-time back-pressure: serves the stream with the largest sum of waiting times, until the packet is full.
    ///
    /// The sum counts the number of waiting messages as well as their waiting times. Over single messages (the paper's
    /// equation 4) it is about the rate times the square of the delay: under heavy load the ratio of two streams'
    /// delays approaches the square root of the inverse ratio of their rates, between `bp` and `max_delay`. Over
    /// batches (as in the authors' code) delays become equal if they last many slots and every slot brings messages.
    /// Shorter delays do not: the stream that is seldom empty goes first. Breaks ties at random.
    pub struct SojournSpec: Default check = check {
        /// The terms of the sum: single messages, or batches of messages.
        pub per: Per = Per::Packet,
        /// The messages of a stream created in the same slot, of this length and counted from time zero, form a batch.
        /// A batch counts once, from the creation of its first message until its last has left. Valid only with
        /// `per = "batch"`; 50 ms by default.
        pub slot: Option<SimDuration>,
    }
}

/// The slots in which the authors' traffic generator draws its arrivals, as the source `poisson_batch` does.
const SLOT: SimDuration = SimDuration::from_millis(50);

leobench_base::words! {
    /// The terms of the sum of sojourn times.
    pub enum Per {
        /// Single messages.
        Packet = "packet",
        /// Messages created in the same slot.
        Batch = "batch",
    }
}

fn check(spec: &SojournSpec) -> Result<(), Fault> {
    match spec.slot {
        Some(slot) if slot.is_zero() => Err(Fault::new("slot", "is zero", "a time above zero")),
        Some(_) if spec.per == Per::Packet => {
            let needed = "no `slot`, or `per = \"batch\"`";
            Err(Fault::new("slot", "applies only to batches", needed))
        }
        _ => Ok(()),
    }
}

impl SchedulerModel for SojournSpec {
    fn build(&self, context: &SchedulerContext<'_>) -> Result<Box<dyn StreamScheduler>, String> {
        if self.per == Per::Packet {
            return Ok(Box::new(MostUrgent::new(context.streams, context.rng, |_, stream: &_| {
                per_message(stream)
            })));
        }
        let slot = self.slot.unwrap_or(SLOT).as_nanos();
        let mut batches: TiVec<StreamIndex, _> =
            (0..context.streams).map(|_| Batches::new(slot)).collect();
        let per_batch = move |index: StreamIndex, stream: &_| batches[index].key(stream);
        Ok(Box::new(MostUrgent::new(context.streams, context.rng, per_batch)))
    }
}

/// t Q - D (equation 4). Computed from the waiting messages, because equation 6 omits their ageing.
fn per_message(stream: &StreamBuffer) -> Key {
    Key { slope: stream.messages() as u64, offset: -(stream.created_sum() as i128) }
}

/// The waiting batches of a stream.
struct Batches {
    slot: u64,
    /// Messages of the stream that have been counted into a batch.
    counted: u64,
    waiting: VecDeque<Batch>,
    messages: usize,
    created_sum: i128,
}

struct Batch {
    created: SimTime,
    messages: usize,
}

impl Batches {
    fn new(slot: u64) -> Self {
        Self { slot, counted: 0, waiting: VecDeque::new(), messages: 0, created_sum: 0 }
    }

    /// t Q - D (equation 4), with batches instead of packets.
    fn key(&mut self, stream: &StreamBuffer) -> Key {
        let arrived = (stream.arrived() - self.counted) as usize;
        self.counted = stream.arrived();
        if let Some(created) = stream.tail_created().filter(|_| arrived > 0) {
            self.arrive(created, arrived);
        }
        self.leave(self.messages - stream.messages());
        Key { slope: self.waiting.len() as u64, offset: -self.created_sum }
    }

    fn arrive(&mut self, created: SimTime, messages: usize) {
        self.messages += messages;
        let slot = |created: SimTime| created.as_nanos() / self.slot;
        match self.waiting.back_mut() {
            Some(last) if slot(last.created) == slot(created) => last.messages += messages,
            _ => {
                self.created_sum += i128::from(created.as_nanos());
                self.waiting.push_back(Batch { created, messages });
            }
        }
    }

    fn leave(&mut self, mut messages: usize) {
        self.messages -= messages;
        while let Some(first) = self.waiting.front_mut().filter(|_| messages > 0) {
            let part = messages.min(first.messages);
            first.messages -= part;
            messages -= part;
            if first.messages == 0 {
                self.created_sum -= i128::from(first.created.as_nanos());
                self.waiting.pop_front();
            }
        }
    }
}
