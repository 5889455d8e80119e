//! 0-RTT data (RFC 9001 section 4.6, RFC 9000 section 7.4.1): a client that remembers an earlier connection sends it with its
//! first packets, and a server that accepts it may answer before the handshake is complete.

use leobench_base::SimTime;
use leobench_transport::Role;

use super::violation;
use crate::connection::Connection;
use crate::sent_frame::SentFrame;
use crate::wire::{Level, Space, TransportError, TransportParameters};

/// Probe timeouts for which a server keeps the keys of late 0-RTT packets (RFC 9001 section 4.9.3).
const KEPT_FOR: u64 = 3;

/// The state of 0-RTT data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum EarlyData {
    /// There is none.
    #[default]
    None,
    /// This end, a client, sends it, and does not know yet whether the server accepts it.
    Offered,
    /// The server accepts it.
    Accepted,
    /// The server has rejected it.
    Rejected,
}

impl Connection {
    /// Begins with 0-RTT data if the handshake has yielded keys for it.
    pub(super) fn begin_early(&mut self, now: SimTime) -> Result<(), TransportError> {
        let Some(keys) = self.handshake.tls.early_keys() else { return Ok(()) };
        if self.role == Role::Client {
            let Some(encoded) = self.handshake.tls.remembered_params() else { return Ok(()) };
            let remembered = TransportParameters::of_server(encoded)?;
            self.streams.on_peer_params(&remembered);
            let path = self.paths.first_mut();
            path.mtu = path.mtu.min(remembered.max_udp_payload_size);
            self.handshake.remembered = Some(Box::new(remembered));
            self.handshake.early = EarlyData::Offered;
        } else {
            self.reports.note("early-data", "accepted");
            self.handshake.early = EarlyData::Accepted;
        }
        self.qlog.keys_installed(now, Level::ZeroRtt);
        self.keys.protection.install_early(keys);
        self.handshake.writes_data = true;
        self.streams.on_established(now);
        Ok(())
    }

    /// A server sees the end of 0-RTT data, because the handshake is complete.
    pub(super) fn end_early(&mut self, now: SimTime) {
        if self.handshake.early == EarlyData::Accepted && self.role == Role::Server {
            let kept = self.paths.longest_probe_timeout() * KEPT_FOR;
            self.keys.protection.expire_early(now + kept);
        }
    }

    /// A client that has offered 0-RTT data learns the server's decision, and its present transport parameters.
    pub(super) fn settle_early(
        &mut self,
        now: SimTime,
        params: &TransportParameters,
    ) -> Result<(), TransportError> {
        // RFC 9001 section 4.9.3: "a client SHOULD discard 0-RTT keys as soon as it installs 1-RTT keys".
        self.keys.protection.discard(Level::ZeroRtt);
        self.handshake.early_end = self.paths.first().recovery.next_number(Space::Data).value;
        let remembered = self.handshake.remembered.take();
        if self.handshake.tls.accepts_early() {
            if remembered.is_some_and(|remembered| params.reduces(&remembered)) {
                return Err(violation("limits below those that 0-RTT data was sent with"));
            }
            self.reports.note("early-data", "accepted");
            self.handshake.early = EarlyData::Accepted;
            self.streams.on_early_accepted(params);
            return Ok(());
        }
        self.reports.note("early-data", "rejected");
        self.handshake.early = EarlyData::Rejected;
        let packets = self.give_up_early(now, true);
        self.streams.on_early_rejected(params, packets);
        Ok(())
    }

    /// Takes back what was sent in 0-RTT packets, which the server has not processed, to send it again. The streams begin anew
    /// by themselves if it `rejects` the data. Returns how many packets had data of streams.
    pub(super) fn give_up_early(&mut self, now: SimTime, rejects: bool) -> u64 {
        let recovery = &mut self.paths.first_mut().recovery;
        recovery.give_up(now, Space::Data, &mut self.outcome);
        let given_up = std::mem::take(&mut self.outcome.lost);
        let is_data = |carried: &SentFrame| matches!(carried, SentFrame::Stream { .. });
        for carried in given_up.iter().flat_map(|packet| &packet.carried) {
            if !(rejects && (is_data(carried) || matches!(carried, SentFrame::ResetStream(_)))) {
                self.requeue(Space::Data, carried);
            }
        }
        given_up.iter().filter(|packet| packet.carried.iter().any(is_data)).count() as u64
    }
}
