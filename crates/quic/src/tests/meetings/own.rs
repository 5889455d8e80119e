//! Our end of a meeting.

use bytes::BytesMut;
use leobench_base::spec::{Whole, Window};
use leobench_base::{Bytes, SimTime};
use leobench_transport::Role;

use super::super::spec;
use super::plan::Plan;
use super::{Happened, Lost, OWN, Party};
use crate::crypto::{Certificate, TlsSettings};
use crate::wire::Directionality;
use crate::{ByteConfig, ByteConnection, ByteEvent, PeerClose, QuicSpec};

/// TLS as both ends have it.
pub(in crate::tests) fn tls() -> TlsSettings {
    TlsSettings {
        server_name: "meeting".to_owned(),
        certificate: Certificate::self_signed("meeting", &[7; 32]),
        protocols: vec![b"meeting".to_vec()],
        key_log: None,
        sessions: None,
    }
}

/// The parameters of an end.
pub(super) fn parameters(plan: &Plan, end: usize) -> QuicSpec {
    let retry = plan.retry && end == OWN && !plan.own_is_client;
    let end = &plan.ends[end];
    let window =
        |size: Option<u64>| size.map_or(Window::Unlimited, |size| Window::Bytes(Bytes::new(size)));
    spec(|spec| {
        spec.stream_window = window(end.stream_window);
        spec.connection_window = window(end.connection_window);
        spec.payload = Bytes::new(end.payload);
        spec.idle_timeout = end.idle;
        spec.retry = retry;
        if let Some((threshold, delay)) = end.ack_frequency {
            spec.ack_eliciting_threshold = Whole::nearest(threshold);
            spec.max_ack_delay = delay;
        }
    })
}

pub(super) struct Own {
    connection: ByteConnection,
    /// Key updates that started here, and at the peer.
    pub(super) key_updates: [u64; 2],
    phase: bool,
}

impl Own {
    pub(super) fn new(plan: &Plan) -> Self {
        let config = ByteConfig {
            role: if plan.own_is_client { Role::Client } else { Role::Server },
            spec: parameters(plan, OWN),
            tls: plan.tls.then(|| plan.settings(OWN)),
            bidirectional: plan.ends[OWN].allowed[0],
            unidirectional: plan.ends[OWN].allowed[1],
            datagrams: true,
            seed: plan.seed,
        };
        let connection = ByteConnection::new(&config, SimTime::ZERO).unwrap();
        Self { connection, key_updates: [0; 2], phase: false }
    }

    /// Whether the server accepted 0-RTT data.
    pub(super) fn has_accepted_early(&mut self) -> bool {
        self.connection.early_data() == Some(true)
    }

    /// Counts a change of the key phase that this end did not start.
    fn watch_keys(&mut self) {
        let phase = self.connection.connection().is_some_and(|connection| connection.key_phase());
        self.key_updates[1] += u64::from(phase != self.phase);
        self.phase = phase;
    }
}

impl Party for Own {
    fn receive(&mut self, now: SimTime, datagram: BytesMut) {
        self.connection.receive(now, datagram).unwrap();
        self.watch_keys();
    }

    fn on_timer(&mut self, now: SimTime) {
        self.connection.on_timer(now);
    }

    fn transmit(&mut self, now: SimTime, out: &mut Vec<BytesMut>) {
        while let Some(datagram) = self.connection.transmit(now).unwrap() {
            out.push(datagram);
        }
    }

    fn timer(&mut self, now: SimTime) -> Option<SimTime> {
        self.connection.timer(now)
    }

    fn events(&mut self, out: &mut Vec<Happened>) {
        while let Some(event) = self.connection.next_event() {
            out.push(match event {
                ByteEvent::DatagramReceived { data } => Happened::Datagram { data },
                ByteEvent::DatagramAcked { .. } | ByteEvent::DatagramLost { .. } => continue,
                ByteEvent::Established => Happened::Established,
                ByteEvent::Data { id, data } => Happened::Data { id, data },
                ByteEvent::Finished { id } => Happened::Finished { id },
                ByteEvent::Reset { id, code } => Happened::Reset { id, code },
                ByteEvent::Stopped { id, code } => Happened::Stopped { id, code },
                ByteEvent::Acked { id } => Happened::Done { id },
                ByteEvent::Lost { reason, close } => Happened::Lost(match close {
                    Some(PeerClose { code, by_application: true, reason }) => {
                        Lost::Application { code, reason }
                    }
                    Some(PeerClose { code, .. }) => Lost::Transport { code, reason },
                    None if reason == "timed out" => Lost::TimedOut,
                    None if reason == "closed by the application" => Lost::Closed,
                    None => Lost::Other(reason),
                }),
            });
        }
    }

    fn open(&mut self, direction: Directionality) -> Option<u64> {
        self.connection.open(direction)
    }

    fn write(&mut self, id: u64, data: &[u8]) -> usize {
        if self.connection.write(id, data) { data.len() } else { 0 }
    }

    fn finish(&mut self, id: u64) {
        self.connection.finish(id);
    }

    fn reset(&mut self, id: u64, code: u64) {
        self.connection.reset(id, code);
    }

    fn stop(&mut self, now: SimTime, id: u64, code: u64) -> bool {
        self.connection.stop(now, id, code)
    }

    fn send_datagram(&mut self, data: bytes::Bytes) -> bool {
        self.connection.send_datagram(&data).is_ok()
    }

    fn close(&mut self, now: SimTime, code: u64, reason: &str) {
        self.connection.close(now, code, reason);
    }

    fn sends_early(&mut self) -> bool {
        self.connection.connection().is_some_and(|connection| connection.handshake().sends_early())
    }

    fn update_keys(&mut self, now: SimTime) {
        let updated = self.connection.update_keys(now);
        self.key_updates[0] += u64::from(updated);
        self.phase ^= updated;
    }
}
