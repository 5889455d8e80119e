//! The floor: two bare connections of the stack, its own congestion control and pacing, and a delay line in memory
//! with the bottleneck's rate. Nothing is recorded, nothing is routed, no queue discipline is asked.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use leobench_base::RngTree;
use leobench_quic::QuicSpec;
use leobench_quic_noq::Bare;
use noq_proto::congestion::CubicConfig;
use noq_proto::{
    Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, Event, FourTuple, StreamEvent,
    StreamId,
};

use crate::{Case, DELAY, Measured, PAYLOAD, timed};

/// Bytes of IPv4 and UDP header, which take their time on the bottleneck.
const HEADERS: u64 = 28;
/// Bytes handed to the stack at a time.
const WRITE: usize = 256 * 1024;
static ZEROES: [u8; WRITE] = [0; WRITE];

/// Runs a case over bare connections.
pub(crate) fn run(case: &Case) -> Measured {
    let (wall, (packets, delivered_bytes)) = timed(|| exchange(case));
    Measured { wall, packets, delivered_bytes }
}

fn exchange(case: &Case) -> (u64, u64) {
    let payload = leobench_base::Bytes::new(PAYLOAD.into());
    let spec = QuicSpec { payload, ..QuicSpec::default() };
    let controllers = Arc::new(CubicConfig::default());
    let bare = Bare::new(&spec, &RngTree::new(1), controllers);
    let mut client = Side::new(bare.client_endpoint(), 1, 2);
    let mut server = Side::new(bare.server_endpoint(), 2, 1);
    let mut there = DelayLine::new(case);
    let mut back = DelayLine::new(case);
    let epoch = bare.epoch();
    let end = epoch + Duration::from_nanos(case.span.as_nanos());
    let connect = client.endpoint.connect(epoch, bare.client_config(), client.remote, "floor");
    client.connection = Some(connect.unwrap_or_else(|error| panic!("connect: {error}")));
    let mut now = epoch;
    client.drive(now, &mut there);
    loop {
        client.write_up_to = server.received_bytes + written_ahead(case);
        let due = [there.due(), back.due(), client.timer, server.timer];
        let Some(next) = due.into_iter().flatten().min().filter(|next| *next <= end) else { break };
        now = next.max(now);
        if there.due().is_some_and(|due| due <= now) {
            server.receive(now, &mut there);
            server.drive(now, &mut back);
        } else if back.due().is_some_and(|due| due <= now) {
            client.receive(now, &mut back);
            client.drive(now, &mut there);
        } else if client.timer.is_some_and(|due| due <= now) {
            client.drive(now, &mut there);
        } else {
            server.drive(now, &mut back);
        }
    }
    (client.sent + server.sent, server.received_bytes)
}

/// How far the stream is written beyond what has arrived: enough to keep path and queue full, and no more, because the
/// stack searches what is written and not acknowledged for every packet it builds.
fn written_ahead(case: &Case) -> u64 {
    let path = case.rate_bps / 8 * 2 * DELAY.as_nanos() / 1_000_000_000;
    path + case.queue * u64::from(PAYLOAD) + 2 * WRITE as u64
}

/// One bare connection and its endpoint.
struct Side {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    local: SocketAddr,
    remote: SocketAddr,
    stream: Option<StreamId>,
    timer: Option<Instant>,
    buffer: Vec<u8>,
    sent: u64,
    received_bytes: u64,
    written: u64,
    /// How far the stream is to be written; nothing at the end that only receives.
    write_up_to: u64,
}

impl Side {
    fn new(endpoint: Endpoint, local: u8, remote: u8) -> Self {
        let address = |host| SocketAddr::from((Ipv4Addr::new(10, 0, 0, host), 4_433));
        Self {
            endpoint,
            connection: None,
            local: address(local),
            remote: address(remote),
            stream: None,
            timer: None,
            buffer: Vec::with_capacity(PAYLOAD.into()),
            sent: 0,
            received_bytes: 0,
            written: 0,
            write_up_to: 0,
        }
    }

    fn receive(&mut self, now: Instant, line: &mut DelayLine) {
        let Some(data) = line.take(now) else { return };
        let path = FourTuple::new(self.remote, Some(self.local.ip()));
        self.buffer.clear();
        match self.endpoint.handle(now, path, None, data, &mut self.buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut self.buffer, None);
                self.connection = accepted.ok();
            }
            _ => {}
        }
    }

    fn drive(&mut self, now: Instant, line: &mut DelayLine) {
        let Some((handle, connection)) = &mut self.connection else { return };
        if self.timer.is_some_and(|timer| timer <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected if self.write_up_to > 0 => {
                    self.stream = connection.streams().open(Dir::Uni);
                }
                Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(id) = connection.streams().accept(dir) {
                        self.received_bytes += read(connection, id);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => {
                    self.received_bytes += read(connection, id);
                }
                _ => {}
            }
        }
        if let Some(stream) = self.stream {
            while self.written < self.write_up_to {
                let mut chunks = [Bytes::from_static(&ZEROES)];
                let wrote = connection.send_stream(stream).write_chunks(&mut &mut chunks[..]);
                self.written += wrote.unwrap_or_else(|error| panic!("write: {error}")) as u64;
            }
        }
        self.buffer.clear();
        while let Some(transmit) =
            connection.poll_transmit(now, NonZeroUsize::MIN, &mut self.buffer)
        {
            self.sent += 1;
            line.put(now, &self.buffer[..transmit.size]);
            self.buffer.clear();
        }
        let next = now + Duration::from_nanos(1);
        self.timer = connection.poll_timeout().map(|timer| timer.max(next));
    }
}

fn read(connection: &mut Connection, id: StreamId) -> u64 {
    let mut stream = connection.recv_stream(id);
    let Ok(mut chunks) = stream.read(false) else { return 0 };
    let mut bytes = 0;
    while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
        bytes += chunk.bytes.len() as u64;
    }
    let _ = chunks.finalize();
    bytes
}

/// A bottleneck as simple as it gets: the time it is busy until, and packets with the time they arrive.
struct DelayLine {
    rate_bps: u64,
    queue: u64,
    busy_until: Option<Instant>,
    flying: VecDeque<(Instant, BytesMut)>,
}

impl DelayLine {
    fn new(case: &Case) -> Self {
        Self {
            rate_bps: case.rate_bps,
            queue: case.queue,
            busy_until: None,
            flying: VecDeque::new(),
        }
    }

    fn due(&self) -> Option<Instant> {
        self.flying.front().map(|(due, _)| *due)
    }

    fn take(&mut self, now: Instant) -> Option<BytesMut> {
        self.flying.pop_front_if(|(due, _)| *due <= now).map(|(_, data)| data)
    }

    fn put(&mut self, now: Instant, data: &[u8]) {
        let span = |bytes: u64| Duration::from_nanos(bytes * 8 * 1_000_000_000 / self.rate_bps);
        let start = self.busy_until.map_or(now, |busy| busy.max(now));
        if start - now > span((u64::from(PAYLOAD) + HEADERS) * self.queue) {
            return;
        }
        let end = start + span(data.len() as u64 + HEADERS);
        self.busy_until = Some(end);
        self.flying.push_back((end + Duration::from_nanos(DELAY.as_nanos()), BytesMut::from(data)));
    }
}
