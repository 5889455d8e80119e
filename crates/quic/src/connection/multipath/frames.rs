//! Handling of the peer's frames about paths (draft-ietf-quic-multipath section 4).

use leobench_base::SimTime;
use leobench_transport::Role;

use super::super::{Connection, violation};
use crate::path::Stage;
use crate::wire::{Ack, NewConnectionId, Packet, PathFrame, Space, TransportError};

impl Connection {
    /// Takes in a frame about paths.
    #[cold]
    pub(in crate::connection) fn on_path_frame(
        &mut self,
        now: SimTime,
        packet: &Packet,
        frame: &PathFrame,
    ) -> Result<(), TransportError> {
        if let PathFrame::MaxPathId(limit) = frame {
            return self.on_max_path_id(now, *limit);
        }
        let Some(at) = self.known_path(frame.path())? else { return Ok(()) };
        match frame {
            PathFrame::Abandon { .. } => self.on_abandon(now, at),
            PathFrame::Status { sequence, backup, .. } => {
                let status = &mut self.paths[at].status;
                if status.peer_sequence.is_none_or(|last| last < *sequence) {
                    (status.peer_backup, status.peer_sequence) = (*backup, Some(*sequence));
                }
                Ok(())
            }
            PathFrame::NewConnectionId { new, .. } => self.on_new_path_id(now, at, new),
            PathFrame::RetireConnectionId { sequence, .. } => {
                let used = packet.header.destination();
                self.paths[at].ids.local.on_retired(*sequence, used)?;
                self.tell_peer();
                Ok(())
            }
            PathFrame::CidsBlocked { next, .. } => {
                if *next > self.paths[at].ids.local.next_sequence() {
                    return Err(violation("PATH_CIDS_BLOCKED beyond the IDs that were issued"));
                }
                Ok(())
            }
            PathFrame::MaxPathId(_) | PathFrame::PathsBlocked(_) => Ok(()),
        }
    }

    /// The place of the path that a frame names; none if it is gone, and the frame is to be ignored.
    ///
    /// # Errors
    /// `PROTOCOL_VIOLATION` if several paths are not in use, or this end does not allow this one.
    fn known_path(&self, id: u32) -> Result<Option<usize>, TransportError> {
        let Some(multipath) = &self.multipath else {
            return Err(violation("a frame of multipath, which was not agreed on"));
        };
        if id > multipath.local_max {
            return Err(violation("a path ID beyond the limit"));
        }
        let path = self.paths.get(id as usize).filter(|path| path.stage != Stage::Gone);
        Ok(path.map(|path| path.id.0 as usize))
    }

    fn on_max_path_id(&mut self, now: SimTime, limit: u32) -> Result<(), TransportError> {
        let Some(multipath) = &mut self.multipath else {
            return Err(violation("a frame of multipath, which was not agreed on"));
        };
        if limit < multipath.peer_first {
            return Err(violation("MAX_PATH_ID below the transport parameter"));
        }
        if limit > multipath.peer_max {
            multipath.peer_max = limit;
            self.allow_paths();
            self.want_paths(now);
        }
        Ok(())
    }

    fn on_new_path_id(
        &mut self,
        now: SimTime,
        at: usize,
        new: &NewConnectionId,
    ) -> Result<(), TransportError> {
        let path = &mut self.paths[at];
        if !matches!(path.stage, Stage::Unused | Stage::Open) {
            return Ok(());
        }
        path.ids.remote.on_new(new)?;
        if path.is_open() {
            // A server may have been without one until now.
            path.ids.remote.begin();
        }
        self.tell_peer();
        self.want_paths(now);
        Ok(())
    }

    /// The peer acknowledges packets of a path.
    pub(in crate::connection) fn on_path_ack(
        &mut self,
        now: SimTime,
        packet: &Packet,
        id: u32,
        ack: &Ack,
    ) -> Result<(), TransportError> {
        match self.known_path(id)? {
            None => Ok(()),
            Some(at) if self.paths[at].stage == Stage::Unused => {
                Err(violation("PATH_ACK of a path that was not used"))
            }
            Some(at) => self.on_ack_of(now, packet, at, ack),
        }
    }

    /// Takes in an acknowledgement of 1-RTT packets of a path.
    pub(in crate::connection) fn on_ack_of(
        &mut self,
        now: SimTime,
        packet: &Packet,
        at: usize,
        ack: &Ack,
    ) -> Result<(), TransportError> {
        let came_on = std::mem::replace(&mut self.active, at);
        let taken = self.on_ack(now, packet, Space::Data, ack);
        self.active = came_on;
        taken
    }

    fn on_abandon(&mut self, now: SimTime, at: usize) -> Result<(), TransportError> {
        let until = now + self.longest_probe_timeout() * super::life::LINGER;
        match self.paths[at].stage {
            Stage::Open
                if !self.paths.numbered().any(|(other, path)| other != at && path.is_open()) =>
            {
                let who = if self.role == Role::Client { "server" } else { "client" };
                return Err(TransportError::new(
                    crate::wire::ErrorCode::NO_VIABLE_PATH,
                    format!("the {who} abandoned the last path"),
                ));
            }
            Stage::Unused | Stage::Open => self.abandon_path(now, at, 0, "abandoned by the peer"),
            Stage::Abandoned { .. } | Stage::Gone => {}
        }
        self.paths[at].stage = Stage::Abandoned { until: Some(until) };
        Ok(())
    }

    /// Frames about paths wait to be sent.
    pub(in crate::connection) fn tell_peer(&mut self) {
        if let Some(multipath) = &mut self.multipath {
            multipath.pending = true;
        }
    }
}
