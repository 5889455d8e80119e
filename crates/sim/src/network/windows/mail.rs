//! The packets that flows get in a window, and the flows that act in it.

use leobench_base::{DirectionId, FlowId, Protocol, SimTime, Slot};
use typed_index_collections::TiVec;

use crate::network::Network;
use crate::network::forwarding::Hop;
use crate::network::packets::Parting;
use crate::network::schedule::Entity;

/// The packets of a window by the flow that they are for.
pub(super) struct Mail {
    flows: TiVec<FlowId, FlowMail>,
    /// Ends of flows that get packets over several links.
    mixed: Vec<(FlowId, usize)>,
    /// Packets that no endpoint took.
    refused: Vec<Slot>,
}

/// The packets of a flow by [`End`](leobench_base::End), in order.
#[derive(Default)]
pub(super) struct FlowMail {
    /// Whether it acts in the window.
    acts: bool,
    pub(super) ends: [Vec<Letter>; 2],
}

/// A packet that arrives.
pub(super) struct Letter {
    pub(super) at: SimTime,
    pub(super) over: DirectionId,
    pub(super) packet: Parting,
    /// Protocol and port that it is for, once they are read.
    pub(super) socket: Option<(Protocol, u16)>,
}

impl Mail {
    pub(super) fn new(flows: usize) -> Self {
        let flows = (0..flows).map(|_| FlowMail::default()).collect();
        Self { flows, mixed: Vec::new(), refused: Vec::new() }
    }

    /// Takes out the packets of a flow, if it acts at all.
    pub(super) fn take(&mut self, flow: FlowId) -> Option<[Vec<Letter>; 2]> {
        let mail = &mut self.flows[flow];
        std::mem::take(&mut mail.acts).then(|| std::mem::take(&mut mail.ends))
    }

    /// Takes the emptied lists of a flow back, which keep their memory.
    pub(super) fn give_back(&mut self, flow: FlowId, mut ends: [Vec<Letter>; 2]) {
        ends.iter_mut().for_each(Vec::clear);
        self.flows[flow].ends = ends;
    }

    /// Notes a packet for a port at which nobody listens.
    #[cold]
    pub(super) fn refuse(&mut self, packet: Slot) {
        self.refused.push(packet);
    }

    /// Whether a packet was for a port at which nobody listens.
    #[inline]
    pub(super) fn was_refused(&self, packet: Slot) -> bool {
        self.refused.contains(&packet)
    }

    /// Ends a window.
    pub(super) fn clear(&mut self) {
        self.refused.clear();
    }

    /// Forgets the packets of a window that is not worked off.
    #[cold]
    fn forget(&mut self) {
        for mail in &mut self.flows {
            mail.acts = false;
            mail.ends.iter_mut().for_each(Vec::clear);
        }
        self.refused.clear();
    }

    /// Adds a packet; those of a link come in order.
    fn add(&mut self, flow: FlowId, end: usize, letter: Letter) {
        let mail = &mut self.flows[flow];
        mail.acts = true;
        let letters = &mut mail.ends[end];
        if letters.last().is_some_and(|last| last.over != letter.over && last.at >= letter.at) {
            self.mixed.push((flow, end));
        }
        letters.push(letter);
    }

    /// Orders packets that came over several links. Returns when an end first gets two of them at the same instant.
    fn order(&mut self) -> Option<SimTime> {
        let mut tie: Option<SimTime> = None;
        for (flow, end) in self.mixed.drain(..) {
            let letters = &mut self.flows[flow].ends[end];
            letters.sort_by_key(|letter| letter.at);
            let first = letters.windows(2).find_map(|pair| {
                (pair[0].at == pair[1].at && pair[0].over != pair[1].over).then_some(pair[0].at)
            });
            tie = tie.into_iter().chain(first).min();
        }
        tie
    }
}

impl Network {
    /// Collects the packets that arrive from `start` until `end`, and the flows that act. Returns when the window ends: earlier if an
    /// endpoint gets packets of several links at one instant, whose order depends on what the links pass on; none if it is empty.
    pub(super) fn collect(&mut self, start: SimTime, end: SimTime) -> Option<SimTime> {
        let Self { windows, directions, forwarding, flows, wakes, endpoints, observer, .. } = self;
        for over in observer.sampled().iter().copied() {
            let node = forwarding.edge(over).to;
            for (at, packet) in directions[over].arriving(end) {
                if forwarding.hop(node, packet.meta.label.to) != Hop::Here {
                    continue;
                }
                let end = |flow: FlowId| flows[flow].nodes.iter().position(|end| *end == node);
                match packet.meta.label.flow.and_then(|flow| Some((flow, end(flow)?))) {
                    Some((flow, end)) => {
                        let packet = Parting::of(packet);
                        windows.mail.add(flow, end, Letter { at, over, packet, socket: None });
                    }
                    None => windows.mail.refuse(packet.slot),
                }
            }
        }
        wakes.ends_before(end, |entity| {
            let flow = match entity {
                Entity::Application(flow) => Some(flow),
                Entity::Endpoint(endpoint) => Some(endpoints[endpoint].flow),
                _ => None,
            };
            if let Some(flow) = flow {
                windows.mail.flows[flow].acts = true;
            }
        });
        let Some(tie) = windows.mail.order() else { return Some(end) };
        windows.not_before = end;
        if tie <= start {
            windows.mail.forget();
            return None;
        }
        Some(tie)
    }
}
