//! One end of a QUIC flow whose stack is in a shared library, as an [`Endpoint`].

use std::cell::{Cell, RefCell};
use std::mem;
use std::net::SocketAddr;
use std::path::Path;

use bytes::BytesMut;
use leobench_base::packet::IPV4_UDP_HEADER;
use leobench_base::spec::Table;
use leobench_base::{
    BitRate, Body, Bytes, Ecn, Meta, Packet, Protocol, RngTree, SimDuration, SimTime, StreamIndex,
};
use leobench_transport::Role;
use leobench_transport::buffer::SendBuffer;
use leobench_transport::endpoint::{
    Endpoint, EndpointError, Event, Input, InterfaceChange, Loss, MoveStep, Outbox, PathAddresses,
    PathId, PathSample, Report, Totals,
};
use leobench_transport::interfaces::Interfaces;
use leobench_transport::plugin::{LIBRARY, StackSetup};
use typed_index_collections::{TiVec, ti_vec};

use crate::abi;
use crate::stack::{self, Stack};
use crate::{content, statistics};

/// Datagrams that a stack may send at one instant. Ours: a hundred times the packets in flight on a path of 100 Mbit/s and 100 ms.
const MOST_DATAGRAMS: u64 = 100_000;
/// Timeouts in a row within [`IDLE_SPAN`] that may bring nothing. Ours: far more than any stack has timers.
const MOST_IDLE_TIMEOUTS: u64 = 10_000;
/// Ours: the granularity of QUIC's timers (RFC 9002 section 6.1.2).
const IDLE_SPAN: SimDuration = SimDuration::from_millis(1);

/// The stage of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The client has not opened it, or the server waits for that.
    Waiting,
    /// The client has opened it.
    Opened,
    /// The handshake is done.
    Connected,
}

/// One end of a connection.
pub(crate) struct ForeignEndpoint {
    /// The library's file, for messages.
    name: String,
    stack: Stack,
    role: Role,
    start: SimTime,
    ecn: bool,
    /// The address of the host at present.
    local: SocketAddr,
    /// The address at the start.
    usual: SocketAddr,
    /// The other end's address at the start.
    remote: SocketAddr,
    /// The addresses of the latest datagram sent, if there is one.
    route: Option<(SocketAddr, SocketAddr)>,
    interfaces: Interfaces,
    stage: Stage,
    lost: Option<Loss>,
    buffer: Option<SendBuffer>,
    /// Whether the application writes no more.
    finishing: bool,
    finished: TiVec<StreamIndex, bool>,
    /// Bytes read of every stream.
    received: TiVec<StreamIndex, u64>,
    room: Vec<u8>,
    timer: Option<SimTime>,
    /// When the first of the latest timeouts in a row within [`IDLE_SPAN`] was, and how many there were.
    idle_timeouts: (SimTime, u64),
    sent_packets: u64,
    sent_bytes: Bytes,
    received_packets: u64,
    /// The latest state that the stack told.
    told: Cell<abi::Path>,
    /// A failure of a query, which cannot return it.
    failed: RefCell<Option<String>>,
    /// When the stack was called last.
    called: SimTime,
}

impl ForeignEndpoint {
    /// An endpoint that has done nothing yet.
    ///
    /// # Errors
    /// If the library cannot be loaded, has another interface, or refuses.
    pub(crate) fn new(
        file: &Path,
        setup: &StackSetup,
        rng: &RngTree,
        parameters: &Table,
    ) -> Result<Self, String> {
        let stack = Stack::new(file, setup, rng, parameters)?;
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
        Ok(Self {
            name,
            stack,
            role: setup.role,
            start: setup.start,
            ecn: setup.ecn,
            local: setup.local,
            usual: setup.local,
            remote: setup.remote,
            route: None,
            interfaces: Interfaces::new(setup.local.ip()),
            stage: Stage::Waiting,
            lost: None,
            buffer: (!setup.sends.is_empty()).then(|| SendBuffer::new(&setup.sends)),
            finishing: false,
            finished: ti_vec![false; setup.sends.len()],
            received: ti_vec![0; setup.receives],
            room: vec![0; if setup.receives > 0 { content::LONGEST as usize } else { 0 }],
            timer: None,
            idle_timeouts: (SimTime::ZERO, 0),
            sent_packets: 0,
            sent_bytes: Bytes::ZERO,
            received_packets: 0,
            told: Cell::new(stack::UNKNOWN),
            failed: RefCell::default(),
            called: SimTime::ZERO,
        })
    }

    /// An error of the stack's by name.
    fn error(&self, at: SimTime, problem: &str) -> EndpointError {
        EndpointError::Stack { at, problem: format!("`{}`: {problem}", self.name) }
    }

    fn receive(&mut self, now: SimTime, meta: &Meta, data: &[u8]) -> Result<(), String> {
        self.received_packets += 1;
        self.idle_timeouts.1 = 0;
        let ecn = if self.ecn { meta.ecn } else { Ecn::NotEct };
        self.stack.receive(now.as_nanos(), (meta.source, meta.destination), ecn, data)
    }

    /// An interface of the host changed, which may change the client's address.
    fn on_interface(&mut self, now: SimTime, change: InterfaceChange) -> Result<(), String> {
        self.interfaces.change(change);
        if self.role == Role::Server || self.lost.is_some() {
            return Ok(());
        }
        let present = self.local.ip();
        let next =
            if self.interfaces.has(present) { None } else { self.interfaces.other_than(present) };
        let Some(next) = next else { return Ok(()) };
        self.local = SocketAddr::new(next, self.local.port());
        if self.stage == Stage::Waiting {
            Ok(())
        } else {
            self.stack.on_address(now.as_nanos(), self.local)
        }
    }

    /// Opens the connection, works off what is due, and returns when to be polled next.
    fn step(&mut self, now: SimTime, outbox: &mut Outbox) -> Result<Option<SimTime>, String> {
        let at = now.as_nanos();
        if self.role == Role::Client && self.stage == Stage::Waiting {
            if now < self.start {
                return Ok(Some(self.start));
            }
            self.stage = Stage::Opened;
            if self.local != self.usual {
                self.stack.on_address(at, self.local)?;
            }
            self.stack.connect(at)?;
        }
        if self.timer.is_some_and(|timer| timer <= now) {
            self.expire(now)?;
        }
        let (mut datagrams, mut rounds) = (0, 0);
        loop {
            rounds += 1;
            if rounds > MOST_DATAGRAMS {
                return Err("never comes to rest at one instant".to_owned());
            }
            let mut busy = self.take_events(now, outbox)?;
            if self.lost.is_some() {
                return Ok(None);
            }
            busy |= self.write(at, outbox)?;
            let sent = self.transmit(now, outbox)?;
            datagrams += sent;
            if datagrams > MOST_DATAGRAMS {
                return Err(format!("sent more than {MOST_DATAGRAMS} datagrams at one instant"));
            }
            if busy || sent > 0 {
                self.idle_timeouts.1 = 0;
                continue;
            }
            let timer = self.stack.next_timeout(at)?;
            self.timer = timer.map(SimTime::from_nanos);
            if self.timer.is_none_or(|timer| timer > now) {
                return Ok(self.timer);
            }
            self.expire(now)?;
        }
    }

    fn expire(&mut self, now: SimTime) -> Result<(), String> {
        let (since, count) = &mut self.idle_timeouts;
        if *count == 0 || now.saturating_since(*since) > IDLE_SPAN {
            (*since, *count) = (now, 0);
        }
        *count += 1;
        if *count > MOST_IDLE_TIMEOUTS {
            let timer = self.timer.unwrap_or_default().as_nanos();
            return Err(format!(
                "had {MOST_IDLE_TIMEOUTS} timeouts within {IDLE_SPAN} without sending anything, until `next_timeout` \
                 returned {timer} ns"
            ));
        }
        self.timer = None;
        self.stack.on_timeout(now.as_nanos())
    }

    /// Takes the stack's events; whether there were any.
    fn take_events(&mut self, now: SimTime, outbox: &mut Outbox) -> Result<bool, String> {
        let mut any = false;
        let mut count = 0;
        while let Some(event) = self.stack.poll(now.as_nanos())? {
            count += 1;
            if count > MOST_DATAGRAMS {
                return Err(format!("`poll` returned more than {MOST_DATAGRAMS} events in a row"));
            }
            match event {
                stack::Event::Connected => {
                    any = true;
                    self.stage = Stage::Connected;
                    outbox.events.push(Event { kind: "established", detail: String::new() });
                }
                stack::Event::Lost(reason) => {
                    self.lost = Some(Loss { at: now, reason });
                    return Ok(true);
                }
                stack::Event::Writable(stream) => {
                    any = true;
                    if let Some(buffer) = &mut self.buffer {
                        buffer.hold(stream, false);
                    }
                }
                stack::Event::Readable(stream) => any |= self.read(now, stream, outbox)?,
            }
        }
        Ok(any)
    }

    /// Reads all that a stream has; whether it had any.
    fn read(
        &mut self,
        now: SimTime,
        stream: StreamIndex,
        outbox: &mut Outbox,
    ) -> Result<bool, String> {
        let before = self.received[stream];
        loop {
            let offset = self.received[stream];
            let length = self.stack.read(now.as_nanos(), stream, &mut self.room)?;
            if let Some(wrong) = content::first_wrong(offset, &self.room[..length]) {
                let stream = stream.index();
                return Err(format!(
                    "`read` gave another byte {wrong} of stream {stream} than was written"
                ));
            }
            if length == 0 {
                break;
            }
            self.received[stream] += length as u64;
        }
        let offset = self.received[stream];
        if offset > before {
            outbox.reports.push(Report::Delivered { stream, offset });
        }
        Ok(offset > before)
    }

    /// Writes what the stack takes, a piece of every stream in turn; whether it took any.
    fn write(&mut self, at: u64, outbox: &mut Outbox) -> Result<bool, String> {
        let Some(buffer) = self.buffer.as_mut().filter(|_| self.stage == Stage::Connected) else {
            return Ok(false);
        };
        let mut any = false;
        while buffer.has_occupied() {
            let mut from = StreamIndex::FIRST;
            while let Some(stream) = buffer.next_occupied(from) {
                from = stream.next();
                let (offset, backlog) = {
                    let stream = &buffer.streams()[stream];
                    (stream.taken(), stream.backlog())
                };
                let bytes = content::at(offset, backlog.min(content::LONGEST));
                let taken = self.stack.write(at, stream, bytes)?;
                if taken < bytes.len() as u64 {
                    buffer.hold(stream, true);
                }
                if taken > 0 {
                    any = true;
                    buffer.take(stream, taken);
                    let offset = offset + taken;
                    outbox.reports.push(Report::Room { stream, offset });
                }
            }
        }
        if self.finishing {
            for (stream, finished) in self.finished.iter_mut_enumerated() {
                if !*finished && buffer.streams()[stream].backlog() == 0 {
                    *finished = true;
                    any = true;
                    self.stack.finish(at, stream)?;
                }
            }
        }
        Ok(any)
    }

    /// Takes the stack's datagrams; returns how many there were.
    fn transmit(&mut self, now: SimTime, outbox: &mut Outbox) -> Result<u64, String> {
        let mut count = 0;
        while let Some(sent) = self.stack.transmit(now.as_nanos(), self.local, self.remote)? {
            let source = sent.source;
            if source.ip() != self.usual.ip() && !self.interfaces.has(source.ip()) {
                let ip = source.ip();
                return Err(format!("`transmit` set the source to {ip}, which its host has not"));
            }
            let size = Bytes::new(sent.data.len() as u64);
            let ecn = if self.ecn { sent.ecn } else { Ecn::NotEct };
            let size_on_ip = size + IPV4_UDP_HEADER;
            let meta = Meta::new(now, Protocol::Udp, source, sent.destination, size_on_ip);
            let body = Body::UdpBytes(BytesMut::from(sent.data));
            let route = (source, sent.destination);
            outbox.packets.push(Packet { meta: meta.with_ecn(ecn), body });
            if self.route.replace(route).is_some_and(|former| former != route) {
                note_move(route, outbox);
            }
            self.sent_packets += 1;
            self.sent_bytes += size;
            count += 1;
            if count > MOST_DATAGRAMS {
                break;
            }
        }
        Ok(count)
    }

    /// The state of the path as the stack tells it.
    fn state(&self) -> abi::Path {
        let told = self.stack.path(self.called.as_nanos());
        let state = told.map(|state| state.unwrap_or(stack::UNKNOWN));
        let checked = state.and_then(|state| {
            statistics::check(&self.told.get(), &state)?;
            self.told.set(state);
            Ok(())
        });
        if let Err(problem) = checked {
            self.failed.borrow_mut().get_or_insert(problem);
        }
        self.told.get()
    }

    fn count(&self, state: &abi::Path) -> Totals {
        Totals {
            sent_packets: self.sent_packets,
            sent_bytes: self.sent_bytes,
            received_packets: self.received_packets,
            ..statistics::totals(state)
        }
    }

    /// Fails if a query has.
    fn check(&self, now: SimTime) -> Result<(), EndpointError> {
        match self.failed.borrow_mut().take() {
            Some(problem) => Err(self.error(now, &problem)),
            None => Ok(()),
        }
    }
}

/// Its packets have other addresses from here on.
fn note_move((local, remote): (SocketAddr, SocketAddr), outbox: &mut Outbox) {
    outbox.moves.push(MoveStep::Noticed);
    let detail = format!("moved: {local} to {remote}");
    outbox.events.push(Event { kind: "path", detail });
}

impl Endpoint for ForeignEndpoint {
    fn input(&mut self, now: SimTime, input: Input<'_>) -> Result<(), EndpointError> {
        self.called = now;
        let done = match input {
            Input::Packet(Packet { meta, body: Body::UdpBytes(data) }) => {
                let data = mem::take(data);
                if self.lost.is_none() { self.receive(now, meta, &data) } else { Ok(()) }
            }
            Input::Message { stream, message } => {
                if let Some(buffer) = &mut self.buffer {
                    buffer.push(stream, message);
                }
                Ok(())
            }
            Input::Datagram { .. } => return Err(EndpointError::no_datagrams(now)),
            Input::Finish => {
                self.finishing = true;
                Ok(())
            }
            Input::Interface(change) => self.on_interface(now, change),
            // Nothing but QUIC is sent to a QUIC port. Forecasts and reports have no place in the interface.
            Input::Packet(_)
            | Input::Open { .. }
            | Input::Carrier(_)
            | Input::Forecast(_)
            | Input::InterfaceForecast(_)
            | Input::Access(_) => Ok(()),
        };
        done.map_err(|problem| self.error(now, &problem))
    }

    fn poll(
        &mut self,
        now: SimTime,
        outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        self.called = now;
        self.check(now)?;
        if self.lost.is_some() {
            return Ok(None);
        }
        let wake = self.step(now, outbox).map_err(|problem| self.error(now, &problem))?;
        if let Some(loss) = &self.lost {
            outbox.events.push(loss.event());
        }
        Ok(wake)
    }

    fn sample_paths(&self, _now: SimTime, samples: &mut Vec<PathSample>) {
        if self.stage != Stage::Connected || self.lost.is_some() {
            return;
        }
        let state = self.state();
        let Some(cwnd) = statistics::given(state.window) else { return };
        let span = |number| statistics::given(number).map(SimDuration::from_nanos);
        samples.push(PathSample {
            path: PathId::default(),
            cwnd: Bytes::new(cwnd),
            ssthresh: statistics::given(state.ssthresh).map(Bytes::new),
            in_flight: statistics::given(state.in_flight).map(Bytes::new),
            smoothed_rtt: span(state.smoothed_rtt),
            latest_rtt: span(state.latest_rtt),
            pacing: statistics::given(state.pacing_rate).map(BitRate::from_bps),
            phase: LIBRARY,
            totals: self.count(&state),
        });
    }

    fn paths(&self, paths: &mut Vec<PathAddresses>) {
        if self.role == Role::Client && self.local != self.usual {
            let remote = self.route.map_or(self.remote, |(_, remote)| remote).ip();
            let local = self.local.ip();
            paths.push(PathAddresses { path: PathId::default(), local, remote });
        }
    }

    fn send_buffer(&self) -> Option<&SendBuffer> {
        self.buffer.as_ref()
    }

    fn totals(&self) -> Totals {
        self.count(&self.state())
    }

    fn unreported(&self) -> Vec<&'static str> {
        statistics::unknown(&self.state())
    }

    fn lost(&self) -> Option<&Loss> {
        self.lost.as_ref()
    }

    fn finish(&mut self, now: SimTime) -> Result<(), EndpointError> {
        self.check(now)
    }
}
