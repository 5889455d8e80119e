//! The links of a window and the network in orbit, and the effects of flows on them, in order of time.

use leobench_base::SimTime;

use super::Phase;
use super::effects::{Effect, Note};
use crate::network::observe::NetworkEvent;
use crate::network::schedule::Entity;
use crate::network::{Network, NetworkError};

impl Network {
    /// Works off links and effects until `end`. At one instant, links come first, as flows act after them.
    pub(super) fn work_off_links(&mut self, end: SimTime) -> Result<(), NetworkError> {
        self.windows.phase = Phase::Links;
        self.windows.effects.sort();
        loop {
            let link = self.wakes.next().filter(|(time, _)| *time < end);
            let due = link.map_or(SimTime::MAX, |(time, _)| time);
            if let Some((at, effect)) = self.windows.effects.next_before(due) {
                self.wakes.begin(at);
                self.now = at;
                match effect {
                    Effect::Packet(departure) => self.set_off(departure)?,
                    Effect::Note(note) => self.apply_note(&note)?,
                }
            } else if let Some((time, entity)) = link {
                self.wakes.begin(time);
                self.now = time;
                self.count_step(entity)?;
                match entity {
                    Entity::Direction(direction) => self.transmit(direction)?,
                    Entity::Transit => self.serve_transit()?,
                    _ => unreachable!("only links and the network in orbit act in a window"),
                }
            } else {
                break;
            }
        }
        self.windows.effects.clear();
        self.windows.mail.clear();
        self.windows.phase = Phase::Steps;
        Ok(())
    }

    /// Passes on an event of a flow that was kept.
    #[cold]
    fn apply_note(&mut self, note: &Note) -> Result<(), NetworkError> {
        let event = match *note {
            Note::Created { flow, stream, message } => {
                NetworkEvent::Created { flow, stream, message }
            }
            Note::Progress { flow, report } => NetworkEvent::Progress { flow, report },
            Note::Endpoint { flow, end, ref event } => NetworkEvent::Endpoint { flow, end, event },
            Note::Concluded { flow, end, verdict } => {
                NetworkEvent::Concluded { flow, end, verdict }
            }
            Note::Moved { flow, end, step } => NetworkEvent::Moved { flow, end, step },
            Note::Paths { flow, ref paths } => return self.follow_paths(flow, paths),
        };
        Ok(self.observer.emit(self.now, event)?)
    }
}
