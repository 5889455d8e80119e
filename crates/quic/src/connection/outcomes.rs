//! The events, verdicts, samples and totals that a connection reports.

use leobench_base::{Bytes, LogHistogram};
use leobench_transport::endpoint::{Event, Outbox, PathSample, Totals};

use super::Connection;
use crate::paths::Path;

impl Connection {
    /// Moves what happened since the last call to `outbox`.
    #[inline]
    pub(crate) fn take_outcomes(&mut self, outbox: &mut Outbox) {
        self.streams.take_reports(&mut outbox.reports);
        self.take_events(&mut outbox.events);
        if !self.reports.moves.is_empty() {
            outbox.moves.append(&mut self.reports.moves);
        }
        if !self.reports.verdicts.is_empty() {
            outbox.verdicts.append(&mut self.reports.verdicts);
        }
    }

    /// Takes the events since the last call.
    fn take_events(&mut self, events: &mut Vec<Event>) {
        if !self.reports.events.is_empty() {
            events.append(&mut self.reports.events);
        }
        self.control.take_events(events);
    }

    /// Appends the state of every path.
    pub(crate) fn sample_paths(&self, samples: &mut Vec<PathSample>) {
        let paths = self.paths.iter().filter(|path| path.is_open() || path.sent_packets > 0);
        samples.extend(paths.map(|path| self.sample_path(path)));
    }

    /// Appends the last state of the paths that are gone.
    pub(crate) fn sample_former_paths(&self, samples: &mut Vec<PathSample>) {
        samples.extend_from_slice(self.paths.former());
    }

    pub(super) fn sample_path(&self, path: &Path) -> PathSample {
        let (rtt, latest) = (path.recovery.rtt(), path.recovery.rtt().latest());
        PathSample {
            path: path.id,
            cwnd: Bytes::new(self.control.window(path.id)),
            ssthresh: self.control.ssthresh(path.id),
            in_flight: Some(Bytes::new(path.recovery.in_flight())),
            smoothed_rtt: latest.map(|_| rtt.smoothed()),
            latest_rtt: latest,
            pacing: path.pacing_rate(&self.control),
            phase: self.control.phase(path.id),
            totals: self.path_totals(path),
        }
    }

    /// Totals over all paths.
    pub(crate) fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        self.paths.former().iter().for_each(|path| totals += path.totals);
        self.paths.iter().for_each(|path| totals += self.path_totals(path));
        totals
    }

    fn path_totals(&self, path: &Path) -> Totals {
        let (bytes, packets) = if self.multipath.is_some() {
            path.retransmitted
        } else {
            let streams = self.streams.totals();
            (streams.retransmitted, streams.retransmitted_packets)
        };
        Totals {
            sent_packets: path.sent_packets,
            sent_bytes: path.sent_bytes,
            received_packets: path.received_packets,
            retransmitted_bytes: Bytes::new(bytes),
            retransmitted_packets: packets,
            reinjected_bytes: Bytes::new(
                path.member.as_ref().map_or(0, |member| member.reinjected),
            ),
            ..self.control.totals(path.id)
        }
    }

    /// Every round-trip time sample, in nanoseconds.
    pub(crate) fn rtts(&self) -> LogHistogram {
        self.control.rtts().clone()
    }

    /// Closes all paths at the end of a run.
    pub(crate) fn finish(&mut self) {
        for path in self.paths.iter().filter(|path| path.is_open()) {
            self.control.close(path.id);
        }
    }
}
