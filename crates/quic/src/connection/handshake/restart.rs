//! Another connection in the place of one whose handshake was not confirmed. A client may not move such a connection (RFC 9000
//! section 9): it begins anew from its other address. What neither end has acknowledged of the streams is sent again, and what has
//! arrived is not delivered twice.

use leobench_base::{Bytes, RngTree, SimTime};
use leobench_transport::Role;
use leobench_transport::congestion::{CongestionContext, CongestionModel as _, NewRenoSpec};
use leobench_transport::plugin::Plugins;
use leobench_transport::scheduler::SchedulerSpec;

use crate::cids::first_id;
use crate::connection::{Connection, Parts};
use crate::paths::{FourTuple, PathSet};
use crate::recovery::Control;
use crate::streams::{ReceiveWindow, StreamConfig, Streams};
use crate::wire::{ConnectionId, ErrorCode, Space, TransportError};

/// How a connection begins.
#[derive(Clone, Copy)]
pub(crate) struct Opening {
    pub(crate) addresses: FourTuple,
    /// The peer's first connection ID.
    pub(crate) remote_id: ConnectionId,
    pub(crate) original_destination: ConnectionId,
    pub(crate) retry_source: Option<ConnectionId>,
}

/// The connection's place among the connections of its endpoint.
pub(in crate::connection) struct Lineage {
    rng: RngTree,
    /// How many connections were made from this one.
    restarts: u64,
    /// The addresses of another connection that a client has to open, because this one may not move before its handshake is
    /// confirmed.
    pub(in crate::connection) restart: Option<FourTuple>,
    /// Whether it has no streams yet, because another connection of the same client has them.
    pub(in crate::connection) awaits_streams: bool,
}

impl Lineage {
    pub(in crate::connection) fn new(rng: RngTree) -> Self {
        Self { rng, restarts: 0, restart: None, awaits_streams: false }
    }

    fn restart_rng(&self) -> RngTree {
        self.rng.child(&format!("successor-{}", self.restarts))
    }
}

impl Connection {
    /// Takes the addresses of another connection that the client has to open, if any.
    pub(crate) fn take_restart(&mut self) -> Option<FourTuple> {
        self.lineage.restart.take()
    }

    /// The beginning of another connection of a client, from another address.
    pub(crate) fn opening(&self, addresses: FourTuple) -> Opening {
        let id = first_id(&self.lineage.restart_rng(), "initial-destination");
        Opening { addresses, remote_id: id, original_destination: id, retry_source: None }
    }

    /// Another connection between the same ends. It has nothing but a handshake until it inherits the rest.
    ///
    /// # Errors
    /// `INTERNAL_ERROR` if TLS cannot start.
    pub(crate) fn restarted(
        &mut self,
        now: SimTime,
        opening: Opening,
    ) -> Result<Self, TransportError> {
        let rng = self.lineage.restart_rng();
        self.lineage.restarts += 1;
        let (streams, control) = placeholders(self.role, &rng)?;
        let parts = Parts {
            role: self.role,
            addresses: opening.addresses,
            interfaces: self.mobility.interfaces.clone(),
            crypto: self.keys.crypto.for_another(),
            as_bytes: self.keys.as_bytes,
            streams,
            control,
            settings: self.settings.clone(),
            remote_id: opening.remote_id,
            original_destination: opening.original_destination,
            retry_source: opening.retry_source,
            local_id: first_id(&rng, "source-id"),
            offer: self.offer.clone(),
            preferred: self.mobility.own_preferred(),
            rng,
        };
        let mut next = Self::new(parts, now)?;
        next.lineage.awaits_streams = true;
        Ok(next)
    }

    /// Takes the place of another connection, with its streams and its congestion control.
    pub(crate) fn inherit(&mut self, old: &mut Self, now: SimTime) {
        // What was in flight on it is lost, for nobody will acknowledge it.
        let recovery = &mut old.paths.first_mut().recovery;
        recovery.give_up(now, Space::Data, &mut old.outcome);
        old.settle_outcome(PathSet::FIRST);
        self.lineage.awaits_streams = false;
        let id = PathSet::FIRST;
        let handshake = self.control.totals(id);
        std::mem::swap(&mut self.streams, &mut old.streams);
        std::mem::swap(&mut self.control, &mut old.control);
        *self.control.totals_mut(id) += handshake;
        self.control.open(id, now, Bytes::new(self.paths.first().mtu));
        if let Some(peer) = &self.handshake.peer {
            self.streams.on_peer_params(peer);
        }
        if self.handshake.complete {
            self.establish_streams(now);
        }
        old.reports.events.append(&mut self.reports.events);
        std::mem::swap(&mut self.reports.events, &mut old.reports.events);
        self.reports.verdicts.append(&mut old.reports.verdicts);
        self.qlog.inherit(&mut old.qlog);
        let former = old.paths.first();
        let path = self.paths.first_mut();
        path.sent_packets += former.sent_packets;
        path.sent_bytes += former.sent_bytes;
        path.received_packets += former.received_packets;
        if self.role == Role::Client {
            self.reports.note_route("restarts", self.paths.first().route.tuple);
        }
    }
}

/// Streams and congestion control of a connection that will inherit those of another one.
fn placeholders(role: Role, rng: &RngTree) -> Result<(Streams, Control), TransportError> {
    let plugins = Plugins::NONE;
    let streams = Streams::new(&StreamConfig {
        role,
        sends: &[],
        scheduler: &SchedulerSpec::default(),
        rng,
        plugins,
        stream_window: ReceiveWindow::Unlimited,
        connection_window: ReceiveWindow::Unlimited,
        peer_bidirectional: 0,
        peer_unidirectional: 0,
        message_streams_from: None,
        keeps_events: false,
    });
    let streams = streams
        .map_err(|error| TransportError::new(ErrorCode::INTERNAL_ERROR, error.to_string()))?;
    let context = CongestionContext { rng, paced: false, plugins };
    Ok((streams, Control::new("newreno", NewRenoSpec::default().build(&context))))
}
