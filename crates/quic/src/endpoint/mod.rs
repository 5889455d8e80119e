//! One end of a QUIC flow as an [`Endpoint`].

mod addresses;
mod answers;
mod first;
mod handshakes;
mod listener;
mod stateless;

use std::ops::ControlFlow;

use leobench_base::{Body, LogHistogram, Packet, SimTime};
use leobench_transport::Role;
use leobench_transport::arrivals::Arrivals;
use leobench_transport::buffer::SendBuffer;
use leobench_transport::endpoint::{
    Endpoint, EndpointError, Input, Loss, Outbox, PathAddresses, PathId, PathSample, Totals,
};

use self::handshakes::step_handshakes;
pub(crate) use self::listener::Listener;
use self::listener::Stage;
use super::QlogWriter;
use super::config;
#[cfg(test)]
use super::connection::Parts;
use super::connection::{Connection, Output};
use super::crypto::KeyLog;
use super::earliest::earliest;
use super::flow::QuicConfig;
use super::qlog::Trace;
use crate::wire::{Datagram, Zeros};

/// One end of a QUIC connection. Its packets travel as structs, or as bytes if they are encrypted.
pub struct QuicEndpoint {
    start: SimTime,
    listener: Listener,
    /// Whether the loss of the connection has been reported.
    silent: bool,
}

impl QuicEndpoint {
    /// An endpoint that has done nothing yet.
    ///
    /// # Errors
    /// If its scheduler is a plug-in that cannot be built.
    pub fn new(config: &QuicConfig<'_>) -> Result<Self, EndpointError> {
        let listener = Listener::new(config::parts(config)?, config.spec.retry, true);
        Ok(Self { start: config.start, listener, silent: false })
    }

    /// Writes a qlog of the connection, which has not begun.
    pub fn write_qlog(&mut self, writer: QlogWriter) {
        self.listener.qlog = Some(writer);
    }

    /// Logs the secrets of TLS, if packets are encrypted and the connection has not begun.
    pub fn log_secrets(&mut self, log: KeyLog) {
        if let Stage::Waiting(parts) = &mut self.listener.stage {
            parts.crypto.log_secrets(log);
        }
    }

    /// Puts another controller in the place of the one that the specification names, before the connection begins.
    #[cfg(test)]
    pub(crate) fn set_controller(
        &mut self,
        algorithm: Box<dyn leobench_transport::CongestionControl>,
    ) {
        if let Stage::Waiting(parts) = &mut self.listener.stage {
            parts.control.replace(algorithm);
        }
    }

    /// Lets packets travel as bytes, as another implementation needs them.
    #[cfg(any(test, feature = "testing"))]
    pub fn send_bytes(&mut self) {
        if let Stage::Waiting(parts) = &mut self.listener.stage {
            parts.as_bytes = true;
        }
    }

    /// Changes what the connection will be made of, before it begins.
    #[cfg(test)]
    pub(crate) fn prepare(&mut self, change: impl FnOnce(&mut Parts)) {
        if let Stage::Waiting(parts) = &mut self.listener.stage {
            change(parts);
        }
    }

    /// The connection, if it has begun.
    #[cfg(test)]
    pub(crate) fn connection(&self) -> Option<&Connection> {
        self.listener.connection()
    }

    /// The connection, which has begun.
    #[cfg(test)]
    pub(crate) fn connection_mut(&mut self) -> &mut Connection {
        self.listener.connection_mut().expect("it has begun")
    }

    /// The application closes the connection with an error code.
    #[cfg(test)]
    pub(crate) fn close(&mut self, now: SimTime, code: u64) {
        if let Stage::Connected(connection) = &mut self.listener.stage {
            connection.close(now, code, "");
        }
    }

    fn step(
        &mut self,
        now: SimTime,
        outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        if !self.listener.answers.is_empty() {
            outbox.packets.append(&mut self.listener.answers);
        }
        if let Stage::Waiting(_) = &self.listener.stage
            && let ControlFlow::Break(wake) = self.start_client(now)?
        {
            return Ok(wake);
        }
        let Stage::Connected(connection) = &mut self.listener.stage else { return Ok(None) };
        connection.begin_holds(now);
        connection.on_timer(now);
        let mut out = Output { content: &Zeros, packets: &mut outbox.packets };
        while connection.transmit(now, &mut out)? {}
        let timer = connection.timer(now);
        let handshakes = if self.listener.handshakes.is_empty() {
            None
        } else {
            step_handshakes(&mut self.listener.handshakes, now, outbox)?
        };
        connection.log_recovery(now);
        connection.take_reports(outbox);
        if let Some(loss) = connection.lost().filter(|_| !self.silent) {
            outbox.events.push(loss.event());
            self.silent = true;
        }
        // A timer may lie at this very instant if what it waited for cannot be sent; time must move.
        let next = SimTime::from_nanos(now.as_nanos() + 1);
        Ok(earliest(timer, handshakes).map(|timer| timer.max(next)))
    }

    /// Begins the connection of a client that is to start by now. Breaks with the wake-up of an end that has to wait.
    #[cold]
    fn start_client(
        &mut self,
        now: SimTime,
    ) -> Result<ControlFlow<Option<SimTime>>, EndpointError> {
        if self.listener.role == Role::Server {
            return Ok(ControlFlow::Break(None));
        }
        if now < self.start {
            return Ok(ControlFlow::Break(Some(self.start)));
        }
        self.listener.connect(now, |parts| {
            let local = &mut parts.addresses.local;
            if let Some(address) = parts.interfaces.choose(local.ip()) {
                local.set_ip(address);
            }
        })?;
        if let Stage::Connected(connection) = &mut self.listener.stage {
            connection.start(now);
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl Endpoint for QuicEndpoint {
    fn input(&mut self, now: SimTime, input: Input<'_>) -> Result<(), EndpointError> {
        let streams = match &mut self.listener.stage {
            Stage::Connected(connection) => connection.streams_mut(),
            Stage::Waiting(parts) => &mut parts.streams,
            Stage::Moving => return Ok(()),
        };
        match input {
            Input::Message { stream, message } => streams.push(stream, message),
            Input::Datagram { datagram, created } => streams.push_datagram(datagram, created),
            Input::Finish => streams.finish(),
            Input::Open { .. } => {}
            // Nothing but QUIC is sent to a QUIC port; whatever else comes is dropped, as a host would.
            Input::Packet(Packet { meta, body }) => match std::mem::replace(body, Body::Filler) {
                Body::Udp(payload) => {
                    if let Some(datagram) = Datagram::from_payload(payload) {
                        self.listener.receive(now, meta, datagram)?;
                    }
                }
                Body::UdpBytes(bytes) => {
                    let known = self.listener.connection();
                    if !known.is_some_and(|connection| connection.ignores(meta.source)) {
                        self.listener.receive_bytes(now, meta, bytes, &Zeros)?;
                    }
                }
                Body::Tcp(_) | Body::Datagram(_) | Body::Raw(_) | Body::Filler => {}
            },
            Input::Interface(change) => match &mut self.listener.stage {
                Stage::Connected(connection) => {
                    connection.on_interface(now, change);
                    self.listener.restart(now)?;
                }
                Stage::Waiting(parts) => parts.interfaces.change(change),
                Stage::Moving => {}
            },
            Input::Carrier(change) => match &mut self.listener.stage {
                Stage::Connected(connection) => connection.on_carrier(now, change),
                Stage::Waiting(parts) => parts.interfaces.set_carrier(change),
                Stage::Moving => {}
            },
            Input::InterfaceForecast(forecast) => {
                if let Stage::Connected(connection) = &mut self.listener.stage {
                    connection.on_interface_forecast(now, &forecast)?;
                }
            }
            Input::Access(report) => match &mut self.listener.stage {
                Stage::Connected(connection) => connection.on_access(&report),
                Stage::Waiting(parts) => parts.control.on_access(&report),
                Stage::Moving => {}
            },
            Input::Forecast(forecast) => match &mut self.listener.stage {
                Stage::Connected(connection) => connection.on_forecast(now, &forecast)?,
                Stage::Waiting(parts) => parts.streams.on_forecast(now, &forecast)?,
                Stage::Moving => {}
            },
        }
        Ok(())
    }

    fn poll(
        &mut self,
        now: SimTime,
        outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        let wake = self.step(now, outbox);
        if let Stage::Connected(connection) = &mut self.listener.stage {
            connection.check(now)?;
        }
        wake
    }

    fn sample_paths(&self, _now: SimTime, samples: &mut Vec<PathSample>) {
        if let Some(connection) =
            self.listener.connection().filter(|connection| connection.lost().is_none())
        {
            connection.sample_paths(samples);
        }
    }

    fn sample_former_paths(&self, samples: &mut Vec<PathSample>) {
        if let Some(connection) =
            self.listener.connection().filter(|connection| connection.lost().is_none())
        {
            connection.sample_former_paths(samples);
        }
    }

    fn paths(&self, paths: &mut Vec<PathAddresses>) {
        self.list_paths(paths);
    }

    fn send_buffer(&self) -> Option<&SendBuffer> {
        match &self.listener.stage {
            Stage::Connected(connection) => connection.streams().send_buffer(),
            Stage::Waiting(parts) => parts.streams.send_buffer(),
            Stage::Moving => None,
        }
    }

    fn totals(&self) -> Totals {
        self.listener.totals()
    }

    fn rtts(&self) -> LogHistogram {
        self.listener.connection().map_or_else(LogHistogram::new, Connection::rtts)
    }

    fn arrivals(&self) -> Option<&Arrivals> {
        match &self.listener.stage {
            Stage::Connected(connection) => connection.streams().arrivals(),
            Stage::Waiting(parts) => parts.streams.arrivals(),
            Stage::Moving => None,
        }
    }

    fn lost(&self) -> Option<&Loss> {
        self.listener.connection().and_then(Connection::lost)
    }

    fn finish(&mut self, now: SimTime) -> Result<(), EndpointError> {
        if let Some(writer) = self.listener.qlog.take() {
            // The connection never began: its trace is empty.
            let trace = Trace::new(writer, self.listener.role, PathId::default(), None).flush();
            trace.map_err(|error| EndpointError::Qlog(error.to_string()))?;
        }
        let Stage::Connected(connection) = &mut self.listener.stage else { return Ok(()) };
        connection.finish()?;
        connection.check(now)
    }
}
