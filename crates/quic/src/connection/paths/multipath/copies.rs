//! Data that is sent on more than one path: because the scheduler wants it so, or because a path has nothing else to send and may
//! overtake a slower one (as in XLINK, Zheng et al. 2021, SIGCOMM, section 5.2).

use leobench_base::SimTime;
use leobench_transport::endpoint::PathId;
use leobench_transport::path_scheduler::PathIds;

use super::Multipath;
use crate::connection::Connection;
use crate::connection::transmit::PacketBuilder;
use crate::paths::StreamRange;
use crate::sent_frame::SentFrame;
use crate::spec::Reinject;
use crate::wire::Space;

/// Copies of other paths' data that a path keeps for sending at most: the oldest matter most.
const MOST_COPIES: usize = 65_536;

impl Connection {
    /// Has what the latest packet of the first of these paths carried sent on the others too, as soon as they have room.
    pub(super) fn copy_latest(&mut self, paths: &PathIds) {
        let Some((first, others)) = paths.split_first() else { return };
        let Some(latest) = self.paths[*first].recovery.latest(Space::Data) else { return };
        let ranges: smallvec::SmallVec<[StreamRange; 4]> =
            latest.carried.iter().filter_map(StreamRange::of).collect();
        for id in others {
            let Some(member) = &mut self.paths[*id].member else { continue };
            if member.copies.len() < MOST_COPIES {
                member.copies.extend(ranges.iter().copied());
            }
            if member.prune_copies(|range| self.streams.is_unacked(range))
                && let Some(multipath) = &mut self.multipath
            {
                multipath.has_copies = true;
            }
        }
    }

    /// Adds copies of other paths' data that nobody has acknowledged.
    pub(in crate::connection) fn add_copies(&mut self, builder: &mut PacketBuilder) {
        let Self { paths, streams, .. } = self;
        let Some(member) = &mut paths[builder.path].member else { return };
        while let Some(range) = member.copies.front_mut() {
            let room = builder.room;
            let (frames, carried) = builder.frames_mut();
            let (used, bytes) = streams.fill_copy(range, room, frames, carried);
            builder.on_streams(used);
            member.reinjected += bytes;
            if !range.is_empty() {
                return;
            }
            member.copies.pop_front();
        }
    }

    /// With nothing new to send, has a path repeat the oldest unacknowledged data of slower paths that it may overtake: each
    /// packet once. Returns whether there was any.
    pub(super) fn reinject(&mut self, now: SimTime, id: PathId) -> bool {
        let Some(multipath) = &mut self.multipath else { return false };
        if multipath.offer.reinject != Reinject::Idle
            || !self.paths.has_room_for_data(now, id, &self.control)
        {
            return false;
        }
        let fast = self.paths[id].recovery.rtt().smoothed();
        for slow in self.paths.open().clone() {
            let path = &mut self.paths[slow];
            let rtt = path.recovery.rtt();
            let (smoothed, late) = (rtt.smoothed(), rtt.smoothed() + rtt.variation() * 4);
            if slow == id || smoothed <= fast {
                continue;
            }
            // The copy arrives first, or the acknowledgement of the original is overdue.
            let overtakes =
                |sent: SimTime| now + fast / 2 < sent + smoothed / 2 || sent + late < now;
            let repeated = path.recovery.repeat_oldest(overtakes);
            let ranges: smallvec::SmallVec<[StreamRange; 4]> =
                repeated.iter().flatten().filter_map(StreamRange::of).collect();
            let Some(member) = &mut self.paths[id].member else { continue };
            member.copies.extend(ranges);
            if member.prune_copies(|range| self.streams.is_unacked(range)) {
                multipath.has_copies = true;
                return true;
            }
        }
        false
    }
}

impl Multipath {
    /// Whether what is on a path that does not answer is left to loss detection.
    pub(in crate::connection) fn never_reinjects(&self) -> bool {
        self.offer.reinject == Reinject::Never
    }
}

impl StreamRange {
    /// The data of a frame, if it carries any.
    fn of(carried: &SentFrame) -> Option<Self> {
        match *carried {
            SentFrame::Stream { id, start, len, fin } => {
                Some(Self { id, start, end: start + u64::from(len), fin })
            }
            _ => None,
        }
    }

    /// Whether nothing is left of it.
    fn is_empty(&self) -> bool {
        self.start >= self.end && !self.fin
    }
}
