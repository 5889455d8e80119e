//! A flow over several TCP connections between the same hosts, as browsers open them for HTTP/1.1.
//!
//! Every connection has a handshake, a congestion window and a byte stream of its own. In messages and reports, the number of
//! a stream is that of its connection. The client opens the first connection at the start of the flow, and others when the
//! application [demands](Input::Open) them. It opens each from a port of its own, by which both ends find the connection of a
//! segment. The first report of [`Report::Room`] about a stream tells that its connection is open.

use leobench_base::{Body, LogHistogram, Meta, Packet, SimTime, StreamIndex};

use super::{Ports, Role, TcpConfig, TcpEndpoint};
use crate::buffer::SendBuffer;
use crate::endpoint::{
    Endpoint, EndpointError, Event, Input, Loss, Outbox, PathId, PathSample, Report, Totals,
};

/// One end of a flow over a fixed number of TCP connections.
pub struct TcpPool {
    role: Role,
    connections: Vec<Connection>,
}

/// One end of a connection.
struct Connection {
    endpoint: TcpEndpoint,
    /// The client's port.
    port: u16,
    /// Whether the client has opened it, or the server listens for it.
    begun: bool,
    /// Whether the application knows that it may carry data.
    opened: bool,
    /// Whether something came in since its last poll.
    touched: bool,
    /// The time of its next poll if nothing comes in before.
    wake: Option<SimTime>,
}

impl TcpPool {
    /// An endpoint before its first connection, with up to `count` of them from `ports` of the client.
    ///
    /// # Panics
    /// If there are fewer ports than connections.
    pub fn new(config: TcpConfig<'_>, count: usize, ports: Ports) -> Self {
        let role = config.role;
        let first = if role == Role::Client { config.local } else { config.remote };
        let own = std::iter::successors(Some(first.port()), |port| Some(ports.after(*port)));
        let own: Vec<_> = own.take(count).collect();
        let connections = own.iter().enumerate().map(|(number, port)| {
            assert!(!own[..number].contains(port), "{count} connections need as many ports");
            Connection::new(config, number, *port)
        });
        Self { role, connections: connections.collect() }
    }

    /// The connection that a segment belongs to, by its client's port.
    fn find(&mut self, meta: &Meta) -> Option<&mut Connection> {
        let client = if self.role == Role::Client { meta.destination } else { meta.source };
        self.connections.iter_mut().find(|connection| connection.port == client.port())
    }

    fn receive(&mut self, now: SimTime, packet: &mut Packet) -> Result<(), EndpointError> {
        // A TCP port drops all other packets, as a host does.
        let Body::Tcp(segment) = packet.body else { return Ok(()) };
        if let Some(connection) = self.find(&packet.meta) {
            return connection.input(now, Input::Packet(packet));
        }
        let [first, ..] = &mut self.connections[..] else { return Ok(()) };
        first.endpoint.stray(now, &packet.meta, &segment);
        first.touched = true;
        Ok(())
    }

    /// Passes on to all connections what concerns the host, or all of them.
    fn share<'a>(
        &mut self,
        now: SimTime,
        input: impl Fn() -> Input<'a>,
    ) -> Result<(), EndpointError> {
        self.connections.iter_mut().try_for_each(|connection| connection.input(now, input()))
    }
}

impl Connection {
    fn new(config: TcpConfig<'_>, number: usize, port: u16) -> Self {
        let TcpConfig { role, mut local, mut remote, rng, .. } = config;
        let first = number == 0;
        let client = if role == Role::Client { &mut local } else { &mut remote };
        client.set_port(port);
        let rng =
            &if first { rng.clone() } else { rng.child("connections").child(&number.to_string()) };
        let mut endpoint = TcpEndpoint::new(TcpConfig { local, remote, rng, ..config });
        endpoint.set_number(number as u64);
        if role == Role::Client && !first {
            endpoint.set_unreachable();
        }
        let begun = first || role == Role::Server;
        Self { endpoint, port, begun, opened: false, touched: begun, wake: None }
    }

    fn input(&mut self, now: SimTime, input: Input<'_>) -> Result<(), EndpointError> {
        self.touched = true;
        self.endpoint.input(now, input)
    }

    /// The client opens it.
    fn open(&mut self, now: SimTime) {
        self.endpoint.open_at(now);
        (self.begun, self.touched) = (true, true);
    }

    /// Whether it has something to do at `now`.
    fn is_due(&self, now: SimTime) -> bool {
        self.begun && (self.touched || self.wake.is_some_and(|wake| wake <= now))
    }

    /// Acts, and puts its `number` into what it reports.
    fn poll(
        &mut self,
        now: SimTime,
        number: usize,
        outbox: &mut Outbox,
    ) -> Result<(), EndpointError> {
        let (reports, events) = (outbox.reports.len(), outbox.events.len());
        self.touched = false;
        self.wake = self.endpoint.poll(now, outbox)?;
        let mut kept = reports;
        for index in reports..outbox.reports.len() {
            let report = outbox.reports[index];
            if self.opened || !matches!(report, Report::Room { .. }) {
                outbox.reports[kept] = on_stream(report, number);
                kept += 1;
            }
        }
        outbox.reports.truncate(kept);
        if !self.opened && self.endpoint.may_send() {
            self.opened = true;
            let offset = self.endpoint.room();
            outbox.reports.push(Report::Room { stream: number.into(), offset });
        }
        for Event { detail, .. } in &mut outbox.events[events..] {
            let separator = if detail.is_empty() { "" } else { ": " };
            *detail = format!("connection {}{separator}{detail}", number + 1);
        }
        Ok(())
    }
}

/// A report about the stream of another number.
fn on_stream(mut report: Report, number: usize) -> Report {
    match &mut report {
        Report::Sent { stream, .. }
        | Report::Room { stream, .. }
        | Report::Delivered { stream, .. } => *stream = number.into(),
        Report::Datagram { .. }
        | Report::Lost { .. }
        | Report::Opened { .. }
        | Report::Part { .. }
        | Report::Cancelled { .. } => {}
    }
    report
}

impl Endpoint for TcpPool {
    fn input(&mut self, now: SimTime, input: Input<'_>) -> Result<(), EndpointError> {
        match input {
            Input::Packet(packet) => self.receive(now, packet),
            Input::Open { stream } => {
                self.connections[stream.index()].open(now);
                Ok(())
            }
            Input::Message { stream, message } => self.connections[stream.index()]
                .input(now, Input::Message { stream: StreamIndex::FIRST, message }),
            Input::Datagram { .. } => Err(EndpointError::no_datagrams(now)),
            Input::Finish => self.share(now, || Input::Finish),
            Input::Interface(change) => self.share(now, || Input::Interface(change)),
            Input::Carrier(change) => self.share(now, || Input::Carrier(change)),
            Input::Forecast(forecast) => self.share(now, || Input::Forecast(forecast)),
            Input::InterfaceForecast(forecast) => {
                self.share(now, || Input::InterfaceForecast(forecast))
            }
            Input::Access(report) => self.share(now, || Input::Access(report)),
        }
    }

    fn poll(
        &mut self,
        now: SimTime,
        outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        for (number, connection) in self.connections.iter_mut().enumerate() {
            if connection.is_due(now) {
                connection.poll(now, number, outbox)?;
            }
        }
        Ok(self.connections.iter().filter_map(|connection| connection.wake).min())
    }

    /// The number of a path is that of its connection, from 0.
    fn sample_paths(&self, now: SimTime, samples: &mut Vec<PathSample>) {
        for (number, connection) in (0..).zip(&self.connections) {
            let first = samples.len();
            connection.endpoint.sample_paths(now, samples);
            for sample in &mut samples[first..] {
                sample.path = PathId(number);
            }
        }
    }

    /// None, as every connection has one of its own.
    fn send_buffer(&self) -> Option<&SendBuffer> {
        None
    }

    fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for connection in &self.connections {
            totals += connection.endpoint.totals();
        }
        totals
    }

    fn rtts(&self) -> LogHistogram {
        let mut rtts = LogHistogram::new();
        for connection in &self.connections {
            rtts.add(&connection.endpoint.rtts());
        }
        rtts
    }

    /// The first loss; other connections carry on.
    fn lost(&self) -> Option<&Loss> {
        let losses = self.connections.iter().filter_map(|connection| connection.endpoint.lost());
        losses.min_by_key(|loss| loss.at)
    }

    fn finish(&mut self, now: SimTime) -> Result<(), EndpointError> {
        self.connections.iter_mut().try_for_each(|connection| connection.endpoint.finish(now))
    }
}
