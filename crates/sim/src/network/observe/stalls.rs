//! The longest time in which a flow delivered nothing although data waited and its path was open.

use leobench_base::{SimDuration, SimTime};

/// Time without a delivery that is ordinary on any path: a retransmission timer that starts at 1 s and doubles (RFC 6298,
/// sections 2 and 5.5) expires three times within 7 s.
const ORDINARY: SimDuration = SimDuration::from_secs(10);
/// Round trips without a delivery that are ordinary: such a timer started at one round trip, and three for a handshake.
const ORDINARY_ROUND_TRIPS: u64 = 10;

/// A time in which nothing of a flow was delivered while data waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// When data began to wait, or the last delivery.
    pub from: SimTime,
    /// The next delivery, or the end of the run.
    pub to: SimTime,
    /// For how much of this time the path was open.
    pub open: SimDuration,
}

/// Watches a flow that delivers reliably.
///
/// An outage explains itself and as much again: senders that double the time between their probes find the path open
/// after at most the length of the outage. So a stall is one of which the path was open for longer than it was cut off,
/// and longer than is ordinary.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct StallWatch {
    /// Time without a delivery that is ordinary for the flow, its round trips apart.
    ordinary: SimDuration,
    /// Since when data waits without a delivery, and the outages until then.
    waiting: Option<(SimTime, SimDuration)>,
    /// Length of the outages that are over.
    outages: SimDuration,
    /// Start of the outage under way.
    cut_off: Option<SimTime>,
    longest: Option<Stall>,
}

impl StallWatch {
    /// A watch of a flow whose answers may take `think` besides.
    pub fn new(think: SimDuration) -> Self {
        Self {
            ordinary: ORDINARY + think,
            waiting: None,
            outages: SimDuration::ZERO,
            cut_off: None,
            longest: None,
        }
    }

    /// Data waits since `now`, if none did before.
    pub(super) fn data_waits(&mut self, now: SimTime) {
        if self.waiting.is_none() {
            self.waiting = Some((now, self.outages_until(now)));
        }
    }

    /// Something was delivered at `now`; `more` if data still waits. The base round-trip time is asked for where it matters.
    pub(super) fn delivered(
        &mut self,
        now: SimTime,
        base_rtt: impl FnOnce() -> SimDuration,
        more: bool,
    ) {
        if self.waiting.is_some_and(|(from, _)| now - from > self.ordinary) {
            self.judge(now, base_rtt());
        }
        self.waiting = more.then(|| (now, self.outages_until(now)));
    }

    /// A message was lost that nobody sends again; `more` if other data still waits.
    pub(super) fn given_up(&mut self, more: bool) {
        self.waiting = self.waiting.filter(|_| more);
    }

    /// The path is open or cut off from `now` on.
    pub(super) fn path(&mut self, now: SimTime, open: bool) {
        if open {
            self.outages = self.outages_until(now);
            self.cut_off = None;
        } else {
            self.cut_off = self.cut_off.or(Some(now));
        }
    }

    /// The longest stall that ended behind `warm_up`, at the end of the run.
    pub(super) fn finish(
        mut self,
        end: SimTime,
        base_rtt: SimDuration,
        warm_up: SimTime,
    ) -> Option<Stall> {
        self.judge(end, base_rtt);
        self.longest.filter(|stall| stall.to > warm_up)
    }

    /// Judges the time since data waits without a delivery.
    fn judge(&mut self, now: SimTime, base_rtt: SimDuration) {
        let Some((from, before)) = self.waiting else { return };
        let outage = self.outages_until(now) - before;
        let open = (now - from) - outage;
        let ordinary = self.ordinary.max(base_rtt * ORDINARY_ROUND_TRIPS).max(outage);
        if open > ordinary && self.longest.is_none_or(|longest| open > longest.open) {
            self.longest = Some(Stall { from, to: now, open });
        }
    }

    fn outages_until(&self, now: SimTime) -> SimDuration {
        self.outages + self.cut_off.map_or(SimDuration::ZERO, |start| now.saturating_since(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: SimDuration = SimDuration::from_millis(50);

    fn at(secs: u64) -> SimTime {
        SimTime::ZERO + SimDuration::from_secs(secs)
    }

    fn watch() -> StallWatch {
        StallWatch::new(SimDuration::ZERO)
    }

    fn seen(watch: StallWatch, end: u64) -> Option<(u64, u64)> {
        let stall = watch.finish(at(end), RTT, SimTime::ZERO)?;
        Some((stall.from.as_nanos() / 1_000_000_000, stall.to.as_nanos() / 1_000_000_000))
    }

    #[test]
    fn the_longest_silence_with_data_waiting_counts() {
        let mut flow = watch();
        flow.data_waits(at(1));
        flow.delivered(at(12), || RTT, true);
        flow.delivered(at(17), || RTT, true);
        flow.data_waits(at(100));
        flow.delivered(at(465), || RTT, true);
        flow.delivered(at(500), || RTT, false);
        assert_eq!(seen(flow, 600), Some((17, 465)));
    }

    #[test]
    fn silence_without_data_or_of_ten_seconds_does_not() {
        let mut flow = watch();
        flow.data_waits(at(100));
        flow.delivered(at(110), || RTT, false);
        flow.data_waits(at(200));
        assert_eq!(seen(flow.clone(), 210), None);
        assert_eq!(seen(flow, 211), Some((200, 211)), "still waiting at the end");
        assert_eq!(seen(watch(), 1_000), None);
    }

    #[test]
    fn long_round_trips_and_thinking_servers_are_given_their_time() {
        let mut flow = watch();
        flow.data_waits(at(0));
        assert!(flow.clone().finish(at(30), SimDuration::from_secs(3), SimTime::ZERO).is_none());
        assert!(flow.finish(at(31), SimDuration::from_secs(3), SimTime::ZERO).is_some());
        let mut page = StallWatch::new(SimDuration::from_secs(20));
        page.data_waits(at(0));
        assert_eq!(seen(page.clone(), 30), None);
        assert_eq!(seen(page, 31), Some((0, 31)));
    }

    #[test]
    fn an_outage_explains_itself_and_as_much_again() {
        let mut flow = watch();
        flow.data_waits(at(50));
        for (start, end) in [(60, 80), (90, 110)] {
            flow.path(at(start), false);
            flow.path(at(start + 5), false);
            flow.path(at(end), true);
        }
        assert_eq!(seen(flow.clone(), 130), None, "open for 40 s, cut off for 40 s");
        assert_eq!(seen(flow, 131), Some((50, 131)));
        let mut early = watch();
        early.data_waits(at(99));
        early.path(at(100), false);
        early.path(at(140), true);
        assert_eq!(seen(early.clone(), 179), None, "open for 40 s, cut off for 40 s");
        assert_eq!(seen(early, 180), Some((99, 180)));
        let mut cut = watch();
        cut.data_waits(at(1));
        cut.path(at(2), false);
        assert_eq!(seen(cut, 10_000), None, "an outage without an end");
    }

    #[test]
    fn the_warm_up_is_left_out() {
        let mut flow = watch();
        flow.data_waits(at(1));
        flow.delivered(at(30), || RTT, false);
        assert!(flow.clone().finish(at(100), RTT, at(30)).is_none());
        assert!(flow.finish(at(100), RTT, at(29)).is_some());
    }
}
