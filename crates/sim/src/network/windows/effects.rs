//! The effects of flows on links and on tables, kept while flows are worked off.
//!
//! Packets go to links, and events to the observer where their order matters: those that may become rows, those about messages
//! that the network may lose, and those of a flow in a handover, which drops in the network concern as well. Whatever else an event
//! changes belongs to its flow alone, and changes at once.

use leobench_base::{End, FlowId, SimTime, StreamIndex};
use leobench_transport::Message;
use leobench_transport::endpoint::{Event, LossVerdict, MoveStep, PathId, Report};

use super::{Phase, Windows};
use crate::network::observe::{Addresses, NetworkEvent, Observer};
use crate::network::packets::Departure;
use crate::record::SinkError;

/// An effect of a flow on others.
pub(super) enum Effect {
    /// A packet leaves one of its endpoints.
    Packet(Departure),
    /// The observer learns something.
    Note(Note),
}

/// An event of a flow, with all that belongs to it.
pub(super) enum Note {
    Created { flow: FlowId, stream: StreamIndex, message: Message },
    Progress { flow: FlowId, report: Report },
    Endpoint { flow: FlowId, end: End, event: Event },
    Concluded { flow: FlowId, end: End, verdict: LossVerdict },
    Moved { flow: FlowId, end: End, step: MoveStep },
    Paths { flow: FlowId, paths: Vec<(PathId, Addresses)> },
}

/// The effects of the flows of a window.
#[derive(Default)]
pub(super) struct Effects {
    /// In the order in which they were kept: flow by flow.
    kept: Vec<Option<Effect>>,
    /// Their times and places, those of one instant in the order of their flows.
    order: Vec<(SimTime, u32)>,
    /// How many of them are applied.
    applied: usize,
    /// Whether all events about messages and moves of the present flow are kept.
    keeps_messages: bool,
}

impl Effects {
    /// Begins with the effects of another flow, whose messages the network may lose for good, or which goes through a handover.
    pub(super) fn begin(&mut self, keeps_messages: bool) {
        self.keeps_messages = keeps_messages;
    }

    fn keep(&mut self, now: SimTime, effect: Effect) {
        let place = u32::try_from(self.kept.len()).expect("fewer than 2^32 effects");
        self.order.push((now, place));
        self.kept.push(Some(effect));
    }

    /// Brings them into the order of time.
    pub(super) fn sort(&mut self) {
        self.order.sort_by_key(|(at, _)| *at);
    }

    /// Takes out the next one, if it is due before `end`.
    #[inline]
    pub(super) fn next_before(&mut self, end: SimTime) -> Option<(SimTime, Effect)> {
        let (at, place) = *self.order.get(self.applied).filter(|(at, _)| *at < end)?;
        self.applied += 1;
        Some((at, self.kept[place as usize].take()?))
    }

    pub(super) fn clear(&mut self) {
        self.kept.clear();
        self.order.clear();
        self.applied = 0;
    }
}

impl Windows {
    /// Passes an event of a flow to the observer, or keeps it.
    ///
    /// # Errors
    /// If a row cannot be written.
    #[expect(clippy::inline_always, reason = "packets pay for no choice between events")]
    #[inline(always)]
    pub(in crate::network) fn pass(
        &mut self,
        now: SimTime,
        event: NetworkEvent<'_>,
        observer: &mut Observer,
    ) -> Result<(), SinkError> {
        if self.phase == Phase::Flows && self.keeps(now, event, observer) {
            return Ok(());
        }
        observer.emit(now, event)
    }

    /// Keeps an event, if its order matters. From the first report on that may become rows, all others wait.
    fn keeps(&mut self, now: SimTime, event: NetworkEvent<'_>, observer: &Observer) -> bool {
        let effects = &mut self.effects;
        let note = match event {
            NetworkEvent::Progress { flow, report } => {
                effects.keeps_messages |= observer.may_be_recorded(flow, report);
                if !effects.keeps_messages {
                    return false;
                }
                Note::Progress { flow, report }
            }
            NetworkEvent::Created { flow, stream, message } if effects.keeps_messages => {
                Note::Created { flow, stream, message }
            }
            NetworkEvent::Endpoint { flow, end, event } => {
                Note::Endpoint { flow, end, event: event.clone() }
            }
            NetworkEvent::Concluded { flow, end, verdict } => {
                Note::Concluded { flow, end, verdict }
            }
            NetworkEvent::Moved { flow, end, step } if effects.keeps_messages => {
                Note::Moved { flow, end, step }
            }
            _ => return false,
        };
        effects.keep(now, Effect::Note(note));
        true
    }

    /// Keeps the new paths of a flow, whose offer counts for its messages from here on; whether it did.
    pub(in crate::network) fn keeps_paths(
        &mut self,
        now: SimTime,
        flow: FlowId,
        paths: &[(PathId, Addresses)],
    ) -> bool {
        if self.phase != Phase::Flows {
            return false;
        }
        self.effects.keeps_messages = true;
        self.effects.keep(now, Effect::Note(Note::Paths { flow, paths: paths.to_vec() }));
        true
    }

    /// Whether flows are worked off, so that packets are kept until links are.
    #[inline]
    pub(in crate::network) fn keeps_departures(&self) -> bool {
        self.phase == Phase::Flows
    }

    /// Keeps a packet until links are worked off.
    pub(in crate::network) fn keep_departure(&mut self, now: SimTime, departure: Departure) {
        self.effects.keep(now, Effect::Packet(departure));
    }
}
