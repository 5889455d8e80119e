//! The events, verdicts, samples and totals that a connection reports.

use std::fmt::Display;

use leobench_base::{Bytes, LogHistogram, SimTime};
use leobench_transport::endpoint::{
    EndpointError, Event, Evidence, Loss, LossVerdict, LossVerdictKind, MoveStep, Outbox,
    PathSample, Totals,
};

use super::Connection;
use crate::paths::{FourTuple, Path};
use crate::recovery::SentPacket;
use crate::sent_frame::SentFrame;
use crate::wire::Close;

/// Reports to the endpoint that have not been taken.
#[derive(Default)]
pub(super) struct Reports {
    pub(super) verdicts: Vec<LossVerdict>,
    pub(super) events: Vec<Event>,
    pub(super) moves: Vec<MoveStep>,
    pub(super) lost: Option<Loss>,
    /// The error with which the run is to fail.
    pub(super) failure: Option<EndpointError>,
    /// The frame by which the peer closed the connection, if it did before this end.
    pub(super) peer_close: Option<Close>,
}

impl Reports {
    #[cold]
    pub(super) fn note(&mut self, kind: &'static str, detail: impl Into<String>) {
        self.events.push(Event { kind, detail: detail.into() });
    }

    /// Takes note of an event on a route.
    pub(super) fn note_route(&mut self, what: impl Display, tuple: FourTuple) {
        let FourTuple { local, remote } = tuple;
        self.note("path", format!("{what}: {local} to {remote}"));
    }

    /// Takes note of an event on one of several paths.
    pub(super) fn note_path(&mut self, path: &Path, what: &str) {
        self.note_route(format_args!("{} {what}", path.id.0), path.route.tuple);
    }

    /// Reports that a 1-RTT packet of a path was declared lost, and what of it is sent again.
    #[cold]
    pub(super) fn judge(&mut self, path: &Path, packet: &SentPacket) {
        let Some(transmission) = path.id.transmission(packet.number) else { return };
        let probed = packet.number < path.probed_from;
        let evidence = if probed { Evidence::Probe } else { Evidence::Acks };
        self.verdicts.push(LossVerdict { transmission, kind: LossVerdictKind::Lost(evidence) });
        let again = packet.carried.iter().map(|carried| match carried {
            SentFrame::Stream { len, .. } => u64::from(*len),
            _ => 0,
        });
        let kind = LossVerdictKind::Repeated(Bytes::new(again.sum()));
        self.verdicts.push(LossVerdict { transmission, kind });
    }
}

impl Connection {
    /// Moves what happened since the last call to `outbox`.
    #[inline]
    pub(crate) fn take_reports(&mut self, outbox: &mut Outbox) {
        self.streams.take_reports(&mut outbox.reports);
        let Reports { verdicts, events, moves, .. } = &mut self.reports;
        if !events.is_empty() {
            outbox.events.append(events);
        }
        if !moves.is_empty() {
            outbox.moves.append(moves);
        }
        if !verdicts.is_empty() {
            outbox.verdicts.append(verdicts);
        }
        self.control.take_events(&mut outbox.events);
    }

    /// Fails if the controller cannot go on, a path scheduler could not be built, or the scenario requires what the connection
    /// lacks.
    ///
    /// # Errors
    /// The failure.
    pub(crate) fn check(&mut self, now: SimTime) -> Result<(), EndpointError> {
        if self.reports.failure.is_some() {
            return self.reports.failure.take().map_or(Ok(()), Err);
        }
        self.control.check(now)
    }

    /// When and why the connection was lost, if it was.
    pub(crate) fn lost(&self) -> Option<&Loss> {
        self.reports.lost.as_ref()
    }

    /// The `CONNECTION_CLOSE` of the peer, if it closed the connection before this end.
    pub(crate) fn peer_close(&self) -> Option<&Close> {
        self.reports.peer_close.as_ref()
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
            (path.retransmitted_bytes, path.retransmitted_packets)
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

    /// Closes all paths at the end of a run, and completes the qlog.
    ///
    /// # Errors
    /// If the qlog could not be written.
    pub(crate) fn finish(&mut self) -> Result<(), EndpointError> {
        for path in self.paths.iter().filter(|path| path.is_open()) {
            self.control.close(path.id);
        }
        self.qlog.finish()
    }
}
