//! Handling of the peer's frames about paths (draft-ietf-quic-multipath section 4).

use leobench_base::SimTime;
use leobench_transport::Role;
use leobench_transport::endpoint::PathId;

use super::Multipath;
use crate::connection::{Connection, violation};
use crate::paths::{Path, PathSet, Stage};
use crate::wire::{Ack, NewConnectionId, Packet, PathFrame, TransportError};

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
        let multipath = self.multipath.as_ref().ok_or_else(not_agreed)?;
        let Some(id) = multipath.known_path(&self.paths, frame.path())? else { return Ok(()) };
        match frame {
            PathFrame::Abandon { .. } => self.on_abandon(now, id),
            PathFrame::Status { sequence, backup, .. } => {
                self.paths[id].on_peer_status(now, *sequence, *backup);
                Ok(())
            }
            PathFrame::NewConnectionId { new, .. } => self.on_new_path_id(now, id, new),
            PathFrame::RetireConnectionId { sequence, .. } => {
                let used = packet.header.destination();
                self.paths[id].ids.local.on_retired(*sequence, used)?;
                self.tell_peer();
                Ok(())
            }
            PathFrame::CidsBlocked { next, .. } => {
                if *next > self.paths[id].ids.local.next_sequence() {
                    return Err(violation("PATH_CIDS_BLOCKED beyond the IDs that were issued"));
                }
                Ok(())
            }
            PathFrame::MaxPathId(_) | PathFrame::PathsBlocked(_) => Ok(()),
        }
    }

    fn on_max_path_id(&mut self, now: SimTime, limit: u32) -> Result<(), TransportError> {
        let multipath = self.multipath.as_mut().ok_or_else(not_agreed)?;
        if limit < multipath.peer_first {
            return Err(violation("MAX_PATH_ID below the transport parameter"));
        }
        if limit > multipath.peer_max {
            multipath.peer_max = limit;
            self.allow_paths();
            self.manage_paths(now);
        }
        Ok(())
    }

    fn on_new_path_id(
        &mut self,
        now: SimTime,
        id: PathId,
        new: &NewConnectionId,
    ) -> Result<(), TransportError> {
        let path = &mut self.paths[id];
        if !matches!(path.stage, Stage::Unused | Stage::Open) {
            return Ok(());
        }
        path.ids.remote.on_new(new)?;
        if path.is_open() {
            // A server may have been without one until now.
            path.ids.remote.begin();
        }
        self.tell_peer();
        self.manage_paths(now);
        Ok(())
    }

    /// The peer acknowledges packets of a path.
    pub(in crate::connection) fn on_path_ack(
        &mut self,
        now: SimTime,
        packet: &Packet,
        number: u32,
        ack: &Ack,
    ) -> Result<(), TransportError> {
        let multipath = self.multipath.as_ref().ok_or_else(not_agreed)?;
        match multipath.known_path(&self.paths, number)? {
            None => Ok(()),
            Some(id) if self.paths[id].stage == Stage::Unused => {
                Err(violation("PATH_ACK of a path that was not used"))
            }
            Some(id) => self.on_ack(now, id, packet, ack),
        }
    }

    fn on_abandon(&mut self, now: SimTime, id: PathId) -> Result<(), TransportError> {
        let until = now + self.paths.longest_probe_timeout() * super::life::LINGER;
        match self.paths[id].stage {
            Stage::Open if !self.paths.except(id).any(Path::is_open) => {
                let who = if self.role == Role::Client { "server" } else { "client" };
                return Err(TransportError::new(
                    crate::wire::ErrorCode::NO_VIABLE_PATH,
                    format!("the {who} abandoned the last path"),
                ));
            }
            Stage::Unused | Stage::Open => self.abandon_path(now, id, 0, "abandoned by the peer"),
            Stage::Abandoned { .. } | Stage::Gone => {}
        }
        self.paths[id].stage = Stage::Abandoned { until: Some(until) };
        Ok(())
    }

    /// Frames about paths wait to be sent.
    pub(in crate::connection) fn tell_peer(&mut self) {
        if let Some(multipath) = &mut self.multipath {
            multipath.pending = true;
        }
    }
}

impl Multipath {
    /// The path that a frame names; none if it is gone, and the frame is to be ignored.
    ///
    /// # Errors
    /// `PROTOCOL_VIOLATION` if this end does not allow this one.
    fn known_path(&self, paths: &PathSet, number: u32) -> Result<Option<PathId>, TransportError> {
        if number > self.local_max {
            return Err(violation("a path ID beyond the limit"));
        }
        let path = paths.get(PathId(number)).filter(|path| path.stage != Stage::Gone);
        Ok(path.map(|path| path.id))
    }
}

#[cold]
fn not_agreed() -> TransportError {
    violation("a frame of multipath, which was not agreed on")
}
