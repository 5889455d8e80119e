//! Logs the events of a connection to its qlog, if it has one.

use leobench_base::{Bytes, SimTime};
use leobench_transport::endpoint::{EndpointError, PathId};

use super::transmit::ACK_DELAY_EXPONENT;
use super::{Connection, level_of};
use crate::QlogWriter;
use crate::paths::PathSet;
use crate::qlog::{Ending, Metrics, Passage, Trace, packet_type};
use crate::wire::{ConnectionId, Frames, Header, Level, Packet, Space};

impl Connection {
    /// Writes a qlog from now on.
    pub(crate) fn write_qlog(&mut self, now: SimTime, writer: QlogWriter) {
        let path = self.paths.first();
        let (id, local, remote) = (path.id, path.route.tuple.local, path.route.tuple.remote);
        let mut trace =
            Trace::new(writer, self.role, id, Some(self.handshake.original_destination));
        trace.started(now, local, remote);
        self.qlog = Some(Box::new(trace));
    }

    /// Completes the qlog.
    ///
    /// # Errors
    /// If it could not be written.
    pub(crate) fn finish_qlog(&mut self) -> Result<(), EndpointError> {
        let Some(trace) = &mut self.qlog else { return Ok(()) };
        trace.flush().map_err(|error| EndpointError::Qlog(error.to_string()))
    }

    #[inline]
    pub(super) fn log_sent(
        &mut self,
        now: SimTime,
        id: PathId,
        header: &Header,
        frames: &Frames,
        size: u64,
    ) {
        if let Some(trace) = &mut self.qlog {
            trace.turn_to(id);
            let exponent = u64::from(ACK_DELAY_EXPONENT);
            trace.packet(now, Passage::Sent, header, frames, (size, exponent));
        }
    }

    #[inline]
    pub(super) fn log_received(&mut self, now: SimTime, id: PathId, packet: &Packet) {
        if let Some(trace) = &mut self.qlog {
            trace.turn_to(id);
            let default = u64::from(ACK_DELAY_EXPONENT);
            let one_rtt = packet.header.level() == Level::OneRtt;
            let peer = self.handshake.peer.as_ref().filter(|_| one_rtt);
            let exponent = peer.map_or(default, |peer| peer.ack_delay_exponent);
            let Packet { header, frames } = packet;
            trace.packet(now, Passage::Received, header, frames, (packet.size(), exponent));
        }
    }

    /// Logs the losses in the outcome at hand, which is about packets of a path.
    #[inline]
    pub(super) fn log_losses(&mut self, now: SimTime, id: PathId) {
        let Some(trace) = &mut self.qlog else { return };
        trace.turn_to(id);
        let space = self.outcome.space;
        for packet in &self.outcome.lost {
            let early = (id, space) == (PathSet::FIRST, Space::Data)
                && packet.number < self.handshake.early_end;
            let level = if early { Level::ZeroRtt } else { level_of(space) };
            trace.lost(now, packet_type(level), packet.number);
        }
    }

    pub(super) fn log_keys(&mut self, now: SimTime, level: Level) {
        let Some(trace) = &mut self.qlog else { return };
        match level {
            Level::Initial => {}
            Level::Handshake => trace.keys_installed(now, "handshake", &["client", "server"]),
            Level::OneRtt => trace.keys_installed(now, "1rtt", &["client", "server"]),
            Level::ZeroRtt => trace.keys_installed(now, "0rtt", &["client"]),
        }
    }

    pub(super) fn log_retry(&mut self, now: SimTime, ids: [ConnectionId; 2], token: &[u8]) {
        if let Some(trace) = &mut self.qlog {
            trace.retry(now, ids, token);
        }
    }

    pub(super) fn log_phase(&mut self, now: SimTime, by_peer: bool) {
        if let Some(trace) = &mut self.qlog {
            trace.key_updated(now, by_peer);
        }
    }

    /// A path runs between other addresses.
    pub(super) fn log_route(&mut self, now: SimTime, id: PathId) {
        let tuple = self.paths[id].route.tuple;
        if let Some(trace) = &mut self.qlog {
            trace.turn_to(id);
            trace.moved(now, tuple.local, tuple.remote);
        }
    }

    pub(super) fn log_end(&mut self, now: SimTime, ending: Ending<'_>, reason: &str) {
        if let Some(trace) = &mut self.qlog {
            trace.closed(now, ending, reason);
        }
    }

    /// Logs what changed in recovery and congestion control, after all that happened at an instant.
    #[inline]
    pub(crate) fn log_recovery(&mut self, now: SimTime) {
        let Some(trace) = &mut self.qlog else { return };
        for path in self.paths.iter().filter(|path| path.is_open()) {
            trace.turn_to(path.id);
            let rtt = path.recovery.rtt();
            let metrics = Metrics {
                rtt: rtt.latest().map(|_| rtt.rtt()),
                pto_count: path.recovery.pto_count(),
                window: Bytes::new(self.control.window(path.id)),
                in_flight: Bytes::new(path.recovery.in_flight()),
                ssthresh: self.control.ssthresh(path.id),
                pacing: path.pacing_rate(&self.control),
            };
            trace.recovery(now, &metrics, self.control.phase(path.id));
        }
    }
}
