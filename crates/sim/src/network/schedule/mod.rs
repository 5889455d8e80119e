//! Wake-up times of everything in a network, by class.

mod ready;
mod wake;

use leobench_base::{DirectionId, EndpointId, FlowId, SimTime};

use ready::ReadySet;
pub(in crate::network) use wake::WakeHeap;

/// Something that wants to be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entity {
    /// A topology, by its number.
    Topology(usize),
    /// A channel, by its number.
    Channel(usize),
    /// The transmitters that links share.
    Transmitters,
    /// The network in orbit.
    Transit,
    /// A link in one direction.
    Direction(DirectionId),
    /// The applications of a flow.
    Application(FlowId),
    /// The forecasts for senders.
    Forecasts,
    Endpoint(EndpointId),
    /// The observer, which takes samples.
    Observer,
}

/// How many there are of each class.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Census {
    pub(super) topologies: usize,
    pub(super) channels: usize,
    pub(super) directions: usize,
    pub(super) flows: usize,
    pub(super) endpoints: usize,
}

impl Census {
    /// How many there are of all classes.
    pub(super) fn parts(&self) -> usize {
        let Self { topologies, channels, directions, flows, endpoints } = self;
        topologies + channels + directions + flows + endpoints
    }
}

/// The wake-up times. Simultaneous ones are ordered by class, in the order of [`Entity`], then by number.
///
/// Links, whose times change with every packet, have a heap of their own, so that what they cost does not depend on the
/// number of flows. Endpoints mostly wait for timers far ahead: one that is due now, because something came in, is a bit
/// in a set, and its timer stays in the heap meanwhile.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    /// The instant that is worked off.
    now: SimTime,
    /// The flow that is worked off apart from all others.
    turn: Option<Turn>,
    /// Those that are due now, by number. What the heaps say of them is no earlier, and set anew when they are done.
    ready: ReadySet,
    /// Topologies, channels, shared transmitters and links.
    network: WakeHeap,
    /// The wake-up of the network in orbit, which acts more often than all others together; [`SimTime::MAX`] for none.
    in_orbit: SimTime,
    /// Applications, forecasts, endpoints and the observer.
    ends: WakeHeap,
    /// The first number of each class after the first.
    channels: usize,
    transmitters: usize,
    transit: usize,
    directions: usize,
    flows: usize,
    forecasts: usize,
    endpoints: usize,
    observer: usize,
}

/// The wake-up times of a flow that is worked off apart from all others.
#[derive(Clone, Copy, Debug)]
struct Turn {
    flow: FlowId,
    /// By [`End`](leobench_base::End); the first has the smaller number.
    ends: [EndpointId; 2],
    /// Those of its applications and both ends; [`SimTime::MAX`] for never.
    times: [SimTime; 3],
}

impl Turn {
    /// The earliest wake-up and whose it is. Simultaneous ones have the order of the schedule.
    #[inline]
    fn next(&self) -> (SimTime, Entity) {
        let [application, sender, receiver] = self.times;
        if application <= sender && application <= receiver {
            (application, Entity::Application(self.flow))
        } else if sender <= receiver {
            (sender, Entity::Endpoint(self.ends[0]))
        } else {
            (receiver, Entity::Endpoint(self.ends[1]))
        }
    }

    #[inline]
    fn set(&mut self, entity: Entity, time: Option<SimTime>) {
        let place = match entity {
            Entity::Application(_) => 0,
            Entity::Endpoint(endpoint) => 1 + usize::from(endpoint == self.ends[1]),
            _ => unreachable!("only the parts of a flow act in its turn"),
        };
        self.times[place] = time.unwrap_or(SimTime::MAX);
    }
}

impl Schedule {
    /// Nobody wants to be woken.
    pub(super) fn new(census: Census) -> Self {
        let channels = census.topologies;
        let transmitters = channels + census.channels;
        let transit = transmitters + 1;
        let directions = transit + 1;
        let flows = directions + census.directions;
        let forecasts = flows + census.flows;
        let endpoints = forecasts + 1;
        let observer = endpoints + census.endpoints;
        Self {
            now: SimTime::ZERO,
            turn: None,
            ready: ReadySet::new(observer + 1),
            network: WakeHeap::new(flows),
            in_orbit: SimTime::MAX,
            ends: WakeHeap::new(observer + 1 - flows),
            channels,
            transmitters,
            transit,
            directions,
            flows,
            forecasts,
            endpoints,
            observer,
        }
    }

    /// The instant `now` is worked off from here on: that of the [next](Self::next) wake-up.
    pub(super) fn begin(&mut self, now: SimTime) {
        debug_assert!(
            now == self.now || (self.ready.first().is_none() && self.in_orbit > self.now),
            "somebody is due before {now}"
        );
        self.now = now;
    }

    /// Replaces a wake-up time.
    #[expect(clippy::inline_always, reason = "callers know the class, which leaves little of it")]
    #[inline(always)]
    pub(super) fn set(&mut self, entity: Entity, time: Option<SimTime>) {
        if let Some(turn) = &mut self.turn {
            return turn.set(entity, time);
        }
        let number = match entity {
            Entity::Topology(number) => number,
            Entity::Channel(number) => self.channels + number,
            Entity::Transmitters => self.transmitters,
            Entity::Transit => {
                self.in_orbit = time.unwrap_or(SimTime::MAX);
                return;
            }
            Entity::Direction(direction) => self.directions + direction.index(),
            Entity::Application(flow) => self.flows + flow.index(),
            Entity::Forecasts => self.forecasts,
            Entity::Endpoint(endpoint) => self.endpoints + endpoint.index(),
            Entity::Observer => self.observer,
        };
        if time == Some(self.now) {
            return self.ready.insert(number);
        }
        if self.ready.contains(number) {
            self.ready.remove(number);
        }
        let time = time.unwrap_or(SimTime::MAX);
        match number.checked_sub(self.flows) {
            Some(end) => self.ends.set(end, time),
            None => self.network.set(number, time),
        }
    }

    /// The earliest wake-up, if the instant that was worked off last is over.
    pub(super) fn next_instant(&self) -> Option<SimTime> {
        self.next_time().filter(|time| *time > self.now)
    }

    /// The earliest wake-up of anything but flows, links and the network in orbit.
    pub(super) fn first_other(&self) -> SimTime {
        let network = (0..self.transit).map(|number| self.network.time_of(number));
        let ends = [self.forecasts, self.observer].map(|number| number - self.flows);
        let ends = ends.map(|number| self.ends.time_of(number));
        network.chain(ends).min().unwrap_or(SimTime::MAX)
    }

    /// Passes the flows whose applications have a wake-up before `end`, and such endpoints.
    pub(super) fn ends_before(&self, end: SimTime, mut each: impl FnMut(Entity)) {
        let endpoints = self.endpoints - self.flows;
        self.ends.before(end, |number| match number.checked_sub(endpoints) {
            Some(endpoint) => each(Entity::Endpoint(endpoint.into())),
            None => each(Entity::Application(number.into())),
        });
    }

    /// A flow is worked off apart from all others, until its turn [ends](Self::end_turn). Nothing else may be woken.
    pub(super) fn begin_turn(&mut self, flow: FlowId, ends: [EndpointId; 2]) {
        let application = self.ends.time_of(flow.index());
        let endpoints = self.endpoints - self.flows;
        let [sender, receiver] = ends.map(|end| self.ends.time_of(endpoints + end.index()));
        self.turn = Some(Turn { flow, ends, times: [application, sender, receiver] });
    }

    /// The earliest wake-up of the flow whose turn it is, and whose it is.
    #[inline]
    pub(super) fn next_in_turn(&self) -> (SimTime, Entity) {
        self.turn.as_ref().expect("it is the turn of a flow").next()
    }

    /// The turn of a flow is over: its wake-ups, of which none is due, are among those of all others again.
    pub(super) fn end_turn(&mut self) {
        let Some(Turn { flow, ends, times }) = self.turn.take() else { return };
        let [application, sender, receiver] = times;
        self.set(Entity::Application(flow), Some(application));
        self.set(Entity::Endpoint(ends[0]), Some(sender));
        self.set(Entity::Endpoint(ends[1]), Some(receiver));
    }

    /// The earliest wake-up and whose it is.
    #[expect(clippy::inline_always, reason = "every step begins here")]
    #[inline(always)]
    pub(super) fn next(&self) -> Option<(SimTime, Entity)> {
        let (time, number) = self.earliest()?;
        Some((time, self.entity(number)))
    }

    /// Returns the entity with a number. Frequent ones take the fewest comparisons.
    #[inline]
    fn entity(&self, number: usize) -> Entity {
        if number >= self.endpoints {
            if number < self.observer {
                Entity::Endpoint((number - self.endpoints).into())
            } else {
                Entity::Observer
            }
        } else if number >= self.directions {
            if number < self.flows {
                Entity::Direction((number - self.directions).into())
            } else if number < self.forecasts {
                Entity::Application((number - self.flows).into())
            } else {
                Entity::Forecasts
            }
        } else if number >= self.transit {
            Entity::Transit
        } else if number >= self.transmitters {
            Entity::Transmitters
        } else if number >= self.channels {
            Entity::Channel(number - self.channels)
        } else {
            Entity::Topology(number)
        }
    }

    /// The earliest wake-up.
    pub(super) fn next_time(&self) -> Option<SimTime> {
        self.earliest().map(|(time, _)| time)
    }

    /// The earliest wake-up and its number.
    #[inline]
    fn earliest(&self) -> Option<(SimTime, usize)> {
        let mut earliest = self.network.first().min((self.in_orbit, self.transit));
        let (time, end) = self.ends.first();
        // At the same time, the smaller number goes first.
        if time < earliest.0 {
            earliest = (time, end + self.flows);
        }
        // Nothing in the heaps is earlier than what is due now.
        if let Some(ready) = self.ready.first()
            && (self.now < earliest.0 || ready < earliest.1)
        {
            earliest = (self.now, ready);
        }
        (earliest.0 < SimTime::MAX).then_some(earliest)
    }
}

#[cfg(test)]
mod tests {
    use leobench_base::SimDuration;
    use proptest::prelude::*;

    use super::*;

    const CENSUS: Census =
        Census { topologies: 1, channels: 1, directions: 2, flows: 2, endpoints: 2 };

    /// By number.
    fn entities() -> [Entity; 12] {
        [
            Entity::Topology(0),
            Entity::Channel(0),
            Entity::Transmitters,
            Entity::Transit,
            Entity::Direction(0.into()),
            Entity::Direction(1.into()),
            Entity::Application(0.into()),
            Entity::Application(1.into()),
            Entity::Forecasts,
            Entity::Endpoint(0.into()),
            Entity::Endpoint(1.into()),
            Entity::Observer,
        ]
    }

    proptest! {
        /// Compares the schedule with a plain list, while time goes on. Some are woken at the very instant.
        #[test]
        fn the_earliest_goes_first(
            changes in prop::collection::vec((0usize..12, prop::option::of(0u64..4), any::<bool>()), 0..80),
        ) {
            let (mut schedule, mut plain) = (Schedule::new(CENSUS), [None; 12]);
            let mut now = SimTime::ZERO;
            for (number, after, goes_on) in changes {
                let time = after.map(|after| now + SimDuration::from_nanos(after));
                plain[number] = time;
                schedule.set(entities()[number], time);
                let times = plain.iter().zip(entities()).filter_map(|(time, entity)| Some(((*time)?, entity)));
                // The first of several that are equal.
                let expected = times.min_by_key(|(time, _)| *time);
                prop_assert_eq!(schedule.next(), expected);
                prop_assert_eq!(schedule.next_time(), expected.map(|(time, _)| time));
                if let Some((time, entity)) = expected.filter(|_| goes_on) {
                    now = time;
                    schedule.begin(now);
                    schedule.set(entity, None);
                    plain[entities().iter().position(|other| *other == entity).unwrap()] = None;
                }
            }
        }
    }

    #[test]
    fn simultaneous_wake_ups_come_by_class() {
        let census = Census { topologies: 1, channels: 2, directions: 3, flows: 1, endpoints: 2 };
        let mut schedule = Schedule::new(census);
        let in_order = [
            Entity::Topology(0),
            Entity::Channel(0),
            Entity::Channel(1),
            Entity::Transmitters,
            Entity::Transit,
            Entity::Direction(0.into()),
            Entity::Direction(2.into()),
            Entity::Application(0.into()),
            Entity::Forecasts,
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
