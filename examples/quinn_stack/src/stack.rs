//! One end of a connection of quinn-proto, driven by datagrams and times.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use quinn_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, ConnectionId, ConnectionIdGenerator, DatagramEvent,
    Dir, EcnCodepoint, Endpoint, EndpointConfig, InvalidCid, ReadError, ServerConfig, StreamEvent,
    StreamId, TransportConfig, VarInt, WriteError,
};

use crate::null_tls::{NullKey, NullTls};

/// The setup of an end.
pub struct Setup {
    pub client: bool,
    pub remote: SocketAddr,
    pub payload: u16,
    pub receive_streams: u32,
    pub seed: [u8; 32],
    pub parameters: HashMap<String, String>,
}

/// An event for the application.
pub enum Event {
    Connected,
    Lost(String),
    Writable(u64),
    Readable(u64),
}

/// A datagram to send, but for its bytes.
pub struct Outgoing {
    pub destination: SocketAddr,
    pub ecn: u8,
    pub length: usize,
}

/// One end of a connection.
pub struct Quinn {
    /// quinn-proto counts in instants; only differences matter, and no clock is read again.
    epoch: Instant,
    endpoint: Endpoint,
    client: Option<ClientConfig>,
    remote: SocketAddr,
    connection: Option<(ConnectionHandle, Connection)>,
    connected: bool,
    /// Streams opened by this end.
    opened: Vec<StreamId>,
    /// Streams opened by the other end.
    accepted: Vec<StreamId>,
    events: VecDeque<Event>,
    /// The bytes of the latest datagram.
    pub buffer: Vec<u8>,
}

impl Quinn {
    /// An end that has done nothing yet.
    pub fn new(setup: Setup) -> Result<Self, String> {
        let mut numbers = Numbers::new(setup.seed);
        let transport = Arc::new(transport(&setup)?);
        let mut config = EndpointConfig::new(Arc::new(NullKey(numbers.next())));
        config.rng_seed(Some(setup.seed));
        let ids = Arc::new(Mutex::new(Numbers(numbers.next())));
        config.cid_generator(move || Box::new(Ids(Arc::clone(&ids))));
        config.max_udp_payload_size(setup.payload).map_err(|error| error.to_string())?;
        let (client, server) = if setup.client {
            let mut config = ClientConfig::new(Arc::new(NullTls));
            config.transport_config(transport);
            let first = Mutex::new(Numbers(numbers.next()));
            config.initial_dst_cid_provider(Arc::new(move || id(&first)));
            (Some(config), None)
        } else {
            let key = Arc::new(NullKey(numbers.next()));
            let mut config = ServerConfig::new(Arc::new(NullTls), key);
            config.transport_config(transport);
            config.validation_token.sent(0);
            (None, Some(Arc::new(config)))
        };
        Ok(Self {
            epoch: Instant::now(),
            endpoint: Endpoint::new(Arc::new(config), server, false, None),
            client,
            remote: setup.remote,
            connection: None,
            connected: false,
            opened: Vec::new(),
            accepted: Vec::new(),
            events: VecDeque::new(),
            buffer: Vec::new(),
        })
    }

    fn instant(&self, now: u64) -> Instant {
        self.epoch + Duration::from_nanos(now)
    }

    /// The client opens the connection.
    pub fn connect(&mut self, now: u64) -> Result<(), String> {
        let config = self.client.take().ok_or("a server does not open connections")?;
        let connected = self.endpoint.connect(self.instant(now), config, self.remote, "leobench");
        self.connection = Some(connected.map_err(|error| error.to_string())?);
        Ok(())
    }

    /// A datagram came.
    pub fn receive(&mut self, now: u64, source: SocketAddr, ecn: u8, data: &[u8]) {
        let now = self.instant(now);
        let (ecn, data) = (EcnCodepoint::from_bits(ecn), BytesMut::from(data));
        match self.endpoint.handle(now, source, None, ecn, data, &mut self.buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoint.accept(incoming, now, &mut self.buffer, None) {
                    Ok(accepted) => self.connection = Some(accepted),
                    Err(error) => self.events.push_back(Event::Lost(error.cause.to_string())),
                }
            }
            // Stateless answers go to strangers, of which there are none.
            Some(DatagramEvent::Response(_)) | None => {}
        }
        self.buffer.clear();
    }

    /// The timer is due.
    pub fn on_timeout(&mut self, now: u64) {
        let now = self.instant(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(now);
        }
    }

    /// When the timer is due; after `now`, as quinn-proto may ask for a wait that rounds to nothing.
    pub fn next_timeout(&mut self, now: u64) -> Option<u64> {
        let (_, connection) = self.connection.as_mut()?;
        let instant = connection.poll_timeout()?;
        let nanos = instant.saturating_duration_since(self.epoch).as_nanos();
        Some(u64::try_from(nanos).unwrap_or(u64::MAX - 1).max(now + 1))
    }

    /// The host has another address.
    pub fn on_address(&mut self) {
        if let Some((_, connection)) = &mut self.connection {
            connection.local_address_changed();
        }
    }

    /// The next event.
    pub fn poll(&mut self) -> Option<Event> {
        if let Some((handle, connection)) = &mut self.connection {
            while let Some(event) = connection.poll_endpoint_events() {
                if let Some(event) = self.endpoint.handle_event(*handle, event) {
                    connection.handle_event(event);
                }
            }
            while let Some(event) = connection.poll() {
                match event {
                    quinn_proto::Event::Connected => {
                        self.connected = true;
                        self.events.push_back(Event::Connected);
                    }
                    quinn_proto::Event::ConnectionLost { reason } => {
                        self.events.push_back(Event::Lost(reason.to_string()));
                    }
                    quinn_proto::Event::Stream(StreamEvent::Writable { id }) => {
                        self.events.push_back(Event::Writable(id.index()));
                    }
                    quinn_proto::Event::Stream(StreamEvent::Readable { id }) => {
                        self.events.push_back(Event::Readable(id.index()));
                    }
                    quinn_proto::Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                        while let Some(id) = connection.streams().accept(Dir::Uni) {
                            self.accepted.push(id);
                            self.events.push_back(Event::Readable(id.index()));
                        }
                    }
                    _ => {}
                }
            }
        }
        self.events.pop_front()
    }

    /// Puts the next datagram into `buffer`.
    pub fn transmit(&mut self, now: u64) -> Option<Outgoing> {
        let now = self.instant(now);
        self.buffer.clear();
        let (_, connection) = self.connection.as_mut()?;
        let sent = connection.poll_transmit(now, 1, &mut self.buffer)?;
        let ecn = sent.ecn.map_or(0, |codepoint| codepoint as u8);
        Some(Outgoing { destination: sent.destination, ecn, length: sent.size })
    }

    /// This end's stream of a number, opened with those before it.
    fn outgoing(&mut self, stream: u64) -> Result<(StreamId, &mut Connection), String> {
        let (_, connection) = self.connection.as_mut().ok_or("there is no connection")?;
        while self.opened.len() as u64 <= stream {
            let id = connection.streams().open(Dir::Uni);
            self.opened.push(id.ok_or("the other end allows no more streams")?);
        }
        Ok((self.opened[stream as usize], connection))
    }

    /// Writes to a stream; returns how many bytes there was room for.
    pub fn write(&mut self, stream: u64, data: &[u8]) -> Result<usize, String> {
        let (id, connection) = self.outgoing(stream)?;
        let mut written = 0;
        // quinn-proto tells when there is room again after it has once had none.
        while written < data.len() {
            match connection.send_stream(id).write(&data[written..]) {
                Ok(bytes) => written += bytes,
                Err(WriteError::Blocked) => break,
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(written)
    }

    /// Nothing more is written to a stream.
    pub fn finish(&mut self, stream: u64) -> Result<(), String> {
        let (id, connection) = self.outgoing(stream)?;
        connection.send_stream(id).finish().map_err(|error| error.to_string())
    }

    /// Reads bytes of a stream in order; returns how many there were.
    pub fn read(&mut self, stream: u64, data: &mut [u8]) -> Result<usize, String> {
        let (_, connection) = self.connection.as_mut().ok_or("there is no connection")?;
        let id = *self.accepted.get(stream as usize).ok_or("the stream is not open")?;
        let mut receiver = connection.recv_stream(id);
        // A stream that was read to its end is closed.
        let Ok(mut chunks) = receiver.read(true) else { return Ok(0) };
        let mut read = 0;
        let outcome = loop {
            match chunks.next(data.len() - read) {
                Ok(Some(chunk)) => {
                    data[read..read + chunk.bytes.len()].copy_from_slice(&chunk.bytes);
                    read += chunk.bytes.len();
                    if read == data.len() {
                        break Ok(read);
                    }
                }
                Ok(None) | Err(ReadError::Blocked) => break Ok(read),
                Err(error) => break Err(error.to_string()),
            }
        };
        let _ = chunks.finalize();
        outcome
    }

    /// The connection, once it is open.
    pub fn connection(&self) -> Option<&Connection> {
        self.connection.as_ref().filter(|_| self.connected).map(|(_, connection)| connection)
    }
}

/// quinn-proto as it comes, but for packets of the size of the path.
fn transport(setup: &Setup) -> Result<TransportConfig, String> {
    let mut config = TransportConfig::default();
    config
        .max_concurrent_uni_streams(VarInt::from_u32(setup.receive_streams))
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .initial_mtu(setup.payload)
        .min_mtu(setup.payload)
        .mtu_discovery_config(None);
    for (name, value) in &setup.parameters {
        let factory: Arc<dyn ControllerFactory + Send + Sync> = match (&name[..], &value[..]) {
            ("congestion", "cubic") => Arc::new(CubicConfig::default()),
            ("congestion", "newreno") => Arc::new(NewRenoConfig::default()),
            ("congestion", _) => {
                // Its BBR draws from the system's generator, so that runs would not repeat.
                return Err(format!("`congestion` is `{value}`; allowed: cubic, newreno"));
            }
            _ => return Err(format!("there is no parameter `{name}`; allowed: `congestion`")),
        };
        config.congestion_controller_factory(factory);
    }
    Ok(config)
}

/// Numbers from a seed (`SplitMix64`).
struct Numbers(u64);

impl Numbers {
    fn new(seed: [u8; 32]) -> Self {
        let words = seed.chunks_exact(8).filter_map(|word| word.try_into().ok());
        Self(words.map(u64::from_le_bytes).fold(0, |sum, word| sum.rotate_left(17) ^ word))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// The next connection ID.
fn id(numbers: &Mutex<Numbers>) -> ConnectionId {
    let mut numbers = numbers.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    ConnectionId::new(&numbers.next().to_be_bytes())
}

struct Ids(Arc<Mutex<Numbers>>);

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        id(&self.0)
    }

    fn validate(&self, _: &ConnectionId) -> Result<(), InvalidCid> {
        Ok(())
    }

    fn cid_len(&self) -> usize {
        8
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}
