//! Which path acknowledges what (draft-ietf-quic-multipath section 5.5).

use leobench_base::SimTime;
use leobench_base::varint::varint_size;
use leobench_transport::endpoint::PathId;
use smallvec::SmallVec;

use super::Multipath;
use crate::connection::transmit::{ACK_DELAY_EXPONENT, PacketBuilder};
use crate::paths::{Path, PathSet};
use crate::sent_frame::SentFrame;
use crate::spec::AckPath;
use crate::wire::Frame;

impl Multipath {
    /// Whether an acknowledgement is due that path `id` is to carry.
    #[inline]
    pub(crate) fn owes_ack(&self, paths: &PathSet, now: SimTime, id: PathId) -> bool {
        let due = |path: &Path| {
            path.acks.received.is_due(now) && self.ack_path(paths, path.id) == Some(id)
        };
        paths.iter().any(due)
    }

    /// The path that acknowledges packets of path `of`.
    fn ack_path(&self, paths: &PathSet, of: PathId) -> Option<PathId> {
        let can_send = |path: &Path| path.is_open() && path.ids.remote.is_in_use();
        if let [only] = paths.open()[..] {
            return Some(only);
        }
        let usable = || paths.open().iter().copied().filter(|id| paths[*id].is_usable());
        match self.offer.acks {
            AckPath::SamePath if can_send(&paths[of]) => Some(of),
            AckPath::RoundRobin => {
                let count = usable().count();
                usable().nth(self.turn.checked_rem(count)?)
            }
            AckPath::SamePath | AckPath::Fastest => usable().min_by_key(|id| {
                let path = &paths[*id];
                (path.recovery.pto_count() > 0, path.recovery.rtt().smoothed())
            }),
        }
    }

    /// Adds the acknowledgements that the packet's path is to carry, if one is due, or if something is sent anyway.
    pub(crate) fn add_acks(
        &mut self,
        paths: &mut PathSet,
        now: SimTime,
        builder: &mut PacketBuilder,
    ) {
        let wanted = |path: &&Path| {
            let received = &path.acks.received;
            received.is_due(now) || received.is_pending()
        };
        let owing: SmallVec<[PathId; 8]> =
            paths.iter().filter(wanted).map(|path| path.id).collect();
        for of in owing {
            if self.ack_path(paths, of) != Some(builder.path) {
                continue;
            }
            let PathId(path) = of;
            let room = builder.room.saturating_sub(varint_size(path.into()));
            let received = &mut paths[of].acks.received;
            if let Some(ack) = received.ack_frame(now, room, ACK_DELAY_EXPONENT) {
                received.on_ack_sent();
                let largest = ack.largest();
                let carried = SentFrame::PathAck { path, largest };
                builder.push(Frame::PathAck { path, ack }, Some(carried));
                self.turn = self.turn.wrapping_add(1);
            }
        }
    }
}
