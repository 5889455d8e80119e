//! One end of a QUIC flow as an [`Endpoint`].

mod outgoing;

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::BytesMut;
use leobench_base::spec::Window;
use leobench_base::{Body, Bytes, LogHistogram, Meta, Packet, SimTime};
use leobench_quic::QuicConfig;
use leobench_transport::Role;
use leobench_transport::buffer::SendBuffer;
use leobench_transport::congestion::CongestionContext;
use leobench_transport::endpoint::{
    Endpoint, EndpointError, Event, Input, Loss, Outbox, PathId, PathSample, Totals,
};
use leobench_transport::pacing::Pacer;
use leobench_transport::scheduler::{FrameCosts, Multiplexer};
use noq_proto::{
    Connection, ConnectionHandle, DatagramEvent, FourTuple, PathId as StackPathId, StreamEvent,
};
use outgoing::pacing_rate;

use super::clock::{Clock, span};
use super::config;
use super::control::{Control, ControlState, HandleFactory};
use super::ecn::codepoint;
use super::qlog::Qlog;
use super::receiver::Receiver;
use super::sender::Sender;
use super::tap::Tap;

/// Packets that may leave at once after an idle time (RFC 9002 section 7.7: at most the initial window).
const BURST_PACKETS: u64 = 10;

/// One end of a QUIC connection.
pub struct NoqEndpoint {
    clock: Clock,
    local: SocketAddr,
    remote: SocketAddr,
    start: SimTime,
    payload: Bytes,
    ecn: bool,
    endpoint: noq_proto::Endpoint,
    client: Option<noq_proto::ClientConfig>,
    connection: Option<(ConnectionHandle, Connection)>,
    established: bool,
    lost: Option<Loss>,
    /// Whether the loss has been reported.
    silent: bool,
    control: Arc<Control>,
    tap: Arc<Tap>,
    pacer: Option<Pacer>,
    sender: Option<Sender>,
    receiver: Receiver,
    timer: Option<SimTime>,
    timeouts: u64,
    sent_datagrams: u64,
    sent_bytes: Bytes,
    received_datagrams: u64,
    buffer: Vec<u8>,
}

impl NoqEndpoint {
    /// An endpoint that has done nothing yet.
    ///
    /// # Errors
    /// If its scheduler is a plug-in that cannot be built.
    pub fn new(config: QuicConfig<'_>) -> Result<Self, EndpointError> {
        let QuicConfig {
            spec,
            role,
            sends,
            receives,
            local,
            remote,
            start,
            rng,
            plugins,
            qlog,
            ..
        } = config;
        let clock = Clock::default();
        let qlog = qlog.map(|writer| Qlog::new(writer, role));
        let tap = Arc::new(Tap::new(sends.len(), qlog));
        let context =
            CongestionContext { rng: &rng.child("congestion"), paced: spec.pacing, plugins };
        let algorithm = spec.congestion.model().build(&context);
        let control = Control::new(clock, Arc::clone(&tap), spec.congestion.name(), algorithm);
        let controllers = Arc::new(HandleFactory(Arc::clone(&control)));
        let transport = Arc::new(config::transport(spec, !sends.is_empty(), receives, controllers));
        let endpoint_config = Arc::new(config::endpoint(spec.payload, rng));
        let (client, server) = match role {
            Role::Client => (Some(config::client(transport, &tap, rng)), None),
            Role::Server => (None, Some(Arc::new(config::server(transport, &tap, rng)))),
        };
        let endpoint = noq_proto::Endpoint::new(endpoint_config, server, true);
        let burst = Bytes::new(spec.payload.get() * BURST_PACKETS);
        let sender = if sends.is_empty() {
            None
        } else {
            let rng = rng.child("scheduler");
            let streams = Multiplexer::new(&spec.scheduler, sends, &rng, plugins)?;
            let streams = streams.with_costs(FrameCosts::Noq);
            Some(Sender::new(streams, spec.connection_window == Window::Unlimited))
        };
        Ok(Self {
            clock,
            local,
            remote,
            start,
            payload: spec.payload,
            ecn: spec.ecn,
            endpoint,
            client,
            connection: None,
            established: false,
            lost: None,
            silent: false,
            control,
            tap,
            pacer: spec.pacing.then(|| Pacer::new(burst, spec.payload)),
            sender,
            receiver: Receiver::default(),
            timer: None,
            timeouts: 0,
            sent_datagrams: 0,
            sent_bytes: Bytes::ZERO,
            received_datagrams: 0,
            buffer: Vec::with_capacity(spec.payload.get() as usize),
        })
    }

    /// Replaces the congestion controller, before the connection opens.
    #[cfg(test)]
    pub(crate) fn set_controller(
        &mut self,
        algorithm: Box<dyn leobench_transport::CongestionControl>,
    ) {
        self.control.lock().algorithm = algorithm;
    }

    #[cfg(test)]
    pub(super) fn sender(&self) -> Option<&Sender> {
        self.sender.as_ref()
    }

    fn connect(&mut self, now: SimTime) -> Result<(), EndpointError> {
        let Some(config) = self.client.take() else { return Ok(()) };
        let instant = self.clock.instant(now);
        let connected = self.endpoint.connect(instant, config, self.remote, "leobench");
        let failed = |problem: String| EndpointError::Stack { at: now, problem };
        self.connection = Some(connected.map_err(|error| failed(error.to_string()))?);
        Ok(())
    }

    fn receive(&mut self, now: SimTime, meta: &Meta, data: BytesMut) {
        self.received_datagrams += 1;
        self.tap.set_time(now);
        let instant = self.clock.instant(now);
        let path = FourTuple::new(meta.source, Some(meta.destination.ip()));
        self.buffer.clear();
        let ecn = codepoint(meta.ecn).filter(|_| self.ecn);
        match self.endpoint.handle(instant, path, ecn, data, &mut self.buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                    self.control.flush();
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoint.accept(incoming, instant, &mut self.buffer, None) {
                    Ok(accepted) => self.connection = Some(accepted),
                    Err(error) => {
                        self.lost = Some(Loss { at: now, reason: error.cause.to_string() });
                    }
                }
            }
            // A stateless answer (version negotiation, reset) has no place between two ends that were made for each
            // other: whatever asked for it is a stray packet of an earlier exchange.
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }

    /// Lets the stack work off its events.
    fn process(&mut self, now: SimTime, outbox: &mut Outbox) -> Result<(), EndpointError> {
        let Some((handle, connection)) = &mut self.connection else { return Ok(()) };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
                self.control.flush();
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                noq_proto::Event::Connected => {
                    self.established = true;
                    outbox.events.push(Event { kind: "established", detail: String::new() });
                    if let Some(sender) = &mut self.sender {
                        sender.open(now, connection)?;
                    }
                }
                noq_proto::Event::ConnectionLost { reason } => {
                    self.lost = Some(Loss { at: now, reason: reason.to_string() });
                }
                noq_proto::Event::Stream(StreamEvent::Writable { id }) => {
                    if let Some(sender) = &mut self.sender {
                        sender.on_writable(id);
                    }
                }
                noq_proto::Event::Stream(event) => {
                    self.receiver.on_event(&event, connection, &mut outbox.reports);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn step(
        &mut self,
        now: SimTime,
        outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        self.tap.set_time(now);
        if self.client.is_some() {
            if now < self.start {
                return Ok(Some(self.start));
            }
            self.connect(now)?;
        }
        if self.timer.is_some_and(|timer| timer <= now) {
            self.expire(now, outbox);
        }
        self.process(now, outbox)?;
        if let Some(loss) = &self.lost {
            if !self.silent {
                outbox.events.push(loss.event());
            }
            (self.silent, self.connection) = (true, None);
            return Ok(None);
        }
        let has_losses = self.control.has_losses();
        let held_until = self.send(now, outbox)?;
        self.report_sent(now, outbox)?;
        self.control.take_events(&mut outbox.events);
        if has_losses {
            self.control.take_verdicts(&mut outbox.verdicts);
        }
        let timer = self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout());
        // The stack may ask for a wait that rounds to nothing; time must move.
        let next = SimTime::from_nanos(now.as_nanos() + 1);
        self.timer = timer.map(|instant| self.clock.time(instant).max(next));
        Ok(match (self.timer, held_until) {
            (Some(timer), Some(held)) => Some(timer.min(held.max(next))),
            (timer, held) => timer.or(held.map(|held| held.max(next))),
        })
    }
}

impl Endpoint for NoqEndpoint {
    fn input(&mut self, now: SimTime, input: Input<'_>) -> Result<(), EndpointError> {
        match input {
            Input::Packet(Packet { meta, body: Body::UdpBytes(data) }) => {
                if self.lost.is_none() {
                    let data = std::mem::take(data);
                    self.receive(now, meta, data);
                }
                Ok(())
            }
            // Nothing but QUIC is sent to a QUIC port; whatever else comes is dropped, as a host would.
            Input::Packet(_)
            | Input::Interface(_)
            | Input::Open { .. }
            | Input::Carrier(_)
            | Input::InterfaceForecast(_) => Ok(()),
            Input::Access(report) => {
                self.control.lock().algorithm.on_access(report.path, &report);
                Ok(())
            }
            Input::Message { stream, message } => {
                if let Some(sender) = &mut self.sender {
                    sender.streams.push(stream, message);
                }
                Ok(())
            }
            Input::Datagram { .. } => Err(EndpointError::no_datagrams(now)),
            Input::Finish => {
                if let Some(sender) = &mut self.sender {
                    sender.finish();
                }
                Ok(())
            }
            Input::Forecast(forecast) => {
                self.control.lock().algorithm.on_forecast(forecast.path, &forecast);
                let sender = self.sender.as_mut();
                sender.map_or(Ok(()), |sender| sender.streams.on_forecast(now, &forecast))
            }
        }
    }

    fn poll(
        &mut self,
        now: SimTime,
        outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        let wake = self.step(now, outbox);
        self.control.check(now)?;
        wake
    }

    fn sample_paths(&self, _now: SimTime, samples: &mut Vec<PathSample>) {
        let Some((_, connection)) = &self.connection else { return };
        let path = PathId::default();
        let state = self.control.lock();
        let smoothed = connection.rtt(StackPathId::ZERO).map(span);
        let pacing = self.pacer.as_ref().map(|_| pacing_rate(&self.control, connection));
        samples.push(PathSample {
            path,
            cwnd: self.control.window(),
            ssthresh: state.algorithm.ssthresh(path),
            in_flight: Some(self.control.in_flight()),
            smoothed_rtt: state.rtt.and(smoothed),
            latest_rtt: state.latest_rtt(),
            pacing,
            phase: state.algorithm.phase(path),
            totals: self.count(&state),
        });
    }

    fn send_buffer(&self) -> Option<&SendBuffer> {
        self.sender.as_ref().map(|sender| sender.streams.buffer())
    }

    fn totals(&self) -> Totals {
        self.count(&self.control.lock())
    }

    fn rtts(&self) -> LogHistogram {
        self.control.lock().rtts.clone()
    }

    fn lost(&self) -> Option<&Loss> {
        self.lost.as_ref()
    }

    fn finish(&mut self, now: SimTime) -> Result<(), EndpointError> {
        self.control.close();
        let flushed = self.tap.flush();
        self.control.check(now)?;
        flushed.map_err(|error| EndpointError::Qlog(error.to_string()))
    }
}

impl NoqEndpoint {
    fn count(&self, state: &ControlState) -> Totals {
        let sent = self.tap.sent();
        Totals {
            sent_packets: self.sent_datagrams,
            sent_bytes: self.sent_bytes,
            received_packets: self.received_datagrams,
            acked_bytes: state.acked_bytes,
            lost_packets: state.lost_packets,
            lost_bytes: state.lost_bytes,
            retransmitted_bytes: Bytes::new(sent.retransmitted),
            retransmitted_packets: sent.retransmitted_packets,
            reinjected_bytes: Bytes::ZERO,
            congestion_events: state.congestion_events,
            timeouts: self.timeouts,
            spurious_losses: self.tap.spurious_losses(),
            undos: state.undos,
            ecn_marks: state.ecn_marks,
        }
    }
}
