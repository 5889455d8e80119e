//! The consequences of acknowledged and lost packets for what they carried (RFC 9000 section 13.3).

use leobench_base::packet::Datagram;
use leobench_transport::endpoint::PathId;

use super::Connection;
use crate::sent_frame::SentFrame;
use crate::wire::Space;

impl Connection {
    /// Tells those whose data was acknowledged or lost, in packets of a path.
    pub(super) fn settle_outcome(&mut self, id: PathId) {
        self.settle_acked(id);
        if !self.outcome.lost.is_empty() {
            self.settle_lost(id);
        }
        self.outcome.empty();
    }

    /// Tells those whose data was acknowledged.
    fn settle_acked(&mut self, id: PathId) {
        let Self { outcome, streams, paths, handshake, datagrams, .. } = self;
        let space = outcome.space;
        for packet in outcome.acked.iter().chain(&outcome.late) {
            for carried in &packet.carried {
                match carried {
                    SentFrame::Stream { .. } | SentFrame::ResetStream(_) => {
                        streams.on_acked(carried);
                    }
                    SentFrame::Ack { largest } => {
                        handshake.acks_mut(paths, id, space).received.on_ack_acked(*largest);
                    }
                    SentFrame::PathAck { path, largest } => {
                        if let Some(path) = paths.get_mut(PathId(*path)) {
                            path.acks.received.on_ack_acked(*largest);
                        }
                    }
                    SentFrame::Crypto { start, end } => {
                        handshake.streams[space as usize].on_acked(*start, *end);
                    }
                    SentFrame::Datagram(number) => datagrams.on_acked(*number),
                    SentFrame::RetireConnectionId(sequence) => {
                        paths.first_mut().ids.remote.on_retirement_acked(*sequence);
                    }
                    SentFrame::PathRetireConnectionId { path, sequence } => {
                        if let Some(path) = paths.get_mut(PathId(*path)) {
                            path.ids.remote.on_retirement_acked(*sequence);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Tells those whose data was lost.
    #[cold]
    fn settle_lost(&mut self, id: PathId) {
        let (space, mut lost) = (self.outcome.space, std::mem::take(&mut self.outcome.lost));
        for packet in &lost {
            if space == Space::Data && packet.ack_eliciting {
                self.reports.judge(&self.paths[id], packet);
            }
            for carried in &packet.carried {
                match carried {
                    SentFrame::Datagram(number) => self.datagrams.on_lost(*number),
                    &SentFrame::Part { message, id, stream, payload } => {
                        let payload = payload.into();
                        self.streams.on_datagram_lost(Datagram { message, id, stream, payload });
                    }
                    _ if packet.repeated => {}
                    carried => self.requeue(space, carried),
                }
            }
        }
        lost.clear();
        self.outcome.lost = lost;
    }

    /// Sends something again, if it is still of use (RFC 9000 section 13.3).
    #[cold]
    pub(super) fn requeue(&mut self, space: Space, carried: &SentFrame) {
        match carried {
            SentFrame::Crypto { start, end } => {
                self.handshake.stream_mut(space).on_lost(*start, *end);
            }
            SentFrame::HandshakeDone => self.handshake.announces_confirmation = true,
            SentFrame::NewConnectionId(sequence) => {
                self.paths.first_mut().ids.local.on_lost(*sequence);
            }
            SentFrame::RetireConnectionId(sequence) => {
                self.paths.first_mut().ids.remote.on_retirement_lost(*sequence);
            }
            SentFrame::AckFrequency => self.ack_control.pending = true,
            SentFrame::PathAbandon(_)
            | SentFrame::PathStatus { .. }
            | SentFrame::PathNewConnectionId { .. }
            | SentFrame::PathRetireConnectionId { .. }
            | SentFrame::MaxPathId(_) => {
                if let Some(multipath) = &mut self.multipath {
                    multipath.requeue(&mut self.paths, carried);
                }
            }
            // The next acknowledgement has these ranges too, a challenge has its own timer, and the others are sent once.
            SentFrame::Ack { .. }
            | SentFrame::PathAck { .. }
            | SentFrame::PathsBlocked
            | SentFrame::Datagram(_)
            | SentFrame::Part { .. }
            | SentFrame::PathChallenge
            | SentFrame::PathResponse
            | SentFrame::Ping => {}
            carried => self.streams.on_lost(carried),
        }
    }
}
