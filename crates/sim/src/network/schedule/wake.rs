//! A heap of wake-up times, with the next one at the top.
//!
//! Each entity of a fixed set has one wake-up time or none. Ties go to the entity with the smaller number, so that the
//! order of simultaneous events depends on what they are and never on the order in which they were asked for.

use leobench_base::SimTime;

/// Children of a node: together they fill a cache line.
const CHILDREN: usize = 4;
/// The place of an entity that has no wake-up time.
const NOWHERE: u32 = u32::MAX;

/// The wake-up times of all entities.
///
/// Entities without a wake-up time are not in the heap, or sink out of sight, and those with a late one lie below those with an
/// early one: neither make others more expensive. A time that becomes later, as that of a retransmission timer does with every
/// acknowledgement, is only noted: the heap keeps the earlier one, and learns of it when that comes to the top.
#[derive(Clone, Debug)]
pub(in crate::network) struct WakeHeap {
    /// In level order, the earliest first: no node comes after its children. No time is later than that of its entity, and the
    /// first is equal.
    heap: Vec<Wake>,
    /// By entity.
    slots: Vec<Slot>,
}

/// Wake-up time of an entity, and its place in the heap.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// When it wants to be woken; [`SimTime::MAX`] if never.
    time: SimTime,
    /// Index in the heap, or [`NOWHERE`].
    place: u32,
}

/// A wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wake {
    time: SimTime,
    entity: u32,
}

impl Wake {
    #[inline]
    fn is_before(self, other: Self) -> bool {
        self.time < other.time || self.time == other.time && self.entity < other.entity
    }
}

impl WakeHeap {
    /// `entities` entities, none of which wants to be woken.
    pub(in crate::network) fn new(entities: usize) -> Self {
        let slot = Slot { time: SimTime::MAX, place: NOWHERE };
        Self { heap: Vec::new(), slots: vec![slot; entities] }
    }

    /// One more entity, which does not want to be woken.
    pub(in crate::network) fn grow(&mut self) {
        self.slots.push(Slot { time: SimTime::MAX, place: NOWHERE });
    }

    /// Replaces the wake-up time of an entity; [`SimTime::MAX`] is none.
    pub(in crate::network) fn set(&mut self, entity: usize, time: SimTime) {
        let slot = &mut self.slots[entity];
        let before = std::mem::replace(&mut slot.time, time);
        let wake = Wake { time, entity: entity as u32 };
        match slot.place {
            0 if time <= before => self.heap[0] = wake,
            0 => self.settle(),
            NOWHERE if time < SimTime::MAX => self.insert(wake),
            NOWHERE => {}
            place => {
                if time < before && time < self.heap[place as usize].time {
                    self.rise(place as usize, wake);
                }
            }
        }
    }

    /// The wake-up time of an entity; [`SimTime::MAX`] for none.
    #[inline]
    pub(in crate::network) fn time_of(&self, entity: usize) -> SimTime {
        self.slots[entity].time
    }

    /// Passes the entities that want to be woken before `end`, in no order.
    pub(in crate::network) fn before(&self, end: SimTime, mut each: impl FnMut(usize)) {
        let mut places = vec![0];
        while let Some(place) = places.pop() {
            let Some(wake) = self.heap.get(place).filter(|wake| wake.time < end) else { continue };
            let entity = wake.entity as usize;
            if self.slots[entity].time < end {
                each(entity);
            }
            places.extend((1..=CHILDREN).map(|child| place * CHILDREN + child));
        }
    }

    /// Gives the first its own time, and whoever is first then.
    #[inline(never)]
    fn settle(&mut self) {
        while let Some(&first) = self.heap.first() {
            let time = self.slots[first.entity as usize].time;
            if time == first.time {
                return;
            }
            if time < SimTime::MAX {
                self.sink(0, Wake { time, ..first });
            } else {
                self.remove_first();
            }
        }
    }

    /// The earliest wake-up and whose it is; [`SimTime::MAX`] and no entity's number if there is none.
    #[inline]
    pub(in crate::network) fn first(&self) -> (SimTime, usize) {
        let none = (SimTime::MAX, NOWHERE as usize);
        self.heap.first().map_or(none, |wake| (wake.time, wake.entity as usize))
    }

    fn insert(&mut self, wake: Wake) {
        self.heap.push(wake);
        self.rise(self.heap.len() - 1, wake);
    }

    fn remove_first(&mut self) {
        self.slots[self.heap[0].entity as usize].place = NOWHERE;
        if let Some(last) = self.heap.pop().filter(|_| !self.heap.is_empty()) {
            self.sink(0, last);
        }
    }

    /// Puts a wake-up at a place or above it, whatever was there.
    fn rise(&mut self, mut place: usize, wake: Wake) {
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            let above = self.heap[parent];
            if above.is_before(wake) {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, wake);
    }

    /// Puts a wake-up at a place or below it, whatever was there.
    #[expect(clippy::inline_always, reason = "a link sinks with every packet")]
    #[inline(always)]
    fn sink(&mut self, mut place: usize, wake: Wake) {
        loop {
            let first = place * CHILDREN + 1;
            let last = self.heap.len().min(first + CHILDREN);
            let Some(children) = self.heap.get(first..last) else { break };
            let (mut earliest, mut child) = (wake, place);
            for (number, other) in (first..).zip(children) {
                if other.is_before(earliest) {
                    (earliest, child) = (*other, number);
                }
            }
            if child == place {
                break;
            }
            self.put(place, earliest);
            place = child;
        }
        self.put(place, wake);
    }

    #[inline]
    fn put(&mut self, place: usize, wake: Wake) {
        self.heap[place] = wake;
        self.slots[wake.entity as usize].place = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_entity_is_enough() {
        let mut wakes = WakeHeap::new(1);
        assert_eq!(wakes.first().0, SimTime::MAX);
        wakes.set(0, SimTime::from_nanos(7));
        assert_eq!(wakes.first(), (SimTime::from_nanos(7), 0));
    }

    #[test]
    fn entities_without_a_wake_up_take_no_place() {
        let mut wakes = WakeHeap::new(1_000);
        for entity in 0..1_000 {
            wakes.set(entity, SimTime::from_nanos(1));
            wakes.set(entity, SimTime::MAX);
        }
        assert_eq!((wakes.heap.len(), wakes.first().0), (0, SimTime::MAX));
    }

    proptest! {
        #[test]
        fn the_earliest_wins_and_ties_go_to_the_smaller_number(
            entities in 1usize..40,
            changes in prop::collection::vec((0usize..40, prop::option::weighted(0.8, 0u64..8)), 0..200),
        ) {
            let mut wakes = WakeHeap::new(entities);
            let mut plain = vec![None; entities];
            for (entity, time) in changes {
                let entity = entity % entities;
                plain[entity] = time.map(SimTime::from_nanos);
                wakes.set(entity, plain[entity].unwrap_or(SimTime::MAX));
                let expected = plain
                    .iter()
                    .enumerate()
                    .filter_map(|(entity, time)| time.map(|time| (time, entity)))
                    .min();
                let first = Some(wakes.first()).filter(|(time, _)| *time < SimTime::MAX);
                prop_assert_eq!(first, expected);
            }
        }
    }
}
