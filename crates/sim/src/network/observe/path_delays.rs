//! One-way delays of packets by the path that they took.

use leobench_base::{Digest, FlowId, LogHistogram, Meta, SimTime};
use leobench_transport::PathId;
use typed_index_collections::TiVec;

/// Paths of a flow whose delays are counted at a time. A connection may open thousands one after the other, but uses few at once.
const MOST_COUNTED: usize = 16;

/// The delays of a flow's packets.
pub(super) struct PathDelays {
    /// Whether anything is counted: whether the flow may use several paths.
    counts: bool,
    counted: Vec<Counted>,
    /// Paths in whose place others came.
    digested: Vec<(PathId, Digest)>,
}

/// A path with the delays of its packets, in nanoseconds.
struct Counted {
    path: PathId,
    delays: LogHistogram,
    latest: SimTime,
}

impl PathDelays {
    /// Of so many flows, of which `several` may use several paths.
    pub(super) fn of_flows(flows: usize, several: &[FlowId]) -> TiVec<FlowId, Self> {
        let flows = (0..flows).map(FlowId::from);
        let new = |flow| Self {
            counts: several.contains(&flow),
            counted: Vec::new(),
            digested: Vec::new(),
        };
        flows.map(new).collect()
    }

    /// A packet of the flow that was sent at `sent` has arrived.
    #[inline]
    pub(super) fn arrived(&mut self, now: SimTime, meta: &Meta, sent: SimTime) {
        if self.counts && !meta.back {
            self.count(now, meta, sent);
        }
    }

    fn count(&mut self, now: SimTime, meta: &Meta, sent: SimTime) {
        let Some(path) = meta.transmission.map(PathId::of_transmission) else { return };
        let known = self.counted.iter().position(|counted| counted.path == path);
        let Some(place) = known.or_else(|| self.begin(path)) else { return };
        let counted = &mut self.counted[place];
        counted.delays.record(now.saturating_since(sent).as_nanos());
        counted.latest = now;
    }

    /// Begins to count the delays of another path, in the place of the one that has been silent for longest if there are too many.
    /// One that was given up for others is not counted again.
    #[cold]
    fn begin(&mut self, path: PathId) -> Option<usize> {
        if self.digested.iter().any(|(digested, _)| *digested == path) {
            return None;
        }
        let new = Counted { path, delays: LogHistogram::new(), latest: SimTime::ZERO };
        if self.counted.len() < MOST_COUNTED {
            self.counted.push(new);
            return Some(self.counted.len() - 1);
        }
        let places = self.counted.iter().enumerate();
        let (silent, _) = places.min_by_key(|(_, counted)| counted.latest)?;
        let former = std::mem::replace(&mut self.counted[silent], new);
        self.digested.extend(former.digest());
        Some(silent)
    }

    /// The delays by path, in order.
    pub(super) fn finish(mut self) -> Vec<(PathId, Digest)> {
        self.digested.extend(self.counted.iter().filter_map(Counted::digest));
        self.digested.sort_by_key(|(path, _)| *path);
        self.digested
    }
}

impl Counted {
    fn digest(&self) -> Option<(PathId, Digest)> {
        Some((self.path, self.delays.digest()?))
    }
}

#[cfg(test)]
mod tests {
    use leobench_base::{Bytes, Protocol, SimDuration};

    use super::*;

    fn meta(path: u32, packet: u64) -> Meta {
        let ends = [([10, 0, 0, 1], 1), ([10, 0, 0, 2], 2)].map(Into::into);
        let meta = Meta::new(SimTime::ZERO, Protocol::Udp, ends[0], ends[1], Bytes::new(1_200));
        Meta { transmission: PathId(path).transmission(packet), ..meta }
    }

    fn at(millis: u64) -> SimTime {
        SimTime::ZERO + SimDuration::from_millis(millis)
    }

    fn several() -> PathDelays {
        let one = FlowId::from(1);
        PathDelays::of_flows(2, &[one]).remove(one)
    }

    #[test]
    fn delays_count_by_path() {
        let mut delays = several();
        for (path, delay) in [(0, 10), (0, 12), (1, 60), (0, 11)] {
            delays.arrived(at(100 + delay), &meta(path, 7), at(100));
        }
        delays.arrived(at(999), &Meta { back: true, ..meta(0, 8) }, at(100));
        delays.arrived(at(999), &Meta { transmission: None, ..meta(0, 8) }, at(100));
        let found = delays.finish();
        let found = found.iter().map(|(path, of)| (path.0, of.mean / 1e6, of.max / 1_000_000));
        assert_eq!(found.collect::<Vec<_>>(), [(0, 11.0, 12), (1, 60.0, 60)]);
        let mut single = PathDelays::of_flows(2, &[FlowId::from(1)]).remove(FlowId::from(0));
        single.arrived(at(30), &meta(0, 1), at(10));
        assert_eq!(single.finish(), []);
    }

    /// A path that is used all the time stays, whatever opens beside it; each former one leaves some numbers.
    #[test]
    fn memory_follows_the_paths_in_use() {
        let mut delays = several();
        for path in 1..1_000 {
            for of in [0, path] {
                let now = u64::from(path);
                delays.arrived(at(now), &meta(of, now), at(now - 1));
            }
            assert!(delays.counted.len() <= MOST_COUNTED);
        }
        delays.arrived(at(2_000), &meta(3, 5), at(1_000));
        let found = delays.finish();
        assert_eq!(found.len(), 1_000);
        assert!(found.iter().zip(0..).all(|((path, _), number)| path.0 == number));
        assert!(found.iter().all(|(_, digest)| digest.max == 1_000_000), "of all packets in time");
    }
}
