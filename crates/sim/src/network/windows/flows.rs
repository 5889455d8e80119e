//! The flows of a window, one after the other.

use leobench_base::{EndpointId, FlowId, Meta, SimTime};

use super::Phase;
use super::mail::Letter;
use crate::network::schedule::Entity;
use crate::network::{Network, NetworkError};

impl Network {
    /// Works off the flows until `end`. Their order is that of their endpoints: as the smallest number acts first, it is also the
    /// order in which they act at one instant.
    pub(super) fn work_off_flows(&mut self, end: SimTime) -> Result<(), NetworkError> {
        self.windows.phase = Phase::Flows;
        for flow in self.flows.keys() {
            let Some(mut letters) = self.windows.mail.take(flow) else { continue };
            // Packets were last used long ago: reading all of a flow's at once lets the processor fetch them at the same time.
            for letter in letters.iter_mut().flatten() {
                let Meta { protocol, destination, .. } = self.store.at(letter.packet.slot).meta;
                letter.socket = Some((protocol, destination.port()));
            }
            let keeps_messages =
                self.observer.is_unreliable(flow) || self.observer.is_handed_over(flow);
            self.windows.effects.begin(keeps_messages);
            self.wakes.begin_turn(flow, self.flows[flow].ends);
            self.work_off_flow(flow, &mut letters, end)?;
            self.wakes.end_turn();
            self.windows.mail.give_back(flow, letters);
        }
        Ok(())
    }

    /// Works off the events of a flow until `end`, by time and class: packets arrive, its applications write, its endpoints act.
    fn work_off_flow(
        &mut self,
        flow: FlowId,
        letters: &mut [Vec<Letter>; 2],
        end: SimTime,
    ) -> Result<(), NetworkError> {
        let ends = self.flows[flow].ends;
        let mut letters = letters.each_mut().map(|letters| letters.drain(..).peekable());
        loop {
            let [sender, receiver] =
                letters.each_mut().map(|end| end.peek().map_or(SimTime::MAX, |letter| letter.at));
            let (arrival, to) = if receiver < sender { (receiver, 1) } else { (sender, 0) };
            let (wake, entity) = self.wakes.next_in_turn();
            let due = arrival.min(wake);
            if due >= end {
                return Ok(());
            }
            self.now = due;
            if arrival <= wake {
                if let Some(letter) = letters[to].next() {
                    self.count_step(Entity::Direction(letter.over))?;
                    self.open(ends[to], letter)?;
                }
                continue;
            }
            self.count_step(entity)?;
            match entity {
                Entity::Endpoint(endpoint) => self.poll(endpoint)?,
                _ => self.write(flow)?,
            }
        }
    }

    /// A packet has reached the end that it is for, unless that does not listen at its port.
    fn open(&mut self, to: EndpointId, letter: Letter) -> Result<(), NetworkError> {
        let node = self.endpoints[to].node;
        let listener =
            letter.socket.and_then(|(protocol, port)| self.listeners.get(&(node, protocol, port)));
        if listener == Some(&to) {
            return self.take_in(to, letter.packet);
        }
        self.windows.mail.refuse(letter.packet.slot);
        Ok(())
    }
}
