//! A bound on the events of one instant: parts of a network that set each other off without time passing would go on for ever.

use leobench_base::SimTime;

use crate::limits::number;
use crate::network::Network;
use crate::network::schedule::Entity;

/// Events of one instant that every network may have, and more for each of its parts. At the start of a run, a flow takes about
/// ten steps.
const MOST_EVENTS: u64 = 1_000_000;
const MOST_EVENTS_PER_PART: u64 = 1_000;

/// Steps of an endless instant whose parts the error names.
const NAMED_STEPS: u64 = 64;

/// Parts that the error names at most.
const MOST_NAMES: usize = 4;

/// Virtual time has stopped.
#[derive(Debug, thiserror::Error)]
#[error(
    "at {at}: {count} events in a row at the same instant, from {parts}, so the run would never end; \
     allowed: times, delays and rates that let time pass between events"
)]
pub struct InstantError {
    at: SimTime,
    count: String,
    parts: String,
}

/// Counts the steps of the present instant, at every look.
pub(in crate::network) struct InstantWatch {
    at: SimTime,
    /// The number of the step at which the instant was seen first.
    since: u64,
    most: u64,
    /// The parts that acted in the last steps.
    culprits: Vec<Entity>,
}

impl InstantWatch {
    /// Watches a network of so many parts.
    pub(in crate::network) fn new(parts: usize) -> Self {
        let most = MOST_EVENTS + MOST_EVENTS_PER_PART * parts as u64;
        Self { at: SimTime::ZERO, since: 0, most, culprits: Vec::new() }
    }

    /// The events that one instant may have.
    pub(in crate::network) const fn most_events(&self) -> u64 {
        self.most
    }

    /// Looks at a step: its number, its time, and the part that acts. Returns the steps until the next look, at most `every`;
    /// none if the instant has had too many.
    pub(in crate::network) fn look(
        &mut self,
        step: u64,
        now: SimTime,
        part: Entity,
        every: u64,
    ) -> Option<u64> {
        if now != self.at {
            (self.at, self.since) = (now, step);
            self.culprits.clear();
        }
        let events = step - self.since;
        if events <= self.most {
            return Some(every);
        }
        if !self.culprits.contains(&part) {
            self.culprits.push(part);
        }
        (events <= self.most + NAMED_STEPS).then_some(1)
    }
}

impl Network {
    /// The error that ends a run at an instant with `count` events of these parts.
    #[cold]
    pub(in crate::network) fn endless(&self, count: u64, parts: &[Entity]) -> InstantError {
        let mut names: Vec<_> = parts.iter().map(|part| self.name_of(*part)).collect();
        names.dedup();
        names.truncate(MOST_NAMES);
        InstantError { at: self.now, count: number(count as f64), parts: names.join(", ") }
    }

    /// The error of the instant that the watch found endless.
    #[cold]
    pub(in crate::network) fn endless_instant(&self) -> InstantError {
        self.endless(self.instant.most, &self.instant.culprits)
    }

    /// A part of the network as its scenario calls it.
    fn name_of(&self, part: Entity) -> String {
        let names = self.observer.names();
        match part {
            Entity::Topology(topology) => format!("handovers `{}`", names.topologies[topology]),
            Entity::Channel(channel) => match self.channels[channel].directions.first() {
                Some(direction) => {
                    format!("the channel of link `{}`", names.directions[*direction])
                }
                None => "a channel".to_owned(),
            },
            Entity::Transmitters => "the transmitters of satellites".to_owned(),
            Entity::Transit => "the network in orbit".to_owned(),
            Entity::Direction(direction) => format!("link `{}`", names.directions[direction]),
            Entity::Application(flow) => {
                format!("the application of flow `{}`", self.flows[flow].name)
            }
            Entity::Endpoint(endpoint) => {
                format!("flow `{}`", self.flows[self.endpoints[endpoint].flow].name)
            }
            Entity::Forecasts => "forecasts".to_owned(),
            Entity::Observer => "samples".to_owned(),
        }
    }
}
