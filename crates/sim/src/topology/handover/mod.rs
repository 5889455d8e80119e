//! Handovers: a node that moves from one of its links to the next.

use std::collections::VecDeque;

use leobench_base::clock::Clock;
use leobench_base::{LinkId, NodeId, SimDuration, SimTime};

use super::{Access, Attachment, Change, HandoverStage, LeftPackets, Stage, Topology};

/// How a node moves between its links.
#[derive(Clone, Debug)]
pub struct HandoverConfig {
    /// The node.
    pub node: NodeId,
    /// Its links in the order of use, the first in use at the start; the first follows the last. At least two, and no
    /// link twice in a row.
    pub links: Vec<LinkId>,
    /// Times or conditions of the handovers.
    pub trigger: Trigger,
    /// How the two links are in use one after the other.
    pub transition: Transition,
    /// Fate of the packets on a link that is left.
    pub left: LeftPackets,
}

/// Times or conditions that start a handover.
#[derive(Clone, Debug)]
pub enum Trigger {
    /// Each of these instants, in order.
    At(VecDeque<SimTime>),
    /// Every instant of a clock.
    Clock(Clock),
    /// The link in use has been down for so long without a break since the node came to it, and another one is up; if `back`
    /// is given, the node returns to the first link once that has been up for so long. Each handover leads to a link that is
    /// up, so there are no more of them than changes of the channels.
    Down {
        /// How long it takes to notice that the link is down.
        after: SimDuration,
        /// How long the first link must have been up again.
        back: Option<SimDuration>,
    },
}

/// How two links are in use one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// The old one is left first; for so long, there is none.
    BreakBeforeMake(SimDuration),
    /// The new one is in use first; for so long, the old one goes on for what was sent over it.
    MakeBeforeBreak(SimDuration),
}

/// A node that moves between its links, as a state machine.
///
/// A handover that begins while the one before is under way ends that one at once, or cuts it short if the node is without
/// a link.
#[derive(Debug)]
pub struct Handover {
    config: HandoverConfig,
    /// Position in `links` of the one in use, or to be used.
    position: usize,
    /// When the next one begins, if that is known.
    next: Option<SimTime>,
    pending: Option<Pending>,
    number: u64,
    /// Since when the link in use is in use, or from when it will be.
    arrival: SimTime,
    /// By position in `links`: since when it is up or down.
    states: Vec<(bool, SimTime)>,
    begun: bool,
}

/// A handover under way.
#[derive(Clone, Copy, Debug)]
struct Pending {
    ends: SimTime,
    from: LinkId,
    to: LinkId,
    number: u64,
}

impl Handover {
    /// At the start of a run: the first link is in use, the others are not.
    ///
    /// # Panics
    /// If there are fewer than two links, or one follows itself.
    pub fn new(config: HandoverConfig) -> Self {
        let count = config.links.len();
        assert!(count > 1, "a handover needs two links");
        assert!((0..count).all(|at| config.links[at] != config.links[(at + 1) % count]));
        let states = config.links.iter().map(|_| (true, SimTime::ZERO)).collect();
        let mut handover = Self {
            config,
            position: 0,
            next: None,
            pending: None,
            number: 0,
            arrival: SimTime::ZERO,
            states,
            begun: false,
        };
        handover.schedule(SimTime::ZERO);
        handover
    }

    /// Finds out when the next handover begins: later than `now` if the time alone says when, and not before it otherwise.
    fn schedule(&mut self, now: SimTime) {
        let due = [self.leaves_at(), self.returns_at()].into_iter().flatten().min();
        self.next = match &mut self.config.trigger {
            Trigger::At(times) => times.pop_front(),
            Trigger::Clock(clock) => Some(clock.next(now)),
            Trigger::Down { .. } => due.map(|due| due.max(now)),
        };
    }

    /// When the node leaves the link in use because that is down.
    fn leaves_at(&self) -> Option<SimTime> {
        let Trigger::Down { after, .. } = self.config.trigger else { return None };
        let (up, since) = self.states[self.position];
        (!up && self.next_up().is_some()).then(|| since.max(self.arrival) + after)
    }

    /// When the node returns to its first link because that is up again.
    fn returns_at(&self) -> Option<SimTime> {
        let Trigger::Down { back, .. } = self.config.trigger else { return None };
        let (up, since) = self.states[0];
        let is_elsewhere = self.config.links[self.position] != self.config.links[0];
        back.filter(|_| up && is_elsewhere).map(|back| since + back)
    }

    /// The position of the next link in order that is up, if there is one beside the link in use.
    fn next_up(&self) -> Option<usize> {
        let (count, in_use) = (self.states.len(), self.config.links[self.position]);
        let mut others = (1..count).map(|step| (self.position + step) % count);
        others.find(|at| self.states[*at].0 && self.config.links[*at] != in_use)
    }

    /// The position in `links` that a handover beginning at `now` leads to.
    fn target(&self, now: SimTime) -> usize {
        if self.returns_at().is_some_and(|returns| returns <= now) {
            return 0;
        }
        let watches = matches!(self.config.trigger, Trigger::Down { .. });
        let up = self.next_up().filter(|_| watches);
        up.unwrap_or((self.position + 1) % self.config.links.len())
    }

    fn attach(&self, link: LinkId, attachment: Attachment) -> Change {
        Change::Attach { link, attachment, left: self.config.left }
    }

    fn stage(&self, pending: Pending, stage: Stage) -> Change {
        let Pending { from, to, number, .. } = pending;
        Change::Handover(HandoverStage {
            number,
            node: self.config.node,
            from: Access::Link(from),
            to: Access::Link(to),
            overlaps: matches!(self.config.transition, Transition::MakeBeforeBreak(_)),
            stage,
        })
    }

    fn begin(&mut self, now: SimTime, changes: &mut Vec<Change>) {
        let cut = match self.config.transition {
            Transition::BreakBeforeMake(_) => Stage::Cut,
            Transition::MakeBeforeBreak(_) => Stage::End,
        };
        self.end(cut, changes);
        let from = self.config.links[self.position];
        self.position = self.target(now);
        let to = self.config.links[self.position];
        let (Transition::BreakBeforeMake(span) | Transition::MakeBeforeBreak(span)) =
            self.config.transition;
        let pending = Pending { ends: now + span, from, to, number: self.number };
        self.arrival = match self.config.transition {
            Transition::BreakBeforeMake(_) => pending.ends,
            Transition::MakeBeforeBreak(_) => now,
        };
        changes.push(self.stage(pending, Stage::Begin));
        match self.config.transition {
            Transition::BreakBeforeMake(_) => changes.push(self.attach(from, Attachment::Detached)),
            Transition::MakeBeforeBreak(_) => {
                changes.push(self.attach(from, Attachment::Standby));
                changes.push(self.attach(to, Attachment::Active));
            }
        }
        self.number += 1;
        self.pending = Some(pending);
        if span.is_zero() {
            self.end(Stage::End, changes);
        }
        self.schedule(now);
    }

    /// Ends the handover under way, if there is one, with this stage.
    fn end(&mut self, stage: Stage, changes: &mut Vec<Change>) {
        let Some(pending) = self.pending.take() else { return };
        changes.push(match self.config.transition {
            Transition::BreakBeforeMake(_) => self.attach(pending.to, Attachment::Active),
            Transition::MakeBeforeBreak(_) => self.attach(pending.from, Attachment::Detached),
        });
        changes.push(self.stage(pending, stage));
    }
}

impl Topology for Handover {
    fn next_change(&self) -> Option<SimTime> {
        if !self.begun {
            return Some(SimTime::ZERO);
        }
        let ends = self.pending.map(|pending| pending.ends);
        ends.into_iter().chain(self.next).min()
    }

    fn advance(&mut self, now: SimTime, changes: &mut Vec<Change>) {
        if !self.begun {
            self.begun = true;
            for link in &self.config.links {
                if *link != self.config.links[0] {
                    changes.push(self.attach(*link, Attachment::Detached));
                }
            }
        }
        let Some(due) = self.next_change().filter(|due| *due <= now) else { return };
        if self.pending.is_some_and(|pending| pending.ends == due) {
            self.end(Stage::End, changes);
        } else {
            self.begin(due, changes);
        }
    }

    fn on_channel(&mut self, now: SimTime, link: LinkId, up: bool) -> bool {
        for (own, state) in self.config.links.iter().zip(&mut self.states) {
            if *own == link && state.0 != up {
                *state = (up, now);
            }
        }
        let watches = matches!(self.config.trigger, Trigger::Down { .. });
        if watches {
            self.schedule(now);
        }
        watches
    }
}

#[cfg(test)]
mod tests;
