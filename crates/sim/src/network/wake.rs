//! Who wants to be woken next: a tournament tree over the wake-up times of a fixed set of entities.
//!
//! Each entity has one wake-up time or none. Ties go to the entity with the smaller number, so that the order of
//! simultaneous events depends on what they are and never on the order in which they were asked for.

use leobench_base::SimTime;

/// The wake-up times of all entities.
#[derive(Clone, Debug)]
pub struct WakeTree {
    /// A perfect binary tree in level order, root at 1: every node holds the earlier of its children's times.
    times: Vec<SimTime>,
    leaves: usize,
}

impl WakeTree {
    /// `entities` entities, none of which wants to be woken.
    pub fn new(entities: usize) -> Self {
        let leaves = entities.next_power_of_two();
        Self { times: vec![SimTime::MAX; 2 * leaves], leaves }
    }

    /// Replaces the wake-up time of an entity.
    pub fn set(&mut self, entity: usize, time: Option<SimTime>) {
        let time = time.unwrap_or(SimTime::MAX);
        let mut node = self.leaves + entity;
        self.times[node] = time;
        while node > 1 {
            node /= 2;
            let earlier = self.times[2 * node].min(self.times[2 * node + 1]);
            if self.times[node] == earlier {
                return;
            }
            self.times[node] = earlier;
        }
    }

    /// The earliest wake-up; [`SimTime::MAX`] if there is none.
    pub fn time(&self) -> SimTime {
        self.times[1]
    }

    /// The earliest wake-up and whose it is.
    pub fn next(&self) -> Option<(SimTime, usize)> {
        let time = self.times[1];
        if time == SimTime::MAX {
            return None;
        }
        let mut node = 1;
        while node < self.leaves {
            node *= 2;
            if self.times[node] != time {
                node += 1;
            }
        }
        Some((time, node - self.leaves))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_entity_is_enough() {
        let mut wakes = WakeTree::new(1);
        assert_eq!(wakes.next(), None);
        wakes.set(0, Some(SimTime::from_nanos(7)));
        assert_eq!(wakes.next(), Some((SimTime::from_nanos(7), 0)));
    }

    proptest! {
        #[test]
        fn the_earliest_wins_and_ties_go_to_the_smaller_number(
            entities in 1usize..20,
            changes in prop::collection::vec((0usize..20, prop::option::of(0u64..8)), 0..60),
        ) {
            let mut wakes = WakeTree::new(entities);
            let mut plain = vec![None; entities];
            for (entity, time) in changes {
                let entity = entity % entities;
                plain[entity] = time.map(SimTime::from_nanos);
                wakes.set(entity, plain[entity]);
                let expected = plain
                    .iter()
                    .enumerate()
                    .filter_map(|(entity, time)| time.map(|time| (time, entity)))
                    .min();
                prop_assert_eq!(wakes.next(), expected);
            }
        }
    }
}
