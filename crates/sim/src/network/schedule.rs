//! Who is woken when: the wake-up times of everything in a network, by class.

use leobench_base::{EndpointId, FlowId, LinkId, SimTime};

use super::wake::WakeTree;

/// Something that wants to be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entity {
    /// A topology, by its place.
    Topology(usize),
    /// A channel, by its place.
    Channel(usize),
    Link(LinkId),
    /// The applications of a flow.
    Application(FlowId),
    Endpoint(EndpointId),
    /// Whoever takes samples.
    Observer,
}

/// How many there are of each class.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Census {
    pub(super) topologies: usize,
    pub(super) channels: usize,
    pub(super) links: usize,
    pub(super) flows: usize,
    pub(super) endpoints: usize,
}

/// The wake-up times. Simultaneous ones are ordered by class, in the order of [`Entity`], then by number.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    tree: WakeTree,
    /// The first number in the tree of each class after the first.
    channels: usize,
    links: usize,
    flows: usize,
    endpoints: usize,
    observer: usize,
}

impl Schedule {
    /// Nobody wants to be woken.
    pub(super) fn new(census: Census) -> Self {
        let channels = census.topologies;
        let links = channels + census.channels;
        let flows = links + census.links;
        let endpoints = flows + census.flows;
        let observer = endpoints + census.endpoints;
        Self { tree: WakeTree::new(observer + 1), channels, links, flows, endpoints, observer }
    }

    /// Replaces a wake-up time.
    pub(super) fn set(&mut self, entity: Entity, time: Option<SimTime>) {
        let number = match entity {
            Entity::Topology(place) => place,
            Entity::Channel(place) => self.channels + place,
            Entity::Link(link) => self.links + link.index(),
            Entity::Application(flow) => self.flows + flow.index(),
            Entity::Endpoint(endpoint) => self.endpoints + endpoint.index(),
            Entity::Observer => self.observer,
        };
        self.tree.set(number, time);
    }

    /// The earliest wake-up and whose it is.
    pub(super) fn next(&self) -> Option<(SimTime, Entity)> {
        let (time, number) = self.tree.next()?;
        let entity = if number >= self.observer {
            Entity::Observer
        } else if number >= self.endpoints {
            Entity::Endpoint((number - self.endpoints).into())
        } else if number >= self.flows {
            Entity::Application((number - self.flows).into())
        } else if number >= self.links {
            Entity::Link((number - self.links).into())
        } else if number >= self.channels {
            Entity::Channel(number - self.channels)
        } else {
            Entity::Topology(number)
        };
        Some((time, entity))
    }

    /// The earliest wake-up.
    pub(super) fn next_time(&self) -> Option<SimTime> {
        self.tree.next().map(|(time, _)| time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simultaneous_wake_ups_come_by_class() {
        let census = Census { topologies: 1, channels: 2, links: 3, flows: 1, endpoints: 2 };
        let mut schedule = Schedule::new(census);
        let in_order = [
            Entity::Topology(0),
            Entity::Channel(0),
            Entity::Channel(1),
            Entity::Link(0.into()),
            Entity::Link(2.into()),
            Entity::Application(0.into()),
            Entity::Endpoint(0.into()),
            Entity::Endpoint(1.into()),
            Entity::Observer,
        ];
        for entity in in_order.iter().rev() {
            schedule.set(*entity, Some(SimTime::ZERO));
        }
        for entity in in_order {
            assert_eq!(schedule.next(), Some((SimTime::ZERO, entity)));
            schedule.set(entity, None);
        }
        assert_eq!(schedule.next(), None);
    }
}
