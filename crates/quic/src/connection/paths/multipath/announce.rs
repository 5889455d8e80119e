//! The frames about paths that an end sends (draft-ietf-quic-multipath section 4).

use leobench_transport::endpoint::PathId;

use super::{Blocked, Multipath};
use crate::connection::transmit::PacketBuilder;
use crate::paths::{Path, PathSet, Stage};
use crate::sent_frame::SentFrame;
use crate::wire::{Frame, PathFrame};

impl Multipath {
    /// Adds the frames about paths.
    #[cold]
    pub(crate) fn add_frames(&mut self, paths: &mut PathSet, builder: &mut PacketBuilder) {
        while let Some((frame, carried)) = self.next_frame(paths) {
            if !builder.fits(&frame) {
                return;
            }
            self.on_frame_sent(paths, carried);
            builder.push(frame, Some(carried));
        }
        self.pending = false;
    }

    /// The next frame about paths to send, and what stands for it.
    fn next_frame(&self, paths: &PathSet) -> Option<(Frame, SentFrame)> {
        let (frame, carried) = if self.announces_max {
            let max = self.local_max;
            (PathFrame::MaxPathId(max), SentFrame::MaxPathId(max))
        } else if self.tells_blocked {
            let frame = match self.blocked? {
                Blocked::Limit(limit) => PathFrame::PathsBlocked(limit),
                Blocked::Ids(id) => {
                    let next = paths[id].ids.remote.next_expected();
                    PathFrame::CidsBlocked { path: id.0, next }
                }
            };
            (frame, SentFrame::PathsBlocked)
        } else {
            paths.iter().find_map(frame_of)?
        };
        Some((Frame::Path(frame), carried))
    }

    /// The frame that `carried` stands for was put into a packet.
    fn on_frame_sent(&mut self, paths: &mut PathSet, carried: SentFrame) {
        match carried {
            SentFrame::MaxPathId(_) => self.announces_max = false,
            SentFrame::PathsBlocked => self.tells_blocked = false,
            SentFrame::PathAbandon(path) => paths[PathId(path)].announces_abandon = false,
            SentFrame::PathStatus { path, .. } => paths[PathId(path)].status.on_sent(),
            SentFrame::PathNewConnectionId { path, .. } => {
                paths[PathId(path)].ids.local.on_announced();
            }
            SentFrame::PathRetireConnectionId { path, .. } => {
                paths[PathId(path)].ids.remote.on_retirement_sent();
            }
            _ => {}
        }
    }

    /// A packet with a frame about paths was lost, which is sent again if it still tells anything.
    #[cold]
    pub(crate) fn requeue(&mut self, paths: &mut PathSet, carried: &SentFrame) {
        self.pending = true;
        let number = match *carried {
            SentFrame::MaxPathId(max) => {
                self.announces_max |= max == self.local_max;
                return;
            }
            SentFrame::PathAbandon(path)
            | SentFrame::PathStatus { path, .. }
            | SentFrame::PathNewConnectionId { path, .. }
            | SentFrame::PathRetireConnectionId { path, .. } => path,
            _ => return,
        };
        // Of a path that is gone there is nothing to tell.
        let Some(path) = paths.get_mut(PathId(number)) else { return };
        match *carried {
            SentFrame::PathAbandon(_) => {
                path.announces_abandon = matches!(path.stage, Stage::Abandoned { .. });
            }
            SentFrame::PathStatus { sequence, .. } => path.status.on_lost(sequence),
            SentFrame::PathNewConnectionId { sequence, .. } => path.ids.local.on_lost(sequence),
            SentFrame::PathRetireConnectionId { sequence, .. } if path.is_open() => {
                path.ids.remote.on_retirement_lost(sequence);
            }
            _ => {}
        }
    }
}

/// The next frame about a path to send.
fn frame_of(known: &Path) -> Option<(PathFrame, SentFrame)> {
    let PathId(path) = known.id;
    if known.announces_abandon {
        let frame = PathFrame::Abandon { path, code: known.abandon_code };
        return Some((frame, SentFrame::PathAbandon(path)));
    }
    if known.status.pending && known.is_established() {
        return Some(known.status.frame(known.id));
    }
    if !matches!(known.stage, Stage::Unused | Stage::Open) {
        return None;
    }
    if let Some(new) = known.ids.local.announcement() {
        let sequence = new.sequence;
        let frame = PathFrame::NewConnectionId { path, new: Box::new(new) };
        return Some((frame, SentFrame::PathNewConnectionId { path, sequence }));
    }
    let sequence = known.ids.remote.retirement()?;
    let frame = PathFrame::RetireConnectionId { path, sequence };
    Some((frame, SentFrame::PathRetireConnectionId { path, sequence }))
}
