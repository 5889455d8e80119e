//! The end of a meeting that is `noq-proto`.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use leobench_base::{RngTree, SimTime};
use leobench_quic_noq::{Clock, for_tests};
use noq_proto::congestion::CubicConfig;
use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq_proto::{
    AckFrequencyConfig, ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent,
    Dir, Endpoint, Event, FourTuple, ReadError, Side, StreamEvent, StreamId, TransportConfig,
    VarInt,
};

use super::own::parameters;
use super::plan::Plan;
use super::{Happened, Lost, NOQ, Party};
use crate::crypto::TlsConfig;
use crate::wire::{Directionality, TransportParameters};

/// The source address of packets from the other end.
const PEER: ([u8; 4], u16) = ([10, 0, 0, 1], 4_433);

pub(super) struct Noq {
    clock: Clock,
    endpoint: Endpoint,
    client: Option<ClientConfig>,
    retries: bool,
    connection: Option<(ConnectionHandle, Connection)>,
    confirmed: bool,
    /// Streams that may have something to read.
    readable: BTreeSet<u64>,
    happened: Vec<Happened>,
    /// Datagrams with which the endpoint answered without a connection.
    answers: Vec<BytesMut>,
    pub(super) key_updates: u64,
}

fn varint(value: u64) -> VarInt {
    VarInt::from_u64(value).unwrap()
}

fn stream(id: u64) -> StreamId {
    StreamId::from(varint(id))
}

fn number(id: StreamId) -> u64 {
    VarInt::from(id).into_inner()
}

fn transport(plan: &Plan) -> TransportConfig {
    let end = &plan.ends[NOQ];
    let window = |size: Option<u64>| size.map_or(VarInt::MAX, varint);
    let payload = end.payload as u16;
    let mut config = TransportConfig::default();
    config
        .max_concurrent_bidi_streams(varint(end.allowed[0]))
        .max_concurrent_uni_streams(varint(end.allowed[1]))
        .stream_receive_window(window(end.stream_window))
        .receive_window(window(end.connection_window))
        .max_idle_timeout(
            end.idle.map(|idle| Duration::from_nanos(idle.as_nanos()).try_into().unwrap()),
        )
        .initial_mtu(payload)
        .min_mtu(payload)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false);
    if plan.sessions[NOQ].is_some() {
        // When the handshake completes while data that was sent before fills the window, noq-proto 1.4.0 arms no probe timeout,
        // against RFC 9002 section 6.2.1, and sends nothing any more if the acknowledgements of that data came too early.
        let mut cubic = CubicConfig::default();
        cubic.initial_window(10_000_000);
        config.congestion_controller_factory(Arc::new(cubic));
    }
    if let Some((threshold, delay)) = end.ack_frequency {
        let mut asked = AckFrequencyConfig::default();
        asked
            .ack_eliciting_threshold(VarInt::from_u32(threshold))
            .max_ack_delay(Some(Duration::from_nanos(delay.as_nanos())));
        config.ack_frequency_config(Some(asked));
    }
    config
}

impl Noq {
    pub(super) fn new(plan: &Plan) -> Self {
        let rng = RngTree::new(plan.seed).child("noq");
        let crypto = plan.tls.then(|| {
            let (settings, unlimited) = (plan.settings(NOQ), TransportParameters::default());
            let (Ok(TlsConfig::Client(client, _)), Ok(TlsConfig::Server(server))) =
                (TlsConfig::client(&settings), TlsConfig::server(&settings, &unlimited))
            else {
                panic!("the settings are valid")
            };
            let mut server = (*server).clone();
            // Session tickets, which ours must take and may ignore.
            server.send_tls13_tickets = 2;
            let client = QuicClientConfig::try_from(client).unwrap();
            let server = QuicServerConfig::try_from(server).unwrap();
            (Arc::new(client) as _, Arc::new(server) as _)
        });
        let parameters = parameters(plan, NOQ);
        let (endpoint, client, server) =
            for_tests(parameters.payload, &rng, transport(plan), crypto);
        let (client, server) =
            if plan.own_is_client { (None, Some(Arc::new(server))) } else { (Some(client), None) };
        let mut this = Self {
            clock: Clock::default(),
            endpoint: Endpoint::new(Arc::new(endpoint), server, true),
            client,
            retries: plan.retry && plan.own_is_client,
            connection: None,
            confirmed: false,
            readable: BTreeSet::new(),
            happened: Vec::new(),
            answers: Vec::new(),
            key_updates: 0,
        };
        if let Some(config) = this.client.clone() {
            let now = this.clock.instant(SimTime::ZERO);
            let peer = SocketAddr::from(PEER);
            this.connection = Some(this.endpoint.connect(now, config, peer, "meeting").unwrap());
        }
        this
    }

    /// `ACK_FREQUENCY` frames that it received and sent.
    pub(super) fn ack_frequency_frames(&mut self) -> [u64; 2] {
        let stats = self.connection.as_mut().map(|(_, connection)| connection.stats());
        stats.map_or([0; 2], |stats| [stats.frame_rx.ack_frequency, stats.frame_tx.ack_frequency])
    }

    /// Passes events between the endpoint and the connection, and collects those for the application.
    fn process(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => {
                    let has_offered = self.client.is_some() && connection.has_0rtt();
                    if has_offered && !connection.accepted_0rtt() {
                        self.happened.push(Happened::EarlyRejected);
                    }
                    self.happened.push(Happened::Established);
                }
                Event::HandshakeConfirmed => self.confirmed = true,
                Event::ConnectionLost { reason } => {
                    self.happened.push(Happened::Lost(lost(reason)));
                }
                Event::Stream(event) => match event {
                    StreamEvent::Opened { dir } => {
                        while let Some(id) = connection.streams().accept(dir) {
                            self.readable.insert(number(id));
                        }
                    }
                    StreamEvent::Readable { id } => {
                        self.readable.insert(number(id));
                    }
                    StreamEvent::Finished { id } => {
                        self.happened.push(Happened::Done { id: number(id) });
                    }
                    StreamEvent::Stopped { id, error_code } => {
                        let (id, code) = (number(id), error_code.into_inner());
                        self.happened.push(Happened::Stopped { id, code });
                    }
                    StreamEvent::Writable { .. } | StreamEvent::Available { .. } => {}
                },
                Event::DatagramReceived => {
                    while let Some(data) = connection.datagrams().recv() {
                        self.happened.push(Happened::Datagram { data });
                    }
                }
                _ => {}
            }
        }
        while let Some(id) = self.readable.pop_first() {
            read(connection, id, &mut self.happened);
        }
    }
}

/// Reads all that a stream has.
fn read(connection: &mut Connection, id: u64, happened: &mut Vec<Happened>) {
    let mut stream = connection.recv_stream(stream(id));
    let Ok(mut chunks) = stream.read(true) else { return };
    loop {
        match chunks.next(usize::MAX) {
            Ok(Some(chunk)) => happened.push(Happened::Data { id, data: chunk.bytes }),
            Ok(None) => {
                happened.push(Happened::Finished { id });
                break;
            }
            Err(ReadError::Reset(code)) => {
                happened.push(Happened::Reset { id, code: code.into_inner() });
                break;
            }
            Err(ReadError::Blocked) => break,
        }
    }
    let _ = chunks.finalize();
}

fn lost(reason: ConnectionError) -> Lost {
    match reason {
        ConnectionError::ApplicationClosed(close) => {
            Lost::Application { code: close.error_code.into_inner(), reason: close.reason }
        }
        ConnectionError::ConnectionClosed(close) => {
            Lost::Transport { code: u64::from(close.error_code), reason: close.to_string() }
        }
        ConnectionError::TimedOut => Lost::TimedOut,
        ConnectionError::LocallyClosed => Lost::Closed,
        other => Lost::Other(other.to_string()),
    }
}

impl Party for Noq {
    fn receive(&mut self, now: SimTime, datagram: BytesMut) {
        let instant = self.clock.instant(now);
        let path = FourTuple::new(SocketAddr::from(PEER), None);
        let mut answer = Vec::new();
        match self.endpoint.handle(instant, path, None, datagram, &mut answer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_some() => {
                self.endpoint.ignore(incoming);
            }
            Some(DatagramEvent::NewConnection(incoming))
                if self.retries && !incoming.remote_address_validated() =>
            {
                let answered = self.endpoint.retry(incoming, &mut answer);
                assert!(answered.is_ok(), "a client's first packet may be answered with Retry");
                self.answers.push(BytesMut::from(&answer[..]));
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoint.accept(incoming, instant, &mut answer, None) {
                    Ok(accepted) => self.connection = Some(accepted),
                    // Such as a first packet that was damaged.
                    Err(error) => {
                        if error.response.is_some() {
                            self.answers.push(BytesMut::from(&answer[..]));
                        }
                    }
                }
            }
            Some(DatagramEvent::Response(_)) => self.answers.push(BytesMut::from(&answer[..])),
            None => {}
        }
        self.process();
    }

    fn on_timer(&mut self, now: SimTime) {
        let instant = self.clock.instant(now);
        let Some((_, connection)) = &mut self.connection else { return };
        if connection.poll_timeout().is_some_and(|timer| timer <= instant) {
            connection.handle_timeout(instant);
        }
        self.process();
    }

    fn transmit(&mut self, now: SimTime, out: &mut Vec<BytesMut>) {
        out.append(&mut self.answers);
        let instant = self.clock.instant(now);
        let Some((_, connection)) = &mut self.connection else { return };
        loop {
            let mut buffer = Vec::new();
            if connection.poll_transmit(instant, NonZeroUsize::MIN, &mut buffer).is_none() {
                break;
            }
            out.push(BytesMut::from(&buffer[..]));
        }
        self.process();
    }

    fn timer(&mut self, now: SimTime) -> Option<SimTime> {
        let instant = self.connection.as_mut()?.1.poll_timeout()?;
        // The stack may ask for a wait that rounds to nothing; time must move.
        Some(self.clock.time(instant).max(SimTime::from_nanos(now.as_nanos() + 1)))
    }

    fn events(&mut self, out: &mut Vec<Happened>) {
        out.append(&mut self.happened);
    }

    fn open(&mut self, direction: Directionality) -> Option<u64> {
        let direction = match direction {
            Directionality::Bidirectional => Dir::Bi,
            Directionality::Unidirectional => Dir::Uni,
        };
        self.connection.as_mut()?.1.streams().open(direction).map(number)
    }

    fn write(&mut self, id: u64, data: &[u8]) -> usize {
        let Some((_, connection)) = &mut self.connection else { return 0 };
        connection.send_stream(stream(id)).write(data).unwrap_or(0)
    }

    fn finish(&mut self, id: u64) {
        if let Some((_, connection)) = &mut self.connection {
            // It fails if the peer has just stopped the stream.
            let _ = connection.send_stream(stream(id)).finish();
        }
    }

    fn reset(&mut self, id: u64, code: u64) {
        if let Some((_, connection)) = &mut self.connection {
            let _ = connection.send_stream(stream(id)).reset(varint(code));
        }
    }

    fn stop(&mut self, _now: SimTime, id: u64, code: u64) -> bool {
        let Some((_, connection)) = &mut self.connection else { return false };
        connection.recv_stream(stream(id)).stop(varint(code)).is_ok()
    }

    fn send_datagram(&mut self, data: Bytes) -> bool {
        let Some((_, connection)) = &mut self.connection else { return false };
        connection.datagrams().send(data, false).is_ok()
    }

    fn close(&mut self, now: SimTime, code: u64, reason: &str) {
        let instant = self.clock.instant(now);
        if let Some((_, connection)) = &mut self.connection {
            let reason = Bytes::copy_from_slice(reason.as_bytes());
            connection.close(instant, varint(code), reason);
            // It does not tell who closes.
            self.happened.push(Happened::Lost(Lost::Closed));
        }
    }

    /// The stack leaves it to its caller to wait for the confirmation of the handshake (RFC 9001 section 6.1).
    fn update_keys(&mut self, _now: SimTime) {
        if let Some((_, connection)) = self.connection.as_mut().filter(|_| self.confirmed) {
            connection.force_key_update();
            self.key_updates += 1;
        }
    }

    fn sends_early(&mut self) -> bool {
        let connection = self.connection.as_ref().map(|(_, connection)| connection);
        connection.is_some_and(|connection| connection.is_handshaking() && connection.has_0rtt())
    }

    /// As a client, noq-proto 1.4.0 may panic ("tried to build packet without encryption keys") if packets of the handshake
    /// overtake each other.
    fn needs_order(&self) -> bool {
        let is_client = self.client.is_some();
        is_client
            && !self.confirmed
            && self
                .connection
                .as_ref()
                .is_some_and(|(_, connection)| connection.side() == Side::Client)
    }
}
