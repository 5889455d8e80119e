//! Logs the events of a connection to its qlog, if it has one.

use leobench_base::{Bytes, SimTime};
use leobench_transport::endpoint::{EndpointError, PathId};

use super::Connection;
use super::handshake::Handshaking;
use super::transmit::ACK_DELAY_EXPONENT;
use crate::QlogWriter;
use crate::paths::Path;
use crate::qlog::{Ending, Metrics, Passage, Trace, packet_type};
use crate::recovery::Outcome;
use crate::wire::{ConnectionId, Frames, Header, Level, Packet};

/// The qlog of a connection, if it has one.
#[derive(Default)]
pub(super) struct Qlog(Option<Box<Trace>>);

impl Qlog {
    /// Goes on with the qlog of another connection, unless it has one.
    pub(super) fn inherit(&mut self, other: &mut Self) {
        self.0 = self.0.take().or_else(|| other.0.take());
    }

    /// Completes the qlog.
    ///
    /// # Errors
    /// If it could not be written.
    pub(super) fn finish(&mut self) -> Result<(), EndpointError> {
        let Some(trace) = &mut self.0 else { return Ok(()) };
        trace.flush().map_err(|error| EndpointError::Qlog(error.to_string()))
    }

    #[inline]
    pub(super) fn sent(
        &mut self,
        now: SimTime,
        id: PathId,
        header: &Header,
        frames: &Frames,
        size: u64,
    ) {
        if let Some(trace) = &mut self.0 {
            trace.turn_to(id);
            let exponent = u64::from(ACK_DELAY_EXPONENT);
            trace.packet(now, Passage::Sent, header, frames, (size, exponent));
        }
    }

    #[inline]
    pub(super) fn received(
        &mut self,
        now: SimTime,
        id: PathId,
        packet: &Packet,
        handshake: &Handshaking,
    ) {
        if let Some(trace) = &mut self.0 {
            trace.turn_to(id);
            let default = u64::from(ACK_DELAY_EXPONENT);
            let one_rtt = packet.header.level() == Level::OneRtt;
            let peer = handshake.peer.as_ref().filter(|_| one_rtt);
            let exponent = peer.map_or(default, |peer| peer.ack_delay_exponent);
            let Packet { header, frames } = packet;
            trace.packet(now, Passage::Received, header, frames, (packet.size(), exponent));
        }
    }

    /// Logs the losses in an outcome, which is about packets of a path.
    #[inline]
    pub(super) fn lost(
        &mut self,
        now: SimTime,
        id: PathId,
        outcome: &Outcome,
        handshake: &Handshaking,
    ) {
        let Some(trace) = &mut self.0 else { return };
        trace.turn_to(id);
        for packet in &outcome.lost {
            let early = handshake.is_early(id, outcome.space, packet.number);
            let level = if early { Level::ZeroRtt } else { outcome.space.level() };
            trace.lost(now, packet_type(level), packet.number);
        }
    }

    pub(super) fn keys_installed(&mut self, now: SimTime, level: Level) {
        let Some(trace) = &mut self.0 else { return };
        match level {
            Level::Initial => {}
            Level::Handshake => trace.keys_installed(now, "handshake", &["client", "server"]),
            Level::OneRtt => trace.keys_installed(now, "1rtt", &["client", "server"]),
            Level::ZeroRtt => trace.keys_installed(now, "0rtt", &["client"]),
        }
    }

    pub(super) fn retry(&mut self, now: SimTime, ids: [ConnectionId; 2], token: &[u8]) {
        if let Some(trace) = &mut self.0 {
            trace.retry(now, ids, token);
        }
    }

    pub(super) fn key_updated(&mut self, now: SimTime, by_peer: bool) {
        if let Some(trace) = &mut self.0 {
            trace.key_updated(now, by_peer);
        }
    }

    /// A path runs between other addresses.
    pub(super) fn moved(&mut self, now: SimTime, path: &Path) {
        if let Some(trace) = &mut self.0 {
            trace.turn_to(path.id);
            trace.moved(now, path.route.tuple.local, path.route.tuple.remote);
        }
    }

    pub(super) fn closed(&mut self, now: SimTime, ending: Ending<'_>, reason: &str) {
        if let Some(trace) = &mut self.0 {
            trace.closed(now, ending, reason);
        }
    }
}

impl Connection {
    /// Writes a qlog from now on.
    pub(crate) fn write_qlog(&mut self, now: SimTime, writer: QlogWriter) {
        let path = self.paths.first();
        let (id, local, remote) = (path.id, path.route.tuple.local, path.route.tuple.remote);
        let mut trace =
            Trace::new(writer, self.role, id, Some(self.handshake.original_destination));
        trace.started(now, local, remote);
        self.qlog = Qlog(Some(Box::new(trace)));
    }

    /// Logs what changed in recovery and congestion control, after all that happened at an instant.
    #[inline]
    pub(crate) fn log_recovery(&mut self, now: SimTime) {
        let Some(trace) = &mut self.qlog.0 else { return };
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
