//! Windows: spans of time so short that nothing a flow sends in one arrives in it (conservative lookahead: Chandy and Misra,
//! "Distributed simulation", IEEE Transactions on Software Engineering 5, 1979).
//!
//! In a crowd of flows, each event meets a connection that others have pushed out of the processor's caches. In a window, flows are
//! worked off one after the other instead, each with all its events, and then the links, with the network in orbit. Results are those
//! of stepping from event to event, to the byte: flows meet in links and tables only, and [what they do there](effects) is kept until
//! the window's links are worked off, in order of time.

mod effects;
mod flows;
mod links;
mod mail;
#[cfg(test)]
mod tests;

use leobench_base::{Descriptor, DirectionId, SimDuration, SimTime};

use self::effects::Effects;
use self::mail::Mail;
use super::{Network, NetworkError};

/// Flows of a network in which windows pay. The connections of fewer stay in the caches.
const FEWEST_FLOWS: usize = 32;

/// The part of a window that is worked off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// None: the network steps from event to event.
    Steps,
    /// A flow, apart from all others.
    Flows,
    /// Links and the network in orbit, and the effects of flows on them.
    Links,
}

/// The windows of a network.
pub(super) struct Windows {
    /// Whether there are any.
    apply: bool,
    phase: Phase,
    mail: Mail,
    effects: Effects,
    /// Steps until the next window is looked for.
    pause: u64,
    /// When the next one begins at the earliest.
    not_before: SimTime,
    /// How many there were.
    count: u64,
}

impl Windows {
    /// None, in a network of so many flows.
    pub(super) fn new(flows: usize) -> Self {
        Self {
            apply: false,
            phase: Phase::Steps,
            mail: Mail::new(flows),
            effects: Effects::default(),
            pause: 0,
            not_before: SimTime::ZERO,
            count: 0,
        }
    }

    /// Whether packets that reach their node are at their endpoints already: when links are worked off, flows have had theirs.
    #[inline]
    pub(super) fn have_handed_over(&self) -> bool {
        self.phase == Phase::Links
    }

    /// Whether no endpoint took a packet of the window.
    #[inline]
    pub(super) fn have_refused(&self, packet: &Descriptor) -> bool {
        self.mail.was_refused(packet.slot)
    }
}

impl Network {
    /// Decides whether there are windows in this network. Flows whose `plugins` have a common host may depend on each other.
    pub(super) fn choose_windows(&mut self, plugins: bool) {
        let many = self.flows.len() >= FEWEST_FLOWS;
        self.windows.apply = many && !plugins && self.has_independent_flows();
    }

    /// Whether flows meet in links and tables only, and none in the order of captured packets. Nodes may move over a network in orbit,
    /// if no sender is told of it.
    fn has_independent_flows(&self) -> bool {
        let moves_in_orbit_only = self.topologies.is_empty() || self.transit.is_some();
        let nobody_is_told = self.forecasters.is_empty() && self.access.next().is_none();
        let is_closed = self.ports.is_empty() && !self.ends_outside;
        let translates = self.nats.iter().any(Option::is_some);
        let follows_packets = self.observer.packets || self.captures.is_some();
        let is_apart = self.flows.iter().all(|flow| flow.nodes[0] != flow.nodes[1]);
        let has_links_only = self.transmitters.is_none() && is_closed && !translates;
        moves_in_orbit_only && nobody_is_told && has_links_only && !follows_packets && is_apart
    }

    /// Works off at least so many events, as windows are not split, or as many as are due at or before `to`. Returns their number,
    /// zero if nothing was due. `to` must not change from call to call.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn run(&mut self, to: SimTime, events: u64) -> Result<u64, NetworkError> {
        let mut done = 0;
        while done < events {
            match self.stride(to)? {
                0 => break,
                more => done += more,
            }
        }
        Ok(done)
    }

    /// Works off a window that ends before `to`, or else the next thing due, if it is due at or before `to`. Returns the number of
    /// events; zero if nothing was due. `to` must not change from call to call.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    fn stride(&mut self, to: SimTime) -> Result<u64, NetworkError> {
        if self.windows.apply {
            if self.windows.pause == 0 {
                let events = self.window(to)?;
                if events > 0 {
                    return Ok(events);
                }
            } else {
                self.windows.pause -= 1;
            }
        }
        self.step(to).map(u64::from)
    }

    /// Works off a window that ends at `to` at the latest, if there is one. Returns the number of its events.
    fn window(&mut self, to: SimTime) -> Result<u64, NetworkError> {
        let Some(start) = self.wakes.next_instant() else { return Ok(0) };
        if start < self.windows.not_before {
            return Ok(0);
        }
        let (mut events, end) = (0, self.window_end(start, to));
        if end > start
            && let Some(end) = self.collect(start, end)
        {
            let before = self.steps;
            self.work_off_flows(end)?;
            self.work_off_links(end)?;
            events = self.steps - before;
            self.windows.count += 1;
        }
        // A look at a window costs as much as a few steps for each link.
        let cost = (self.directions.len() + self.channels.len()) as u64;
        self.windows.pause = cost.saturating_sub(events);
        Ok(events)
    }

    /// The end of a window that begins at `start`: nothing but flows, links and the network in orbit acts before it, and no packet that
    /// is sent in it, or whose last transmission ends in it, arrives.
    fn window_end(&self, start: SimTime, to: SimTime) -> SimTime {
        let delays = self.observer.sampled().iter().map(|link| self.shortest_delay(*link));
        let lookahead = delays.min().unwrap_or_default();
        (start + lookahead).min(self.wakes.first_other()).min(to)
    }

    /// No packet over a link arrives sooner after its last transmission, until the network changes.
    fn shortest_delay(&self, direction: DirectionId) -> SimDuration {
        let link = &self.directions[direction];
        match &self.transit {
            _ if link.is_overlapping() => SimDuration::ZERO,
            Some(transit) if transit.serves(direction) => link.own_delay() + transit.last_delay(),
            _ => link.delay(),
        }
    }
}
